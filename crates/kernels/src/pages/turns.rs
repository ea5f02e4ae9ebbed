//! `pages-map`, `pages-map-64` and `pages-protect`: what a process does to its mappings, again and again.
//!
//! Each worker has mappings of its own, but all of them are of one process: they wait for each other where the system changes its
//! list of mappings, and each is interrupted by what the others take away.

use std::io;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Family, Metric, Params, Work};

use crate::block::Line;
use crate::kernel::{Error, Worker};
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::mmap::{Guarded, Mapping, base_page};
use crate::watch::Watch;

/// Touched pages between two looks at the watch: a turn with one takes 2 to 8 µs in a virtual machine on Zen 4.
const STRETCH: usize = 8;

pub(super) trait Turn: Sized + 'static {
    const PAGES: usize;
    const VARIANT: &'static str;

    /// What a worker keeps from turn to turn.
    fn new() -> io::Result<Self>;

    /// One turn. Whether the memory held what it should.
    fn turn(&mut self) -> io::Result<bool>;
}

/// Maps so many pages, touches them, and unmaps them.
pub(crate) struct Remap<const PAGES: usize> {
    lines_of_page: usize,
}

impl<const PAGES: usize> Turn for Remap<PAGES> {
    const PAGES: usize = PAGES;
    const VARIANT: &'static str = "mmap, munmap";

    fn new() -> io::Result<Self> {
        Ok(Remap { lines_of_page: base_page() / Line::BYTES })
    }

    fn turn(&mut self) -> io::Result<bool> {
        let mut mapping = Mapping::plain(PAGES * self.lines_of_page)?;
        let mut fresh = true;
        for page in mapping.lines_mut().chunks_mut(self.lines_of_page) {
            // The write comes first: a read would be answered with a page of zeros that all processes share.
            page[0].0[0] = 1;
            fresh &= page[0].0[1] == 0;
        }
        Ok(fresh)
    }
}

/// Forbids writing to a page, allows it again, and writes to it.
pub(crate) struct Protect {
    page: Guarded,
    written: u64,
}

impl Turn for Protect {
    const PAGES: usize = 1;
    const VARIANT: &'static str = "mprotect";

    fn new() -> io::Result<Self> {
        Ok(Protect { page: Guarded::new(Mapping::plain(base_page() / Line::BYTES)?), written: 0 })
    }

    fn turn(&mut self) -> io::Result<bool> {
        let before = self.page.flip(self.written + 1)?;
        let kept = before == self.written;
        self.written += 1;
        Ok(kept)
    }
}

const BESIDE: &str = "each turn interrupts the strands that the process runs on, for their old translations (TLB shootdown), where \
                      the processor has no instruction for that";

const CARD: Card = Card::new("", Family::Memory, "", Metric::Duration)
    .uncounted_traffic(BESIDE)
    .params(&[&SPAN])
    .source("D. L. Black et al., Translation lookaside buffer consistency: a software approach, ASPLOS 1989")
    .blocks_in_kernel(true);

kernels! {
    turning::<Remap<1>> => CARD
        .named("pages-map", "maps a page of its own, writes to it, and unmaps it, again and again")
        .metric(Metric::ops("one page mapped, touched and unmapped"));
    turning::<Remap<64>> => CARD
        .named("pages-map-64", "maps 64 pages of its own, writes to each, and unmaps them, again and again")
        .metric(Metric::ops("64 pages mapped, touched and unmapped, together"));
    turning::<Protect> => CARD.named(
            "pages-protect",
            "forbids writing to a page of its own, allows it again, and writes to it, again and again",
        )
        .metric(Metric::ops("one page protected, unprotected and touched"));
}

const fn turning<T: Turn>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes((T::PAGES * base_page()) as u64);
    PlainKernel::new(card, (), footprint, |kernel, params, _| {
        let name = kernel.name();
        stage(T::VARIANT, Extent::Span(params.span()), move |_| {
            let turn = T::new().map_err(|error| refused(name, &error))?;
            Ok(Box::new(Turner { name, turn, verdict: Ok(()) }))
        })
    })
}

struct Turner<T> {
    name: &'static str,
    turn: T,
    verdict: Result<(), Error>,
}

impl<T: Turn> Worker for Turner<T> {
    fn prepare(&mut self) {
        self.verdict = Ok(());
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut turns, mut right) = (0, true);
        'run: while !watch.should_stop() {
            for _ in 0..STRETCH.div_ceil(T::PAGES) {
                match self.turn.turn() {
                    Ok(as_expected) => right &= as_expected,
                    Err(error) => {
                        self.verdict = Err(refused(self.name, &error));
                        break 'run;
                    }
                }
                turns += 1;
            }
        }
        if !right {
            let wrong = Error::void(self.name, "a page did not hold what it should");
            self.verdict = self.verdict.clone().and(Err(wrong));
        }
        Work::ops(turns)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.verdict.clone()
    }
}

fn refused(name: &str, error: &io::Error) -> Error {
    Error::Refused(format!(
        "{name}: the system maps or protects no more pages ({error}): end what else runs, or ask for fewer workers"
    ))
}
