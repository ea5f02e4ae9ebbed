//! The one relation of two estimates of a kernel: the only place that decides what makes them incomparable.

use charz_data::card::Family;
use charz_data::machine::Machine;
use charz_data::report::{Cell, Interval, Report};
use charz_stats::{
    LEAST_FOR_INTERVAL, Ranks, Sample, follow_the_clock, median_interval, ratio_interval, ratio_of_estimates,
};

use crate::caveat::{Caveat, Caveats, Effect};
use crate::estimate::{Estimate, MARGIN};
use crate::quantity::{Quantity, Question};

/// An estimate beside another: what it loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation<'a> {
    /// The one that is compared.
    pub estimate: Estimate<'a>,
    /// How much less it gives, or how much longer it takes, as a fraction of the other: of times in which other numbers of threads each do
    /// work of their own, how much less work they do in the same time. Negative where its value is better, and
    /// its interval does not reach the best value of any number of workers.
    pub share: f64,
    /// Where the share lies with a confidence of 95%; `None` where one of the two has no interval.
    pub interval: Option<Interval>,
    /// Whether the intervals of the two leave open which is better; `None` where one has none.
    pub open: Option<bool>,
    /// Whether the share is one of work, and not of time.
    pub is_work: bool,
    /// The fewest runs of the two.
    pub runs: usize,
    /// What limits it: of the two, and between them.
    pub caveats: Caveats,
}

/// What a relation shows: the one verdict that every sentence, tile, table and advice takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// A loss, or a gain, that neither noise nor the clock explains.
    Shown(f64),
    /// No more than [`MARGIN`], to either side.
    Same,
    /// It is not known whether there is one: where it lies.
    Open(Interval),
    /// Too few runs to say where it lies.
    TooFew(f64),
    /// Enough runs, which vary too much to say where it lies.
    TooNoisy(f64),
    /// A caveat forbids it.
    NotComparable,
}

impl Relation<'_> {
    /// What it shows.
    pub fn strength(&self) -> Strength {
        match self.interval {
            _ if self.caveats.between() == Some(Effect::Forbids) => Strength::NotComparable,
            _ if self.is_shown() => Strength::Shown(self.share),
            Some(found) if !self.is_doubtful() && -MARGIN <= found.low && found.high <= MARGIN => Strength::Same,
            Some(found) => Strength::Open(found),
            None if self.runs < LEAST_FOR_INTERVAL => Strength::TooFew(self.share),
            None => Strength::TooNoisy(self.share),
        }
    }

    /// Whether it may be as little as that.
    pub fn may_be(&self, share: f64) -> bool {
        self.interval.map_or(self.share, |found| found.low) <= share
    }

    /// Whether it is a loss, or a gain, that neither noise nor the clock explains.
    pub fn is_shown(&self) -> bool {
        self.open == Some(false) && !self.is_clock() && !self.is_doubtful()
    }

    /// Whether a caveat weakens it, or forbids it.
    pub fn is_doubtful(&self) -> bool {
        self.caveats.between() >= Some(Effect::Weakens)
    }

    /// Whether the two are apart by the clock of the cores only: the share is that at one clock.
    pub fn is_clock(&self) -> bool {
        self.caveats.has(Caveat::Clock)
    }

    /// Whether a caveat forbids the comparison: the share is as much of that as of the placement.
    pub fn is_forbidden(&self) -> bool {
        self.caveats.between() == Some(Effect::Forbids)
    }

    /// What the one does as a fraction of the other: the middle, then the low and the high end of where it lies.
    pub fn performance(&self) -> [f64; 3] {
        let performance = |share: f64| if self.is_work { 1.0 - share } else { (1.0 + share).recip() };
        let (low, high) = self.interval.map_or((self.share, self.share), |interval| (interval.low, interval.high));
        [self.share, high, low].map(performance)
    }
}

/// How numbers of one kernel are compared.
#[derive(Clone, Copy)]
pub struct Peers<'a> {
    pub(crate) machine: &'a Machine,
    /// Whether the kernel does what a core does by itself: so many cycles, whatever the clock.
    is_of_the_core: bool,
    /// Which question their numbers answer.
    pub(crate) question: Question,
}

impl<'a> Peers<'a> {
    pub fn of(report: &'a Report, kernel: &str, question: Question) -> Self {
        let is_of_the_core = report.card(kernel).is_some_and(|card| card.family == Family::Compute);
        Peers { machine: &report.machine, is_of_the_core, question }
    }

    /// What a number loses beside the best one. Turbo and the neighbours of a guest move the clock in steps of 4%, and the middle invocation
    /// of one of the two may have met another clock by chance: where clocks are known, and are not shown to differ, a difference counts if it
    /// is there in cycles too.
    pub fn relate<'n>(&self, number: Estimate<'n>, best: &Estimate<'_>) -> Relation<'n> {
        let more_is_better = number.cell.unit.more_is_better();
        let is_work = more_is_better || number.divisor != best.divisor;
        // From a ratio of values to a share that is lost.
        let lost = |ratio: f64| match more_is_better {
            true => 1.0 - ratio,
            false if is_work => 1.0 - ratio.recip(),
            false => ratio - 1.0,
        };
        let is_apart = !number.meets(best);
        // What was delivered is no rate of a clock.
        let are_capacities = [number.quantity, best.quantity] == [Quantity::Capacity; 2];
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
        let caveats = number.caveats.and(best.caveats).and(Caveats::between_cells(number.cell, best.cell));
        let interval = interval.filter(|_| has_intervals).map(|(low, high)| {
            // The number of a cell is near the median of its runs, and not always the same; intervals that meet show no difference.
            let ends = [lost(low), lost(high), share, if is_apart { share } else { 0.0 }];
            let (low, high) =
                (ends.into_iter().fold(f64::INFINITY, f64::min), ends.into_iter().fold(-f64::INFINITY, f64::max));
            Interval { low, high }
        });
        Relation {
            estimate: number,
            share,
            interval,
            open: has_intervals.then_some(!is_apart),
            is_work,
            runs: number.runs.min(best.runs),
            caveats: if is_clock { caveats.with(Caveat::Clock) } else { caveats },
        }
    }

    /// What two cells do in a cycle, where the clock is no part of the comparison: as many threads share a budget of power, sit on cores of
    /// the same kinds, and met clocks that are not shown to differ. The runs of a sweep take turns, so clocks that differ are an effect
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

/// Work per cycle of each run.
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
