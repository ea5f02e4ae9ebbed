//! Which cells are measured next: numbers for all of them first, or for those that the budget can settle; then those that decide the
//! advice, then wide intervals.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::pace::Pace;
use super::{Sweep, contends, places};
use charz_data::report::{Cell, Point};
use charz_judge::ATTEMPTS;
use charz_stats::{ALPHA, LOOKS, runs_for_verdict};

/// Where a budget is too small for all cells, those that take one of so many parts of the rest are settled together.
const BATCHES: u32 = 4;

/// Runs of shared lines and caches that are made for the time only take one of so many parts of it.
const SHARED: u32 = 10;

/// One of them is made where one of so many parts of the time is without any.
const PAUSE: u32 = 5;

/// A guest's contended line had two speeds, each for 0.3 to 3 s.
const SOON: Duration = Duration::from_secs(3);

/// What an invocation of a cell is for; the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// To make the fewest invocations.
    Due,
    /// To reach the fewest values where invocations gave none.
    Missing,
    /// To reach the first look at its width, as many as a comparison of reports takes.
    Few,
    /// To tell which is the best of its kernel, or to have a number at all.
    Advice,
    /// To narrow its interval.
    Width,
    /// To narrow the interval of more workers than strands, which settles no question of placement.
    Oversubscribed,
    /// One of the fewest where the budget has no time for all of them.
    Later,
}

