//! What a program on this machine should do, each with the cells that it is drawn from.

use super::{Claim, Facts, Finding, Line, Winner};
use charz_data::Role;
use charz_data::card::{LineOperation, Waiter, WordOwner};
use charz_data::report::{Cell, Point, Unit};
use charz_estimate::{Estimate, contests, grouped};

/// Counters of their own are worth their memory from so many times on.
const WORTH: f64 = 1.5;

/// Words further apart than a line are worth their memory from so many times on.
const PADS: f64 = 1.05;

/// The most numbers that are set against each other one by one; no sweep has as many of one kernel.
const MOST: usize = 2000;

/// How long to spin before parking.
#[derive(Debug)]
pub struct Spin<'a> {
    /// One wake-up of a thread on another CPU; `None` where none was measured.
    pub longest: Option<Estimate<'a>>,
    /// The mappings that have it.
    pub under: Vec<&'a str>,
    /// Mappings under which the two threads share a CPU, and spinning is useless.
    pub shared: Vec<&'a str>,
}

/// Spinning for as long as parking and waking take, and then parking, never costs more than twice what the better of the two would
/// have cost: A. R. Karlin, K. Li, M. S. Manasse and S. Owicki, "Empirical Studies of Competitive Spinning for a
/// Shared-Memory Multiprocessor", SOSP 1991. One for each time of a wake-up from one CPU to another, with the mappings that have it: where
/// the two threads share a CPU, who spins keeps it from the other.
pub(super) fn spin_before_park<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let mut wakings = facts.numbers(Unit::NanosecondsSampled, |role| *role == Role::HandOff(Waiter::AsleepBare));
    wakings.retain(|number| number.cell.workers == 2);
    let apart = wakings.iter().copied().filter(|number| number.cell.has_own_cpus());
    // Of several ways to wake the fastest.
    let mut limits: Vec<Vec<Estimate<'_>>> = Vec::new();
    for numbers in grouped(apart, |number| number.cell.mapping.as_str()) {
        let Some(fastest) = numbers.into_iter().min_by(Estimate::by_value) else { continue };
        match limits.iter_mut().find(|group| group[0].meets(&fastest)) {
            Some(group) => group.push(fastest),
            None => limits.push(vec![fastest]),
        }
    }
    let names = |numbers: &[Estimate<'a>]| {
        let mappings = grouped(numbers.iter().map(|number| number.cell.mapping.as_str()), |name| *name);
        mappings.iter().map(|all| all[0]).collect::<Vec<_>>()
    };
    let shared: Vec<Estimate<'_>> = wakings.iter().copied().filter(|number| is_shared(number.cell)).collect();
    if let Some(first) = shared.first().filter(|_| limits.is_empty()) {
        let claim = Claim::Spin(Spin { longest: None, under: Vec::new(), shared: names(&shared) });
        return vec![Finding::on(first.cell, None, claim).of_several().from(shared)];
    }
    let advice = |(at, group): (usize, Vec<Estimate<'a>>)| {
        let longest = group.iter().copied().max_by(Estimate::by_value)?;
        let shared = if at == 0 { names(&shared) } else { Vec::new() };
        let claim = Claim::Spin(Spin { longest: Some(longest), under: names(&group), shared });
        Some(Finding::on(longest.cell, Some(longest.value), claim).of_several().from(group))
    };
    limits.into_iter().enumerate().filter_map(advice).collect()
}

/// Whether two threads are on one CPU: by their seats, or where they were seen most of the time.
fn is_shared(cell: &Cell) -> bool {
    let share = |strands: &[Option<u32>]| strands.len() == 2 && strands[0].is_some() && strands[0] == strands[1];
    let runs = || cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    let seen = runs().filter(|run| share(&run.laps.iter().map(|lap| lap.strand).collect::<Vec<_>>())).count();
    share(&cell.seats) || (cell.seats.iter().all(Option::is_none) && 2 * seen > runs().count())
}

/// A failed attempt can only disturb the others until each strand has had the line once. That is a lower bound: how much longer pays
/// depends on the work between two attempts; pools that back off show it.
pub(super) fn back_off<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let by_cas = Role::LineTransfer(LineOperation::Cas);
    let ways = facts.numbers(Unit::NanosecondsPerOp, |role| *role == by_cas);
    let strands = facts.strands;
    // A single strand waits for no other.
    let longest = ways.into_iter().filter(|_| strands > 1).max_by(Estimate::by_value);
    let advice = longest.map(|longest| {
        let mut kernels: Vec<[&str; 2]> = Vec::new();
        for line in &facts.lines {
            let pair = line.role().backs_off().map(|at_once| [at_once, line.kernel()]);
            kernels.extend(pair.filter(|pair| !kernels.contains(pair)));
        }
        let numbers = |kernel: &str| -> Vec<Estimate<'a>> {
            let own = facts.lines.iter().filter(|line| line.kernel() == kernel && line.counts(Unit::OpsPerSecond));
            own.flat_map(Line::numbers).collect()
        };
        let pools = kernels.into_iter().filter_map(|pair| most_beside(pair.map(numbers), strands, |_, _| true));
        let cap = longest.value * strands as f64;
        let claim = Claim::BackOff { cap, strands, pools: pools.collect() };
        Finding::on(longest.cell, Some(cap), claim).of_several().from([longest])
    });
    advice.into_iter().collect()
}

