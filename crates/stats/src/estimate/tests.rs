use fastrand::Rng;
use proptest::prelude::*;

use super::*;
use crate::simulate::Law;
use crate::{Sample, median_interval};

fn estimate(value: f64, low: f64, high: f64, confidence: f64) -> Estimate {
    Estimate { value, interval: Interval { low, high, confidence, method: Method::OrderStatistics } }
}

/// By hand: distances 3 and 4, then 12 and 5, pull the ends.
#[test]
fn golden() {
    let found = estimate(20.0, 17.0, 32.0, 0.95).minus(&estimate(10.0, 5.0, 14.0, 0.97));
    assert_eq!((found.value, found.interval.low, found.interval.high), (10.0, 5.0, 23.0));
    assert_eq!((found.interval.confidence, found.interval.method), (0.95, Method::Difference));
}

#[test]
fn what_cannot_be_told_from_nothing() {
    let reference = estimate(10.0, 9.0, 11.0, 0.95);
    for (value, below) in [(10.5, true), (9.5, true), (12.0, false), (7.0, false)] {
        let found = estimate(value, value - 0.5, value + 0.5, 0.95).minus(&reference);
        assert_eq!(found.below_resolution(), below, "{found:?}");
    }
}

/// 2,000 pairs each; three standard errors are 1.5 %.
#[test]
fn differences_of_medians_are_held_often_enough() {
    let mut random = Rng::with_seed(7);
    for law in [Law::Normal(0.05), Law::Lognormal(0.5)] {
        for n in [6, 10, 30] {
            let mut measured = |times: f64| {
                let sample = Sample::new(law.draw(n, &mut random).iter().map(|v| v * times).collect()).unwrap();
                Estimate { value: sample.median(), interval: median_interval(&sample, 0.95).unwrap() }
            };
            let held = (0..2000).filter(|_| measured(3.0).minus(&measured(1.0)).interval.covers(2.0)).count();
            assert!(held >= 1880, "{law:?}, {n} values: {held}");
        }
    }
}

proptest! {
    #[test]
    fn a_difference_is_no_surer_than_what_it_is_made_of(
        (a, b) in (-1e3..1e3_f64, -1e3..1e3_f64),
        widths in prop::array::uniform4(0.0..100.0_f64),
    ) {
        let own = estimate(a, a - widths[0], a + widths[1], 0.95);
        let reference = estimate(b, b - widths[2], b + widths[3], 0.95);
        let (found, reverse) = (own.minus(&reference), reference.minus(&own));
        prop_assert!(found.interval.covers(found.value));
        prop_assert!(found.interval.half_width() + 1e-9 >= own.interval.half_width().max(reference.interval.half_width()));
        prop_assert!((found.interval.low + reverse.interval.high).abs() < 1e-9);
        prop_assert!((found.interval.high + reverse.interval.low).abs() < 1e-9);
    }
}
