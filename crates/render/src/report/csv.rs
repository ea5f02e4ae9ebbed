//! Reports as CSV, numbers in base units: a row per cell, or per invocation.

use std::io::{self, Write};

use charz_data::escape::plain;
use charz_data::params::{PARAMS, Param};
use charz_data::report::{
    Cell, Counts, Distribution, Hardware, Interval, Invocation, Measured, Pages, Report, Sharing, Summary,
};
use charz_data::{Program, WakeUps};

/// What the columns are made of. What is no result stays in the report: a row of numbers without a value would be taken for one.
struct Row<'a> {
    cell: &'a Cell,
    value: Option<f64>,
    summary: Option<Summary>,
    interval: Option<Interval>,
    delivered: Option<Measured>,
    /// The last invocation with evidence.
    last: Option<&'a Invocation>,
    pages: Option<Pages>,
    times: Option<&'a Distribution>,
    sharing: Option<Sharing>,
    hardware: Option<Hardware>,
    wake_ups: Option<WakeUps>,
}

impl<'a> From<&'a Cell> for Row<'a> {
    fn from(cell: &'a Cell) -> Self {
        let value = cell.value();
        let summary = cell.summary.filter(|_| value.is_some());
        let last = cell.invocations.iter().rev().find(|invocation| invocation.evidence.is_some());
        Row {
            cell,
            value,
            summary,
            interval: cell.capacity.filter(|_| value.is_some()).and_then(|capacity| capacity.interval),
            delivered: cell.delivered.filter(|_| value.is_some()),
            last,
            pages: last.and_then(|invocation| invocation.evidence.as_ref()?.pages),
            times: cell.distribution.as_ref().filter(|_| value.is_some()),
            sharing: cell.contention.filter(|_| value.is_some()),
            wake_ups: cell.wake_ups().filter(|_| value.is_some()),
            hardware: cell.hardware.filter(|_| value.is_some()),
        }
    }
}

