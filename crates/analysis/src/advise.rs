//! Where to put the threads of a program, by the kind of load that bounds it: a mapping and a number of threads, what they gain over
//! `auto`, and what every other placement that was measured loses.
//!
//! A pure function of a report. One kernel stands for a load: the one that a reader asks for first, unless the mapping matters to
//! another. The advice is the smallest number of threads that is shown, by its interval, to be within 5% of the best, under the mapping
//! that does best with so many; more threads than CPUs only where they are surely better, and never more than a CPU quota has CPUs. Where
//! a number that decides has no interval there is no advice: "too few runs", and what would settle it. Where the best is the largest
//! number of threads that has a number and CPUs for more are left, the advice is "at least" so many, without a line that keeps a program to
//! their CPUs.

mod extras;
mod sentence;
#[cfg(test)]
mod tests;
mod validation;
mod wire;

use crate::findings::WIDEST;
use crate::group::grouped;
use crate::launch::{Launch, PROGRAM, Placed, TOOLS};
use crate::number::{Basis, MARGIN, Number, better, had, left_by_quota, placed};
use crate::verdict::{AUTO, Claim, Loss, Rivals, SATURATED, lacking};
use charz_data::card::{Access, Card, Chase, CounterKind, Family, Numbers};
use charz_data::checks::V34;
use charz_data::escape::quoted;
use charz_data::report::{Cell, Interval, Mark, MemoryHome, Report, Severity, Unit};
use charz_data::{Arrange, Role, params, units};
use serde::Serialize;

pub use extras::Strands;
pub use sentence::{Subject, lost};
pub use validation::{Check, Validation, validate};
pub use wire::{Outcome, Wire};

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
            Role::LockPool { .. } | Role::LockFreePool { .. } | Role::Counter(_) => Some(Load::Contended),
            Role::Program => Some(Load::Program),
            Role::Growing | Role::Product(_) => Some(Load::Workload),
            Role::Other if card.family == Family::Workload => Some(Load::Workload),
            Role::Other if card.family == Family::Compute => Some(Load::Compute),
            Role::Other if card.family == Family::Memory && unit == Unit::BytesPerSecond => Some(Load::Bandwidth),
            _ => None,
        }
    }

    /// The more threads, the more loads: a latency over their number.
    fn shared(self, number: Number<'_>) -> Number<'_> {
        if self == Load::Latency { number.each() } else { number }
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
pub(crate) fn asked(role: &Role) -> usize {
    FIRST.iter().position(|first| first == role).unwrap_or(FIRST.len())
}

/// What to do with the threads of a load.
#[derive(Clone, Debug)]
pub struct Advice<'a> {
    pub load: Load,
    /// The number of the placement that is advised.
    pub best: Number<'a>,
    /// The best number of all; that of the placement where nothing is better.
    pub peak: Number<'a>,
    /// The numbers of other mappings with as many threads that are not apart from the best of them.
    pub alike: Vec<Number<'a>>,
    /// Whether those differ from it by no more than [`MARGIN`], by their intervals.
    pub is_equal: bool,
    /// The fewest runs of a number that decides, where these are too few for an interval: nothing is advised.
    pub too_few: Option<usize>,
    /// The CPUs of a quota, where more threads than it has time for were tried, and as many as it has time for are advised.
    pub quota: Option<f64>,
    /// Whether no other number of threads has a result.
    pub is_only_count: bool,
    /// A clause, where the most threads that have a number are the best and CPUs for more are left.
    pub open: Option<String>,
    /// The fewest threads, if fewer than are advised, that are not shown to lose more than 5% beside the best number.
    pub fewer: Option<Loss<'a>>,
    /// How many mappings were measured with as many threads.
    pub mappings: usize,
    /// Those that were tried with as many and have no number.
    pub lacking: Vec<&'a str>,
    /// Whether another one may be better: the number or the best one is suspect, or the host moved the CPUs of another mapping.
    pub doubtful: bool,
    /// `auto` with as many threads; `None` where it was not measured, or is what is advised.
    pub auto: Option<Loss<'a>>,
    /// What every other placement loses beside the advised one, the smallest loss first.
    pub regret: Vec<Loss<'a>>,
    /// Whether other kernels of the load have results too.
    pub is_one_of_several: bool,
    /// What further strands of the same cores add.
    pub strands: Option<Strands<'a>>,
    /// The same threads with their memory elsewhere.
    pub memory: Vec<Loss<'a>>,
    report: &'a Report,
}

/// The advice on each load of which a report compares placements.
pub fn advise(report: &Report) -> Vec<Advice<'_>> {
    Load::ALL.into_iter().flat_map(|load| on(load, report)).collect()
}

