//! The number of a cell, and how it compares with others.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::group::grouped;
use crate::point;
use charz_data::Role;
use charz_data::card::Family;
use charz_data::report::{Cell, Estimate, Estimator, Interval, Report, Run};
use charz_data::units;
use charz_stats::{Around, LEAST_FOR_INTERVAL, Sample, follow_the_clock, ratio_of_estimates};

/// How much is no difference, as a fraction: the margin of `≈0%`, of "makes no difference" and of `compare`.
pub const MARGIN: f64 = 0.02;

/// Shown where there is no number.
pub const NONE: &str = "–";

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number<'a> {
    pub cell: &'a Cell,
    /// In the unit of the cell; of copies of a program that are timed, the time over their number.
    pub value: f64,
    /// `None` after too few invocations.
    pub interval: Option<Interval>,
    pub origin: Origin,
    /// By how much it was divided: by the threads or copies that share a time, and for the pauses of a quota.
    pub(crate) copies: f64,
    /// How many runs have a value, of the cells that it is from the fewest.
    pub(crate) runs: usize,
}

/// What a number is of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Capacity,
    Delivered,
    /// The capacity of bound threads, times the ratio of the two deliveries.
    Estimated,
}

impl Origin {
    /// What follows the number where it is no capacity.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Origin::Capacity => "",
            Origin::Delivered => " delivered",
            Origin::Estimated => " estimated",
        }
    }
}

/// How the cells of a report become numbers: by one rule for all that is said of a kernel.
///
/// Of a kernel that waits in the system there is only what the machine gave it: beside one, the numbers of all kernels of its
/// [`kind`] are what was delivered where the machine gave any of them less than [`NEARLY_ALL`].
pub(crate) struct Basis<'a> {
    report: &'a Report,
    /// The kinds of which what was delivered counts.
    delivered: Vec<&'a str>,
}

impl<'a> Basis<'a> {
    pub(crate) fn of(report: &'a Report) -> Self {
        let measured = report.cells.iter().filter(|cell| cell.value().is_some());
        let kinds = grouped(measured.filter_map(|cell| Some((kind(report, cell)?, cell))), |(kind, _)| *kind);
        let lacks = |cell: &Cell| given(report, cell).is_some_and(|share| share < NEARLY_ALL);
        let counts = |all: &&Vec<(&str, &Cell)>| {
            all.iter().any(|(_, cell)| waits_in_kernel(report, cell)) && all.iter().any(|(_, cell)| lacks(cell))
        };
        Basis { report, delivered: kinds.iter().filter(counts).map(|all| all[0].0).collect() }
    }

    pub(crate) fn number(&self, cell: &'a Cell) -> Option<Number<'a>> {
        let number = Number::of(cell)?;
        let is_delivered = kind(self.report, cell).is_some_and(|kind| self.delivered.contains(&kind));
        Some(match cell.delivered.filter(|_| is_delivered) {
            Some(Estimate { value, interval }) => Number { value, interval, origin: Origin::Delivered, ..number },
            None if is_of_copies(self.report, cell) => number.each(),
            None => number,
        })
    }

    pub(crate) fn numbers(&self, cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Number<'a>> {
        cells.into_iter().filter_map(|cell| self.number(cell)).collect()
    }
}

/// Whether its threads wait for each other in the system.
pub(crate) fn waits_in_kernel(report: &Report, cell: &Cell) -> bool {
    report.card(&cell.kernel).is_some_and(|card| card.blocks_in_kernel)
}

/// Whether it is the time of copies of a program, each of which does its own work.
pub(crate) fn is_of_copies(report: &Report, cell: &Cell) -> bool {
    report.is_in_copies(&cell.kernel) && cell.unit.is_time()
}

/// What kernels are called together that do single operations, by their role or by how their names begin, and those that share
/// something for a throughput; `None` of all others.
pub(crate) fn kind<'a>(report: &'a Report, cell: &'a Cell) -> Option<&'a str> {
    let family = report.card(&cell.kernel)?.family;
    match report.role(&cell.kernel) {
        _ if !matches!(family, Family::Sync | Family::Timer | Family::Floor) => None,
        _ if cell.unit.more_is_better() => Some("throughput").filter(|_| family == Family::Sync),
        Role::HandOff(_) => Some("wake-up"),
        Role::LineTransfer(_) => Some("c2c"),
        _ => cell.kernel.split('-').next(),
    }
}

/// The numbers of the cells that have one, as placements are compared by them.
///
/// Threads that are bound nowhere may share a CPU while another is idle, which a capacity does not show, except of threads that wait for
/// each other. Where they delivered a smaller
/// share of their capacity than bound ones did, by more than [`MARGIN`], their number is the bound ones', times the ratio of the two
/// deliveries: other programs took their part from both.
pub(crate) fn placed<'a>(basis: &Basis<'a>, cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Number<'a>> {
    let numbers = basis.numbers(cells);
    let beside = |own: &Cell, other: &Cell| {
        let key = |cell: &Cell| (cell.point, cell.unit, cell.last_size(), cell.workers);
        own.kernel == other.kernel && key(own) == key(other)
    };
    let placed = |number: &Number<'a>| {
        // A thread alone has no other to share with.
        let is_alone = number.cell.workers == 1 || waits_in_kernel(basis.report, number.cell);
        if number.is_bound() || number.origin == Origin::Delivered || is_alone {
            return *number;
        }
        let bound = numbers.iter().filter(|other| other.is_bound() && beside(number.cell, other.cell));
        bound.copied().reduce(better).and_then(|bound| number.delivered_beside(&bound)).unwrap_or(*number)
    };
    numbers.iter().map(|number| placed(number).in_quota(basis.report)).collect()
}