/// The name of a column, and its field; one whose value is not known is empty.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 65] = [
    ("kernel", |row| harmless(&row.cell.kernel)),
    ("mapping", |row| harmless(&row.cell.mapping)),
    ("workers", |row| row.cell.workers.to_string()),
    ("status", |row| row.cell.status.name().to_owned()),
    ("reason", |row| harmless(row.cell.reason.as_deref().unwrap_or_default())),
    ("variant", |row| harmless(row.last.and_then(|last| last.variant.as_deref()).unwrap_or_default())),
    ("unit", |row| harmless(row.cell.unit.symbol())),
    ("value", |row| number(row.value)),
    ("low", |row| number(row.interval.map(|interval| interval.low))),
    ("high", |row| number(row.interval.map(|interval| interval.high))),
    ("delivered", |row| number(row.delivered.map(|delivered| delivered.value))),
    ("delivered_low", |row| {
        number(row.delivered.and_then(|delivered| delivered.interval).map(|interval| interval.low))
    }),
    ("delivered_high", |row| {
        number(row.delivered.and_then(|delivered| delivered.interval).map(|interval| interval.high))
    }),
    ("runs", |row| number(row.summary.map(|summary| summary.invocations))),
    ("clean_iterations", |row| number(row.summary.map(|summary| summary.clean_runs))),
    ("dirty_iterations", |row| number(row.summary.map(|summary| summary.dirty_runs))),
    ("spread", |row| number(row.summary.and_then(|summary| summary.spread))),
    ("best", |row| number(row.summary.map(|summary| summary.best))),
    ("worst", |row| number(row.summary.map(|summary| summary.worst))),
    ("best_of_three", |row| number(row.summary.and_then(|summary| summary.best_of_three))),
    ("start_skew_ns", |row| number(row.summary.map(|summary| summary.start_skew_ns))),
    ("footprint_bytes", |row| row.cell.footprint_bytes.to_string()),
    ("base_pages_bytes", |row| number(row.pages.map(|pages| pages.base_bytes))),
    ("transparent_huge_pages_bytes", |row| number(row.pages.map(|pages| pages.transparent_bytes))),
    ("huge_2m_pages_bytes", |row| number(row.pages.map(|pages| pages.huge_2m_bytes))),
    ("huge_1g_pages_bytes", |row| number(row.pages.map(|pages| pages.huge_1g_bytes))),
    ("involuntary_switches", |row| number(sum(row.cell, |counts| counts.involuntary_switches))),
    ("migrations", |row| number(sum(row.cell, |counts| counts.migrations))),
    ("run_delay_ns", |row| number(sum(row.cell, |counts| counts.run_delay_ns))),
    ("marks", |row| harmless(&row.cell.marks.iter().map(|mark| &*mark.code).collect::<Vec<_>>().join(" "))),
    ("samples", |row| number(row.times.map(|times| times.samples.count))),
    ("below", |row| number(row.times.map(|times| times.second_shorter))),
    ("first_p50_ns", |row| number(row.times.and_then(|times| times.first.p50_ns))),
    ("first_p90_ns", |row| number(row.times.and_then(|times| times.first.p90_ns))),
    ("first_p99_ns", |row| number(row.times.and_then(|times| times.first.p99_ns))),
    ("first_p999_ns", |row| number(row.times.and_then(|times| times.first.p999_ns))),
    ("first_p9999_ns", |row| number(row.times.and_then(|times| times.first.p9999_ns))),
    ("second_p50_ns", |row| number(row.times.and_then(|times| times.second.p50_ns))),
    ("second_p90_ns", |row| number(row.times.and_then(|times| times.second.p90_ns))),
    ("second_p99_ns", |row| number(row.times.and_then(|times| times.second.p99_ns))),
    ("second_p999_ns", |row| number(row.times.and_then(|times| times.second.p999_ns))),
    ("second_p9999_ns", |row| number(row.times.and_then(|times| times.second.p9999_ns))),
    ("attempts_per_success", |row| number(row.sharing.map(|sharing| sharing.attempts_per_success))),
    ("waited", |row| number(row.sharing.map(|sharing| sharing.waited))),
    ("wait_share", |row| number(row.sharing.and_then(|sharing| sharing.wait_share))),
    ("fairness", |row| number(row.sharing.map(|sharing| sharing.fairness))),
    ("most_to_least", |row| number(row.sharing.and_then(|sharing| sharing.most_to_least))),
    ("wake_up_p50_ns", |row| number(row.wake_ups.map(|late| late.p50_ns))),
    ("wake_up_p99_ns", |row| number(row.wake_ups.and_then(|late| late.p99_ns))),
    ("level", |row| harmless(row.cell.level.as_deref().unwrap_or_default())),
    ("traffic", |row| number(row.cell.traffic)),
    ("mips", |row| number(row.hardware.and_then(|found| found.mips))),
    ("cpi", |row| number(row.hardware.and_then(|found| found.cpi))),
    ("ipc", |row| number(row.hardware.and_then(|found| found.ipc()))),
    ("instructions_per_op", |row| number(row.hardware.and_then(|found| found.instructions_per_op))),
    ("peak_mips", |row| number(row.hardware.and_then(|found| found.peak_mips))),
    ("efficiency", |row| number(row.hardware.and_then(|found| found.efficiency))),
    ("branch_miss_share", |row| number(row.hardware.and_then(|found| found.branch_miss_share))),
    ("cache_miss_share", |row| number(row.hardware.and_then(|found| found.cache_miss_share))),
    ("l1d_miss_share", |row| number(row.hardware.and_then(|found| found.l1d_miss_share))),
    ("counter_running_share", |row| number(row.hardware.map(|found| found.running_share))),
    ("per_worker", |row| {
        number(row.value.filter(|_| row.cell.unit.more_is_better()).map(|value| value / row.cell.workers as f64))
    }),
    ("watts", |row| {
        number(row.cell.energy.as_ref().filter(|_| row.value.is_some()).map(|energy| energy.watts.iter().sum::<f64>()))
    }),
    ("joules", |row| number(row.cell.energy.as_ref().filter(|_| row.value.is_some()).and_then(|energy| energy.joules))),
    ("counter_cost", |row| number(row.hardware.and_then(|found| Some(found.cost?.value)))),
];

