use fastrand::Rng;
use proptest::prelude::*;

use super::*;
use crate::simulate::{Law, sample};

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

/// Against `numpy.quantile`, `scipy.stats.iqr` and `scipy.stats.median_abs_deviation`, NumPy 2.4.6 and SciPy 1.17.1.
#[test]
fn golden() {
    #[track_caller]
    fn check(values: &[f64], tenths: [f64; 4], range: f64, mad: f64, spread: f64) {
        let sample = sample(values);
        for (share, expected) in [0.1, 0.25, 0.75, 0.9].into_iter().zip(tenths) {
            near(sample.quantile(share), expected);
        }
        near(sample.quartile_range(), range);
        near(sample.mad(), mad);
        near(sample.robust_spread(0.0).unwrap(), spread);
    }
    check(&[3.0, 1.0, 2.0], [1.2, 1.5, 2.5, 2.8], 1.0, 1.0, 0.741_301_109_252_801);
    check(&[2.5, 9.25, 1.0, 7.0, 7.5, 100.0], [1.75, 3.625, 8.8125, 54.625], 5.1875, 3.375, 0.690_176_894_821_573_6);
    check(
        &[1.2, 3.4, 2.2, 9.8, 0.3, 4.4, 5.1, 2.9, 3.3, 60.0],
        [1.11, 2.375, 4.925, 14.82],
        2.55,
        1.45,
        0.641_723_348_308_394_7,
    );
}

#[test]
fn the_spread_falls_back() {
    // More than half are equal: the MAD is 0, and the quartiles 5 and 6 speak.
    near(sample(&[5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 7.0]).robust_spread(0.5).unwrap(), 1.0 / 1.348_979_500_392_163_4 / 5.0);
    // The quartiles are equal, too.
    near(sample(&[5.0, 5.0, 5.0, 5.0, 5.0, 9.0]).robust_spread(0.5).unwrap(), 0.1);
    near(sample(&[5.0, 5.0]).robust_spread(0.5).unwrap(), 0.1);
    assert_eq!(sample(&[5.0, 5.0]).robust_spread(0.0), Some(0.0));
    near(sample(&[-5.0, -5.0]).robust_spread(0.5).unwrap(), 0.1);
    assert_eq!(sample(&[5.0]).robust_spread(0.5), None);
    assert_eq!(sample(&[-1.0, 1.0]).robust_spread(0.5), None);
}

#[test]
fn fences() {
    #[track_caller]
    fn check(values: &[f64], expected: usize) {
        assert_eq!(sample(values).outliers(0.0), expected, "{values:?}");
    }
    check(&[1.0], 0);
    check(&[1.0, 9.0], 0);
    check(&[5.0; 4], 0);
    // Eight values around quartiles 2 and 6: fences at −10 and 18, which themselves are inside.
    check(&[2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 6.0, 6.0, 6.0], 0);
    check(&[-10.0, 2.0, 2.0, 4.0, 4.0, 4.0, 6.0, 6.0, 18.0], 0);
    check(&[-10.1, 2.0, 2.0, 4.0, 4.0, 4.0, 6.0, 6.0, 18.1], 2);
    // Where the quartiles are equal, every other value is severe.
    check(&[5.0, 5.0, 5.0, 5.0, 5.1], 1);
}

#[test]
fn modes() {
    assert_eq!(sample(&[1.0; 29]).m_value(0.0), None);
    assert_eq!(sample(&[1.0; 30]).m_value(0.0), Some(2.0));
    let two = |far: f64| [vec![1.0; 300], vec![far; 300]].concat();
    assert_eq!(sample(&two(2.0)).m_value(0.0), Some(4.0));
    let three = [two(2.0), vec![3.0; 300]].concat();
    assert_eq!(sample(&three).m_value(0.0), Some(6.0));
    // A flat sample and a single wild value are no modes.
    let flat: Vec<f64> = (0..100).map(f64::from).collect();
    assert!(sample(&flat).m_value(0.0).unwrap() < 2.8);
    assert!(sample(&[flat, vec![1e300]].concat()).m_value(0.0).unwrap() < 2.8);
}

