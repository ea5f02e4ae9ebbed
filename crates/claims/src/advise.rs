//! Where to put the threads of a program, by the kind of load that bounds it: a mapping and a number of threads, what they gain over
//! `auto`, and what every other placement that was measured loses.
//!
//! A pure function of a report. One kernel stands for a load: the one that a reader asks for first, unless the mapping matters to
//! another. The advice is the smallest number of threads that is shown, by its interval, to be within 5% of the best, under the mapping
//! that does best with so many; more threads than CPUs only where they are surely better, and never more than a CPU quota has CPUs. Where
//! a number that decides has no interval there is no advice: "too few runs", and what would settle it. Where the best is the largest
//! number of threads that has a number and CPUs for more are left, the advice is "at least" so many, without a line that keeps a program to
//! their CPUs.

mod beside;
mod extras;
mod shared;
mod validation;

use charz_data::card::{Access, Card, Chase, CounterKind, Family, Numbers};
use charz_data::checks::{V07, V34};
use charz_data::report::{Cell, Ending, Interval, Mark, MemoryHome, Report, Status, Unit};
use charz_data::{Arrange, Role, params};
use charz_estimate::{
    AUTO, Caveat, Estimate, Estimates, MARGIN, Relation, SATURATED, Series, Strength, WIDEST, better, grouped,
    left_by_quota,
};
use charz_stats::LEAST_FOR_INTERVAL;
use serde::Serialize;

use crate::verdict::lacking;

pub use beside::{Beside, Placed, beside};
pub use extras::Strands;
pub use shared::{Holds, Shared, is_short};
pub use validation::{Check, Validation, validate};

/// What bounds a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Dependent arithmetic.
    Compute,
    /// Arithmetic on vectors.
    Simd,
    /// Bandwidth of memory.
    Bandwidth,
    /// Latency of memory.
    Latency,
    /// What threads share and change: pools and counters.
    Contended,
    /// The user's own program.
    Program,
    /// A whole program of charz's own: each is a load by itself.
    Workload,
}

impl Load {
    /// In the order in which they are advised on.
    pub const ALL: [Load; 7] =
        [Load::Program, Load::Compute, Load::Simd, Load::Bandwidth, Load::Latency, Load::Contended, Load::Workload];

    fn of(card: &Card, unit: Unit) -> Option<Self> {
        match &card.role {
            Role::Arithmetic(_) => Some(Load::Compute),
            Role::VectorArithmetic(_) => Some(Load::Simd),
            Role::MemoryBandwidth(_) => Some(Load::Bandwidth),
            Role::Latency(Chase::Random) => Some(Load::Latency),
            // Its threads have a part each, and contend for nothing.
            Role::Counter(CounterKind::Sharded) => None,
            Role::LockPool { .. } | Role::Lock { .. } | Role::LockFreePool { .. } | Role::Counter(_) => {
                Some(Load::Contended)
            }
            Role::Program => Some(Load::Program),
            Role::Growing | Role::Product(_) => Some(Load::Workload),
            Role::Other if card.family == Family::Workload => Some(Load::Workload),
            Role::Other if card.family == Family::Compute => Some(Load::Compute),
            Role::Other if card.family == Family::Memory && unit == Unit::BytesPerSecond => Some(Load::Bandwidth),
            _ => None,
        }
    }
}

/// The roles that a reader asks for first.
const FIRST: [Role; 6] = [
    Role::Program,
    Role::Arithmetic(Numbers::Integer),
    Role::Arithmetic(Numbers::Float),
    Role::MemoryBandwidth(Access::Read),
    Role::MemoryBandwidth(Access::Write),
    Role::MemoryBandwidth(Access::Copy),
];

/// The place of a role in the order in which readers ask.
pub fn asked(role: &Role) -> usize {
    FIRST.iter().position(|first| first == role).unwrap_or(FIRST.len())
}

/// More threads than any that have a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoreThreads {
    /// How many CPUs are left for them.
    pub up_to: u64,
    /// The most that were tried, and how that ended.
    pub tried: Option<(u64, Status)>,
}

/// What decides that nothing is advised: a number without an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortage {
    /// The runs of the number that has the fewest.
    pub runs: usize,
    /// What would settle it.
    pub remedy: Remedy,
}

/// What gives a number an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remedy {
    /// There are enough runs, which vary too much: a quieter machine.
    Quiet,
    /// None: the CPU quota stopped the other runs.
    Quota,
    /// More runs than were asked for.
    AskForMore,
    /// The attempts are used up: another measurement.
    Again,
    /// More values in the table of another program.
    MoreValues,
    /// So many more seconds of the sweep.
    Resume(f64),
}