/// Why nothing is advised to threads that contend, though some were measured.
pub fn not_advised(report: &Report) -> Option<String> {
    each(Load::Contended, report).iter().filter(|advice| !advice.is_worth_it()).find_map(Advice::why_not)
}

fn on(load: Load, report: &Report) -> Vec<Advice<'_>> {
    let mut all = each(load, report);
    all.retain(|advice| load != Load::Contended || advice.is_worth_it());
    if load == Load::Workload {
        return all;
    }
    let is_one_of_several = all.len() > 1;
    all.iter_mut().for_each(|advice| advice.is_one_of_several = is_one_of_several);
    let auto_loses = |advice: &Advice<'_>| advice.auto.is_some_and(|auto| auto.is_sure() && auto.share > 0.0);
    let another_loses = |advice: &Advice<'_>| {
        let mut beside = advice.regret.iter().filter(|loss| loss.number.cell.workers == advice.best.cell.workers);
        beside.any(|loss| loss.is_sure() && loss.share > MARGIN)
    };
    let first = |of: &dyn Fn(&Advice<'_>) -> bool| all.iter().position(of);
    let chosen = first(&auto_loses).or_else(|| first(&another_loses)).unwrap_or(0);
    if all.is_empty() { Vec::new() } else { vec![all.swap_remove(chosen)] }
}

/// That on each kernel of a load, in the order in which readers ask.
fn each(load: Load, report: &Report) -> Vec<Advice<'_>> {
    let is_of = |number: &Number<'_>| {
        // The empty kernel's time is no work; a program's may be all there is.
        let counts = number.cell.unit != Unit::Nanoseconds || load == Load::Program;
        let card = report.card(&number.cell.kernel);
        // Which node has the memory is asked of the nodes, and each has placements of its own.
        let is_of_a_node = matches!(number.cell.point.memory, Some(MemoryHome::Node(_)));
        counts && !is_of_a_node && card.and_then(|card| Load::of(card, number.cell.unit)) == Some(load)
    };
    let numbers = placed(&Basis::of(report), &report.cells).into_iter().filter(is_of);
    let kernels = grouped(numbers, |number| number.cell.kernel.as_str());
    let mut all: Vec<Advice<'_>> = kernels
        .into_iter()
        .filter_map(|numbers| {
            let role = report.role(&numbers[0].cell.kernel);
            Advice::of(load, main_point(numbers, role), report)
        })
        .collect();
    all.arrange_by_key(|advice| asked(report.role(&advice.best.cell.kernel)));
    all
}

/// Of a kernel's numbers those of one point: with memory where programs have it unless they ask, and the largest block, which is beyond
/// the caches where one is; of products of matrices the depth of recursion that is the fastest.
fn main_point<'a>(numbers: Vec<Number<'a>>, role: &Role) -> Vec<Number<'a>> {
    let points = grouped(numbers, |number| (number.cell.point, number.cell.unit, number.cell.last_size()));
    if matches!(role, Role::Product(_)) {
        let best = |numbers: &Vec<Number<'a>>| numbers.iter().copied().reduce(better);
        let is_better = |one: &Vec<Number<'a>>, other: &Vec<Number<'a>>| match (best(one), best(other)) {
            (Some(one), Some(other)) => one.is_better(&other),
            _ => false,
        };
        return points
            .into_iter()
            .reduce(|best, next| if is_better(&next, &best) { next } else { best })
            .unwrap_or_default();
    }
    points.into_iter().max_by_key(|numbers| rank(numbers[0].cell)).unwrap_or_default()
}

/// The largest of a kernel's points is the one that programs meet: memory where they have it, and the largest block.
pub(crate) fn rank(cell: &Cell) -> (bool, Option<u64>, Option<u64>) {
    (is_usual(cell.point.memory), cell.point.size_bytes, cell.last_size())
}

fn is_usual(memory: Option<MemoryHome>) -> bool {
    matches!(memory, None | Some(MemoryHome::Local))
}

