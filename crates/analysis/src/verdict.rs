//! Which mapping suits a kernel best, what leaving its threads to the operating system costs, and from how many workers on nothing
//! more is gained.
//!
//! A pure function of a report, in numbers and without words, so all renderers agree. Only cells of the same kernel
//! at the same point are compared: a block that fits a cache says nothing of a mapping beside one that does not.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::group::grouped;
use crate::number::{Best, Number};
use crate::point;
use charz_data::Role;
use charz_data::report::{Cell, Point, Report, Unit};

/// The mapping that leaves threads to the operating system.
pub const AUTO: &str = "auto";

/// The verdict on the cells of a kernel at one point. Names are foreign text, as the report has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict<'a> {
    pub kernel: &'a str,
    /// What the cells have for themselves of the parameters that the sweep varies.
    pub point: Point,
    /// The same as people read it, e.g. `32 KiB 4k`; empty where the sweep varies nothing.
    pub label: String,
    pub mappings: usize,
    /// At how many points the kernel has numbers, this one included.
    pub points: usize,
    /// Of the numbers whose intervals reach the best value, that of the fewest workers; of those of as many the best.
    pub best: Number<'a>,
    /// Whether it may be another one: its number or the best value is suspect.
    pub doubtful: bool,
    /// The numbers of other mappings that reach the best value with as many workers.
    pub alike: Vec<Number<'a>>,
    /// Where each mapping with numbers for several numbers of workers is saturated, in the order of their first cells; empty for
    /// times.
    pub saturation: Vec<Saturation<'a>>,
    /// [`AUTO`] compared with the best, with as many workers.
    pub auto: Auto<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Auto<'a> {
    /// There is no number of it with as many workers as the best.
    Unmeasured,
    Best,
    Other(Loss<'a>),
}

/// A number beside the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss<'a> {
    pub number: Number<'a>,
    /// How much less it gives, or how much longer it takes, as a fraction of the best. Negative where its value is better, and
    /// its interval does not reach the best value of any number of workers.
    pub share: f64,
    /// Whether the intervals of the two leave open which is better; `None` where one of them has no interval.
    pub open: Option<bool>,
    pub doubtful: bool,
}

/// The verdicts on a report, in the order of the cells: one for each kernel at each point that has a number of work done. The empty
/// kernel, which does none, has no verdict. Kernels of pairs have one too, beside which a matrix of the pairs says more.
pub fn verdicts(report: &Report) -> Vec<Verdict<'_>> {
    let numbers = report.cells.iter().filter(|cell| cell.unit != Unit::Nanoseconds).filter_map(Number::of);
    let groups = grouped(numbers, |number| (number.cell.kernel.as_str(), number.cell.point));
    let mut verdicts: Vec<Verdict<'_>> = groups.iter().filter_map(|group| Verdict::of(group)).collect();
    let mut points = HashMap::new();
    verdicts.iter().for_each(|verdict| *points.entry(verdict.kernel).or_insert(0) += 1);
    verdicts.iter_mut().for_each(|verdict| verdict.points = points[verdict.kernel]);
    verdicts
}

impl<'a> Verdict<'a> {
    /// That on the numbers of a kernel at a point.
    fn of(numbers: &[Number<'a>]) -> Option<Self> {
        // A kernel has one unit; a file may say otherwise.
        let Cell { kernel, point, unit, .. } = numbers.first()?.cell;
        let numbers: Vec<Number<'_>> = numbers.iter().copied().filter(|number| number.cell.unit == *unit).collect();
        let Best { number: best, alike, doubtful } = Best::of(&numbers)?;
        let beside = |other: &&Number<'_>| other.cell.workers == best.cell.workers;
        let auto = match numbers.iter().filter(beside).find(|number| number.cell.mapping == AUTO) {
            None => Auto::Unmeasured,
            Some(auto) if std::ptr::eq(auto.cell, best.cell) => Auto::Best,
            Some(auto) => Auto::Other(Loss::of(*auto, &best)),
        };
        let by_mapping = grouped(numbers.iter().copied(), |number| number.cell.mapping.as_str());
        Some(Verdict {
            kernel,
            point: *point,
            label: point::label(point).trim_start().to_owned(),
            mappings: by_mapping.len(),
            points: 1,
            best,
            doubtful,
            alike,
            saturation: by_mapping.iter().filter_map(|numbers| Saturation::of(numbers)).collect(),
            auto,
        })
    }

    /// Where the best mapping is saturated, if that is known.
    pub fn saturates(&self) -> Option<&Saturation<'a>> {
        self.saturation.iter().find(|saturation| saturation.mapping == self.best.cell.mapping)
    }

