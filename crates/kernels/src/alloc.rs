//! `alloc-system` to `alloc-jemalloc-remote`: objects that come and go, as in a server that runs for long.
//!
//! Each worker keeps a number of objects, and replaces one of them by lot with one of another size, again and again. In the
//! kernels on `-remote` it does not free what it takes out, but hands it to the next worker, as where requests are passed from
//! thread to thread: allocators that keep memory by thread have to bring it home (P. Larson and M. Krishnan, "Memory allocation
//! for long-running server applications", ISMM 1998; E. D. Berger et al., "Hoard", ASPLOS 2000).
//!
//! A sweep over numbers of workers shows how an allocator scales. The allocators are called by their plain functions, loaded
//! from the system's libraries, so all are called in the same way, and as programs call them.

use std::hint::cold_path;
use std::mem::replace;
use std::sync::Arc;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Family, Metric, Params, Work, WorkerCount};
use crossbeam::queue::ArrayQueue;
use fastrand::Rng;

use crate::kernel::{Error, Worker};
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::heap::{Allocator, Jemalloc, LEAST, LINKED_STATICALLY, Mimalloc, Object, System};
use crate::watch::Watch;

/// Objects that a worker keeps, as many as Larson and Krishnan's threads do.
const OBJECTS: u32 = 1000;

/// Bytes of the largest object. Sizes are drawn uniformly from [`LEAST`] to this.
const LARGEST: u32 = 1000;

/// Objects on their way from one worker to the next, at most. What finds no room is freed by the worker that took it out.
const ON_THEIR_WAY: usize = 256;

/// Replacements between two looks at the watch: 20 to 60 µs on Zen 4.
const STRETCH: u64 = 1024;

const CARD: Card = Card::new(
    "",
    Family::Memory,
    "",
    Metric::ops("one object allocated and another freed, both ends of which are written, and checked when it goes"),
)
.uncounted_traffic("what the allocator asks of the system, and gives back")
.params(&[&SPAN])
.blocks_in_kernel(true);

/// The cards of an allocator whose objects are freed by who took them, and by the next worker.
macro_rules! of {
    ($name:literal, $allocator:literal, $source:literal) => {
        CARD.named(
            concat!("alloc-", $name),
            concat!("keeps 1000 objects of 16 to 1000 bytes of ", $allocator, ", and replaces them by lot"),
        )
        .source(concat!(
            "P. Larson and M. Krishnan, Memory allocation for long-running server applications, ISMM 1998; ",
            $source
        ))
    };
    ($name:literal, $allocator:literal, $source:literal, remote) => {
        of!($name, $allocator, $source)
            .named(
                concat!("alloc-", $name, "-remote"),
                concat!(
                    "keeps 1000 objects of 16 to 1000 bytes of ",
                    $allocator,
                    ", and replaces them by lot; the next worker frees them"
                ),
            )
            .workers(WorkerCount::AtLeast(2))
    };
}

kernels! {
    allocating::<System> => of!("system", "the C library's malloc", "malloc(3)");
    allocating::<System> => of!("system", "the C library's malloc", "malloc(3)", remote);
    allocating::<Mimalloc> => of!("mimalloc", "mimalloc", "D. Leijen et al., Mimalloc, APLAS 2019");
    allocating::<Mimalloc> => of!("mimalloc", "mimalloc", "D. Leijen et al., Mimalloc, APLAS 2019", remote);
    allocating::<Jemalloc> =>
        of!("jemalloc", "jemalloc", "J. Evans, A scalable concurrent malloc(3) implementation for FreeBSD, BSDCan \
            2006");
    allocating::<Jemalloc> =>
        of!("jemalloc", "jemalloc", "J. Evans, A scalable concurrent malloc(3) implementation for FreeBSD, BSDCan \
            2006", remote);
}

