//! Pairs of times as a distribution: the two by themselves, and together.
//!
//! Times fall into bins whose width grows with them: below a power of two each nanosecond has its own, and from there on each
//! octave is divided into as many of the same width, as in G. Tene's HdrHistogram. Bins of the same kind can be added up, so that
//! workers, repetitions and invocations each fill their own.

use std::collections::BTreeMap;

/// A time by itself falls into one of 2⁶ bins an octave: none is wider than 1.6% of what is in it.
pub const MARGINAL_BITS: u32 = 6;

/// Two times together fall into 2³ bins an octave each: none is wider than 12.5%.
pub const JOINT_BITS: u32 = 3;

/// The least time of the bin that a time falls into, with 2^`bits` bins an octave.
pub const fn bin(nanos: u64, bits: u32) -> u64 {
    let octave = nanos.checked_ilog2();
    match octave {
        Some(octave) if octave > bits => nanos >> (octave - bits) << (octave - bits),
        _ => nanos,
    }
}

/// The least time beyond the bin that begins with `low`; the largest time there is belongs to the last bin.
pub const fn bin_end(low: u64, bits: u32) -> u64 {
    let width = match low.checked_ilog2() {
        Some(octave) if octave > bits => 1 << (octave - bits),
        _ => 1,
    };
    low.saturating_add(width)
}

/// A distribution of one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marginal {
    bins: BTreeMap<u64, u64>,
    ends: Option<(u64, u64)>,
}

impl Marginal {
    fn record(&mut self, nanos: u64) {
        *self.bins.entry(bin(nanos, MARGINAL_BITS)).or_default() += 1;
        self.ends = Some(self.ends.map_or((nanos, nanos), |(least, most)| (least.min(nanos), most.max(nanos))));
    }

    fn merge(&mut self, other: &Marginal) {
        other.bins.iter().for_each(|(low, count)| *self.bins.entry(*low).or_default() += count);
        for end in other.ends.into_iter().flat_map(|(least, most)| [least, most]) {
            self.ends = Some(self.ends.map_or((end, end), |(least, most)| (least.min(end), most.max(end))));
        }
    }

    /// The least time of each bin that is not empty, in ascending order, with the number of times in it.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        self.bins.iter().map(|(low, count)| (*low, *count))
    }

    /// The shortest and the longest time; `None` without any.
    pub fn ends(&self) -> Option<(u64, u64)> {
        self.ends
    }
}

/// A distribution of pairs of times, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joint {
    first: Marginal,
    second: Marginal,
    bins: BTreeMap<(u64, u64), u64>,
    count: u64,
    below: u64,
}

impl Joint {
    /// Adds a pair.
    pub fn record(&mut self, first: u64, second: u64) {
        self.first.record(first);
        self.second.record(second);
        *self.bins.entry((bin(first, JOINT_BITS), bin(second, JOINT_BITS))).or_default() += 1;
        self.count += 1;
        self.below += u64::from(second < first);
    }

    /// Adds the pairs of another.
    pub fn merge(&mut self, other: &Joint) {
        self.first.merge(&other.first);
        self.second.merge(&other.second);
        other.bins.iter().for_each(|(lows, count)| *self.bins.entry(*lows).or_default() += count);
        self.count += other.count;
        self.below += other.below;
    }

    /// How many pairs there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Of how many the second time is the shorter one: those below the line on which both are the same.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// The first times.
    pub fn first(&self) -> &Marginal {
        &self.first
    }

    /// The second times.
    pub fn second(&self) -> &Marginal {
        &self.second
    }

    /// The least times of each bin of pairs that is not empty, in ascending order, with the number of pairs in it.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.bins.iter().map(|(&(first, second), &count)| (first, second, count))
    }
}

impl FromIterator<(u64, u64)> for Joint {
    fn from_iter<T: IntoIterator<Item = (u64, u64)>>(pairs: T) -> Self {
        let mut joint = Joint::default();
        pairs.into_iter().for_each(|(first, second)| joint.record(first, second));
        joint
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_time_is_in_its_bin_and_the_bin_is_narrow(nanos: u64, bits in 1_u32..=8) {
            let low = bin(nanos, bits);
            let end = bin_end(low, bits);
            prop_assert!(low <= nanos && (nanos < end || end == u64::MAX));
            prop_assert!((end - low - 1) as f64 <= low as f64 / f64::from(1 << bits), "{low} to {end}");
            prop_assert_eq!(bin(low, bits), low, "bins begin with themselves");
        }

        /// However the pairs are shared out, and in whatever order they come.
        #[test]
        fn distributions_add_up(pairs: Vec<(u64, u64)>, at: prop::sample::Index) {
            let (some, others) = pairs.split_at(if pairs.is_empty() { 0 } else { at.index(pairs.len()) });
            let mut sum: Joint = others.iter().copied().collect();
            sum.merge(&some.iter().copied().collect());
            prop_assert_eq!(&sum, &pairs.iter().copied().collect::<Joint>());
            prop_assert_eq!(sum.count(), pairs.len() as u64);
            for marginal in [sum.first(), sum.second()] {
                prop_assert_eq!(marginal.bins().map(|(_, count)| count).sum::<u64>(), sum.count());
            }
            prop_assert_eq!(sum.bins().map(|(.., count)| count).sum::<u64>(), sum.count());
        }
    }

    #[test]
    fn the_line_itself_is_not_below_it() {
        let joint: Joint = [(5, 4), (5, 5), (5, 6)].into_iter().collect();
        assert_eq!(joint.below(), 1);
        assert_eq!(joint.second().ends(), Some((4, 6)));
    }
}