    /// Whether it is worth a line beside others: mappings or numbers of workers were compared. A sweep over sizes under one mapping
    /// has a verdict at each size that compares nothing, and the square of a kernel of pairs says more.
    pub fn decides(&self, report: &Report) -> bool {
        let compares = self.mappings > 1 || (self.points == 1 && !self.saturation.is_empty());
        compares && !matches!(report.role(self.kernel), Role::LineTransfer(_))
    }
}

impl<'a> Loss<'a> {
    fn of(number: Number<'a>, best: &Number<'_>) -> Self {
        // Numbers that are the same differ by nothing, also where both are 0.
        let more = if number.value == best.value { 0.0 } else { number.value / best.value - 1.0 };
        Loss {
            number,
            share: if number.cell.unit.more_is_better() { -more } else { more },
            open: number.interval.and(best.interval).map(|_| number.meets(best)),
            doubtful: number.is_doubtful() || best.is_doubtful(),
        }
    }
}

/// A mapping is saturated where it first reaches this share of its best, as a fraction, or its interval the best's.
pub const SATURATED: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saturation<'a> {
    pub mapping: &'a str,
    /// The fewest workers with which it reaches [`SATURATED`] of its best; `None` if only the most that were measured do: more
    /// might give more.
    pub workers: Option<u64>,
    pub most: u64,
    /// Whether it may be another number of workers: without the suspect numbers it is, or is unknown.
    pub doubtful: bool,
}

impl<'a> Saturation<'a> {
    /// That of the numbers of a mapping; `None` for times of an operation, which have nothing to be saturated, and of one number of
    /// workers. The time of a program is that of all its work.
    fn of(numbers: &[Number<'a>]) -> Option<Self> {
        let cell = numbers.first()?.cell;
        if !cell.unit.more_is_better() && !matches!(cell.unit, Unit::Reported(_)) {
            return None;
        }
        let sound: Vec<Number<'_>> = numbers.iter().copied().filter(|number| !number.is_doubtful()).collect();
        let (workers, most) = knee(numbers)?;
        // Where it is not saturated, the most count.
        let differs =
            |of_sound: (Option<u64>, u64)| of_sound != (workers, most) && (workers.is_none() || of_sound.0 != workers);
        let doubtful = knee(&sound).is_none_or(differs);
        Some(Saturation { mapping: &cell.mapping, workers, most, doubtful })
    }
}

/// The fewest workers that are nearly as good as the best, unless these are the most, and the most. `None` for one number of workers.
fn knee(numbers: &[Number<'_>]) -> Option<(Option<u64>, u64)> {
    let workers = |number: &Number<'_>| number.cell.workers;
    let (least, most) = (numbers.iter().map(workers).min()?, numbers.iter().map(workers).max()?);
    let best = numbers.iter().copied().max_by(Number::by_value)?;
    let share = |number: &Number<'_>| match best.cell.unit.more_is_better() {
        true => number.value / best.value,
        false => best.value / number.value,
    };
    let nearly = |number: &&Number<'_>| share(number) >= SATURATED || number.meets(&best);
    let first = numbers.iter().filter(nearly).map(workers).min();
    (least < most).then_some((first.filter(|first| *first < most), most))
}
