//! Passes over a block again and again, as fast as the level of the caches that holds it can move lines.
//!
//! If a block is in the first-level cache, a pass over it takes some hundred cycles, so one call makes many passes, and
//! the loop holds nothing but the pass itself. On x86_64 the loops are assembly: a compiler may leave out passes of a loop over data
//! that does not change.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::ops::Range;

pub use crate::sys::mmap::Line;

use crate::sys::stream::HAS_NON_TEMPORAL;

/// What a pass does with each group of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Loads its words, and adds up those of the first line of a group; as compiled, those of all lines.
    Read,
    Write,
    /// Overwrites it past the caches.
    WriteNt,
    /// Overwrites it with that of the second array.
    Copy,
    /// Overwrites it with that of the second array and a multiple of that of the third, as doubles, not fused.
    Triad,
    /// Adds up the words of one line, and overwrites the next.
    Mix1,
    /// Adds up the words of two lines, and overwrites the next.
    Mix2,
    /// Adds up the words of three lines, and overwrites the next.
    Mix3,
}

impl Op {
    #[cfg(test)]
    pub const ALL: [Op; 8] = [Op::Read, Op::Write, Op::WriteNt, Op::Copy, Op::Triad, Op::Mix1, Op::Mix2, Op::Mix3];

    /// Arrays that a block is divided into; the first is the one that may be written.
    pub const fn arrays(self) -> usize {
        match self {
            Op::Copy => 2,
            Op::Triad => 3,
            _ => 1,
        }
    }

    /// Lines of a group, all of which are read; for mixes the last is written.
    pub const fn group(self) -> usize {
        match self {
            Op::Read => 8,
            Op::Mix1 => 2,
            Op::Mix2 => 3,
            Op::Mix3 => 4,
            _ => 1,
        }
    }

    /// Lines of a group that are added up, its first: of a mix all that it reads. A core that makes as many additions a cycle as
    /// loads has no room beside them for what else a loop needs, so a read adds up no more than shows that it was made.
    pub const fn summed(self) -> usize {
        match self {
            Op::Read => 1,
            Op::Mix1 | Op::Mix2 | Op::Mix3 => self.group() - 1,
            _ => 0,
        }
    }

    /// Whether it overwrites lines that the caches hold, or read first.
    pub const fn allocates(self) -> bool {
        !matches!(self, Op::Read | Op::WriteNt)
    }

    /// Lines of each array that a round of a loop moves. An array has a multiple of them.
    pub const fn round(self) -> usize {
        match self {
            Op::Mix2 => 9,
            _ => 8,
        }
    }
}

/// What a pass keeps in registers, as it lies in memory between two calls.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Registers {
    /// Sums of the words that were added up, in no order that means anything.
    sums: [Line; Registers::SUMS],
    /// What is written into each word, or by what the third array is multiplied. A read, which writes none, loads what it does not
    /// add up into it.
    word: Line,
    /// What is added to it after each pass.
    step: Line,
}

impl Default for Registers {
    fn default() -> Self {
        Registers { sums: [all(0); Registers::SUMS], word: all(0), step: all(0) }
    }
}

impl Registers {
    const SUMS: usize = 8;

    /// The next pass has this number, and each that follows it in the same call a number that is 1 larger. It is what the pass
    /// writes into each word, or what a triad multiplies by.
    pub fn set(&mut self, op: Op, number: u64) {
        let as_word = |number: u64| if op == Op::Triad { (number as f64).to_bits() } else { number };
        (self.word, self.step) = (all(as_word(number)), all(as_word(1)));
    }

    /// The sum of all words that were added up, modulo 2^64. Without meaning after copies and triads, which add nothing up.
    pub fn sum(&self) -> u64 {
        self.sums.iter().flat_map(|line| line.0).fold(0, u64::wrapping_add)
    }
}

const fn all(word: u64) -> Line {
    Line([word; Line::WORDS])
}

#[cfg(target_arch = "x86_64")]
/// How a pass goes through an array: in stretches, at the beginning of each of which it asks for one line ahead.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Ahead {
    /// Bytes of a stretch, a multiple of those of a round.
    stretch: usize,
    /// How many bytes ahead.
    distance: usize,
}

#[cfg(target_arch = "x86_64")]
impl Ahead {
    /// Eight small pages ahead at each, in whole rounds: one line a page has its address translated before it is needed, which
    /// hardware prefetchers do not see to.
    const fn far(round: usize) -> Ahead {
        Ahead { stretch: 64 / round * round * Line::BYTES, distance: 8 * 4096 }
    }
}

/// A loop that this CPU has the instructions for.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    op: Op,
    path: Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the compiler makes for any CPU of this architecture.
    Portable,
}

impl Loop {
    /// The loops that this CPU can run, the widest vectors first; none where there is no such store.
    pub fn all(op: Op) -> impl Iterator<Item = Loop> {
        let paths: &[Path] = &[
            #[cfg(target_arch = "x86_64")]
            Path::Avx512,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2,
            Path::Portable,
        ];
        let possible = op != Op::WriteNt || HAS_NON_TEMPORAL;
        paths.iter().filter(move |path| possible && path.detected()).map(move |&path| Loop { op, path })
    }

