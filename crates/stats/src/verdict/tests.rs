use proptest::prelude::*;

use super::*;

mod simulated;

fn rule() -> Rule {
    Rule::new(0.01, 0.02).expect("it is the usual one")
}

fn pair<'a>(base: &'a [f64], new: &'a [f64]) -> Pair<'a> {
    Pair { base, new, better: Better::Higher }
}

/// `count` values from `first` to `last`, evenly.
fn even(count: usize, first: f64, last: f64) -> Vec<f64> {
    (0..count).map(|n| first + (last - first) * n as f64 / (count - 1).max(1) as f64).collect()
}

#[test]
fn rules_are_checked() {
    for (alpha, margin) in
        [(0.0, 0.02), (1.0, 0.02), (f64::NAN, 0.02), (0.01, -0.1), (0.01, f64::NAN), (0.01, f64::INFINITY)]
    {
        assert_eq!(Rule::new(alpha, margin), None, "{alpha}, {margin}");
    }
    assert_eq!(Rule::new(0.05, 0.0).map(|rule| (rule.alpha(), rule.margin())), Some((0.05, 0.0)));
}

#[test]
fn verdicts() {
    use Verdict::{Faster, Inconclusive, Same, Slower};
    #[track_caller]
    fn check(base: &[f64], new: &[f64], expected: Verdict) {
        assert_eq!(compare_one(pair(base, new), &rule()).verdict, expected);
        let times = Pair { base: new, new: base, better: Better::Lower };
        assert_eq!(compare_one(times, &rule()).verdict, expected, "as times, the other way round");
    }
    let base = even(10, 99.0, 101.0);
    check(&base, &even(10, 108.0, 110.0), Faster);
    check(&base, &even(10, 90.0, 92.0), Slower);
    check(&base, &even(10, 99.05, 101.05), Same);
    // All of the interval is inside, and the rank test is sure that there is a difference: it is a difference within the margin.
    check(&even(10, 100.0, 100.1), &even(10, 101.0, 101.1), Same);
    check(&base, &even(10, 101.5, 103.5), Inconclusive(Doubt::AtMargin));
    check(&even(10, 80.0, 120.0), &even(10, 84.0, 126.0), Inconclusive(Doubt::TooNoisy));
    check(&[5.0; 10], &[5.0; 10], Same);
    check(&[5.0; 5], &[6.0; 5], Faster);
    check(&base, &even(4, 200.0, 201.0), Inconclusive(Doubt::TooFew { needed: 5 }));
    check(&[1.0], &[2.0], Inconclusive(Doubt::TooFew { needed: 5 }));
    check(&[], &[], Inconclusive(Doubt::TooFew { needed: 5 }));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        check(&base, &[vec![bad], base.clone()].concat(), Inconclusive(Doubt::NotPositive));
    }
}

#[test]
fn small_sides_keep_their_estimate() {
    let found = compare_one(pair(&[100.0, 100.0], &[110.0]), &rule());
    assert!((found.effect.unwrap() - 1.1).abs() < 1e-12);
    assert_eq!((found.interval, found.p, found.smallest_effect), (None, None, None));
    assert_eq!(compare_one(pair(&[], &[110.0]), &rule()).effect, None);
    // A stricter rule needs more.
    let strict = Rule::new(0.001, 0.02).unwrap();
    let found = compare_one(pair(&[1.0; 6], &[2.0; 6]), &strict);
    assert_eq!(found.verdict, Verdict::Inconclusive(Doubt::TooFew { needed: 7 }));
    assert_eq!(compare_one(pair(&[1.0; 7], &[2.0; 7]), &strict).verdict, Verdict::Faster);
}

