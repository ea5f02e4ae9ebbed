//! Marks of memory, of the build and of the machine: from just beyond their limits on, and not just below.

use charz_kernels::PageKind;

use super::*;
use charz_data::checks::{V20, V21};
use charz_data::report::Severity::{Invalid, Suspect};

#[test]
fn v20_other_pages() {
    let small = |share: f64| {
        move |trial: &mut Trial| {
            let pages = trial.cell.invocations[3].evidence.as_mut().unwrap().pages.as_mut().unwrap();
            pages.base_bytes = (pages.transparent_bytes as f64 * share) as u64;
            pages.transparent_bytes -= pages.base_bytes;
        }
    };
    let limit = V20.invalid.unwrap();
    check(small(limit * 0.99), &[]);
    check(small(limit * 1.01), &[("V20", Invalid)]);
    check(|trial| trial.facts.params.pages = PageKind::Huge1G, &[("V20", Invalid)]);
    check(|trial| trial.evidence(|evidence| evidence.pages = Some(Pages::default())), &[("V20", Invalid)]);
}

#[test]
fn v21_another_node() {
    let away = |share: f64| {
        move |trial: &mut Trial| {
            let nodes = trial.cell.invocations[3].evidence.as_mut().unwrap().nodes.as_mut().unwrap();
            nodes.local_bytes = (nodes.bytes as f64 * (1.0 - share)) as u64;
        }
    };
    let limit = V21.invalid.unwrap();
    check(away(limit * 0.99), &[]);
    check(away(limit * 1.01), &[("V21", Invalid)]);
    // What was asked to be elsewhere is right there.
    let asked = |share: f64| {
        move |trial: &mut Trial| {
            let nodes = trial.cell.invocations[3].evidence.as_mut().unwrap().nodes.as_mut().unwrap();
            (nodes.local_bytes, nodes.asked_bytes) = (0, Some((nodes.bytes as f64 * share) as u64));
        }
    };
    check(asked(1.0), &[]);
    check(asked(0.5), &[("V21", Invalid)]);
    check(
        |trial| trial.evidence(|evidence| evidence.nodes.as_mut().unwrap().balancing = Some(true)),
        &[("V21", Suspect)],
    );
}

#[test]
fn v22_faults() {
    let minor =
        |count| move |trial: &mut Trial| trial.some_runs(1, |run| run.laps[0].counts.minor_faults = Some(count));
    // At a microsecond each, 1% of 100 ms.
    check(minor(950), &[]);
    check(minor(1050), &[("V22", Suspect)]);
    check(|trial| trial.some_runs(1, |run| run.laps[0].counts.major_faults = Some(1)), &[("V22", Invalid)]);
}

#[test]
fn v24_unoptimised() {
    check(|trial| trial.facts.optimised = false, &[("V24", Suspect)]);
}

#[test]
fn v25_another_machine() {
    let changed = |evidence: &mut Evidence| evidence.changes = vec!["allowed strands: 0-1 became 0".into()];
    check(|trial| changed(trial.cell.invocations[7].evidence.as_mut().unwrap()), &[("V25", Invalid)]);
    // With fewer strands workers lose their seats: one cause.
    check(
        |trial| {
            trial.evidence(changed);
            trial.some_runs(3, |run| run.laps[1].on_seat = Some(false));
        },
        &[("V25", Invalid)],
    );
}

#[test]
fn v27_cached() {
    check(|trial| trial.facts.params.size_bytes = 128 * MIB, &[]);
    check(|trial| trial.facts.params.size_bytes = 127 * MIB, &[("V27", Suspect)]);
}
