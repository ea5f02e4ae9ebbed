//! The numbers for services that follow benchmarks over time.
//!
//! A cell without a sound or suspect number has no entry: a service would draw whatever stands there. Names are those of cells
//! ([`point::name`]), which do not change as long as a plan does not.
//!
//! Bencher Metric Format: <https://bencher.dev/docs/reference/bencher-metric-format/>. Its measures `throughput` and `latency` are
//! in operations per second and in nanoseconds; what is counted in bytes has a measure of its own, or charts would mix both.
//! A name that ends in `-bencher-ignore` is recorded without it and raises no alert, which is what a suspect number is to do.
//!
//! github-action-benchmark: <https://github.com/benchmark-action/github-action-benchmark>. A file is either of numbers of which
//! more is better (`customBiggerIsBetter`) or of those of which less is (`customSmallerIsBetter`), so that there are two views.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json::write_pretty;
use charz_analysis::point;
use charz_data::escape::plain;
use charz_data::report::{Cell, Interval, Report, Status, Unit};

/// What ends the name of a benchmark that is to raise no alert.
const IGNORED: &str = "-bencher-ignore";

/// The longest name that Bencher takes, in characters.
const LONGEST: usize = 1024;

/// A number with its interval.
#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Writes them as Bencher Metric Format.
///
/// # Errors
/// Those of the output.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut benchmarks: BTreeMap<String, BTreeMap<&str, Metric>> = BTreeMap::new();
    for (cell, value) in report.cells.iter().filter_map(numbered) {
        let interval = interval(cell);
        let metric = Metric {
            value,
            lower_value: interval.map(|interval| interval.low),
            upper_value: interval.map(|interval| interval.high),
        };
        let end = if cell.outcome.status == Status::Suspect { IGNORED } else { "" };
        let name: String = plain(&point::name(cell)).chars().take(LONGEST - IGNORED.len()).chain(end.chars()).collect();
        benchmarks.entry(name).or_default().insert(measure(cell.unit), metric);
    }
    write_pretty(&benchmarks, out)?;
    writeln!(out)
}

/// What is measured, in Bencher's words where it has some: slugs.
fn measure(unit: Unit) -> &'static str {
    match unit {
        Unit::OpsPerSecond => "throughput",
        Unit::BytesPerSecond => "bytes-per-second",
        Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => "latency",
        Unit::MillisecondsPerGib => "milliseconds-per-gib",
    }
}

/// A number of github-action-benchmark.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// Writes those for github-action-benchmark of which more is better.
///
/// # Errors
/// Those of the output.
pub fn write_bigger(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_action(report, true, out)
}

/// Writes those for github-action-benchmark of which less is better.
///
/// # Errors
/// Those of the output.
pub fn write_smaller(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_action(report, false, out)
}

fn write_action(report: &Report, more_is_better: bool, out: &mut dyn Write) -> io::Result<()> {
    let fitting = report.cells.iter().filter(|cell| cell.unit.more_is_better() == more_is_better);
    let entry = |(cell, value): (&Cell, f64)| Entry {
        name: plain(&point::name(cell)),
        unit: unit(cell.unit),
        value,
        range: interval(cell).map(|interval| format!("± {}", interval.half_width * value)),
        extra: extra(cell),
    };
    let entries: Vec<Entry> = fitting.filter_map(numbered).map(entry).collect();
    write_pretty(&entries, out)?;
    writeln!(out)
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::OpsPerSecond => "op/s",
        Unit::BytesPerSecond => "B/s",
        Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => "ns",
        Unit::MillisecondsPerGib => "ms/GiB",
    }
}

/// How many processes stand behind a number, and what speaks against it.
fn extra(cell: &Cell) -> String {
    let processes = match cell.summary.map_or(0, |summary| summary.invocations) {
        1 => "the number of 1 process".to_owned(),
        several => format!("median of {several} processes"),
    };
    let marks = cell.marks.iter().map(|mark| format!("; {}: {}", plain(&mark.code), plain(&mark.reason)));
    let doubt = if cell.outcome.status == Status::Suspect { "suspect; " } else { "" };
    format!("{doubt}{processes}{}", marks.collect::<String>())
}

/// A cell that may be shown, with its number.
fn numbered(cell: &Cell) -> Option<(&Cell, f64)> {
    let shown = matches!(cell.outcome.status, Status::Ok | Status::Suspect);
    let value = cell.summary?.value.filter(|value| shown && value.is_finite())?;
    Some((cell, value))
}

fn interval(cell: &Cell) -> Option<Interval> {
    cell.summary?.interval
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::view::tests::golden;

    fn shown(report: &Report, write: fn(&Report, &mut dyn Write) -> io::Result<()>) -> Value {
        let mut out = Vec::new();
        write(report, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn every_number_has_its_benchmark_and_no_other() {
        let mut report = golden();
        let sound =
            report.cells.iter().find(|cell| cell.summary.is_some_and(|summary| summary.value.is_some())).unwrap();
        let with = |(at, status): (usize, Status)| {
            let mut cell = sound.clone();
            (cell.workers, cell.outcome.status) = (1 + at as u64, status);
            cell
        };
        report.cells = [Status::Suspect, Status::Invalid, Status::Ok].into_iter().enumerate().map(with).collect();
        let found = shown(&report, write);
        let name = |at: usize| point::name(&report.cells[at]);
        let suspect = &found[format!("{}-bencher-ignore", name(0))];
        let (measure, cell) = (measure(report.cells[0].unit), report.cells[0].summary.unwrap());
        assert_eq!(suspect[measure]["value"].as_f64(), cell.value);
        assert_eq!(suspect[measure]["lower_value"].as_f64(), cell.interval.map(|interval| interval.low));
        assert!(found.get(name(0)).is_none(), "an alert would be raised");
        assert!(found.get(name(1)).is_none() && found.get(format!("{}-bencher-ignore", name(1))).is_none());
        assert!(found.get(name(2)).is_some());
    }

    #[test]
    fn the_two_kinds_share_the_numbers() {
        let mut report = golden();
        let sound =
            report.cells.iter().find(|cell| cell.summary.is_some_and(|summary| summary.value.is_some())).unwrap();
        let with = |unit, status| {
            let mut cell = sound.clone();
            (cell.unit, cell.outcome.status) = (unit, status);
            cell
        };
        report.cells = vec![
            with(Unit::NanosecondsPerOp, Status::Suspect),
            with(Unit::OpsPerSecond, Status::Aborted),
            with(Unit::BytesPerSecond, Status::Ok),
            with(Unit::OpsPerSecond, Status::Ok),
        ];
        let (bigger, smaller) = (shown(&report, write_bigger), shown(&report, write_smaller));
        let count = |list: &Value| list.as_array().unwrap().len();
        assert_eq!((count(&bigger), count(&smaller)), (2, 1));
        assert_eq!(smaller[0]["unit"], "ns");
        assert!(smaller[0]["extra"].as_str().unwrap().starts_with("suspect; median of "), "{smaller}");
    }
}
