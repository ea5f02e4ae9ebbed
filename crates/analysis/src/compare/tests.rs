//! Comparisons of synthetic reports.

mod repeats;
mod unlike;

use proptest::prelude::*;

use super::*;
use charz_data::params::{Layout, Params, Period};
use charz_data::report::{Cell, Ending, Estimator, Invocation, Lap, Measured, Run, Severity, Status, Unit, fixtures};
use charz_data::{Growth, GrowthStep, Halt, PageKind};
use charz_stats::Sample;

/// A report with these cells: the name of the kernel, and one value an invocation.
fn report(cells: &[(&str, &[f64])]) -> Report {
    fixtures::report(cells.iter().map(|(kernel, values)| cell(kernel, values)).collect())
}

fn cell(kernel: &str, values: &[f64]) -> Cell {
    let invocation = |value: &f64| Invocation { value: Some(*value), ..fixtures::barren(Ending::Done) };
    Cell {
        invocations: values.iter().map(invocation).collect(),
        summary: None,
        capacity: Sample::new(values.to_vec()).map(|all| Measured { value: all.median(), interval: None }),
        precision: 0.01,
        repetitions: 3,
        ..fixtures::cell(kernel, 1, Unit::OpsPerSecond, 1.0).under("round-robin").seated(&[0])
    }
}

/// Ten values around one, with half a percent of spread, times `factor`.
fn around(factor: f64) -> Vec<f64> {
    (0..10).map(|at| factor * (1.0 + 0.001 * f64::from((at * 7) % 10))).collect()
}

#[track_caller]
fn check(base: &Report, new: &Report, options: Options, expected: &[(Verdict, &str)]) {
    let comparison = compare(base, new, &options).unwrap_or_else(|refusal| panic!("{refusal}"));
    let found: Vec<_> = comparison.rows.iter().map(|row| (row.verdict, row.reason.as_deref().unwrap_or(""))).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((verdict, reason), (wanted, word)) in found.iter().zip(expected) {
        assert!(verdict == wanted && reason.contains(word), "{verdict:?} {reason:?}, not {wanted:?} {word:?}");
        assert_eq!(reason.is_empty(), word.is_empty(), "{reason:?}");
    }
}

#[track_caller]
fn check_refused(base: &Report, new: &Report, options: Options, word: &str) -> Refusal {
    match compare(base, new, &options) {
        Err(refusal) => {
            assert!(refusal.to_string().contains(word), "{word:?} is missing: {refusal}");
            refusal
        }
        Ok(comparison) => panic!("not refused for {word:?}: {:?}", comparison.totals),
    }
}

#[track_caller]
fn check_nothing(base: &Report, new: &Report, options: Options, word: &str) {
    assert!(matches!(check_refused(base, new, options, word), Refusal::Nothing(_)), "{word}");
}

#[test]
fn verdicts() {
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0)), ("c", &around(1.0)), ("d", &around(1.0)[..3])]);
    let new = report(&[("c", &around(1.001)), ("b", &around(0.9)), ("a", &around(1.1)), ("d", &around(0.5)[..3])]);
    let expected =
        [(Verdict::Faster, ""), (Verdict::Slower, ""), (Verdict::Same, ""), (Verdict::Inconclusive, "too few runs")];
    check(&base, &new, Options::default(), &expected);
    let totals = compare(&base, &new, &Options::default()).unwrap().totals;
    let counts = (totals.faster, totals.slower, totals.same, totals.inconclusive, totals.uncompared);
    assert_eq!(counts, (1, 1, 1, 1, 0));
    assert_eq!(totals.fewest, 3);
}

#[test]
fn cells_of_other_parameters_are_other_cells() {
    let of_sizes = |sizes: [u64; 2], factor: f64| {
        let mut report = report(&[("a", &around(factor)), ("a", &around(factor))]);
        for (cell, size) in report.cells.iter_mut().zip(sizes) {
            cell.point.size_bytes = Some(size);
        }
        report
    };
    let (base, new) = (of_sizes([64, 128], 1.0), of_sizes([128, 256], 1.1));
    let expected = [
        (Verdict::Uncompared, "in the new report"),
        (Verdict::Faster, ""),
        (Verdict::Uncompared, "in the base report"),
    ];
    check(&base, &new, Options::default(), &expected);
}

