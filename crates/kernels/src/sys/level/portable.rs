//! The passes in plain Rust, for CPUs without a loop of their own. The compiler sees to the vectors; what it must not see is that
//! one pass does what another has done.

use std::hint::black_box;
use std::ops::Range;

use super::{Line, Op, Registers};
use crate::sys::stream::{self, Ahead, Vectors};

/// See [`super::Loop::run`]; `length` is that of an array.
pub(super) fn run(
    op: Op,
    block: &mut [Line],
    length: usize,
    range: Range<usize>,
    passes: u64,
    registers: &mut Registers,
) {
    let (to, from) = block.split_at_mut(length);
    let part = |array: usize| &from[(array - 1) * length..][range.clone()];
    let to = &mut to[range.clone()];
    for _ in 0..passes {
        let to = &mut *black_box(&mut *to);
        let word = registers.word.0[0];
        match op {
            Op::Read => {
                for group in to.chunks_exact(op.group()) {
                    let (summed, others) = group.split_at(op.summed());
                    summed.iter().for_each(|line| add(&mut registers.sums[0], line));
                    // A portable load that is not used is left out by the compiler.
                    others.iter().for_each(|line| add(&mut registers.word, line));
                }
            }
            Op::Write => to.fill(registers.word),
            Op::WriteNt => stream::fill_nt(Vectors::BASE, Ahead::Nothing, to, word),
            Op::Copy => to.copy_from_slice(part(1)),
            Op::Triad => {
                let factor = f64::from_bits(word);
                let sources = part(1).iter().zip(part(2));
                to.iter_mut()
                    .zip(sources)
                    .for_each(|(a, (b, c))| *a = stream::doubles([b, c], |[b, c]| b + factor * c));
            }
            Op::Mix1 | Op::Mix2 | Op::Mix3 => {
                for group in to.chunks_exact_mut(op.group()) {
                    if let Some((written, read)) = group.split_last_mut() {
                        read.iter().for_each(|line| add(&mut registers.sums[0], line));
                        *written = registers.word;
                    }
                }
            }
        }
        registers.word = match op {
            Op::Triad => super::all((f64::from_bits(word) + f64::from_bits(registers.step.0[0])).to_bits()),
            Op::Read | Op::Copy => registers.word,
            _ => super::all(word.wrapping_add(registers.step.0[0])),
        };
    }
}

fn add(sums: &mut Line, line: &Line) {
    sums.0.iter_mut().zip(line.0).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
}