impl<'a> Advice<'a> {
    /// That on the numbers of a kernel at a point; `None` where there is nothing to compare.
    fn of(load: Load, numbers: Vec<Number<'a>>, report: &'a Report) -> Option<Self> {
        let rivals = Rivals::of(report, &numbers.first()?.cell.kernel);
        if numbers.len() < 2 {
            return None;
        }
        let is_only_count = numbers.iter().all(|number| number.cell.workers == numbers[0].cell.workers);
        // What a quota has CPUs for; the rest waits.
        let (quota, cpus) = (report.machine.quota(), report.machine.worth() as u64);
        let within = numbers.into_iter().filter(|number| quota.is_none() || number.cell.workers <= cpus);
        let numbers: Vec<Number<'a>> = within.map(|number| load.shared(number)).collect();
        let (peak, fewest) = rivals.fewest(&numbers)?;
        let competes = |number: &&Number<'a>| number.cell.workers <= cpus.max(peak.cell.workers);
        // A number without an interval decides only that there is no advice.
        let is_near = |number: &Number<'a>| rivals.is_near(number, &peak);
        let near = || numbers.iter().copied().filter(is_near);
        let beside = || numbers.iter().copied().filter(|number| number.cell.workers == fewest);
        let first = beside().reduce(better)?;
        let deciding = || near().filter(|number| competes(&number)).chain([first, peak]);
        let too_few = deciding().filter(|number| number.interval.is_none()).map(|number| number.runs).min();
        let is_alike =
            |number: &Number<'a>, best: &Number<'_>| number.meets(best) || rivals.loss(*number, best).is_clock;
        // What binds threads can be pasted, and holds when the machine is busy; of those that are alike one without a doubt.
        let is_sure = |number: &Number<'a>| number.is_bound() && !number.is_doubtful();
        let bound = || beside().filter(|number| is_near(number) && number.is_bound() && is_alike(number, &first));
        let any = || if first.is_bound() { Some(first) } else { bound().reduce(better) };
        let sure = || if is_sure(&first) { Some(first) } else { bound().filter(is_sure).reduce(better) };
        let best = sure().or_else(any).unwrap_or(first);
        let is_other = |number: &Number<'a>| !std::ptr::eq(number.cell, best.cell);
        let mut regret: Vec<Loss<'a>> =
            numbers.iter().copied().filter(is_other).map(|number| rivals.loss(number, &best)).collect();
        regret.arrange_by(|one, other| of_performance(other)[0].total_cmp(&of_performance(one)[0]));
        let is_auto = |loss: &&Loss<'_>| loss.number.cell.mapping == AUTO && loss.number.cell.workers == fewest;
        // What the host moved is not known to be alike.
        let is_alike = |number: &Number<'a>| is_alike(number, &best) && number.is_placed_as(&best);
        let alike: Vec<Number<'a>> = beside().filter(is_other).filter(is_alike).collect();
        let moved = beside().any(|number| !number.is_placed_as(&best));
        let fewer = numbers.iter().filter(|number| number.cell.workers < fewest && number.interval.is_some());
        let fewer = fewer
            .map(|number| rivals.loss(*number, &peak))
            .filter(|loss| !loss.is_moved && loss.may_be(1.0 - SATURATED));
        let low = |loss: &Loss<'_>| loss.interval.map_or(loss.share, |found| found.low);
        let fewer = fewer.min_by(|one, other| {
            let by_count = one.number.cell.workers.cmp(&other.number.cell.workers);
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
            is_equal: alike.iter().all(|other| rivals.loss(*other, &best).claim() == Claim::None),
            too_few,
            quota: quota.filter(|_| {
                let has_more =
                    |number: &Number<'_>| number.cell.workers > fewest && number.whole().is_better(&best.whole());
                let takes = left_by_quota(report, &best.cell.kernel, fewest + 1, best.origin) < 1.0;
                (fewest == cpus || (takes && numbers.iter().any(has_more)))
                    && tried(best.cell, report).any(|cell| cell.workers > fewest)
            }),
            is_only_count,
            is_one_of_several: false,
            open: is_open.then(|| open(best.cell, cpus, report)),
            alike,
            fewer,
            mappings: beside().count(),
            lacking: lacking(report, best.cell),
            doubtful: best.is_doubtful() || peak.is_doubtful() || moved,
            auto: regret.iter().find(is_auto).copied(),
            strands: extras::strands(&numbers, &rivals, report),
            memory: extras::memory(load, &best, &rivals, report),
            regret,
            report,
        })
    }

