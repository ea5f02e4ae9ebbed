//! How far apart two measurements of one thing are: a configuration under several mappings that take the same CPUs.

use std::collections::HashMap;

use super::allowed::Allowed;
use super::pairing::{Sides, usable};
use charz_data::Family;
use charz_data::report::{Cell, Point, Report};
use charz_estimate::grouped;

/// Kernel, parameters and number of workers.
type Subject<'a> = (&'a str, Point, u64);

/// The largest difference between repetitions of each configuration, in either report.
#[derive(Default)]
pub(super) struct Repeats<'a>(HashMap<Subject<'a>, Repeat<'a>>);

/// The largest difference between repetitions of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeat<'a> {
    /// As a fraction.
    pub difference: f64,
    /// Which report shows it, by its place.
    pub side: usize,
    /// Its lowest and its highest number.
    pub cells: [&'a Cell; 2],
}

impl<'a> Repeats<'a> {
    pub(super) fn of(allowed: &Allowed<'a>) -> Self {
        let mut all: HashMap<Subject<'a>, Repeat<'a>> = HashMap::new();
        for (side, report) in allowed.reports.into_iter().enumerate() {
            let several = grouped(&report.cells, |cell| subject(cell)).into_iter().filter(|cells| cells.len() > 1);
            for cells in several {
                let placed = cells.iter().filter_map(|cell| Some((seats(cell, report)?, *cell)));
                let repeated = grouped(placed, |(seats, cell)| (seats.clone(), cell.unit, cell.last_size()));
                for repeat in repeated.into_iter().filter_map(|cells| furthest(&cells, side, allowed)) {
                    let known = all.entry(subject(repeat.cells[0])).or_insert(repeat);
                    if repeat.difference > known.difference {
                        *known = repeat;
                    }
                }
            }
        }
        Repeats(all)
    }

    /// Of the configurations of two cells.
    pub(super) fn between(&self, cells: Sides<'_>) -> Option<Repeat<'a>> {
        let found = cells.into_iter().flatten().filter_map(|cell| self.0.get(&subject(cell)));
        found.max_by(|one, other| one.difference.total_cmp(&other.difference)).copied()
    }
}

fn subject(cell: &Cell) -> Subject<'_> {
    (&cell.kernel, cell.point, cell.workers)
}

/// The CPUs of a cell, in an order that is the same for two measurements of one thing; `None` where the system places the workers.
fn seats(cell: &Cell, report: &Report) -> Option<Vec<u32>> {
    let mut seats: Vec<u32> = cell.seats.iter().copied().collect::<Option<_>>()?;
    // Of workers that do the same side by side it does not matter which one has which CPU.
    let is_alike = report
        .card(&cell.kernel)
        .is_some_and(|card| matches!(card.family, Family::Compute | Family::Memory) && !card.needs_a_cpu_each());
    if is_alike {
        seats.sort_unstable();
    }
    Some(seats)
}

/// The two cells that are the furthest apart, unless the host moved their CPUs in between.
fn furthest<'a>(cells: &[(Vec<u32>, &'a Cell)], side: usize, allowed: &Allowed<'_>) -> Option<Repeat<'a>> {
    let quantity = allowed.options.quantity;
    let number = |cell| quantity.value(cell).filter(|value| *value > 0.0 && usable(cell, allowed).is_ok());
    let numbers: Vec<(f64, &Cell)> = cells.iter().filter_map(|(_, cell)| Some((number(cell)?, *cell))).collect();
    let by_value = |one: &&(f64, &Cell), other: &&(f64, &Cell)| one.0.total_cmp(&other.0);
    let (low, high) = numbers.iter().min_by(by_value).zip(numbers.iter().max_by(by_value))?;
    let difference = Some(high.0 / low.0 - 1.0).filter(|share| share.is_finite() && *share > 0.0)?;
    low.1.moved(high.1).is_none().then_some(Repeat { difference, side, cells: [low.1, high.1] })
}
