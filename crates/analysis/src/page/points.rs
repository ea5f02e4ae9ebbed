//! From a cell to a point of a figure.

use super::cells::{CellsByKernel, SourcedCell};
use crate::figure::{DataPoint, Datum, State};
use charz_data::checks;
use charz_data::escape::shortened;
use charz_data::report::{Cell, Mark, Report, Status, Unit};
use charz_data::{Family, units};
use charz_words::point;

/// The max length of foreign words in a sentence, in characters; longer words were made to be a burden.
const LONGEST: usize = 600;

/// A cell's number at a place on the x axis, with all that is to be said of it.
pub(super) fn point(cell: &Cell, x: f64) -> DataPoint {
    DataPoint { x, y: cell.value(), spread: interval(cell), state: state(cell), note: note(cell), runs: runs(cell) }
}

/// What a number is along an axis.
pub(super) fn quantity(unit: Unit) -> &'static str {
    match unit {
        _ if unit.more_is_better() => "throughput",
        _ if unit.is_time() => "time",
        _ => "cost",
    }
}

/// What the numbers of cells of one unit are, as a part of an id and in words.
pub(super) fn what(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> (&'static str, String) {
    let (slug, what) = match cells[0].cell.unit {
        Unit::OpsPerSecond => ("ops", "throughput"),
        Unit::BytesPerSecond => ("bytes", "throughput"),
        Unit::Nanoseconds => ("time", "time of a run"),
        Unit::NanosecondsPerOp => ("time-per-op", "time from one operation to the next, over all threads"),
        Unit::NanosecondsPerStep => ("time-per-step", "time of an operation"),
        Unit::MillisecondsPerGib => ("time-per-gib", "time of a GiB"),
        Unit::NanosecondsSampled => {
            // The second time by its name, where all share it.
            let times = cells.iter().map(|own| {
                let card = sorted.sources[own.source].report.card(&own.cell.kernel)?;
                Some(card.times.as_ref()?.second.to_string())
            });
            let second = times.reduce(|one, other| one.filter(|one| other.as_ref() == Some(one))).flatten();
            let second = second.map(|second| format!("median time {second}"));
            return ("sampled", second.unwrap_or_else(|| "median time".to_owned()));
        }
        Unit::Reported(ref unit) => ("reported", unit.symbol.as_str()),
    };
    (slug, what.to_owned())
}

/// The most runs of a point that are shown.
const MOST_RUNS: usize = 40;

/// What each run gave; none of a single one, which says nothing of their spread.
fn runs(cell: &Cell) -> Vec<f64> {
    let runs = cell.invocations.iter().filter_map(|invocation| invocation.value).filter(|value| value.is_finite());
    let runs: Vec<f64> = runs.take(MOST_RUNS).collect();
    if runs.len() > 1 { runs } else { Vec::new() }
}

/// The ends of the interval of a cell's number; `None` without either.
pub(super) fn interval(cell: &Cell) -> Option<[f64; 2]> {
    let interval = cell.capacity?.interval.filter(|_| cell.value().is_some())?;
    Some([interval.low, interval.high])
}

pub(super) fn doubt(cell: &Cell) -> &'static str {
    units::doubt(state(cell) == State::Suspect)
}

/// A cell's number in a table, or why there is none.
pub(super) fn datum(cell: &Cell) -> Datum {
    Datum { text: number(cell), number: cell.value() }
}

/// The rate of a program over the number of its threads.
pub(super) fn per_thread(report: &Report, cell: &Cell) -> Datum {
    let is_program = report.card(&cell.kernel).is_some_and(|card| card.family == Family::Workload);
    let rate = cell.value().filter(|_| is_program && cell.unit == Unit::OpsPerSecond);
    let share = rate.map(|rate| rate / cell.workers.max(1) as f64);
    Datum::known(share, |share| format!("{}{}", units::value(share, cell.unit), doubt(cell)))
}

/// Whether a cell's number may be believed.
pub(super) fn state(cell: &Cell) -> State {
    match cell.status {
        Status::Ok if cell.value().is_some() => State::Ok,
        Status::Suspect if cell.value().is_some() => State::Suspect,
        _ => State::Missing,
    }
}

/// A cell in a sentence: name, number, interval, and the reasons to doubt it.
pub(super) fn note(cell: &Cell) -> String {
    format!("{}: {}{}", short(&point::name(cell)), number(cell), against(cell))
}

/// The number with the half width of its interval, and `~` if it is noisy; or why there is none.
pub(super) fn number(cell: &Cell) -> String {
    let Some(value) = cell.value() else {
        return match cell.status {
            Status::Ok | Status::Suspect => "no result".to_owned(),
            status => status.name().to_owned(),
        };
    };
    let interval = cell.capacity.and_then(|capacity| capacity.interval);
    let width = interval.map(|interval| format!(" ±{}", units::percent(interval.half_width(value))));
    format!("{}{}{}", units::value(value, cell.unit), width.unwrap_or_default(), doubt(cell))
}

/// The reason of the ending, or the marks by their short names; empty for a sound cell.
pub(super) fn against(cell: &Cell) -> String {
    let named = |mark: &Mark| match checks::find(&mark.code) {
        Some(check) => format!("; {} {}", check.code, check.title),
        None => format!("; {}", mark.code),
    };
    let words = match (&cell.reason, cell.marks.is_empty()) {
        (Some(reason), true) => format!("; {reason}"),
        _ => cell.marks.iter().map(named).collect(),
    };
    short(&words)
}

/// Foreign words; if they are too long, the middle is left out.
pub(super) fn short(words: &str) -> String {
    shortened(words, LONGEST as f64, |_| 1.0)
}
