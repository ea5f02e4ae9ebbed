//! All numbers of a report: one table a kernel, a row for each number of workers, a column for each mapping.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::marked;
use crate::render::text::{counted, plain};
use crate::render::{grid, human};
use crate::report::{Cell, Report, Status};

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}: {}, {} usable of {} strands; started {}",
        plain(report.host.name.as_deref().unwrap_or("this host")),
        plain(report.host.processor.as_deref().unwrap_or("an unnamed processor").trim()),
        report.machine.strands.iter().filter(|strand| strand.usable).count(),
        report.machine.strands.len(),
        plain(&report.started),
    )?;
    for kernel in &report.plan.kernels {
        let cells: Vec<&Cell> = report.cells.iter().filter(|cell| &cell.kernel == kernel).collect();
        writeln!(out, "\n{}", heading(report, &cells))?;
        let mappings: Vec<String> = report.plan.mappings.iter().map(|mapping| plain(mapping)).collect();
        let heading: Vec<&str> = std::iter::once("workers").chain(mappings.iter().map(String::as_str)).collect();
        grid::columns(&heading, &[], &rows(report, &cells), out)?;
    }
    write_reasons(report, out)
}

fn heading(report: &Report, cells: &[&Cell]) -> String {
    let name = cells.first().map_or("", |cell| cell.kernel.as_str());
    // More than one where a report was resumed and the kernel chose otherwise.
    let variants: BTreeSet<&str> = cells.iter().filter_map(|cell| cell.variant.as_deref()).collect();
    let variants: Vec<String> = variants.into_iter().map(plain).collect();
    let variant = if variants.is_empty() { String::new() } else { format!(" [{}]", variants.join("; ")) };
    format!("{}{variant}: best of {}, (max-min)/median in brackets", plain(name), report.plan.repetitions)
}

fn rows(report: &Report, cells: &[&Cell]) -> Vec<Vec<String>> {
    let mut by_workers: BTreeMap<u64, BTreeMap<&str, &Cell>> = BTreeMap::new();
    for &cell in cells {
        by_workers.entry(cell.workers).or_default().insert(&cell.mapping, cell);
    }
    by_workers
        .into_iter()
        .map(|(workers, cells)| {
            let values =
                report.plan.mappings.iter().map(|mapping| cells.get(mapping.as_str()).map_or("-".into(), number));
            std::iter::once(workers.to_string()).chain(values).collect()
        })
        .collect()
}

/// The number with its spread, and a question mark if anything speaks against it; or a word for why there is none.
fn number(cell: &&Cell) -> String {
    let word = match cell.outcome.status {
        Status::Ok => None,
        Status::Pending => Some("pending"),
        Status::Skipped => Some("skipped"),
        Status::Unavailable => Some("unavailable"),
        Status::Failed => Some("failed"),
        Status::Wrong => Some("wrong"),
        Status::Aborted => Some("aborted"),
    };
    match (word, &cell.summary) {
        (Some(word), _) => word.to_owned(),
        (None, None) => "too short".to_owned(),
        (None, Some(summary)) => {
            let spread = summary.spread.map(|spread| format!(" ({})", human::percent(spread))).unwrap_or_default();
            let doubt = if marked(cell) { " ?" } else { "" };
            format!("{}{spread}{doubt}", human::value(summary.best, cell.unit))
        }
    }
}

/// Why numbers carry a question mark, or are missing: each kind of reason once, with its first case as an
/// example and how many more there are.
fn write_reasons(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut kinds: BTreeMap<&str, (&str, Vec<String>)> = BTreeMap::new();
    for cell in &report.cells {
        let place = || format!("{} {} x{}", cell.kernel, cell.mapping, cell.workers);
        if let Some(reason) = &cell.outcome.reason {
            kinds.entry(reason).or_insert((reason, Vec::new())).1.push(place());
        }
        for mark in cell.passport.iter().flat_map(|passport| &passport.marks) {
            kinds.entry(&mark.code).or_insert((&mark.reason, Vec::new())).1.push(place());
        }
    }
    if !kinds.is_empty() {
        writeln!(out)?;
    }
    for (kind, (example, places)) in kinds {
        let first = places.first().map_or("", String::as_str);
        let rest = match places.len() {
            0 | 1 => String::new(),
            more => format!(" (and {} like it)", counted(more - 1, "cell")),
        };
        let doubt = if kind == example { String::new() } else { format!("? {kind} ") };
        writeln!(out, "{}{}: {}{rest}", plain(&doubt), plain(first), plain(example))?;
    }
    Ok(())
}
