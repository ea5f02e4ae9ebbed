//! The memory kernels: one pass over a private block, no reuse.
//!
//! Each worker maps its block and fills it from its own seat, so the memory lies near by; a run passes over it once,
//! in stretches between which it looks at its [`Watch`](crate::Watch). Between repetitions only the untimed checks touch the
//! block, and a block is to be far larger than the caches, so what an earlier pass left there matters little.
//!
//! Bytes are those that the program asked for: what the caches move beside them is on each card.

mod read;
mod write;

use charz_data::params::{MEMORY, PAGES, SIZE};
use charz_data::{Param, Work};

use crate::block::Line;
use crate::kernel::Error;

pub(crate) use read::KERNELS as READ_KERNELS;
pub(crate) use write::KERNELS as WRITE_KERNELS;

const OBEYS: &[&Param] = &[&SIZE, &MEMORY, &PAGES];

/// Bytes that a core can load in a cycle: two vectors of 64 on Intel's and AMD's widest (Intel, "64 and IA-32 Architectures
/// Optimization Reference Manual", 248966; AMD, "Software Optimization Guide for the Zen5 Microarchitecture", 58455). That is
/// from the first-level cache, and far above what memory gives, but a block may be small.
pub(crate) const LOADED: f64 = 128.0;

/// Bytes that a core can store in a cycle: one vector of 64, or two of 32, by the same manuals.
pub(crate) const STORED: f64 = 64.0;

/// Lines between two looks at the watch: 1 MiB, which a worker alone passes over in 20 µs at 52 GB/s and 100 µs at 10 GB/s.
/// On Zen 4, one worker took 23 to 39 µs.
const STRETCH: usize = 16_384;

/// How a block of `size` is divided among `parts` of equal length: the lines of each part, rounded down to a multiple of
/// `step` lines.
pub(crate) fn lines_of_part(name: &str, size: u64, parts: usize, step: usize) -> Result<usize, Error> {
    let lines = usize::try_from(size / Line::BYTES as u64).unwrap_or(usize::MAX);
    match lines / (parts * step) * step {
        0 => {
            let least = parts * step * Line::BYTES;
            Err(Error::Unavailable(format!("{name} needs at least {least} bytes a worker, not {size}: ask for more")))
        }
        part => Ok(part),
    }
}

fn bytes(lines: usize) -> Work {
    Work::bytes((lines * Line::BYTES) as u64)
}

/// The verdict on a line that was written.
pub(crate) fn check_line(name: &str, index: usize, expected: Line, found: Line) -> Result<(), Error> {
    // Whole blocks are checked: in vectors that takes no longer than reading them, and a call for each line several times as long.
    let differing = found.0.iter().zip(expected.0).fold(0, |all, (found, expected)| all | (found ^ expected));
    Error::unless(differing == 0, name, || {
        format!("line {index} of the block holds {:x?} instead of {:x?}", found.0, expected.0)
    })
}

/// Lines between two marks: 16 KiB. At 256 MiB that is 16,384 marks.
const SPACING: usize = 256;

/// By how many lines the marks move each time: odd, so they reach every line.
const MOVE: usize = 37;

const MARK: Line = Line([0xdead_beef_0bad_cafe; Line::WORDS]);

/// Marks in a block that is to be written: what makes a store that did not happen visible.
///
/// Before each repetition, one line in every [`SPACING`] lines is overwritten with something that the pass never writes,
/// and after it those lines must hold what the pass writes. The marked lines move on with each repetition. A check of
/// every line would take as long as the pass, so it is done once, after the first repetition: a pass that leaves out
/// lines leaves out the same ones each time.
#[derive(Debug, Default)]
struct Marks {
    repetition: usize,
}

impl Marks {
    fn set(&mut self, lines: &mut [Line]) {
        self.repetition += 1;
        for i in self.places(lines.len()) {
            lines[i] = MARK;
        }
    }

    /// The verdict on a run of the kernel `name`: whether the lines hold what they should.
    fn check(&self, name: &str, lines: &[Line], expected: impl Fn(usize) -> Line) -> Result<(), Error> {
        let check = |i: usize| check_line(name, i, expected(i), lines[i]);
        match self.repetition {
            0 | 1 => (0..lines.len()).try_for_each(check),
            _ => self.places(lines.len()).try_for_each(check),
        }
    }

    fn places(&self, lines: usize) -> impl Iterator<Item = usize> + use<> {
        let offset = self.repetition * MOVE % SPACING;
        (0..lines).step_by(SPACING).map(move |first| first + offset % SPACING.min(lines - first))
    }
}

#[cfg(test)]
mod tests;
