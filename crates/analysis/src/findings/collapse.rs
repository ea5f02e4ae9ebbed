//! Where workers that share something do much less together than fewer of them do.

use charz_data::Family;

use super::series::{Number, Series, list};
use charz_data::report::{Cell, Ending, Finding, FindingKind, Status, Unit};

/// The share of what fewer workers do that is no collapse yet.
const HALF: f64 = 0.5;

/// Where a kernel collapses: each number of workers with which it does less than half of the best with fewer, counted anew from
/// there; and what was not measured behind.
pub(super) fn collapse(series: &Series<'_>) -> Option<Finding> {
    let shares = series.card.is_some_and(|card| card.family == Family::Sync);
    if !shares || !series.counts(Unit::OpsPerSecond) {
        return None;
    }
    let mut best: Option<Number<'_>> = None;
    let mut falls: Vec<String> = Vec::new();
    let mut first = None;
    for cell in &series.cells {
        let workers = cell.workers;
        match (Number::of(cell), best) {
            (Some(next), Some(before)) if next.value < HALF * before.value && next.is_surely_below(&before) => {
                falls.push(format!(
                    "at {}: {}, where {} did {}",
                    count(workers),
                    next.shown(),
                    count(before.cell.workers),
                    before.shown()
                ));
                first = first.or(Some((workers, Some(next.value / before.value))));
                best = Some(next);
            }
            (Some(next), before) => best = before.filter(|before| before.value >= next.value).or(Some(next)),
            (None, Some(before)) if is_stuck(cell) => {
                falls.push(format!(
                    "at {}: it did not end in its time, where {} did {}",
                    count(workers),
                    count(before.cell.workers),
                    before.shown()
                ));
                first = first.or(Some((workers, None)));
                break;
            }
            (None, _) => {}
        }
    }
    let (workers, value) = first?;
    let name = format!("{} {}", series.kernel, series.mapping);
    let text = format!("{name} collapsed {}{}", falls.join("; again "), unmeasured(series, workers));
    Some(Finding {
        kind: FindingKind::Collapse,
        kernel: series.kernel.to_owned(),
        mapping: Some(series.mapping.to_owned()),
        workers: Some(workers),
        value,
        text,
    })
}

fn count(workers: u64) -> String {
    format!("{workers} {}", if workers == 1 { "worker" } else { "workers" })
}

fn is_stuck(cell: &Cell) -> bool {
    cell.invocations.iter().any(|invocation| invocation.ending == Ending::Overdue)
}

/// Which numbers of workers beyond this one have no number, as the end of the sentence.
fn unmeasured(series: &Series<'_>, workers: u64) -> String {
    let of = |status: Status, word: &str| {
        let cells = series.cells.iter().filter(|cell| cell.workers > workers && cell.outcome.status == status);
        let numbers: Vec<String> = cells.map(|cell| cell.workers.to_string()).collect();
        if numbers.is_empty() { String::new() } else { format!("; with {} workers it was {word}", list(&numbers)) }
    };
    of(Status::Skipped, "skipped") + &of(Status::Aborted, "given up")
}
