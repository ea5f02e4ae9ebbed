//! `pages-map`, `pages-map-64` and `pages-protect`: what a process does to its mappings, again and again.
//!
//! Each worker has mappings of its own, but all of them are of one process: they wait for each other where the system changes its
//! list of mappings, and each is interrupted by what the others take away.

use std::hint::black_box;
use std::io;

use charz_data::params::SPAN;
use charz_data::{Card, Family, Metric};

use crate::block::Line;
use crate::plain::kernels;
use crate::sys::mmap::{Guarded, Mapping, base_page};
use crate::turns::{Turn, turning};

/// Touched pages between two looks at the watch: a turn with one takes 2 to 8 µs in a virtual machine on Zen 4.
const STRETCH: usize = 8;

const REFUSED: &str = "the system maps or protects no more pages";
const WRONG: &str = "a page did not hold what it should";

/// Maps so many pages, touches them, and unmaps them.
pub(crate) struct Remap<const PAGES: usize> {
    lines_of_page: usize,
}

impl<const PAGES: usize> Turn for Remap<PAGES> {
    const PAGES: usize = PAGES;
    const STRETCH: usize = STRETCH.div_ceil(PAGES);
    const VARIANT: &'static str = "mmap, munmap";
    const REFUSED: &'static str = REFUSED;
    const WRONG: &'static str = WRONG;

    fn new() -> io::Result<Self> {
        Ok(Remap { lines_of_page: base_page() / Line::BYTES })
    }

    fn turn(&mut self) -> io::Result<bool> {
        let mut mapping = Mapping::plain(PAGES * self.lines_of_page)?;
        let mut fresh = true;
        for page in mapping.lines_mut().chunks_mut(self.lines_of_page) {
            // A read that the compiler moved before the write would be answered with a page of zeros that all processes share.
            page[0].0[0] = 1;
            fresh &= black_box(&*page)[0].0[1] == 0;
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
    const STRETCH: usize = STRETCH;
    const VARIANT: &'static str = "mprotect";
    const REFUSED: &'static str = REFUSED;
    const WRONG: &'static str = WRONG;

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
