//! What workers cost each other at what they share, and what their cores do meanwhile, against their number.

use std::collections::BTreeSet;

use super::cells::{CellsByKernel, SourcedCell};
use super::lines::{Drawn, Lines, MOST_LINES, Rows};
use super::points;
use super::table::MOST;
use crate::figure::{Axis, Body, DataPoint, Datum, Figure, Quantity, Row, Scale, State, Table};
use charz_data::report::{Cell, Sharing};
use charz_data::units;
use charz_words::point;

/// A number of a cell beside its own.
struct Cost {
    /// Its part of a figure's id.
    name: &'static str,
    /// The section that has it, and what the titles of its figures begin with.
    chapter: &'static str,
    title: &'static str,
    of: fn(&Cell) -> Option<f64>,
    quantity: Quantity,
    scale: Scale,
    about: &'static str,
}

const COSTS: [Cost; 5] = [
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
    Cost {
        name: "sharing-wake-ups",
        chapter: "Contention",
        title: "wake-up p99 beside it",
        of: |cell| cell.wake_ups().filter(|_| cell.value().is_some())?.p99_ns,
        quantity: Quantity::Nanos,
        scale: Scale::Log10,
        about: "how late 1 of 100 wake-ups of a thread is that sleeps beside the workers: what other programs feel",
    },
    Cost {
        name: "hardware-ipc",
        chapter: "Hardware counters",
        title: "instructions per cycle",
        of: |cell| cell.hardware.as_ref().filter(|_| cell.value().is_some())?.ipc(),
        quantity: Quantity::Plain,
        scale: Scale::Linear,
        about: "what a core does with its time: the most is its issue width, and little is a core that waits",
    },
];

/// What several workers cost each other.
fn shared(cell: &Cell) -> Option<&Sharing> {
    cell.contention.as_ref().filter(|_| cell.workers > 1 && cell.value().is_some())
}

/// The figures of the costs of a section: a line for each kernel under each mapping, or a row where there is one number of threads.
pub(super) fn figures(sorted: &CellsByKernel<'_>, chapter: &str) -> Vec<Figure> {
    COSTS.iter().filter(|cost| cost.chapter == chapter).flat_map(|cost| of_cost(sorted, cost)).collect()
}

/// Attempts, waits and fairness of each cell.
pub(super) fn table(sorted: &CellsByKernel<'_>) -> Option<Table> {
    let heading = [
        "line",
        "attempts per success",
        "waited",
        "CPU time lost waiting",
        "fairness",
        "max / min share",
        "wake-up p99 beside it",
    ];
    let row = |own: SourcedCell<'_>| {
        let sharing = shared(own.cell)?;
        let number = |text: String, number: f64| Datum::number(format!("{text}{}", points::doubt(own.cell)), number);
        let share = |share: f64| number(units::percent(share), share);
        let unequal = match sharing.most_to_least {
            Some(ratio) => number(format!("{ratio:.2}"), ratio),
            None => Datum::word(format!("one starved{}", points::doubt(own.cell))),
        };
        let data = vec![
            Datum::word(sorted.named(&point::name(own.cell), own.source)),
            number(format!("{:.2}", sharing.attempts_per_success), sharing.attempts_per_success),
            share(sharing.waited),
            sharing.wait_share.map_or(Datum::none(), share),
            number(format!("{:.3}", sharing.fairness), sharing.fairness),
            unequal,
            own.cell.wake_ups().and_then(|late| late.p99_ns).map_or(Datum::none(), |ns| number(units::nanos(ns), ns)),
        ];
        Some(Row::new(data, points::state(own.cell)))
    };
    let rows: Vec<Row> = sorted.cells().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table::new(&heading, rows).without_empty_columns().at_most(MOST))
}

fn of_cost(sorted: &CellsByKernel<'_>, cost: &Cost) -> Vec<Figure> {
    let value = |cell: &Cell| (cost.of)(cell).filter(|value| value.is_finite());
    let cells: Vec<SourcedCell<'_>> = sorted.cells().filter(|own| value(own.cell).is_some()).collect();
    let counts: BTreeSet<u64> = cells.iter().map(|own| own.cell.workers).collect();
    let (id, title) = (cost.name.to_owned(), format!("{}: {}", cost.chapter, cost.title));
    let y = Axis::new(cost.title, cost.quantity.clone(), cost.scale);
    let point = |own: SourcedCell<'_>, x: f64| point(own.cell, x, value(own.cell), cost);
    let named = |own: SourcedCell<'_>| {
        let size = own.cell.last_size().map(|size| format!(" size {size}")).unwrap_or_default();
        format!("{}{}{size}", own.cell.mapping, point::label(&own.cell.point))
    };
    let (drawn, body): (_, fn(_) -> _) = if counts.len() < 2 {
        let (y, row) = (Axis { scale: Scale::Linear, ..y }, |own: SourcedCell<'_>| own.cell.kernel.clone());
        (Rows { id, title, y, cells: &cells, row: &row, name: &named, point: &point }.draw(sorted), Body::Dots)
    } else {
        let lines = Lines {
            id,
            title: format!("{title} vs threads"),
            x: Axis::new("threads", Quantity::Count, Scale::Log2),
            y,
            cells: &cells,
            name: &|own| format!("{} {}", own.cell.kernel, named(own)),
            place: &|own| Some(own.cell.workers as f64),
            along: None,
            point: &point,
            most: MOST_LINES,
        };
        (lines.draw(sorted), Body::Lines)
    };
    let figure = |mut drawn: Drawn<'_>| {
        drawn.about.insert(0, cost.about.to_owned());
        if drawn.plot.y_range().is_some_and(|[low, _]| low <= 0.0) {
            drawn.plot.y.scale = Scale::Linear;
        }
        drawn.figure(body, None)
    };
    drawn.into_iter().map(figure).collect()
}

fn point(cell: &Cell, x: f64, value: Option<f64>, cost: &Cost) -> DataPoint {
    let number =
        value.map_or_else(String::new, |value| format!("{}{}", cost.quantity.shown(value), points::doubt(cell)));
    let state = if value.is_some() { points::state(cell) } else { State::Missing };
    let note = format!("{}: {}, {number}{}", points::short(&point::name(cell)), cost.title, points::against(cell));
    DataPoint::new(x, value, state, note)
}
