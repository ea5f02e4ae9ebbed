//! The number of a cell, and how it compares with others.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::point;
use crate::verdict::MARGIN;
use charz_data::report::{Cell, Estimate, Estimator, Interval, Report, Run};
use charz_data::units;
use charz_stats::{Around, ratio_of_estimates};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number<'a> {
    pub cell: &'a Cell,
    /// In the unit of the cell.
    pub value: f64,
    /// `None` after too few invocations.
    pub interval: Option<Interval>,
    /// Whether it comes from what was delivered; else it is what its CPUs can do.
    pub is_delivered: bool,
}

/// The numbers of the cells that have one, as placements are compared by them.
///
/// Threads that are bound nowhere may share a CPU while another is idle, which a capacity does not show. Where they delivered a smaller
/// share of their capacity than bound ones did, by more than [`MARGIN`], their number is the bound ones', times the ratio of the two
/// deliveries: other programs took their part from both.
pub(crate) fn placed<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Number<'a>> {
    let numbers: Vec<Number<'a>> = cells.into_iter().filter_map(Number::of).collect();
    let beside = |own: &Cell, other: &Cell| {
        let key = |cell: &Cell| (cell.point, cell.unit, cell.last_size(), cell.workers);
        own.kernel == other.kernel && key(own) == key(other)
    };
    let placed = |number: &Number<'a>| {
        if number.is_bound() {
            return *number;
        }
        let bound = numbers.iter().filter(|other| other.is_bound() && beside(number.cell, other.cell));
        bound.copied().reduce(better).and_then(|bound| number.delivered_beside(&bound)).unwrap_or(*number)
    };
    numbers.iter().map(placed).collect()
}

/// Numbers of kernels that are compared, by one estimator. Of a kernel that waits in the system there is only what the machine gave it: beside
/// one, all are what was delivered where the machine gave any of them less than [`NEARLY_ALL`].
pub(crate) fn comparable<'a>(report: &Report, numbers: impl IntoIterator<Item = Number<'a>>) -> Vec<Number<'a>> {
    let mut numbers: Vec<Number<'a>> = numbers.into_iter().collect();
    let blocks = |number: &Number<'_>| report.card(&number.cell.kernel).is_some_and(|card| card.blocks_in_kernel);
    let lacks = |number: &Number<'_>| given(report, number.cell).is_some_and(|share| share < NEARLY_ALL);
    if numbers.iter().any(blocks) && numbers.iter().any(lacks) {
        for number in &mut numbers {
            if let Some(Estimate { value, interval }) = number.cell.delivered {
                *number = Number { value, interval, is_delivered: true, ..*number };
            }
        }
    }
    numbers
}

impl<'a> Number<'a> {
    pub(crate) fn of(cell: &'a Cell) -> Option<Self> {
        Some(Number { cell, value: cell.value()?, interval: cell.capacity?.interval, is_delivered: false })
    }

    /// The other's number times the ratio of what the two delivered; `None` where it did not deliver a smaller share of its capacity than
    /// the other, by more than [`MARGIN`].
    fn delivered_beside(&self, bound: &Number<'_>) -> Option<Self> {
        let lacks = self.cell.delivered_share()? < (1.0 - MARGIN) * bound.cell.delivered_share()?;
        if !lacks || shared_cpus(self.cell).is_some_and(|share| share < MARGIN) {
            return None;
        }
        let (own, other) = (self.cell.delivered?, bound.cell.delivered?);
        let around = |estimate: &Estimate| {
            estimate.interval.map(|Interval { low, high }| Around { value: estimate.value, low, high })
        };
        let ratio = around(&other).zip(around(&own)).and_then(|(base, new)| ratio_of_estimates(base, new));
        let interval = ratio.map(|(low, high)| Interval { low: low * bound.value, high: high * bound.value });
        let value = own.value / other.value * bound.value;
        Some(Number { cell: self.cell, value, interval, is_delivered: true })
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
        if self.is_delivered {
            return (self.value, self.value);
        }
        let values = self.cell.invocations.iter().filter_map(|invocation| invocation.value);
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

    /// Whether the two are not apart, or by where the host had put their CPUs.
    pub(crate) fn meets(&self, other: &Number<'_>) -> bool {
        let ((low, high), (other_low, other_high)) = (self.ends(), other.ends());
        low <= other_high && other_low <= high || !self.is_placed_as(other)
    }

    /// Its interval as the ends of an estimate.
    pub(crate) fn around(&self) -> Option<Around> {
        self.interval.map(|Interval { low, high }| Around { value: self.value, low, high })
    }

    /// How many runs have a value.
    pub(crate) fn runs(&self) -> usize {
        self.cell.invocations.iter().filter(|invocation| invocation.value.is_some()).count()
    }

    /// With its unit, and `~` if it is noisy.
    pub(crate) fn shown(&self) -> String {
        let delivered = if self.is_delivered { " delivered" } else { "" };
        format!("{}{}{delivered}", units::value(self.value, self.cell.unit), units::doubt(self.is_doubtful()))
    }

    /// `~` for a result of the two, if one of them is noisy.
    pub(crate) fn doubt_beside(&self, other: &Number<'_>) -> &'static str {
        units::doubt(self.is_doubtful() || other.is_doubtful())
    }

    /// How many times the other it is: `1.31 (1.29 to 1.33)`; with `~` if one of them is noisy, `1.31?` after too few runs for an interval.
    pub(crate) fn times(&self, base: &Number<'_>) -> String {
        let times = units::count_of(self.value / base.value);
        match base.around().zip(self.around()).and_then(|(base, own)| ratio_of_estimates(base, own)) {
            None => format!("{times}?"),
            Some((low, high)) => {
                let [low, high] = [low, high].map(units::count_of);
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
        return cell.delivered_share();
    }
    let is_alone = cell.workers <= report.machine.usable_strands().count() as u64 && cell.has_own_cpus();
    if !is_alone || report.card(&cell.kernel)?.blocks_in_kernel {
        return None;
    }
    let laps = cell.invocations.iter().flat_map(|invocation| &invocation.runs).flat_map(|run| &run.laps);
    let times = laps.map(|lap| Some((lap.counts.cpu_ns? as f64, lap.counts.run_delay_ns? as f64)));
    let (had, waited) = times.reduce(|sum, next| Some((sum?.0 + next?.0, sum?.1 + next?.1)))??;
    Some(had / (had + waited)).filter(|share| share.is_finite())
}

/// The share of iterations at the end of which two of its threads were on one CPU; `None` where that was not seen, as of more threads than
/// reports keep singly.
fn shared_cpus(cell: &Cell) -> Option<f64> {
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
    /// Whether it may be another one: its number or the best value is suspect, or the host moved CPUs between it and others.
    pub(crate) doubtful: bool,
}

impl<'a> Best<'a> {
    /// The only rule for it, by which all outputs agree: suspect numbers compete too, for the best of those that happen to be
    /// `ok` may be far from the best.
    pub(crate) fn of(numbers: &[Number<'a>]) -> Option<Self> {
        let top = numbers.iter().copied().reduce(better)?;
        let reaching = || numbers.iter().copied().filter(|number| number.meets(&top));
        let fewest = reaching().map(|number| number.cell.workers).min()?;
        let with_fewest = || reaching().filter(|number| number.cell.workers == fewest);
        let number = with_fewest().reduce(better)?;
        let alike = with_fewest().filter(|other| !std::ptr::eq(other.cell, number.cell)).collect();
        let moved = numbers.iter().any(|other| !other.is_placed_as(&number));
        Some(Best { number, alike, doubtful: number.is_doubtful() || top.is_doubtful() || moved })
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
