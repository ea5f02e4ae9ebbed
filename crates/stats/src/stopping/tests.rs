use fastrand::Rng;
use proptest::prelude::*;

use super::*;
use crate::simulate::Law;

/// `count` values from 90 to 110, evenly.
fn even(count: usize) -> Sample {
    Sample::new((0..count).map(|n| 90.0 + 20.0 * n as f64 / (count - 1).max(1) as f64).collect()).unwrap()
}

#[test]
fn looks_are_few() {
    let until = |least: usize, most: usize| looks(least).take_while(|look| *look <= most).collect::<Vec<_>>();
    assert_eq!(until(6, 30), LOOKS);
    assert_eq!(until(6, 200)[5..], [45, 67, 100, 150]);
    assert_eq!((until(12, 30), until(40, 70)), (vec![12, 15, 20, 30], vec![40, 45, 67]));
}

#[test]
fn the_width_reached_is_reported() {
    // At 6 values the interval is the range, 90 to 110.
    assert!((precision(&even(6)).unwrap() - 0.1).abs() < 1e-12);
    // Half the width takes four times the invocations.
    assert_eq!(needed(&even(6), 0.05), Some(24));
    assert_eq!(needed(&even(6), 1.0), Some(LEAST_FOR_INTERVAL));
}

#[test]
fn what_can_never_be_precise() {
    let around_zero = Sample::new((-15..=15).map(f64::from).collect()).unwrap();
    assert_eq!((precision(&around_zero), needed(&around_zero, 0.1)), (None, None));
    for target in [0.0, -1.0, f64::NAN] {
        assert_eq!(needed(&even(10), target), None);
    }
    assert_eq!(precision(&Sample::new(vec![5.0; 6]).unwrap()), Some(0.0));
    assert_eq!(precision(&even(5)), None);
}

/// The share of simulated cells, which stop at the first narrow look or after `most` invocations, whose interval holds the truth.
fn held(law: Law, most: usize, random: &mut Rng) -> f64 {
    let holds = |_: &u32| {
        let mut values: Vec<f64> = Vec::new();
        for look in looks(LOOKS[0]).take_while(|look| *look <= most) {
            values.extend(law.draw(look - values.len(), random));
            if precision(&Sample::new(values.clone()).unwrap()).is_some_and(|reached| reached <= 0.02) {
                break;
            }
        }
        median_interval(&Sample::new(values).unwrap(), CONFIDENCE).unwrap().covers(law.median())
    };
    (0..3000).filter(holds).count() as f64 / 3000.0
}

/// What the documentation says of the coverage of intervals at which cells stopped.
#[test]
fn stopping_early_costs_little_coverage() {
    let mut random = Rng::with_seed(62);
    for law in [Law::Normal(0.014), Law::Normal(0.04), Law::Normal(0.08), Law::Lognormal(0.03), Law::Bimodal] {
        for most in [30, 200] {
            let share = held(law, most, &mut random);
            assert!(share > 0.905, "{law:?}, {most} at most: {share}");
        }
    }
}

proptest! {
    #[test]
    fn more_precision_needs_no_fewer(values in prop::collection::vec(1.0..2.0_f64, 6..30), targets in (0.001..0.5_f64, 0.001..0.5_f64)) {
        let sample = Sample::new(values).unwrap();
        prop_assert!(needed(&sample, targets.0.min(targets.1)) >= needed(&sample, targets.0.max(targets.1)));
    }
}
