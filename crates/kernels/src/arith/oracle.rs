//! The answers of the chains, found in another way than by running them, at a cost that does not grow with the run.
//!
//! **Integers.** For a fixed input, a step is an affine map of the previous result, `r -> a r + b` modulo 2^64. A pass
//! over the inputs is the composition of its steps, and `n` passes are the `n`-th power of that map, found by repeated
//! squaring. A step too many or too few, a wrong input or a folded operation gives another map.
//!
//! **Doubles.** A chain that rounds can only be checked by running it again, and one that contracts forgets how long it
//! ran. So the inputs are signed powers of two, in pairs of which the first multiplies by 2^4 and the second by 2^-4:
//! every operation is exact, a pair adds a constant to `r`, and the chain counts its own passes. The time of an
//! operation does not depend on such values on any processor known to us; only denormal numbers and the like are slow.
//! `r` stays a multiple of 2^-5 and below 2^43 for [`EXACT_STEPS`] steps; within a step it grows by at most 2^4. That
//! fits into the 53 bits of a double.

use crate::arith::{INPUTS, step_float, step_int};

/// The most steps that are exact in doubles: a pass of 128 steps adds less than 2^9, and 2^34 passes less than 2^43.
/// That is some three hours of a chain at 5 ns a step.
pub(crate) const EXACT_STEPS: u64 = 1 << 41;

/// A step `factor * state + offset`, modulo 2^64.
#[derive(Clone, Copy)]
pub struct Affine {
    pub factor: u64,
    pub offset: u64,
}

impl Affine {
    const IDENTITY: Affine = Affine { factor: 1, offset: 0 };

    /// The step with input `x`: multiplied four times by `x`; what it makes of 0 is its offset.
    fn step(x: u64) -> Affine {
        Affine { factor: x.wrapping_pow(4), offset: step_int(0, x) }
    }

    fn then(self, next: Affine) -> Affine {
        Affine { factor: next.factor.wrapping_mul(self.factor), offset: next.apply(self.offset) }
    }

    #[inline]
    pub fn apply(self, r: u64) -> u64 {
        self.factor.wrapping_mul(r).wrapping_add(self.offset)
    }

    /// So many of them, as one, by squaring: F. Brown, "Random number generation with arbitrary strides" (1994).
    pub fn times(self, mut n: u64) -> Affine {
        let (mut square, mut result) = (self, Affine::IDENTITY);
        while n > 0 {
            if n % 2 == 1 {
                result = result.then(square);
            }
            square = square.then(square);
            n /= 2;
        }
        result
    }
}

/// Splits steps into whole passes over the inputs and the inputs used beyond them.
fn passes(steps: u64) -> (u64, usize) {
    (steps / INPUTS as u64, (steps % INPUTS as u64) as usize)
}

pub(super) fn int(start: u64, inputs: &[u64; INPUTS], steps: u64) -> u64 {
    let (passes, rest) = passes(steps);
    let compose = |inputs: &[u64]| inputs.iter().fold(Affine::IDENTITY, |map, &x| map.then(Affine::step(x)));
    compose(inputs).times(passes).then(compose(&inputs[..rest])).apply(start)
}

/// The floating-point chain after `steps` steps from `start`, for inputs of [`exact_inputs`].
pub(super) fn float(start: f64, inputs: &[f64; INPUTS], steps: u64) -> f64 {
    let (passes, rest) = passes(steps);
    let gain = inputs.iter().fold(0.0, |r, &x| step_float(r, x));
    // Both the product and the sum are exact: see above.
    let r = start + gain * passes as f64;
    inputs[..rest].iter().fold(r, |r, &x| step_float(r, x))
}

/// Inputs for which every step is exact: ±2 and ±½ in turn, their signs scattered.
pub(super) fn exact_inputs(rank: usize) -> [f64; INPUTS] {
    std::array::from_fn(|i| {
        let size = if i % 2 == 0 { 2.0 } else { 0.5 };
        if scatter(rank, i as u64) >> 63 == 0 { size } else { -size }
    })
}

/// A well-mixed number for each worker and index: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) on both.
pub(super) fn scatter(rank: usize, index: u64) -> u64 {
    let mut z = (rank as u64).wrapping_shl(32).wrapping_add(index).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
