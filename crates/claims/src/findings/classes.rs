//! The class of a scaling problem, with the cells that show it.
//!
//! The classes are those of S. Sistare, "Solaris Scalability": lock contention, algorithms that take time in proportion to the number of CPUs,
//! hot spots in memory, working sets beyond what caches of translations span, caches that threads share and overflow together, translations
//! that are taken back on all CPUs, and limits on resources. Only what the intervals show is called one.

use std::collections::{BTreeMap, HashSet};
use std::mem::discriminant;

use super::{Claim, Facts, Finding, Line};
use crate::curve;
use crate::curves::{Curve, clock};
use charz_data::card::{Chase, CounterKind, WordOwner};
use charz_data::machine::{Cache, Machine};
use charz_data::report::{Cell, Point, Report, Unit};
use charz_data::{MemoryPolicy, PageKind, Role};
use charz_estimate::{Estimate, MARGIN};

/// How many times as long an operation takes where it is said to grow, at least.
const GROWS: f64 = 1.5;
/// The share of the growth in threads by which the time of an operation grows at least that is said to be proportional, and that growth at
/// least: over fewer threads the steps of a tree grow as much.
const PROPORTIONAL: f64 = 0.75;
const MANY_TIMES: u64 = 8;

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Lock,
    HotLine,
    HotNode,
    Proportion,
    Broadcast,
    Span,
    /// So many blocks of so many bytes share a cache of a level and of its bytes.
    Thrashing {
        blocks: u64,
        block: u64,
        level: u32,
        bytes: u64,
    },
}

/// A number that shows a problem, beside one that has none.
#[derive(Clone, Copy, Debug)]
pub struct Scaling<'a> {
    pub class: Class,
    pub base: Estimate<'a>,
    pub number: Estimate<'a>,
}

impl<'a> Scaling<'a> {
    fn new(class: Class, base: Estimate<'a>, number: Estimate<'a>) -> Self {
        Scaling { class, base, number }
    }
}

/// What of this scales badly, and why: of each kernel a class once, since under each mapping it is the same problem.
pub(super) fn problems<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let Facts { report, lines, strands, .. } = facts;
    let finding = |found: Scaling<'a>| {
        let value = found.number.value / found.base.value;
        Finding::on(found.number.cell, Some(value), Claim::Scaling(found)).from([found.base, found.number])
    };
    let pairs = lines.iter().enumerate().flat_map(|(at, one)| lines[at + 1..].iter().map(move |other| (one, other)));
    let found = lines.iter().filter_map(|line| of_line(line, *strands));
    let found = found.chain(lines.iter().filter_map(|line| thrashing(line, report))).map(finding);
    let found = found.chain(lines.iter().filter_map(limited));
    let found = found.chain(pairs.filter_map(|(one, other)| of_pair(one, other, facts)).map(finding));
    let mut seen = HashSet::new();
    let mut is_new = |found: &Finding<'a>| {
        let class = if let Claim::Scaling(own) = &found.claim { Some(discriminant(&own.class)) } else { None };
        seen.insert((class, found.kernel))
    };
    found.filter(|found| is_new(found)).collect()
}

/// One thread, or the fewest, beside the most that have a CPU each.
fn of_line<'a>(line: &Line<'a>, strands: u64) -> Option<Scaling<'a>> {
    // A thread alone meets no other at a barrier.
    let least = if *line.role() == Role::Barrier { 2 } else { 1 };
    let within = |number: &Estimate<'_>| number.interval.is_some() && (least..=strands).contains(&number.cell.workers);
    let few = line.numbers().find(within)?;
    let many = line.numbers().filter(within).last().filter(|many| many.cell.workers > few.cell.workers)?;
    // All together do less than one alone, by more than what makes no difference.
    let is_less = many.ends().1 < few.ends().0 * (1.0 - MARGIN) && many.is_surely_below(&few);
    let falls = line.counts(Unit::OpsPerSecond) && few.cell.workers == 1 && is_less;
    let more = many.cell.workers / few.cell.workers;
    let (class, holds) = match line.role() {
        Role::LockPool { .. } | Role::Lock { .. } | Role::Counter(CounterKind::Mutex) => (Class::Lock, falls),
        Role::LockFreePool { .. } | Role::Counter(CounterKind::Atomic) | Role::Adding(WordOwner::All) => {
            (Class::HotLine, falls)
        }
        Role::Unmapping => (Class::Broadcast, grows(&few, &many, GROWS)),
        Role::Barrier if line.counts(Unit::NanosecondsSampled) => {
            (Class::Proportion, more >= MANY_TIMES && grows(&few, &many, PROPORTIONAL * more as f64))
        }
        _ => return None,
    };
    holds.then(|| Scaling::new(class, few, many))
}

/// Whether a time is surely so many times as long.
fn grows(few: &Estimate<'_>, many: &Estimate<'_>, times: f64) -> bool {
    few.is_surely_below(many) && many.ends().0 >= times * few.ends().1
}