/// The kernel of an allocator, in which the next worker frees, where there must be one, or each its own.
const fn allocating<A: Allocator>(card: &'static Card) -> PlainKernel<bool> {
    let remote = card.workers.min() > 1;
    let footprint = |_: &PlainKernel<bool>, _: &Params| {
        let objects = u64::from(OBJECTS) + ON_THEIR_WAY as u64;
        Bytes(objects * (u64::from(LARGEST) + size_of::<Object<A>>() as u64))
    };
    let kernel = PlainKernel::new(card, remote, footprint, |kernel, params, workers| {
        let (name, inboxes) = (kernel.name(), inboxes::<A>(if kernel.data { workers } else { 0 }));
        stage(A::FILE, Extent::Span(params.span()), move |rank| {
            Ok(Box::new(Replacer::<A>::new(name, Arc::clone(&inboxes), rank)?))
        })
    });
    kernel.check(|kernel| {
        let unavailable = |reason| Error::Unavailable(missing(kernel.name(), A::FILE, A::PACKAGE, reason));
        A::heap().map(drop).map_err(unavailable)
    })
}

/// What each of so many workers is to free.
fn inboxes<A: Allocator>(workers: usize) -> Arc<[ArrayQueue<Object<A>>]> {
    (0..workers).map(|_| ArrayQueue::new(ON_THEIR_WAY)).collect()
}

/// Why an allocator cannot be used, and what to do about it.
fn missing(name: &str, file: &str, package: &str, reason: &str) -> String {
    let what = if reason.contains("static TLS") {
        // The room is set aside when a process starts, and what the C library sets aside by itself is less than jemalloc takes.
        "set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 in the environment".into()
    } else if reason == LINKED_STATICALLY {
        "use a charz that was built from its source".into()
    } else {
        format!("install it, on Debian by the package {package}")
    };
    format!("{name} cannot load {file} ({reason}): {what}")
}

struct Replacer<A: Allocator> {
    name: &'static str,
    inboxes: Arc<[ArrayQueue<Object<A>>]>,
    rank: usize,
    objects: Vec<Object<A>>,
    lots: Rng,
    /// Objects that were found changed, over all runs.
    spoilt: u64,
    /// Objects that were not to be had, over all runs.
    missed: u64,
}

impl<A: Allocator> Replacer<A> {
    fn new(name: &'static str, inboxes: Arc<[ArrayQueue<Object<A>>]>, rank: usize) -> Result<Self, Error> {
        let lots = Rng::with_seed(rank as u64);
        let mut worker = Replacer { name, inboxes, rank, objects: Vec::new(), lots, spoilt: 0, missed: 0 };
        let objects = (0..OBJECTS).map(|_| Object::new(Lot::draw(&mut worker.lots).size));
        worker.objects = objects.collect::<Option<_>>().ok_or_else(|| refused(name))?;
        Ok(worker)
    }

    #[inline]
    fn turn(&mut self, post: Option<&Post<'_, A>>) {
        let Replacer { objects, lots, spoilt, missed, .. } = self;
        let Lot { index, size } = Lot::draw(lots);
        let Some(new) = Object::new(size) else {
            *missed += 1;
            return;
        };
        let mut free = |object: Object<A>| {
            // A branch, which is foretold: nothing waits for what the object holds.
            if !object.is_whole() {
                cold_path();
                *spoilt += 1;
            }
        };
        let old = replace(&mut objects[index], new);
        let Some(post) = post else { return free(old) };
        if let Err(old) = post.next.push(old) {
            free(old);
        }
        if let Some(foreign) = post.own.pop() {
            free(foreign);
        }
    }

    /// Where it gets objects from and puts them, in a kernel whose workers hand them on.
    fn post(inboxes: &[ArrayQueue<Object<A>>], rank: usize) -> Option<Post<'_, A>> {
        let next = if rank + 1 < inboxes.len() { rank + 1 } else { 0 };
        Some(Post { own: inboxes.get(rank)?, next: inboxes.get(next)? })
    }
}

/// What comes from the worker before and what goes to the next.
struct Post<'a, A: Allocator> {
    own: &'a ArrayQueue<Object<A>>,
    next: &'a ArrayQueue<Object<A>>,
}

/// Which object goes, and how large the one is that takes its place.
struct Lot {
    index: usize,
    size: u32,
}

