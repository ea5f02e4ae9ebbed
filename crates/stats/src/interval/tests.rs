use fastrand::Rng;
use proptest::prelude::*;

use super::*;
use crate::simulate::Law;

fn squares(count: u32) -> Sample {
    Sample::new((1..=count).map(|n| f64::from(n * n)).collect()).unwrap()
}

/// The ends against `scipy.stats.quantile_test` of SciPy 1.17.1, the confidence against counting: 1 − 2 Σ C(n, i) / 2ⁿ.
#[test]
fn golden_order_statistics() {
    for (n, low, high, confidence) in [
        (6, 1.0, 36.0, 1.0 - 2.0 / 64.0),
        (7, 1.0, 49.0, 1.0 - 2.0 / 128.0),
        (8, 1.0, 64.0, 1.0 - 2.0 / 256.0),
        (9, 4.0, 64.0, 1.0 - 2.0 * (1.0 + 9.0) / 512.0),
    ] {
        let found = median_interval(&squares(n), 0.95).unwrap();
        assert_eq!((found.low, found.high), (low, high));
        assert!((found.confidence - confidence).abs() < 1e-12, "{found:?}");
    }
}

/// By hand, for the values 1 to n. For n = 10 the pairs x₂, x₉ and x₃, x₈ have confidence 1 − 22/1024 and 1 − 112/1024, so
/// the share is (51.2 − 22) / 90 = 73/225, and the weight of the inner pair (8 · 73/225) / (2 + 6 · 73/225) = 73/111. For n = 15
/// the pairs x₄, x₁₂ and x₅, x₁₁ have 1 − 1152/32768 and 1 − 3882/32768: (1638.4 − 1152) / 2730 = 2432/13650, and the weight
/// (11 · 2432) / (4 · 13650 + 7 · 2432) = 26752/71624.
#[test]
fn golden_interpolation() {
    for (n, outer, weight) in [(10_u32, 2.0, 73.0 / 111.0), (15, 4.0, 26752.0 / 71624.0)] {
        let sample = Sample::new((1..=n).map(f64::from).collect()).unwrap();
        let found = median_interval(&sample, 0.95).unwrap();
        assert!((found.low - (outer + weight)).abs() < 1e-9, "{found:?}");
        assert!((found.high - (f64::from(n + 1) - outer - weight)).abs() < 1e-9, "{found:?}");
        assert_eq!(found.confidence, 0.95);
    }
}

#[test]
fn what_has_no_interval() {
    for n in 1..LEAST_FOR_INTERVAL as u32 {
        assert_eq!(median_interval(&squares(n), 0.5), None);
    }
    for confidence in [0.97, 0.999, 1.0, 0.0, -1.0, f64::NAN] {
        assert_eq!(median_interval(&squares(6), confidence), None, "{confidence}");
    }
    let equal = median_interval(&Sample::new(vec![7.0; 12]).unwrap(), 0.95).unwrap();
    assert_eq!((equal.low, equal.high), (7.0, 7.0));
}

#[test]
fn ends_belong_to_it() {
    let interval = median_interval(&squares(6), 0.95).unwrap();
    assert!(interval.covers(1.0) && interval.covers(36.0) && !interval.covers(0.9) && !interval.covers(36.1));
    assert_eq!(interval.half_width(), 17.5);
}

/// 10,000 samples of each kind; three standard errors are 0.65 %.
#[test]
fn it_holds_the_median_as_often_as_it_says() {
    let mut random = Rng::with_seed(15);
    for law in [Law::Normal(0.02), Law::Lognormal(0.5), Law::Bimodal] {
        for n in [6, 9, 10, 15, 30] {
            let held = |_: &u32| {
                let sample = Sample::new(law.draw(n, &mut random)).unwrap();
                median_interval(&sample, 0.95).unwrap().covers(law.median())
            };
            let share = (0..10_000_u32).filter(held).count() as f64 / 1e4;
            let most = if n < LEAST_FOR_INTERPOLATION { 1.0 } else { 0.96 };
            assert!((0.94..=most).contains(&share), "{law:?}, {n} values: {share}");
        }
    }
}

proptest! {
    #[test]
    fn more_confidence_is_wider(
        values in prop::collection::vec(-1e6..1e6_f64, 6..60),
        confidences in (0.01..0.96_f64, 0.01..0.96_f64),
    ) {
        let sample = Sample::new(values).unwrap();
        let [less, more] = [confidences.0.min(confidences.1), confidences.0.max(confidences.1)]
            .map(|confidence| median_interval(&sample, confidence).unwrap());
        prop_assert!(more.low <= less.low && less.low <= less.high && less.high <= more.high);
        prop_assert!(less.covers(sample.median()));
    }

    #[test]
    fn mirrored_values_have_the_mirrored_interval(values in prop::collection::vec(-1e6..1e6_f64, 6..60)) {
        let sample = |sign: f64| Sample::new(values.iter().map(|v| v * sign).collect()).unwrap();
        let [one, other] = [1.0, -1.0].map(|sign| median_interval(&sample(sign), 0.95).unwrap());
        prop_assert_eq!((one.low, one.high), (-other.high, -other.low));
    }
}
