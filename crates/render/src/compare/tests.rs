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
        assert_eq!(text.contains("P(B better)"), has_room, "{columns}: {text}");
        let of_row = text.lines().filter(|line| !line.contains("script"));
        assert!(of_row.into_iter().all(|line| line.chars().count() <= columns), "{columns}: {text}");
    }
    let [base, new] = reports(5000);
    let text = shown(&FORMATS[2], &compare([&base, &new], &Options::default()).unwrap(), usize::MAX);
    assert!(text.len() < 65_536 && text.contains("4701 more rows"), "{}", text.len());
}
