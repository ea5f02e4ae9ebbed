//! `level-*`: how fast a level of the caches moves lines, by passes over a private block again and again.
//!
//! A block that fits a level of the caches is read from there in every pass but the first, and written there; one far larger than
//! all of them lives in memory. The kernels differ in what a pass does with each line, and in nothing else: [`Op`] says what that
//! is, and `sys` has the loops.
//!
//! Bytes are those that the program asked for. What moves between the last cache and memory beside them where ordinary stores
//! overwrite lines, [`Kernel::traffic`] says.

use std::time::Duration;

use charz_data::card::{Access, ROOM};
use charz_data::params::{MEMORY, PAGES, SIZE, SPAN};
use charz_data::{Bytes, Card, Family, Metric, PageKind, Param, Params, Role, Work};

use crate::block::Line;
use crate::kernel::{Axes, Error, Kernel, Sizes, Stage};
use crate::plain::{Extent, stage};
use crate::stream::{LOADED, STORED, lines_of_part};
use crate::sys::level::{Loop, Op};

mod passer;
#[cfg(test)]
mod tests;

pub(crate) use passer::Passer;

pub(crate) static KERNELS: &[&dyn Kernel] = &[
    &LEVEL_READ,
    &LEVEL_WRITE,
    &LEVEL_WRITE_NT,
    &LEVEL_COPY,
    &LEVEL_TRIAD,
    &LEVEL_MIX_1_1,
    &LEVEL_MIX_2_1,
    &LEVEL_MIX_3_1,
];

const OBEYS: &[&Param] = &[&SIZE, &MEMORY, &PAGES, &SPAN];

/// What ordinary stores cost beside what they write, and what that makes of each byte that is counted.
macro_rules! allocate {
    ($bytes:literal) => {
        concat!(
            "from memory each line that is overwritten is read first (write-allocate), which makes ",
            $bytes,
            " bytes that move of one that is counted, unless the hardware sees that whole lines are written; in a cache nothing"
        )
    };
}

pub static LEVEL_READ: Level = Level {
    card: &card(
        "level-read",
        "adds up every word of a private block, pass after pass",
        "the bytes of the block, each read once a pass",
        "",
        "the read bandwidth of a level, by sums of vectors",
        LOADED,
    )
    .role(Role::LevelBandwidth(Access::Read)),
    op: Op::Read,
};

pub static LEVEL_WRITE: Level = Level {
    card: &card(
        "level-write",
        "overwrites a private block with ordinary vector stores, pass after pass",
        "the bytes of the block, each written once a pass",
        allocate!("2"),
        "level-read with stores in place of loads",
        STORED,
    )
    .role(Role::LevelBandwidth(Access::Write)),
    op: Op::Write,
};

pub static LEVEL_WRITE_NT: Level = Level {
    card: &card(
        "level-write-nt",
        "overwrites a private block with non-temporal vector stores, pass after pass: to memory, however small the block is",
        "the bytes of the block, each written once a pass",
        "",
        "level-write with non-temporal stores, as in the vendors' optimization manuals",
        STORED,
    ),
    op: Op::WriteNt,
};

pub static LEVEL_COPY: Level = Level {
    card: &card(
        "level-copy",
        "copies one half of a private block to the other with ordinary vector stores, pass after pass",
        "the bytes read and the bytes written: twice those copied",
        allocate!("1.5"),
        "J. D. McCalpin, STREAM: copy",
        // As much is loaded as is stored.
        2.0 * STORED,
    )
    .role(Role::LevelBandwidth(Access::Copy)),
    op: Op::Copy,
};

pub static LEVEL_TRIAD: Level = Level {
    card: &card(
        "level-triad",
        "computes a = b + s c on doubles, each array a third of a private block, with ordinary vector stores, pass after pass; \
         s is the number of the pass",
        "the bytes of b and c read and of a written: 24 an element, as STREAM counts",
        allocate!("1.33"),
        "J. D. McCalpin, STREAM: triad",
        LOADED + STORED,
    ),
    op: Op::Triad,
};

