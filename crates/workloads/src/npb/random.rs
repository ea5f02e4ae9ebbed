//! The pseudo-random numbers of the NPB: x → a x mod 2⁴⁶, divided by 2⁴⁶ (RNR-94-007, section 2.3). In integers they are exact.

/// The multiplier of the specification, 5¹³.
pub(super) const MULTIPLIER: u64 = 1_220_703_125;

/// The seed of IS and CG.
pub(super) const SEED: u64 = 314_159_265;

const MASK: u64 = (1 << 46) - 1;
const SCALE: f64 = 1.0 / (1_u64 << 46) as f64;

/// Where a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Random(seed & MASK)
    }

    /// The same sequence so many numbers later.
    pub(super) const fn skip(self, numbers: u64) -> Self {
        Random(self.0.wrapping_mul(power(numbers)) & MASK)
    }

    /// The next number, as an integer below 2⁴⁶.
    #[inline]
    pub(super) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(MULTIPLIER) & MASK;
        self.0
    }

    /// The next number, in 0 to 1.
    #[inline]
    pub(super) const fn next(&mut self) -> f64 {
        // Below 2⁴⁶ the sign does not matter, and every processor converts signed numbers.
        self.bits() as i64 as f64 * SCALE
    }
}

/// a^`exponent` mod 2⁴⁶; the upper bits of a product do not reach the lower ones.
const fn power(mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1_u64, MULTIPLIER);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent /= 2;
    }
    result & MASK
}

/// The numbers that follow in the sequence, in 0 to 1. Several are made at a time, each from the one so many places before: none waits for
/// the product of its predecessor.
#[inline]
pub(super) fn fill(from: &mut Random, numbers: &mut [f64]) {
    const LANES: usize = 8;
    const STRIDE: u64 = power(LANES as u64);
    let (groups, rest) = numbers.as_chunks_mut::<LANES>();
    let mut ahead = *from;
    let mut lanes: [u64; LANES] = std::array::from_fn(|_| ahead.bits());
    for group in &mut *groups {
        for (number, lane) in group.iter_mut().zip(&mut lanes) {
            *number = *lane as i64 as f64 * SCALE;
            *lane = lane.wrapping_mul(STRIDE) & MASK;
        }
    }
    *from = from.skip((groups.len() * LANES) as u64);
    rest.iter_mut().for_each(|number| *number = from.next());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_skip_and_a_group_are_that_many_steps(seed in 1..=MASK, numbers in 0..1000_usize) {
            let mut one_by_one = Random::new(seed);
            let expected: Vec<f64> = (0..numbers).map(|_| one_by_one.next()).collect();
            prop_assert_eq!(Random::new(seed).skip(numbers as u64), one_by_one);
            let (mut found, mut from) = (vec![0.0; numbers], Random::new(seed));
            fill(&mut from, &mut found);
            prop_assert_eq!((found, from), (expected, one_by_one));
        }
    }
}
