//! Kernels whose workers meet at one line of memory, on purpose.
//!
//! What one worker does makes the others slower, so a run can take many times what its work takes alone, and workers
//! that outnumber strands keep the thread that is to stop them from running. Such a kernel says so on its card
//! ([`Card::contends`](crate::Card::contends)); its worker ends by its own deadline, which it looks at as often as the
//! module `pace` says; and what it counts is counted by each worker for itself, and added up when all have ended.

use std::hint::black_box;

pub(crate) mod acquire;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod c2c;
pub(crate) mod call;
pub(crate) mod cas;
pub(crate) mod context_switch;
pub(crate) mod counter;
pub(crate) mod create;
pub(crate) mod fork_join;
pub(crate) mod handoff;
mod lock;
mod mutexes;
#[doc(hidden)]
pub mod pool;
pub(crate) mod preempted;
mod primitives;
pub(crate) mod ring;
mod schedule;
pub(crate) mod sections;
pub(crate) mod spin;
pub(crate) mod uncontended;
#[doc(hidden)]
pub mod wait_stats;

/// Makes `steps` steps that wait for each other: a rotation and a multiplication, 4 cycles on most processors, so a step
/// is about a nanosecond. Returns their result, so none can be left out.
#[inline]
pub fn section(steps: u64, seed: u64) -> u64 {
    // The multiplier of Knuth's MMIX generator. Multiplications and additions alone are of one kind, so compilers fold eight steps into one;
    // a rotation between them is of another. A state of 0 would stay 0, and a compiler that sees one leaves the steps out: callers begin with
    // seed 0, so the state is another number.
    (0..black_box(steps))
        .fold(seed ^ 1_442_695_040_888_963_407, |state, _| state.rotate_left(1).wrapping_mul(6_364_136_223_846_793_005))
}