#[test]
fn less_time_is_faster() {
    let mut reports = [report(&[("a", &around(1e3))]), report(&[("a", &around(2e3))])];
    reports.iter_mut().for_each(|report| report.cells[0].unit = Unit::Nanoseconds);
    check(&reports[0], &reports[1], Options::default(), &[(Verdict::Slower, "")]);
}

#[test]
fn six_invocations_show_one_difference_and_not_one_of_many() {
    let six = |factor| around(factor)[..6].to_vec();
    check(&report(&[("a", &six(1.0))]), &report(&[("a", &six(0.5))]), Options::default(), &[(Verdict::Slower, "")]);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let all = |first: f64| {
        let values: Vec<_> = names.iter().map(|name| six(if *name == "a" { first } else { 1.0 })).collect();
        report(&names.iter().zip(&values).map(|(name, values)| (*name, &values[..])).collect::<Vec<_>>())
    };
    let comparison = compare(&all(1.0), &all(0.5), &Options::default()).unwrap();
    let reason = comparison.rows[0].reason.as_deref().unwrap();
    assert_eq!(comparison.rows[0].verdict, Verdict::Inconclusive);
    let needed = comparison.totals.needed;
    assert!(needed > 6 && reason.contains("8 comparisons") && reason.contains(&needed.to_string()), "{reason}");
}

#[test]
fn what_is_skipped_does_not_hide_a_difference() {
    let values = around(0.6);
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0)), ("c", &around(1.0)), ("d", &around(1.0)[..3])]);
    let mut new = report(&[("a", &around(1.0)), ("b", &values), ("c", &around(1.01)), ("d", &values[..3])]);
    for at in [1, 2] {
        (new.cells[at].status, new.cells[at].reason) = ended(Status::Suspect, "waited");
    }
    let comparison = compare(&base, &new, &Options::default()).unwrap();
    assert_eq!((comparison.totals.uncompared, comparison.totals.inconclusive, comparison.totals.open), (2, 1, 2));
    let row = &comparison.rows[1];
    assert!(row.apart && (row.effect.unwrap() - 0.6).abs() < 0.01 && row.interval.unwrap().high < 0.7, "{row:?}");
    let sentence = comparison.sentence("new");
    for words in [
        "1 of the 2 skipped differs: b round-robin x1 by −40.0%, surely",
        "the one inconclusive differs: d round-robin x1 by −40.0%, in too few",
        "1 the same within ±4.0%",
    ] {
        assert!(sentence.contains(words), "{words:?}: {sentence}");
    }
    // Where nothing could be compared it is said too.
    let [base, new] = [base, new].map(|mut report| {
        report.cells.truncate(2);
        report.cells.remove(0);
        report
    });
    check_nothing(&base, &new, Options::default(), "the one skipped differs: b round-robin x1 by −40.0%");
}

#[test]
fn the_answer_is_a_sentence_with_the_ratio() {
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
    let new = report(&[("a", &around(1.31)), ("b", &around(1.0))]);
    let comparison = compare(&base, &new, &Options::default()).unwrap();
    let sentence = comparison.sentence("B");
    assert!(sentence.starts_with("B is 1.31 ±0.0"), "{sentence}");
    assert!(sentence.contains("times as fast at a round-robin x1; 1 the same within ±4.0%"), "{sentence}");
    // All runs of the one are better than all of the other; of equal sides half are.
    let [apart, equal] = [&comparison.rows[0], &comparison.rows[1]];
    assert_eq!((apart.superiority, equal.superiority), (Some(1.0), Some(0.5)));
    let [apart, equal] = [apart, equal].map(|row| row.superiority_interval.unwrap());
    assert!(apart.low > 0.5 && equal.low < 0.5 && equal.high > 0.5, "{apart:?} {equal:?}");
}

#[test]
fn the_number_of_runs_that_is_needed_is_one_number() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for few in [3, 6] {
        let values = around(1.0)[..few].to_vec();
        let slow = around(0.5)[..few].to_vec();
        let all = |first: &[f64]| {
            let values = |name: &&str| if *name == "a" { first.to_vec() } else { values.clone() };
            let all: Vec<_> = names.iter().map(|name| (*name, values(name))).collect();
            report(&all.iter().map(|(name, values)| (*name, &values[..])).collect::<Vec<_>>())
        };
        let comparison = compare(&all(&values), &all(&slow), &Options::default()).unwrap();
        assert_eq!(comparison.totals.needed, 7);
        assert!(comparison.rows[0].reason.as_ref().unwrap().contains("7 per side"), "{:?}", comparison.rows[0].reason);
    }
}

