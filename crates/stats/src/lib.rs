#![doc = include_str!("../README.md")]
//!
//! | question | answer |
//! | --- | --- |
//! | what is typical, how much do values differ | [`Sample`] |
//! | how sure is the median | [`median_interval`] |
//! | how sure is the ratio of two medians | [`ratio_interval`] |
//! | what do parts of unequal length give together | [`pooled`] |
//! | does a series rise or fall as it goes on | [`trend`] |
//! | when did a series change its level | [`changes`] |
//! | do values follow the clock of the cores | [`follow_the_clock`] |
//! | what did undisturbed blocks of work take | [`FastMode`] |
//! | around which values do times gather | [`bands`] |
//! | which groups are clearly separated | [`Sample::groups`] |
//! | which speeds do values have | [`Sample::speeds`] |
//! | is this precise enough, and if not, when would it be | [`precision`], [`needed`] |
//! | do two sets differ, by how much, and could one have seen it | [`compare`] |
//! | how often is a value of one set above one of the other | [`superiority`] |
//!
//! # What counts as one value
//!
//! Intervals and comparisons are about values that could have come out otherwise independently of each other: one value an
//! invocation, such as the median of its repetitions. Repetitions within an invocation share its memory layout, its
//! neighbours and its moment. Who hands them over one by one gets intervals that are far too narrow, and differences that
//! are not there.
#![warn(missing_docs)]

mod changes;
mod clock;
mod discoveries;
mod distribution;
mod fast;
mod interval;
mod modes;
mod pooled;
mod ranks;
mod ratio;
mod robust;
mod serial;
#[cfg(test)]
mod simulate;
mod speeds;
mod stopping;
mod superiority;
mod tails;
mod trend;
mod verdict;

pub use changes::{Change, LEAST_FOR_CHANGE, LEAST_SEGMENT, MOST_FOR_CHANGE, changes};
pub use clock::follow_the_clock;
pub use discoveries::benjamini_hochberg;
pub use fast::FastMode;
pub use interval::{Interval, LEAST_FOR_INTERVAL, median_interval};
pub use modes::{Band, Bin, bands};
pub use pooled::pooled;
pub use ranks::{Ranks, min_invocations};
pub use ratio::{Around, ratio_interval, ratio_of_estimates};
pub use robust::MAD_TO_DEVIATION;
pub use stopping::{LOOKS, looks, needed, precision};
pub use superiority::superiority;
pub use trend::trend;
pub use verdict::{
    ALPHA, Better, Comparison, Doubt, LEAST_FOR_VERDICT, Pair, Rule, Verdict, compare, compare_each, compare_one,
    runs_for_verdict,
};

/// A non-empty set of finite numbers, sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// `None` if `values` is empty or holds a NaN or an infinity.
    pub fn new(mut values: Vec<f64>) -> Option<Self> {
        if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        Some(Sample(values))
    }

    /// How many values there are, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The values, ascending.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The smallest value.
    pub fn min(&self) -> f64 {
        self.0[0]
    }

    /// The largest value.
    pub fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    /// The value in the middle, or the mean of the two in the middle.
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        if self.0.len() % 2 == 1 { self.0[middle] } else { f64::midpoint(self.0[middle - 1], self.0[middle]) }
    }

    /// Its clearly separated groups, in ascending order: where a value is more than `ratio` times the one before, the next group begins.
    /// This is single linkage (R. Sibson, "SLINK", The Computer Journal 16 (1973)), which takes neither a number of groups nor a shape.
    pub fn groups(&self, ratio: f64) -> Vec<Sample> {
        self.0.chunk_by(|one, next| *next <= one * ratio).map(|group| Sample(group.to_vec())).collect()
    }

    /// The range as a fraction of the median: (max − min) / median. With three repetitions nothing finer can be said.
    /// `None` where the median is 0, and for a single value, which says nothing of others.
    pub fn spread(&self) -> Option<f64> {
        (self.len() > 1 && self.median() != 0.0).then(|| (self.max() - self.min()) / self.median())
    }
}

/// The median of these values; `None` if there are none, or a NaN or an infinity is among them.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Some(Sample::new(values.into_iter().collect())?.median())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_and_nonsense_are_no_sample() {
        assert_eq!(Sample::new(vec![]), None);
        assert_eq!(Sample::new(vec![1.0, f64::NAN]), None);
        assert_eq!(Sample::new(vec![f64::INFINITY]), None);
    }

    #[test]
    fn known_samples() {
        let odd = Sample::new(vec![3.0, 1.0, 2.0]).unwrap();
        assert_eq!((odd.min(), odd.median(), odd.max(), odd.len()), (1.0, 2.0, 3.0, 3));
        assert_eq!(odd.spread(), Some(1.0));
        let even = Sample::new(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(even.median(), 2.5);
        let groups = |values: &[f64]| {
            Sample::new(values.to_vec()).unwrap().groups(1.3).into_iter().map(|group| group.0).collect::<Vec<_>>()
        };
        assert_eq!(groups(&[130.0, 25.0, 32.0, 132.0, 28.0]), [vec![25.0, 28.0, 32.0], vec![130.0, 132.0]]);
        assert_eq!(groups(&[1.0, 1.3, 1.7]), [vec![1.0, 1.3], vec![1.7]]);
        assert_eq!(Sample::new(vec![-1.0, 1.0]).unwrap().spread(), None);
        assert_eq!(Sample::new(vec![5.0]).unwrap().spread(), None);
        assert_eq!(Sample::new(vec![5.0, 5.0]).unwrap().spread(), Some(0.0));
    }

    proptest! {
        #[test]
        fn the_median_halves_the_sample(values in prop::collection::vec(-1e9..1e9_f64, 1..40)) {
            let median = Sample::new(values.clone()).unwrap().median();
            let below = values.iter().filter(|v| **v < median).count();
            let above = values.iter().filter(|v| **v > median).count();
            prop_assert!(below * 2 <= values.len() && above * 2 <= values.len());
        }

        #[test]
        fn scaling_leaves_the_spread_alone(values in prop::collection::vec(1.0..1e6_f64, 2..20), scale in 0.1..10.0_f64) {
            let spread = Sample::new(values.clone()).unwrap().spread().unwrap();
            let scaled = Sample::new(values.iter().map(|v| v * scale).collect()).unwrap().spread().unwrap();
            prop_assert!((spread - scaled).abs() < 1e-9);
        }
    }
}
