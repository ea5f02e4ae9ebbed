//! Distributions of pairs of times, and contention between workers.

use super::*;
use charz_data::report::{Contention, Distribution, Interval, JointHistogram};

fn stamped(pairs: impl IntoIterator<Item = (u64, u64)>) -> JointHistogram {
    pairs.into_iter().collect()
}

/// The clean cell with so many pairs in each repetition: first times from 1000 ns on, second times from 2000 ns on, both evenly,
/// a tenth of the second times from 500 ns on.
fn sampled(count: u64) -> Trial {
    let mut trial = clean();
    trial.cell.unit = Unit::NanosecondsSampled;
    for run in trial.runs() {
        let second = |at: u64| if at.is_multiple_of(10) { 500 + at % 7 } else { 2000 + at % 300 };
        run.samples = Some(Box::new(stamped((0..count).map(|at| (1000 + at % 100, second(at))))));
    }
    trial
}

fn distribution(mut trial: Trial) -> Distribution {
    trial.judge();
    trial.cell.distribution.expect("there are samples")
}

#[test]
fn repetitions_that_count_are_added_up() {
    let repetitions = 10 * REPETITIONS as u64;
    let all = distribution(sampled(100));
    assert_eq!((all.samples.count, all.samples.second_shorter), (100 * repetitions, 10 * repetitions));
    assert!((all.second_shorter - 0.1).abs() < 1e-12);
    let mut disturbed = sampled(100);
    disturbed.some_runs(3, |run| run.laps[0].wait(50_000_000));
    assert_eq!(distribution(disturbed).samples.count, 100 * (repetitions - 3));
    let mut failed = sampled(100);
    failed.cell.invocations[4].ending = Ending::Stopped;
    assert_eq!(distribution(failed).samples.count, 100 * (repetitions - REPETITIONS as u64));
}

#[test]
fn without_pairs_there_is_no_distribution() {
    let mut trial = clean();
    trial.judge();
    assert_eq!(trial.cell.distribution, None);
    assert_eq!(trial.cell.contention, None);
    let mut empty = sampled(0);
    empty.judge();
    assert_eq!(empty.cell.distribution, None);
}

/// A percentile is reported if at least ten times of all repetitions are beyond it.
#[track_caller]
fn check_told(in_each: u64, told: [bool; 5]) {
    let shape = distribution(sampled(in_each)).second;
    assert_eq!(shape.percentiles().map(|(_, time)| time.is_some()), told, "{in_each} in each repetition");
}

#[test]
fn a_percentile_takes_ten_times_beyond_it() {
    check_told(2, [true, true, false, false, false]);
    check_told(20, [true, true, true, false, false]);
    check_told(200, [true, true, true, true, false]);
    check_told(1999, [true, true, true, true, false]);
    check_told(2000, [true; 5]);
}

#[test]
fn percentiles_and_peaks_are_those_of_the_times() {
    let found = distribution(sampled(3000));
    let near = |told: Option<f64>, expected: f64| (told.unwrap() / expected - 1.0).abs() < 0.016;
    assert!(near(found.first.p50_ns, 1049.0) && near(found.first.p99_ns, 1098.0), "{found:?}");
    assert!(near(found.second.p90_ns, 2266.0), "{found:?}");
    let shares: Vec<u64> = found.second.peaks.iter().map(|peak| (peak.share * 100.0).round() as u64).collect();
    assert_eq!(shares, [90, 10]);
    assert_eq!(found.first.peaks.len(), 1);
}

/// By how much the interval reaches beyond the number to either side, where all times of an invocation are one.
fn reach(kernel: &str, time: impl Fn(usize) -> u64) -> [f64; 2] {
    let mut trial = sampled(0);
    trial.facts.card = card(kernel);
    for (number, invocation) in trial.cell.invocations.iter_mut().enumerate() {
        invocation.runs.iter_mut().for_each(|run| run.samples = Some(Box::new(stamped([(1, time(number)); 100]))));
    }
    trial.judge();
    let found = trial.cell.capacity.unwrap();
    let Interval { low, high } = found.interval.unwrap();
    [found.value - low, high - found.value]
}

