//! The fastest of the pools and locks that do the same, and which lock does most when threads want it at the same time.

use super::{Claim, Facts, Finding, Line, Winner};
use charz_data::report::Unit;
use charz_data::{Arrange, Role};
use charz_estimate::{Estimate, WIDEST, better, contests, grouped};

/// What does the same work, so one of them is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rivals {
    LockedPools,
    LockFreePools,
    /// Locks with nothing behind them.
    Locks,
}

impl Rivals {
    /// In the order in which they are said.
    const ALL: [Rivals; 3] = [Rivals::LockedPools, Rivals::Locks, Rivals::LockFreePools];

    fn of(role: &Role) -> Option<Rivals> {
        match role {
            Role::LockPool { .. } => Some(Rivals::LockedPools),
            Role::LockFreePool { .. } => Some(Rivals::LockFreePools),
            Role::Lock { .. } => Some(Rivals::Locks),
            _ => None,
        }
    }

    fn is_role(self, role: &Role) -> bool {
        Rivals::of(role) == Some(self)
    }
}

/// Which pool or lock does most of those under a mapping at a point, with as many workers.
#[derive(Debug)]
pub struct Fastest<'a> {
    pub rivals: Rivals,
    pub winner: Winner<'a>,
    /// The one that all are compared with, where it is neither the best nor among those that meet it.
    pub reference: Option<Estimate<'a>>,
    /// How many have too few runs.
    pub few: usize,
}

/// For each mapping, point and number of workers with two or more of a kind.
pub(super) fn fastest<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let pools = facts.lines_of(Unit::OpsPerSecond, |role| Rivals::of(role).is_some());
    let mut found = Vec::new();
    for pools in grouped(pools, |line| line.mapping()) {
        let role = |number: &Estimate<'_>| facts.report.role(&number.cell.kernel);
        let all = || pools.iter().flat_map(|line| line.numbers());
        // Of a run or two none is shown to be the fastest.
        let numbers: Vec<Estimate<'_>> = all().filter(|number| number.interval.is_some()).collect();
        for rivals in Rivals::ALL {
            let own = numbers.iter().copied().filter(|number| rivals.is_role(role(number)));
            let place = |number: &Estimate<'_>| (number.cell.point, number.cell.workers);
            for best in contests(own, place) {
                let is_beside = |number: &Estimate<'_>| place(number) == place(&best.number);
                let few = all().filter(|number| rivals.is_role(role(number)) && is_beside(number));
                let few = few.filter(|number| number.interval.is_none()).count();
                let is_rival =
                    |line: &&&Line<'_>| rivals.is_role(line.role()) && line.cells[0].point == best.number.cell.point;
                let lines: Vec<&Line<'_>> = pools.iter().filter(is_rival).copied().collect();
                let winner = Winner::of(best, &lines);
                let is_reference = |number: &&Estimate<'_>| {
                    use Role::{Lock, LockPool};
                    matches!(role(number), LockPool { is_reference: true, .. } | Lock { is_reference: true, .. })
                        && rivals.is_role(role(number))
                };
                let beside = |number: &&Estimate<'_>| place(number) == place(&winner.best);
                let reference = numbers.iter().copied().find(|number| is_reference(&number) && beside(&number));
                let value = reference.map(|reference| winner.best.value / reference.value);
                let named = [winner.best].into_iter().chain(winner.alike.iter().copied());
                let is_named =
                    |reference: &Estimate<'_>| named.clone().any(|named| named.cell.kernel == reference.cell.kernel);
                let reference = reference.filter(|reference| !is_named(reference));
                let cell = winner.best.cell;
                found.push(Finding::on(cell, value, Claim::Fastest(Fastest { rivals, winner, reference, few })));
            }
        }
    }
    found
}

/// From so many times the work outside below which a lock is the limit on, waiting costs 6% at most.
pub(super) const HARDLY: f64 = 3.0;

/// The measured lock with the highest throughput, with as many threads as there are CPUs for.
#[derive(Debug)]
pub struct Lock<'a> {
    /// With one thread and with several, each on a CPU of its own.
    pub best: [Estimate<'a>; 2],
    /// Those that are not significantly different.
    pub alike: Vec<Estimate<'a>>,
    /// The one that does least, if there is another one that is different.
    pub worst: Option<Estimate<'a>>,
    /// Whether others were measured.
    pub is_one_of_several: bool,
    /// The steps within a section, and outside.
    pub inside: u64,
    pub outside: u64,
    /// The nanoseconds of work outside a section below which the lock is the limit, and where that lies; then from how many on threads hardly
    /// wait. `None` with steps outside.
    pub enough: Option<([f64; 3], f64)>,
}