    /// Whether it is one placement: neither few runs, nor other programs, nor CPUs for more threads leave open which.
    pub fn is_settled(&self) -> bool {
        self.too_few.is_none() && self.open.is_none() && self.occupied().is_none()
    }

    /// Whether fewer threads may be enough: none has a number; of threads that contend none but one thread alone, which meets no other.
    fn is_open_below(&self) -> bool {
        let least = if self.load == Load::Contended { 2 } else { 1 };
        let best = self.best.cell.workers;
        let has_number = |workers: u64| self.regret.iter().any(|loss| loss.number.cell.workers == workers);
        !self.is_only_count && best > least && !(least..best).any(has_number)
    }

    /// Whether threads that contend gain by it, by numbers that are narrow enough to say so.
    fn is_worth_it(&self) -> bool {
        let is_narrow = |number: &Number<'_>| number.slack() <= WIDEST;
        self.too_few.is_some() || (self.best.cell.workers > 1 && is_narrow(&self.best) && is_narrow(&self.peak))
    }

    /// The other programs that had CPUs while a program was measured, where they may decide: another number of threads might reach this one
    /// without waiting for CPUs, and nothing is advised.
    pub fn occupied(&self) -> Option<&'a str> {
        let cpus = self.report.machine.usable_strands().count() as u64;
        let rivals = self.regret.iter().map(|loss| loss.number).filter(|number| {
            number.cell.workers != self.best.cell.workers && number.cell.workers <= cpus.max(self.best.cell.workers)
        });
        let rivals: Vec<Number<'_>> = rivals.map(|number| undisturbed(&number)).collect();
        if !rivals.is_empty() && rivals.iter().all(|rival| self.best.is_better(rival) && !self.best.meets(rival)) {
            return None;
        }
        let is_it = |mark: &&Mark| mark.code == V34.code && mark.severity > Severity::Note;
        let cells = [self.best.cell, self.peak.cell].into_iter().chain(rivals.iter().map(|rival| rival.cell));
        let marks = cells.flat_map(|cell| &cell.marks);
        let used = marks.filter(|_| self.load == Load::Program).find(is_it)?;
        Some(&used.reason)
    }

    /// What it gains over `auto` with as many threads, as a fraction of performance, and where that lies; 0 where it is `auto`. `None`
    /// where `auto` was not measured.
    pub fn gain_over_auto(&self) -> Option<(f64, Option<Interval>)> {
        if self.best.cell.mapping == AUTO {
            return Some((0.0, None));
        }
        let auto = self.auto?;
        let gain = |performance: f64| performance.recip() - 1.0;
        let [middle, low, high] = of_performance(&auto);
        let interval = auto.interval.map(|_| Interval { low: gain(high), high: gain(low) });
        Some((gain(middle), interval))
    }

    /// Whether one mapping is better than all others that were measured with as many threads.
    pub fn is_clear(&self) -> bool {
        self.alike.is_empty() && !self.doubtful && self.too_few.is_none()
    }

    fn placed(&self) -> Placed<'_> {
        Placed { machine: &self.report.machine, seats: &self.best.cell.seats, memory: self.home() }
    }

    /// How each tool launches a program so, by the tool's name.
    pub fn launches(&self) -> impl Iterator<Item = (&'static str, Launch)> {
        let placed = self.placed();
        TOOLS.iter().map(move |tool| (tool.name, placed.launch(tool)))
    }

    /// The line that most can paste: charz exec's where unpinned threads lose or memory was remote, else taskset's, for each of several
    /// copies, or numactl's where memory is not left to the threads' own touch. `None` where the operating system places both, where
    /// no line places the memory, and where the placement is not [settled](Self::is_settled).
    pub fn paste(&self) -> Option<String> {
        if !self.is_settled() {
            return None;
        }
        let own =
            self.report.plan.program.as_ref().filter(|_| self.load == Load::Program && is_usual(Some(self.home())));
        let seats: Option<Vec<u32>> = self.best.cell.seats.iter().copied().collect();
        let copies = own.zip(seats).and_then(|(own, seats)| own.copies(&seats, &self.best.cell.mapping));
        if copies.is_some() {
            return copies;
        }
        // A set of CPUs keeps threads off others, and none of its threads off another.
        let must_pin = self.best.cell.workers > 1
            && self.auto.is_some_and(|auto| auto.open == Some(false) && !auto.is_clock && auto.share > 0.0);
        let must_pin = must_pin && is_usual(Some(self.home()));
        let (mapping, threads) = (&self.best.cell.mapping, self.best.cell.workers);
        // A list may have a CPU twice.
        if must_pin && !mapping.starts_with("list:") {
            let mapping = quoted(mapping);
            return Some(format!("charz exec --mapping {mapping} --threads {threads} -- {}", self.program()));
        }
        let tool = match self.home() {
            MemoryHome::Local if !must_pin => "taskset",
            MemoryHome::Local => "exec",
            MemoryHome::Remote if self.placed().has_several_remotes() => return None,
            // numactl has no word for it.
            MemoryHome::Remote => "exec",
            _ => "numactl",
        };
        self.launches().find(|(name, _)| *name == tool)?.1.line(&self.program())
    }

    /// What is launched: the user's program as it was measured so, and [`PROGRAM`] for others and for copies.
    pub fn program(&self) -> String {
        let cell = self.best.cell;
        let usable = || self.report.machine.usable_strands().map(|strand| strand.os_id).collect();
        let seats: Vec<u32> = cell.seats.iter().copied().collect::<Option<_>>().unwrap_or_else(usable);
        let own = self.report.plan.program.as_ref().filter(|_| self.load == Load::Program);
        let own = own.and_then(|program| program.line(cell.seats.len(), &seats, &cell.mapping));
        own.unwrap_or_else(|| PROGRAM.to_owned())
    }

    /// Where the threads' memory was.
    fn home(&self) -> MemoryHome {
        let cell = self.best.cell;
        let obeys = self.report.card(&cell.kernel).is_some_and(|card| card.obeys(&params::MEMORY));
        let of_all = if obeys { self.report.plan.params.memory } else { MemoryHome::Local };
        cell.point.memory.unwrap_or(of_all)
    }

    /// `arith-int round-robin x2: 3.66 Gop/s ±0.4%`.
    pub fn evidence(&self) -> String {
        let half = self.best.interval.map(|interval| interval.half_width(self.best.value));
        let half = half.map(|half| format!(" ±{}", units::percent(half))).unwrap_or_default();
        let home = Some(self.home()).filter(|home| self.best.cell.point.memory.is_none() && !is_usual(Some(*home)));
        let home = home.map(|home| format!(", memory {home}")).unwrap_or_default();
        format!("{}{half}{home}", self.best.cited())
    }
}

