//! Marks of what repetitions and invocations say of themselves: from just beyond their limits on, and not just below.

use super::*;
use charz_data::checks::{V13, V28};
use charz_data::report::Contention;
use charz_data::report::Severity::{Invalid, Note, Suspect};

#[test]
fn v12_few_invocations() {
    let of = |count| move |trial: &mut Trial| trial.cell.invocations.truncate(count);
    check(of(1), &[("V12", Suspect)]);
    check(of(5), &[("V12", Suspect)]);
    check(of(6), &[("V12", Note)]);
    check(of(9), &[("V12", Note)]);
}

#[test]
fn v13_spread() {
    // Within each invocation, so that their medians agree.
    let spread = |share: f64| {
        move |trial: &mut Trial| {
            for invocation in &mut trial.cell.invocations {
                let factors = [1.0, 1.0 - 2.0 * share, 1.0 - share, 1.0 + share, 1.0 + 2.0 * share];
                invocation.runs.iter_mut().zip(factors).for_each(|(run, factor)| stretch(run, factor));
            }
        }
    };
    // The median absolute deviation of such a set is its step.
    let [note, suspect] = [V13.note, V13.suspect].map(|limit| limit.unwrap() / 1.4826);
    check(spread(note * 0.9), &[]);
    check(spread(note * 1.1), &[("V13", Note)]);
    check(spread(suspect * 1.2), &[("V13", Suspect)]);
}

#[test]
fn v14_outliers() {
    // One in so many repetitions, never the first, and never so many that they move a median.
    let wild = |invocations: usize| {
        move |trial: &mut Trial| {
            trial.cell.invocations[..invocations]
                .iter_mut()
                .for_each(|invocation| stretch(&mut invocation.runs[3], 1.5));
        }
    };
    check(wild(5), &[]);
    check(wild(6), &[("V14", Suspect)]);
}

#[test]
fn v15_trend() {
    let slope = |by: f64| {
        move |trial: &mut Trial| {
            for (number, invocation) in trial.cell.invocations.iter_mut().enumerate() {
                invocation.runs.iter_mut().for_each(|run| stretch(run, 1.0 + by * number as f64));
            }
        }
    };
    check(slope(0.0022), &[]);
    check(slope(0.005), &[("V15", Suspect)]);
}

#[test]
fn v15_slow_start() {
    let start = |factor: f64| {
        move |trial: &mut Trial| {
            trial.cell.invocations.iter_mut().for_each(|invocation| stretch(&mut invocation.runs[0], factor))
        }
    };
    check(start(1.015), &[]);
    check(start(1.03), &[("V15", Note)]);
    let mut trial = clean();
    start(1.5)(&mut trial);
    trial.judge();
    for invocation in &trial.cell.invocations {
        assert_eq!(invocation.runs[0].dirty, ["V15"]);
        assert_eq!(invocation.clean_runs().count(), REPETITIONS - 1);
    }
    // Three of ten are an accident, and stay.
    check(
        |trial| trial.cell.invocations[..3].iter_mut().for_each(|invocation| stretch(&mut invocation.runs[0], 1.05)),
        &[],
    );
}

#[test]
fn v16_groups() {
    // Alternating within each invocation, so that neither a trend nor the medians give it away.
    let groups = |apart: f64| {
        move |trial: &mut Trial| {
            let far = trial.cell.invocations.clone();
            trial.cell.invocations.extend(far);
            trial.runs().skip(1).step_by(2).for_each(|run| stretch(run, 1.0 + apart));
            trial.cell.invocations.iter_mut().for_each(|invocation| invocation.runs.truncate(4));
        }
    };
    check(groups(0.0), &[]);
    check(groups(0.04), &[("V16", Suspect)]);
}

#[test]
fn v28_wide() {
    // Invocations at even distances, out of order, so that there are neither groups nor a trend.
    let apart = |by: f64| {
        move |trial: &mut Trial| {
            trial.cell.precision = 0.005;
            for (invocation, step) in trial.cell.invocations.iter_mut().zip([3, 8, 1, 6, 0, 9, 4, 7, 2, 5]) {
                invocation.runs.iter_mut().for_each(|run| stretch(run, 1.0 + by * (f64::from(step) - 4.5)));
            }
        }
    };
    // The interval is from about the second to the ninth: 3.5 steps to either side.
    let step = |limit: Option<f64>| limit.unwrap() * 0.005 / 3.5;
    check(apart(step(V28.note) * 0.7), &[]);
    check(apart(step(V28.note) * 1.4), &[("V28", Note)]);
    check(apart(step(V28.suspect) * 0.8), &[("V28", Note)]);
    check(apart(step(V28.suspect) * 1.3), &[("V28", Suspect)]);
}

#[test]
fn v32_samples_that_began_late() {
    let late = |waits: u64| {
        move |trial: &mut Trial| {
            trial.facts.card = card("futex-wake");
            for run in trial.cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs) {
                run.laps[0].contention = Some(Contention { attempts: 1000, failures: 0, waits });
            }
        }
    };
    check(late(20), &[]);
    check(late(21), &[("V32", Note)]);
    check(late(201), &[("V32", Suspect)]);
    check(late(501), &[("V32", Invalid)]);
}