/// With as many threads as there are CPUs for.
pub(super) fn lock<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    [Rivals::LockedPools, Rivals::Locks].into_iter().filter_map(|rivals| most(facts, rivals)).collect()
}

fn most<'a>(facts: &Facts<'_, 'a>, rivals: Rivals) -> Option<Finding<'a>> {
    let kernels = grouped(facts.numbers(Unit::OpsPerSecond, |role| rivals.is_role(role)), |number| {
        (number.cell.kernel.as_str(), number.cell.mapping.as_str(), number.cell.point)
    });
    let mut rivals: Vec<[Estimate<'_>; 2]> = kernels.iter().flat_map(|numbers| pairs(numbers, facts.strands)).collect();
    let most = rivals.iter().map(|[_, several]| several.cell.workers).max()?;
    let of_most = || rivals.iter().map(|[_, several]| *several).filter(|several| several.cell.workers == most);
    let point = of_most().next()?.cell.point;
    // Under the mapping of the number that the table of contention has.
    let first = of_most().filter(|several| several.cell.point == point).reduce(better)?.cell;
    let place = |number: &Estimate<'a>| (number.cell.workers, &number.cell.mapping, number.cell.point);
    let is_beside = |number: &Estimate<'a>| place(number) == (first.workers, &first.mapping, first.point);
    rivals.retain(|[_, several]| is_beside(several));
    rivals.arrange_by(|[_, one], [_, other]| other.by_value(one));
    let (&best, others) = rivals.split_first()?;
    let [one, several] = best;
    // One that does more, and has no number of one thread, is the one to name.
    let has_more = |number: &Estimate<'a>| is_beside(number) && number.is_better(&several);
    if kernels.iter().flatten().filter(|number| is_narrow(number)).any(has_more) {
        return None;
    }
    let others: Vec<Estimate<'_>> = others.iter().map(|[_, other]| *other).collect();
    let alike: Vec<Estimate<'_>> = others.iter().copied().filter(|other| other.meets(&several)).collect();
    let params = first.point.params(&facts.report.plan.params);
    let enough = enough_outside(&one, &several).filter(|_| params.outside_steps == 0);
    let lock = Lock {
        best,
        worst: others.last().copied().filter(|_| alike.len() < others.len()),
        is_one_of_several: !others.is_empty(),
        alike,
        inside: params.inside_steps,
        outside: params.outside_steps,
        enough: enough.map(|found| (found, HARDLY * found[0])),
    };
    let found = Finding::on(several.cell, Some(several.value / one.value), Claim::Lock(lock));
    Some(found.from(rivals.concat()))
}

fn is_narrow(number: &Estimate<'_>) -> bool {
    number.interval.is_some() && number.slack() <= WIDEST
}

/// Each number of several threads of a lock, by ascending number, beside that of one, where both are narrow enough.
fn pairs<'a>(numbers: &[Estimate<'a>], strands: u64) -> Vec<[Estimate<'a>; 2]> {
    let numbers = || numbers.iter().copied().filter(is_narrow).filter(|number| number.cell.has_own_cpus());
    let Some(one) = numbers().find(|number| number.cell.workers == 1) else { return Vec::new() };
    numbers().filter(|number| (2..=strands).contains(&number.cell.workers)).map(|several| [one, several]).collect()
}

/// The work outside of each thread, in nanoseconds, below which the lock is the limit: where so many threads, each in the time of a section
/// and of the work outside, ask for as much as it passes. The two asymptotic bounds of a closed system meet there (P. Denning and J. Buzen,
/// "The Operational Analysis of Queueing Network Models", ACM Computing Surveys 10 (1978)), and threads still wait: a few do a fifth less
/// than the bounds allow.
pub(super) fn enough_outside(one: &Estimate<'_>, several: &Estimate<'_>) -> Option<[f64; 3]> {
    let threads = several.cell.workers as f64;
    let (one, several) = (one.around()?, several.around()?);
    let outside = |several: f64, one: f64| 1e9 * (threads / several - one.recip());
    let found = [outside(several.value, one.value), outside(several.high, one.low), outside(several.low, one.high)];
    Some(found).filter(|found| found[1] > 0.0)
}