#[test]
fn bins_and_steps_of_the_clock_leave_numbers_open() {
    // Bins of 128 and of 1 ns; the clock's step is 10 ns.
    assert_eq!(reach("flag", |_| 12_500), [69.0; 2]);
    assert_eq!(reach("flag", |_| 110), [5.5; 2]);
    assert_eq!(reach("flag", |_| 3), [3.0, 5.5]);
    assert_eq!(reach("step-instant", |_| 110), [0.5; 2], "its times are of another clock");
    let wide = reach("flag", |number| 10_000 + 1000 * number as u64);
    assert!(wide.iter().all(|side| *side > 1000.0), "{wide:?}");
}

/// The clean cell, with what each of the two workers met in each repetition, and the operations that it did.
fn contended(met: [(Contention, u64); 2]) -> Trial {
    let mut trial = clean();
    for run in trial.runs() {
        for (lap, (contention, ops)) in run.laps.iter_mut().zip(met) {
            (lap.contention, lap.ops) = (Some(contention), ops);
        }
    }
    trial
}

fn met(attempts: u64, failures: u64, waits: u64) -> Contention {
    Contention { attempts, failures, waits, ..Contention::default() }
}

#[test]
fn sharing_is_over_all_workers() {
    let mut trial = contended([(met(600, 300, 100), 300), (met(100, 0, 0), 100)]);
    trial.judge();
    let sharing = trial.cell.contention.unwrap();
    assert_eq!(sharing.attempts_per_success, 700.0 / 400.0);
    assert_eq!(sharing.waited, 100.0 / 400.0);
    assert_eq!(sharing.wait_share, None);
    assert_eq!(sharing.fairness, 400.0 * 400.0 / (2.0 * (300.0 * 300.0 + 100.0 * 100.0)));
    assert_eq!(sharing.most_to_least, Some(3.0));
}

#[test]
fn time_spent_waiting_is_that_of_the_sampled_waits() {
    // One in 100 waits 10 µs, the others take 20 ns: 1000 waits in 0.1 s on two strands, of which 10 are sampled.
    let waited = Contention { sampled_waits: 10, sampled_waits_ns: 100_000, ..met(100_000, 0, 1000) };
    let mut trial = contended([(waited, 100_000), (met(100_000, 0, 0), 100_000)]);
    trial.runs().for_each(|run| {
        run.samples = Some(Box::new(stamped((0..1000).map(|at| (20, if at % 50 == 0 { 10_000 } else { 20 })))));
    });
    trial.judge();
    let share = trial.cell.contention.unwrap().wait_share.unwrap();
    assert!((share / 0.05 - 1.0).abs() < 0.02, "{share}");
    let mut share_of = |sampled: (u64, u64)| {
        trial.runs().for_each(|run| {
            let met = run.laps[0].contention.as_mut().unwrap();
            (met.sampled_waits, met.sampled_waits_ns) = sampled;
        });
        trial.judge();
        trial.cell.contention.unwrap().wait_share
    };
    assert_eq!(share_of((10, 10_000_000)), Some(1.0), "long ones were sampled: 5 times all of the time");
    assert_eq!(share_of((0, 0)), None, "the quick ones say nothing of the waits");
}

#[test]
fn a_worker_with_nothing_is_no_quotient() {
    let mut trial = contended([(met(10, 0, 0), 10), (met(10, 10, 0), 0)]);
    trial.judge();
    let sharing = trial.cell.contention.unwrap();
    assert_eq!((sharing.fairness, sharing.most_to_least), (0.5, None));
    let mut unmet = contended([(met(10, 10, 10), 0); 2]);
    unmet.judge();
    assert_eq!(unmet.cell.contention, None);
}

