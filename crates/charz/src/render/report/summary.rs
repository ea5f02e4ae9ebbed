//! What follows from a report's numbers: the best mapping of each kernel, where it saturates, what leaving it to the
//! operating system costs.

use std::io::{self, Write};
use std::time::Duration;

use super::doubt;
use super::matrix::Matrix;
use crate::render::text::{counted, plain};
use crate::render::{grid, human};
use crate::report::{Cell, Interval, Report, Status, Unit};

/// A mapping is saturated where it first reaches this share of its best.
const SATURATED: f64 = 0.95;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    // Which pair of strands is nearest is told beside the matrix.
    let kernels = report.plan.kernels.iter().filter(|kernel| Matrix::of(report, kernel).is_none());
    let rows: Vec<_> = kernels.filter_map(|kernel| Verdict::of(report, kernel)).collect();
    if !rows.is_empty() {
        let heading = ["kernel", "best mapping", "workers", "best", "saturates at", "auto, as many workers"];
        let rows: Vec<_> = rows.into_iter().map(Verdict::row).collect();
        writeln!(out)?;
        grid::columns(&heading, &[0, 1, 5], &rows, out)?;
    }
    write_floor(report, out)?;
    let count = |status| report.cells.iter().filter(|cell| cell.outcome.status == status).count();
    writeln!(
        out,
        "{}: {} ok, {} suspect, {} invalid, {} skipped, {} aborted, {} pending; {} in {}, {} of it timed",
        counted(report.cells.len(), "cell"),
        count(Status::Ok),
        count(Status::Suspect),
        count(Status::Invalid),
        count(Status::Skipped),
        count(Status::Aborted),
        count(Status::Pending),
        counted(report.cells.iter().map(|cell| cell.invocations.len()).sum(), "invocation"),
        human::duration(Duration::from_nanos(report.wall_ns)),
        human::percent(timed_share(report)),
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

/// One kernel's result.
struct Verdict<'a> {
    best: Number<'a>,
    /// Other mappings whose intervals, with as many workers, meet that of the best.
    alike: Vec<String>,
    saturates_at: Option<u64>,
    auto: String,
}

/// A cell that has a number.
#[derive(Clone, Copy)]
struct Number<'a> {
    cell: &'a Cell,
    value: f64,
    interval: Option<Interval>,
}

impl Number<'_> {
    /// The better the larger, in any unit.
    fn gain(self) -> f64 {
        if self.cell.unit.more_is_better() { self.value } else { -self.value }
    }
}

impl<'a> Verdict<'a> {
    fn of(report: &'a Report, kernel: &str) -> Option<Self> {
        let numbers = || {
            // A kernel that does no work has no throughput to compare.
            let cells = report.cells.iter().filter(move |cell| cell.kernel == kernel && cell.unit != Unit::Nanoseconds);
            cells.filter_map(|cell| Some(Number { cell, value: super::value(cell)?, interval: cell.summary?.interval }))
        };
        // Among equals the first: fewer workers, and the earlier mapping. A sound number goes before a doubtful one.
        let best_of = |sound: bool| {
            let candidates = numbers().filter(|number| !sound || super::sound(number.cell));
            candidates.reduce(|best, next| if next.gain() > best.gain() { next } else { best })
        };
        let best = best_of(true).or_else(|| best_of(false))?;
        let alike = numbers().filter(|other| {
            other.cell.workers == best.cell.workers && other.cell.mapping != best.cell.mapping && meet(*other, best)
        });
        let alike = alike.map(|other| plain(&other.cell.mapping)).collect();
        // A time has nothing to be saturated.
        let rates = numbers().filter(|number| number.cell.unit.more_is_better());
        let saturates_at = rates
            .filter(|number| number.cell.mapping == best.cell.mapping && number.value >= SATURATED * best.value)
            .map(|number| number.cell.workers)
            .min();
        let auto = numbers().find(|number| number.cell.mapping == "auto" && number.cell.workers == best.cell.workers);
        let auto = match auto {
            None => "not measured".to_owned(),
            Some(auto) if std::ptr::eq(auto.cell, best.cell) => "it is the best".to_owned(),
            Some(auto) => against(auto, best),
        };
        Some(Verdict { best, alike, saturates_at, auto })
    }

    fn row(self) -> [String; 6] {
        let cell = self.best.cell;
        [
            plain(&cell.kernel),
            match self.alike.as_slice() {
                [] => plain(&cell.mapping),
                alike => format!("{} ~ {}", plain(&cell.mapping), alike.join(", ")),
            },
            cell.workers.to_string(),
            format!("{}{}", human::value(self.best.value, cell.unit), doubt(cell)),
            self.saturates_at.map_or("-".to_owned(), |workers| workers.to_string()),
            self.auto,
        ]
    }
}

/// Whether two intervals have a value in common; without an interval, equal numbers only.
fn meet(one: Number<'_>, other: Number<'_>) -> bool {
    let ends = |number: Number<'_>| {
        number.interval.map_or((number.value, number.value), |interval| (interval.low, interval.high))
    };
    let ((low, high), (other_low, other_high)) = (ends(one), ends(other));
    low <= other_high && other_low <= high
}

/// How much less auto gives, or longer takes; a difference that the intervals of the two leave open says nothing.
fn against(auto: Number<'_>, best: Number<'_>) -> String {
    let more = auto.value / best.value - 1.0;
    // A doubtful number may be the better one and yet not the best.
    let lost = match (best.cell.unit.more_is_better(), more > 0.0) {
        (true, true) => format!("gives {} more", human::percent(more)),
        (true, false) => format!("loses {}", human::percent(-more)),
        (false, true) => format!("takes {} longer", human::percent(more)),
        (false, false) => format!("takes {} less", human::percent(-more)),
    };
    match auto.interval.zip(best.interval) {
        None => format!("{lost}, interval unknown"),
        Some(_) if meet(auto, best) => format!("{lost}, within the intervals"),
        Some(_) => lost,
    }
}

fn write_floor(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let floors: Vec<_> = report
        .floor
        .iter()
        .map(|cell| {
            let time = super::value(cell).map_or("unknown".to_owned(), human::nanos);
            format!("{time}{} with {}", doubt(cell), counted(cell.seats.len(), "worker"))
        })
        .collect();
    if floors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nfloor: an empty run, from the first start to the last end, takes {}", floors.join(", "))
}
