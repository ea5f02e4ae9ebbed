//! Which mapping suits a kernel best, what leaving its threads to the operating system costs, and from how many workers on nothing
//! more is gained.
//!
//! A pure function of a report, in numbers and without words, so all renderers agree. Only cells of the same kernel
//! at the same point are compared: a block that fits a cache says nothing of a mapping beside one that does not.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::group::grouped;
use crate::number::{Basis, MARGIN, NONE, Number, Origin, better, placed};
use charz_data::Role;
use charz_data::card::Family;
use charz_data::machine::Machine;
use charz_data::report::{Cell, Interval, Point, Report, Status, Unit};
use charz_data::units;
use charz_stats::{
    LEAST_FOR_INTERVAL, Ranks, Sample, follow_the_clock, median_interval, ratio_interval, ratio_of_estimates,
};

/// The mapping that leaves threads to the operating system.
pub const AUTO: &str = "auto";

/// The verdict on the cells of a kernel at one point. Names are foreign text, as the report has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict<'a> {
    pub kernel: &'a str,
    /// What the cells have for themselves of the parameters that the sweep varies.
    pub point: Point,
    pub mappings: usize,
    /// At how many points the kernel has numbers, this one included.
    pub points: usize,
    /// Of the numbers that are shown to be near the peak that of the fewest workers; of those of as many the best.
    pub best: Number<'a>,
    /// The best number.
    pub peak: Number<'a>,
    /// How many mappings have a number with as many workers.
    pub beside: usize,
    /// Those that were tried with as many and have none.
    pub lacking: Vec<&'a str>,
    /// Whether it may be another one: its number or the best value is suspect.
    pub doubtful: bool,
    /// The numbers of other mappings that are not apart from the best with as many workers, those included that are at its clock.
    pub alike: Vec<Number<'a>>,
    /// Whether those differ from the best by no more than [`MARGIN`], by their intervals; else they do not differ significantly.
    pub is_equal: bool,
    /// Where each mapping with numbers for several numbers of workers is saturated, in the order of their first cells; empty for
    /// times.
    pub saturation: Vec<Saturation<'a>>,
    /// Where the kernel is, of all its mappings together: with as many workers as the best number has, unless these are the most.
    pub saturates: Option<Saturation<'a>>,
    /// [`AUTO`] compared with the best, with as many workers.
    pub auto: Auto<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto<'a> {
    /// There is no number of it with as many workers as the best.
    Unmeasured,
    /// It is, with what it loses beside the best of the others: less than nothing; `None` where there is no other.
    Best(Option<Loss<'a>>),
    Other(Loss<'a>),
}

/// A number beside the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss<'a> {
    pub number: Number<'a>,
    /// How much less it gives, or how much longer it takes, as a fraction of the best: of times in which other numbers of threads each do
    /// work of their own, how much less work they do in the same time. Negative where its value is better, and
    /// its interval does not reach the best value of any number of workers.
    pub share: f64,
    /// Where the share lies with a confidence of 95%; `None` where one of them has no interval.
    pub interval: Option<Interval>,
    /// Whether the intervals of the two leave open which is better; `None` where one of them has no interval.
    pub open: Option<bool>,
    /// Whether the two are apart by the clock of the cores only: the share is that at one clock.
    pub is_clock: bool,
    /// Whether the host moved the CPUs between the two: the share is as much of that as of the placement.
    pub is_moved: bool,
    pub doubtful: bool,
    /// Whether the share is one of work, and not of time.
    pub is_work: bool,
    /// The fewest runs of the two.
    pub runs: usize,
}

/// What can be said of a loss: the one verdict that every sentence, tile, table and advice takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// It is one, or a gain, that neither noise nor the clock explains.
    Shown(f64),
    /// It is no more than [`MARGIN`], to either side.
    None,
    /// It is not known whether there is one: where it lies.
    Open(Interval),
    /// Too few runs to say where it lies.
    TooFew(f64),
    /// Enough runs, that vary too much to say where it lies.
    TooNoisy(f64),
    /// The host moved the CPUs in between.
    Moved,
}

