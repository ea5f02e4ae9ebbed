//! A worker that makes passes.
//!
//! Passes are numbered from 1 over all runs, and a run goes on where the one before it stopped. So what the block and the sums must
//! hold follows from two numbers, the passes that were ended and the lines done of the next: a pass that writes, writes its number
//! (a triad, a multiple of it), and reading adds up to a polynomial of both. Copies alone leave the same whenever they are made;
//! there the source is changed before each run.

use charz_data::{PageKind, Work};

use crate::block::{Block, Line, Region};
use crate::cache_words::check_sum;
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::stream::check_line;
use crate::sys::level::{Op, Registers};
use crate::watch::Watch;

use super::Passing;

/// The most lines between two looks at the watch: 40 µs at 128 bytes a cycle and 6 GHz.
const MOST: u64 = 1 << 19;

/// Beyond so many bytes on small pages addresses are translated ahead: processors keep 1024 to 3072 of them.
const FAR: usize = 4 << 20;

/// Lines between two that are checked after a run, and by how many they move with each: over 257 runs all are. It is a prime
/// number, so the checked lines include some that mixes wrote.
const SPACING: usize = 257;
const MOVE: usize = 37;

pub(crate) struct Passer {
    stage: Passing,
    pub(super) block: Block,
    first: u64,
    registers: Registers,
    pace: Pace,
    runs: usize,
    place: Place,
    since: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    passes: u64,
    /// Lines of each array that the next pass has done.
    lines: usize,
}

impl Place {
    fn passes_at(self, line: usize) -> u64 {
        self.passes + u64::from(line < self.lines)
    }
}

impl Passer {
    pub(crate) fn new(stage: Passing, rank: usize) -> Result<Self, Error> {
        let Passing { op, stride, pages, .. } = stage;
        // Words that count up show which were read; their start identifies the worker.
        let first = (rank as u64) << 40;
        let word = |word: u64| before(op, stride, first, word);
        let block = Block::filled(op.arrays() * stride, pages, word)?;
        let (registers, pace, place) = (Registers::default(), Pace::up_to(MOST), Place::default());
        Ok(Passer { stage, block, first, registers, pace, runs: 0, place, since: place })
    }

    /// Goes on with a pass for `lines` lines of each array, or makes as many passes over the whole arrays as have no more lines.
    /// Returns the lines that it went through: whole rounds, and no more than are left of a pass.
    pub(crate) fn go_on(&mut self, lines: usize) -> u64 {
        let Passing { op, looping, length, pages, .. } = self.stage;
        let Place { passes, lines: from } = self.place;
        let (to, times) = match from {
            0 if lines >= length => (length, lines / length),
            _ => (length.min(from + lines.next_multiple_of(op.round())), 1),
        };
        let far = pages == PageKind::Small && op.arrays() * length * Line::BYTES > FAR;
        self.registers.set(op, passes + 1);
        looping.run(self.block.lines_mut(), from..to, far, times as u64, &mut self.registers);
        self.place =
            if to == length { Place { passes: passes + times as u64, lines: 0 } } else { Place { passes, lines: to } };
        ((to - from) * times) as u64
    }

    #[cfg(test)]
    pub(super) fn skip(&mut self) {
        self.place.passes += 1;
    }

    /// The lines of each array that are checked after this run: all after the first; that would take as long as the run each time.
    fn checked(&self) -> impl Iterator<Item = usize> + use<> {
        let length = self.stage.length;
        let spacing = if self.runs <= 1 { 1 } else { SPACING.min(length) };
        (self.runs * MOVE % spacing..length).step_by(spacing)
    }

