//! How far apart two measurements of one thing are: a configuration under several mappings that take the same CPUs.

use charz_estimate::grouped;
use std::collections::HashMap;

use super::Allowed;
use super::pairing::usable;
use super::values::value;
use charz_data::Family;
use charz_data::report::{Cell, Point, Report};
use charz_words::point;

/// Kernel, parameters and number of workers.
type Subject<'a> = (&'a str, Point, u64);

/// The largest difference between repetitions of each configuration, in either report.
#[derive(Default)]
pub(super) struct Repeats<'a>(HashMap<Subject<'a>, Repeat>);

/// The largest difference between repetitions of a configuration.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    /// As a fraction.
    pub(super) difference: f64,
    /// Which configuration shows it, as a clause.
    pub(super) shown_by: String,
}

impl<'a> Repeats<'a> {
    pub(super) fn of(allowed: &Allowed<'a>) -> Self {
        let mut all: HashMap<Subject<'a>, Repeat> = HashMap::new();
        for (side, report) in allowed.design.sides().into_iter().zip(allowed.reports) {
            let several = grouped(&report.cells, |cell| subject(cell)).into_iter().filter(|cells| cells.len() > 1);
            for cells in several {
                let placed = cells.iter().filter_map(|cell| Some((seats(cell, report)?, *cell)));
                let repeated = grouped(placed, |(seats, cell)| (seats.clone(), cell.unit, cell.last_size()));
                for cells in repeated.into_iter().filter(|cells| cells.len() > 1) {
                    let Some(repeat) = furthest(&cells, side, allowed) else { continue };
                    let known = all.entry(subject(cells[0].1)).or_insert_with(|| repeat.clone());
                    if repeat.difference > known.difference {
                        *known = repeat;
                    }
                }
            }
        }
        Repeats(all)
    }

    /// Of the configurations of two cells.
    pub(super) fn between<'s>(&'s self, cells: [Option<&'s Cell>; 2]) -> Option<&'s Repeat> {
        let found = cells.into_iter().flatten().filter_map(|cell| self.0.get(&subject(cell)));
        found.max_by(|one, other| one.difference.total_cmp(&other.difference))
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
fn furthest(cells: &[(Vec<u32>, &Cell)], side: &str, allowed: &Allowed<'_>) -> Option<Repeat> {
    let number =
        |cell| value(cell, allowed.options.quantity).filter(|value| *value > 0.0 && usable(cell, allowed).is_ok());
    let numbers: Vec<(f64, &Cell)> = cells.iter().filter_map(|(_, cell)| Some((number(cell)?, *cell))).collect();
    let by_value = |one: &&(f64, &Cell), other: &&(f64, &Cell)| one.0.total_cmp(&other.0);
    let (low, high) = numbers.iter().min_by(by_value).zip(numbers.iter().max_by(by_value))?;
    let difference = Some(high.0 / low.0 - 1.0).filter(|share| share.is_finite() && *share > 0.0)?;
    let (low, high) = (low.1, high.1);
    low.moved(high).is_none().then(|| Repeat {
        difference,
        shown_by: format!(
            "{side}: {}{} x{} differs so between {} and {} on the same CPUs",
            low.kernel,
            point::label(&low.point),
            low.workers,
            low.mapping,
            high.mapping
        ),
    })
}
