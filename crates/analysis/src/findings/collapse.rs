//! Where workers that share something do much less together than fewer of them do.

use super::series::{Series, list};
use charz_data::Family;
use charz_data::escape::counted;
use charz_data::report::{Cell, Ending, Finding, FindingKind, Status, Unit};
use charz_estimate::Estimate;
use charz_words::estimate::shown;

/// A throughput of at least this share of the best with fewer workers is no collapse.
const HALF: f64 = 0.5;

/// Where a kernel collapses: each number of workers with which it does less than half of the best with fewer, counted anew from
/// there; and what was not measured behind.
pub(super) fn collapse(series: &Series<'_>) -> Option<Finding> {
    let shares = series.card.is_some_and(|card| card.family == Family::Sync);
    if !shares || !series.counts(Unit::OpsPerSecond) {
        return None;
    }
    let mut best: Option<Estimate<'_>> = None;
    let mut falls: Vec<String> = Vec::new();
    let mut first = None;
    let mut fall = |cell: &Cell, found: &str, before: Estimate<'_>, share: Option<f64>| {
        let [now, then] = [cell, before.cell].map(|cell| counted(cell.workers as usize, "thread"));
        falls.push(format!("at {now}: {found}, where {then} did {}", shown(&before)));
        first = first.or(Some((cell.workers, share)));
    };
    for cell in &series.cells {
        let number = series.number(cell);
        // Too few runs show no fall, and none from them.
        if number.is_some_and(|number| number.interval.is_none()) {
            continue;
        }
        match (number, best) {
            (Some(next), Some(before)) if next.value < HALF * before.value && next.is_surely_below(&before) => {
                fall(cell, &shown(&next), before, Some(next.value / before.value));
                best = Some(next);
            }
            (Some(next), before) => best = before.filter(|before| before.value >= next.value).or(Some(next)),
            (None, Some(before)) if is_stuck(cell) => {
                fall(cell, "it did not end in its time", before, None);
                break;
            }
            (None, _) => {}
        }
    }
    let (workers, value) = first?;
    let text = format!(" collapsed {}{}", falls.join("; again "), unmeasured(series, workers));
    Some(series.finding(FindingKind::Collapse, Some(workers), value, &text))
}

fn is_stuck(cell: &Cell) -> bool {
    cell.invocations.iter().any(|invocation| invocation.ending == Ending::TimedOut)
}

/// Which numbers of workers beyond this one have no number, as the end of the sentence.
fn unmeasured(series: &Series<'_>, workers: u64) -> String {
    let of = |status: Status, word: &str| {
        let cells = series.cells.iter().filter(|cell| cell.workers > workers && cell.status == status);
        let numbers: Vec<String> = cells.map(|cell| cell.workers.to_string()).collect();
        if numbers.is_empty() { String::new() } else { format!("; with {} threads it was {word}", list(&numbers)) }
    };
    of(Status::Skipped, "skipped") + &of(Status::Failed, "given up")
}
