//! What follows from a report's numbers: the best mapping of each kernel, where it saturates, what leaving it to the
//! operating system costs.

use std::io::{self, Write};
use std::time::Duration;

use super::{marked, trusted};
use crate::render::text::{counted, plain};
use crate::render::{grid, human};
use crate::report::{Cell, Report, Status, Summary, Unit};

/// A mapping is saturated where it first reaches this share of its best.
const SATURATED: f64 = 0.95;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<_> = report.plan.kernels.iter().filter_map(|kernel| Verdict::of(report, kernel)).collect();
    if !rows.is_empty() {
        let heading = ["kernel", "best mapping", "workers", "best", "saturates at", "auto, as many workers"];
        let rows: Vec<_> = rows.into_iter().map(Verdict::row).collect();
        writeln!(out)?;
        grid::columns(&heading, &[0, 1, 5], &rows, out)?;
    }
    write_floor(report, out)?;
    let count = |wanted: &dyn Fn(&Cell) -> bool| report.cells.iter().filter(|cell| wanted(cell)).count();
    let status = |status| count(&|cell: &Cell| cell.outcome.status == status);
    let marks = count(&|cell: &Cell| cell.outcome.status == Status::Ok && marked(cell));
    writeln!(
        out,
        "{}: {} clean, {marks} marked, {} skipped, {} unavailable, {} failed, {} wrong, {} not measured; \
         {}, {} of it timed",
        counted(report.cells.len(), "cell"),
        status(Status::Ok) - marks,
        status(Status::Skipped),
        status(Status::Unavailable),
        status(Status::Failed),
        status(Status::Wrong),
        status(Status::Pending) + status(Status::Aborted),
        human::duration(Duration::from_nanos(report.wall_ns)),
        human::percent(timed_share(report)),
    )?;
    if !report.complete {
        let why = report.stopped_by.as_deref().unwrap_or("an interruption");
        writeln!(out, "incomplete, ended by {}; finish it with charz sweep --resume", plain(why))?;
    }
    Ok(())
}

/// How much of the sweep's time was spent in timed spans, as a fraction.
fn timed_share(report: &Report) -> f64 {
    // A sum of nothing is a negative zero.
    let timed: f64 =
        0.0 + report.cells.iter().flat_map(|cell| &cell.runs).map(|run| run.interval_ns as f64).sum::<f64>();
    timed / report.wall_ns.max(1) as f64
}

/// One kernel's result.
struct Verdict<'a> {
    best: &'a Cell,
    summary: Summary,
    /// Other mappings that gave as much with as many workers, as far as the repetitions can tell.
    alike: Vec<String>,
    saturates_at: u64,
    auto: String,
}

impl<'a> Verdict<'a> {
    fn of(report: &'a Report, kernel: &str) -> Option<Self> {
        let cells = || {
            report
                .cells
                .iter()
                // A kernel that does no work has no throughput to compare.
                .filter(move |cell| cell.kernel == kernel && cell.unit != Unit::Nanoseconds && trusted(cell))
                .filter_map(|cell| Some((cell, cell.summary?)))
        };
        // Among equals the first: fewer workers, and the earlier mapping. A sound number goes before a doubtful one.
        let best_of = |sound: bool| {
            let candidates = cells().filter(|(cell, _)| !sound || super::sound(cell));
            candidates.reduce(|best, next| if next.1.best > best.1.best { next } else { best })
        };
        let (best, summary) = best_of(true).or_else(|| best_of(false))?;
        let alike = cells().filter(|(cell, found)| {
            let noise = noise(summary, *found).unwrap_or(0.0);
            cell.workers == best.workers && cell.mapping != best.mapping && found.best >= (1.0 - noise) * summary.best
        });
        let alike = alike.map(|(cell, _)| plain(&cell.mapping)).collect();
        let saturates_at = cells()
            .filter(|(cell, found)| cell.mapping == best.mapping && found.best >= SATURATED * summary.best)
            .map(|(cell, _)| cell.workers)
            .min()?;
        let auto = cells().find(|(cell, _)| cell.mapping == "auto" && cell.workers == best.workers);
        let auto = match auto {
            None => "not measured".to_owned(),
            Some((cell, _)) if std::ptr::eq(cell, best) => "it is the best".to_owned(),
            Some((_, found)) => against(found.best / summary.best, summary, found),
        };
        Some(Verdict { best, summary, alike, saturates_at, auto })
    }

    fn row(self) -> [String; 6] {
        let doubt = if marked(self.best) { " ?" } else { "" };
        [
            plain(&self.best.kernel),
            match self.alike.as_slice() {
                [] => plain(&self.best.mapping),
                alike => format!("{} ~ {}", plain(&self.best.mapping), alike.join(", ")),
            },
            self.best.workers.to_string(),
            format!("{}{doubt}", human::value(self.summary.best, self.best.unit)),
            self.saturates_at.to_string(),
            self.auto,
        ]
    }
}

/// How much less auto gives; a difference that the repetitions of either make by themselves says nothing.
fn against(ratio: f64, best: Summary, auto: Summary) -> String {
    let loss = 1.0 - ratio;
    // A doubtful number may be the larger one and yet not the best.
    let lost = match loss < 0.0 {
        true => format!("gives {} more", human::percent(-loss)),
        false => format!("loses {}", human::percent(loss)),
    };
    match noise(best, auto) {
        None => format!("{lost}, spread unknown"),
        Some(noise) if loss.abs() <= noise => format!("{lost}, within the spread of {}", human::percent(noise)),
        Some(_) => lost,
    }
}

/// The larger of two spreads; `None` where one of them is not known.
fn noise(one: Summary, other: Summary) -> Option<f64> {
    Some(one.spread?.max(other.spread?))
}

fn write_floor(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let floors: Vec<_> = report
        .floor
        .iter()
        .map(|cell| {
            let doubt = if marked(cell) { " ?" } else { "" };
            let time = cell.summary.map_or("unknown".to_owned(), |summary| human::nanos(summary.best));
            format!("{time}{doubt} with {}", counted(cell.seats.len(), "worker"))
        })
        .collect();
    if floors.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nfloor: an empty run, from the first start to the last end, takes {}", floors.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(best: f64, spread: f64) -> Summary {
        Summary { best, median: best, worst: best, spread: Some(spread), start_skew_ns: 0 }
    }

    #[test]
    fn a_loss_within_the_noise_is_called_so() {
        assert_eq!(against(0.9, summary(10.0, 0.01), summary(9.0, 0.02)), "loses 10.0%");
        assert_eq!(against(0.9, summary(10.0, 0.01), summary(9.0, 0.2)), "loses 10.0%, within the spread of 20.0%");
        assert_eq!(against(1.1, summary(10.0, 0.01), summary(11.0, 0.02)), "gives 10.0% more");
        let once = Summary { spread: None, ..summary(9.0, 0.0) };
        assert_eq!(against(0.9, summary(10.0, 0.01), once), "loses 10.0%, spread unknown");
    }
}
