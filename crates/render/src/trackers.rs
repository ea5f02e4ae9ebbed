//! The numbers for services that follow benchmarks over time.
//!
//! A cell without a sound or suspect number has no entry: a service would plot any entry. Names are those of cells
//! ([`point::name`]), which do not change as long as a plan does not; those of a program end in its command, where its number comes from, and
//! its unit, as another program, or another unit, is another series.
//!
//! Bencher Metric Format: <https://bencher.dev/docs/reference/bencher-metric-format/>, rates and times in one file. Its measures
//! `throughput` and `latency` are in operations per second and in nanoseconds; what is counted in bytes has a measure of its own, or charts
//! would mix both. A name that ends in `-bencher-ignore` is recorded without it and raises no alert, which is what a suspect number is to do.
//!
//! github-action-benchmark: <https://github.com/benchmark-action/github-action-benchmark#examples>, its tools `customBiggerIsBetter` and
//! `customSmallerIsBetter`, each of which reads a file of its own. It knows no number without an alert, so suspect numbers are series of their
//! own, which no sound number is compared with.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json::write_pretty_line;
use charz_data::Better;
use charz_data::escape::plain;
use charz_data::report::{Cell, Report, Status, Unit};
use charz_words::point;

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

/// Bencher Metric Format.
pub fn bmf(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut benchmarks: BTreeMap<String, BTreeMap<&str, Metric>> = BTreeMap::new();
    for (cell, value) in report.cells.iter().filter_map(|cell| Some((cell, cell.value()?))) {
        let interval = cell.capacity.and_then(|capacity| capacity.interval);
        let metric = Metric {
            value,
            lower_value: interval.map(|interval| interval.low),
            upper_value: interval.map(|interval| interval.high),
        };
        let end = if cell.status == Status::Suspect { IGNORED } else { "" };
        benchmarks.entry(format!("{}{end}", name(cell, report))).or_default().insert(measure(cell.unit), metric);
    }
    write_pretty_line(&benchmarks, out)
}

/// What ends the name of a suspect series of github-action-benchmark.
const SUSPECT: &str = " (suspect)";

/// An entry of github-action-benchmark.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    /// Half of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    /// What a chart shows beside the point.
    extra: String,
}

/// The numbers of which more is better, for github-action-benchmark.
pub fn bigger_is_better(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    entries(report, true, out)
}

/// The numbers of which less is better.
pub fn smaller_is_better(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    entries(report, false, out)
}

fn entries(report: &Report, more_is_better: bool, out: &mut dyn Write) -> io::Result<()> {
    let entry = |cell: &Cell| {
        let value = cell.value().filter(|_| cell.unit.more_is_better() == more_is_better)?;
        let interval = cell.capacity.and_then(|capacity| capacity.interval);
        let runs = cell.summary.map(|summary| charz_data::escape::counted(summary.invocations as usize, "run"));
        let marks = cell.marks.iter().map(|mark| mark.code.to_string());
        Some(Entry {
            name: format!("{}{}", name(cell, report), if cell.status == Status::Suspect { SUSPECT } else { "" }),
            unit: plain(cell.unit.symbol()),
            value,
            range: interval.map(|interval| format!("± {}", (interval.high - interval.low) / 2.0)),
            extra: plain(&runs.into_iter().chain(marks).collect::<Vec<_>>().join(", ")),
        })
    };
    write_pretty_line(&report.cells.iter().filter_map(entry).collect::<Vec<_>>(), out)
}

/// The name of a cell among those of all reports. Of one that is too long a code takes the place of its end.
fn name(cell: &Cell, report: &Report) -> String {
    let program = report
        .program_of(cell)
        .map(|program| format!(" {:?} {} {}", program.command, program.value, cell.unit.symbol()));
    let name = plain(&format!("{}{}", point::name(cell), program.unwrap_or_default()));
    let longest = LONGEST - IGNORED.len();
    if name.chars().count() <= longest {
        return name;
    }
    // FNV-1a with 64 bits, which no version of the standard library changes.
    let code = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |code, byte| (code ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let end = format!("…{code:016x}");
    name.chars().take(longest - end.chars().count()).chain(end.chars()).collect()
}

/// What is measured, in Bencher's words where it has some: slugs.
fn measure(unit: Unit) -> &'static str {
    match unit {
        Unit::OpsPerSecond => "throughput",
        Unit::BytesPerSecond => "bytes-per-second",
        Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => "latency",
        Unit::MillisecondsPerGib => "milliseconds-per-gib",
        // Bencher takes slugs for measures, which a unit of the user's need not be.
        Unit::Reported(unit) if unit.better == Better::Higher => "reported-throughput",
        Unit::Reported(_) => "reported-cost",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::formats::tests::golden;

    fn shown(write: fn(&Report, &mut dyn Write) -> io::Result<()>, report: &Report) -> Value {
        let mut out = Vec::new();
        write(report, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn each_number_is_in_one_of_the_two_lists_and_a_suspect_one_in_no_sound_series() {
        use charz_data::report::fixtures::{cell, report};
        let report = report(vec![
            cell("arith-int", 1, Unit::OpsPerSecond, 3e9),
            cell("mem-read", 2, Unit::BytesPerSecond, 7e9).suspect(),
            cell("spawn", 1, Unit::NanosecondsPerOp, 900.0),
            cell("noop", 1, Unit::OpsPerSecond, 5e9).invalid(),
        ]);
        let names = |list: &Value| {
            let entry = |entry: &Value| (entry["name"].as_str().unwrap().to_owned(), entry["value"].as_f64().unwrap());
            list.as_array().unwrap().iter().map(entry).collect::<Vec<_>>()
        };
        let name = |at: usize| point::name(&report.cells[at]);
        let bigger = names(&shown(bigger_is_better, &report));
        assert_eq!(bigger, [(name(0), 3e9), (format!("{}{SUSPECT}", name(1)), 7e9)]);
        let smaller = shown(smaller_is_better, &report);
        assert_eq!(names(&smaller), [(name(2), 900.0)]);
        assert_eq!(smaller[0]["unit"], report.cells[2].unit.symbol());
    }

    #[test]
    fn every_number_has_its_benchmark_and_no_other() {
        let mut report = golden();
        let sound = report.cells.iter().find(|cell| cell.capacity.is_some()).unwrap();
        let with = |(at, status): (usize, Status)| {
            let mut cell = sound.clone();
            (cell.workers, cell.status) = (1 + at as u64, status);
            cell
        };
        report.cells = [Status::Suspect, Status::Invalid, Status::Ok].into_iter().enumerate().map(with).collect();
        let found = shown(bmf, &report);
        let name = |at: usize| point::name(&report.cells[at]);
        let suspect = &found[format!("{}-bencher-ignore", name(0))];
        let (measure, cell) = (measure(report.cells[0].unit), report.cells[0].capacity.unwrap());
        assert_eq!(suspect[measure]["value"].as_f64(), Some(cell.value));
        assert_eq!(suspect[measure]["lower_value"].as_f64(), cell.interval.map(|interval| interval.low));
        assert!(found.get(name(0)).is_none(), "an alert would be raised");
        assert!(found.get(name(1)).is_none() && found.get(format!("{}-bencher-ignore", name(1))).is_none());
        assert!(found.get(name(2)).is_some());
    }
}
