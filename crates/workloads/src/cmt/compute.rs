//! Units of arithmetic on registers.

use std::hint::black_box;

use charz_kernels::arith::Affine;
use charz_kernels::kernel::Error;

use super::Unit;

const CHAINS: usize = 4;
/// Of each chain in a unit.
const STEPS: u32 = 4096;

/// A multiplication takes 3 cycles on today's processors, an addition 1 (Agner Fog, "Instruction tables").
pub(super) const LEAST_CYCLES: f64 = STEPS as f64 * 4.0;

/// One step of Knuth's MMIX generator (The Art of Computer Programming, volume 2, section 3.3.4).
const MMIX: Affine = Affine { factor: 6_364_136_223_846_793_005, offset: 1_442_695_040_888_963_407 };

pub(super) struct Compute {
    seeds: [u64; CHAINS],
    states: [u64; CHAINS],
}

impl Compute {
    pub(super) fn new(rank: usize) -> Self {
        let seeds = std::array::from_fn(|chain| (rank * CHAINS + chain) as u64);
        Compute { seeds, states: seeds }
    }
}

impl Unit for Compute {
    const ALIKE: bool = true;

    fn prepare(&mut self) {
        self.states = self.seeds;
    }

    #[inline]
    fn unit(&mut self) -> Result<(), Error> {
        // The compiler does not know the factors, so it cannot make one step of two.
        let (step, mut states) = (black_box(MMIX), self.states);
        for _ in 0..STEPS {
            states = states.map(|state| step.apply(state));
        }
        self.states = states;
        Ok(())
    }

    fn fault(&mut self, units: u64) -> Option<String> {
        let all = MMIX.times(units.wrapping_mul(u64::from(STEPS)));
        let expected = self.seeds.map(|seed| all.apply(seed));
        (self.states != expected)
            .then(|| format!("after {units} units the chains are at {:x?}, not at {expected:x?}", self.states))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn steps_at_once_are_steps_one_by_one(seed: u64, count in 0..2000_u64) {
            let one_by_one = (0..count).fold(seed, |state, _| MMIX.apply(state));
            prop_assert_eq!(MMIX.times(count).apply(seed), one_by_one);
        }
    }
}
