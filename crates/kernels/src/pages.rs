//! What pages cost: `pages-touch` to `pages-segment-destroy`, `pages-map`, `pages-protect` and `tlb-shootdown`.
//!
//! Memory that a program asks for is only promised; it comes page by page when it is first touched or locked, and goes when it
//! is unmapped. For a large segment that takes minutes, so that systems have helpers do it in parallel (vmtasks
//! of Solaris 11, as S. Sistare told of it). Here all workers share one segment, as large as all of their blocks together,
//! and each takes the next part of it when it is done with one (module `segment`). So the time of a GiB with one worker
//! against that with many says what such helpers gain.
//!
//! Only the operation itself is timed. Mapping, and whatever else has to come first, is done before each run.
//!
//! Where the workers of a process map and unmap, each change that takes a right away interrupts every strand that the process
//! runs on, so that no old translation is used (a TLB shootdown; D. L. Black et al., "Translation lookaside buffer consistency: a
//! software approach", ASPLOS 1989). The kernels of the modules `turns` and `shootdown` are about that.

mod handler;
mod segment;
mod shootdown;
mod turns;

use std::sync::Arc;

use handler::Handler;
use segment::Segment;
pub(crate) use shootdown::KERNELS as SHOOTDOWN_KERNELS;

use charz_data::card::ROOM;
use charz_data::params::{MEMORY, PAGES, SIZE};
use charz_data::{Bytes, Card, Family, Metric, PageKind, Params, Work};

use crate::kernel::{Axes, Error, Kernel, Sizes, Stage};
use crate::plain::{Extent, stage};
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

#[derive(Clone, Copy, Debug)]
pub struct Handling {
    card: &'static Card,
    shared: bool,
    before: Before,
    deed: Deed,
}

/// Where the idea and the split into creating, locking and destroying come from.
const SOURCE: &str =
    "S. Sistare, on the scalability of Solaris 11: vmtasks, helpers that create, lock and destroy large segments";

/// Makes the kernels: each a name, what a worker does, which bytes are counted, what happens beside, an upper bound a cycle, whether
/// the mapping is shared, what comes before, and what is timed.
macro_rules! handling {
    ($($kernel:ident, $name:literal, $about:literal, $bytes:literal, $beside:expr, $most:expr, $shared:literal, $before:ident,
       $deed:ident;)*) => {$(
        pub static $kernel: Handling = Handling {
            card: &Card::new($name, Family::Memory, $about, Metric::time_per_gib($bytes))
                .uncounted_traffic($beside)
                .params(&[&SIZE, &MEMORY, &PAGES])
                .source(SOURCE)
                .max_per_cycle_if($most)
                .blocks_in_kernel(true),
            shared: $shared,
            before: Before::$before,
            deed: Deed::$deed,
        };
    )*
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$(&$kernel),*];

        #[cfg(test)]
        const HANDLING: &[&Handling] = &[$(&$kernel),*];
    };
}

const CLEARS: &str = "the system clears each page before it hands it out";
const LAST_FREES: &str =
    "the memory of a shared mapping is freed when its last part goes, by the worker that unmaps it";

handling! {
    PAGES_TOUCH, "pages-touch",
        "writes to each page of a fresh private mapping that all workers share, part by part, for the first time",
        "bytes of the pages that the system hands out", CLEARS, Some(ROOM * CLEARED), false, Mapped, Touch;
    PAGES_LOCK, "pages-lock",
        "locks a private mapping that all workers share, and have touched, part by part",
        "bytes of the pages that are locked", "", None, false, Touched, Lock;
    PAGES_RELEASE, "pages-release",
        "unmaps a private mapping that all workers share, and have touched, part by part",
        "bytes of the pages that the system takes back", "", None, false, Touched, Release;
    PAGES_SHARED_TOUCH, "pages-shared-touch",
        "writes to each page of a fresh shared mapping, as of a segment between processes, part by part, for the first time",
        "bytes of the pages that the system hands out", CLEARS, Some(ROOM * CLEARED), true, Mapped, Touch;
    PAGES_SHARED_LOCK, "pages-shared-lock",
        "locks a shared mapping, as of a segment between processes, that the workers have touched, part by part",
        "bytes of the pages that are locked", "", None, true, Touched, Lock;
    PAGES_SHARED_RELEASE, "pages-shared-release",
        "unmaps a shared mapping, as of a segment between processes, that the workers have touched, part by part",
        "bytes of the pages that the system takes back", LAST_FREES, None, true, Touched, Release;
    PAGES_SEGMENT_CREATE, "pages-segment-create",
        "locks a fresh shared mapping part by part, and so has each page made on the way",
        "bytes of the pages that the system hands out and locks", CLEARS, Some(ROOM * CLEARED), true, Mapped, Lock;
    PAGES_SEGMENT_DESTROY, "pages-segment-destroy",
        "unmaps a shared mapping that was touched and locked, part by part",
        "bytes of the pages that the system takes back", LAST_FREES, None, true, Locked, Release;
}

impl Handling {
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

impl Kernel for Handling {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn axes(&self) -> Axes {
        // As much as takes some ten milliseconds on small pages; no cache has to be passed.
        let sizes = Sizes::Fixed(128 << 20);
        // Few systems have transparent huge pages for shared memory (`shmem_enabled`).
        let lists: &[_] = if self.shared { &[(&PAGES, "4k,2m")] } else { &[(&PAGES, "4k,thp,2m")] };
        Axes { sizes, lists, ..Axes::NONE }
    }

    fn footprint(&self, params: &Params) -> Bytes {
        params.pages.footprint(params.size_bytes)
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        let segment = Segment::new(&self.card.name, params, self.shared, workers, self.part(params.pages))?;
        let (kernel, segment) = (*self, Arc::new(segment));
        let variant = match self.deed {
            Deed::Touch => "first write",
            Deed::Lock => "mlock",
            Deed::Release => "munmap",
        };
        stage(variant, Extent::Together(Work::bytes(segment.share() as u64)), move |rank| {
            Ok(Box::new(Handler::new(kernel, Arc::clone(&segment), rank)?))
        })
    }
}

#[cfg(test)]
mod tests;
