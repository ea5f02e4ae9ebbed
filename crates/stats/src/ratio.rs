//! By how much do two medians differ? An interval for their ratio, without assuming that both sides vary alike: of two placements of
//! threads the better one is often the steadier one, too.
//!
//! It is put together from the intervals of both medians, on the logarithm: the distance from the ratio to an end is the root of the
//! squares of the distances from each median to the end of its interval that lies in this direction. (Zou and Donner, "Construction of
//! Confidence Limits about Effect Measures: A General Approach", Statistics in Medicine 27 (2008), known as MOVER.) It needs no
//! resamples, it holds the ratio of the two medians that are printed, and where one side is skewed or has two modes so is the interval.
//! Nominal 95% intervals hold the true ratio in 96 to 99% of 10,000 simulated pairs each, of 6 to 30 normal, lognormal or bimodal values a
//! side; those of Price and Bonett (Journal of Statistical Computation and Simulation 72 (2002)) do in 88% only of 6 bimodal values a side.

use super::Sample;
use super::interval::{Interval, median_interval};

/// An interval for the median of the population of `new` over that of `base`, with `confidence` (between 0 and 1, usually 0.95).
///
/// `None` where a side has no [`median_interval`], or a value that is not positive: it has no logarithm.
pub fn ratio_interval(base: &Sample, new: &Sample, confidence: f64) -> Option<Interval> {
    let around = |sample: &Sample| {
        let interval = median_interval(sample, confidence).filter(|_| sample.min() > 0.0)?;
        Some(Around { value: sample.median(), low: interval.low, high: interval.high })
    };
    let (low, high) = ratio_of_estimates(around(base)?, around(new)?)?;
    Some(Interval { low, high, confidence })
}

/// An estimate, and the ends of its interval.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// The estimate.
    pub value: f64,
    /// The lower end, above 0 for a ratio.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The ends of the interval of `new` over `base` from theirs. `None` where something is not positive.
pub fn ratio_of_estimates(base: Around, new: Around) -> Option<(f64, f64)> {
    let logarithms = |found: Around| {
        let middle = found.value.ln();
        let sides = (middle - found.low.min(found.value).ln(), found.high.max(found.value).ln() - middle);
        (found.low > 0.0 && found.high.is_finite()).then_some((middle, sides.0, sides.1))
    };
    let ((base, below_base, above_base), (new, below_new, above_new)) = (logarithms(base)?, logarithms(new)?);
    let ratio = new - base;
    Some(((ratio - below_new.hypot(above_base)).exp(), (ratio + above_new.hypot(below_base)).exp()))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use proptest::prelude::*;

    use super::*;
    use crate::simulate::{Law, sample};

    /// By hand: of six values the interval is the range, and the median of 1, 2, 4, … 32 is 6.
    #[test]
    fn golden() {
        let doublings = |from: i32, to: i32| (from..=to).map(|power| f64::from(power).exp2()).collect::<Vec<_>>();
        let found = ratio_interval(&sample(&[5.0; 6]), &sample(&doublings(0, 5)), 0.95).unwrap();
        assert!((found.low - 1.0 / 5.0).abs() < 1e-9 && (found.high - 32.0 / 5.0).abs() < 1e-9, "{found:?}");
        let found = ratio_interval(&sample(&doublings(0, 5)), &sample(&doublings(0, 5)), 0.95).unwrap();
        let half = 6.0_f64.ln().hypot((32.0 / 6.0_f64).ln());
        assert!((found.high.ln() - half).abs() < 1e-9 && (found.low.ln() + half).abs() < 1e-9, "{found:?}");
    }

    /// 10,000 pairs of each kind, of which the new side varies twice as much; three standard errors are 0.65%.
    #[test]
    fn it_holds_the_ratio_as_often_as_it_says() {
        let mut random = Rng::with_seed(17);
        for (law, wider) in [
            (Law::Normal(0.02), Law::Normal(0.04)),
            (Law::Lognormal(0.1), Law::Lognormal(0.2)),
            (Law::Bimodal, Law::Bimodal),
        ] {
            for (n, m) in [(6, 6), (6, 30), (10, 10), (15, 15), (30, 30)] {
                let truth = wider.median() / law.median();
                let held = |_: &u32| {
                    let [base, new] = [law.draw(n, &mut random), wider.draw(m, &mut random)].map(|one| sample(&one));
                    ratio_interval(&base, &new, 0.95).unwrap().covers(truth)
                };
                let share = (0..10_000_u32).filter(held).count() as f64 / 1e4;
                assert!((0.95..=0.99).contains(&share), "{law:?}, {n} and {m} values: {share}");
            }
        }
    }

    #[test]
    fn what_has_no_interval() {
        let six = sample(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        for other in [vec![1.0; 5], vec![0.0, 1.0, 1.0, 1.0, 1.0, 1.0]] {
            assert_eq!(ratio_interval(&six, &sample(&other), 0.95), None);
            assert_eq!(ratio_interval(&sample(&other), &six, 0.95), None);
        }
        assert_eq!(ratio_interval(&six, &six, 1.0), None);
    }

    proptest! {
        #[test]
        fn exchanged_sides_have_the_reciprocal(
            base in prop::collection::vec(0.1..1e6_f64, 6..30),
            new in prop::collection::vec(0.1..1e6_f64, 6..30),
        ) {
            let [base, new] = [sample(&base), sample(&new)];
            let [one, other] = [ratio_interval(&base, &new, 0.95).unwrap(), ratio_interval(&new, &base, 0.95).unwrap()];
            prop_assert!((one.low * other.high - 1.0).abs() < 1e-9 && (one.high * other.low - 1.0).abs() < 1e-9);
            prop_assert!(one.low <= new.median() / base.median() && new.median() / base.median() <= one.high);
        }
    }
}
