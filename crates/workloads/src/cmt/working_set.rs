//! Units of updates of a working set.

use charz_data::PageKind;

use charz_kernels::block::{Block, Line, Region};
use charz_kernels::kernel::Error;

use super::Unit;

/// The external cache of a core of the source's UltraSPARC IV.
pub(super) const SOURCE_BYTES: u64 = 8 << 20;

/// Updates in a unit: 10 µs in a cache of the core, and 100 µs in memory.
const UPDATES: u64 = 1024;

/// The lines of each of so many parts of a set, at least one.
pub(super) fn part_lines(bytes: u64, parts: u64) -> u64 {
    (bytes / Line::BYTES as u64 / parts.max(1)).max(1)
}

/// A part of the set. The first word of each line counts its updates; the second differs from line to line.
pub(super) struct WorkingSet {
    block: Block,
    /// Where the walk from line to line is.
    state: u64,
}

impl WorkingSet {
    pub(super) fn new(lines: u64, pages: PageKind, rank: usize) -> Result<Self, Error> {
        let lines = usize::try_from(lines).unwrap_or(usize::MAX);
        let block = Block::filled(lines, pages, |word| match word % Line::WORDS as u64 {
            0 => 0,
            _ => word.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        })?;
        Ok(WorkingSet { block, state: rank as u64 })
    }

    fn updates(&self) -> u64 {
        self.block.lines().iter().fold(0, |sum, line| sum.wrapping_add(line.0[0]))
    }
}

impl Unit for WorkingSet {
    const ALIKE: bool = true;

    fn prepare(&mut self) {
        self.block.lines_mut().iter_mut().for_each(|line| line.0[0] = 0);
    }

    #[inline]
    fn unit(&mut self) -> Result<(), Error> {
        let (mut state, lines) = (self.state, self.block.lines_mut());
        let count = lines.len() as u128;
        for _ in 0..UPDATES {
            // The upper half of the product is below the number of lines (D. Lemire, "Fast random integer generation in an interval",
            // ACM TOMACS 29, 2019).
            let line = &mut lines[((u128::from(state) * count) >> 64) as usize];
            line.0[0] = line.0[0].wrapping_add(1);
            // The way on depends on what was read: no access begins before the one before it has ended.
            state = (state ^ line.0[0] ^ line.0[1]).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        }
        self.state = state;
        Ok(())
    }

    fn fault(&mut self, units: u64) -> Option<String> {
        let (found, expected) = (self.updates(), units.wrapping_mul(UPDATES));
        (found != expected).then(|| format!("{units} units left {found} updates in the set, not {expected}"))
    }

    fn region(&self) -> Option<Region> {
        Some(self.block.region())
    }
}
