use fastrand::Rng;
use proptest::prelude::*;

use super::*;
use crate::simulate::{Law, sample};

const A: [f64; 9] = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
#[expect(clippy::approx_constant, reason = "3.14 is a value like any other here")]
const B: [f64; 9] = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.07, 3.14, 1.28];

/// Against SciPy 1.17.1: `mannwhitneyu(method="exact")` without ties, `permutation_test` of the midrank sum over all ways with
/// ties, `mannwhitneyu(method="asymptotic")` beyond 40 values.
#[test]
fn golden() {
    #[track_caller]
    fn check(base: &[f64], new: &[f64], expected: f64) {
        let p = Ranks::default().p(&sample(base), &sample(new));
        assert!((p - expected).abs() <= 1e-9 * expected, "{p} is not {expected}");
    }
    check(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0], 0.007_936_507_936_507_936);
    check(&A, &B, 0.135_911_147_675_855_73);
    check(&[1.0, 4.0, 6.0, 7.5, 8.0], &[2.0, 3.0, 5.0, 7.0, 9.0, 10.5, 11.0], 0.530_303_030_303_030_4);
    check(&[1.0, 2.0, 2.0, 3.0, 4.0], &[2.0, 3.0, 3.0, 5.0, 6.0, 6.0], 0.121_212_121_212_121_22);
    check(&[5.0; 5], &[5.0, 5.0, 5.0, 5.0, 6.0], 1.0);
    check(&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0], &[3.0, 3.0, 4.0, 4.0, 5.0, 5.0], 0.012_987_012_987_012_988);
    check(&[7.0; 4], &[7.0; 3], 1.0);
    check(&[7.0; 40], &[7.0; 30], 1.0);
    let base: Vec<f64> = (0..25).map(|i| f64::from(i * 37 % 101)).collect();
    let new: Vec<f64> = (0..30).map(|i| f64::from(i * 53 % 97 + 9)).collect();
    check(&base, &new, 0.548_437_713_385_843_1);
}

/// Against all shifts that SciPy's exact test, at each of them, does not refuse.
#[test]
fn golden_intervals() {
    for (base, new, alpha, low, high, estimate) in [
        (&A[..], &B[..], 0.05, -1.183, 0.37, -0.56),
        (&A, &B, 0.01, -1.41, 0.66, -0.56),
        (&A[..6], &B[..7], 0.05, -1.233, 0.37, -0.751),
        (&A[..6], &B[..7], 0.01, -1.42, 0.56, -0.751),
    ] {
        let shift = Shift::new(base, new);
        let found = shift.interval(&Null::untied(base.len(), new.len()), alpha).unwrap();
        assert!((found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9, "{found:?}");
        assert!((shift.estimate() - estimate).abs() < 1e-9);
    }
}

#[test]
fn few_values_show_little() {
    let far = |base: usize, new: usize| Ranks::default().p(&sample(&vec![1.0; base]), &sample(&vec![2.0; new]));
    assert_eq!(far(1, 1), 1.0);
    assert_eq!(far(1, 2), 2.0 / 3.0);
    assert_eq!(far(4, 4), 2.0 / 70.0);
}

#[test]
fn how_many_it_takes() {
    for (comparisons, alpha, expected) in
        [(0, 0.01, 5), (1, 0.01, 5), (100, 0.01, 9), (100_000, 0.01, 14), (1, 0.05, 4)]
    {
        assert_eq!(min_invocations(comparisons, alpha), expected, "{comparisons} at {alpha}");
    }
    assert!(min_invocations(usize::MAX, 1e-9) > COUNTED / 2);
}

/// Just below the size up to which it is counted out, the approximation is close to the count, and on the cautious side.
#[test]
fn the_approximation_joins_the_count() {
    let exact = Null::untied(20, 20);
    let approximate = Null::Normal { mean: 400.0, deviation: 2.0 * (400.0 * 41.0 / 12.0_f64).sqrt() };
    for doubled_u in (200..=260).step_by(2).chain((540..=600).step_by(2)) {
        let (exact, approximate) = (exact.two_sided(doubled_u), approximate.two_sided(doubled_u));
        assert!((1.0..1.2).contains(&(approximate / exact)), "{doubled_u}: {exact}, {approximate}");
    }
}

/// 10,000 pairs without a difference, each kind and size; three standard errors of 1 % are 0.3 %.
#[test]
fn false_calls_are_as_rare_as_asked() {
    let mut random = Rng::with_seed(12);
    let mut ranks = Ranks::default();
    for law in [Law::Normal(0.02), Law::Lognormal(0.5), Law::Bimodal] {
        for (base, new) in [(6, 6), (10, 10), (25, 25)] {
            let mut called = |_: &u32| {
                let (base, new) = (law.draw(base, &mut random), law.draw(new, &mut random));
                ranks.p(&sample(&base), &sample(&new)) < 0.01
            };
            let share = (0..10_000).filter(|trial| called(trial)).count() as f64 / 1e4;
            assert!((0.004..=0.013).contains(&share), "{law:?}, {base} and {new} values: {share}");
        }
    }
}

/// Few different values, so most samples have ties.
fn coarse() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0..6).prop_map(f64::from), 1..7)
}

proptest! {
    /// Against every way to deal the values to the sides, one by one.
    #[test]
    fn exact_with_ties(base in coarse(), new in coarse()) {
        let all = [base.as_slice(), &new].concat();
        let doubled_rank = |value: f64| {
            let below = all.iter().filter(|v| **v < value).count();
            2 * below + all.iter().filter(|v| **v == value).count() + 1
        };
        let observed: usize = new.iter().map(|v| doubled_rank(*v)).sum();
        let mut ways = [0_usize; 3];
        for deal in (0_u32..1 << all.len()).filter(|deal| deal.count_ones() as usize == new.len()) {
            let sum: usize = (0..all.len()).filter(|i| deal >> i & 1 == 1).map(|i| doubled_rank(all[i])).sum();
            ways[0] += 1;
            ways[1] += usize::from(sum <= observed);
            ways[2] += usize::from(sum >= observed);
        }
        let expected = (2.0 * ways[1].min(ways[2]) as f64 / ways[0] as f64).min(1.0);
        let p = Ranks::default().p(&sample(&base), &sample(&new));
        prop_assert!((p - expected).abs() < 1e-12, "{} is not {}", p, expected);
    }

    #[test]
    fn exchanging_the_sides_changes_nothing(base in coarse(), new in coarse()) {
        let (base, new) = (sample(&base), sample(&new));
        let mut ranks = Ranks::default();
        prop_assert_eq!(ranks.p(&base, &new), ranks.p(&new, &base));
    }

    /// The duality of test and interval.
    #[test]
    fn the_interval_excludes_what_the_test_refuses(
        base in prop::collection::vec(0.0..1.0_f64, 5..12),
        new in prop::collection::vec(0.0..1.0_f64, 5..12),
        shift in -1.0..1.0_f64,
        alpha in 0.01..0.2_f64,
    ) {
        let moved: Vec<f64> = new.iter().map(|v| v + shift).collect();
        let (low, high, _) =
            Shift::new(sample(&base).values(), sample(&moved).values()).interval(&Null::untied(base.len(), new.len()), alpha).unwrap();
        let refused = Ranks::default().p(&sample(&base), &sample(&moved)) < alpha;
        prop_assert_eq!(refused, low > 0.0 || high < 0.0);
    }
}