/// By hand: with 5 against 5 the critical U at 1 % is 0, and the interval reaches from the smallest to the largest ratio, with
/// confidence 1 − 2/252.
#[test]
fn golden() {
    let found = compare_one(pair(&[100.0, 101.0, 102.0, 103.0, 104.0], &[206.0, 207.0, 208.0, 209.0, 210.0]), &rule());
    let interval = found.interval.unwrap();
    for (found, expected) in [
        (interval.low, 206.0 / 104.0),
        (interval.high, 210.0 / 100.0),
        (interval.confidence, 1.0 - 2.0 / 252.0),
        (found.p.unwrap(), 2.0 / 252.0),
        (found.adjusted_p.unwrap(), 2.0 / 252.0),
    ] {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
    assert_eq!(found.verdict, Verdict::Faster);
}

#[test]
fn many_comparisons_ask_for_more() {
    let (base, same, faster) = (even(6, 99.0, 101.0), even(6, 99.1, 101.1), even(6, 120.0, 122.0));
    let batch = |others: usize, faster_ones: usize| {
        let mut pairs = vec![pair(&base, &same); others];
        pairs.extend(vec![pair(&base, &faster); faster_ones]);
        compare(&pairs, &rule()).pop().unwrap()
    };
    assert_eq!(batch(3, 1).verdict, Verdict::Faster);
    // Of 6 against 6 the smallest p is 2/924, and 5 times that is above 1 %.
    let alone = batch(4, 1);
    assert_eq!(alone.verdict, Verdict::Inconclusive(Doubt::TooFewForSoMany { needed: 7, comparisons: 5 }));
    assert_eq!(alone.smallest_effect, None);
    // What many share can be told again.
    let shared = batch(4, 2);
    assert_eq!(shared.verdict, Verdict::Faster);
    assert!(shared.smallest_effect.is_some());
    // Pairs that cannot have a verdict do not count.
    let few = [1.0, 2.0];
    let mut pairs = vec![pair(&few, &few); 50];
    pairs.push(pair(&base, &faster));
    assert_eq!(compare(&pairs, &rule()).pop().unwrap().verdict, Verdict::Faster);
}

#[test]
fn chance_among_many_is_named() {
    // Sure by itself (p of 0.0087, the interval beyond the margin), and not among ten; yet a larger difference could be shown.
    let base = [100.0, 100.1, 100.2, 100.3, 104.0, 104.1, 100.4, 100.5];
    let new = [104.5, 104.6, 104.7, 104.8, 104.9, 103.9, 100.6, 105.0];
    let mut pairs = vec![pair(&base, &base); 9];
    pairs.push(pair(&base, &new));
    let without_margin = Rule::new(0.01, 0.0).unwrap();
    assert_eq!(compare_one(pair(&base, &new), &without_margin).verdict, Verdict::Faster);
    let found = compare(&pairs, &without_margin).pop().unwrap();
    assert_eq!(found.verdict, Verdict::Inconclusive(Doubt::PerhapsChance), "{found:?}");
}

#[test]
fn doubts_are_clauses() {
    for doubt in [
        Doubt::NotPositive,
        Doubt::TooFew { needed: 5 },
        Doubt::TooFewForSoMany { needed: 7, comparisons: 5 },
        Doubt::PerhapsChance,
        Doubt::AtMargin,
        Doubt::TooNoisy,
    ] {
        let text = doubt.to_string();
        assert!(text.starts_with(char::is_lowercase) && !text.ends_with('.'), "{text}");
    }
    assert!(Doubt::TooFew { needed: 5 }.to_string().contains('5'));
}

fn side() -> impl Strategy<Value = Vec<f64>> {
    // Steps of a thousandth, so there are ties.
    prop::collection::vec((900..1100_i32).prop_map(|n| f64::from(n) / 1000.0), 1..14)
}

fn opposite(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        other => other,
    }
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-9,
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn nothing_differs_from_itself(values in side()) {
        let found = compare_one(pair(&values, &values), &rule());
        prop_assert!(!matches!(found.verdict, Verdict::Faster | Verdict::Slower));
        prop_assert!(near(found.effect, Some(1.0)));
    }

    #[test]
    fn exchanging_the_sides_turns_everything_round(base in side(), new in side()) {
        let (there, back) = (compare_one(pair(&base, &new), &rule()), compare_one(pair(&new, &base), &rule()));
        prop_assert_eq!(there.verdict, opposite(back.verdict));
        prop_assert!(near(there.effect, back.effect.map(|effect| 1.0 / effect)));
        prop_assert!(near(there.interval.map(|i| i.low), back.interval.map(|i| 1.0 / i.high)));
        prop_assert!(near(there.smallest_effect, back.smallest_effect));
        prop_assert_eq!(there.p, back.p);
    }

    #[test]
    fn times_are_rates_upside_down(base in side(), new in side()) {
        let upside_down = |values: &[f64]| values.iter().map(|v| 1.0 / v).collect::<Vec<_>>();
        let (base_times, new_times) = (upside_down(&base), upside_down(&new));
        let as_times = compare_one(Pair { base: &base_times, new: &new_times, better: Better::Lower }, &rule());
        let as_rates = compare_one(pair(&base, &new), &rule());
        prop_assert_eq!(as_times.verdict, as_rates.verdict);
        prop_assert!(near(as_times.effect, as_rates.effect));
    }

    #[test]
    fn the_unit_does_not_matter(base in side(), new in side(), unit in 1e-9..1e9_f64) {
        let scaled = |values: &[f64]| values.iter().map(|v| v * unit).collect::<Vec<_>>();
        let (one, other) = (compare_one(pair(&base, &new), &rule()), compare_one(pair(&scaled(&base), &scaled(&new)), &rule()));
        prop_assert_eq!(one.verdict, other.verdict);
        prop_assert!(near(one.effect, other.effect) && near(one.smallest_effect, other.smallest_effect));
    }

    #[test]
    fn scaling_one_side_scales_the_effect(base in side(), new in side(), factor in 0.1..10.0_f64) {
        let scaled: Vec<f64> = new.iter().map(|v| v * factor).collect();
        let (one, other) = (compare_one(pair(&base, &new), &rule()), compare_one(pair(&base, &scaled), &rule()));
        prop_assert!(near(one.effect.map(|effect| effect * factor), other.effect));
    }

    #[test]
    fn order_does_not_matter((base, shuffled) in side().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle())), new in side()) {
        prop_assert_eq!(compare_one(pair(&base, &new), &rule()), compare_one(pair(&shuffled, &new), &rule()));
    }

    #[test]
    fn verdicts_agree_with_intervals_and_p_values(sides in prop::collection::vec((side(), side()), 1..20)) {
        let pairs: Vec<Pair<'_>> = sides.iter().map(|(base, new)| pair(base, new)).collect();
        let found = compare(&pairs, &rule());
        prop_assert_eq!(found.len(), pairs.len());
        for (comparison, pair) in found.iter().zip(&pairs) {
            let few = pair.base.len().min(pair.new.len()) < LEAST_FOR_VERDICT;
            prop_assert_eq!(few, comparison.interval.is_none());
            let Some(interval) = comparison.interval else { continue };
            prop_assert!(interval.covers(comparison.effect.unwrap()) && interval.confidence >= 0.99);
            prop_assert!(comparison.adjusted_p >= comparison.p);
            let sure = comparison.adjusted_p.unwrap() < 0.01;
            prop_assert_eq!(comparison.verdict == Verdict::Faster, sure && interval.low > 1.02);
            prop_assert_eq!(comparison.verdict == Verdict::Slower, sure && interval.high < 1.0 / 1.02);
            prop_assert_eq!(comparison.verdict == Verdict::Same, interval.low >= 1.0 / 1.02 && interval.high <= 1.02);
        }
    }
}