/// The name of a column, and its field of a report.
type OriginColumn = (&'static str, fn(&Report) -> String);

/// Which report a row is of: the first columns of every table.
const ORIGIN: [OriginColumn; 4] = [
    ("host", |report| harmless(report.host.name.as_deref().unwrap_or_default())),
    ("cpu", |report| harmless(report.host.processor.as_deref().unwrap_or_default())),
    ("started", |report| harmless(&report.started)),
    ("report", |report| harmless(&report.id)),
];

/// The name of a column, and its field of a user's program.
type ProgramColumn = (&'static str, fn(&Program) -> String);

/// Which program a row is of, where it is of one: columns after those of the parameters.
const PROGRAM: [ProgramColumn; 2] = [
    ("command", |program| harmless(&program.command)),
    ("command_value", |program| harmless(&program.value.to_string())),
];

/// What to group reports by: the last columns of every table.
const SETTINGS: [OriginColumn; 9] = [
    ("product", |report| text(&report.host.product)),
    ("microcode", |report| text(&report.host.microcode)),
    ("governor", |report| text(&report.host.frequency_governor)),
    ("kernel_release", |report| text(&report.host.kernel)),
    ("transparent_huge_pages", |report| text(&report.host.transparent_huge_pages)),
    ("cpu_quota", |report| text(&report.host.cpu_quota)),
    ("memory_modules", |report| text(&report.host.memory.modules)),
    ("usable_cpus", |report| report.machine.usable_strands().count().to_string()),
    ("labels", |report| {
        harmless(&report.host.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" "))
    }),
];

fn text(known: &Option<String>) -> String {
    harmless(known.as_deref().unwrap_or_default())
}

/// A row per cell, with a column for each parameter that a sweep may vary, empty where it does not for this cell.
pub(crate) fn write(reports: &[&Report], out: &mut dyn Write) -> io::Result<()> {
    table(reports, COLUMNS.map(|(name, _)| name), out, |cell| {
        let row = Row::from(cell);
        vec![COLUMNS.iter().map(|(_, field)| field(&row)).collect()]
    })
}

/// The name of a column, and its field for an invocation, which is the n-th of its cell from 1.
type RunColumn = (&'static str, fn(&Cell, usize, &Invocation) -> String);

const RUN_COLUMNS: [RunColumn; 14] = [
    ("kernel", |cell, _, _| harmless(&cell.kernel)),
    ("mapping", |cell, _, _| harmless(&cell.mapping)),
    ("workers", |cell, _, _| cell.workers.to_string()),
    ("status", |cell, _, _| cell.status.name().to_owned()),
    ("run", |_, number, _| number.to_string()),
    ("started_ns", |_, _, run| run.started_ns.to_string()),
    ("ending", |_, _, run| run.ending.name().to_owned()),
    ("reason", |_, _, run| harmless(run.reason.as_deref().unwrap_or_default())),
    ("variant", |_, _, run| harmless(run.variant.as_deref().unwrap_or_default())),
    ("unit", |cell, _, _| harmless(cell.unit.symbol())),
    ("value", |_, _, run| number(run.value)),
    ("iterations", |_, _, run| run.runs.len().to_string()),
    ("clean_iterations", |_, _, run| run.runs.iter().filter(|run| run.dirty.is_empty()).count().to_string()),
    ("marks", |cell, _, _| harmless(&cell.marks.iter().map(|mark| &*mark.code).collect::<Vec<_>>().join(" "))),
];

/// A row per invocation, those without a value too, with the same columns for parameters.
pub(crate) fn write_runs(reports: &[&Report], out: &mut dyn Write) -> io::Result<()> {
    table(reports, RUN_COLUMNS.map(|(name, _)| name), out, |cell| {
        let row = |(at, run)| RUN_COLUMNS.iter().map(|(_, field)| field(cell, at + 1, run)).collect();
        cell.invocations.iter().enumerate().map(row).collect()
    })
}

/// Columns that every table has, also where all of their fields are empty: scripts may take these for granted.
const ALWAYS: [&str; 10] = ["host", "report", "kernel", "mapping", "workers", "status", "unit", "value", "low", "high"];

/// The rows that each cell gives, between the columns of its report and those of its parameters, without the columns that are empty in all
/// rows.
fn table<const N: usize>(
    reports: &[&Report],
    names: [&str; N],
    out: &mut dyn Write,
    rows_of: impl Fn(&Cell) -> Vec<Vec<String>>,
) -> io::Result<()> {
    let varied: Vec<&Param> = PARAMS.iter().copied().filter(|param| param.vary).collect();
    let origin = ORIGIN.iter().map(|(name, _)| *name);
    let of_cell = names.into_iter().chain(varied.iter().map(|param| param.key)).chain(PROGRAM.map(|(name, _)| name));
    let heading: Vec<&str> = origin.chain(of_cell).chain(SETTINGS.map(|(name, _)| name)).collect();
    let each_row = |row: &mut dyn FnMut(&[&str]) -> io::Result<()>| {
        for report in reports {
            let [origin, settings] = [&ORIGIN[..], &SETTINGS]
                .map(|columns| columns.iter().map(|(_, field)| field(report)).collect::<Vec<_>>());
            for cell in &report.cells {
                let parameters: Vec<String> =
                    varied.iter().map(|param| number(cell.point.tell(param, param.raw))).collect();
                let program = report.program_of(cell);
                let program = PROGRAM.map(|(_, field)| program.map(field).unwrap_or_default());
                for own in rows_of(cell) {
                    let all = origin.iter().chain(&own).chain(&parameters).chain(&program).chain(&settings);
                    row(&all.map(String::as_str).collect::<Vec<_>>())?;
                }
            }
        }
        Ok(())
    };
    let mut shown: Vec<bool> = heading.iter().map(|name| ALWAYS.contains(name)).collect();
    // A fleet has too many rows to keep them as text, so they are made twice.
    each_row(&mut |row| {
        shown.iter_mut().zip(row).for_each(|(shown, field)| *shown |= !field.is_empty());
        Ok(())
    })?;
    let mut write =
        |row: &[&str]| record(out, row.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(field, _)| field));
    write(&heading)?;
    each_row(&mut write)
}

/// One record (RFC 4180, but for the line's end): a field with a comma, a quotation mark or a line's end is quoted.
pub fn record(out: &mut dyn Write, fields: impl IntoIterator<Item: AsRef<str>>) -> io::Result<()> {
    for (at, field) in fields.into_iter().enumerate() {
        let (comma, field) = (if at > 0 { "," } else { "" }, field.as_ref());
        match field.contains([',', '"', '\r', '\n']) {
            true => write!(out, "{comma}\"{}\"", field.replace('"', "\"\""))?,
            false => write!(out, "{comma}{field}")?,
        }
    }
    writeln!(out)
}

/// A sum over all laps; one with an unknown part is unknown, and so is one of nothing.
fn sum(cell: &Cell, count: impl Fn(&Counts) -> Option<u64>) -> Option<u64> {
    let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    let mut laps = runs.flat_map(|run| &run.laps).peekable();
    laps.peek()?;
    laps.try_fold(0_u64, |sum, lap| sum.checked_add(count(&lap.counts)?))
}

/// What is not known is an empty field.
pub(crate) fn number(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A spreadsheet takes text with one of these at its start for a formula.
pub fn harmless(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{cell, report};

    use super::*;

    #[test]
    fn formulas_are_defused() {
        assert_eq!(harmless("=1+1"), "'=1+1");
        assert_eq!(harmless("mem-read"), "mem-read");
        assert_eq!(harmless("\t=1"), "\\t=1");
    }

    #[test]
    fn columns_without_a_field_are_left_out_and_the_others_keep_their_order() {
        let cells = ["a", "b"].map(|kernel| cell(kernel, 3, Unit::OpsPerSecond, 5.0));
        let mut report = report(cells.to_vec());
        let heading = |report: &Report| {
            let mut out = Vec::new();
            write(&[report], &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            let lines: Vec<usize> = text.lines().map(|line| line.matches(',').count()).collect();
            assert!(lines.iter().all(|commas| *commas == lines[0]), "{text}");
            text.lines().next().unwrap().split(',').map(str::to_owned).collect::<Vec<_>>()
        };
        let is_subsequence = |few: &[String], many: &[String]| {
            let mut many = many.iter();
            few.iter().all(|name| many.any(|other| other == name))
        };
        let few = heading(&report);
        report.cells[1].point.stride_bytes = Some(128);
        let more = heading(&report);
        assert!(is_subsequence(&few, &more) && more.len() == few.len() + 1, "{few:?} {more:?}");
        assert!(more.contains(&"stride_bytes".to_owned()) && !few.contains(&"command".to_owned()));
        report.cells.clear();
        assert_eq!(heading(&report), ALWAYS);
    }
}