impl Loss<'_> {
    pub fn claim(&self) -> Claim {
        match self.interval {
            _ if self.is_moved => Claim::Moved,
            _ if self.is_sure() => Claim::Shown(self.share),
            Some(found) if !self.doubtful && -MARGIN <= found.low && found.high <= MARGIN => Claim::None,
            Some(found) => Claim::Open(found),
            None if self.runs < LEAST_FOR_INTERVAL => Claim::TooFew(self.share),
            None => Claim::TooNoisy(self.share),
        }
    }

    /// Whether it may be as little as that.
    pub(crate) fn may_be(&self, share: f64) -> bool {
        self.interval.map_or(self.share, |found| found.low) <= share
    }

    /// Whether it is one, or a gain, that neither noise nor the clock explains.
    pub fn is_sure(&self) -> bool {
        self.open == Some(false) && !self.is_clock && !self.doubtful
    }
}

/// Leaves those numbers that a quota has time for: what more threads could do without it is not what they do. All where there is none.
fn within(numbers: &mut Vec<Number<'_>>, most: u64) {
    let fits = |number: &Number<'_>| number.cell.workers <= most;
    if numbers.iter().any(fits) {
        numbers.retain(fits);
    }
}

/// The verdicts on a report, in the order of the cells: one for each kernel at each point that has a number of work done. The empty
/// kernel, which does none, has no verdict. Kernels of pairs have one too, beside which a matrix of the pairs says more.
pub fn verdicts(report: &Report) -> Vec<Verdict<'_>> {
    let numbers = placed(&Basis::of(report), report.cells.iter().filter(|cell| cell.unit != Unit::Nanoseconds));
    // The more threads, the more loads.
    let is_latency = |number: &Number<'_>| matches!(report.role(&number.cell.kernel), Role::Latency(_));
    let numbers = numbers.into_iter().map(|number| if is_latency(&number) { number.each() } else { number });
    let mut groups =
        grouped(numbers, |number| (number.cell.kernel.as_str(), number.cell.point, number.cell.last_size()));
    if report.machine.quota().is_some() {
        // Where a quota is measured, the threads that it has no time for are a part of that.
        let is_bound = |group: &&mut Vec<Number<'_>>| *report.role(&group[0].cell.kernel) != Role::Quota;
        groups.iter_mut().filter(is_bound).for_each(|group| within(group, report.machine.worth() as u64));
    }
    let mut verdicts: Vec<Verdict<'_>> = groups.iter().filter_map(|group| Verdict::of(group, report)).collect();
    let mut points = HashMap::new();
    verdicts.iter().for_each(|verdict| *points.entry(verdict.kernel).or_insert(0) += 1);
    verdicts.iter_mut().for_each(|verdict| verdict.points = points[verdict.kernel]);
    verdicts
}

