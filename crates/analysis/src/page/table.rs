//! Every point behind a figure, each with its passport.

use std::collections::HashMap;

use super::Source;
use super::cells::SourcedCell;
use super::points::{self, short};
use crate::figure::{Datum, Row, Table};
use charz_data::Arrange;
use charz_data::escape::counted;
use charz_data::params::{PARAMS, Param, Quantity};
use charz_data::report::{Cell, Estimator, Evidence, Summary};
use charz_data::units;
use charz_estimate::grouped;
use charz_words::point;

/// The max number of rows of one table: a page with more is unreadable, and a report of many strands has hundreds of thousands.
pub(super) const MOST: usize = 500;

/// The rows of a table: kernels, their points and numbers of threads in order, so mappings are beneath each other.
pub(super) fn ordered<'a>(all: &[SourcedCell<'a>]) -> Vec<SourcedCell<'a>> {
    let kernels: Vec<&str> =
        grouped(all, |own| own.cell.kernel.as_str()).iter().map(|own| own[0].cell.kernel.as_str()).collect();
    let places: HashMap<&str, usize> = kernels.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
    let mut all = all.to_vec();
    all.arrange_by_key(|own| (places[own.cell.kernel.as_str()], own.cell.point, own.cell.workers));
    all
}

/// A row for each of these cells, as they are [`ordered`].
pub(super) fn table(sources: &[Source<'_>], all: &[SourcedCell<'_>]) -> Table {
    let names_kernels = all.iter().any(|own| own.cell.kernel != all[0].cell.kernel);
    of_cells(sources, all, names_kernels)
}

/// The same with a column of kernels, also of a single one.
pub(super) fn with_kernels(sources: &[Source<'_>], all: &[SourcedCell<'_>]) -> Table {
    of_cells(sources, all, true)
}

fn of_cells(sources: &[Source<'_>], all: &[SourcedCell<'_>], names_kernels: bool) -> Table {
    let all = ordered(all);
    let many = sources.len() > 1;
    let varied = varied(all.iter().map(|own| own.cell));
    let mut heading: Vec<String> = Vec::new();
    heading.extend(many.then(|| "report".to_owned()));
    heading.extend(names_kernels.then(|| "kernel".to_owned()));
    heading.extend(varied.iter().map(|param| param.name.to_owned()));
    let per_thread = |own: &SourcedCell<'_>| {
        sources.get(own.source).map_or(Datum::none(), |source| points::per_thread(source.report, own.cell))
    };
    let shared = all.iter().any(|own| per_thread(own) != Datum::none());
    heading.extend(["mapping", "threads", "value", "interval"].map(str::to_owned));
    heading.extend(shared.then(|| "per thread".to_owned()));
    heading.extend(["status", "warnings"].map(str::to_owned));
    let row = |own: &SourcedCell<'_>| {
        let cell = own.cell;
        let mut data: Vec<Datum> = Vec::with_capacity(heading.len());
        data.extend(many.then(|| Datum::word(sources.get(own.source).map_or("", |source| source.name))));
        data.extend(names_kernels.then(|| Datum::word(short(&cell.kernel))));
        data.extend(varied.iter().map(|param| parameter(cell, param)));
        data.push(Datum::word(short(&cell.mapping)));
        data.push(Datum::count(cell.workers));
        data.extend([points::datum(cell), interval(cell)]);
        data.extend(shared.then(|| per_thread(own)));
        data.push(Datum::word(cell.status.name()));
        let marks: Vec<&str> = cell.marks.iter().map(|mark| mark.code.as_str()).collect();
        data.push(Datum::word(short(&marks.join(" "))));
        Row { data, state: points::state(cell), passport: passport(cell) }
    };
    let rows: Vec<Row> = all.iter().take(MOST).map(row).collect();
    let left_out = all.len() - rows.len();
    Table { left_out, heading, rows, ..Table::default() }.sparing(&["per thread", "interval", "warnings"])
}

/// The parameters that any of these cells has for itself.
pub(super) fn varied<'a>(cells: impl Iterator<Item = &'a Cell> + Clone) -> Vec<&'static Param> {
    PARAMS.iter().copied().filter(|param| cells.clone().any(|cell| cell.point.has(param))).collect()
}

