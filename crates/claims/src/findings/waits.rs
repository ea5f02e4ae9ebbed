//! How many strands hide the waits of a core: from a kernel that computes for C cycles between loads that wait for M, by N. Nagarajayya,
//! "Improving Application Efficiency Through Chip Multi-Threading" (2005), Figures 2, 3 and 7.
//!
//! One chain of loads needs C + M each. A core that goes on with another chain while one waits needs a k-th of that with k of them, until it
//! computes all the time: C. The chains are those of one thread, or of a thread on each strand of a core.

use std::collections::BTreeMap;

use super::{Claim, Facts, Finding};
use crate::curves::clock;
use charz_data::card::Chase;
use charz_data::report::{Cell, Interval, Point, Report, Unit};
use charz_data::{Arrange, Role};
use charz_estimate::{Estimate, grouped};

/// A core computes all the time from this share of it on: what is left is the noise of good numbers.
const HIDDEN: f64 = 0.95;

/// Strands that surely do less than this many times the work of one hide no waits.
const NOTHING_HIDDEN: f64 = 1.05;

/// What computes while another waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contexts {
    /// Chains that one thread follows.
    Chains,
    /// Threads on the strands of one core, with a chain each.
    Strands,
}

/// From how many chains or strands on a core computes all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// From at most the second number, and more than the first, with which it surely waits.
    From(u64, u64),
    /// Not even with so many.
    NotBy(u64),
}

/// The waits of loads with so much computing between them, and what hides them.
#[derive(Debug)]
pub struct Waits<'a> {
    /// That of one chain in one thread.
    pub cell: &'a Cell,
    /// Operations between two loads, each of which waits for the one before it.
    pub ops: u64,
    /// Nanoseconds that these take, and where they lie.
    pub compute: (f64, Interval),
    /// Nanoseconds that a load waits.
    pub wait: (f64, Interval),
    /// The clock of the core in hertz, where it is known.
    pub hz: Option<f64>,
    pub contexts: Contexts,
    pub hidden: Hidden,
    /// How many times as many loads as with one, with the most of these that were measured.
    pub most: (u64, f64),
    /// How many times as many loads with a clock twice as fast, by this: with one of these, and with the most. Waits last as long then, and
    /// computing half of it.
    pub faster: [f64; 2],
    pub doubtful: bool,
}

impl Waits<'_> {
    /// How many chains or strands it takes by computing and waiting alone, and where that lies.
    pub fn needed(&self) -> (f64, Interval) {
        let needed = |compute: f64, wait: f64| 1.0 + wait / compute;
        let (compute, wait) = (self.compute.1, self.wait.1);
        let ends = Interval { low: needed(compute.high, wait.low), high: needed(compute.low, wait.high) };
        (needed(self.compute.0, self.wait.0), ends)
    }
}

pub(super) fn waits<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let report = facts.report;
    let kernels = report.kernels_in(|role| *role == Role::Latency(Chase::Computing));
    let is_one = |cell: &&Cell| kernels.contains(&cell.kernel.as_str()) && cell.unit == Unit::NanosecondsPerStep;
    let place = |cell: &Cell| Point { chains: None, ops_per_load: None, ..cell.point };
    let groups = grouped(report.cells.iter().filter(is_one), |cell| (&cell.kernel, &cell.mapping, place(cell)));
    groups.iter().flat_map(|cells| of_place(cells, facts)).collect()
}

/// The number of a core: the nanoseconds from one load of any chain to the next.
struct Rate<'a> {
    own: Estimate<'a>,
    contexts: u64,
}