/// The marks of the clean cell with so many pairs in each of its 50 repetitions, under a clock.
#[track_caller]
fn check_times(kernel: &'static str, in_each: u64, timer: &Timer, expected: &[(&str, Severity)]) {
    let mut trial = sampled(in_each);
    trial.facts.card = card(kernel);
    trial.facts.timer = Some(timer.clone());
    trial.judge();
    assert_eq!(trial.marks(), expected, "{:#?}", trial.cell.marks);
}

#[test]
fn times_are_held_against_their_number_and_the_clock() {
    let timer = |overhead_ns, skew_ns| Timer { overhead_ns, resolution_ns: 1, worst_gap_ns: 0, skew_ns: Some(skew_ns) };
    let quick = timer(20, 100);
    check_times("mem-read", 2000, &quick, &[]);
    check_times("mem-read", 1999, &quick, &[("V30", Severity::Note)]);
    // First times are about 1050 ns, second times about 2130.
    check_times("mem-read", 2000, &timer(110, 100), &[("V31", Severity::Note)]);
    check_times("mem-read", 2000, &timer(900, 100), &[("V31", Severity::Note)]);
    check_times("mem-read", 2000, &timer(1200, 100), &[("V31", Severity::Suspect)]);
    check_times("mem-read", 2000, &timer(20, 190), &[]);
    check_times("mem-read", 2000, &timer(20, 250), &[("V11", Severity::Suspect)]);
    for kernel in ["migrate-warm", "fork-join", "tlb-shootdown"] {
        check_times(kernel, 2000, &timer(20, 250), &[]);
    }
    // A clock under test needs no check of the stamping clock, and a wait uses the worker's own clock only.
    check_times("step-monotonic", 2000, &timer(1200, 250), &[]);
    check_times("timeout-poll", 2000, &timer(20, 250), &[]);
    check_times("timeout-poll", 2000, &timer(1200, 250), &[("V31", Severity::Suspect)]);
}

/// Runs of a contended line in two states, and what is said of them: which shares, and which speeds the interval holds.
#[test]
fn v16_of_a_contended_line() {
    let fetch_add = [
        227.0, 225.0, 228.0, 223.0, 190.0, 194.0, 194.0, 192.0, 192.0, 193.0, 195.0, 195.0, 223.0, 193.0, 193.0, 193.0,
        196.0, 193.0, 193.0, 192.0,
    ];
    let evenly = |count: usize, low: f64, high: f64| {
        (0..count).map(move |at| low + (high - low) * at as f64 / (count - 1) as f64)
    };
    let beside_a_hog: Vec<f64> = evenly(12, 204.0, 211.0).chain(evenly(10, 227.0, 243.0)).collect();
    for (values, shares, speeds) in [
        (fetch_add.to_vec(), ["in 75%", "in 25%"], [193.0, 225.0]),
        (beside_a_hog, ["in 55%", "in 45%"], [207.5, 235.0]),
    ] {
        let mut trial = clean();
        (trial.facts.card, trial.facts.about_memory) = (card("atomic-fetch-add"), false);
        trial.cell.invocations = (0..values.len()).map(invocation).collect();
        for (one, value) in trial.cell.invocations.iter_mut().zip(&values) {
            one.runs.iter_mut().for_each(|run| stretch(run, 100.0 * values[0] / value));
        }
        trial.judge();
        let reason =
            trial.cell.marks.iter().find(|mark| mark.code == "V16").map(|mark| &*mark.reason).unwrap_or_default();
        assert!(trial.cell.is_suspect() && shares.iter().all(|share| reason.contains(share)), "{:?}", trial.cell.marks);
        let Interval { low, high } = trial.cell.capacity.unwrap().interval.unwrap();
        let first = trial.cell.invocations[0].value.unwrap() / values[0];
        assert!(low / first <= 1.01 * speeds[0] && high / first >= 0.99 * speeds[1], "{low} {high}");
    }
}