pub static LEVEL_MIX_1_1: Level = Level {
    card: &card(
        "level-mix-1-1",
        "adds up the words of one line of a private block and overwrites the next, pass after pass",
        MIXED,
        allocate!("1.5"),
        MIXES,
        // No more can be loaded than is stored.
        2.0 * STORED,
    ),
    op: Op::Mix1,
};

pub static LEVEL_MIX_2_1: Level = Level {
    card: &card(
        "level-mix-2-1",
        "adds up the words of two lines of a private block and overwrites the next, pass after pass",
        MIXED,
        allocate!("1.33"),
        MIXES,
        LOADED + STORED,
    ),
    op: Op::Mix2,
};

pub static LEVEL_MIX_3_1: Level = Level {
    card: &card(
        "level-mix-3-1",
        "adds up the words of three lines of a private block and overwrites the next, pass after pass",
        MIXED,
        allocate!("1.25"),
        MIXES,
        LOADED + STORED,
    ),
    op: Op::Mix3,
};

const MIXED: &str = "the bytes of the block, each read or written once a pass";

const MIXES: &str =
    "ratios of reads to writes as in Intel's Memory Latency Checker, counted as the program asks for them";

/// A card of this family. At most `most` bytes a cycle can be moved so.
const fn card(
    name: &'static str,
    about: &'static str,
    bytes: &'static str,
    beside: &'static str,
    source: &'static str,
    most: f64,
) -> Card {
    Card::new(name, Family::Memory, about, Metric::bytes(bytes))
        .uncounted_traffic(beside)
        .params(OBEYS)
        .source(source)
        .max_per_cycle(ROOM * most)
}

#[derive(Debug)]
pub struct Level {
    card: &'static Card,
    op: Op,
}

/// Lines of a small page.
const PAGE: usize = 64;

/// From so many lines on several arrays are whole pages: it makes them smaller by a sixteenth at most.
const LONG: usize = 16 * PAGE;

/// The length of arrays, so that each begins at the same place in its page as the others. A load waits for an earlier store whose
/// address has the same last 12 bits, since it may be of the same data: where arrays begin in step, such a store is a page back and
/// long done. Out of step it may be near, which cost the triad 3% in the second-level cache of Zen 4.
fn whole_pages(op: Op, length: usize) -> usize {
    if op.arrays() > 1 && length >= LONG { length / PAGE * PAGE } else { length }
}

impl Level {
    fn looping(&self) -> Result<Loop, Error> {
        Loop::fastest(self.op).ok_or_else(|| {
            let name = &*self.card.name;
            Error::Unavailable(format!("{name} needs stores that pass the caches by, which this architecture lacks"))
        })
    }

    /// The stage of its workers.
    pub(crate) fn passing(&self, params: &Params) -> Result<Passing, Error> {
        let (name, op, looping) = (&*self.card.name, self.op, self.looping()?);
        let length = whole_pages(op, lines_of_part(name, params.size_bytes, op.arrays(), op.round())?);
        Ok(Passing { name, op, looping, length, pages: params.pages, span: params.span() })
    }
}

impl Kernel for Level {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn check(&self) -> Result<(), Error> {
        self.looping().map(drop)
    }

    fn axes(&self) -> Axes {
        Axes { sizes: Sizes::Levels, ..Axes::NONE }
    }

    fn traffic(&self) -> Option<f64> {
        let (lines, written) = (self.op.arrays() * self.op.group(), usize::from(self.op.allocates()));
        Some((lines + written) as f64 / lines as f64)
    }

    fn footprint(&self, params: &Params) -> Bytes {
        params.pages.footprint(params.size_bytes)
    }

    fn stage(&self, params: &Params, _: usize) -> Result<Box<dyn Stage>, Error> {
        let passing = self.passing(params)?;
        stage(passing.looping.name(), Extent::Span(passing.span), move |rank| Ok(Box::new(Passer::new(passing, rank)?)))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    name: &'static str,
    op: Op,
    pub(crate) looping: Loop,
    /// Lines of an array.
    length: usize,
    pages: PageKind,
    pub(crate) span: Duration,
}

impl Passing {
    /// Bytes moved by going through so many lines of each array.
    pub(crate) fn bytes(&self, lines: u64) -> Work {
        Work::bytes(lines * (self.op.arrays() * Line::BYTES) as u64)
    }
}
