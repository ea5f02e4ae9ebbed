//! All numbers of a report: one table a kernel, a row for each number of workers, a column for each mapping.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::{distribution, doubt, findings, summary};
use crate::grid;
use crate::look::Look;
use crate::term;
use charz_analysis::figure::Table;
use charz_analysis::page::matrix::Matrix;
use charz_analysis::page::{Source, doubts, sections};
use charz_analysis::point;
use charz_data::escape::{counted, plain};
use charz_data::params::{PARAMS, Param};
use charz_data::report::{Cell, Estimator, Point, Report, SCHEMA_MAJOR, SCHEMA_MINOR, Severity, Status};
use charz_data::units;

/// The figures that say more than rows of numbers: pairs of strands, pairs of NUMA nodes.
const SQUARES: [&str; 2] = ["pairs", "numa"];
/// The section whose figures are shown as their tables.
const GROWTH: [&str; 1] = ["growth"];

/// Tables of all numbers, what speaks against them, and what follows from them.
///
/// # Errors
/// Those of the output.
pub(crate) fn write(report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    numbers(report, look, out)?;
    findings::write(report, out)?;
    summary::write(report, out)
}

fn numbers(report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}: {}, {} usable of {} strands; started {}",
        plain(report.host.name.as_deref().unwrap_or("this host")),
        plain(report.host.processor.as_deref().unwrap_or("an unnamed processor").trim()),
        report.machine.usable_strands().count(),
        report.machine.strands.len(),
        plain(&report.started),
    )?;
    if report.schema.minor > SCHEMA_MINOR && report.schema.major == SCHEMA_MAJOR {
        let later = report.schema.minor;
        writeln!(
            out,
            "note: it has format version {SCHEMA_MAJOR}.{later}; what was added after {SCHEMA_MAJOR}.{SCHEMA_MINOR} is left out"
        )?;
    }
    let mut cycles = false;
    for kernel in &report.plan.kernels {
        if let Some(matrix) = Matrix::of(report, kernel) {
            writeln!(out, "\n{}", heading(&matrix.cells().collect::<Vec<_>>()))?;
            continue;
        }
        let cells: Vec<&Cell> = report.cells.iter().filter(|cell| &cell.kernel == kernel).collect();
        writeln!(out, "\n{}", heading(&cells))?;
        // A kernel of pairs has nothing under a mapping of more, and the other way round.
        let named: BTreeSet<&str> = cells.iter().map(|cell| cell.mapping.as_str()).collect();
        let own: Vec<&str> =
            report.plan.mappings.iter().map(String::as_str).filter(|mapping| named.contains(mapping)).collect();
        let mappings: Vec<String> = own.iter().map(|mapping| plain(mapping)).collect();
        let varied = varied(&cells);
        let names = varied.iter().map(|param| param.name);
        let heading: Vec<&str> = names.chain(["workers"]).chain(mappings.iter().map(String::as_str)).collect();
        grid::columns(&heading, &[], &rows(&own, &varied, &cells), out)?;
        cycles |= distribution::write_times(report.card(kernel), &cells, out)?;
        distribution::write_sharing(&cells, out)?;
    }
    if cycles {
        distribution::write_clock(out)?;
    }
    let source = [Source { name: "report", report }];
    let growth = sections(&source, &GROWTH).into_iter().flat_map(|section| section.figures);
    for (title, table) in growth.filter_map(|figure| Some((figure.title, figure.table?))) {
        writeln!(out, "\n{}", plain(&title))?;
        rows_of(&table, out)?;
    }
    for section in sections(&source, &SQUARES) {
        term::figures(&section.figures, look, out)?;
    }
    write_reasons(report, out)
}

/// The table of a figure.
fn rows_of(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let heading: Vec<&str> = table.heading.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.data.iter().map(|datum| plain(&datum.text)).collect()).collect();
    grid::columns(&heading, &[0], &rows, out)
}

fn heading(cells: &[&Cell]) -> String {
    let name = cells.first().map_or("", |cell| cell.kernel.as_str());
    // More than one where a report was resumed and the kernel chose otherwise.
    let invocations = cells.iter().flat_map(|cell| &cell.invocations);
    let variants: BTreeSet<&str> = invocations.filter_map(|invocation| invocation.variant.as_deref()).collect();
    let variants: Vec<String> = variants.into_iter().map(plain).collect();
    let variant = if variants.is_empty() { String::new() } else { format!(" [{}]", variants.join("; ")) };
    let of = match cells.first().map(|cell| cell.estimator) {
        Some(Estimator::Best) => "each the best of its repetitions",
        _ => "each the median of its repetitions",
    };
    let moved = cells.first().and_then(|cell| cell.traffic).filter(|factor| *factor != 1.0);
    let moved = moved.map(|factor| {
        format!(
            "; beyond the caches {} times as many bytes move, with the reads of lines that are overwritten",
            units::count_of(factor)
        )
    });
    format!("{}{variant}: median of the invocations, {of}{}", plain(name), moved.unwrap_or_default())
}

/// The parameters that cells of a kernel have for themselves.
fn varied(cells: &[&Cell]) -> Vec<&'static Param> {
    PARAMS.iter().copied().filter(|param| cells.iter().any(|cell| cell.point.has(param))).collect()
}

/// A row for each point and number of workers, in the order of the former.
fn rows(mappings: &[&str], varied: &[&Param], cells: &[&Cell]) -> Vec<Vec<String>> {
    let mut by_row: BTreeMap<(Point, u64), BTreeMap<&str, &Cell>> = BTreeMap::new();
    for &cell in cells {
        by_row.entry((cell.point, cell.workers)).or_default().insert(&cell.mapping, cell);
    }
    by_row
        .into_iter()
        .map(|((point, workers), cells)| {
            let parameters = varied.iter().map(|param| point::word(&point, param).unwrap_or_else(|| "-".into()));
            let values = mappings.iter().map(|mapping| cells.get(mapping).map_or("-".into(), number));
            parameters.chain([workers.to_string()]).chain(values).collect()
        })
        .collect()
}

/// The number with the half width of its interval, and a question mark if anything speaks against it; or a word for why there
/// is none.
fn number(cell: &&Cell) -> String {
    match (cell.value(), cell.outcome.status) {
        (Some(value), _) => {
            let interval = cell.summary.and_then(|summary| summary.interval);
            let width =
                interval.map(|interval| format!(" ±{}", units::percent(interval.half_width))).unwrap_or_default();
            format!("{}{width}{}", units::value(value, cell.unit), doubt(cell))
        }
        (None, Status::Ok | Status::Suspect) => Status::Invalid.name().into(),
        (None, status) => status.name().into(),
    }
}

/// Why numbers carry a question mark, or are missing: each kind of reason once, with its first case as an
/// example and how many more there are.
fn write_reasons(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let doubts = doubts(report);
    if !doubts.is_empty() {
        writeln!(out)?;
    }
    for doubt in doubts {
        let rest = match doubt.count {
            0 | 1 => String::new(),
            more => format!(" (and {} like it)", counted(more - 1, "cell")),
        };
        let kind = match (&doubt.code, doubt.severity) {
            (None, _) => String::new(),
            (Some(code), Severity::Suspect) => format!("? {code} "),
            (Some(code), _) => format!("{} {code} ", doubt.weight()),
        };
        writeln!(out, "{}{}: {}{rest}", plain(&kind), plain(&doubt.cell), plain(&doubt.reason))?;
    }
    Ok(())
}
