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

/// A history, a new report, what is asked for, and the number of the base with how many cells it has, or why there is none.
#[test]
fn the_base_of_a_comparison() {
    let rate = |day: usize| if day > 10 { 0.7e9 } else { 1e9 } * (1.0 + 0.001 * (day * 7 % 10) as f64);
    // Ten days at one rate, four at a lower one.
    let slower: Vec<Report> = (1..=14).map(|day| report(day, rate(day), "")).collect();
    let new = report(20, 0.7e9, "");
    let with_itself = [&slower[..], std::slice::from_ref(&new)].concat();
    let without = |of: &Report, cells: usize| Report { cells: of.cells[..cells].to_vec(), ..of.clone() };
    let other_build = [&slower[..3], &[report(15, 0.7e9, "-Cnative")]].concat();
    let mut elsewhere = new.clone();
    elsewhere.cells.iter_mut().for_each(|cell| cell.kernel = "of-tomorrow".into());
    // One with all cells goes before a newer one with some.
    let some = [&slower[..13], &[without(&slower[13], 1)]].concat();
    let all_some: Vec<Report> = slower.iter().map(|report| without(report, 1)).collect();
    let cross_build = Options { cross_build: true, ..Options::default() };
    let usual = Options::default();
    for (reports, new, wanted, options, expected) in [
        (&with_itself[..], &new, Wanted::Newest, usual, "14 MostCells [2, 2]"),
        (&with_itself, &report(6, 1e9, ""), Wanted::Newest, usual, "5 MostCells [2, 2]"),
        (&with_itself, &report(1, 1e9, ""), Wanted::Newest, usual, "NoneOlder { reports: 15 }"),
        (&slower, &new, Wanted::Report(3), usual, "3 Asked"),
        (&slower, &new, Wanted::BeforeChange, usual, "10 MostCells [2, 2]"),
        (&slower, &without(&new, 0), Wanted::BeforeChange, usual, "NoChange { long: 2, short: 0 }"),
        (&other_build, &new, Wanted::Newest, usual, "3 MostCells [2, 2]"),
        (&other_build, &new, Wanted::Newest, cross_build, "4 MostCells [2, 2]"),
        (&other_build[3..], &new, Wanted::Newest, usual, "Refused { id: 1, unlike: Build("),
        (&slower[..3], &elsewhere, Wanted::Newest, usual, "NoCell"),
        (&some, &new, Wanted::Newest, usual, "13 MostCells [2, 2]"),
        (&all_some, &new, Wanted::Newest, usual, "14 MostCells [1, 2]"),
    ] {
        let entries: Vec<Entry> =
            (1..).zip(reports).map(|(id, report)| Entry::new(id, None, summary(report.clone())).unwrap()).collect();
        let found = match Baseline::choose(&entries, new, wanted, &options) {
            Ok(Baseline { id, why: Why::Asked }) => format!("{id} Asked"),
            Ok(Baseline { id, why: Why::MostCells { cells, is_before_change, last, .. } }) => {
                assert_eq!(is_before_change, wanted == Wanted::BeforeChange);
                assert!(
                    last.is_none_or(|last| last.between == [10, 11] && last.is_after_base == (id <= 10)),
                    "{last:?}"
                );
                format!("{id} MostCells {cells:?}")
            }
            Err(why) => format!("{why:?}"),
        };
        assert!(found.starts_with(expected), "{found} instead of {expected}");
    }
}