/// The share of their time that a CPU quota leaves so many threads; all of it where the number has the quota in it: where it was delivered,
/// where a quota is measured, and for a program, whose runs have its pauses.
pub(crate) fn left_by_quota(report: &Report, kernel: &str, threads: u64, origin: Origin) -> f64 {
    let counts = !matches!(report.role(kernel), Role::Quota | Role::Program) && origin != Origin::Delivered;
    // More threads than CPUs use no more time.
    let busy = threads.min(report.machine.usable_strands().count() as u64) as f64;
    report.machine.quota().filter(|_| counts).map_or(1.0, |cpus| (cpus / busy).min(1.0))
}

impl<'a> Number<'a> {
    pub(crate) fn of(cell: &'a Cell) -> Option<Self> {
        let runs = cell.invocations.iter().filter(|invocation| invocation.value.is_some()).count();
        let (value, interval) = (cell.value()?, cell.capacity?.interval);
        Some(Number { cell, value, interval, origin: Origin::Capacity, copies: 1.0, runs })
    }

    /// A time over the number of threads, each of which does its own work in it.
    pub(crate) fn each(&self) -> Self {
        let copies = self.cell.workers as f64;
        Number { copies: copies * self.copies, ..self.scaled(copies.recip()) }
    }

    /// What its threads do in the time that a quota leaves them; [`whole`](Self::whole) is without its pauses.
    pub(crate) fn in_quota(&self, report: &Report) -> Self {
        let share = left_by_quota(report, &self.cell.kernel, self.cell.workers, self.origin);
        let by = if self.cell.unit.more_is_better() { share } else { share.recip() };
        Number { copies: self.copies / by, ..self.scaled(by) }
    }

    pub(crate) fn whole(&self) -> Self {
        Number { copies: 1.0, ..self.scaled(self.copies) }
    }

    pub(crate) fn scaled(&self, by: f64) -> Self {
        let interval = self.interval.map(|Interval { low, high }| Interval { low: low * by, high: high * by });
        Number { value: self.value * by, interval, ..*self }
    }

