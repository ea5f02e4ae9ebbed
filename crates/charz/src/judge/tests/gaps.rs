//! What the system does not tell is said, and never taken for nothing.

use super::*;
use charz_data::report::Severity::{Note, Suspect};

#[test]
fn what_a_verdict_needs_makes_the_cell_suspect() {
    check(|trial| trial.laps(|lap| lap.on_seat = None), &[("V01", Suspect)]);
    check(|trial| trial.laps(|lap| (lap.counts.migrations, lap.strays) = (None, None)), &[("V02", Suspect)]);
    check(|trial| trial.laps(|lap| lap.counts.cpu_ns = None), &[("V04", Suspect)]);
    check(|trial| trial.runs().for_each(|run| run.steal_ns = None), &[("V05", Suspect)]);
    check(|trial| trial.runs().for_each(|run| run.throttled_periods = None), &[("V07", Suspect)]);
    check(|trial| trial.facts.timer = None, &[("V09", Suspect)]);
    check(|trial| trial.facts.timer.as_mut().unwrap().skew_ns = None, &[("V11", Suspect)]);
    check(|trial| trial.evidence(|evidence| evidence.pages = None), &[("V20", Suspect)]);
    check(|trial| trial.evidence(|evidence| evidence.nodes = None), &[("V21", Suspect)]);
    check(|trial| trial.laps(|lap| lap.counts.major_faults = None), &[("V22", Suspect)]);
    check(|trial| trial.cell.invocations[0].evidence = None, &[("V25", Suspect)]);
    check(|trial| trial.facts.last_cache_bytes = None, &[("V27", Suspect)]);
    let neither = |lap: &mut Lap| (lap.counts.run_delay_ns, lap.counts.involuntary_switches) = (None, None);
    check(|trial| trial.laps(neither), &[("V03", Suspect), ("V04", Suspect)]);
}

#[test]
fn one_lap_that_does_not_tell_is_enough() {
    check(|trial| trial.some_runs(1, |run| run.laps[1].on_seat = None), &[("V01", Suspect)]);
}

#[test]
fn what_only_helps_is_a_note() {
    check(|trial| trial.runs().for_each(|run| run.pressure_ns = None), &[("V06", Note)]);
    check(|trial| trial.evidence(|evidence| evidence.frequency = None), &[("V08", Note)]);
    check(|trial| trial.evidence(|evidence| evidence.nodes.as_mut().unwrap().balancing = None), &[("V21", Note)]);
}

#[test]
fn what_nobody_would_have_asked_is_not_missed() {
    let bare = |trial: &mut Trial| {
        (trial.facts.virtual_machine, trial.facts.quota, trial.facts.numa_nodes) = (Some(false), false, 1)
    };
    check(
        |trial| {
            bare(trial);
            trial.runs().for_each(|run| (run.steal_ns, run.throttled_periods) = (None, None));
            trial.evidence(|evidence| evidence.nodes = None);
        },
        &[],
    );
    // Looks between blocks see what migrations would tell, and the other way round.
    check(|trial| trial.laps(|lap| lap.counts.migrations = None), &[]);
    check(|trial| trial.laps(|lap| lap.strays = None), &[]);
    check(
        |trial| {
            trial.facts.strands = 1;
            trial.evidence(|evidence| evidence.frequency = None);
            trial.facts.timer.as_mut().unwrap().skew_ns = None;
        },
        &[("V19", Note)],
    );
}

#[test]
fn a_gap_hides_no_finding() {
    // Nobody knows whether it was on its seat; that it waited is known.
    let wait = |run: &mut Run| run.laps[0].counts.run_delay_ns = Some(run.interval_ns / 2);
    check(
        |trial| {
            trial.laps(|lap| lap.on_seat = None);
            trial.some_runs(6, wait);
        },
        &[("V01", Suspect), ("V03", Suspect)],
    );
}
