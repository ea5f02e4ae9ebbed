//! `alloc-system` to `alloc-jemalloc-remote`: objects that come and go, as in a server that runs for long.
//!
//! Each worker keeps a number of objects, and replaces one of them by lot with one of another size, again and again. In the
//! kernels on `-remote` it does not free what it takes out, but hands it to the next worker, as where requests are passed from
//! thread to thread: allocators that keep memory by thread have to bring it home (P. Larson and M. Krishnan, "Memory allocation
//! for long-running server applications", ISMM 1998; E. D. Berger et al., "Hoard", ASPLOS 2000).
//!
//! A sweep over numbers of workers says how an allocator scales. The allocators are called by their plain functions, loaded
//! from the system's libraries, so that all are met in the same way and as others meet them.

use std::hint::cold_path;
use std::marker::PhantomData;
use std::mem::replace;
use std::sync::Arc;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Family, Metric, Params, Work, WorkerCount};
use crossbeam::queue::ArrayQueue;
use fastrand::Rng;

use crate::kernel::{Error, Kernel, Stage, Worker};
use crate::plain::{Extent, stage};
use crate::sys::heap::{Allocator, Jemalloc, LEAST, Mimalloc, Object, System};
use crate::watch::Watch;

/// Objects that a worker keeps, as many as Larson and Krishnan's threads do.
const OBJECTS: u32 = 1000;

/// Bytes of the largest object. Sizes are drawn uniformly from [`LEAST`] to this.
const LARGEST: u32 = 1000;

/// Objects on their way from one worker to the next, at most. What finds no room is freed by the worker that took it out.
const ON_THEIR_WAY: usize = 256;

/// Replacements between two looks at the watch: 20 to 60 µs on Zen 4.
const STRETCH: u64 = 1024;

struct Allocating<A> {
    card: &'static Card,
    remote: bool,
    allocator: PhantomData<fn() -> A>,
}

const REPLACED: &str =
    "one object allocated and another freed, both ends of which are written, and checked when it goes";

/// Makes the kernels: each a name, what a worker does, where that comes from, the allocator, whether others free, and how many it takes.
macro_rules! allocating {
    ($($kernel:ident, $name:literal, $about:literal, $source:literal, $allocator:ty, $remote:literal, $crew:expr;)*) => { $(
        #[doc = $about]
        static $kernel: Allocating<$allocator> = Allocating {
            card: &Card::new($name, Family::Memory, $about, Metric::ops(REPLACED))
                .uncounted_traffic("what the allocator asks of the system, and gives back")
                .params(&[&SPAN])
                .source(concat!("P. Larson and M. Krishnan, Memory allocation for long-running server applications, ISMM 1998; ", $source))
                .workers($crew)
                .blocks_in_kernel(true),
            remote: $remote,
            allocator: PhantomData,
        };
    )*
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$(&$kernel),*];
    };
}

allocating! {
    ALLOC_SYSTEM, "alloc-system",
        "keeps 1000 objects of 16 to 1000 bytes of the C library's malloc, and replaces them by lot",
        "malloc(3)", System, false, WorkerCount::Any;
    ALLOC_SYSTEM_REMOTE, "alloc-system-remote",
        "keeps 1000 objects of 16 to 1000 bytes of the C library's malloc, and replaces them by lot; the next worker frees them",
        "malloc(3)", System, true, WorkerCount::AtLeast(2);
    ALLOC_MIMALLOC, "alloc-mimalloc",
        "keeps 1000 objects of 16 to 1000 bytes of mimalloc, and replaces them by lot",
        "D. Leijen et al., Mimalloc, APLAS 2019", Mimalloc, false, WorkerCount::Any;
    ALLOC_MIMALLOC_REMOTE, "alloc-mimalloc-remote",
        "keeps 1000 objects of 16 to 1000 bytes of mimalloc, and replaces them by lot; the next worker frees them",
        "D. Leijen et al., Mimalloc, APLAS 2019", Mimalloc, true, WorkerCount::AtLeast(2);
    ALLOC_JEMALLOC, "alloc-jemalloc",
        "keeps 1000 objects of 16 to 1000 bytes of jemalloc, and replaces them by lot",
        "J. Evans, A scalable concurrent malloc(3) implementation for FreeBSD, BSDCan 2006", Jemalloc, false, WorkerCount::Any;
    ALLOC_JEMALLOC_REMOTE, "alloc-jemalloc-remote",
        "keeps 1000 objects of 16 to 1000 bytes of jemalloc, and replaces them by lot; the next worker frees them",
        "J. Evans, A scalable concurrent malloc(3) implementation for FreeBSD, BSDCan 2006", Jemalloc, true, WorkerCount::AtLeast(2);
}

