//! Contradictions in samples read from a file: contents that no pairs of times can produce.

use super::{BITS, Histogram, JOINT_BITS, JointHistogram, add_up, bin, bin_end};

impl JointHistogram {
    /// The first of its contents that no pairs of times can produce, as the end of a sentence about the cell.
    pub fn contradiction(&self) -> Option<&'static str> {
        if let Some(what) = [&self.first, &self.second].into_iter().find_map(|side| side.contradiction(self.count)) {
            return Some(what);
        }
        if !ascending(&self.bins, JOINT_BITS) {
            return Some("has bins of pairs that are out of order or none");
        }
        if total(&self.bins) != Some(self.count) {
            return Some("has pairs that do not add up to their number");
        }
        let apart = |side: usize| {
            let mut own: Vec<[u64; 2]> = self.bins.iter().map(|bins| [bins[side], bins[2]]).collect();
            own.sort_unstable_by_key(|[low, _]| *low);
            add_up(&mut own);
            own
        };
        let coarse = |times: &Histogram| {
            let mut bins: Vec<[u64; 2]> =
                times.bins.iter().map(|&[low, count]| [bin(low, JOINT_BITS), count]).collect();
            add_up(&mut bins);
            bins
        };
        if apart(0) != coarse(&self.first) || apart(1) != coarse(&self.second) {
            return Some("has pairs that are not those of its times");
        }
        // In a bin that the line runs through, any pair may be on either side of it.
        let end = |low: u64| bin_end(low, JOINT_BITS) - 1;
        let surely = self.bins.iter().filter(|[first, second, _]| end(*second) < *first).map(|[.., count]| count);
        let perhaps = self.bins.iter().filter(|[first, second, _]| *second < end(*first)).map(|[.., count]| count);
        (!(surely.sum::<u64>()..=perhaps.sum()).contains(&self.second_shorter))
            .then_some("has another number of pairs with a shorter second time than its pairs can have")
    }
}

impl Histogram {
    /// What the types cannot say.
    pub(crate) fn contradiction(&self, count: u64) -> Option<&'static str> {
        if !ascending(&self.bins, BITS) {
            return Some("has bins of times that are out of order or none");
        }
        if total(&self.bins) != Some(count) {
            return Some("has times that do not add up to their number");
        }
        // Without times there is no shortest one.
        let (Some([first, _]), Some([last, _])) = (self.bins.first(), self.bins.last()) else { return None };
        let ends = [self.min_ns, self.max_ns].map(|time| bin(time, BITS));
        (self.min_ns > self.max_ns || ends != [*first, *last])
            .then_some("has a shortest or a longest time that is not in its bins")
    }
}

/// Whether bins are in order, each once, begin where bins begin, and are not empty.
fn ascending<const N: usize>(bins: &[[u64; N]], bits: u32) -> bool {
    let is_bin = |column: &[u64; N]| column[N - 1] > 0 && column[..N - 1].iter().all(|&low| low == bin(low, bits));
    bins.iter().all(is_bin) && bins.windows(2).all(|pair| pair[0][..N - 1] < pair[1][..N - 1])
}

