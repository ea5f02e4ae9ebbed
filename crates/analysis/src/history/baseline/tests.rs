use super::*;
use crate::history::entry::summary;
use charz_data::report::{Unit, fixtures};

/// The report of a day, measured by a build with these flags.
fn report(day: usize, rate: f64, rustflags: &str) -> Report {
    let cells = ["arith-int", "mem-read"].map(|kernel| fixtures::cell(kernel, 2, Unit::OpsPerSecond, rate));
    let mut report = fixtures::report(cells.to_vec());
    (report.id, report.started) = (format!("{day:032x}"), format!("2026-01-{day:02}T00:00:00Z"));
    report.tool.rustflags = rustflags.into();
    report
}

/// Ten days at one rate, four at a lower one.
fn slower() -> Vec<Report> {
    let rate = |day: usize| if day > 10 { 0.7e9 } else { 1e9 } * (1.0 + 0.001 * (day * 7 % 10) as f64);
    (1..=14).map(|day| report(day, rate(day), "")).collect()
}

#[track_caller]
fn check(reports: &[Report], new: &Report, wanted: Wanted, options: &Options, expected: Result<i64, &str>) {
    let entries =
        (1..).zip(reports).map(|(id, report)| Entry::new(id, None, summary(report.clone())).unwrap()).collect();
    match (Baseline::choose(entries, new, wanted, options), expected) {
        (Ok(chosen), Ok(id)) => assert_eq!(chosen.id, id, "{:?}", chosen.notes),
        (Err(why), Err(word)) => assert!(why.contains(word), "{why}"),
        (chosen, expected) => panic!("{expected:?} was expected: {chosen:?}"),
    }
}

#[test]
fn the_newest_earlier_report_is_taken() {
    let new = report(20, 0.7e9, "");
    let reports = [slower(), vec![new.clone()]].concat();
    check(&reports, &new, Wanted::Newest, &Options::default(), Ok(14));
    check(&reports, &report(6, 1e9, ""), Wanted::Newest, &Options::default(), Ok(5));
    check(&reports, &report(1, 1e9, ""), Wanted::Newest, &Options::default(), Err("is older than"));
}

#[test]
fn the_newest_report_before_the_last_change_is_taken() {
    check(&slower(), &report(20, 0.7e9, ""), Wanted::BeforeChange, &Options::default(), Ok(10));
    let mut other = report(20, 0.7e9, "");
    other.cells.clear();
    check(&slower(), &other, Wanted::BeforeChange, &Options::default(), Err("shows no change"));
}

#[test]
fn reports_that_may_not_be_compared_are_passed_over() {
    let mut reports = slower();
    reports.truncate(3);
    reports.push(report(15, 0.7e9, "-Cnative"));
    let new = report(20, 0.7e9, "");
    check(&reports, &new, Wanted::Newest, &Options::default(), Ok(3));
    check(&reports, &new, Wanted::Newest, &Options { cross_build: true, ..Options::default() }, Ok(4));
    check(&reports[3..], &new, Wanted::Newest, &Options::default(), Err("--cross-build"));
    let mut elsewhere = new;
    elsewhere.cells.iter_mut().for_each(|cell| cell.kernel = "of-tomorrow".into());
    check(&reports[..3], &elsewhere, Wanted::Newest, &Options::default(), Err("has a cell of the new one"));
}

#[test]
fn a_report_with_all_cells_goes_before_a_newer_one_with_some() {
    let mut reports = slower();
    reports[13].cells.pop();
    let new = report(20, 0.7e9, "");
    check(&reports, &new, Wanted::Newest, &Options::default(), Ok(13));
    let entries = (1..).zip(&reports).map(|(id, report)| Entry::new(id, None, summary(report.clone())).unwrap());
    let chosen = Baseline::choose(entries.collect(), &new, Wanted::Newest, &Options::default()).unwrap();
    let words = "it has 2 of 2 cells, the most of those before the new report that may be compared";
    assert!(chosen.notes[0].ends_with(words), "{:?}", chosen.notes);
    reports.iter_mut().for_each(|report| report.cells.truncate(1));
    check(&reports, &report(20, 0.7e9, ""), Wanted::Newest, &Options::default(), Ok(14));
}
