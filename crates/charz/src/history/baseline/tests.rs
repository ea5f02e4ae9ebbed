//! Which report is taken, and what is said where none can be.

use std::path::Path;

use super::*;
use crate::history::Addition;
use crate::report::{Unit, invented};

/// The report of a day, with a cell at this rate, measured by a build with these flags.
fn report(day: usize, rate: f64, rustflags: &str) -> Report {
    let cells = ["arith-int", "mem-read"].map(|kernel| invented::cell(kernel, 2, Unit::OpsPerSecond, rate));
    let mut report = invented::report(cells.to_vec());
    (report.id, report.started) = (format!("{day:032x}"), format!("2026-01-{day:02}T00:00:00Z"));
    report.tool.rustflags = rustflags.into();
    report.floor.clear();
    report
}

/// A history of these reports, of which the day is the number.
fn history(folder: &Path, reports: &[Report]) -> Store {
    let mut store = Store::open_or_begin(&folder.join("h.db")).unwrap();
    let addition = |report: &Report| {
        let text = serde_json::to_string(report).unwrap();
        Addition { file: "r.json".into(), text, report: report.clone() }
    };
    store.add(&reports.iter().map(addition).collect::<Vec<_>>(), None, false).unwrap();
    store
}

/// Ten days at one rate, four at a lower one.
fn slower() -> Vec<Report> {
    (1..=14)
        .map(|day| report(day, if day > 10 { 0.7e9 } else { 1e9 } * (1.0 + 0.001 * (day * 7 % 10) as f64), ""))
        .collect()
}

#[track_caller]
fn check(reports: &[Report], new: &Report, wanted: Wanted, options: &Options, expected: Result<usize, &str>) {
    let folder = tempfile::tempdir().unwrap();
    check_with(&mut history(folder.path(), reports), new, wanted, options, expected);
}

#[track_caller]
fn check_with(store: &mut Store, new: &Report, wanted: Wanted, options: &Options, expected: Result<usize, &str>) {
    let chosen = Baseline::choose(store, new, wanted, options);
    match (chosen, expected) {
        (Ok(chosen), Ok(day)) => {
            assert_eq!(chosen.report.started, format!("2026-01-{day:02}T00:00:00Z"), "{:?}", chosen.notes);
            assert!(chosen.notes[0].starts_with("the base is report "), "{:?}", chosen.notes);
        }
        (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{error}"),
        (chosen, expected) => panic!("{expected:?} was expected: {:?}", chosen.map(|chosen| chosen.notes)),
    }
}

const STRICT: Options =
    Options { cross_machine: false, cross_build: false, cross_plan: false, allow_suspect: false, noise_floor: None };

#[test]
fn the_newest_earlier_report_is_taken() {
    let new = report(20, 0.7e9, "");
    let folder = tempfile::tempdir().unwrap();
    let mut store = history(folder.path(), &[slower(), vec![new.clone()]].concat());
    let mut check = |new: &Report, wanted, expected| check_with(&mut store, new, wanted, &STRICT, expected);
    check(&new, Wanted::Newest, Ok(14));
    check(&report(30, 0.7e9, ""), Wanted::Newest, Ok(20));
    check(&report(6, 1e9, ""), Wanted::Newest, Ok(5));
    check(&report(1, 1e9, ""), Wanted::Newest, Err("none was measured before"));
    check(&new, Wanted::Report(3), Ok(3));
    check(&new, Wanted::Report(77), Err("no report 77"));
}

#[test]
fn what_lies_before_the_last_change_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = history(folder.path(), &slower());
    let mut check = |new: &Report, expected| check_with(&mut store, new, Wanted::BeforeChange, &STRICT, expected);
    check(&report(20, 0.7e9, ""), Ok(10));
    let mut other = report(20, 0.7e9, "");
    other.cells.retain(|cell| cell.kernel == "of-tomorrow");
    check(&other, Err("shows no change"));
}

#[test]
fn what_cannot_be_compared_is_passed_over() {
    let mut reports = slower();
    reports.extend([report(15, 0.7e9, "-Cnative"), report(16, 0.7e9, "-Cnative")]);
    let new = report(20, 0.7e9, "");
    let folder = tempfile::tempdir().unwrap();
    let mut store = history(folder.path(), &reports);
    check_with(&mut store, &new, Wanted::Newest, &STRICT, Ok(14));
    check_with(&mut store, &new, Wanted::Newest, &Options { cross_build: true, ..STRICT }, Ok(16));
    let mut elsewhere = new.clone();
    elsewhere.cells.iter_mut().for_each(|cell| cell.kernel = "of-tomorrow".into());
    check_with(&mut store, &elsewhere, Wanted::Newest, &STRICT, Err("has a cell of the new one"));
    check(&reports[14..], &new, Wanted::Newest, &STRICT, Err("--cross-build"));
}

#[test]
fn a_report_with_all_cells_is_better_than_a_newer_one_with_some() {
    let mut reports = slower();
    reports[13].cells.pop();
    check(&reports, &report(20, 0.7e9, ""), Wanted::Newest, &STRICT, Ok(13));
    for report in &mut reports {
        report.cells.truncate(1);
    }
    check(&reports, &report(20, 0.7e9, ""), Wanted::Newest, &STRICT, Ok(14));
}
