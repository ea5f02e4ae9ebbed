//! What follows from a report's numbers: the best mapping of each kernel, where it saturates, what leaving it to the
//! operating system costs.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use super::doubt;
use crate::grid;
use charz_analysis::page;
use charz_analysis::page::matrix::Matrix;
use charz_analysis::verdict::{Verdict, verdicts};
use charz_data::escape::{counted, plain};
use charz_data::report::{Report, Status};
use charz_data::units;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    // Which pair of strands is nearest is told beside the matrix.
    let kernels = report.plan.kernels.iter().filter(|kernel| Matrix::of(report, kernel).is_none());
    let kernels: HashSet<&str> = kernels.map(String::as_str).collect();
    let verdicts = verdicts(report);
    let telling = verdicts.iter().filter(|verdict| verdict.is_telling() && kernels.contains(verdict.kernel));
    let rows: Vec<_> = telling.map(row).collect();
    if !rows.is_empty() {
        let heading = ["kernel", "best mapping", "workers", "best", "saturates at", "auto, as many workers"];
        writeln!(out)?;
        grid::columns(&heading, &[0, 1, 5], &rows, out)?;
    }
    write_floor(report, out)?;
    let count = |status: Status| {
        let count = report.cells.iter().filter(|cell| cell.outcome.status == status).count();
        format!("{count} {}", status.name())
    };
    writeln!(
        out,
        "{}: {}; {} in {}, {} of it timed",
        counted(report.cells.len(), "cell"),
        Status::ALL.map(count).join(", "),
        counted(report.cells.iter().map(|cell| cell.invocations.len()).sum(), "invocation"),
        units::duration(Duration::from_nanos(report.wall_ns)),
        units::percent(timed_share(report)),
    )?;
    if report.cells.iter().any(|cell| !cell.marks.is_empty()) {
        writeln!(out, "charz explain V03 tells what a mark means and what to do about it")?;
    }
    if !report.complete {
        let why = report.stopped_by.as_deref().unwrap_or("an interruption");
        writeln!(out, "incomplete, ended by {}; finish it with charz sweep --resume", plain(why))?;
    }
    Ok(())
}

/// How much of the sweep's time was spent in timed spans, as a fraction.
fn timed_share(report: &Report) -> f64 {
    // A sum of nothing is a negative zero.
    let invocations = report.cells.iter().flat_map(|cell| &cell.invocations);
    let runs = invocations.flat_map(|invocation| &invocation.runs);
    let timed: f64 = 0.0 + runs.map(|run| run.interval_ns as f64).sum::<f64>();
    timed / report.wall_ns.max(1) as f64
}

fn row(verdict: &Verdict<'_>) -> [String; 6] {
    let told = page::Verdict::of(verdict);
    let mapping = format!("{}{}", plain(&told.mapping), units::doubt(told.doubtful));
    let alike: Vec<String> = told.alike.iter().map(|mapping| plain(mapping)).collect();
    [
        plain(&told.kernel),
        if alike.is_empty() { mapping } else { format!("{mapping} ~ {}", alike.join(", ")) },
        told.workers.to_string(),
        told.best,
        told.saturates.unwrap_or_else(|| "-".to_owned()),
        told.auto,
    ]
}

fn write_floor(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let floors: Vec<_> = report
        .floor
        .iter()
        .map(|cell| {
            let time = cell.value().map_or("unknown".to_owned(), units::nanos);
            format!("{time}{} with {}", doubt(cell), counted(cell.seats.len(), "worker"))
        })
        .collect();
    if floors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nfloor: an empty run, from the first start to the last end, takes {}", floors.join(", "))
}
