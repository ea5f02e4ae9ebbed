//! Cells that differ in the number of workers only.

use std::collections::HashMap;

use crate::point;
use charz_data::report::{Cell, Report, Status, Unit};
use charz_data::{Card, Role, units};

/// The cells of a kernel under a mapping, by ascending number of workers.
pub(super) struct Series<'a> {
    pub(super) kernel: &'a str,
    pub(super) card: Option<&'a Card>,
    pub(super) mapping: &'a str,
    pub(super) cells: Vec<&'a Cell>,
}

/// A cell that has a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number<'a> {
    pub(super) cell: &'a Cell,
    pub(super) value: f64,
    /// The interval of the number; the range of all repetitions where too few invocations were made for one.
    low: f64,
    high: f64,
}

impl<'a> Series<'a> {
    /// All of a report, in the order of their first cells.
    pub(super) fn of(report: &'a Report) -> Vec<Self> {
        let mut all: Vec<Series<'_>> = Vec::new();
        let mut places = HashMap::new();
        for cell in &report.cells {
            let (kernel, mapping) = (cell.kernel.as_str(), cell.mapping.as_str());
            let place = *places.entry((kernel, mapping, cell.point)).or_insert(all.len());
            match all.get_mut(place) {
                Some(series) => series.cells.push(cell),
                None => all.push(Series { kernel, card: report.card(kernel), mapping, cells: vec![cell] }),
            }
        }
        all.iter_mut().for_each(|series| series.cells.sort_by_key(|cell| cell.workers));
        all
    }

    /// What its kernel is taken for.
    pub(super) fn role(&self) -> &'a Role {
        self.card.map_or(&Role::Other, |card| &card.role)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Number<'a>> {
        self.cells.iter().filter_map(|cell| Number::of(cell))
    }

    /// Whether the numbers count this.
    pub(super) fn counts(&self, unit: Unit) -> bool {
        self.cells.iter().all(|cell| cell.unit == unit)
    }
}

impl<'a> Number<'a> {
    pub(super) fn of(cell: &'a Cell) -> Option<Self> {
        let summary = cell.summary?;
        let ends = (summary.best.min(summary.worst), summary.best.max(summary.worst));
        let (low, high) = summary.interval.map_or(ends, |interval| (interval.low, interval.high));
        Some(Number { cell, value: summary.value?, low, high })
    }

    /// Half of its interval, as a fraction of it.
    pub(super) fn slack(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.value
    }

    /// Whether it is smaller, and the two are apart.
    pub(super) fn is_surely_below(&self, other: &Number<'_>) -> bool {
        self.value < other.value && self.high < other.low
    }

    /// Whether it is the better one in its unit.
    pub(super) fn is_better(&self, other: &Number<'_>) -> bool {
        if self.cell.unit.more_is_better() { self.value > other.value } else { self.value < other.value }
    }

    /// Whether the two are not apart.
    pub(super) fn meets(&self, other: &Number<'_>) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether something speaks against it.
    pub(super) fn is_doubtful(&self) -> bool {
        self.cell.outcome.status == Status::Suspect
    }

    /// With a question mark behind a doubtful one.
    pub(super) fn shown(&self) -> String {
        format!("{}{}", units::value(self.value, self.cell.unit), units::doubt(self.is_doubtful()))
    }

    /// A question mark behind what follows from the two, if one of them is doubtful.
    pub(super) fn doubt_beside(&self, other: &Number<'_>) -> &'static str {
        units::doubt(self.is_doubtful() || other.is_doubtful())
    }

    /// Where it stands in the report, and what it is.
    pub(super) fn cited(&self) -> String {
        format!("{}: {}", point::name(self.cell), self.shown())
    }
}

/// The best of several numbers, and the others that meet it; of equals the first.
pub(super) fn best<'a>(numbers: &[Number<'a>]) -> Option<(Number<'a>, Vec<Number<'a>>)> {
    let best = numbers.iter().copied().reduce(|best, next| if next.is_better(&best) { next } else { best })?;
    let alike = numbers.iter().filter(|other| !std::ptr::eq(other.cell, best.cell) && other.meets(&best));
    Some((best, alike.copied().collect()))
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}