impl Sweep<'_> {
    /// The cells of the most urgent turn that want an invocation and `fit` into the budget, in random order: those without a
    /// value first. Those whose workers contend are last, with ever more workers: one that does not end in time forbids the
    /// larger ones.
    pub(super) fn next_round(
        &self,
        random: &mut fastrand::Rng,
        left: Duration,
        pace: &Pace,
        takes: impl Fn(usize) -> Duration,
        fits: impl Fn(usize) -> bool,
    ) -> Option<(Turn, Vec<usize>)> {
        let (best, later) = (self.best(), self.later(left, takes));
        let is_later: HashSet<usize> = later.iter().copied().collect();
        let turn = |place| {
            let turn = (self.wants_more(place) && fits(place)).then(|| self.turn(place, &best))?;
            Some(if is_later.contains(&place) { Turn::Later } else { turn })
        };
        let turns: Vec<Option<Turn>> = (0..places(self.report)).map(turn).collect();
        let first = turns.iter().flatten().min().copied()?;
        let overdue = if first > Turn::Missing { self.overdue(pace) } else { Vec::new() };
        let is_next = |place: usize| turns[place] == Some(first) || (overdue.contains(&place) && fits(place));
        // Most of the last will have no number: one after the other.
        let one = later.into_iter().find(|&place| first == Turn::Later && is_next(place));
        Some((first, one.map_or_else(|| self.round(random, is_next), |place| vec![place])))
    }

    /// The cells that wait where the rest of the budget cannot give all of them their fewest invocations, if an invocation of a cell takes so
    /// long, in the order in which they are measured if time is left: a few runs of each would settle nothing. What is compared is measured
    /// together, so a kernel at a point is settled or waits as a whole, in the order of the plan; some kernels at a time, since a busy machine
    /// takes longer than predicted.
    pub(super) fn later(&self, left: Duration, takes: impl Fn(usize) -> Duration) -> Vec<usize> {
        let due = (0..places(self.report)).filter(|&place| self.missing(place) > 0);
        let owed =
            |place: &usize| takes(*place).saturating_mul(u32::try_from(self.missing(*place)).unwrap_or(u32::MAX));
        let (mut groups, mut all): (Vec<(Vec<usize>, Duration)>, _) = (Vec::new(), Duration::ZERO);
        let mut known = HashMap::new();
        for place in due {
            let (cell, owed) = (self.cell(place), owed(&place));
            let at = *known.entry((cell.kernel.as_str(), cell.point)).or_insert(groups.len());
            if at == groups.len() {
                groups.push((Vec::new(), Duration::ZERO));
            }
            groups[at].0.push(place);
            (groups[at].1, all) = (groups[at].1 + owed, all + owed);
        }
        if all <= left {
            return Vec::new();
        }
        // What has begun is ended first; what had its invocations and was too disturbed for a number lets the others go ahead.
        let least = self.report.plan.min_invocations;
        let made = |place: &usize| self.cell(*place).invocations.len() as u64;
        let rank = |(group, _): &(Vec<usize>, _)| {
            let (had_all, had_none) = (|place| made(place) >= least, |place| made(place) == 0);
            if group.iter().all(had_all) { 2 } else { i32::from(group.iter().all(had_none)) }
        };
        groups.sort_by_key(rank);
        let mut rest = left / BATCHES;
        let mut fits = |owed: Duration| rest.checked_sub(owed).map(|less| rest = less).is_some();
        let mut now: Vec<bool> = groups.iter().map(|(_, owed)| fits(*owed)).collect();
        if !now.contains(&true) {
            // The first that there is time for; where there is for none, those that come first get what there is.
            match groups.iter().position(|(_, owed)| *owed <= left) {
                Some(first) => now[first] = true,
                None => now = groups.iter().map(|group| rank(group) == rank(&groups[0])).collect(),
            }
        }
        let later = groups.into_iter().zip(now).filter(|(_, now)| !now);
        later.flat_map(|((group, _), _)| group).collect()
    }

    /// The cells that want an invocation, in random order; see [`next_round`](Self::next_round).
    pub(super) fn round(&self, random: &mut fastrand::Rng, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut round: Vec<usize> = (0..places(self.report)).filter(|&place| wanted(place)).collect();
        random.shuffle(&mut round);
        round.sort_by_key(|&place| {
            let cell = self.cell(place);
            (if contends(cell) { cell.workers } else { 0 }, values(cell) > 0)
        });
        round
    }

    /// How many values of each cell let a comparison of two such reports show a single difference, and an interval be looked at; within what was
    /// asked for.
    pub(super) fn compared(&self) -> u64 {
        let plan = &self.report.plan;
        let least = runs_for_verdict(self.report.cells.len(), ALPHA).max(LOOKS[0]) as u64;
        least.min(plan.max_invocations).max(plan.min_invocations)
    }

    /// The cells of shared lines and caches of which a run is overdue, though they have enough of them: such a thing may have several
    /// speeds that last for seconds, and the runs that an interval takes are made in the first ones. Each has a run where none was made in a
    /// fifth of the time so far, nor in some seconds, and all of them together take a tenth of it, as predicted: that does not depend on
    /// what else runs.
    pub(super) fn overdue(&self, pace: &Pace) -> Vec<usize> {
        let is_open = |place: &usize| {
            let cell = self.cell(*place);
            is_shared(cell) && cell.capacity.is_some() && values(cell) < self.report.plan.max_invocations
        };
        let mut shared: Vec<usize> = (0..places(self.report)).filter(is_open).collect();
        let all =
            shared.iter().map(|&place| self.predicted(self.cell(place))).fold(Duration::ZERO, Duration::saturating_add);
        shared.retain(|&place| {
            let (now, since) = pace.since(place);
            since >= all.saturating_mul(SHARED).max(now / PAUSE).max(SOON)
        });
        shared
    }

    fn turn(&self, place: usize, best: &Best<'_>) -> Turn {
        let cell = self.cell(place);
        let (least, made) = (self.report.plan.min_invocations, cell.invocations.len() as u64);
        if self.counts_next(cell) {
            return Turn::Due;
        }
        if missing(cell, least) > 0 && made < least.saturating_mul(ATTEMPTS as u64) {
            return if made < least { Turn::Due } else { Turn::Missing };
        }
        if cell.workers > self.order.strands {
            return Turn::Oversubscribed;
        }
        if values(cell) < self.compared() {
            return Turn::Few;
        }
        match (interval(cell), best.get(&(cell.kernel.as_str(), cell.point))) {
            (Some(own), Some(best)) if !reaches(own, *best, cell) => Turn::Width,
            _ => Turn::Advice,
        }
    }

    /// The interval of the best cell of each kernel and point, of those with a strand per worker.
    fn best(&self) -> Best<'_> {
        let mut best = Best::new();
        for cell in self.report.cells.iter().filter(|cell| cell.workers <= self.order.strands) {
            let Some(own) = interval(cell) else { continue };
            let known = best.entry((cell.kernel.as_str(), cell.point)).or_insert(own);
            if is_better(own.1, known.1, cell) {
                *known = own;
            }
        }
        best
    }
}

type Best<'a> = HashMap<(&'a str, Point), Interval>;

/// The low end, the number, the high end.
type Interval = (f64, f64, f64);

/// A number without an interval may be anything.
fn interval(cell: &Cell) -> Option<Interval> {
    let capacity = cell.capacity?;
    let (low, high) = capacity.interval.map_or((0.0, f64::INFINITY), |interval| (interval.low, interval.high));
    Some((low, capacity.value, high))
}

fn is_better(one: f64, other: f64, cell: &Cell) -> bool {
    if cell.unit.more_is_better() { one > other } else { one < other }
}

/// Whether the interval reaches that of the best.
fn reaches(own: Interval, best: Interval, cell: &Cell) -> bool {
    if cell.unit.more_is_better() { own.2 >= best.0 } else { own.0 <= best.2 }
}

/// Whether the speed is that of something that several CPUs use: a line, a lock, a cache.
fn is_shared(cell: &Cell) -> bool {
    (contends(cell) && cell.workers > 1) || cell.level.as_deref() == Some("L3")
}

fn values(cell: &Cell) -> u64 {
    cell.invocations.iter().filter(|invocation| invocation.value.is_some()).count() as u64
}

/// How many invocations with a value are missing to the fewest.
pub(super) fn missing(cell: &Cell, least: u64) -> u64 {
    least.saturating_sub(values(cell))
}