/// A parameter that is varied, sorted by its size where it has one.
pub(super) fn parameter(cell: &Cell, param: &Param) -> Datum {
    let number = cell.point.tell(param, param.raw).filter(|_| param.quantity != Quantity::Word);
    Datum {
        text: point::word(&cell.point, param).unwrap_or_else(|| "-".into()),
        number: number.and_then(|number| number.parse().ok()),
    }
}

fn interval(cell: &Cell) -> Datum {
    points::interval(cell).map_or(Datum::none(), |[low, high]| {
        let [from, to] = [low, high].map(|end| units::value(end, cell.unit));
        Datum::number(format!("{from} to {to}{}", points::doubt(cell)), high - low)
    })
}

/// The most marks of a row. There are fewer checks.
const MOST_MARKS: usize = 64;

/// How the number was obtained, and what is wrong with it.
fn passport(cell: &Cell) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut say = |label: &str, words: Option<String>| lines.extend(words.map(|words| (short(label), short(&words))));
    say("reason", cell.reason.clone());
    for mark in cell.marks.iter().take(MOST_MARKS) {
        say(&mark.code, Some(mark.reason.clone()));
    }
    say("measured", cell.summary.map(|summary| measured(cell, &summary)));
    say("spread of iterations", cell.summary.and_then(|summary| summary.spread).map(units::percent));
    say("CPUs", cpus(cell));
    let last = cell.invocations.iter().rev().find(|invocation| invocation.evidence.is_some());
    say("code path", last.and_then(|invocation| invocation.variant.clone()));
    say("memory of all blocks", (cell.footprint_bytes > 0).then(|| units::iec(cell.footprint_bytes)));
    say("level", cell.level.clone());
    if let Some(energy) = cell.energy.as_ref().filter(|_| cell.value().is_some()) {
        let each = energy.watts.iter().map(|watts| units::watts(*watts)).collect::<Vec<_>>().join(" + ");
        let joules = energy.joules.map(|joules| format!(", {} {}", units::joules(joules), cell.unit.per_work()));
        say("power of the packages", Some(format!("{each}{}", joules.unwrap_or_default())));
    }
    say("bytes moved for each counted", cell.traffic.map(units::count_of));
    if let Some(evidence) = last.and_then(|invocation| invocation.evidence.as_ref()) {
        say("pages", pages(evidence));
        say("on the asked NUMA node", nodes(evidence));
        say("clock of the cores", frequency(evidence));
    }
    lines
}

fn measured(cell: &Cell, summary: &Summary) -> String {
    let of = match cell.estimator {
        Estimator::Median => "the median of its iterations",
        Estimator::Best => "the best of its iterations",
        Estimator::FastMode => "the speed of its undisturbed blocks",
    };
    let dirty = if summary.dirty_runs == 0 {
        String::new()
    } else {
        format!(", {} disturbed ones not counted", summary.dirty_runs)
    };
    format!(
        "median of {}, each {of}; {} iterations count{dirty}",
        counted(summary.invocations as usize, "run"),
        summary.clean_runs
    )
}

/// The first of them, and how many more there are.
fn cpus(cell: &Cell) -> Option<String> {
    const SHOWN: usize = 16;
    let ids: Option<Vec<String>> = cell.seats.iter().map(|seat| seat.map(|id| id.to_string())).collect();
    let ids = ids.filter(|ids| !ids.is_empty())?;
    let more = ids.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", ids[..ids.len().min(SHOWN)].join(", ")))
}

fn pages(evidence: &Evidence) -> Option<String> {
    let pages = evidence.pages?;
    let kinds = [
        (pages.base_bytes, "base pages"),
        (pages.transparent_bytes, "transparent huge pages"),
        (pages.huge_2m_bytes, "pages of 2 MiB"),
        (pages.huge_1g_bytes, "pages of 1 GiB"),
    ];
    let words: Vec<String> = kinds
        .iter()
        .filter(|(bytes, _)| *bytes > 0)
        .map(|(bytes, kind)| format!("{} on {kind}", units::iec(*bytes)))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn nodes(evidence: &Evidence) -> Option<String> {
    let nodes = evidence.nodes?;
    let there = nodes.asked_bytes.unwrap_or(nodes.local_bytes);
    (nodes.bytes > 0).then(|| units::percent(there as f64 / nodes.bytes as f64))
}

fn frequency(evidence: &Evidence) -> Option<String> {
    let frequency = evidence.frequency?;
    Some(format!("{} before, {} after", units::hertz(frequency.before_hz), units::hertz(frequency.after_hz)))
}