/// Half of the runs of either side are twice as fast: the middle of all pairs is not the quotient of the two middles.
#[test]
fn the_change_is_the_quotient_of_the_values_beside_it() {
    let of_two_kinds = |slow: usize| (0..10).map(|at| if at < slow { 1.0 } else { 2.0 } + 0.001 * at as f64).collect();
    let [base, new]: [Vec<f64>; 2] = [7, 3].map(of_two_kinds);
    for unit in [Unit::OpsPerSecond, Unit::Nanoseconds] {
        let [base, new] = [&base, &new].map(|values| {
            let mut report = report(&[("a", values)]);
            report.cells[0].unit = unit;
            report
        });
        let row = compare(&base, &new, &Options::default()).unwrap().rows.remove(0);
        let [base, new] = [row.base, row.new].map(|side| side.unwrap().value.unwrap());
        let shown = if unit == Unit::OpsPerSecond { new / base } else { base / new };
        let (effect, interval) = (row.effect.unwrap(), row.interval.unwrap());
        assert!((effect / shown - 1.0).abs() < 1e-9, "{unit:?}: {effect} and {shown}");
        assert!(interval.low <= effect && effect <= interval.high, "{interval:?}");
    }
}

/// What a value is made of may be other than what its runs show.
#[test]
fn a_verdict_that_its_values_contradict_is_none() {
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
    let mut new = report(&[("a", &around(1.0)), ("b", &around(0.8))]);
    new.cells.iter_mut().for_each(|cell| cell.capacity = Some(Measured { value: 1.1, interval: None }));
    for row in compare(&base, &new, &Options::default()).unwrap().rows {
        assert_eq!(row.verdict, Verdict::Inconclusive, "{row:?}");
        assert!(row.reason.is_some(), "{row:?}");
    }
}

/// Most pairs of runs differ by much, and the two values by less than the threshold.
#[test]
fn a_verdict_is_beyond_the_threshold_by_its_values_too() {
    let of = |parts: [(usize, f64); 2]| -> Vec<f64> {
        parts.into_iter().flat_map(|(count, value)| (0..count).map(move |at| value + 1e-4 * at as f64)).collect()
    };
    let (base, new) = (of([(14, 80.0), (16, 100.0)]), of([(16, 102.0), (14, 130.0)]));
    for (base, new) in [(&base, &new), (&new, &base)] {
        let row = compare(&report(&[("a", base)]), &report(&[("a", new)]), &Options::default()).unwrap().rows.remove(0);
        assert_eq!(row.verdict, Verdict::Inconclusive, "{row:?}");
    }
}

#[test]
fn an_interval_that_is_lopsided_or_wide_is_given_by_its_ends() {
    let (base, new) = (report(&[("a", &around(1.0))]), report(&[("a", &around(0.8))]));
    let mut comparison = compare(&base, &new, &Options::default()).unwrap();
    for (ends, words) in
        [([0.46, 0.95], "0.46 to 0.95 times"), ([0.5, 1.1], "0.50 to 1.10"), ([0.7, 0.9], "0.80 ±0.10")]
    {
        let row = &mut comparison.rows[0];
        (row.effect, row.interval) = (Some(0.8), Some(charz_data::report::Interval { low: ends[0], high: ends[1] }));
        assert!(comparison.sentence("new").contains(words), "{}", comparison.sentence("new"));
    }
    assert_eq!([-0.0004, 0.0004, 0.042, -0.042].map(signed), ["0.0%", "0.0%", "+4.2%", "−4.2%"]);
}

fn ended(status: Status, reason: &str) -> (Status, Option<String>) {
    (status, Some(reason.into()))
}

#[test]
fn the_best_of_more_is_another_number() {
    let mut reports =
        [report(&[("a", &around(1.0)), ("b", &around(1.0))]), report(&[("a", &around(1.0)), ("b", &around(1.0))])];
    reports[1].cells.iter_mut().for_each(|cell| cell.repetitions = 5);
    check(&reports[0], &reports[1], Options::default(), &[(Verdict::Same, ""), (Verdict::Same, "")]);
    reports.iter_mut().for_each(|report| report.cells[1].estimator = Estimator::Best);
    let expected = [(Verdict::Same, ""), (Verdict::Uncompared, "best of 3 iterations against the best of 5")];
    check(&reports[0], &reports[1], Options::default(), &expected);
    let allowed = Options { cross_plan: true, ..Options::default() };
    check(&reports[0], &reports[1], allowed, &[(Verdict::Same, ""), (Verdict::Same, "")]);
}

