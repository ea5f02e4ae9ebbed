//! What pages cost: `pages-touch` to `pages-segment-destroy`, `pages-map`, `pages-protect` and `tlb-shootdown`.
//!
//! Memory that a program asks for is only promised; it comes page by page when it is first touched or locked, and goes when
//! it is unmapped. For a large segment that takes minutes, so systems have helpers do it in parallel (vmtasks of Solaris 11,
//! as S. Sistare described it). Here all workers share one segment, as large as all of their blocks together, and each takes
//! the next part of it when it is done with one (module `segment`). So the time of a GiB with one worker against that with
//! many shows what such helpers gain.
//!
//! Only the operation itself is timed. Mapping, and everything else that has to come first, is done before each run.
//!
//! Where the workers of a process map and unmap, each change that takes a right away interrupts every strand that the process
//! runs on, so no old translation is used (a TLB shootdown; D. L. Black et al., "Translation lookaside buffer consistency: a
//! software approach", ASPLOS 1989). The kernels of the modules `turns` and `shootdown` are about that.

mod flags;
mod handler;
mod segment;
mod shootdown;
mod turns;

use std::sync::Arc;

pub(crate) use flags::KERNELS as FLAGS_KERNELS;
use handler::Handler;
use segment::Segment;
pub(crate) use shootdown::KERNELS as SHOOTDOWN_KERNELS;

use charz_data::card::ROOM;
use charz_data::params::{MEMORY, PAGES, SIZE};
use charz_data::{Card, Family, Metric, PageKind, Work};

use crate::kernel::{Axes, Sizes};
use crate::plain::{Extent, PlainKernel, block_of_size, kernels, stage};
pub(crate) use turns::KERNELS as TURN_KERNELS;

/// Bytes that a core can clear in a cycle, which the system does with each page before it hands it out: a vector of 64 (Intel, "64
/// and IA-32 Architectures Optimization Reference Manual", 248966).
const CLEARED: f64 = 64.0;

/// What is done to each part of the segment in the timed span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// The first write to each page, which the system answers with memory.
    Touch,
    Lock,
    Release,
}

/// What the memory has gone through before the timed span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    /// It is mapped; no page has memory.
    Mapped,
    Touched,
    Locked,
}

/// What distinguishes these kernels.
#[derive(Clone, Copy, Debug)]
struct Handling {
    shared: bool,
    before: Before,
    deed: Deed,
}

const CARD: Card = Card::new("", Family::Memory, "", Metric::Duration)
    .params(&[&SIZE, &MEMORY, &PAGES])
    .shares_work(true)
    .source(
        "S. Sistare, on the scalability of Solaris 11: vmtasks, helpers that create, lock and destroy large segments",
    )
    .blocks_in_kernel(true);

const LOCKS: Card = CARD.metric(Metric::time_per_gib("bytes of the pages that are locked"));
const HANDS_OUT: Card = CARD
    .metric(Metric::time_per_gib("bytes of the pages that the system hands out"))
    .uncounted_traffic(CLEARS)
    .max_per_cycle(ROOM * CLEARED);
const TAKES_BACK: Card = CARD.metric(Metric::time_per_gib("bytes of the pages that the system takes back"));

const CLEARS: &str = "the system clears each page before it hands it out";
const LAST_FREES: &str =
    "the memory of a shared mapping is freed when its last part goes, by the worker that unmaps it";

kernels! {
    handling, Handling::new(false, Before::Mapped, Deed::Touch) => HANDS_OUT
        .named("pages-touch", "writes to each page of a fresh private mapping that all workers share, part by part, \
            for the first time");
    handling, Handling::new(false, Before::Touched, Deed::Lock) => LOCKS
        .named("pages-lock", "locks a private mapping that all workers share, and have touched, part by part");
    handling, Handling::new(false, Before::Touched, Deed::Release) => TAKES_BACK
        .named("pages-release", "unmaps a private mapping that all workers share, and have touched, part by part");
    handling, Handling::new(true, Before::Mapped, Deed::Touch) => HANDS_OUT
        .named("pages-shared-touch", "writes to each page of a fresh shared mapping, as of a segment between \
            processes, part by part, for the first time");
    handling, Handling::new(true, Before::Touched, Deed::Lock) => LOCKS
        .named("pages-shared-lock", "locks a shared mapping, as of a segment between processes, that the workers have \
            touched, part by part");
    handling, Handling::new(true, Before::Touched, Deed::Release) => TAKES_BACK
        .named("pages-shared-release", "unmaps a shared mapping, as of a segment between processes, that the workers \
            have touched, part by part")
        .uncounted_traffic(LAST_FREES);
    handling, Handling::new(true, Before::Mapped, Deed::Lock) => HANDS_OUT
        .named("pages-segment-create", "locks a fresh shared mapping part by part, and so has each page made on the \
            way")
        .metric(Metric::time_per_gib("bytes of the pages that the system hands out and locks"));
    handling, Handling::new(true, Before::Locked, Deed::Release) => TAKES_BACK
        .named("pages-segment-destroy", "unmaps a shared mapping that was touched and locked, part by part")
        .uncounted_traffic(LAST_FREES);
}

const fn handling(card: &'static Card, how: Handling) -> PlainKernel<Handling> {
    let kernel = PlainKernel::new(card, how, block_of_size, |kernel, params, workers| {
        let (name, how) = (kernel.name(), kernel.data);
        let segment = Arc::new(Segment::new(name, params, how.shared, workers, how.part(params.pages))?);
        let variant = match how.deed {
            Deed::Touch => "first write",
            Deed::Lock => "mlock",
            Deed::Release => "munmap",
        };
        stage(variant, Extent::Together(Work::bytes(segment.share() as u64)), move |rank| {
            Ok(Box::new(Handler::new(how, Arc::clone(&segment), rank)?))
        })
    });
    // As much as takes some ten milliseconds on small pages; no cache has to be passed.
    let sizes = Sizes::Fixed(128 << 20);
    // Few systems have transparent huge pages for shared memory (`shmem_enabled`).
    let lists: &[_] = if how.shared { &[(&PAGES, "4k,2m")] } else { &[(&PAGES, "4k,thp,2m")] };
    kernel.axes(Axes { sizes, lists, ..Axes::NONE })
}

impl Handling {
    const fn new(shared: bool, before: Before, deed: Deed) -> Self {
        Handling { shared, before, deed }
    }

    /// Whether a worker writes to its pages, before the run or in it.
    fn touches(&self) -> bool {
        self.before > Before::Mapped || self.deed == Deed::Touch
    }

    fn locks(&self) -> bool {
        self.before == Before::Locked || self.deed == Deed::Lock
    }

    /// The smallest part, which takes 20 to 100 µs: of pages that are made one by one 64, at up to a microsecond each in a virtual
    /// machine, of small ones that are there already 512, and of large ones so many that the call itself matters little.
    fn part(&self, pages: PageKind) -> usize {
        match pages {
            _ if self.before == Before::Mapped => 256 << 10,
            // Transparent huge pages of shared memory are rare, and small ones take their place.
            PageKind::Transparent if self.shared => 2 << 20,
            PageKind::Small => 2 << 20,
            PageKind::Transparent | PageKind::Huge2M | PageKind::Huge1G => 16 << 20,
        }
    }
}

#[cfg(test)]
mod tests;