/// Why an allocator cannot be used, and what to do about it.
fn missing(name: &str, file: &str, package: &str, reason: &str) -> String {
    let what = if reason.contains("static TLS") {
        // The room is set aside when a process starts, and what the C library sets aside by itself is less than jemalloc takes.
        "set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 in the environment".into()
    } else {
        format!("install it, on Debian by the package {package}")
    };
    format!("{name} cannot load {file} ({reason}): {what}")
}

impl<A: Allocator> Allocating<A> {
    /// What each worker is to free; empty where each frees its own.
    fn inboxes(&self, workers: usize) -> Arc<[ArrayQueue<Object<A>>]> {
        let inboxes = if self.remote { workers } else { 0 };
        (0..inboxes).map(|_| ArrayQueue::new(ON_THEIR_WAY)).collect()
    }
}

impl<A: Allocator> Kernel for Allocating<A> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn check(&self) -> Result<(), Error> {
        let unavailable = |reason| Error::Unavailable(missing(&self.card.name, A::FILE, A::PACKAGE, reason));
        A::heap().map(drop).map_err(unavailable)
    }

    fn footprint(&self, _: &Params) -> Bytes {
        let objects = u64::from(OBJECTS) + ON_THEIR_WAY as u64;
        Bytes(objects * (u64::from(LARGEST) + size_of::<Object<A>>() as u64))
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        self.check()?;
        let inboxes = self.inboxes(workers);
        let name = &*self.card.name;
        stage(A::FILE, Extent::Span(params.span()), move |rank| {
            Ok(Box::new(Replacer::<A>::new(name, Arc::clone(&inboxes), rank)?))
        })
    }
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
        while !watch.should_stop() {
            // Two loops, so that the one without neighbours has none of their instructions.
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
    use crate::tests::stopped;

    fn pair<A: Allocator>(kernel: &Allocating<A>) -> [Replacer<A>; 2] {
        let inboxes = kernel.inboxes(2);
        [0, 1].map(|rank| Replacer::new(&kernel.card.name, Arc::clone(&inboxes), rank).unwrap())
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
    fn check_count<A: Allocator>(kernel: &Allocating<A>) {
        if kernel.check().is_err() {
            return;
        }
        let mut workers = pair(kernel);
        for turn in 0..10_000 {
            let inboxes = Arc::clone(&workers[turn % 2].inboxes);
            let post = Replacer::post(&inboxes, turn % 2);
            workers[turn % 2].turn(post.as_ref());
        }
        for worker in &mut workers {
            assert_eq!(worker.objects.len(), OBJECTS as usize);
            assert_eq!(worker.verify(), Ok(()), "{}", &*kernel.card.name);
        }
    }

    #[test]
    fn objects_stay_as_many_whoever_frees_them() {
        check_count(&ALLOC_SYSTEM);
        check_count(&ALLOC_SYSTEM_REMOTE);
        check_count(&ALLOC_MIMALLOC);
        check_count(&ALLOC_MIMALLOC_REMOTE);
        check_count(&ALLOC_JEMALLOC);
        check_count(&ALLOC_JEMALLOC_REMOTE);
    }

    /// A worker whose neighbour takes nothing frees by itself, and never waits.
    #[test]
    fn an_inbox_that_nobody_empties_stays_bounded() {
        let [mut busy, idle] = pair(&ALLOC_SYSTEM_REMOTE);
        let post = Replacer::post(&idle.inboxes, 0);
        (0..10 * ON_THEIR_WAY).for_each(|_| busy.turn(post.as_ref()));
        assert_eq!(idle.inboxes[1].len(), ON_THEIR_WAY);
        assert_eq!(busy.verify(), Ok(()));
    }

    #[test]
    fn a_run_without_time_does_nothing() {
        let [mut worker, _] = pair(&ALLOC_SYSTEM);
        assert_eq!(worker.run(&stopped()), Work::default());
    }

    #[test]
    fn reasons_say_what_to_do() {
        let missing = |reason| missing("alloc-jemalloc", "libjemalloc.so.2", "libjemalloc2", reason);
        assert!(missing("no such file").ends_with("install it, on Debian by the package libjemalloc2"));
        assert!(missing("cannot allocate memory in static TLS block").contains("set GLIBC_TUNABLES=glibc.rtld."));
    }
}
