//! What every format keeps to.

use super::*;
use crate::formats::tests::{EVIL, assert_inert, written};
use charz_claims::compare::{Options, Quantity, compare, interleaved};
use charz_data::report::{Cell, Report, Unit, fixtures};

/// One configuration that is slower by so much, and the same one of hostile names.
fn reports(rows: usize) -> [Report; 2] {
    [1.0, 0.9].map(|factor| {
        let cell = |kernel: &str| -> Cell { fixtures::cell(kernel, 2, Unit::OpsPerSecond, factor * 1e9) };
        let mut report =
            fixtures::report((0..rows).map(|at| cell(&format!("mem-write-data{at}"))).chain([cell(EVIL)]).collect());
        report.host.name = Some(EVIL.into());
        report.host.frequency_governor = Some(format!("{factor}{EVIL}"));
        report
    })
}

fn shown(format: &Format, comparison: &Comparison<'_>, columns: usize) -> String {
    let reports = [EVIL, "b"].into_iter().zip(comparison.reports).map(|(name, report)| Source { name, report });
    let reports = reports.collect::<Vec<_>>().try_into().unwrap();
    let look = TerminalStyle { columns: columns.min(100), tables: columns, ..TerminalStyle::PLAIN };
    let asides = [EVIL.to_owned()];
    written(|out| (format.write)(&Compared { reports, comparison, asides: &asides }, &look, out))
}

#[test]
fn every_format_names_what_was_compared_and_no_name_steers_it() {
    let [base, new] = reports(1);
    for quantity in [Quantity::Capacity, Quantity::Delivered] {
        let found = compare([&base, &new], &Options { quantity, ..Options::default() }).unwrap();
        for format in FORMATS {
            let text = shown(format, &found, usize::MAX);
            assert!(text.contains(quantity.name()), "{}", format.name);
            // Markup is the page's own test.
            if format.name != "html" {
                assert_inert(format.name, &text);
            }
        }
        let text = shown(&FORMATS[2], &found, usize::MAX);
        let row = text.lines().find(|line| line.contains("script") && line.starts_with('|')).unwrap();
        // A bar that is not escaped starts another column.
        assert_eq!(row.replace("\\|", "").matches('|').count(), COLUMNS + 1, "{row}");
        assert!(!text.contains("<script"), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_left_out_or_counted() {
    let [mut base, mut new] = reports(1);
    for report in [&mut base, &mut new] {
        report.cells.truncate(1);
        (report.host.name, report.host.frequency_governor) = (None, None);
    }
    let turns = interleaved([&base, &new], &Options::default());
    for (columns, has_room) in [(usize::MAX, true), (180, true), (100, false), (60, false)] {
        let text = shown(&FORMATS[0], &turns, columns);
        let heading = text.lines().find(|line| line.starts_with("kernel")).unwrap();
        assert_eq!(heading.contains("P(B better)"), has_room, "{columns}: {text}");
        assert_eq!(text.contains("Not shown"), !has_room, "{columns}: {text}");
        let of_row = text.lines().filter(|line| !line.contains("script"));
        assert!(of_row.into_iter().all(|line| line.chars().count() <= columns), "{columns}: {text}");
    }
    let [base, new] = reports(5000);
    let text = shown(&FORMATS[2], &compare([&base, &new], &Options::default()).unwrap(), usize::MAX);
    assert!(text.len() < 65_536 && text.contains("4701 more rows"), "{}", text.len());
}

/// A row in doubt fails no build, and a difference that is open passes none.
#[test]
fn a_build_fails_by_what_the_command_ends_with() {
    let [base, new] = [1.0, 0.5].map(|factor| {
        let cell = |kernel: &str, factor: f64| fixtures::cell(kernel, 2, Unit::OpsPerSecond, factor * 1e9);
        fixtures::report(vec![cell("arith-int", factor), cell("noop", 1.0), cell("mem-read", 1.0)])
    });
    let mut found = interleaved([&base, &new], &Options::default());
    for (at, verdict) in [Verdict::Slower, Verdict::Uncompared, Verdict::Same].into_iter().enumerate() {
        found.rows[at].verdict = verdict;
    }
    for (apart, expected) in [(false, Outcome::Skipped), (true, Outcome::Open)] {
        found.rows[1].shown.apart = apart;
        let cases = suite(&found).cases;
        let of = |kernel: &str| cases.iter().find(|case| case.group == kernel).unwrap().outcome;
        assert_eq!(["arith-int", "noop", "mem-read"].map(of), [Outcome::Failed, expected, Outcome::Passed]);
        assert_eq!(cases[0].group, "arith-int", "what is shown of many");
    }
    let text = shown(FORMATS.iter().find(|format| format.name == "csv").unwrap(), &found, usize::MAX);
    let mut rows = ::csv::Reader::from_reader(text.as_bytes());
    let at = rows.headers().unwrap().iter().position(|name| name == "new").unwrap();
    let values: Vec<f64> = rows.records().map(|row| row.unwrap()[at].parse().unwrap()).collect();
    assert_eq!(values, [0.5e9, 1e9, 1e9]);
}
