//! What samples out of a file can say that no pairs of times can have come to.

use super::{Distribution, JOINT_BITS, MARGINAL_BITS, Marginal, Peak, Samples, Shape, add_up, bin, width};

impl Samples {
    /// The first thing in it that no pairs of times can have come to, as the end of a sentence about the cell.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
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
        let coarse = |marginal: &Marginal| {
            let mut bins: Vec<[u64; 2]> =
                marginal.bins.iter().map(|&[low, count]| [bin(low, JOINT_BITS), count]).collect();
            add_up(&mut bins);
            bins
        };
        if apart(0) != coarse(&self.first) || apart(1) != coarse(&self.second) {
            return Some("has pairs that are not those of its times");
        }
        // In a bin that the line runs through, any pair may be on either side of it.
        let end = |low: u64| low.saturating_add(width(low, JOINT_BITS) - 1);
        let surely = self.bins.iter().filter(|[first, second, _]| end(*second) < *first).map(|[.., count]| count);
        let perhaps = self.bins.iter().filter(|[first, second, _]| *second < end(*first)).map(|[.., count]| count);
        (!(surely.sum::<u64>()..=perhaps.sum()).contains(&self.below))
            .then_some("has another number of pairs with a shorter second time than its pairs can have")
    }
}

impl Marginal {
    /// What the types cannot say.
    fn contradiction(&self, count: u64) -> Option<&'static str> {
        if !ascending(&self.bins, MARGINAL_BITS) {
            return Some("has bins of times that are out of order or none");
        }
        if total(&self.bins) != Some(count) {
            return Some("has times that do not add up to their number");
        }
        // Without times there is no shortest one.
        let (Some([first, _]), Some([last, _])) = (self.bins.first(), self.bins.last()) else { return None };
        let ends = [self.least_ns, self.most_ns].map(|time| bin(time, MARGINAL_BITS));
        (self.least_ns > self.most_ns || ends != [*first, *last])
            .then_some("has a shortest or a longest time that is not in its bins")
    }
}

/// Whether bins are in order, each once, begin where bins begin, and are not empty.
fn ascending<const N: usize>(bins: &[[u64; N]], bits: u32) -> bool {
    let is_bin = |column: &[u64; N]| column[N - 1] > 0 && column[..N - 1].iter().all(|&low| low == bin(low, bits));
    bins.iter().all(is_bin) && bins.windows(2).all(|pair| pair[0][..N - 1] < pair[1][..N - 1])
}

/// The sum of the counts, which stand last; `None` beyond the largest number.
fn total<const N: usize>(bins: &[[u64; N]]) -> Option<u64> {
    bins.iter().try_fold(0_u64, |sum, column| sum.checked_add(column[N - 1]))
}

impl Distribution {
    /// The first thing in it that cannot be, as the end of a sentence about the cell; `counted` are the samples of the
    /// repetitions that count, together.
    pub(crate) fn contradiction(&self, counted: &Samples) -> Option<&'static str> {
        if self.samples != *counted {
            return Some("has a distribution that does not follow from its runs");
        }
        if let Some(what) = self.samples.contradiction() {
            return Some(what);
        }
        let share = self.samples.below as f64 / self.samples.count as f64;
        if (self.below - share).abs() > 1e-9 {
            return Some("has a share of pairs with a shorter second time that is another one");
        }
        let sides = [(&self.first, &self.samples.first), (&self.second, &self.samples.second)];
        sides.into_iter().find_map(|(shape, times)| shape.contradiction(times))
    }
}

impl Shape {
    fn contradiction(&self, times: &Marginal) -> Option<&'static str> {
        let inside = |time: f64| times.least_ns as f64 <= time && time <= times.most_ns as f64;
        let told: Vec<f64> = self.percentiles().into_iter().filter_map(|(_, time)| time).collect();
        if !told.iter().all(|&time| inside(time)) || told.windows(2).any(|pair| pair[0] > pair[1]) {
            return Some("has percentiles that its times do not have");
        }
        // The last bin of a band may end beyond the longest time.
        let end = times.spans().last().map_or(0, |(_, end, _)| end) as f64;
        let is_band = |peak: &Peak| {
            let ordered = peak.low_ns <= peak.mode_ns && peak.mode_ns <= peak.high_ns && peak.high_ns <= end;
            ordered && peak.low_ns >= 0.0 && (0.0..=1.0).contains(&peak.share)
        };
        let shares: f64 = self.peaks.iter().map(|peak| peak.share).sum();
        (!self.peaks.iter().all(is_band) || shares > 1.0 + 1e-9).then_some("has bands that its times do not have")
    }
}

#[cfg(test)]
mod tests {
    use charz_kernels::Joint;
    use charz_kernels::joint::{self, JOINT_BITS, MARGINAL_BITS};
    use proptest::prelude::*;

    use super::super::{bin, width};
    use super::*;

    /// As the measuring process writes them.
    fn samples(pairs: &[(u64, u64)]) -> Samples {
        let joint: Joint = pairs.iter().copied().collect();
        let marginal = |marginal: &charz_kernels::Marginal| {
            let (least_ns, most_ns) = marginal.ends().unwrap_or_default();
            Marginal { least_ns, most_ns, bins: marginal.bins().map(|(low, count)| [low, count]).collect() }
        };
        Samples {
            count: joint.count(),
            below: joint.below(),
            first: marginal(joint.first()),
            second: marginal(joint.second()),
            bins: joint.bins().map(|(first, second, count)| [first, second, count]).collect(),
        }
    }

    fn pairs() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let time = prop_oneof![0_u64..200, 0_u64..1_000_000, any::<u64>()];
        prop::collection::vec((time.clone(), time), 0..60)
    }

    proptest! {
        #[test]
        fn bins_are_those_of_the_kernels(nanos: u64) {
            for bits in [MARGINAL_BITS, JOINT_BITS] {
                let low = bin(nanos, bits);
                prop_assert_eq!(low, joint::bin(nanos, bits));
                prop_assert_eq!(low.saturating_add(width(low, bits)), joint::bin_end(low, bits));
            }
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
            prop_assert_eq!(Samples::sum(parts.iter()), samples(&pairs));
        }

        #[test]
        fn a_quantile_is_in_the_bin_of_the_time_of_its_rank(pairs in pairs(), at: prop::sample::Index) {
            prop_assume!(!pairs.is_empty());
            let mut times: Vec<u64> = pairs.iter().map(|pair| pair.0).collect();
            times.sort_unstable();
            let rank = at.index(times.len());
            let found = samples(&pairs).first.quantile(rank as u64 + 1);
            let low = bin(times[rank], MARGINAL_BITS);
            prop_assert!(low as f64 <= found && found <= low.saturating_add(width(low, MARGINAL_BITS)) as f64);
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

    #[track_caller]
    fn check(change: impl FnOnce(&mut Samples), words: &str) {
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
        check(|samples| samples.first.least_ns = 6, "shortest");
        check(|samples| samples.first.most_ns = 900, "longest");
        check(|samples| samples.second.least_ns = u64::MAX, "shortest");
        check(|samples| samples.below = 1, "shorter second time");
        check(|samples| samples.below = 3, "shorter second time");
        check(|samples| samples.bins[1][1] = 44, "not those of its times");
    }
}