/// Of cells that differ in threads, chains and operations only.
fn of_place<'a>(cells: &[&'a Cell], facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let report = facts.report;
    let mut by_ops: BTreeMap<u64, [Vec<Rate<'a>>; 2]> = BTreeMap::new();
    for own in facts.table.estimates(cells.iter().copied()) {
        let params = own.cell.params(&report.plan.params);
        let [chains, strands] = by_ops.entry(params.ops_per_load).or_default();
        if own.cell.workers == 1 {
            chains.push(Rate { own, contexts: params.chains });
        }
        if params.chains == 1 && is_on_one_core(own.cell, report) {
            strands.push(Rate { own: own.per_thread(), contexts: own.cell.workers });
        }
    }
    let alone = |rates: &[Vec<Rate<'a>>; 2]| rates[0].iter().find(|rate| rate.contexts == 1).map(|rate| rate.own);
    let fewest = by_ops.iter().find_map(|(ops, rates)| Some((*ops, alone(rates)?)));
    let Some(fewest) = fewest else { return Vec::new() };
    let mut found = Vec::new();
    for (ops, rates) in by_ops {
        let Some(own) = alone(&rates).filter(|_| ops > fewest.0) else { continue };
        let each = [Contexts::Chains, Contexts::Strands].into_iter().zip(rates);
        found.extend(each.filter_map(|(contexts, rates)| hidden(contexts, rates, fewest, (ops, own))));
    }
    found
}

/// A program with a thread, or copy, on each of several strands of one core, beside one.
#[derive(Debug)]
pub struct Overlap<'a> {
    /// That on several.
    pub cell: &'a Cell,
    /// How many times the work of one they do, and where that lies.
    pub gain: (f64, (f64, f64)),
    pub doubtful: bool,
}

impl Overlap<'_> {
    /// The share of its time that one waits, at least: the core computes for all of the time at most, and so for at most a `gain`-th of the
    /// time of one.
    pub fn waits(&self) -> f64 {
        (1.0 - self.gain.1.0.recip()).max(0.0)
    }

    /// How many times as much one does at most with a clock twice as fast: its waits last as long then.
    pub fn faster(&self) -> f64 {
        2.0 / (1.0 + self.waits())
    }
}

/// Of each program, with the most strands of one core that were measured. Where the interval does not decide whether they do
/// more than one, nothing is said.
pub(super) fn overlaps<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let series = facts.table.series().into_iter().filter(|own| *facts.report.role(own.kernel()) == Role::Program);
    let of_mapping = |group: Vec<Estimate<'a>>| {
        let one = *group.iter().find(|own| own.cell.workers == 1)?;
        let on_a_core = group.iter().filter(|own| own.cell.workers > 1 && is_on_one_core(own.cell, facts.report));
        let own = *on_a_core.max_by_key(|own| own.cell.workers)?;
        let (gain, ends) = if own.cell.unit.more_is_better() { own.times(&one) } else { one.times(&own) };
        let ends = ends.filter(|(low, high)| *low > 1.0 || *high < NOTHING_HIDDEN)?;
        let doubtful = one.is_doubtful() || own.is_doubtful();
        let claim = Claim::Overlap(Overlap { cell: own.cell, gain: (gain, ends), doubtful });
        Some(Finding::on(own.cell, Some(gain), claim).from([one, own]))
    };
    // Other mappings put the threads on the same strands.
    let found = series.filter_map(|own| own.by_mapping().into_iter().find_map(of_mapping));
    found.collect()
}

/// Whether each thread has a strand of its own of one core.
fn is_on_one_core(cell: &Cell, report: &Report) -> bool {
    let core = |seat: &Option<u32>| {
        let seat = (*seat)?;
        report.machine.strands.iter().find(|strand| strand.os_id == seat)?.core
    };
    let first = cell.seats.first().and_then(core);
    first.is_some() && cell.has_own_cpus() && cell.seats.iter().all(|seat| core(seat) == first)
}

