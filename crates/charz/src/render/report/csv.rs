//! A report as CSV, a row a cell, numbers in base units.

use std::io::{self, Write};

use crate::render::text::plain;
use crate::report::{Cell, Report, Status, Unit};

const HEADER: [&str; 24] = [
    "kernel",
    "mapping",
    "workers",
    "status",
    "reason",
    "variant",
    "unit",
    "best",
    "median",
    "worst",
    "spread",
    "start_skew_ns",
    "footprint_bytes",
    "base_pages_bytes",
    "transparent_huge_pages_bytes",
    "huge_2m_pages_bytes",
    "huge_1g_pages_bytes",
    "binding_honoured",
    "steal_ns",
    "throttled_periods",
    "involuntary_switches",
    "migrations",
    "run_delay_ns",
    "marks",
];

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(HEADER)?;
    for cell in &report.cells {
        rows.write_record(record(cell))?;
    }
    rows.flush()
}

fn record(cell: &Cell) -> [String; HEADER.len()] {
    // Of an interrupted cell there may be numbers; they are in the report, and no result.
    let summary = cell.summary.as_ref().filter(|_| cell.outcome.status == Status::Ok);
    let passport = cell.passport.as_ref();
    let counts = passport.map(|passport| passport.counts);
    let pages = passport.and_then(|passport| passport.pages);
    let unit = match cell.unit {
        Unit::OpsPerSecond => "op/s",
        Unit::BytesPerSecond => "B/s",
        Unit::Nanoseconds => "ns",
    };
    let marks: Vec<&str> = passport.iter().flat_map(|p| &p.marks).map(|mark| mark.code.as_str()).collect();
    [
        harmless(&cell.kernel),
        harmless(&cell.mapping),
        cell.workers.to_string(),
        status(cell),
        harmless(cell.outcome.reason.as_deref().unwrap_or_default()),
        harmless(cell.variant.as_deref().unwrap_or_default()),
        unit.to_owned(),
        number(summary.map(|s| s.best)),
        number(summary.map(|s| s.median)),
        number(summary.map(|s| s.worst)),
        number(summary.and_then(|s| s.spread)),
        number(summary.map(|s| s.start_skew_ns)),
        cell.footprint_bytes.to_string(),
        number(pages.map(|p| p.base_bytes)),
        number(pages.map(|p| p.transparent_bytes)),
        number(pages.map(|p| p.huge_2m_bytes)),
        number(pages.map(|p| p.huge_1g_bytes)),
        number(passport.and_then(|p| p.binding_honoured)),
        number(passport.and_then(|p| p.steal_ns)),
        number(passport.and_then(|p| p.throttled_periods)),
        number(counts.and_then(|c| c.involuntary_switches)),
        number(counts.and_then(|c| c.migrations)),
        number(counts.and_then(|c| c.run_delay_ns)),
        harmless(&marks.join(" ")),
    ]
}

/// The word of the JSON report.
fn status(cell: &Cell) -> String {
    let word = serde_json::to_value(cell.outcome.status).ok();
    word.as_ref().and_then(|word| word.as_str()).unwrap_or_default().to_owned()
}

/// What is not known is an empty field.
fn number(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A spreadsheet takes text with one of these at its start for a formula.
fn harmless(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_defused() {
        assert_eq!(harmless("=1+1"), "'=1+1");
        assert_eq!(harmless("mem-read"), "mem-read");
        assert_eq!(harmless("\t=1"), "\\t=1");
    }
}
