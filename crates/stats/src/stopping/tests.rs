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
    #[track_caller]
    fn check(count: usize, until: Option<usize>) {
        let wide = match next_step(&even(count), 1e-6) {
            Step::Measure { until, .. } => Some(until),
            Step::NotConverged { reached: Some(_), needed: Some(needed) } if needed > count => None,
            other => panic!("{count} values: {other:?}"),
        };
        assert_eq!(wide, until, "{count} values");
        // At any target, nothing ends between two looks.
        let done = matches!(next_step(&even(count), 1.0), Step::Precise { .. });
        assert_eq!(done, LOOKS.contains(&count) || count > LOOKS[4], "{count} values");
    }
    for (count, until) in [(1, 6), (5, 6), (6, 10), (9, 10), (10, 15), (14, 15), (15, 20), (20, 30), (29, 30)] {
        check(count, Some(until));
    }
    check(30, None);
    check(31, None);
}

#[test]
fn the_width_reached_is_reported() {
    // At 6 values the interval is the range, 90 to 110.
    let Step::Precise { reached } = next_step(&even(6), 0.1) else { panic!("10 % is reached") };
    assert!((reached - 0.1).abs() < 1e-12);
    // Half the width takes four times the invocations.
    assert_eq!(needed(&even(6), 0.05), Some(24));
    assert_eq!(needed(&even(6), 1.0), Some(LEAST_FOR_INTERVAL));
    assert!(matches!(next_step(&even(6), 0.099), Step::Measure { until: 10, needed: Some(7) }));
}

#[test]
fn what_can_never_be_precise() {
    let around_zero = Sample::new((-15..=15).map(f64::from).collect()).unwrap();
    assert_eq!(next_step(&around_zero, 0.1), Step::NotConverged { reached: None, needed: None });
    for target in [0.0, -1.0, f64::NAN] {
        assert_eq!(needed(&even(10), target), None);
        assert!(matches!(next_step(&even(30), target), Step::NotConverged { needed: None, .. }));
    }
    let equal = Sample::new(vec![5.0; 6]).unwrap();
    assert_eq!(next_step(&equal, 0.0), Step::Precise { reached: 0.0 });
    assert_eq!(precision(&even(5)), None);
}

/// What the documentation says of the coverage of intervals at which cells stopped.
#[test]
fn stopping_early_costs_little_coverage() {
    let mut random = Rng::with_seed(62);
    for law in [Law::Normal(0.014), Law::Normal(0.04), Law::Lognormal(0.03), Law::Bimodal] {
        let mut held = |_: &u32| {
            let mut values = law.draw(LOOKS[0], &mut random);
            loop {
                let sample = Sample::new(values.clone()).unwrap();
                match next_step(&sample, 0.02) {
                    Step::Measure { until, .. } => values.extend(law.draw(until - values.len(), &mut random)),
                    _ => return median_interval(&sample, CONFIDENCE).unwrap().covers(law.median()),
                }
            }
        };
        let share = (0..3000).filter(|trial| held(trial)).count() as f64 / 3000.0;
        assert!(share > 0.905, "{law:?}: {share}");
    }
}

proptest! {
    #[test]
    fn steps_do_not_depend_on_the_unit(values in prop::collection::vec(1.0..2.0_f64, 1..40), power in -20..20_i32, target in 0.001..0.5_f64) {
        let unit = 2.0_f64.powi(power);
        let scaled = Sample::new(values.iter().map(|v| v * unit).collect()).unwrap();
        prop_assert_eq!(next_step(&Sample::new(values).unwrap(), target), next_step(&scaled, target));
    }

    #[test]
    fn more_precision_needs_no_fewer(values in prop::collection::vec(1.0..2.0_f64, 6..30), targets in (0.001..0.5_f64, 0.001..0.5_f64)) {
        let sample = Sample::new(values).unwrap();
        prop_assert!(needed(&sample, targets.0.min(targets.1)) >= needed(&sample, targets.0.max(targets.1)));
    }
}
