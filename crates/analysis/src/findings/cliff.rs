//! Where a ring falls off: from some number of workers on each hop takes at least twice as long.

use super::series::Series;
use charz_data::Role;
use charz_data::escape::counted;
use charz_data::report::{Finding, FindingKind, Unit};
use charz_estimate::Estimate;
use charz_words::estimate::shown;

/// How many times as long a hop takes behind the cliff, at least. Neighbours in a series without one differ by far less, and
/// the rings of the source (33 threads on 32 strands) by 30 times.
const STEEP: f64 = 2.0;

/// The cliff of a ring, or that there is none although there were more workers than strands.
pub(super) fn cliff(series: &Series<'_>, strands: u64) -> Option<Finding> {
    if *series.role() != Role::Ring || !series.counts(Unit::NanosecondsPerOp) {
        return None;
    }
    let numbers: Vec<Estimate<'_>> = series.numbers().collect();
    // Below that the distance to other CPUs makes hops slow.
    let oversubscribed = || (1..numbers.len()).filter(|&at| numbers[at].cell.workers >= strands);
    if let Some(at) = oversubscribed().find(|&at| is_edge(&numbers, at)) {
        let (before, after) = (slowest(&numbers[..at])?, numbers[at]);
        let workers = after.cell.workers;
        let place = match workers - strands {
            0 => ", as many as CPUs".to_owned(),
            1 => ", one more than CPUs".to_owned(),
            more => format!(", {more} more than CPUs"),
        };
        let (low, high) = (shown(&before), shown(&after));
        let inside = numbers[at - 1].cell.workers;
        let missing = series.cells.iter().filter(|cell| cell.workers > inside && cell.workers < workers).count();
        let at = match missing {
            0 => format!("at {workers} threads{place}"),
            _ => format!(
                "between {inside} and {workers} threads{place}, without a number of {} between",
                counted(missing, "configuration")
            ),
        };
        let text = format!(": oversubscription cliff {at}: {low} per hop before, {high} after");
        let times = after.value / before.value;
        return Some(series.finding(FindingKind::Cliff, Some(workers), Some(times), &text));
    }
    let most = numbers.last().filter(|last| last.cell.workers > strands)?.cell.workers;
    let first = numbers.first().filter(|first| first.cell.workers <= strands)?;
    let fastest = numbers.iter().min_by(|one, other| one.by_value(other)).unwrap_or(first);
    let (low, high) = (shown(fastest), shown(&slowest(&numbers)?));
    let verdict = match oversubscribed().any(|at| may_be_edge(&numbers, at)) {
        true => "an oversubscription cliff is not shown",
        false => "no oversubscription cliff",
    };
    let text = format!(": {verdict} up to {most} threads on {strands} CPUs: {low} to {high} per hop");
    Some(series.finding(FindingKind::Cliff, None, None, &text))
}

/// Whether everything from here on is far slower than anything before.
fn is_edge(numbers: &[Estimate<'_>], at: usize) -> bool {
    let (before, after) = numbers.split_at(at);
    slowest(before).is_some_and(|before| {
        after.iter().all(|after| after.value >= STEEP * before.value && before.is_surely_below(after))
    })
}

/// Whether the intervals leave room for one.
fn may_be_edge(numbers: &[Estimate<'_>], at: usize) -> bool {
    let (before, after) = numbers.split_at(at);
    let most = before.iter().map(|number| number.ends().0).fold(0.0, f64::max);
    after.iter().all(|after| after.ends().1 >= STEEP * most)
}

fn slowest<'a>(numbers: &[Estimate<'a>]) -> Option<Estimate<'a>> {
    numbers.iter().copied().max_by(Estimate::by_value)
}