/// What grows until its time is over does other work where it reaches another size.
#[test]
fn numbers_of_different_sizes_are_not_compared() {
    let grown = |last: u64| {
        let mut report = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
        let step = |size| GrowthStep { size, ..GrowthStep::default() };
        let growth = Growth::new((1..=last).map(step).collect(), Halt::Time);
        let run = Run { growth: Some(Box::new(growth)), ..Run::undisturbed(vec![Lap::undisturbed(0, None, 1000)]) };
        report.cells[0].invocations.iter_mut().for_each(|invocation| invocation.runs = vec![run.clone()]);
        report
    };
    let same = (Verdict::Same, "");
    check(&grown(9), &grown(9), Options::default(), &[same, same]);
    check(&grown(9), &grown(8), Options::default(), &[(Verdict::Uncompared, "ended at sizes 9 and 8"), same]);
}

#[test]
fn suspect_cells_are_compared_on_demand_and_say_so() {
    let base = report(&[("a", &around(1.0)), ("b", &around(1.0))]);
    let mut new = report(&[("a", &around(0.5)), ("b", &around(1.0))]);
    (new.cells[0].status, new.cells[0].reason) = ended(Status::Suspect, "waited");
    let options = Options { allow_suspect: true, ..Options::default() };
    let comparison = compare(&base, &new, &options).unwrap();
    assert!(comparison.allow_suspect);
    assert_eq!(comparison.rows[0].verdict, Verdict::Slower);
    assert_eq!(comparison.rows[0].despite, [Caveat::Suspect]);
    assert_eq!(comparison.rows[1].despite, []);
}

#[test]
fn a_suspicion_refuses_only_what_it_makes_unsafe() {
    let sound = || fixtures::cell("a", 1, Unit::OpsPerSecond, 1e9);
    let base = fixtures::report(vec![sound(), sound().under("auto")]);
    let delivered = Options { quantity: Quantity::Delivered, ..Options::default() };
    // Whether it is compared: capacities one after the other, the same in turns, and what was delivered.
    for (codes, expected) in [
        (&["V12"][..], [true; 3]),
        (&["V28", "V12"], [true; 3]),
        (&["V08"], [false, true, true]),
        (&["V15", "V28"], [false, true, true]),
        (&["V16", "V33"], [false, true, true]),
        (&["V34"], [false, true, true]),
        (&["V09"], [false; 3]),
        (&["V08", "V24"], [false; 3]),
        (&["V29", "V33"], [false; 3]),
    ] {
        let marked = codes.iter().fold(sound(), |cell, code| cell.marked(code, Severity::Suspect, code));
        for report in [base.clone(), fixtures::report(vec![marked.clone(), sound().under("auto")])] {
            let new = fixtures::report(vec![marked.clone(), sound().under("auto")]);
            let comparisons = [
                compare(&report, &new, &Options::default()).unwrap(),
                interleaved(&report, &new, &Options::default()),
                compare(&report, &new, &delivered).unwrap(),
            ];
            for (comparison, expected) in comparisons.iter().zip(expected) {
                let row = &comparison.rows[0];
                assert_eq!(row.verdict != Verdict::Uncompared, expected, "{codes:?}: {:?}", row.reason);
                // A mark that is carried is no reason, and no caveat.
                let reason = row.reason.as_deref().unwrap_or_default();
                assert_eq!(codes.iter().any(|code| reason.contains(code)), !expected, "{reason}");
                assert_eq!(row.despite, []);
            }
        }
        let allowed =
            interleaved(&base, &fixtures::report(vec![marked]), &Options { allow_suspect: true, ..delivered });
        assert_eq!(allowed.rows[0].despite.contains(&Caveat::Suspect), !expected[1], "{codes:?}");
    }
    let invalid = fixtures::report(vec![sound().marked("V12", Severity::Invalid, "none"), sound().under("auto")]);
    let row = &interleaved(&base, &invalid, &Options::default()).rows[0];
    assert_eq!(row.verdict, Verdict::Uncompared);
    assert!(row.reason.as_ref().is_some_and(|reason| reason.starts_with("B: invalid")), "{row:?}");
}