impl<'a> Verdict<'a> {
    /// That on the numbers of a kernel at a point.
    fn of(numbers: &[Number<'a>], report: &'a Report) -> Option<Self> {
        // A kernel has one unit; a file may say otherwise.
        let Cell { kernel, point, unit, .. } = numbers.first()?.cell;
        let numbers: Vec<Number<'_>> = numbers.iter().copied().filter(|number| number.cell.unit == *unit).collect();
        let rivals = Rivals::of(report, kernel);
        let (peak, fewest) = rivals.fewest(&numbers)?;
        let beside = |other: &&Number<'a>| other.cell.workers == fewest;
        let best = numbers.iter().filter(beside).copied().reduce(better)?;
        let losses = || numbers.iter().filter(beside).map(|number| rivals.loss(*number, &best));
        let is_alike =
            |loss: &Loss<'a>| !std::ptr::eq(loss.number.cell, best.cell) && (loss.number.meets(&best) || loss.is_clock);
        let alike: Vec<Number<'_>> = losses().filter(is_alike).map(|loss| loss.number).collect();
        let moved = numbers.iter().any(|other| !other.is_placed_as(&best));
        let auto = match losses().find(|loss| loss.number.cell.mapping == AUTO) {
            None => Auto::Unmeasured,
            Some(auto) if std::ptr::eq(auto.number.cell, best.cell) => {
                let others =
                    numbers.iter().filter(beside).filter(|other| !std::ptr::eq(other.cell, best.cell)).copied();
                Auto::Best(others.reduce(better).map(|next| rivals.loss(best, &next)))
            }
            Some(auto) => Auto::Other(auto),
        };
        let is_equal = alike.iter().all(|other| rivals.loss(*other, &best).claim() == Claim::None);
        let by_mapping = grouped(numbers.iter().copied(), |number| number.cell.mapping.as_str());
        Some(Verdict {
            kernel,
            point: *point,
            mappings: by_mapping.len(),
            points: 1,
            best,
            peak,
            beside: numbers.iter().filter(beside).count(),
            lacking: lacking(report, best.cell),
            doubtful: best.is_doubtful() || peak.is_doubtful() || moved,
            alike,
            is_equal,
            saturation: by_mapping.iter().filter_map(|numbers| Saturation::of(numbers, &rivals)).collect(),
            saturates: Saturation::of(&numbers, &rivals).map(|all| Saturation { mapping: &best.cell.mapping, ..all }),
            auto,
        })
    }

    /// The best mapping with those that are as good, or that do not differ from it significantly, and `~` where it may be another.
    pub fn mapping(&self) -> String {
        let alike: Vec<&str> = self.alike.iter().map(|other| other.cell.mapping.as_str()).collect();
        joined(&self.best.cell.mapping, &alike, self.is_equal, self.doubtful && self.beside > 1)
    }

    /// The same in a column, where all mappings are as good or nothing was compared.
    pub fn winner(&self) -> String {
        let is_any = self.alike.len() + 1 == self.beside && self.lacking.is_empty();
        match self.beside {
            ..2 => NONE.to_owned(),
            _ if is_any && self.is_equal => "any".to_owned(),
            _ if is_any => "no clear winner".to_owned(),
            _ => self.mapping(),
        }
    }

    /// Whether it is worth a line beside others: mappings or numbers of workers were compared. A sweep over sizes under one mapping
    /// has a verdict at each size that compares nothing, and the square of a kernel of pairs says more.
    pub fn decides(&self, report: &Report) -> bool {
        let compares = self.mappings > 1 || (self.points == 1 && !self.saturation.is_empty());
        compares && !matches!(report.role(self.kernel), Role::LineTransfer(_))
    }
}

/// The mappings that were tried as this one was, with as many threads, and have no number.
pub(crate) fn lacking<'a>(report: &'a Report, best: &Cell) -> Vec<&'a str> {
    let key = |cell: &Cell| (cell.point, cell.workers, cell.mapping != best.mapping);
    let beside = |cell: &&Cell| cell.kernel == best.kernel && key(cell) == (best.point, best.workers, true);
    let tried = report.cells.iter().filter(beside).filter(|cell| cell.status != Status::Skipped);
    tried.filter(|cell| cell.value().is_none()).map(|cell| cell.mapping.as_str()).collect()
}

/// Mappings that equal the best by their intervals (`a = b`), or that do not differ from it significantly (`a or b`), and `~` in doubt.
pub(crate) fn joined(best: &str, alike: &[&str], is_equal: bool, doubtful: bool) -> String {
    let all: Vec<&str> = [best].into_iter().chain(alike.iter().copied()).collect();
    all.join(if is_equal { " = " } else { " or " }) + units::doubt(doubtful)
}

/// How numbers of one kernel are compared.
#[derive(Clone, Copy)]
pub(crate) struct Rivals<'a> {
    machine: &'a Machine,
    /// Whether the kernel does what a core does by itself: so many cycles, whatever the clock.
    is_of_the_core: bool,
}

impl<'a> Rivals<'a> {
    pub(crate) fn of(report: &'a Report, kernel: &str) -> Self {
        let is_of_the_core = report.card(kernel).is_some_and(|card| card.family == Family::Compute);
        Rivals { machine: &report.machine, is_of_the_core }
    }

