//! Where a ring falls off: from some number of workers on each hop takes at least twice as long.

use super::series::{Number, Series};
use charz_data::Role;
use charz_data::report::{Finding, FindingKind, Unit};

/// How many times as long a hop takes behind the cliff, at least. Neighbours in a series without one differ by far less, and
/// the rings of the source (33 threads on 32 strands) by 30 times.
const STEEP: f64 = 2.0;

/// The cliff of a ring, or that there is none although there were more workers than strands.
pub(super) fn cliff(series: &Series<'_>, strands: u64) -> Option<Finding> {
    if *series.role() != Role::Ring || !series.counts(Unit::NanosecondsPerOp) {
        return None;
    }
    let numbers: Vec<Number<'_>> = series.numbers().collect();
    let name = format!("{} {}", series.kernel, series.mapping);
    let edge = (1..numbers.len()).find(|&at| is_edge(&numbers, at));
    let (workers, value, text) = match edge {
        Some(at) => {
            let (slowest, after) = (slowest(&numbers[..at])?, numbers[at]);
            let workers = after.cell.workers;
            let place = match workers.checked_sub(strands) {
                Some(0) => ", as many as the strands".to_owned(),
                Some(1) => ", one more than the strands".to_owned(),
                Some(more) => format!(", {more} more than the strands"),
                None => String::new(),
            };
            let (before, after) = (slowest.shown(), after.shown());
            let text =
                format!("{name}: the cliff is at {workers} workers{place}: {before} a hop before, {after} after");
            (Some(workers), Some(numbers[at].value / slowest.value), text)
        }
        None => {
            let most = numbers.last().filter(|last| last.cell.workers > strands)?.cell.workers;
            numbers.first().filter(|first| first.cell.workers <= strands)?;
            let (slowest, fastest) = (slowest(&numbers)?, fastest(&numbers)?);
            let (low, high) = (fastest.shown(), slowest.shown());
            let text = format!("{name}: no cliff up to {most} workers on {strands} strands: {low} to {high} a hop");
            (None, None, text)
        }
    };
    Some(Finding {
        kind: FindingKind::Cliff,
        kernel: series.kernel.to_owned(),
        mapping: Some(series.mapping.to_owned()),
        workers,
        value,
        text,
    })
}

/// Whether everything from here on is far slower than anything before.
fn is_edge(numbers: &[Number<'_>], at: usize) -> bool {
    let (before, after) = numbers.split_at(at);
    slowest(before).is_some_and(|before| {
        after.iter().all(|after| after.value >= STEEP * before.value && before.is_surely_below(after))
    })
}

fn slowest<'a>(numbers: &[Number<'a>]) -> Option<Number<'a>> {
    numbers.iter().copied().max_by(|one, other| one.value.total_cmp(&other.value))
}

fn fastest<'a>(numbers: &[Number<'a>]) -> Option<Number<'a>> {
    numbers.iter().copied().min_by(|one, other| one.value.total_cmp(&other.value))
}