#[test]
fn what_follows_the_clock_is_compared_at_one() {
    let steps = [2.2, 2.6, 2.4, 2.8, 2.3, 2.7, 2.5, 2.9, 2.2, 2.6];
    // What it does in a cycle, at the clocks of a sweep.
    let at = |per_cycle: f64, clocks: [f64; 10]| {
        let mut cell = cell("a", &clocks.map(|clock| clock * per_cycle)).clocked(0.0);
        for (invocation, clock) in cell.invocations.iter_mut().zip(clocks) {
            let frequency = invocation.evidence.as_mut().unwrap().frequency.as_mut().unwrap();
            (frequency.before_hz, frequency.after_hz, frequency.highest_hz) = (clock, clock, clock);
        }
        fixtures::report(vec![cell])
    };
    let mut backwards = steps;
    backwards.reverse();
    let row = |new: &Report| compare(&at(0.5, steps), new, &Options::default()).unwrap().rows.remove(0);
    let times = |factor: f64| at(0.5, steps.map(|clock| clock * factor));
    let [same, slower, capped, lower] =
        [at(0.5, backwards), at(0.45, backwards), times(0.6), times(0.9)].map(|new| row(&new));
    assert_eq!(same.verdict, Verdict::Same);
    assert_eq!(slower.verdict, Verdict::Slower);
    assert!((slower.effect.unwrap() - 0.9).abs() < 1e-9);
    assert_eq!(same.clock, Some(ClockEffect { ratio: 1.0, is_counted: false }));
    assert!(same.of_clock().is_some_and(|words| words.contains("one clock")));
    // A clock that is lower is a difference between the two.
    assert_eq!(capped.verdict, Verdict::Slower);
    assert!(capped.clock.is_some_and(|clock| clock.is_counted && (clock.ratio - 0.6).abs() < 1e-9), "{capped:?}");
    // So is one of which the rank test of so few runs shows nothing.
    assert!(lower.verdict != Verdict::Same && lower.clock.is_some_and(|clock| clock.is_counted), "{lower:?}");
    // What does not follow the clock is compared as it is.
    let steady = |values: [f64; 10]| {
        let mut report = at(0.5, steps);
        report.cells[0].invocations.iter_mut().zip(values).for_each(|(one, value)| one.value = Some(value));
        report
    };
    let [one, other] = [0.0, 0.01].map(|more| steady(std::array::from_fn(|at| 1.0 + 0.001 * at as f64 + more)));
    assert_eq!(compare(&one, &other, &Options::default()).unwrap().rows[0].clock, None);
}

#[test]
fn what_was_delivered_is_compared_on_demand() {
    let base = fixtures::report(vec![fixtures::cell("a", 1, Unit::OpsPerSecond, 1e9)]);
    let mut new = base.clone();
    // Half of the time went to others, which blocks do not show.
    new.cells[0].invocations.iter_mut().flat_map(|one| &mut one.runs).for_each(|run| run.interval_ns *= 2);
    // One long run that lost most of its time weighs more in all work over all time than among the runs, which are compared.
    new.cells[0].delivered = new.cells[0].delivered.map(|found| Measured { value: found.value / 9.0, ..found });
    new.cells[0].estimator = Estimator::Best;
    let options = Options { cross_plan: true, ..Options::default() };
    for (quantity, verdict, share) in
        [(Quantity::Capacity, Verdict::Same, 1.0), (Quantity::Delivered, Verdict::Slower, 0.5)]
    {
        let comparison = compare(&base, &new, &Options { quantity, ..options }).unwrap();
        assert_eq!(comparison.quantity, quantity);
        let is_said = comparison.sentence("new").contains("load included");
        assert_eq!(is_said, quantity == Quantity::Delivered, "{quantity:?}");
        let row = &comparison.rows[0];
        assert_eq!((row.verdict, row.despite.is_empty()), (verdict, quantity == Quantity::Delivered), "{row:?}");
        let [base, new] = [row.base, row.new].map(|side| side.unwrap().value.unwrap());
        assert!((new / base / share - 1.0).abs() < 1e-9, "{new} and {base}");
    }
}

#[test]
fn nothing_to_compare_is_no_comparison() {
    let options = Options::default;
    let (base, other) = (report(&[("a", &around(1.0))]), report(&[("b", &around(1.0))]));
    check_nothing(&base, &other, options(), "no configuration in common");
    check_nothing(&report(&[]), &report(&[]), options(), "no configuration in common");
    let mut suspect = base.clone();
    (suspect.cells[0].status, suspect.cells[0].reason) = ended(Status::Suspect, "waited");
    check_nothing(&suspect, &base, options(), "no number of the base report");
    check_nothing(&base, &suspect, options(), "--allow-suspect");
    let mut elsewhere = base.clone();
    elsewhere.cells[0].seats = vec![Some(1)];
    check_nothing(&base, &elsewhere, options(), "different CPUs");
}