/// The sum of the counts, which are the last column; `None` if it overflows.
fn total<const N: usize>(bins: &[[u64; N]]) -> Option<u64> {
    bins.iter().try_fold(0_u64, |sum, column| sum.checked_add(column[N - 1]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn samples(pairs: &[(u64, u64)]) -> JointHistogram {
        pairs.iter().copied().collect()
    }

    fn pairs() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let time = prop_oneof![0_u64..200, 0_u64..1_000_000, any::<u64>()];
        prop::collection::vec((time.clone(), time), 0..60)
    }

    proptest! {
        #[test]
        fn a_time_is_in_its_bin_and_the_bin_is_narrow(nanos: u64, bits in 1_u32..=8) {
            let (low, end) = (bin(nanos, bits), bin_end(nanos, bits));
            prop_assert!(low <= nanos && (nanos < end || end == u64::MAX));
            prop_assert!((end - low - 1) as f64 <= low as f64 / f64::from(1 << bits), "{low} to {end}");
            prop_assert_eq!(bin(low, bits), low, "bins begin with themselves");
        }

        #[test]
        fn what_was_measured_does_not_contradict_itself(pairs in pairs()) {
            prop_assert_eq!(samples(&pairs).contradiction(), None);
        }

        /// However repetitions divide the pairs.
        #[test]
        fn repetitions_add_up(pairs in pairs(), at: prop::sample::Index) {
            let (some, others) = pairs.split_at(if pairs.is_empty() { 0 } else { at.index(pairs.len()) });
            let parts = [samples(some), samples(others)];
            prop_assert_eq!(JointHistogram::sum(parts.iter()), samples(&pairs));
        }

        #[test]
        fn a_quantile_is_in_the_bin_of_the_time_of_its_rank(pairs in pairs(), at: prop::sample::Index) {
            prop_assume!(!pairs.is_empty());
            let mut times: Vec<u64> = pairs.iter().map(|pair| pair.0).collect();
            times.sort_unstable();
            let rank = at.index(times.len());
            let found = samples(&pairs).first.quantile(rank as u64 + 1);
            let (low, end) = (bin(times[rank], BITS), bin_end(times[rank], BITS));
            prop_assert!(low as f64 - 0.5 <= found && found <= end as f64);
        }

        /// A count that is another one, anywhere, is noticed.
        #[test]
        fn a_changed_count_is_a_contradiction(pairs in pairs(), at: prop::sample::Index, which in 0..4, more in 1..u64::MAX) {
            prop_assume!(!pairs.is_empty());
            let mut changed = samples(&pairs);
            let bins = (changed.first.bins.len(), changed.second.bins.len(), changed.bins.len());
            let count = match which {
                0 => &mut changed.count,
                1 => &mut changed.first.bins[at.index(bins.0)][1],
                2 => &mut changed.second.bins[at.index(bins.1)][1],
                _ => &mut changed.bins[at.index(bins.2)][2],
            };
            *count = count.wrapping_add(more);
            prop_assert!(changed.contradiction().is_some(), "{changed:?}");
        }
    }

    #[test]
    fn a_median_follows_the_share_of_times_in_each_bin() {
        let median = |low: u64, high: u64, of_low: usize| {
            (0..100).map(|at| if at < of_low { low } else { high }).collect::<Histogram>().median()
        };
        for (low, high) in [(24, 25), (9984, 10_239)] {
            let medians = [99, 60, 51, 49, 40, 1].map(|of_low| median(low, high, of_low));
            assert!(medians.is_sorted_by(|one, next| one < next), "{medians:?}");
            assert!(medians[3] - medians[2] < 0.1 * (high - low) as f64, "no step between the bins: {medians:?}");
            assert_eq!([median(low, high, 100), median(low, high, 0)], [low as f64, high as f64]);
        }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut JointHistogram), words: &str) {
        let mut samples = samples(&[(5, 4), (300, 40), (300, 6000), (1000, 5000)]);
        change(&mut samples);
        let found = samples.contradiction();
        assert!(found.is_some_and(|what| what.contains(words)), "{words}: {found:?}");
    }

    #[test]
    fn contradictions_are_told_by_what_they_are() {
        check(|samples| samples.first.bins.swap(0, 1), "bins of times");
        check(|samples| samples.second.bins[3][0] += 1, "bins of times");
        check(|samples| samples.bins.swap(0, 1), "bins of pairs");
        check(|samples| samples.first.min_ns = 6, "shortest");
        check(|samples| samples.first.max_ns = 900, "longest");
        check(|samples| samples.second.min_ns = u64::MAX, "shortest");
        check(|samples| samples.second_shorter = 1, "shorter second time");
        check(|samples| samples.second_shorter = 3, "shorter second time");
        check(|samples| samples.bins[1][1] = 44, "not those of its times");
    }
}