/// The configurations of a kernel with other placements.
fn tried<'a>(best: &'a Cell, report: &'a Report) -> impl Iterator<Item = &'a Cell> {
    let key = |cell: &'a Cell| (&cell.kernel, cell.point, cell.unit);
    report.cells.iter().filter(move |cell| key(cell) == key(best))
}

/// `more, up to 64, have no number (x64 failed) and may do better`.
fn open(best: &Cell, cpus: u64, report: &Report) -> String {
    let more = tried(best, report).filter(|cell| (best.workers + 1..=cpus).contains(&cell.workers));
    let tried = more
        .max_by_key(|cell| cell.workers)
        .map(|cell| format!(" (x{} {})", cell.workers, cell.status.name()))
        .unwrap_or_default();
    format!("more, up to {cpus}, have no number{tried} and may do better")
}

/// A number as if its threads had had all the time on CPUs for which they asked.
fn undisturbed<'a>(number: &Number<'a>) -> Number<'a> {
    let had = had(number.cell).unwrap_or(0.0);
    number.scaled(if number.cell.unit.more_is_better() { had.recip() } else { had })
}

/// What a number does as a fraction of what another does, with rates as with times.
fn performance(number: &Number<'_>, of: &Number<'_>) -> f64 {
    if number.cell.unit.more_is_better() { number.value / of.value } else { of.value / number.value }
}

/// What a number does as a fraction of the one that it was compared with: the middle, then the low and the high end of where it lies.
fn of_performance(loss: &Loss<'_>) -> [f64; 3] {
    let performance = |share: f64| if loss.is_work { 1.0 - share } else { (1.0 + share).recip() };
    let (low, high) = loss.interval.map_or((loss.share, loss.share), |interval| (interval.low, interval.high));
    [loss.share, high, low].map(performance)
}