prop_compose! {
    /// Two reports with the same cells, the second one up to a tenth better or worse.
    fn two_reports()(cells in prop::collection::vec(
        (1..16_usize, 1..16_usize, 0.0..0.2_f64, 0.9..1.1_f64, any::<[u8; 16]>(), any::<bool>()), 1..12,
    )) -> [Report; 2] {
        let side = |new: bool| {
            let mut side = report(&[]);
            side.cells = cells.iter().enumerate().map(|(at, (few, many, spread, factor, draws, times))| {
                let (count, factor) = if new { (*many, *factor) } else { (*few, 1.0) };
                let draw = |draw: &u8| 1e9 * factor * (1.0 + spread * f64::from(*draw) / 256.0);
                let draws = draws.iter().cycle().skip(usize::from(new) * 5);
                let values: Vec<f64> = draws.map(draw).take(count).collect();
                let mut cell = cell(&format!("kernel-{at}"), &values);
                cell.unit = if *times { Unit::Nanoseconds } else { Unit::OpsPerSecond };
                cell
            }).collect();
            side
        };
        [side(false), side(true)]
    }
}

proptest! {
    #[test]
    fn a_report_does_not_differ_from_itself([one, other] in two_reports()) {
        for report in [one, other] {
            let totals = compare(&report, &report, &Options::default()).unwrap().totals;
            prop_assert_eq!((totals.slower, totals.faster), (0, 0));
        }
    }

    #[test]
    fn exchanging_the_reports_exchanges_the_verdicts([one, other] in two_reports()) {
        let there = compare(&one, &other, &Options::default()).unwrap();
        let back = compare(&other, &one, &Options::default()).unwrap();
        for (there, back) in there.rows.iter().zip(&back.rows) {
            let exchanged = match there.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                verdict => verdict,
            };
            prop_assert_eq!(exchanged, back.verdict);
            prop_assert_eq!(&there.reason, &back.reason);
            if let (Some(there), Some(back)) = (there.effect, back.effect) {
                prop_assert!((there * back - 1.0).abs() < 1e-9, "{} and {}", there, back);
            }
        }
    }

    #[test]
    fn neither_the_order_nor_the_scale_of_invocations_matters([one, other] in two_reports(), scale in 0.5..2.0_f64) {
        let comparison = compare(&one, &other, &Options::default()).unwrap();
        let mut turned = [one, other];
        for invocations in turned.iter_mut().flat_map(|report| &mut report.cells).map(|cell| &mut cell.invocations) {
            invocations.reverse();
            let middle = invocations.len() / 3;
            invocations.rotate_left(middle);
        }
        prop_assert_eq!(&compare(&turned[0], &turned[1], &Options::default()).unwrap().rows, &comparison.rows);
        let values = turned.iter_mut().flat_map(|report| &mut report.cells).flat_map(|cell| &mut cell.invocations);
        values.filter_map(|invocation| invocation.value.as_mut()).for_each(|value| *value *= scale);
        let scaled = compare(&turned[0], &turned[1], &Options::default()).unwrap();
        for (row, scaled) in comparison.rows.iter().zip(&scaled.rows) {
            prop_assert!((row.effect.unwrap() / scaled.effect.unwrap() - 1.0).abs() < 1e-9);
        }
    }

    /// Each cell of either report is in exactly one row.
    #[test]
    fn no_cell_is_lost(ours in prop::collection::btree_set(0..20_u8, 1..20), theirs in prop::collection::btree_set(0..20_u8, 1..20)) {
        let with = |names: &std::collections::BTreeSet<u8>| {
            let mut report = report(&[]);
            report.cells = names.iter().map(|name| cell(&name.to_string(), &around(1.0))).collect();
            report
        };
        let Ok(comparison) = compare(&with(&ours), &with(&theirs), &Options::default()) else {
            prop_assert!(ours.is_disjoint(&theirs));
            return Ok(());
        };
        let mut named: Vec<u8> = comparison.rows.iter().map(|row| row.kernel.parse().unwrap()).collect();
        named.sort_unstable();
        prop_assert!(named.iter().eq(ours.union(&theirs)), "{:?}", named);
        let common = ours.intersection(&theirs).count();
        prop_assert_eq!(comparison.totals.compared(), common);
    }
}