/// What follows from the times of one chain with the fewest operations and with these, and from those of several.
fn hidden<'a>(
    contexts: Contexts,
    mut rates: Vec<Rate<'a>>,
    (few, base): (u64, Estimate<'a>),
    (ops, alone): (u64, Estimate<'a>),
) -> Option<Finding<'a>> {
    rates.arrange_by_key(|rate| rate.contexts);
    let most = rates.last().filter(|rate| rate.contexts > 1)?;
    let (times, ends) = ([base.value, alone.value], [base.ends(), alone.ends()]);
    // The operations of one load beyond those of the other take as much longer.
    let share = ops as f64 / (ops - few) as f64;
    let compute = (times[1] - times[0]) * share;
    let compute_ends = Interval { low: (ends[1].0 - ends[0].1) * share, high: (ends[1].1 - ends[0].0) * share };
    if compute_ends.low <= 0.0 {
        return None;
    }
    let rest = few as f64 / ops as f64;
    let wait = (times[0] - compute * rest).max(0.0);
    let wait_ends = Interval {
        low: (ends[0].0 - compute_ends.high * rest).max(0.0),
        high: (ends[0].1 - compute_ends.low * rest).max(0.0),
    };
    let enough = rates.iter().find(|rate| rate.own.value * HIDDEN <= compute);
    let surely_waits = |rate: &&Rate<'_>| rate.own.ends().0 * HIDDEN > compute_ends.high;
    let hidden = match enough {
        None => Hidden::NotBy(most.contexts),
        Some(enough) => {
            let fewer = rates.iter().take_while(|rate| rate.contexts < enough.contexts);
            Hidden::From(fewer.filter(surely_waits).last().map_or(0, |rate| rate.contexts), enough.contexts)
        }
    };
    let (slow, fast) = (compute + wait, compute / 2.0 + wait);
    let time = most.own.value;
    let faster = match enough {
        Some(_) => time / (time / 2.0).max(fast / most.contexts as f64),
        None => slow / fast,
    };
    let own = Waits {
        cell: alone.cell,
        ops,
        compute: (compute, compute_ends),
        wait: (wait, wait_ends),
        hz: clock(alone.cell),
        contexts,
        hidden,
        most: (most.contexts, alone.value / time),
        faster: [slow / fast, faster],
        doubtful: [base, alone, most.own].iter().any(Estimate::is_doubtful),
    };
    let (needed, evidence) = (own.needed().0, [base, alone, most.own]);
    Some(Finding::on(alone.cell, Some(needed), Claim::Waits(own)).from(evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::findings;
    use charz_data::COMMAND;
    use charz_data::report::fixtures;
    use charz_estimate::Estimates;

    /// Nanoseconds between two loads of a core that computes and waits for so long, with so many chains or strands.
    fn core(contexts: u64, compute: f64, wait: f64) -> f64 {
        ((compute + wait) / contexts as f64).max(compute)
    }

    fn cell(contexts: Contexts, k: u64, ops: u64, ns: f64) -> Cell {
        let (workers, chains) = if contexts == Contexts::Strands { (k, 1) } else { (1, k) };
        let point = Point { chains: Some(chains), ops_per_load: Some(ops), ..Point::default() };
        let each = ns * workers as f64;
        fixtures::cell("chase-compute", workers, Unit::NanosecondsPerStep, each).at(point).in_order().within(0.01)
    }

    /// A report of a core whose operations take 0.5 ns and whose loads wait for `wait`.
    fn report(contexts: Contexts, wait: f64, all_ops: &[u64], ks: &[u64]) -> Report {
        let cells = all_ops
            .iter()
            .flat_map(|&ops| ks.iter().map(move |&k| cell(contexts, k, ops, core(k, ops as f64 / 2.0, wait))));
        let mut report = fixtures::report(cells.collect()).on(16);
        report.machine.strands.iter_mut().for_each(|strand| strand.core = Some(strand.os_id / 8));
        report
    }

    #[track_caller]
    fn check(report: &Report, contexts: Contexts, compute: f64, wait: f64, hidden: Hidden, faster: [f64; 2]) {
        let table = Estimates::of(report);
        let all = findings(&table);
        let mut found = all.iter().filter_map(|found| match &found.claim {
            Claim::Waits(own) if own.contexts == contexts => Some(own),
            _ => None,
        });
        let own = found.next().unwrap_or_else(|| panic!("{all:?}"));
        for ((found, ends), expected) in
            [(own.compute, compute), (own.wait, wait), (own.needed(), 1.0 + wait / compute)]
        {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
            assert!(ends.low < expected && expected < ends.high, "{expected} beyond {ends:?}");
        }
        assert_eq!(own.hidden, hidden);
        let near = own.faster.iter().zip(faster).all(|(found, expected)| (found / expected - 1.0).abs() < 1e-6);
        assert!(near, "{:?} instead of {faster:?}", own.faster);
    }

    #[test]
    fn a_simulated_core_is_recovered() {
        use Contexts::{Chains, Strands};
        let (halves, all) = ([1, 2, 4, 8, 16], [1, 2, 3, 4, 5, 6, 7, 8]);
        // Computing takes 50 ns.
        let cases = [
            (Chains, 150.0, &[0, 100][..], &halves[..], Hidden::From(2, 4), [200.0 / 175.0, 2.0]),
            (Chains, 100.0, &[0, 100], &all, Hidden::From(2, 3), [150.0 / 125.0, 2.0]),
            (Chains, 100.0, &[20, 100], &all, Hidden::From(2, 3), [150.0 / 125.0, 2.0]),
            (Chains, 2000.0, &[0, 100], &halves, Hidden::NotBy(16), [2050.0 / 2025.0; 2]),
            (Strands, 300.0, &[0, 100], &all, Hidden::From(5, 7), [350.0 / 325.0, 50.0 / 40.625]),
            (Strands, 1000.0, &[0, 100], &all, Hidden::NotBy(8), [1050.0 / 1025.0; 2]),
        ];
        for (contexts, wait, ops, ks, hidden, faster) in cases {
            check(&report(contexts, wait, ops, ks), contexts, 50.0, wait, hidden, faster);
        }
    }

    #[test]
    fn a_program_waits_for_what_other_strands_of_its_core_gain() {
        let overlap = |rates: [f64; 2], is_one_core: bool| {
            let cells = rates.iter().zip([1, 2]).map(|(rate, workers)| {
                fixtures::cell(COMMAND, workers, Unit::OpsPerSecond, *rate).in_order().within(0.01)
            });
            let mut report = fixtures::report(cells.collect()).on(16);
            report.machine.strands.iter_mut().for_each(|own| own.core = Some(if is_one_core { 0 } else { own.os_id }));
            report.cards.iter_mut().filter(|card| card.name == COMMAND).for_each(|card| card.role = Role::Program);
            let table = Estimates::of(&report);
            let all = findings(&table);
            all.into_iter().find_map(|found| match found.claim {
                Claim::Overlap(own) => Some((own.waits(), own.faster())),
                _ => None,
            })
        };
        // Two that wait for half of their time and compute in turns do twice the work.
        let (waits, faster) = overlap([100.0, 200.0], true).unwrap();
        assert!((0.45..0.5).contains(&waits) && (4.0 / 3.0..1.4).contains(&faster), "{waits} {faster}");
        assert_eq!(overlap([100.0, 100.0], true), Some((0.0, 2.0)));
        assert_eq!(overlap([100.0, 200.0], false), None, "a core each");
    }

    #[test]
    fn what_is_not_of_one_core_or_has_no_other_number_of_operations_shows_nothing() {
        let count = |report: &Report| {
            let table = Estimates::of(report);
            findings(&table).iter().filter(|found| matches!(found.claim, Claim::Waits(_))).count()
        };
        let strands = report(Contexts::Strands, 100.0, &[0, 100], &[1, 2, 4]);
        assert_eq!(count(&strands), 1);
        let mut spread = strands.clone();
        spread.machine.strands.iter_mut().for_each(|strand| strand.core = Some(strand.os_id));
        assert_eq!(count(&spread), 0, "a strand on each core");
        assert_eq!(count(&report(Contexts::Chains, 100.0, &[100], &[1, 2])), 0, "computing and waiting are one time");
        assert_eq!(count(&report(Contexts::Chains, 100.0, &[0, 100], &[1])), 0, "nothing to hide it");
        let noisy = report(Contexts::Chains, 10_000.0, &[0, 100], &[1, 2]);
        assert_eq!(count(&noisy), 0, "computing is lost in the noise of the wait");
    }
}
