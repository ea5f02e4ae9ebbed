//! Known answers, and how often it is right.

use fastrand::Rng;
use proptest::prelude::*;

use super::split::{Split, Splitter};
use super::*;
use crate::simulate::Law;

const ALPHA: f64 = 0.01;

fn of_one(values: &[f64]) -> Vec<usize> {
    changes(&[values], ALPHA)[0].iter().map(|change| change.at).collect()
}

/// Normal values with these factors, one after the other.
fn steps(deviation: f64, parts: &[(usize, f64)], random: &mut Rng) -> Vec<f64> {
    let part = |(count, factor): &(usize, f64)| {
        Law::Normal(deviation).draw(*count, random).iter().map(|value| value * factor).collect::<Vec<_>>()
    };
    parts.iter().flat_map(part).collect()
}

/// The divergence as its authors write it, and all cuts tried one by one.
fn by_definition(values: &[f64]) -> Option<Split> {
    let between = |left: &[f64], right: &[f64]| -> f64 {
        left.iter().flat_map(|a| right.iter().map(move |b| (a - b).abs())).sum()
    };
    let pairs = |side: &[f64]| (side.len() * (side.len() - 1)) as f64 / 2.0;
    let mut best: Option<Split> = None;
    for at in LEAST_SEGMENT..values.len() {
        for end in at + LEAST_SEGMENT..=values.len() {
            let (left, right) = (&values[..at], &values[at..end]);
            let (l, r) = (left.len() as f64, right.len() as f64);
            let energy = 2.0 / (l * r) * between(left, right)
                - between(left, left) / 2.0 / pairs(left)
                - between(right, right) / 2.0 / pairs(right);
            let divergence = l * r / (l + r) * energy;
            if best.is_none_or(|best| divergence > best.divergence + 1e-12) {
                best = Some(Split { at, divergence });
            }
        }
    }
    best
}

#[test]
fn a_step_is_found_where_it_is() {
    let mut random = Rng::with_seed(1);
    assert_eq!(of_one(&steps(0.01, &[(12, 1.0), (12, 0.8)], &mut random)), [12]);
    assert_eq!(of_one(&steps(0.01, &[(15, 1.0), (15, 1.3), (15, 0.9)], &mut random)), [15, 30]);
    // There and back: the whole right side would be a mixture.
    assert_eq!(of_one(&steps(0.01, &[(20, 1.0), (8, 1.3), (20, 1.0)], &mut random)), [20, 28]);
}

#[test]
fn a_level_has_three_values() {
    let mut random = Rng::with_seed(2);
    assert_eq!(of_one(&steps(0.01, &[(20, 1.0), (3, 0.8)], &mut random)), [20]);
    assert_eq!(of_one(&steps(0.01, &[(20, 1.0), (2, 0.8)], &mut random)), [0; 0]);
}

#[test]
fn too_few_equal_and_zero_values_have_no_change() {
    assert_eq!(of_one(&[]), [0; 0]);
    assert_eq!(of_one(&[1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0, 9.0]), [0; 0]);
    assert_eq!(of_one(&[1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0, 9.0]), [5]);
    assert_eq!(of_one(&[7.0; 40]), [0; 0]);
    assert_eq!(of_one(&[0.0; 40]), [0; 0]);
}

/// Not shuffled: that would take minutes without optimisation.
#[test]
fn of_long_series_the_last_values_are_examined() {
    let mut series = vec![1.0; MOST_FOR_CHANGE];
    series.extend([2.0; 20]);
    let mut search = Search::new(&series).unwrap();
    search.take(0.0);
    assert_eq!(search.into_changes()[0].at, MOST_FOR_CHANGE);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_incremental_sums_are_the_definition(values in prop::collection::vec(-1.0..1.0_f64, 0..14)) {
        match (Splitter::default().best(&values), by_definition(&values)) {
            (None, None) => {}
            (Some(quick), Some(slow)) => {
                prop_assert!((quick.divergence - slow.divergence).abs() < 1e-9, "{quick:?} {slow:?}");
            }
            (quick, slow) => prop_assert!(false, "{quick:?} {slow:?}"),
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn units_do_not_matter_and_answers_repeat(seed in any::<u64>(), scale in 0.001..1000.0_f64) {
        let values = steps(0.02, &[(10, 1.0), (10, 0.9)], &mut Rng::with_seed(seed));
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let found = changes(&[&values, &values], ALPHA);
        prop_assert_eq!(&found[0], &found[1]);
        let places = |found: &[Change]| found.iter().map(|change| change.at).collect::<Vec<_>>();
        prop_assert_eq!(places(&found[0]), places(&changes(&[&values, &scaled], ALPHA)[1]));
        prop_assert!(found[0].iter().all(|change| change.adjusted_p < ALPHA && change.p <= change.adjusted_p));
        prop_assert!(found[0].iter().all(|change| (LEAST_SEGMENT..=20 - LEAST_SEGMENT).contains(&change.at)));
    }
}

/// In how many of `count` series a change is found near the place, and in how many elsewhere.
fn simulated(parts: &[(usize, f64)], deviation: f64, count: usize) -> (usize, usize) {
    let mut random = Rng::with_seed(2014);
    let (mut found, mut elsewhere) = (0, 0);
    for _ in 0..count {
        let places = of_one(&steps(deviation, parts, &mut random));
        let near = |at: &usize| parts.len() > 1 && at.abs_diff(parts[0].0) <= 2;
        found += usize::from(places.iter().any(near));
        elsewhere += usize::from(places.iter().any(|at| !near(at)));
    }
    (found, elsewhere)
}

/// Some of the figures that the documentation states, with fewer series.
#[test]
fn shifts_are_found_and_constant_series_have_none() {
    for (parts, deviation, count, least) in [
        (&[(20, 1.0), (20, 0.95)][..], 0.03, 12, 6),
        (&[(20, 1.0), (5, 0.9)], 0.03, 8, 6),
        (&[(20, 1.0), (3, 0.95)], 0.01, 8, 7),
    ] {
        let (found, elsewhere) = simulated(parts, deviation, count);
        assert!(found >= least && elsewhere <= count / 4, "{parts:?}: {found}, elsewhere {elsewhere}");
    }
    let (_, called) = simulated(&[(30, 1.0)], 0.03, 60);
    assert!(called <= 3, "{called} of 60 calm series");
}

/// Fifty series of which five change: few of those that are called have not.
#[test]
fn among_many_series_those_that_changed_are_called() {
    let mut random = Rng::with_seed(50);
    let factor = |n: usize| if n < 5 { 0.85 } else { 1.0 };
    let series: Vec<Vec<f64>> = (0..50).map(|n| steps(0.02, &[(12, 1.0), (8, factor(n))], &mut random)).collect();
    let series: Vec<&[f64]> = series.iter().map(Vec::as_slice).collect();
    let found = changes(&series, ALPHA);
    let right = found[..5].iter().filter(|found| found.iter().any(|change| change.at.abs_diff(12) <= 1)).count();
    let wrong = found[5..].iter().filter(|found| !found.is_empty()).count();
    assert!(right == 5 && wrong <= 1, "{right} of 5, and {wrong} of 45 that have not changed");
}
