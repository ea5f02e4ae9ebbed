//! Whether what a report says follows from what it measured: each cell is judged again.

use charz_data::report::{Cell, Estimate, Interval, Report, Status};

use super::{JudgeContext, judge};
use charz_data::Family;

/// How far numbers may be apart that were computed in another order.
const ROUNDING: f64 = 1e-9;

/// What a cell with a number says that does not follow from its repetitions, as the end of a sentence about the report; `None` where
/// all follows, and of reports of another version of charz, whose rules may have been others.
///
/// `context` has what a cell is judged by: `None` leaves out one that another program measured with a kernel of its own.
pub fn contradiction(report: &Report, context: impl Fn(&Cell) -> Option<JudgeContext>) -> Option<String> {
    if report.tool.version != env!("CARGO_PKG_VERSION") {
        return None;
    }
    let cells = || report.floor.iter().chain(&report.cells);
    cells().enumerate().find_map(|(index, cell)| {
        let what = differs(report, cell, &context(cell)?)?;
        let (kernel, workers) = (&cell.kernel, cell.workers);
        Some(format!("cell {index}, floor included ({kernel:?}, {workers} workers), {what} that does not follow from its repetitions"))
    })
}

fn differs(report: &Report, cell: &Cell, context: &JudgeContext) -> Option<&'static str> {
    let family = context.card.family;
    let wanted = report.plan.precision.unwrap_or(family.precision());
    // The floor of a report has its own, whatever was asked for.
    let of_floor = family == Family::Floor && cell.precision == family.precision();
    if cell.precision != wanted && !of_floor {
        return Some("has a precision");
    }
    // Without a number there is none to be wrong.
    if !matches!(cell.status, Status::Ok | Status::Suspect) {
        return None;
    }
    let mut again = cell.clone();
    judge(&mut again, context);
    let values = |cell: &Cell| cell.invocations.iter().map(|invocation| invocation.value).collect::<Vec<_>>();
    let same = |one: f64, other: f64| (one - other).abs() <= ROUNDING * other.abs();
    let alike = |one: Option<f64>, other: Option<f64>| {
        one.is_some() == other.is_some() && one.zip(other).is_none_or(|(one, other)| same(one, other))
    };
    let ends = |estimate: Option<Estimate>| {
        estimate.and_then(|estimate| estimate.interval).map(|Interval { low, high }| [low, high])
    };
    let end = |estimate, at: usize| ends(estimate).map(|ends| ends[at]);
    let equal = |one: Option<Estimate>, other: Option<Estimate>| {
        let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
        alike(value(one), value(other)) && [0, 1].into_iter().all(|at| alike(end(one, at), end(other, at)))
    };
    let codes = |cell: &Cell| cell.marks.iter().map(|mark| (mark.code.clone(), mark.severity)).collect::<Vec<_>>();
    if !values(cell).into_iter().zip(values(&again)).all(|(one, other)| alike(one, other)) {
        return Some("has an invocation with a value");
    }
    if cell.status != again.status {
        return Some("has a status");
    }
    if codes(cell) != codes(&again) {
        return Some("has marks");
    }
    let numbers = equal(cell.capacity, again.capacity) && equal(cell.delivered, again.delivered);
    (!numbers).then_some("has a number or an interval")
}