/// Blocks that fit into a cache with few of the threads that share it, and not with many.
///
/// Only dependent loads at random show it: a thread has one of them under way, so threads hardly compete for bandwidth. The rate per thread
/// of streams and of several chains falls with more threads though all blocks fit, a stride is read ahead, and the threads of
/// `cmt-working-set` divide the size.
fn thrashing<'a>(line: &Line<'a>, report: &Report) -> Option<Scaling<'a>> {
    if *line.role() != Role::Latency(Chase::Random) || !line.counts(Unit::NanosecondsPerStep) {
        return None;
    }
    let numbers = || line.numbers().filter(|number| number.interval.is_some() && number.cell.has_own_cpus());
    let block = |cell: &Cell| cell.params(&report.plan.params).size_bytes;
    let overfull_by = |cell: &Cell, times: u64| overfull(cell, block(cell).saturating_mul(times), &report.machine);
    let overfull = |cell: &Cell| overfull_by(cell, 1);
    let many = numbers().last()?;
    let (cache, blocks) = overfull(many.cell).into_iter().max_by_key(|(cache, blocks)| (cache.level, *blocks))?;
    let is_over = |found: Vec<(&Cache, u64)>| found.iter().any(|(other, _)| other.level == cache.level);
    let fits = |cell: &Cell| !is_over(overfull(cell)) && is_over(overfull_by(cell, 2));
    // With as many as fit, or half of them: what grows before has another reason.
    let few = numbers().filter(|few| block(few.cell) == block(many.cell) && fits(few.cell)).last()?;
    // The time follows the clock, which may fall with more threads.
    let slower = clock(few.cell).zip(clock(many.cell)).map_or(1.0, |(few, many)| few / many);
    let is_one = blocks > 1 && grows(&few, &many, GROWS * slower.max(1.0));
    let class = Class::Thrashing { blocks, block: block(many.cell), level: cache.level, bytes: cache.size_bytes? };
    is_one.then(|| Scaling::new(class, few, many))
}

/// The caches that are smaller than the blocks of the cell's threads under them, with how many these are.
fn overfull<'a>(cell: &Cell, block: u64, machine: &'a Machine) -> Vec<(&'a Cache, u64)> {
    let mut blocks = BTreeMap::<u32, (&Cache, u64)>::new();
    let seats: HashSet<u32> = cell.seats.iter().copied().flatten().collect();
    let seated = machine.strands.iter().filter(|strand| seats.contains(&strand.os_id));
    for (index, cache) in seated.flat_map(|strand| machine.data_caches(strand)) {
        blocks.entry(index).or_insert((cache, 0)).1 += 1;
    }
    let is_less =
        |(cache, blocks): &(&Cache, u64)| cache.size_bytes.is_some_and(|size| blocks.saturating_mul(block) > size);
    blocks.into_values().filter(is_less).collect()
}

/// Two of one kernel that differ in the pages or the place of their memory, with as many threads.
fn of_pair<'a>(one: &Line<'a>, other: &Line<'a>, facts: &Facts<'_, 'a>) -> Option<Scaling<'a>> {
    let (report, strands) = (facts.report, facts.strands);
    if one.kernel() != other.kernel() || one.mapping() != other.mapping() {
        return None;
    }
    let most = |line: &Line<'_>| line.cells.iter().map(|cell| cell.workers).filter(|n| *n <= strands).max();
    let threads = most(one)?.min(most(other)?);
    let with = |line: &Line<'a>| {
        let at = line.cells.iter().position(|cell| cell.workers == threads)?;
        line.estimates[at]
    };
    let (first, second) = (with(one)?, with(other)?);
    // The one of which this is true, and the other, which are alike but for that.
    let sorted = |is_first: &dyn Fn(&Estimate<'a>) -> bool, change: fn(&mut Point)| {
        let [here, there] = [&first, &second].map(|number| {
            let mut point = number.cell.point;
            change(&mut point);
            point
        });
        let pair = if is_first(&first) { (first, second) } else { (second, first) };
        (here == there && is_first(&pair.0)).then_some(pair)
    };
    match one.role() {
        Role::Latency(Chase::Random) => {
            let is_small = |number: &Estimate<'_>| number.cell.point.pages == Some(PageKind::Small);
            let (small, large) = sorted(&is_small, |point| point.pages = None)?;
            let is_span = !is_small(&large) && is_beyond_reach(report, &small) && grows(&large, &small, 1.2);
            is_span.then(|| Scaling::new(Class::Span, large, small))
        }
        Role::MemoryBandwidth(_) => {
            let is_on_one = |number: &Estimate<'_>| matches!(number.cell.point.memory, Some(MemoryPolicy::Node(_)));
            let (node, local) = sorted(&is_on_one, |point| point.memory = None)?;
            let is_local = matches!(local.cell.point.memory, None | Some(MemoryPolicy::Local));
            let is_one = is_local && threads > 1 && node.is_surely_below(&local);
            is_one.then(|| Scaling::new(Class::HotNode, local, node))
        }
        _ => None,
    }
}

/// Whether the block is larger than what small pages are as fast as large ones for, where the report has the curves that show it.
fn is_beyond_reach(report: &Report, small: &Estimate<'_>) -> bool {
    let random = Curve::of(report, Chase::Random);
    let own = random.iter().filter(|curve| curve.kernel == small.cell.kernel && curve.mapping == small.cell.mapping);
    let reach = own.flat_map(|small| {
        let huge = random.iter().find(|other| small.differs_in_pages(other))?;
        curve::reach(&small.points, &huge.points)
    });
    let size = small.cell.params(&report.plan.params).size_bytes;
    reach.map(|reach| reach.edge.inside_bytes).max().is_none_or(|inside| size > inside)
}

/// A program that would have more threads than it may have.
fn limited<'a>(line: &Line<'a>) -> Option<Finding<'a>> {
    let growths = |cell: &&'a Cell| {
        let runs = cell.invocations.iter().flat_map(|run| &run.runs);
        runs.filter_map(|run| run.growth.as_ref())
    };
    let is_limited = |cell: &&&'a Cell| growths(cell).any(|growth| growth.steps.iter().any(|step| step.inlined > 0));
    let cell = line.cells.iter().find(is_limited)?;
    let because = growths(cell).next()?;
    let claim = Claim::Limited(because.most_threads, &because.limited_by);
    Some(Finding::on(cell, Some(because.most_threads as f64), claim))
}