    /// What a number loses beside the best one. Turbo and the neighbours of a guest move the clock in steps of 4%, and the middle invocation
    /// of one of the two may have met another clock by chance: where clocks are known, and are not shown to differ, a difference counts if it
    /// is there in cycles too.
    pub(crate) fn loss<'n>(&self, number: Number<'n>, best: &Number<'_>) -> Loss<'n> {
        let more_is_better = number.cell.unit.more_is_better();
        let is_work = more_is_better || number.copies != best.copies;
        // From a ratio of values to a share that is lost.
        let lost = |ratio: f64| match more_is_better {
            true => 1.0 - ratio,
            false if is_work => 1.0 - ratio.recip(),
            false => ratio - 1.0,
        };
        let (is_apart, is_moved) = (!number.meets(best), !number.is_placed_as(best));
        // What was delivered is no rate of a clock.
        let are_capacities = [number.origin, best.origin] == [Origin::Capacity; 2];
        let cycles = self.in_cycles(number.cell, best.cell).filter(|_| are_capacities);
        let is_clock = is_apart && cycles.as_ref().is_some_and(|cycles| !cycles.confirm(number.is_better(best)));
        let at_one_clock = cycles.filter(|cycles| is_clock || cycles.are_followed);
        // Numbers that are the same differ by nothing, also where both are 0.
        let as_it_stands = if number.value == best.value { 1.0 } else { number.value / best.value };
        let has_intervals = number.interval.and(best.interval).is_some();
        // By the intervals that are printed, at one clock by those of the runs.
        let (ratio, interval) = match at_one_clock {
            Some(InCycles { number, best, .. }) => {
                // Work per cycle is better where there is more of it, as of rates.
                let (base, new) = if more_is_better { (&best, &number) } else { (&number, &best) };
                let found = ratio_interval(base, new, CONFIDENCE);
                (new.median() / base.median(), found.map(|found| (found.low, found.high)))
            }
            None => {
                let sides = best.around().zip(number.around());
                (as_it_stands, sides.and_then(|(base, new)| ratio_of_estimates(base, new)))
            }
        };
        let (share, interval) = match number.repeats(best) {
            true => (0.0, Some((1.0, 1.0))),
            false => (lost(ratio), interval),
        };
        let interval = interval.filter(|_| has_intervals).map(|(low, high)| {
            // The number of a cell is near the median of its invocations, and not always the same; intervals that meet show no difference.
            let ends = [lost(low), lost(high), share, if is_apart { share } else { 0.0 }];
            let (low, high) =
                (ends.into_iter().fold(f64::INFINITY, f64::min), ends.into_iter().fold(-f64::INFINITY, f64::max));
            Interval { low, high }
        });
        Loss {
            number,
            share,
            interval,
            open: has_intervals.then_some(!is_apart),
            is_clock,
            is_moved,
            doubtful: number.is_doubtful() || best.is_doubtful() || is_moved,
            is_work,
            runs: number.runs.min(best.runs),
        }
    }

    /// The only rule for how many workers are best: the best number, and the fewest workers with which one is shown to lose at most 5% beside
    /// it. Suspect numbers compete too, for the best of those that happen to be `ok` may be far from the best.
    pub(crate) fn fewest<'n>(&self, numbers: &[Number<'n>]) -> Option<(Number<'n>, u64)> {
        let cpus = self.machine.worth() as u64;
        let peak = peak(numbers, cpus)?;
        let competes = |number: &&Number<'_>| number.cell.workers <= cpus.max(peak.cell.workers);
        let near = numbers.iter().filter(competes).filter(|number| self.is_near(number, &peak));
        Some((peak, near.map(|number| number.cell.workers).min()?))
    }

    /// Whether a number is shown to lose at most 5% beside the peak; without an interval, whether it loses no more.
    pub(crate) fn is_near(&self, number: &Number<'_>, peak: &Number<'_>) -> bool {
        let loss = self.loss(*number, peak);
        std::ptr::eq(number.cell, peak.cell)
            || loss.is_clock
            || loss.interval.map_or(loss.share, |found| found.high) <= 1.0 - SATURATED
    }

    /// What two cells do in a cycle, where the clock is no part of the comparison: as many threads share a budget of power, sit on cores of
    /// the same kinds, and met clocks that are not shown to differ. The invocations of a sweep take turns, so clocks that differ are an effect
    /// of the placement: threads on two sockets have the turbo of both.
    fn in_cycles(&self, number: &Cell, best: &Cell) -> Option<InCycles> {
        if !self.is_of_the_core || number.workers != best.workers || self.kinds(number) != self.kinds(best) {
            return None;
        }
        let rates = [best, number].map(Cell::clocked_rates);
        let sample = |rates: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| Sample::new(rates.iter().map(of).collect());
        let clocks = [sample(&rates[0], |pair| pair.1)?, sample(&rates[1], |pair| pair.1)?];
        if Ranks::default().p(&clocks[0], &clocks[1]) < 1.0 - CONFIDENCE {
            return None;
        }
        let (best, number) = (sample(&rates[0], |pair| pair.0 / pair.1)?, sample(&rates[1], |pair| pair.0 / pair.1)?);
        let are_followed = follow_the_clock(&rates.each_ref().map(Vec::as_slice));
        Some(InCycles { number, best, are_followed })
    }

    /// The kinds of core that workers are on; `None` stands for any, where one floats.
    fn kinds(&self, cell: &Cell) -> Option<Vec<u32>> {
        if !self.machine.is_hybrid() {
            return Some(Vec::new());
        }
        let kind = |seat: &Option<u32>| {
            let seat = (*seat)?;
            self.machine.strands.iter().find(|strand| strand.os_id == seat)?.kind
        };
        let mut kinds: Vec<u32> = cell.seats.iter().map(kind).collect::<Option<_>>()?;
        kinds.sort_unstable();
        Some(kinds)
    }
}