    /// The other's number times the ratio of the two deliveries, and its own where that is less; `None` where its threads shared no
    /// CPUs, or where that was not seen and it did not deliver a smaller share of its capacity than the other, by more than [`MARGIN`].
    pub(crate) fn delivered_beside(&self, bound: &Number<'_>) -> Option<Self> {
        let lacks = self.cell.delivered_share()? < (1.0 - MARGIN) * bound.cell.delivered_share()?;
        if !shared_cpus(self.cell).map_or(lacks, |share| share >= MARGIN) {
            return None;
        }
        let (own, other) = (self.cell.delivered?, bound.cell.delivered?);
        let around = |estimate: &Estimate| {
            estimate.interval.map(|Interval { low, high }| Around { value: estimate.value, low, high })
        };
        let ratio = around(&other).zip(around(&own)).and_then(|(base, new)| ratio_of_estimates(base, new));
        let interval = ratio.map(|(low, high)| Interval { low: low * bound.value, high: high * bound.value });
        let value = own.value / other.value * bound.value;
        let runs = self.runs.min(bound.runs);
        let found = Number { value, interval, origin: Origin::Estimated, runs, ..*self };
        if !found.is_better(self) {
            return Some(found);
        }
        // It is the most that they do, and how much less it was is not known.
        let hull = |(one, other): (Interval, Interval)| match self.cell.unit.more_is_better() {
            true => Interval { low: one.low.min(other.low), ..one },
            false => Interval { high: one.high.max(other.high), ..one },
        };
        Some(Number { interval: self.interval.zip(interval).map(hull), runs, ..*self })
    }

    /// Whether each thread had a CPU of its own by the mapping.
    pub(crate) fn is_bound(&self) -> bool {
        self.cell.seats.iter().all(Option::is_some)
    }

    pub fn is_doubtful(&self) -> bool {
        self.cell.is_suspect()
    }

    /// Whether its CPUs are those of the other by their ids, and were as far apart: what differs is not where the host had put them.
    pub(crate) fn is_placed_as(&self, other: &Number<'_>) -> bool {
        let cpus = |cell: &Cell| {
            let mut cpus = cell.seats.clone();
            cpus.sort_unstable();
            cpus
        };
        // Of floating workers it is known only where they are as many as all CPUs.
        let floats = |cell: &Cell| cell.seats.contains(&None);
        let (one, next) = (self.cell, other.cell);
        one.moved(next).is_none()
            || one.workers != next.workers
            || !(floats(one) || floats(next) || cpus(one) == cpus(next))
    }

    pub(crate) fn by_value(&self, other: &Number<'_>) -> Ordering {
        self.value.total_cmp(&other.value)
    }

    pub(crate) fn is_better(&self, other: &Number<'_>) -> bool {
        if self.cell.unit.more_is_better() { self.value > other.value } else { self.value < other.value }
    }

