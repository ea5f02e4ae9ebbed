//! What a worker does between its meetings with the others.

use std::hint::black_box;

/// Makes `steps` steps that wait for each other: a multiplication and an addition, 4 cycles on most processors, so that a step
/// is about a nanosecond. Returns what they come to, so that none can be left out.
#[inline]
pub fn section(steps: u64, seed: u64) -> u64 {
    // The multiplier and the increment of Knuth's MMIX generator: no step can be folded into the next by anybody who does
    // not know how many there are.
    (0..black_box(steps))
        .fold(seed, |state, _| state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
}