/// The confidence of all intervals of a report.
const CONFIDENCE: f64 = 0.95;

/// Work per cycle of each invocation.
struct InCycles {
    number: Sample,
    best: Sample,
    /// Whether the rates of both follow the clock.
    are_followed: bool,
}

impl InCycles {
    /// Whether the number is better, or worse, in cycles too.
    fn confirm(&self, is_better: bool) -> bool {
        let ends = |sample: &Sample| match median_interval(sample, CONFIDENCE) {
            Some(interval) => (interval.low, interval.high),
            None => (sample.min(), sample.max()),
        };
        let (number, best) = (ends(&self.number), ends(&self.best));
        if is_better { number.0 > best.1 } else { number.1 < best.0 }
    }
}

/// The best number with up to a worker per CPU, unless more workers are surely better than any of these.
fn peak<'a>(numbers: &[Number<'a>], cpus: u64) -> Option<Number<'a>> {
    let with = |more: bool| numbers.iter().copied().filter(move |number| (number.cell.workers > cpus) == more);
    let more = with(true).reduce(better);
    let is_surely_better = |more: &Number<'_>| {
        !more.is_doubtful() && with(false).all(|number| more.is_better(&number) && !more.meets(&number))
    };
    more.filter(is_surely_better).or(with(false).reduce(better)).or(more)
}

/// A mapping is saturated where it is first shown to reach this share of its best, as a fraction.
pub const SATURATED: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation<'a> {
    pub mapping: &'a str,
    /// The fewest workers with which it is shown to reach [`SATURATED`] of its best; `None` if only the most that were measured do: more
    /// might give more.
    pub workers: Option<u64>,
    pub most: u64,
    /// Whether it may be another number of workers: without the suspect numbers it is, or by the intervals, or there are none.
    pub doubtful: bool,
}

impl<'a> Saturation<'a> {
    /// Finds where the numbers of a mapping saturate; `None` for times of an operation, which have nothing to be saturated, and of one
    /// number of workers. The time of a program is that of all its work.
    fn of(numbers: &[Number<'a>], rivals: &Rivals<'_>) -> Option<Self> {
        let cell = numbers.first()?.cell;
        if !cell.unit.more_is_better() && !matches!(cell.unit, Unit::Reported(_)) {
            return None;
        }
        let sound: Vec<Number<'_>> = numbers.iter().copied().filter(|number| !number.is_doubtful()).collect();
        let counts = || numbers.iter().map(|number| number.cell.workers);
        let most = counts().max().filter(|most| counts().any(|count| count < *most))?;
        let below = |fewest: u64| Some(fewest).filter(|fewest| *fewest < most);
        let (peak, fewest) = rivals.fewest(numbers)?;
        let workers = below(fewest);
        let of_sound = rivals.fewest(&sound).filter(|_| sound.len() > 1).map(|(_, fewest)| below(fewest));
        let may_be = numbers.iter().filter(|number| rivals.loss(**number, &peak).may_be(1.0 - SATURATED));
        let possible = may_be.map(|number| number.cell.workers).min().and_then(below);
        let has_all = numbers.iter().all(|number| number.interval.is_some());
        let doubtful = of_sound != Some(workers) || possible != workers || !has_all;
        Some(Saturation { mapping: &cell.mapping, workers, most, doubtful })
    }
}
