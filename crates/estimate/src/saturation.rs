//! From how many workers on nothing more is gained.

use charz_data::report::Unit;

use crate::best::better;
use crate::estimate::Estimate;
use crate::quantity::Question;
use crate::relation::Peers;

impl Peers<'_> {
    /// The only rule for how many workers are best: the best number, and the fewest workers with which one [is near](Self::is_near)
    /// it. Suspect numbers compete too, for the best of those that happen to be `ok` may be far from the best.
    pub fn fewest<'n>(&self, numbers: &[Estimate<'n>]) -> Option<(Estimate<'n>, u64)> {
        let cpus = self.machine.worth() as u64;
        let peak = peak(numbers, cpus)?;
        let competes = |number: &&Estimate<'_>| number.cell.workers <= cpus.max(peak.cell.workers);
        let near = numbers.iter().filter(competes).filter(|number| self.is_near(number, &peak));
        Some((peak, near.map(|number| number.cell.workers).min()?))
    }

    /// Whether a number is shown to lose at most 5% beside the peak; without an interval, whether it loses no more. What a shared machine
    /// delivered is seldom known to 5%, and further threads meet its other programs more often: there fewer are near by their number alone.
    pub fn is_near(&self, number: &Estimate<'_>, peak: &Estimate<'_>) -> bool {
        let loss = self.relate(*number, peak);
        let shown =
            loss.interval.filter(|_| self.question == Question::Hardware || number.cell.workers > peak.cell.workers);
        std::ptr::eq(number.cell, peak.cell)
            || loss.is_clock()
            || shown.map_or(loss.share, |found| found.high) <= 1.0 - SATURATED
    }
}

/// The best number with up to a worker per CPU, unless more workers are surely better than any of these.
fn peak<'a>(numbers: &[Estimate<'a>], cpus: u64) -> Option<Estimate<'a>> {
    let with = |more: bool| numbers.iter().copied().filter(move |number| (number.cell.workers > cpus) == more);
    let more = with(true).reduce(better);
    let is_surely_better = |more: &Estimate<'_>| {
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
    pub fn of(numbers: &[Estimate<'a>], rivals: &Peers<'_>) -> Option<Self> {
        let cell = numbers.first()?.cell;
        if !cell.unit.more_is_better() && !matches!(cell.unit, Unit::Reported(_)) {
            return None;
        }
        let sound: Vec<Estimate<'_>> = numbers.iter().copied().filter(|number| !number.is_doubtful()).collect();
        let counts = || numbers.iter().map(|number| number.cell.workers);
        let most = counts().max().filter(|most| counts().any(|count| count < *most))?;
        let below = |fewest: u64| Some(fewest).filter(|fewest| *fewest < most);
        let (peak, fewest) = rivals.fewest(numbers)?;
        let workers = below(fewest);
        let of_sound = rivals.fewest(&sound).filter(|_| sound.len() > 1).map(|(_, fewest)| below(fewest));
        let may_be = numbers.iter().filter(|number| rivals.relate(**number, &peak).may_be(1.0 - SATURATED));
        let possible = may_be.map(|number| number.cell.workers).min().and_then(below);
        let has_all = numbers.iter().all(|number| number.interval.is_some());
        let doubtful = of_sound != Some(workers) || possible != workers || !has_all;
        Some(Saturation { mapping: &cell.mapping, workers, most, doubtful })
    }
}