    /// The ends of its interval; the least and the largest value after too few invocations for one.
    pub(crate) fn ends(&self) -> (f64, f64) {
        if let Some(Interval { low, high }) = self.interval {
            return (low, high);
        }
        if self.origin != Origin::Capacity {
            return (self.value, self.value);
        }
        let values = self.cell.invocations.iter().filter_map(|invocation| Some(invocation.value? / self.copies));
        values.fold((self.value, self.value), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// Half of the distance of its ends, as a fraction.
    pub(crate) fn slack(&self) -> f64 {
        let (low, high) = self.ends();
        (high - low) / 2.0 / self.value
    }

    pub(crate) fn is_surely_below(&self, other: &Number<'_>) -> bool {
        self.value < other.value && self.ends().1 < other.ends().0 && self.is_placed_as(other)
    }

    /// Whether the two are not apart, or only by when they were measured or where the host had put their CPUs.
    pub(crate) fn meets(&self, other: &Number<'_>) -> bool {
        let ((low, high), (other_low, other_high)) = (self.ends(), other.ends());
        low <= other_high && other_low <= high || self.repeats(other) || !self.is_placed_as(other)
    }

    /// Whether another mapping did the same work on the same CPUs in the same order: one placement, measured twice.
    pub(crate) fn repeats(&self, other: &Number<'_>) -> bool {
        let (one, next) = (self.cell, other.cell);
        let is_same_work = (&one.kernel, one.point, one.last_size()) == (&next.kernel, next.point, next.last_size());
        one.mapping != next.mapping && self.is_bound() && one.seats == next.seats && is_same_work
    }

    /// Its interval as the ends of an estimate.
    pub(crate) fn around(&self) -> Option<Around> {
        self.interval.map(|Interval { low, high }| Around { value: self.value, low, high })
    }

    /// With its unit, and `~` if it is noisy.
    pub(crate) fn shown(&self) -> String {
        let (value, doubt) = (units::value(self.whole().value, self.cell.unit), units::doubt(self.is_doubtful()));
        format!("{value}{doubt}{}", self.origin.label())
    }

    /// `~` for a result of the two, if one of them is noisy.
    pub(crate) fn doubt_beside(&self, other: &Number<'_>) -> &'static str {
        units::doubt(self.is_doubtful() || other.is_doubtful())
    }

    /// How many times the other it is: `1.31 (1.29 to 1.33)`; with `~` if one of them is noisy, `1.31?` after too few runs for an interval,
    /// `1.31~` where enough runs give none.
    pub(crate) fn times(&self, base: &Number<'_>) -> String {
        let times = units::ratio(self.value / base.value);
        match base.around().zip(self.around()).and_then(|(base, own)| ratio_of_estimates(base, own)) {
            None if self.runs.min(base.runs) < LEAST_FOR_INTERVAL => format!("{times}?"),
            None => times + units::doubt(true),
            Some((low, high)) => {
                let [low, high] = [low, high].map(units::ratio);
                format!("{times}{} ({low} to {high})", self.doubt_beside(base))
            }
        }
    }

    /// Which cell of the report it is from, and what it is.
    pub(crate) fn cited(&self) -> String {
        format!("{}: {}", point::name(self.cell), self.shown())
    }
}

/// From this share on what the machine gave is all.
pub(crate) const NEARLY_ALL: f64 = 0.95;

/// What the machine gave of its capacity while this was measured, as a fraction: the share of the work where a core does it by itself, else
/// the share of the time on CPUs for which threads asked. `None` where that is not known, where threads wait for each other in the kernel, and where they
/// share CPUs by request.
pub(crate) fn given(report: &Report, cell: &Cell) -> Option<f64> {
    if cell.estimator == Estimator::FastMode {
        return Some((cell.delivered_share()? / clock_share(cell)).min(1.0));
    }
    let is_alone = cell.workers <= report.machine.usable_strands().count() as u64 && cell.has_own_cpus();
    if !is_alone || report.card(&cell.kernel)?.blocks_in_kernel {
        return None;
    }
    had(cell)
}

/// The clock of the cores over all runs, as a fraction of that of the number, where the number follows it: a clock that drops takes work
/// and no time.
fn clock_share(cell: &Cell) -> f64 {
    let rates = cell.clocked_rates();
    let clocks: Vec<f64> = rates.iter().map(|(_, clock)| *clock).collect();
    match Sample::new(clocks).filter(|_| follow_the_clock(&[&rates])) {
        Some(clocks) => clocks.len() as f64 / clocks.values().iter().map(|clock| clocks.median() / clock).sum::<f64>(),
        None => 1.0,
    }
}

/// The share of the time on CPUs for which threads asked that they had, as a fraction; `None` where that was not counted.
pub(crate) fn had(cell: &Cell) -> Option<f64> {
    let laps = cell.invocations.iter().flat_map(|invocation| &invocation.runs).flat_map(|run| &run.laps);
    let times = laps.map(|lap| Some((lap.counts.cpu_ns? as f64, lap.counts.run_delay_ns? as f64)));
    let (had, waited) = times.reduce(|sum, next| Some((sum?.0 + next?.0, sum?.1 + next?.1)))??;
    Some(had / (had + waited)).filter(|share| share.is_finite())
}

/// The share of iterations at the end of which two of its threads were on one CPU; `None` where that was not seen, as of more threads than
/// reports keep singly.
pub(crate) fn shared_cpus(cell: &Cell) -> Option<f64> {
    let (mut seen, mut shared) = (0, 0);
    let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    for mut ends in runs.filter_map(|run| ends(run, cell.seats.len())) {
        ends.sort_unstable();
        seen += 1;
        shared += usize::from(ends.windows(2).any(|pair| pair[0] == pair[1]));
    }
    (seen > 0).then(|| shared as f64 / seen as f64)
}

/// The CPU on which each of so many threads ended an iteration; `None` where one was not seen.
pub(crate) fn ends(run: &Run, threads: usize) -> Option<Vec<u32>> {
    let ends: Vec<u32> =
        run.laps.iter().filter(|lap| lap.group.is_none()).map(|lap| lap.strand).collect::<Option<_>>()?;
    (ends.len() == threads).then_some(ends)
}

/// Of two numbers the better; of equals the first.
pub(crate) fn better<'a>(best: Number<'a>, next: Number<'a>) -> Number<'a> {
    if next.is_better(&best) { next } else { best }
}

/// A time with `~` if it is noisy.
pub(crate) fn time(ns: f64, doubtful: bool) -> String {
    format!("{}{}", units::nanos(ns), units::doubt(doubtful))
}

/// The answer to which of several cells is best.
pub(crate) struct Best<'a> {
    /// Of the numbers that meet the best value the one of the fewest workers; of those of as many the best, of equals the first.
    pub(crate) number: Number<'a>,
    /// The others that meet the best value with as many workers.
    pub(crate) alike: Vec<Number<'a>>,
}

impl<'a> Best<'a> {
    /// Suspect numbers compete too, for the best of those that happen to be `ok` may be far from the best.
    pub(crate) fn of(numbers: &[Number<'a>]) -> Option<Self> {
        let top = numbers.iter().copied().reduce(better)?;
        let reaching = || numbers.iter().copied().filter(|number| number.meets(&top));
        let fewest = reaching().map(|number| number.cell.workers).min()?;
        let with_fewest = || reaching().filter(|number| number.cell.workers == fewest);
        let number = with_fewest().reduce(better)?;
        let alike = with_fewest().filter(|other| !std::ptr::eq(other.cell, number.cell)).collect();
        Some(Best { number, alike })
    }
}

/// The best of each group of two or more numbers, in the order of the keys.
pub(crate) fn contests<'a, K: Ord>(
    numbers: impl IntoIterator<Item = Number<'a>>,
    key: impl Fn(&Number<'a>) -> K,
) -> impl Iterator<Item = Best<'a>> {
    let mut groups: BTreeMap<K, Vec<Number<'a>>> = BTreeMap::new();
    for number in numbers {
        groups.entry(key(&number)).or_default().push(number);
    }
    let same_unit = |numbers: &[Number<'_>]| numbers.windows(2).all(|pair| pair[0].cell.unit == pair[1].cell.unit);
    let contests = groups.into_values().filter(move |numbers| numbers.len() > 1 && same_unit(numbers));
    contests.filter_map(|numbers| Best::of(&numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Evidence, Frequency, Unit, fixtures};

    #[test]
    fn a_small_ratio_has_as_many_digits() {
        let [one, few] = [1e9, 12.5e6].map(|value| fixtures::cell("pool-std", 1, Unit::OpsPerSecond, value));
        let shown = Number::of(&few).unwrap().times(&Number::of(&one).unwrap());
        assert!(shown.starts_with("0.0125 (0.01"), "{shown}");
    }

    /// A clock of 3 GHz that drops to 2.4 GHz after six of ten runs.
    #[test]
    fn a_clock_that_drops_takes_no_time() {
        let mut cell = fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 3e9);
        (cell.estimator, cell.invocations) = (Estimator::FastMode, vec![cell.invocations[0].clone(); 10]);
        for (at, invocation) in cell.invocations.iter_mut().enumerate() {
            let hz = if at < 6 { 3e9 } else { 2.4e9 };
            let frequency = Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 };
            invocation.value = Some(hz * (1.0 + 1e-4 * (at % 3) as f64));
            invocation.evidence = Some(Evidence { frequency: Some(frequency), ..Default::default() });
        }
        cell.delivered = Some(Estimate { value: 10.0 / (6.0 / 3e9 + 4.0 / 2.4e9), interval: None });
        let mut report = fixtures::report(vec![cell]);
        let shared = given(&report, &report.cells[0]).unwrap();
        assert!(shared > 0.99, "{shared}");
        report.cells[0].delivered.as_mut().unwrap().value *= 0.7;
        let taken = given(&report, &report.cells[0]).unwrap();
        assert!((taken - 0.7).abs() < 0.01, "{taken}");
    }

    #[test]
    fn a_ratio_without_an_interval_is_of_too_few_runs_or_too_noisy() {
        for (runs, shown) in [(5, "1.00?"), (10, "1.00~")] {
            let mut cell = fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 1e9);
            cell.invocations = vec![cell.invocations[0].clone(); runs];
            let number = Number { interval: None, ..Number::of(&cell).unwrap() };
            assert_eq!(number.times(&number), shown);
        }
    }
}