/// The figures that the documentation states.
#[test]
fn modes_raise_few_false_alarms() {
    let mut random = Rng::with_seed(16);
    let mut alarms = |law: Law, count: usize| {
        (0..500).filter(|_| sample(&law.draw(count, &mut random)).m_value(0.0).unwrap() > 2.8).count()
    };
    assert!(alarms(Law::Normal(0.02), 30) + alarms(Law::Lognormal(0.5), 30) <= 5);
    assert!(alarms(Law::Normal(0.02), 90) + alarms(Law::Lognormal(0.5), 90) <= 5);
    assert!(alarms(Law::Bimodal, 300) >= 350);
}

/// Normal values that are read in steps of two standard deviations.
#[test]
fn steps_are_neither_modes_nor_outliers() {
    let mut random = Rng::with_seed(17);
    let mut alarms = [0, 0];
    for _ in 0..200 {
        let values: Vec<f64> = Law::Normal(0.02).draw(50, &mut random);
        let coarse = sample(&values.iter().map(|value| (value / 0.04).floor() * 0.04).collect::<Vec<_>>());
        let step = coarse.smallest_gap();
        alarms[0] += usize::from(coarse.m_value(0.0).unwrap() > 2.8);
        alarms[1] += usize::from(coarse.m_value(step).unwrap() > 2.8);
    }
    assert!(alarms[0] >= 50 && alarms[1] * 10 <= alarms[0], "two values may be two modes: {alarms:?}");
    let most = |other: f64| sample(&[vec![5.0; 40], vec![other; 8], vec![5.1]].concat());
    let severe = |values: Sample| values.outliers(0.1);
    assert_eq!((severe(most(5.1)), severe(most(5.2))), (0, 8));
    let gap = |values: &[f64]| sample(values).smallest_gap();
    assert_eq!([gap(&[5.0; 3]), gap(&[24.0, 24.0, 40.0]), gap(&[24.0, 25.0, 40.0])], [0.0, 0.0, 1.0]);
    // Two modes of a quiet machine are two values.
    let two = sample(&[vec![24.0; 40], vec![40.0; 40]].concat());
    assert!(two.m_value(two.smallest_gap().max(1.0)).unwrap() > 2.8);
}

proptest! {
    #[test]
    fn quantiles_rise_from_the_smallest_to_the_largest(
        values in prop::collection::vec(-1e6..1e6_f64, 1..40),
        shares in (0.0..=1.0_f64, 0.0..=1.0_f64),
    ) {
        let sample = sample(&values);
        let (low, high) = (shares.0.min(shares.1), shares.0.max(shares.1));
        prop_assert!(sample.quantile(low) <= sample.quantile(high));
        prop_assert_eq!((sample.quantile(0.0), sample.quantile(1.0)), (sample.min(), sample.max()));
        prop_assert!((sample.quantile(0.5) - sample.median()).abs() <= 1e-9);
    }

    #[test]
    fn summaries_do_not_depend_on_the_unit(values in prop::collection::vec(1.0..1e3_f64, 2..60), power in -20..20_i32) {
        // A power of two, so nothing is rounded.
        let unit = 2.0_f64.powi(power);
        let (one, other) = (sample(&values), sample(&values.iter().map(|v| v * unit).collect::<Vec<_>>()));
        prop_assert_eq!(one.robust_spread(0.25), other.robust_spread(0.25 * unit));
        prop_assert_eq!(one.outliers(0.25), other.outliers(0.25 * unit));
        prop_assert_eq!(one.m_value(0.25), other.m_value(0.25 * unit));
        prop_assert_eq!(one.mad() * unit, other.mad());
    }

    #[test]
    fn less_than_half_of_the_values_cannot_move_the_spread_far(
        values in prop::collection::vec(100.0..101.0_f64, 11..30),
        wild in prop::collection::vec(-1e12..1e12_f64, 0..5),
    ) {
        let spread = sample(&[values, wild].concat()).robust_spread(0.0).unwrap();
        prop_assert!(spread <= 1.4827 * 1.0 / 100.0);
    }
}