    /// The fastest: that with the widest vectors that the CPU moves whole.
    pub fn fastest(op: Op) -> Option<Loop> {
        Loop::all(op).find(|looping| looping.path.is_whole())
    }

    pub const fn name(&self) -> &'static str {
        match (self.path, self.op) {
            #[cfg(target_arch = "x86_64")]
            (Path::Avx512, Op::WriteNt) => "avx512 nt",
            #[cfg(target_arch = "x86_64")]
            (Path::Avx512, _) => "avx512",
            #[cfg(target_arch = "x86_64")]
            (Path::Avx2, Op::WriteNt) => "avx2 nt",
            #[cfg(target_arch = "x86_64")]
            (Path::Avx2, _) => "avx2",
            (Path::Portable, Op::WriteNt) => "portable nt",
            (Path::Portable, _) => "portable",
        }
    }

    /// Makes `passes` passes over the lines `range` of each array of a block. `far` says that addresses are to be translated
    /// ahead: blocks on small pages need it that have more of them than the processor knows the addresses of.
    ///
    /// # Panics
    /// If the block is not made of arrays of whole rounds, or the range is not made of whole rounds inside of an array.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "no portable loop translates addresses ahead")
    )]
    pub fn run(&self, block: &mut [Line], range: Range<usize>, far: bool, passes: u64, registers: &mut Registers) {
        let (arrays, round) = (self.op.arrays(), self.op.round());
        let length = block.len() / arrays;
        assert_eq!(block.len(), arrays * length, "arrays have the same length");
        assert!(range.start < range.end && range.end <= length, "{range:?} of {length} lines");
        assert!(range.start.is_multiple_of(round) && range.end.is_multiple_of(round), "{range:?} in rounds of {round}");
        if passes == 0 {
            return;
        }
        match self.path {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 | Path::Avx2 => {
                let body = if self.path == Path::Avx512 { x86_64::avx512(self.op) } else { x86_64::avx2(self.op) };
                let bytes = range.len() * Line::BYTES;
                let ahead = if far { Ahead::far(round) } else { Ahead { stretch: bytes, distance: 0 } };
                let first = block.as_mut_ptr();
                let array = |i: usize| first.wrapping_add(i.min(arrays - 1) * length + range.start);
                let [a, b, c] = [0, 1, 2].map(array);
                // SAFETY: the path was detected, or there would be no such loop.
                // SAFETY: all arrays that the operation has lie in `block`, which is borrowed exclusively, with `bytes` bytes from
                // the start of the range: it ends within each; what the operation does not have repeats one that it has.
                // SAFETY: `bytes` and the stretch are multiples of a round, and neither they nor `passes` are 0.
                unsafe { body(a, b, c, bytes, passes, registers, &ahead) }
            }
            Path::Portable => portable::run(self.op, block, length, range, passes, registers),
        }
    }
}

impl Path {
    /// Whether the CPU moves its vectors in one piece. AMD up to Zen 4 makes two halves of vectors of 512 bits (AMD, "Software
    /// Optimization Guide for the AMD Zen4 Microarchitecture", 57647): there they gave 4% less of loads from the first-level
    /// cache, and 13% less of the triad.
    fn is_whole(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => {
                let cpu = crate::cpu::Signature::read();
                !(cpu.is_zen() && cpu.family < 0x1a)
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => true,
            Path::Portable => true,
        }
    }

    fn detected(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => is_x86_feature_detected!("avx2"),
            Path::Portable => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the loops leave in blocks and registers, for some passes over a part and over all of each array.
    fn left(path: Loop, far: bool) -> (Vec<Line>, u64) {
        let lines = path.op.arrays() * 144;
        let mut block: Vec<Line> =
            (0..lines as u64).map(|i| Line(std::array::from_fn(|k| ((i * 8 + k as u64) as f64).to_bits()))).collect();
        let mut registers = Registers::default();
        for (range, passes, number) in [(0..144, 2, 7), (72..144, 0, 8), (72..144, 3, 9)] {
            registers.set(path.op, number);
            path.run(&mut block, range, far, passes, &mut registers);
        }
        let sum = if path.op.summed() > 0 { registers.sum() } else { 0 };
        (block, sum)
    }

    #[test]
    fn all_loops_do_the_same() {
        for op in Op::ALL {
            let portable = Loop { op, path: Path::Portable };
            for path in Loop::all(op) {
                for far in [false, true] {
                    assert!(left(path, far) == left(portable, false), "{op:?} {} {far}", path.name());
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "in rounds of 8")]
    fn parts_of_rounds_are_refused() {
        let path = Loop::all(Op::Read).next().unwrap();
        path.run(&mut [all(0); 16], 4..16, false, 1, &mut Registers::default());
    }
}
