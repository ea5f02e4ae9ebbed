//! Which takes and returns are stamped.

use charz_data::JointHistogram;

/// At first, one take and return in so many is stamped. Four stamps of some 20 ns each then add about 1 ns to each on average.
/// Odd, so the samples do not fall into step with workers that take turns.
const EVERY: u64 = 61;

/// So many samples are kept at most, 128 KiB of them.
const MOST: usize = 4096;

/// What a take or a return took, in nanoseconds, and whether it had to wait.
pub(super) type Time = (u64, bool);

/// One worker's samples of a run: evenly spaced over it, however long it gets. Whenever there is no room, every second one is
/// dropped, and half as many are taken from then on.
pub(super) struct Sampler {
    kept: Vec<[Time; 2]>,
    every: u64,
    /// So many until the next one.
    left: u64,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler { kept: Vec::with_capacity(MOST), every: EVERY, left: EVERY }
    }
}

impl Sampler {
    /// What the samples of a run take up at most.
    pub(super) const BYTES: usize = MOST * size_of::<[Time; 2]>();

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        (self.every, self.left) = (EVERY, EVERY);
    }

    #[inline]
    pub(super) fn due(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = self.every;
        true
    }

    pub(super) fn record(&mut self, pair: [Time; 2]) {
        self.kept.push(pair);
        if self.kept.len() == MOST {
            let mut odd = false;
            self.kept.retain(|_| {
                odd = !odd;
                odd
            });
            self.every = 2 * self.every + 1;
        }
    }

    /// The samples of the last run; `None` where it was too short for any.
    pub(super) fn joint(&self) -> Option<JointHistogram> {
        (!self.kept.is_empty()).then(|| self.kept.iter().map(|[(first, _), (second, _)]| (*first, *second)).collect())
    }

    /// How many of the sampled takes and returns had to wait, and their times in nanoseconds, added up.
    pub(super) fn waits(&self) -> (u64, u64) {
        let waited = self.kept.iter().flatten().filter(|(_, waited)| *waited);
        waited.fold((0, 0), |(count, sum), (time, _)| (count + 1, sum + time))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However long a run gets: there is room, and both halves of it have their share of the samples.
        #[test]
        #[cfg_attr(miri, ignore = "too many steps for an interpreter")]
        fn samples_are_spread_over_the_run(pairs in 2 * EVERY..700_000_u64) {
            let mut sampler = Sampler::default();
            for pair in 0..pairs {
                if sampler.due() {
                    sampler.record([(pair, false), (0, false)]);
                }
            }
            let late = sampler.kept.iter().filter(|[(pair, _), _]| *pair >= pairs / 2).count();
            let early = sampler.kept.len() - late;
            prop_assert!(sampler.kept.capacity() == MOST);
            prop_assert!(late.abs_diff(early) <= 1 + sampler.kept.len() / 10, "{} and {}", early, late);
        }
    }

    #[test]
    fn a_short_run_has_none() {
        let mut sampler = Sampler::default();
        assert!((1..EVERY).all(|_| !sampler.due()) && sampler.joint().is_none());
        assert!(sampler.due());
        sampler.record([(3, false), (4, false)]);
        assert_eq!(sampler.joint().map(|joint| joint.count), Some(1));
        assert_eq!(sampler.waits(), (0, 0));
    }

    #[test]
    fn waits_are_counted_apart_from_quick_ones() {
        let mut sampler = Sampler::default();
        sampler.record([(20, false), (10_000, true)]);
        sampler.record([(30_000, true), (20, false)]);
        assert_eq!(sampler.waits(), (2, 40_000));
        sampler.clear();
        assert_eq!(sampler.waits(), (0, 0));
    }
}