impl Lot {
    #[inline]
    fn draw(lots: &mut Rng) -> Lot {
        const SIZES: u64 = (LARGEST - LEAST + 1) as u64;
        let lot = lots.u64(..);
        // Each half as a fraction of its range: no division.
        let [index, size] =
            [(lot >> 32) * u64::from(OBJECTS), (lot & 0xffff_ffff) * SIZES].map(|product| product >> 32);
        Lot { index: index as usize, size: LEAST + size as u32 }
    }
}

impl<A: Allocator> Worker for Replacer<A> {
    fn run(&mut self, watch: &Watch) -> Work {
        let inboxes = Arc::clone(&self.inboxes);
        let post = Self::post(&inboxes, self.rank);
        let mut replaced = 0;
        while !(if post.is_none() { watch.should_stop_after(replaced) } else { watch.should_stop() }) {
            // Two loops, so the one without neighbours has none of their instructions.
            match &post {
                None => (0..STRETCH).for_each(|_| self.turn(None)),
                Some(post) => (0..STRETCH).for_each(|_| self.turn(Some(post))),
            }
            replaced += STRETCH;
        }
        Work::ops(replaced)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let Replacer { name, spoilt, missed, .. } = *self;
        if missed > 0 {
            return Err(refused(name));
        }
        let kept = self.objects.iter().filter(|object| !object.is_whole()).count() as u64;
        let wrong = spoilt + kept;
        Error::unless(wrong == 0, name, || format!("{wrong} objects did not hold what was written to them"))
    }
}

/// What it means that an allocator had no memory.
fn refused(name: &str) -> Error {
    Error::Refused(format!("{name}: its allocator had no more memory: end what else runs, or ask for fewer workers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair<A: Allocator>(remote: bool) -> [Replacer<A>; 2] {
        let inboxes = inboxes(if remote { 2 } else { 0 });
        [0, 1].map(|rank| Replacer::new("test", Arc::clone(&inboxes), rank).unwrap())
    }

    #[test]
    fn lots_fall_everywhere_and_nowhere_else() {
        let mut lots = Rng::with_seed(7);
        let (mut drawn, mut ends) = (vec![false; OBJECTS as usize], [LARGEST, 0]);
        for _ in 0..100_000 {
            let Lot { index, size } = Lot::draw(&mut lots);
            drawn[index] = true;
            ends = [ends[0].min(size), ends[1].max(size)];
        }
        assert!(drawn.iter().all(|drawn| *drawn));
        assert_eq!(ends, [LEAST, LARGEST]);
    }

    #[track_caller]
    fn check_count<A: Allocator>() {
        for remote in [false, true].into_iter().filter(|_| A::heap().is_ok()) {
            let mut workers = pair::<A>(remote);
            for turn in 0..10_000 {
                let inboxes = Arc::clone(&workers[turn % 2].inboxes);
                let post = Replacer::post(&inboxes, turn % 2);
                workers[turn % 2].turn(post.as_ref());
            }
            for worker in &mut workers {
                assert_eq!(worker.objects.len(), OBJECTS as usize);
                assert_eq!(worker.verify(), Ok(()), "{}", A::FILE);
            }
        }
    }

    #[test]
    fn objects_stay_as_many_with_and_without_a_neighbour() {
        check_count::<System>();
        check_count::<Mimalloc>();
        check_count::<Jemalloc>();
    }

    /// A worker whose neighbour takes nothing frees by itself, and never waits.
    #[test]
    fn an_inbox_that_is_never_emptied_stays_bounded() {
        let [mut busy, idle] = pair::<System>(true);
        let post = Replacer::post(&idle.inboxes, 0);
        (0..10 * ON_THEIR_WAY).for_each(|_| busy.turn(post.as_ref()));
        assert_eq!(idle.inboxes[1].len(), ON_THEIR_WAY);
        assert_eq!(busy.verify(), Ok(()));
    }

    #[test]
    fn reasons_say_what_to_do() {
        let missing = |reason| missing("alloc-jemalloc", "libjemalloc.so.2", "libjemalloc2", reason);
        assert!(missing("no such file").ends_with("install it, on Debian by the package libjemalloc2"));
        assert!(missing(LINKED_STATICALLY).ends_with("built from its source"));
        assert!(missing("cannot allocate memory in static TLS block").contains("set GLIBC_TUNABLES=glibc.rtld."));
    }
}
