//! The number of a cell, and how it compares with others.

use std::cmp::Ordering;

use charz_data::report::{Cell, Ending, Interval, Measured, Report};
use charz_stats::{Around, ratio_of_estimates};

use crate::caveat::{Caveats, Seen, is_placed_as};
use crate::delivered::shared_cpus;
use crate::quantity::{Quantity, left_by_quota};

/// How much is no difference, as a fraction: the margin of `≈0%`, of "makes no difference" and of `compare`.
pub const MARGIN: f64 = 0.02;

/// A number decides nothing where its interval reaches further than this to either side, as a fraction.
pub const WIDEST: f64 = 0.25;

/// The number of a cell, with all that limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate<'a> {
    /// The cell of the report that it is from.
    pub cell: &'a Cell,
    /// What the number is of its cell.
    pub quantity: Quantity,
    /// In the unit of the cell; of copies of a program that are timed, the time over their number.
    pub value: f64,
    /// Where it lies with a confidence of 95%; `None` after too few runs, or where they vary too much.
    pub interval: Option<Interval>,
    /// How many runs have a value, of the cells that it is from the smallest such number.
    pub runs: usize,
    /// What limits it.
    pub caveats: Caveats,
    /// What it was divided by: the threads or copies that share a time, and the share that a quota leaves.
    pub(crate) divisor: f64,
}

impl<'a> Estimate<'a> {
    /// The capacity of a cell; `None` where it has no number.
    pub fn of(cell: &'a Cell) -> Option<Self> {
        let runs = cell.invocations.iter().filter(|invocation| invocation.value.is_some()).count();
        let (value, interval) = (cell.value()?, cell.capacity?.interval);
        let (quantity, caveats) = (Quantity::Capacity, Caveats::default());
        Some(Estimate { cell, quantity, value, interval, runs, caveats, divisor: 1.0 }.limited(None))
    }

