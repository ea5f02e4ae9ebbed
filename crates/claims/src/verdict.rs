//! Which mapping suits a kernel best, what leaving its threads to the operating system costs, and from how many workers on nothing
//! more is gained.
//!
//! Only cells of the same kernel at the same point are compared: a block that fits a cache says nothing of a mapping beside one that does
//! not.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use charz_data::Role;
use charz_data::report::{Cell, Point, Report, Status, Unit};
use charz_estimate::{AUTO, Estimate, Estimates, Relation, Saturation, Series, Strength, better};

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
    pub best: Estimate<'a>,
    /// The best number.
    pub peak: Estimate<'a>,
    /// How many mappings have a number with as many workers.
    pub beside: usize,
    /// Those that were tried with as many and have none.
    pub lacking: Vec<&'a str>,
    /// Whether it may be another one: its number or the best value is suspect.
    pub doubtful: bool,
    /// The numbers of other mappings that are not apart from the best with as many workers, those included that are at its clock.
    pub alike: Vec<Estimate<'a>>,
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
    Best(Option<Relation<'a>>),
    Other(Relation<'a>),
}

/// The verdicts on a report, in the order of the cells: one for each kernel at each point that has a number of work done. The empty
/// kernel, which does none, has no verdict. Kernels of pairs have one too, beside which a matrix of the pairs says more.
pub fn verdicts<'a>(table: &Estimates<'a>) -> Vec<Verdict<'a>> {
    let series = table.series();
    let working = series.iter().filter(|series| series.cell().unit != Unit::Nanoseconds);
    let mut verdicts: Vec<Verdict<'_>> = working.filter_map(|series| Verdict::of(series, table)).collect();
    let mut points = HashMap::new();
    verdicts.iter().for_each(|verdict| *points.entry(verdict.kernel).or_insert(0) += 1);
    verdicts.iter_mut().for_each(|verdict| verdict.points = points[verdict.kernel]);
    verdicts
}

impl<'a> Verdict<'a> {
    /// That on the numbers of a kernel at a point.
    fn of(series: &Series<'a>, table: &Estimates<'a>) -> Option<Self> {
        let (numbers, report) = (&series.estimates, table.report);
        let Cell { kernel, point, .. } = series.cell();
        let peers = table.peers(kernel);
        let (peak, fewest) = peers.fewest(numbers)?;
        let beside = |other: &&Estimate<'a>| other.cell.workers == fewest;
        let best = numbers.iter().filter(beside).copied().reduce(better)?;
        let losses = || numbers.iter().filter(beside).map(|number| peers.relate(*number, &best));
        let is_alike = |loss: &Relation<'a>| {
            !std::ptr::eq(loss.estimate.cell, best.cell) && (loss.estimate.meets(&best) || loss.is_clock())
        };
        let alike: Vec<Estimate<'_>> = losses().filter(is_alike).map(|loss| loss.estimate).collect();
        let moved = numbers.iter().any(|other| !other.is_placed_as(&best));
        let auto = match losses().find(|loss| loss.estimate.cell.mapping == AUTO) {
            None => Auto::Unmeasured,
            Some(auto) if std::ptr::eq(auto.estimate.cell, best.cell) => {
                let others =
                    numbers.iter().filter(beside).filter(|other| !std::ptr::eq(other.cell, best.cell)).copied();
                Auto::Best(others.reduce(better).map(|next| peers.relate(best, &next)))
            }
            Some(auto) => Auto::Other(auto),
        };
        let is_equal = alike.iter().all(|other| peers.relate(*other, &best).strength() == Strength::Same);
        let by_mapping = series.by_mapping();
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
            saturation: by_mapping.iter().filter_map(|numbers| Saturation::of(numbers, &peers)).collect(),
            saturates: Saturation::of(numbers, &peers).map(|all| Saturation { mapping: &best.cell.mapping, ..all }),
            auto,
        })
    }

    /// Whether it is worth a line beside others: mappings or numbers of workers were compared. A sweep over sizes under one mapping
    /// has a verdict at each size that compares nothing, and the square of a kernel of pairs says more.
    pub fn decides(&self, report: &Report) -> bool {
        let compares = self.mappings > 1 || (self.points == 1 && !self.saturation.is_empty());
        compares && !matches!(report.role(self.kernel), Role::LineTransfer(_))
    }
}

/// The mappings that were tried as this one was, with as many threads, and have no number.
pub fn lacking<'a>(report: &'a Report, best: &Cell) -> Vec<&'a str> {
    let key = |cell: &Cell| (cell.point, cell.workers, cell.mapping != best.mapping);
    let beside = |cell: &&Cell| cell.kernel == best.kernel && key(cell) == (best.point, best.workers, true);
    let tried = report.cells.iter().filter(beside).filter(|cell| cell.status != Status::Skipped);
    tried.filter(|cell| cell.value().is_none()).map(|cell| cell.mapping.as_str()).collect()
}
