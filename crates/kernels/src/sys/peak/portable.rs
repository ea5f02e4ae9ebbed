//! Plain Rust, for CPUs without one of the other paths. The compiler may use all vectors that the target is sure to have.

use super::{FLOAT as FLOAT_OPERANDS, Group, INT as INT_OPERANDS, Operands, Path};

/// Accumulators: as many as registers of a small machine.
const VECTORS: usize = 8;

const GROUPS: &[Group] = &[Group { vectors: VECTORS, updates: 1, ops: 1 }];

fn always() -> bool {
    true
}

macro_rules! portable {
    ($add:expr) => {
        |accumulators, operands, rounds| {
            // SAFETY: `Path::run` passes accumulators for more vectors than these, each one lane wide.
            // SAFETY: nothing else refers to them while it runs.
            let accumulators = unsafe { &mut *accumulators.cast::<[_; VECTORS]>() };
            // SAFETY: `Path::run` passes operands that live for ever and are never written.
            let operands: &Operands<_> = unsafe { &*operands };
            let mut sums = *accumulators;
            for _ in 0..rounds {
                // Hidden from the compiler, or it would multiply once instead of adding in each round.
                let step = std::hint::black_box(operands.steps[0]);
                sums.iter_mut().for_each(|sum| *sum = $add(*sum, step));
            }
            *accumulators = sums;
        }
    };
}

pub(super) static INT: Path<u64> = Path {
    name: "scalar",
    lanes: 1,
    groups: GROUPS,
    detected: always,
    operands: &INT_OPERANDS,
    body: portable!(u64::wrapping_add),
};

pub(super) static FLOAT: Path<f64> = Path {
    name: "scalar add",
    lanes: 1,
    groups: GROUPS,
    detected: always,
    operands: &FLOAT_OPERANDS,
    body: portable!(<f64 as std::ops::Add>::add),
};
