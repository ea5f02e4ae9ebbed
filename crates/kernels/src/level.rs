//! `level-*`: how fast a level of the caches moves lines, by passes over a private block again and again.
//!
//! A block that fits a level of the caches is read from there in every pass but the first, and written there; one far larger than
//! all of them lives in memory. The kernels differ in what a pass does with each line, and in nothing else: [`Op`] says what that
//! is, and `sys` has the loops.
//!
//! Bytes are those that the program asked for. What moves between the last cache and memory beside them where ordinary stores
//! overwrite lines, [`Kernel::traffic`](crate::Kernel::traffic) says.

use std::time::Duration;

use charz_data::card::{Access, ROOM};
use charz_data::params::{MEMORY, PAGES, SIZE, SPAN};
use charz_data::{Card, Family, Metric, PageKind, Params, Role, Work};

use crate::block::Line;
use crate::kernel::{Axes, Error, Sizes};
use crate::plain::{Extent, PlainKernel, block_of_size, kernels, stage};
use crate::stream::{LOADED, STORED, lines_of_part};
pub(crate) use crate::sys::level::Op;

use crate::sys::level::Loop;

mod passer;
#[cfg(test)]
mod tests;

pub(crate) use passer::Passer;

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

const CARD: Card =
    Card::new("", Family::Memory, "", Metric::bytes("the bytes of the block, each read or written once a pass"))
        .params(&[&SIZE, &MEMORY, &PAGES, &SPAN])
        .source("ratios of reads to writes as in Intel's Memory Latency Checker, counted as the program asks for them")
        .max_per_cycle(ROOM * (LOADED + STORED));

/// The metric of kernels that overwrite all of a block.
const WRITTEN: Metric = Metric::bytes("the bytes of the block, each written once a pass");

kernels! {
    level, Op::Read => CARD
        .named("level-read", "loads every word of a private block, pass after pass, and adds up those of one line in \
            eight, or of all lines on processors other than x86_64")
        .metric(Metric::bytes("the bytes of the block, each read once a pass"))
        .role(Role::LevelBandwidth(Access::Read))
        .source("the read bandwidth of a level, by loads of vectors")
        .max_per_cycle(ROOM * LOADED);
    level, Op::Write => CARD
        .named("level-write", "overwrites a private block with ordinary vector stores, pass after pass")
        .metric(WRITTEN)
        .role(Role::LevelBandwidth(Access::Write))
        .uncounted_traffic(allocate!("2"))
        .source("level-read with stores in place of loads")
        .max_per_cycle(ROOM * STORED);
    level, Op::WriteNt => CARD
        .named("level-write-nt", "overwrites a private block with non-temporal vector stores, pass after pass: to \
            memory, however small the block is")
        .metric(WRITTEN)
        .source("level-write with non-temporal stores, as in the vendors' optimization manuals")
        .max_per_cycle(ROOM * STORED);
    // A copy and an equal mix can load no more than they store.
    level, Op::Copy => CARD
        .named("level-copy", "copies one half of a private block to the other with ordinary vector stores, pass after \
            pass")
        .metric(Metric::bytes("the bytes read and the bytes written: twice those copied"))
        .role(Role::LevelBandwidth(Access::Copy))
        .uncounted_traffic(allocate!("1.5"))
        .source("J. D. McCalpin, STREAM: copy")
        .max_per_cycle(ROOM * 2.0 * STORED);
    level, Op::Triad => CARD
        .named("level-triad", "computes a = b + s c on doubles, each array a third of a private block, with ordinary \
            vector stores, pass after pass; s is the number of the pass")
        .metric(Metric::bytes("the bytes of b and c read and of a written: 24 an element, as STREAM counts"))
        .uncounted_traffic(allocate!("1.33"))
        .source("J. D. McCalpin, STREAM: triad");
    level, Op::Mix1 => CARD
        .named("level-mix-1-1", "adds up the words of one line of a private block and overwrites the next, pass after \
            pass")
        .uncounted_traffic(allocate!("1.5"))
        .max_per_cycle(ROOM * 2.0 * STORED);
    level, Op::Mix2 => CARD
        .named("level-mix-2-1", "adds up the words of two lines of a private block and overwrites the next, pass after \
            pass")
        .uncounted_traffic(allocate!("1.33"));
    level, Op::Mix3 => CARD
        .named("level-mix-3-1", "adds up the words of three lines of a private block and overwrites the next, pass \
            after pass")
        .uncounted_traffic(allocate!("1.25"));
}

const fn level(card: &'static Card, op: Op) -> PlainKernel<Op> {
    PlainKernel::new(card, op, block_of_size, |kernel, params, _| {
        let passing = Passing::new(kernel.name(), kernel.data, params)?;
        stage(passing.looping.name(), Extent::Span(passing.span), move |rank| Ok(Box::new(Passer::new(passing, rank)?)))
    })
    .check(|kernel| looping(kernel.name(), kernel.data).map(drop))
    .axes(Axes { sizes: Sizes::Levels, ..Axes::NONE })
    .traffic(|kernel| {
        let op = kernel.data;
        let (lines, written) = (op.arrays() * op.group(), usize::from(op.allocates()));
        Some((lines + written) as f64 / lines as f64)
    })
}

fn looping(name: &str, op: Op) -> Result<Loop, Error> {
    let lacking = || format!("{name} needs stores that pass the caches by, which this architecture lacks");
    Loop::fastest(op).ok_or_else(|| Error::Unavailable(lacking()))
}

/// Lines of a small page.
const PAGE: usize = 64;

/// From so many lines on several arrays are whole pages: it makes them smaller by a sixteenth at most.
const LONG: usize = 16 * PAGE;

/// The lines that are moved of each of several arrays, and from the start of one to that of the next, such that each begins at the same
/// place in its page as the others. A load waits for an earlier store whose address has the same last 12 bits, since it may be of the
/// same data: where arrays begin in step, such a store is a page back and long done. Out of step it may be near, which cost the triad of
/// Zen 4 3% in the second-level cache, and 6% in the first. Up to two pages each they take six lines of a set at most; more might no longer
/// fit into a cache that holds them one behind the other.
fn in_step(op: Op, length: usize) -> [usize; 2] {
    match (op.arrays(), length) {
        (2.., LONG..) => [length / PAGE * PAGE; 2],
        (2.., ..=TWO_PAGES) => [length, length.next_multiple_of(PAGE)],
        _ => [length; 2],
    }
}

const TWO_PAGES: usize = 2 * PAGE;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    name: &'static str,
    op: Op,
    pub(crate) looping: Loop,
    /// Lines of an array that are moved.
    length: usize,
    /// Lines from the start of an array to that of the next.
    stride: usize,
    pages: PageKind,
    pub(crate) span: Duration,
}

impl Passing {
    pub(crate) fn new(name: &'static str, op: Op, params: &Params) -> Result<Self, Error> {
        let [length, stride] = in_step(op, lines_of_part(name, params.size_bytes, op.arrays(), op.round())?);
        Ok(Passing { name, op, looping: looping(name, op)?, length, stride, pages: params.pages, span: params.span() })
    }

    /// Bytes moved by going through so many lines of each array.
    pub(crate) fn bytes(&self, lines: u64) -> Work {
        Work::bytes(lines * (self.op.arrays() * Line::BYTES) as u64)
    }
}