    /// What a line that is checked must hold in the first array, where it is written or only loaded.
    fn expected(&self, line: usize) -> Option<Line> {
        let op = self.stage.op;
        let number = self.place.passes_at(line);
        let source = |array: usize| self.source(array, line);
        match op {
            Op::Read => Some(source(0)),
            Op::Write | Op::WriteNt => Some(Line([number; Line::WORDS])),
            Op::Mix1 | Op::Mix2 | Op::Mix3 => {
                (line % op.group() == op.group() - 1).then_some(Line([number; Line::WORDS]))
            }
            Op::Copy => (number > self.since.passes_at(line)).then(|| source(1)),
            Op::Triad => {
                let (b, c) = (source(1), source(2));
                let word = |i: usize| f64::from_bits(b.0[i]) + number as f64 * f64::from_bits(c.0[i]);
                Some(Line(std::array::from_fn(|i| word(i).to_bits())))
            }
        }
    }

    /// What a line that is checked holds in an array that is only read, by the rule that it was filled by.
    fn source(&self, array: usize, line: usize) -> Line {
        let Passing { op, stride, .. } = self.stage;
        let start = ((array * stride + line) * Line::WORDS) as u64;
        let mut filled = Line(std::array::from_fn(|i| before(op, stride, self.first, start + i as u64)));
        if op == Op::Copy {
            filled.0[0] = self.runs as u64;
        }
        filled
    }

    /// What all words that were added up since the worker was made are together, modulo 2^64.
    fn sum(&self) -> u64 {
        let op = self.stage.op;
        let groups = |lines: usize| sum_of_groups(op, self.first, (lines / op.group()) as u64);
        self.place.passes.wrapping_mul(groups(self.stage.length)).wrapping_add(groups(self.place.lines))
    }
}

impl Worker for Passer {
    fn prepare(&mut self) {
        self.runs += 1;
        self.since = self.place;
        if self.stage.op == Op::Copy {
            let (checked, mark) = (self.checked(), self.runs as u64);
            let source = &mut self.block.lines_mut()[self.stage.stride..];
            checked.for_each(|line| source[line].0[0] = mark);
        }
        self.pace.resume();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let mut lines = 0;
        while !watch.should_stop_after(self.stage.bytes(lines).bytes.0) {
            lines += self.go_on(self.pace.attempts() as usize);
            self.pace.adapt();
        }
        self.stage.bytes(lines)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let Passing { name, op, .. } = self.stage;
        if op.summed() > 0 {
            check_sum(name, self.registers.sum(), self.sum())?;
        }
        let lines = self.block.lines();
        let mut known = self.checked().filter_map(|line| Some((line, self.expected(line)?)));
        known.try_for_each(|(line, expected)| check_line(name, line, expected, lines[line]))
    }

    fn region(&self) -> Option<Region> {
        Some(self.block.region())
    }
}

/// What word `word` of the block holds before the first pass. Lines that passes write hold what a pass with the number 0 would write.
fn before(op: Op, stride: usize, first: u64, word: u64) -> u64 {
    let line = word as usize / Line::WORDS;
    let (array, group) = (line / stride, op.group());
    match op {
        Op::Read | Op::Copy => first.wrapping_add(word),
        Op::Write | Op::WriteNt => 0,
        Op::Mix1 | Op::Mix2 | Op::Mix3 if line % group == group - 1 => 0,
        Op::Mix1 | Op::Mix2 | Op::Mix3 => first.wrapping_add(word),
        // Whole numbers, small enough for the number of any pass times one of them, and the sum, to be exact.
        Op::Triad => {
            let index = word % (stride * Line::WORDS) as u64;
            (if array == 2 { index % 1024 + 1 } else { index % (1 << 20) } as f64).to_bits()
        }
    }
}

/// What the words that are added up of the first so many groups are together, modulo 2^64: of group j they begin with the first of
/// the block and 8 G j, where a group has G lines, and count up.
pub(super) fn sum_of_groups(op: Op, first: u64, groups: u64) -> u64 {
    let group = op.group() as u64;
    let words = (Line::WORDS * op.summed()) as u64;
    let one = words.wrapping_mul(first).wrapping_add(words * (words - 1) / 2);
    let pairs = (u128::from(groups) * u128::from(groups.saturating_sub(1)) / 2) as u64;
    groups.wrapping_mul(one).wrapping_add((words * Line::WORDS as u64 * group).wrapping_mul(pairs))
}
