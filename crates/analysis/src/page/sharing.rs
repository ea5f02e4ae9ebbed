//! What workers cost each other at what they share, against their number.

use charz_estimate::grouped;
use std::collections::{BTreeSet, HashMap};

use super::cells::{CellsByKernel, SourcedCell};
use super::lines::{Drawn, Lines};
use super::points;
use crate::figure::{Axis, Body, DataPoint, Figure, Quantity, Scale, State};
use charz_data::report::{Cell, Sharing};
use charz_words::point;

/// A number of a cell beside its own.
pub(super) struct Cost {
    /// Its part of a figure's id.
    pub(super) name: &'static str,
    /// What the titles of its figures begin with.
    pub(super) chapter: &'static str,
    pub(super) title: &'static str,
    pub(super) of: fn(&Cell) -> Option<f64>,
    pub(super) quantity: Quantity,
    pub(super) scale: Scale,
    pub(super) about: &'static str,
}

const COSTS: [Cost; 3] = [
    Cost {
        name: "sharing-attempts",
        chapter: "Contention",
        title: "attempts for a success",
        of: |cell| Some(shared(cell)?.attempts_per_success),
        quantity: Quantity::Plain,
        scale: Scale::Log10,
        about: "1 is no interference; each attempt beyond it failed since another thread came first",
    },
    Cost {
        name: "sharing-fairness",
        chapter: "Contention",
        title: "fairness",
        of: |cell| Some(shared(cell)?.fairness),
        quantity: Quantity::Plain,
        scale: Scale::Linear,
        about: "1 is an even share for each thread, one over the number of threads is one thread alone",
    },
    Cost {
        name: "sharing-waiting",
        chapter: "Contention",
        title: "share of CPU time spent waiting",
        of: |cell| shared(cell)?.wait_share,
        quantity: Quantity::Share,
        scale: Scale::Linear,
        about: "the share of the time of all CPUs in use that was spent waiting",
    },
];

/// What several workers cost each other.
fn shared(cell: &Cell) -> Option<&Sharing> {
    cell.contention.as_ref().filter(|_| cell.workers > 1 && cell.value().is_some())
}

pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let cells: Vec<SourcedCell<'_>> = sorted.cells().filter(|own| shared(own.cell).is_some()).collect();
    COSTS.iter().flat_map(|cost| of_cost(sorted, cost, &cells)).collect()
}

/// A line for each kernel under each mapping.
pub(super) fn of_cost(sorted: &CellsByKernel<'_>, cost: &Cost, cells: &[SourcedCell<'_>]) -> Vec<Figure> {
    let value = |cell: &Cell| (cost.of)(cell).filter(|value| value.is_finite());
    let cells: Vec<SourcedCell<'_>> = cells.iter().copied().filter(|own| value(own.cell).is_some()).collect();
    // Of one number of threads a line is a point, and kernels have rows.
    let counts: BTreeSet<u64> = cells.iter().map(|own| own.cell.workers).collect();
    if counts.len() < 2 {
        return rows(sorted, cost, &cells, &value);
    }
    let lines = Lines {
        id: cost.name.to_owned(),
        title: format!("{}: {} vs threads", cost.chapter, cost.title),
        x: Axis::new("threads", Quantity::Count, Scale::Log2),
        y: Axis::new(cost.title, cost.quantity.clone(), cost.scale),
        cells: &cells,
        name: &|own| format!("{} {}{}", own.cell.kernel, own.cell.mapping, point::label(&own.cell.point)),
        place: &|own| Some(own.cell.workers as f64),
        along: None,
    };
    let figure = |mut drawn: Drawn<'_>| {
        drawn.about.insert(0, cost.about.to_owned());
        if drawn.plot.y_range().is_some_and(|[low, _]| low <= 0.0) {
            drawn.plot.y.scale = Scale::Linear;
        }
        drawn.figure(Body::Lines, None)
    };
    let drawn = lines.draw_by(sorted, &|own, x| point(own.cell, x, value(own.cell), cost));
    drawn.into_iter().map(figure).collect()
}

/// A row for each kernel.
fn rows(
    sorted: &CellsByKernel<'_>,
    cost: &Cost,
    cells: &[SourcedCell<'_>],
    value: &dyn Fn(&Cell) -> Option<f64>,
) -> Vec<Figure> {
    let kernels = grouped(cells.iter().copied(), |own| own.cell.kernel.as_str());
    let names = kernels.iter().map(|own| own[0].cell.kernel.clone()).collect();
    let places: HashMap<&str, usize> =
        kernels.iter().enumerate().map(|(row, own)| (own[0].cell.kernel.as_str(), row)).collect();
    let lines = Lines {
        id: cost.name.to_owned(),
        title: format!("{}: {}", cost.chapter, cost.title),
        x: Axis::new("kernel", Quantity::Names(names), Scale::Linear),
        y: Axis::new(cost.title, cost.quantity.clone(), Scale::Linear),
        cells,
        name: &|own| format!("{}{}", own.cell.mapping, point::label(&own.cell.point)),
        place: &|own| places.get(own.cell.kernel.as_str()).map(|row| *row as f64),
        along: None,
    };
    let drawn = lines.draw_by(sorted, &|own, x| point(own.cell, x, value(own.cell), cost));
    drawn
        .into_iter()
        .map(|mut drawn| {
            drawn.about.insert(0, cost.about.to_owned());
            drawn.figure(Body::Dots, None)
        })
        .collect()
}

fn point(cell: &Cell, x: f64, value: Option<f64>, cost: &Cost) -> DataPoint {
    let number =
        value.map_or_else(String::new, |value| format!("{}{}", cost.quantity.shown(value), points::doubt(cell)));
    let state = if value.is_some() { points::state(cell) } else { State::Missing };
    let note = format!("{}: {}, {number}{}", points::short(&point::name(cell)), cost.title, points::against(cell));
    DataPoint::new(x, value, state, note)
}