/// Why the threads of contention are given no advice.
#[derive(Clone, Copy, Debug)]
pub enum NotAdvised<'a> {
    /// The numbers vary too much: the widest of those that decide.
    TooWide(Estimate<'a>),
    /// One thread alone does as much as several together, or nearly.
    NoGain {
        /// One thread alone.
        alone: Estimate<'a>,
        /// The best of several.
        together: Estimate<'a>,
    },
}

/// What to do with the threads of a load.
#[derive(Clone, Debug)]
pub struct Advice<'a> {
    pub load: Load,
    /// The number of the placement that is advised.
    pub best: Estimate<'a>,
    /// The best number of all; that of the placement where nothing is better.
    pub peak: Estimate<'a>,
    /// The numbers of other mappings with as many threads that are not apart from the best of them.
    pub alike: Vec<Estimate<'a>>,
    /// Whether those differ from it by no more than [`MARGIN`], by their intervals.
    pub is_equal: bool,
    /// The fewest runs of a number that decides, where these are too few for an interval: nothing is advised.
    pub too_few: Option<usize>,
    /// The CPUs of a quota, where more threads than it has time for were tried, and as many as it has time for are advised.
    pub quota: Option<f64>,
    /// Whether no other number of threads has a result.
    pub is_only_count: bool,
    /// What may do better, where the most threads that have a number are the best and CPUs for more are left.
    pub open: Option<MoreThreads>,
    /// The fewest threads, if fewer than are advised, that are not shown to lose more than 5% beside the best number.
    pub fewer: Option<Relation<'a>>,
    /// How many mappings were measured with as many threads.
    pub mappings: usize,
    /// Those that were tried with as many and have no number.
    pub lacking: Vec<&'a str>,
    /// Whether another one may be better: the number or the best one is suspect, or the host moved the CPUs of another mapping.
    pub doubtful: bool,
    /// `auto` with as many threads; `None` where it was not measured, or is what is advised.
    pub auto: Option<Relation<'a>>,
    /// What every other placement loses beside the advised one, the smallest loss first.
    pub regret: Vec<Relation<'a>>,
    /// Whether other kernels of the load have results too.
    pub is_one_of_several: bool,
    /// What further strands of the same cores add.
    pub strands: Option<Strands<'a>>,
    /// The same threads with their memory elsewhere.
    pub memory: Vec<Relation<'a>>,
    /// Where the machine delivered less than it can: how much, and whether the advice is by that.
    pub shared: Option<Shared<'a>>,
    /// Where the memory is to be, if that is asked for.
    pub asked_home: Option<MemoryHome>,
    /// The report.
    pub report: &'a Report,
}

/// The advice on each load of which a report compares placements, for the machine as it was.
pub fn advise<'a>(table: &Estimates<'a>) -> Vec<Advice<'a>> {
    let series = table.series();
    let all: Vec<Advice<'a>> = Load::ALL.into_iter().flat_map(|load| on(load, table, &series)).collect();
    if !is_short(table, &table.report.cells) {
        return all;
    }
    let shared = Estimates::shared(table.report);
    let series = shared.series();
    all.into_iter().map(|advice| shared::as_shared(advice, table, &shared, &series)).collect()
}

/// Why nothing is advised to threads that contend, though some were measured.
pub fn not_advised<'a>(table: &Estimates<'a>) -> Option<NotAdvised<'a>> {
    let all = each(Load::Contended, table, &table.series());
    all.iter().filter(|advice| !advice.is_worth_it()).find_map(Advice::why_not)
}

