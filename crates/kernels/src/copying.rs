//! `copy-*`: the C library's memcpy by length and by where its two ends begin.
//!
//! A library chooses among its ways to copy by the length, and goes to line boundaries by itself; how well it does so differs by
//! alignment (S. Sistare, "The UltraSPARC T2 Processor and the Solaris Operating System": block copies that were tuned for the
//! combinations of both alignments and the length). The length is half of the block, so a sweep over sizes is one over lengths.

use std::hint::black_box;

use charz_data::card::ROOM;
use charz_data::params::{MEMORY, PAGES, SIZE, SPAN};
use charz_data::{Bytes, Card, Family, Metric, PageKind, Params, Work};

use crate::block::{Block, Line, Region};
use crate::kernel::{Axes, Error, Sizes, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::stream::{STORED, lines_of_part};
use crate::sys::stream::{bytes, bytes_mut};
use crate::watch::Watch;

/// Two pages: a copy of a page's length, which is what systems copy most.
const BLOCK_BYTES: u64 = 8192;

/// The most copies between two looks at the watch: of 64 bytes, they take 40 µs at 5 ns each.
const MOST: u64 = 8192;

/// Bytes between two that are marked before a run and looked for after it.
const SPACING: usize = 4096;

const CARD: Card = Card::new(
    "",
    Family::Memory,
    "",
    Metric::bytes("the bytes read and the bytes written: twice those copied"),
)
.params(&[&SIZE, &MEMORY, &PAGES, &SPAN])
.uncounted_traffic(
    "from memory, lines that are overwritten are read first, unless the C library stores past the caches, as for \
             long copies",
)
.source(
    "memcpy(3); S. Sistare, The UltraSPARC T2 Processor and the Solaris Operating System: copies by alignment of \
             both ends and by length. One copy cannot be stopped early",
)
.max_per_cycle(ROOM * 2.0 * STORED);

/// What is copied, and where both ends begin.
macro_rules! about {
    ($where:literal) => {
        concat!("copies half of a block to the other by memcpy; ", $where)
    };
}

kernels! {
    copying, [0, 0] => CARD.named("copy-aligned", about!("both start on a line"));
    copying, [1, 0] => CARD.named("copy-from-odd", about!("the source starts a byte past a line"));
    copying, [0, 1] => CARD.named("copy-to-odd", about!("the target starts a byte past a line"));
    copying, [1, 1] => CARD.named("copy-both-odd", about!("both start a byte past a line"));
}

/// Lines of a small page.
const PAGE: usize = 64;

/// Lines from the start of the source to that of the target: half a page more than whole pages. A load waits for an earlier store whose
/// address has the same last 12 bits, and wherever the two begin in their lines that store is half a page back.
fn apart(length: usize) -> usize {
    (length / Line::BYTES + 1).next_multiple_of(PAGE) + PAGE / 2
}

/// The kernel whose source and target begin so many bytes past a line's start.
const fn copying(card: &'static Card, offsets: [usize; 2]) -> PlainKernel<[usize; 2]> {
    let footprint = |_: &PlainKernel<[usize; 2]>, params: &Params| -> Bytes {
        params.pages.footprint(params.size_bytes.saturating_add((3 * PAGE * Line::BYTES) as u64))
    };
    PlainKernel::new(card, offsets, footprint, |kernel, params, _| {
        let (name, offsets, pages) = (kernel.name(), kernel.data, params.pages);
        let half = lines_of_part(name, params.size_bytes, 2, 1)?;
        stage("memcpy", Extent::Span(params.span()), move |rank| {
            Ok(Box::new(Copier::new(name, half * Line::BYTES, offsets, pages, rank)?))
        })
    })
    .axes(Axes { sizes: Sizes::Fixed(BLOCK_BYTES), ..Axes::NONE })
}

/// An odd number, so different words are different after multiplication, also in their low bytes.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

struct Copier {
    name: &'static str,
    block: Block,
    length: usize,
    offsets: [usize; 2],
    pace: Pace,
    runs: u8,
    /// Whether all of a run was compared.
    is_compared: bool,
    /// Of the last run.
    copies: u64,
}

impl Copier {
    fn new(
        name: &'static str,
        length: usize,
        offsets: [usize; 2],
        pages: PageKind,
        rank: usize,
    ) -> Result<Self, Error> {
        let first = (rank as u64) << 40;
        let block = Block::filled(2 * apart(length), pages, |word| (word + first).wrapping_mul(MIX))?;
        Ok(Copier { name, block, length, offsets, pace: Pace::up_to(MOST), runs: 0, is_compared: false, copies: 0 })
    }
}

/// The source and the target.
fn halves(block: &mut Block, length: usize, [from, to]: [usize; 2]) -> (&mut [u8], &mut [u8]) {
    let (source, target) = bytes_mut(block.lines_mut()).split_at_mut(apart(length) * Line::BYTES);
    (&mut source[from..from + length], &mut target[to..to + length])
}

impl Worker for Copier {
    fn prepare(&mut self) {
        // What the run before left in the target would pass for a copy.
        self.runs = self.runs.wrapping_add(1);
        let (source, _) = halves(&mut self.block, self.length, self.offsets);
        source.iter_mut().step_by(SPACING).for_each(|byte| *byte = self.runs);
        source[self.length - 1] = self.runs;
        self.pace.resume();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let moved = 2 * self.length as u64;
        let (source, target) = halves(&mut self.block, self.length, self.offsets);
        self.copies = 0;
        while !watch.should_stop_after(self.copies * moved) {
            for _ in 0..self.pace.attempts() {
                target.copy_from_slice(source);
                // Another reader of the target may see each copy, so none can be left out.
                black_box(&mut *target);
            }
            self.copies += self.pace.attempts();
            self.pace.adapt();
        }
        Work::bytes(self.copies * moved)
    }

    fn verify(&mut self) -> Result<(), Error> {
        if self.copies == 0 {
            return Ok(());
        }
        let (source, target) = halves(&mut self.block, self.length, self.offsets);
        // All once; later that would take as long as the run.
        let spacing = if self.is_compared { SPACING } else { 1 };
        self.is_compared = true;
        let wrong = (0..self.length).step_by(spacing).chain([self.length - 1]).find(|at| source[*at] != target[*at]);
        Error::unless(wrong.is_none(), self.name, || {
            format!("byte {} of the target is not the source's", wrong.unwrap_or_default())
        })
    }

    fn region(&self) -> Option<Region> {
        let own = bytes(self.block.lines());
        Some(Region { start: own.as_ptr().addr(), bytes: own.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::tests::{check_noticed, verdict};

    fn copier(length: usize, offsets: [usize; 2]) -> Copier {
        Copier::new("test", length, offsets, Params::SMALL.pages, 1).unwrap()
    }

    const SPAN: Option<Duration> = Some(Duration::from_micros(200));

    /// Exactly the length is copied, from and to where it is said, and nothing else is touched.
    #[test]
    fn the_length_is_copied_and_no_more() {
        for (length, offsets) in [64, 128, 4096, 70_400]
            .into_iter()
            .flat_map(|length| [[0, 0], [1, 0], [0, 1], [1, 1]].map(|offsets| (length, offsets)))
        {
            let mut copier = copier(length, offsets);
            let before = bytes(copier.block.lines()).to_vec();
            assert_eq!(verdict(&mut copier, SPAN, |_| ()), Ok(()));
            let after = bytes(copier.block.lines());
            let [from, to] = [offsets[0], apart(length) * Line::BYTES + offsets[1]];
            assert_eq!(after[from..from + length], after[to..to + length], "{length} {offsets:?}");
            assert_eq!(
                (&after[length + 1..to], &after[to + length..]),
                (&before[length + 1..to], &before[to + length..])
            );
        }
    }

    #[test]
    fn a_copy_that_is_wrong_or_was_not_made_is_noticed() {
        for offsets in [[0, 0], [1, 1]] {
            check_noticed(&mut copier(8192, offsets), SPAN, |copier| {
                halves(&mut copier.block, 8192, offsets).1[4096] ^= 1
            });
            check_noticed(&mut copier(8192, offsets), SPAN, |copier| copier.prepare());
        }
    }
}