    /// What a cell delivered.
    pub(crate) fn delivered(cell: &'a Cell, Measured { value, interval }: Measured) -> Self {
        let runs = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done).count();
        let (quantity, caveats) = (Quantity::Delivered, Caveats::default());
        Estimate { cell, quantity, value, interval, runs, caveats, divisor: 1.0 }
    }

    /// The same with its caveats, and those that its report shows.
    pub(crate) fn limited(self, report: Option<&'a Report>) -> Self {
        let Estimate { cell, quantity, runs, .. } = self;
        let has_interval = self.interval.is_some();
        Estimate { caveats: Caveats::of(&Seen { cell, quantity, has_interval, runs, report }), ..self }
    }

    /// The same as if its threads had had all the time on CPUs for which they asked.
    pub fn undisturbed(&self) -> Self {
        let had = self.cell.cpu_time_share().unwrap_or(0.0);
        self.scaled(if self.cell.unit.more_is_better() { had.recip() } else { had })
    }

    /// A time over the number of threads, each of which does its own work in it.
    pub fn per_thread(&self) -> Self {
        let threads = self.cell.workers as f64;
        Estimate { divisor: threads * self.divisor, ..self.scaled(threads.recip()) }
    }

    /// What its threads do in the time that a quota leaves them; [`unscaled`](Self::unscaled) is without its pauses.
    pub(crate) fn in_quota(&self, report: &Report) -> Self {
        let share = left_by_quota(report, &self.cell.kernel, self.cell.workers, self.quantity);
        let by = if self.cell.unit.more_is_better() { share } else { share.recip() };
        Estimate { divisor: self.divisor / by, ..self.scaled(by) }
    }

    /// No more than its threads do in the time that a quota leaves them: a run is shorter than a period of the quota, and may have had more
    /// of it than a program of seconds has.
    pub(crate) fn within_quota(self, report: &Report) -> Self {
        let Some(most) = Estimate::of(self.cell).map(|capacity| capacity.in_quota(report)) else { return self };
        let worse = if self.cell.unit.more_is_better() { f64::min } else { f64::max };
        if most.divisor == 1.0 || worse(self.value, most.value) == self.value {
            return self;
        }
        // As well known as the capacity that it follows from.
        let most_of = most.interval.unwrap_or(Interval { low: most.value, high: most.value });
        let interval =
            self.interval.map(|own| Interval { low: worse(own.low, most_of.low), high: worse(own.high, most_of.high) });
        Estimate { value: most.value, interval, ..self }
    }

    /// The number as it was measured, neither divided by threads nor by the share that a quota leaves.
    pub fn unscaled(&self) -> Self {
        Estimate { divisor: 1.0, ..self.scaled(self.divisor) }
    }

    /// So many times the number, with its interval.
    pub fn scaled(&self, by: f64) -> Self {
        let interval = self.interval.map(|Interval { low, high }| Interval { low: low * by, high: high * by });
        Estimate { value: self.value * by, interval, ..*self }
    }

    /// The other's number times the ratio of the two deliveries, and its own where that is less; `None` where its threads shared no
    /// CPUs, or where that was not seen and it did not deliver a smaller share of its capacity than the other, by more than [`MARGIN`].
    pub fn delivered_beside(&self, bound: &Estimate<'_>) -> Option<Self> {
        let lacks = self.cell.delivered_share()? < (1.0 - MARGIN) * bound.cell.delivered_share()?;
        if !shared_cpus(self.cell).map_or(lacks, |share| share >= MARGIN) {
            return None;
        }
        let (own, other) = (self.cell.delivered?, bound.cell.delivered?);
        let around =
            |value: f64, interval: Option<Interval>| interval.map(|Interval { low, high }| Around { value, low, high });
        let sides = around(other.value, other.interval).zip(around(own.value, own.interval));
        let ratio = sides.and_then(|(base, new)| ratio_of_estimates(base, new));
        let interval = ratio.map(|(low, high)| Interval { low: low * bound.value, high: high * bound.value });
        let value = own.value / other.value * bound.value;
        let runs = self.runs.min(bound.runs);
        let found = Estimate { value, interval, quantity: Quantity::Estimated, runs, ..*self };
        if !found.is_better(self) {
            return Some(Estimate { interval: found.interval.map(|found| self.within_capacity(found)), ..found });
        }
        // It is the most that they do, and how much less it was is not known.
        let hull = |(one, other): (Interval, Interval)| match self.cell.unit.more_is_better() {
            true => Interval { low: one.low.min(other.low), ..one },
            false => Interval { high: one.high.max(other.high), ..one },
        };
        Some(Estimate { interval: self.interval.zip(interval).map(hull), runs, ..*self })
    }

    /// An interval without the values beyond its capacity: no thread does more than on a CPU of its own.
    fn within_capacity(&self, Interval { low, high }: Interval) -> Interval {
        let most = self.interval.unwrap_or(Interval { low: self.value, high: self.value });
        match self.cell.unit.more_is_better() {
            true => Interval { low: low.min(most.high), high: high.min(most.high) },
            false => Interval { low: low.max(most.low), high: high.max(most.low) },
        }
    }

    /// Whether threads share its time: the more of them, the more work.
    pub fn is_divided(&self) -> bool {
        self.divisor > 1.0
    }

    /// Whether each thread had a CPU of its own by the mapping.
    pub fn is_bound(&self) -> bool {
        self.cell.seats.iter().all(Option::is_some)
    }

    /// Whether a caveat makes the number doubtful.
    pub fn is_doubtful(&self) -> bool {
        self.caveats.weakens()
    }

    /// Whether its CPUs are those of the other by their ids, and were as far apart: what differs is not where the host had put them.
    pub fn is_placed_as(&self, other: &Estimate<'_>) -> bool {
        is_placed_as(self.cell, other.cell)
    }

    /// Orders by value, whichever is better.
    pub fn by_value(&self, other: &Estimate<'_>) -> Ordering {
        self.value.total_cmp(&other.value)
    }

    /// Whether its value is the better one.
    pub fn is_better(&self, other: &Estimate<'_>) -> bool {
        if self.cell.unit.more_is_better() { self.value > other.value } else { self.value < other.value }
    }

    /// Its performance as a fraction of that of another, for rates and times.
    pub fn performance_beside(&self, other: &Estimate<'_>) -> f64 {
        if self.cell.unit.more_is_better() { self.value / other.value } else { other.value / self.value }
    }

    /// The ends of its interval; the smallest and the largest value after too few runs for one.
    pub fn ends(&self) -> (f64, f64) {
        if let Some(Interval { low, high }) = self.interval {
            return (low, high);
        }
        if self.quantity != Quantity::Capacity {
            return (self.value, self.value);
        }
        let values = self.cell.invocations.iter().filter_map(|invocation| Some(invocation.value? / self.divisor));
        values.fold((self.value, self.value), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// Half of the distance of its ends, as a fraction.
    pub fn slack(&self) -> f64 {
        let (low, high) = self.ends();
        (high - low) / 2.0 / self.value
    }

    /// Whether it is shown to be below the other.
    pub fn is_surely_below(&self, other: &Estimate<'_>) -> bool {
        self.value < other.value && self.ends().1 < other.ends().0 && self.is_placed_as(other)
    }

    /// Whether the two are not shown apart, or only by when they were measured or where the host had put their CPUs.
    pub fn meets(&self, other: &Estimate<'_>) -> bool {
        let ((low, high), (other_low, other_high)) = (self.ends(), other.ends());
        low <= other_high && other_low <= high || self.repeats(other) || !self.is_placed_as(other)
    }

    /// Whether another mapping did the same work on the same CPUs in the same order: one placement, measured twice.
    pub fn repeats(&self, other: &Estimate<'_>) -> bool {
        let (one, next) = (self.cell, other.cell);
        let is_same_work = (&one.kernel, one.point, one.last_size()) == (&next.kernel, next.point, next.last_size());
        one.mapping != next.mapping && self.is_bound() && one.seats == next.seats && is_same_work
    }

    /// Its interval as the ends of an estimate.
    pub fn around(&self) -> Option<Around> {
        self.interval.map(|Interval { low, high }| Around { value: self.value, low, high })
    }

    /// How many times the other its value is, and where that lies; `None` where one has no interval.
    pub fn times(&self, base: &Estimate<'_>) -> (f64, Option<(f64, f64)>) {
        let sides = base.around().zip(self.around());
        (self.value / base.value, sides.and_then(|(base, own)| ratio_of_estimates(base, own)))
    }
}