fn on<'a>(load: Load, table: &Estimates<'a>, series: &[Series<'a>]) -> Vec<Advice<'a>> {
    let mut all = each(load, table, series);
    all.retain(|advice| load != Load::Contended || advice.is_worth_it());
    if load == Load::Workload {
        return all;
    }
    let is_one_of_several = all.len() > 1;
    all.iter_mut().for_each(|advice| advice.is_one_of_several = is_one_of_several);
    let auto_loses = |advice: &Advice<'_>| advice.auto.is_some_and(|auto| auto.is_shown() && auto.share > 0.0);
    let another_loses = |advice: &Advice<'_>| {
        let mut beside = advice.regret.iter().filter(|loss| loss.estimate.cell.workers == advice.best.cell.workers);
        beside.any(|loss| loss.is_shown() && loss.share > MARGIN)
    };
    let first = |of: &dyn Fn(&Advice<'_>) -> bool| all.iter().position(of);
    let chosen = first(&auto_loses).or_else(|| first(&another_loses)).unwrap_or(0);
    if all.is_empty() { Vec::new() } else { vec![all.swap_remove(chosen)] }
}

/// That on each kernel of a load, in the order in which readers ask.
fn each<'a>(load: Load, table: &Estimates<'a>, series: &[Series<'a>]) -> Vec<Advice<'a>> {
    let report = table.report;
    let is_of = |series: &&Series<'_>| {
        let cell = series.cell();
        // The empty kernel's time is no work; a program's may be all there is.
        let counts = cell.unit != Unit::Nanoseconds || load == Load::Program;
        // Which node has the memory is asked of the nodes, and each has placements of its own.
        let is_of_a_node = matches!(cell.point.memory, Some(MemoryHome::Node(_)));
        counts && !is_of_a_node && report.card(&cell.kernel).and_then(|card| Load::of(card, cell.unit)) == Some(load)
    };
    let kernels = grouped(series.iter().filter(is_of), |series| series.kernel());
    let mut all: Vec<Advice<'_>> =
        kernels.iter().filter_map(|points| Advice::of(load, main_point(points, table)?, table, series)).collect();
    all.arrange_by_key(|advice| asked(report.role(&advice.best.cell.kernel)));
    all
}

/// Of a kernel's series those of one point: with memory where programs have it unless they ask, and the largest block, which is beyond
/// the caches where one is; of products of matrices the depth of recursion that is the fastest.
fn main_point<'a, 's>(points: &[&'s Series<'a>], table: &Estimates<'a>) -> Option<&'s Series<'a>> {
    if !matches!(table.report.role(points[0].kernel()), Role::Product(_)) {
        return points.iter().max_by_key(|series| rank(series.cell())).copied();
    }
    let best = |series: &Series<'a>| series.estimates.iter().copied().reduce(better);
    let is_better = |one, other| best(one).zip(best(other)).is_some_and(|(one, other)| one.is_better(&other));
    points.iter().copied().reduce(|best, next| if is_better(next, best) { next } else { best })
}

/// The largest of a kernel's points is the one that programs meet: memory where they have it, and the largest block.
pub fn rank(cell: &Cell) -> (bool, Option<u64>, Option<u64>) {
    (is_usual(cell.point.memory), cell.point.size_bytes, cell.last_size())
}

/// Whether programs have their memory there unless they ask.
pub fn is_usual(memory: Option<MemoryHome>) -> bool {
    matches!(memory, None | Some(MemoryHome::Local))
}

impl<'a> Advice<'a> {
    /// That on a series; `None` where there is nothing to compare.
    fn of(load: Load, series: &Series<'a>, table: &Estimates<'a>, all: &[Series<'a>]) -> Option<Self> {
        let (report, numbers) = (table.report, &series.estimates);
        let rivals = table.peers(series.kernel());
        if numbers.len() + series.beyond_quota < 2 {
            return None;
        }
        let is_only_count = series.beyond_quota == 0 && series.by_threads().len() == 1;
        // What a quota has CPUs for; the rest waits.
        let (quota, cpus) = (report.machine.quota(), report.machine.worth() as u64);
        let (peak, fewest) = rivals.fewest(numbers)?;
        let competes = |number: &&Estimate<'a>| number.cell.workers <= cpus.max(peak.cell.workers);
        // A number without an interval decides only that there is no advice.
        let is_near = |number: &Estimate<'a>| rivals.is_near(number, &peak);
        let near = || numbers.iter().copied().filter(is_near);
        let beside = || numbers.iter().copied().filter(|number| number.cell.workers == fewest);
        let first = beside().reduce(better)?;
        let deciding = || near().filter(|number| competes(&number)).chain([first, peak]);
        let too_few = deciding().filter(|number| number.interval.is_none()).map(|number| number.runs).min();
        let is_alike =
            |number: &Estimate<'a>, best: &Estimate<'_>| number.meets(best) || rivals.relate(*number, best).is_clock();
        // What binds threads can be pasted, and holds when the machine is busy; of those that are alike one without a doubt.
        let is_sure = |number: &Estimate<'a>| number.is_bound() && !number.is_doubtful();
        let bound = || beside().filter(|number| is_near(number) && number.is_bound() && is_alike(number, &first));
        let any = || if first.is_bound() { Some(first) } else { bound().reduce(better) };
        let sure = || if is_sure(&first) { Some(first) } else { bound().filter(is_sure).reduce(better) };
        let best = sure().or_else(any).unwrap_or(first);
        let is_other = |number: &Estimate<'a>| !std::ptr::eq(number.cell, best.cell);
        let mut regret: Vec<Relation<'a>> =
            numbers.iter().copied().filter(is_other).map(|number| rivals.relate(number, &best)).collect();
        regret.arrange_by(|one, other| other.performance()[0].total_cmp(&one.performance()[0]));
        let is_auto = |loss: &&Relation<'_>| loss.estimate.cell.mapping == AUTO && loss.estimate.cell.workers == fewest;
        // What the host moved is not known to be alike.
        let is_alike = |number: &Estimate<'a>| is_alike(number, &best) && number.is_placed_as(&best);
        let alike: Vec<Estimate<'a>> = beside().filter(is_other).filter(is_alike).collect();
        let moved = beside().any(|number| !number.is_placed_as(&best));
        let fewer = numbers.iter().filter(|number| number.cell.workers < fewest && number.interval.is_some());
        let fewer = fewer
            .map(|number| rivals.relate(*number, &peak))
            .filter(|loss| !loss.is_forbidden() && loss.may_be(1.0 - SATURATED));
        let low = |loss: &Relation<'_>| loss.interval.map_or(loss.share, |found| found.low);
        let fewer = fewer.min_by(|one, other| {
            let by_count = one.estimate.cell.workers.cmp(&other.estimate.cell.workers);
            by_count.then(low(one).total_cmp(&low(other)))
        });
        // Where it was asked for one number of threads, that is the question.
        let is_asked =
            !is_only_count || tried(best.cell, report).any(|cell| (fewest + 1..=cpus).contains(&cell.workers));
        let is_open = is_asked && numbers.iter().all(|number| number.cell.workers <= fewest) && fewest < cpus;
        Some(Advice {
            load,
            best,
            peak,
            is_equal: alike.iter().all(|other| rivals.relate(*other, &best).strength() == Strength::Same),
            too_few,
            quota: quota.filter(|_| {
                let has_more = |number: &Estimate<'_>| {
                    number.cell.workers > fewest && number.unscaled().is_better(&best.unscaled())
                };
                let takes = left_by_quota(report, &best.cell.kernel, fewest + 1, best.quantity) < 1.0;
                fewest > cpus
                    || (fewest == cpus || (takes && numbers.iter().any(has_more)))
                        && tried(best.cell, report).any(|cell| cell.workers > fewest)
            }),
            is_only_count,
            is_one_of_several: false,
            open: is_open.then(|| more_threads(best.cell, cpus, report)),
            alike,
            fewer,
            mappings: beside().count(),
            lacking: lacking(report, best.cell),
            doubtful: best.is_doubtful() || peak.is_doubtful() || moved,
            auto: regret.iter().find(is_auto).copied(),
            strands: extras::strands(numbers, &rivals, report),
            memory: extras::memory(&best, &rivals, all),
            regret,
            shared: None,
            asked_home: None,
            report,
        })
    }

    /// Whether it is one placement: neither few runs, nor other programs, nor CPUs for more threads leave open which.
    pub fn is_settled(&self) -> bool {
        self.too_few.is_none() && self.open.is_none() && self.occupied().is_none()
    }

    /// Why nothing is advised, where a number that decides has no interval.
    pub fn shortage(&self) -> Option<Shortage> {
        let (runs, cell, report) = (self.too_few?, self.best.cell, self.report);
        let are_made = cell.invocations.iter().filter(|run| run.ending == Ending::Done).count() >= LEAST_FOR_INTERVAL;
        let is_stopped = cell.marks.iter().any(|mark| mark.code == V07.code);
        let remedy = match () {
            () if runs >= LEAST_FOR_INTERVAL => Remedy::Quiet,
            () if report.measured_by.is_some() => Remedy::MoreValues,
            () if are_made && self.best.runs == runs && is_stopped => Remedy::Quota,
            () if (report.plan.min_invocations as usize) < LEAST_FOR_INTERVAL => Remedy::AskForMore,
            () if report.complete => Remedy::Again,
            () => {
                // The runs were made in rounds, in the time that the sweep took.
                let missing = (LEAST_FOR_INTERVAL - runs) as f64 / runs.max(1) as f64;
                Remedy::Resume(report.wall_ns as f64 / 1e9 * missing)
            }
        };
        Some(Shortage { runs, remedy })
    }

    /// Whether fewer threads may be enough: none has a number; of threads that contend none but one thread alone, which meets no other.
    pub fn is_open_below(&self) -> bool {
        let least = if self.load == Load::Contended { 2 } else { 1 };
        let best = self.best.cell.workers;
        let has_number = |workers: u64| self.regret.iter().any(|loss| loss.estimate.cell.workers == workers);
        !self.is_only_count && best > least && !(least..best).any(has_number)
    }

    /// Whether threads that contend gain by it, by numbers that are narrow enough to say so.
    fn is_worth_it(&self) -> bool {
        let is_narrow = |number: &Estimate<'_>| number.slack() <= WIDEST;
        self.too_few.is_some() || (self.best.cell.workers > 1 && is_narrow(&self.best) && is_narrow(&self.peak))
    }

    /// The other programs that had CPUs while a program was measured, where they may decide: another number of threads might reach this one
    /// without waiting for CPUs, and nothing is advised.
    pub fn occupied(&self) -> Option<&'a Mark> {
        if matches!(self.shared, Some(Shared { holds: Holds::Beside, .. })) {
            return None;
        }
        let cpus = self.report.machine.usable_strands().count() as u64;
        let rivals = self.regret.iter().map(|loss| loss.estimate).filter(|number| {
            number.cell.workers != self.best.cell.workers && number.cell.workers <= cpus.max(self.best.cell.workers)
        });
        let rivals: Vec<Estimate<'_>> = rivals.map(|number| number.undisturbed()).collect();
        if !rivals.is_empty() && rivals.iter().all(|rival| self.best.is_better(rival) && !self.best.meets(rival)) {
            return None;
        }
        let all = [self.best, self.peak].into_iter().chain(rivals).filter(|_| self.load == Load::Program);
        let limited = all.filter(|number| number.caveats.has(Caveat::OtherPrograms));
        limited.flat_map(|number| &number.cell.marks).find(|mark| mark.code == V34.code)
    }

    /// What it gains over `auto` with as many threads, as a fraction of performance, and where that lies; 0 where it is `auto`. `None`
    /// where `auto` was not measured.
    pub fn gain_over_auto(&self) -> Option<(f64, Option<Interval>)> {
        if self.best.cell.mapping == AUTO {
            return Some((0.0, None));
        }
        let auto = self.auto?;
        let gain = |performance: f64| performance.recip() - 1.0;
        let [middle, low, high] = auto.performance();
        let interval = auto.interval.map(|_| Interval { low: gain(high), high: gain(low) });
        Some((gain(middle), interval))
    }

    /// Whether one mapping is better than all others that were measured with as many threads.
    pub fn is_clear(&self) -> bool {
        self.alike.is_empty() && !self.doubtful && self.too_few.is_none()
    }

    /// Whether threads have to be bound each to its CPU, and not to a set of them: unpinned ones lose.
    pub fn must_pin(&self) -> bool {
        self.best.cell.workers > 1
            && self.auto.is_some_and(|auto| auto.open == Some(false) && !auto.is_clock() && auto.share > 0.0)
    }

    /// How many CPUs the program had work for, in the run that had most.
    pub fn wanted_cpus(&self) -> Option<f64> {
        let evidence = self.best.cell.invocations.iter().filter_map(|invocation| invocation.evidence.as_ref());
        evidence.filter_map(|evidence| evidence.program.as_ref()?.wanted_cpus).reduce(f64::max)
    }

    /// Of threads that contend and gain nothing by it, or of which that is not known.
    fn why_not(&self) -> Option<NotAdvised<'a>> {
        if self.best.cell.workers > 1 {
            let is_wider = self.peak.slack() > self.best.slack();
            return Some(NotAdvised::TooWide(if is_wider { self.peak } else { self.best }));
        }
        let several = self.regret.iter().map(|loss| loss.estimate).filter(|number| number.cell.workers > 1);
        Some(NotAdvised::NoGain { alone: self.best, together: several.reduce(better)? })
    }

    /// Where the threads' memory was.
    pub fn home(&self) -> MemoryHome {
        let cell = self.best.cell;
        let obeys = self.report.card(&cell.kernel).is_some_and(|card| card.obeys(&params::MEMORY));
        let of_all = if obeys { self.report.plan.params.memory } else { MemoryHome::Local };
        cell.point.memory.unwrap_or(of_all)
    }
}

/// The configurations of a kernel with other placements.
fn tried<'a>(best: &'a Cell, report: &'a Report) -> impl Iterator<Item = &'a Cell> {
    let key = |cell: &'a Cell| (&cell.kernel, cell.point, cell.unit);
    report.cells.iter().filter(move |cell| key(cell) == key(best))
}

/// More threads than the best has, up to all CPUs.
fn more_threads(best: &Cell, cpus: u64, report: &Report) -> MoreThreads {
    let more = tried(best, report).filter(|cell| (best.workers + 1..=cpus).contains(&cell.workers));
    MoreThreads { up_to: cpus, tried: more.max_by_key(|cell| cell.workers).map(|cell| (cell.workers, cell.status)) }
}