/// Runs of the base and of the new side in the order of time, and what is said of them as sets and as series.
#[test]
fn sides_in_sequence() {
    let noise = [0.0, 0.7, -0.3, 0.4, -0.8, 0.2, -0.5, 0.9, -0.1, 0.5].map(|at| 0.002 * at);
    let around = |level: f64| noise.map(|at| level * (1.0 + at)).to_vec();
    let rising = |from: f64| (0..10).map(|at| from * (1.0 + 0.005 * f64::from(at) + noise[at as usize])).collect();
    let wave = |level: f64, by: f64| -> Vec<f64> {
        (0..10).map(|at| level * (1.0 + by * (0.45 * f64::from(at)).sin() + noise[at as usize])).collect()
    };
    let with = |mut values: Vec<f64>, other: f64, places: &[usize]| {
        places.iter().for_each(|&at| values[at] = other * (1.0 + noise[at]));
        values
    };
    let inconclusive = Verdict::Inconclusive;
    let table: [(Vec<f64>, Vec<f64>, Verdict, Verdict); 8] = [
        (around(1.0), around(1.1), Verdict::Faster, Verdict::Faster),
        (around(1.0), around(1.0), Verdict::Same, Verdict::Same),
        (rising(1.0), rising(1.06), Verdict::Faster, inconclusive(Doubt::Drift)),
        // Far beyond what it may be from one to the other.
        (rising(1.0), rising(2.0), Verdict::Faster, Verdict::Faster),
        (wave(1.0, 0.03), wave(0.92, 0.03), Verdict::Slower, inconclusive(Doubt::Correlated)),
        // The speed of the new side was there at the end of the base.
        (with(around(1.0), 0.77, &[9]), around(0.77), Verdict::Slower, inconclusive(Doubt::Seen)),
        (with(around(1.0), 0.77, &[0, 1, 2]), around(0.77), inconclusive(Doubt::AtMargin), inconclusive(Doubt::Seen)),
        // Two of ten at half speed are below both, and hide the difference from the test of all.
        (around(1.0), with(around(1.1), 0.5, &[2, 7]), inconclusive(Doubt::TooNoisy), Verdict::Faster),
    ];
    for (base, new, of_sets, in_sequence) in table {
        let rule = Rule::new(ALPHA, 0.02).unwrap();
        let pair = Pair { base: &base, new: &new, better: Better::Higher };
        let found = [rule, rule.in_sequence()].map(|rule| compare_one(pair, &rule).verdict);
        assert_eq!(found, [of_sets, in_sequence], "{base:?} {new:?}");
    }
}
