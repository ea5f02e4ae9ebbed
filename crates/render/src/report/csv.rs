//! A report as CSV, a row a cell, numbers in base units.

use std::io::{self, Write};

use charz_data::escape::plain;
use charz_data::params::{PARAMS, Param};
use charz_data::report::{Cell, Counts, Distribution, Point, Report, Shape, Status, Unit};

const HEADER: [&str; 48] = [
    "kernel",
    "mapping",
    "workers",
    "status",
    "reason",
    "variant",
    "unit",
    "value",
    "low",
    "high",
    "confidence",
    "half_width",
    "invocations",
    "clean_repetitions",
    "dirty_repetitions",
    "spread",
    "best",
    "worst",
    "best_of_three",
    "start_skew_ns",
    "footprint_bytes",
    "base_pages_bytes",
    "transparent_huge_pages_bytes",
    "huge_2m_pages_bytes",
    "huge_1g_pages_bytes",
    "involuntary_switches",
    "migrations",
    "run_delay_ns",
    "marks",
    "samples",
    "below",
    "first_p50_ns",
    "first_p90_ns",
    "first_p99_ns",
    "first_p999_ns",
    "first_p9999_ns",
    "second_p50_ns",
    "second_p90_ns",
    "second_p99_ns",
    "second_p999_ns",
    "second_p9999_ns",
    "attempts_per_success",
    "waited",
    "wait_share",
    "fairness",
    "most_to_least",
    "level",
    "traffic",
];

/// The columns of the parameters that a sweep may vary.
pub(super) fn columns() -> impl Iterator<Item = &'static str> {
    varied().map(|param| param.key)
}

/// Their values, empty where the sweep does not vary them for this cell.
pub(super) fn values(point: &Point) -> Vec<String> {
    varied().map(|param| number(point.tell(param, param.raw))).collect()
}

fn varied() -> impl Iterator<Item = &'static Param> {
    PARAMS.iter().copied().filter(|param| param.vary)
}

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    rows.write_record(HEADER.into_iter().chain(columns()))?;
    for cell in &report.cells {
        rows.write_record(record(cell).into_iter().chain(values(&cell.point)))?;
    }
    rows.flush()
}

fn record(cell: &Cell) -> [String; HEADER.len()] {
    let value = cell.value();
    // What is no result stays in the report: a row of numbers without a value would be taken for one.
    let summary = cell.summary.filter(|_| value.is_some());
    let interval = summary.and_then(|summary| summary.interval);
    let last = cell.invocations.iter().rev().find(|invocation| invocation.evidence.is_some());
    let pages = last.and_then(|invocation| invocation.evidence.as_ref()?.pages);
    let distribution = cell.distribution.as_ref().filter(|_| value.is_some());
    let sharing = cell.contention.filter(|_| value.is_some());
    let percentile = |shape: fn(&Distribution) -> &Shape, at: usize| {
        number(distribution.and_then(|distribution| shape(distribution).percentiles()[at].1))
    };
    let first = |at| percentile(|distribution| &distribution.first, at);
    let second = |at| percentile(|distribution| &distribution.second, at);
    let marks: Vec<&str> = cell.marks.iter().map(|mark| mark.code.as_str()).collect();
    [
        harmless(&cell.kernel),
        harmless(&cell.mapping),
        cell.workers.to_string(),
        status(cell),
        harmless(cell.outcome.reason.as_deref().unwrap_or_default()),
        harmless(last.and_then(|invocation| invocation.variant.as_deref()).unwrap_or_default()),
        unit(cell.unit).to_owned(),
        number(value),
        number(interval.map(|i| i.low)),
        number(interval.map(|i| i.high)),
        number(interval.map(|i| i.confidence)),
        number(interval.map(|i| i.half_width)),
        number(summary.map(|s| s.invocations)),
        number(summary.map(|s| s.clean_runs)),
        number(summary.map(|s| s.dirty_runs)),
        number(summary.and_then(|s| s.spread)),
        number(summary.map(|s| s.best)),
        number(summary.map(|s| s.worst)),
        number(summary.map(|s| s.best_of_three)),
        number(summary.map(|s| s.start_skew_ns)),
        cell.footprint_bytes.to_string(),
        number(pages.map(|p| p.base_bytes)),
        number(pages.map(|p| p.transparent_bytes)),
        number(pages.map(|p| p.huge_2m_bytes)),
        number(pages.map(|p| p.huge_1g_bytes)),
        number(sum(cell, |counts| counts.involuntary_switches)),
        number(sum(cell, |counts| counts.migrations)),
        number(sum(cell, |counts| counts.run_delay_ns)),
        harmless(&marks.join(" ")),
        number(distribution.map(|distribution| distribution.samples.count)),
        number(distribution.map(|distribution| distribution.second_shorter)),
        first(0),
        first(1),
        first(2),
        first(3),
        first(4),
        second(0),
        second(1),
        second(2),
        second(3),
        second(4),
        number(sharing.map(|sharing| sharing.attempts_per_success)),
        number(sharing.map(|sharing| sharing.waited)),
        number(sharing.and_then(|sharing| sharing.wait_share)),
        number(sharing.map(|sharing| sharing.fairness)),
        number(sharing.and_then(|sharing| sharing.most_to_least)),
        harmless(cell.level.as_deref().unwrap_or_default()),
        number(cell.traffic),
    ]
}

/// The unit that numbers in a file are in.
fn unit(unit: Unit) -> &'static str {
    unit.symbol()
}

/// A sum over all laps; one with an unknown part is unknown, and so is one of nothing.
fn sum(cell: &Cell, count: impl Fn(&Counts) -> Option<u64>) -> Option<u64> {
    let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    let mut laps = runs.flat_map(|run| &run.laps).peekable();
    laps.peek()?;
    laps.try_fold(0_u64, |sum, lap| sum.checked_add(count(&lap.counts)?))
}

/// The word of the JSON report.
pub(super) fn status(cell: &Cell) -> String {
    status_word(cell.outcome.status)
}

pub(crate) fn status_word(status: Status) -> String {
    status.name().to_owned()
}

/// What is not known is an empty field.
pub(crate) fn number(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A spreadsheet takes text with one of these at its start for a formula.
pub(crate) fn harmless(text: &str) -> String {
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
