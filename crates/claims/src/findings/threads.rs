//! What more threads do: where a ring falls off, where those that share something collapse, and under a quota.

use super::{Claim, Facts, Finding, Line};
use charz_data::report::{Cell, Ending, Status, Unit};
use charz_data::{Family, Role};
use charz_estimate::Estimate;

/// How many times as long a hop takes behind the cliff, at least. Neighbours in a series without one differ by far less, and
/// the rings of the source (33 threads on 32 strands) by 30 times.
const STEEP: f64 = 2.0;

/// From some number of workers on each hop of a ring takes at least twice as long.
#[derive(Debug)]
pub struct Cliff<'a> {
    /// The slowest before it, and the first behind.
    pub before: Estimate<'a>,
    pub after: Estimate<'a>,
    /// The most workers that have a number before it.
    pub inside: u64,
    /// How many configurations lie between and have none.
    pub missing: usize,
    pub strands: u64,
}

/// More workers than strands, and no cliff.
#[derive(Debug)]
pub struct NoCliff<'a> {
    pub fastest: Estimate<'a>,
    pub slowest: Estimate<'a>,
    pub most: u64,
    pub strands: u64,
    /// Whether the intervals leave room for one.
    pub may_be: bool,
}

/// The cliffs of rings, or that there is none although there were more workers than strands.
pub(super) fn cliffs<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let rings = facts.lines_of(Unit::NanosecondsPerOp, |role| *role == Role::Ring);
    rings.filter_map(|line| cliff(line, facts.strands)).collect()
}

fn cliff<'a>(line: &Line<'a>, strands: u64) -> Option<Finding<'a>> {
    let numbers: Vec<Estimate<'_>> = line.numbers().collect();
    // Below that the distance to other CPUs makes hops slow.
    let oversubscribed = || (1..numbers.len()).filter(|&at| numbers[at].cell.workers >= strands);
    if let Some(at) = oversubscribed().find(|&at| is_edge(&numbers, at)) {
        let (before, after, inside) = (slowest(&numbers[..at])?, numbers[at], numbers[at - 1].cell.workers);
        let between = |cell: &&&Cell| cell.workers > inside && cell.workers < after.cell.workers;
        let missing = line.cells.iter().filter(between).count();
        let claim = Claim::Cliff(Cliff { before, after, inside, missing, strands });
        return Some(Finding::on(after.cell, Some(after.value / before.value), claim));
    }
    let most = numbers.last().filter(|last| last.cell.workers > strands)?.cell.workers;
    numbers.first().filter(|first| first.cell.workers <= strands)?;
    let fastest = numbers.iter().copied().min_by(Estimate::by_value)?;
    let may_be = oversubscribed().any(|at| may_be_edge(&numbers, at));
    let claim = Claim::NoCliff(NoCliff { fastest, slowest: slowest(&numbers)?, most, strands, may_be });
    Some(Finding { workers: None, ..Finding::on(fastest.cell, None, claim) })
}

/// Whether everything from here on is far slower than anything before.
fn is_edge(numbers: &[Estimate<'_>], at: usize) -> bool {
    let (before, after) = numbers.split_at(at);
    slowest(before).is_some_and(|before| {
        after.iter().all(|after| after.value >= STEEP * before.value && before.is_surely_below(after))
    })
}

fn may_be_edge(numbers: &[Estimate<'_>], at: usize) -> bool {
    let (before, after) = numbers.split_at(at);
    let most = before.iter().map(|number| number.ends().0).fold(0.0, f64::max);
    after.iter().all(|after| after.ends().1 >= STEEP * most)
}

fn slowest<'a>(numbers: &[Estimate<'a>]) -> Option<Estimate<'a>> {
    numbers.iter().copied().max_by(Estimate::by_value)
}

/// A throughput of at least this share of the best with fewer workers is no collapse.
const HALF: f64 = 0.5;

/// With so many workers a kernel does less than half of the best with fewer.
#[derive(Debug)]
pub struct Fall<'a> {
    pub workers: u64,
    /// `None` where it did not end in its time.
    pub number: Option<Estimate<'a>>,
    pub before: Estimate<'a>,
}

/// Where kernels collapse whose workers share something; and what was not measured behind.
pub(super) fn collapses<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let shares = |line: &&Line<'_>| line.card.is_some_and(|card| card.family == Family::Sync);
    let lines = facts.lines.iter().filter(shares).filter(|line| line.counts(Unit::OpsPerSecond));
    lines.filter_map(collapse).collect()
}

fn collapse<'a>(line: &Line<'a>) -> Option<Finding<'a>> {
    let mut best: Option<Estimate<'_>> = None;
    let mut falls: Vec<Fall<'_>> = Vec::new();
    for (cell, number) in line.cells.iter().zip(&line.estimates) {
        // Too few runs show no fall, and none from them.
        if number.is_some_and(|number| number.interval.is_none()) {
            continue;
        }
        match (*number, best) {
            (Some(next), Some(before)) if next.value < HALF * before.value && next.is_surely_below(&before) => {
                falls.push(Fall { workers: cell.workers, number: *number, before });
                best = Some(next);
            }
            (Some(next), before) => best = before.filter(|before| before.value >= next.value).or(Some(next)),
            (None, Some(before)) if is_stuck(cell) => {
                falls.push(Fall { workers: cell.workers, number: None, before });
                break;
            }
            (None, _) => {}
        }
    }
    let first = falls.first()?;
    let (workers, value) = (first.workers, first.number.map(|number| number.value / first.before.value));
    let beyond = |status| {
        let cells = line.cells.iter().filter(|cell| cell.workers > workers && cell.status == status);
        cells.map(|cell| cell.workers).collect()
    };
    let claim = Claim::Collapse { falls, skipped: beyond(Status::Skipped), failed: beyond(Status::Failed) };
    Some(Finding { workers: Some(workers), ..Finding::on(line.cells[0], value, claim) })
}

fn is_stuck(cell: &Cell) -> bool {
    cell.invocations.iter().any(|invocation| invocation.ending == Ending::TimedOut)
}

/// Of the mapping with the most numbers, relative to its fewest threads.
pub(super) fn quota<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let measured = facts.lines.iter().rev().filter(|line| *line.role() == Role::Quota);
    let most = measured.max_by_key(|line| line.numbers().count());
    let finding = facts.report.machine.usable.quota_cpus.zip(most).and_then(|(cpus, line)| {
        let numbers: Vec<Estimate<'_>> = line.numbers().collect();
        let [fewest, .., last] = numbers[..] else { return None };
        let found = Finding::on(last.cell, Some(last.value / fewest.value), Claim::Quota(cpus));
        Some(Finding { workers: None, ..found.from(numbers) })
    });
    finding.into_iter().collect()
}