/// The numbers of two of the same place and point and as many workers: as many as both have numbers for, and as there are strands for.
fn most_beside<'a>(
    [mut ones, mut others]: [Vec<Estimate<'a>>; 2],
    strands: u64,
    counts: impl Fn(&Estimate<'a>, &Estimate<'a>) -> bool,
) -> Option<[Estimate<'a>; 2]> {
    ones.truncate(MOST);
    others.truncate(MOST);
    let key = |number: &Estimate<'a>| -> (u64, &'a str, Point) {
        (number.cell.workers, number.cell.mapping.as_str(), number.cell.point)
    };
    let pairs = ones.iter().filter_map(|one| {
        let other = others.iter().find(|other| key(other) == key(one)).filter(|other| counts(one, other));
        other.map(|other| [*one, *other])
    });
    pairs
        .filter(|[one, _]| (2..=strands).contains(&one.cell.workers))
        .reduce(|most, next| if next[0].cell.workers > most[0].cell.workers { next } else { most })
}

/// What threads gain that add to words of their own, beside threads that add to one: under the same mapping, as many, each on a CPU of
/// its own. The intervals have to decide; where they do not, nothing is said.
pub(super) fn shards<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let adding = |owner| {
        let mut numbers = facts.numbers(Unit::OpsPerSecond, |role| *role == Role::Adding(owner));
        numbers.retain(|number| number.cell.has_own_cpus());
        numbers
    };
    let both = [WordOwner::All, WordOwner::Worker].map(adding);
    let pair = most_beside(both, facts.strands, |shared, own| own.is_placed_as(shared));
    let advice = pair.and_then(|[shared, own]| {
        let (times, range) = own.times(&shared);
        let (low, high) = range?;
        let is_worth_it = low >= WORTH;
        let value = if is_worth_it { times } else { 1.0 };
        let claim = Claim::Shards { own, shared, is_worth_it };
        let found = Finding::on(own.cell, Some(value), claim).of_several().from([shared, own]);
        (is_worth_it || high < WORTH).then_some(found)
    });
    advice.into_iter().collect()
}

/// How far apart the words of threads have to be: those that lie on the two lines of 128 bytes, beside those further apart.
pub(super) fn padding<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let adding = |owner| {
        let mut numbers = facts.numbers(Unit::OpsPerSecond, |role| *role == Role::Adding(owner));
        numbers.retain(|number| number.cell.has_own_cpus());
        numbers
    };
    let both = [WordOwner::NextLine, WordOwner::Apart].map(adding);
    let pair = most_beside(both, facts.strands, |next, apart| apart.is_placed_as(next));
    let advice = pair.and_then(|[next, apart]| {
        let (times, (low, high)) = (apart.times(&next).0, apart.times(&next).1?);
        let is_far = low >= PADS;
        let claim = Claim::Padding { next, apart, is_far };
        let found = Finding::on(apart.cell, Some(times), claim).of_several().from([next, apart]);
        (is_far || high < PADS).then_some(found)
    });
    advice.into_iter().collect()
}

/// The fastest barrier, under each mapping, for each number of workers.
pub(super) fn barriers<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let all: Vec<&Line<'_>> = facts.lines.iter().filter(|line| *line.role() == Role::Barrier).collect();
    let numbers = all.iter().flat_map(|line| line.numbers());
    let fastest = contests(numbers, |number| (number.cell.mapping.as_str(), number.cell.workers));
    let finding = fastest.map(|best| {
        let number = best.number;
        let rivals: Vec<&Line<'_>> = all.iter().copied().filter(|line| line.mapping() == number.cell.mapping).collect();
        let claim = Claim::Barrier(Winner::of(best, &rivals));
        Finding::on(number.cell, Some(number.value), claim).from([number])
    });
    finding.collect()
}

/// Under each mapping, how to hand something to another thread.
pub(super) fn wake_ups<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let is_one =
        |role: &Role, spins: bool| matches!(role, Role::HandOff(waiter) if (*waiter == Waiter::Spinning) == spins);
    let [mut sleeping, mut spinning] =
        [false, true].map(|spins| facts.numbers(Unit::NanosecondsSampled, |role| is_one(role, spins)));
    sleeping.truncate(MOST);
    spinning.truncate(MOST);
    sleeping.retain(|number| number.cell.workers == 2);
    let finding = contests(sleeping, |number| number.cell.mapping.as_str()).map(|best| {
        let (number, mapping) = (best.number, best.number.cell.mapping.as_str());
        let is_faster = |flag: &&Estimate<'_>| flag.cell.mapping == mapping && flag.is_surely_below(&number);
        let flag = spinning.iter().find(is_faster).copied();
        let is_rival = |line: &&Line<'_>| is_one(line.role(), false) && line.mapping() == mapping;
        let rivals: Vec<&Line<'_>> = facts.lines.iter().filter(is_rival).collect();
        let claim = Claim::WakeUp(Winner::of(best, &rivals), flag);
        let evidence: Vec<Estimate<'_>> = [number].into_iter().chain(flag).collect();
        Finding { workers: None, ..Finding::on(number.cell, Some(number.value), claim).from(evidence) }
    });
    finding.collect()
}
