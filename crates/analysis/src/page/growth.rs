//! How recursions grew from size to size that ask for a thread for each of their activities.

use super::cells::{CellsByKernel, SourcedCell};
use super::points;
use crate::figure::{Axis, Body, DataPoint, Datum, Figure, Plot, Quantity, Role, Row, Scale, Series, State, Table, id};
use crate::group::grouped;
use crate::point;
use charz_data::report::{Cell, Growth, GrowthStep, Halt};
use charz_data::units;

const MOST_STEPS: usize = 400;
const MOST_LINES: usize = 12;

struct Side {
    name: &'static str,
    title: &'static str,
    of: fn(&GrowthStep) -> Option<f64>,
    quantity: Quantity,
}

const SIDES: [Side; 2] = [
    Side {
        name: "growth-time",
        title: "time of the whole recursion",
        of: |step| (step.time_ns > 0).then_some(step.time_ns as f64),
        quantity: Quantity::Nanos,
    },
    Side { name: "growth-attempts", title: "attempts for a success", of: attempts, quantity: Quantity::Plain },
];

/// Attempts for each success; none without a success.
fn attempts(step: &GrowthStep) -> Option<f64> {
    let successes = step.attempts.checked_sub(step.failures).filter(|successes| *successes > 0)?;
    Some(step.attempts as f64 / successes as f64)
}

/// A cell with the growth of the repetition that came furthest.
type Grown<'a> = (SourcedCell<'a>, &'a Growth);

pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let cells = sorted.cells().filter(|own| own.cell.value().is_some());
    let grown = cells.filter_map(|own| Some((own, furthest(own.cell)?)));
    for kernel in grouped(grown, |(own, _)| own.cell.kernel.as_str()) {
        for (part, lines) in kernel.chunks(MOST_LINES).enumerate() {
            figures.extend(SIDES.iter().map(|side| figure(sorted, side, lines, part)));
        }
    }
    figures
}

fn furthest(cell: &Cell) -> Option<&Growth> {
    let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    let grown = runs.filter_map(|run| run.growth.as_deref()).filter(|growth| !growth.steps.is_empty());
    grown.reduce(|furthest, growth| if growth.steps.len() > furthest.steps.len() { growth } else { furthest })
}

fn figure(sorted: &CellsByKernel<'_>, side: &Side, lines: &[Grown<'_>], part: usize) -> Figure {
    let kernel = &lines[0].0.cell.kernel;
    let series = lines.iter().map(|(own, growth)| Series {
        name: sorted.named(&name(own.cell), own.source),
        role: Role::Measured,
        source: own.source,
        points: steps(growth).map(|step| point(own.cell, step, side)).collect(),
    });
    let why = lines.iter().map(|(own, growth)| {
        let why = match growth.stopped_by {
            Halt::Time => "the next size would have taken more than the rest of its time",
            Halt::Threads => "more than a million threads would have been made",
            Halt::Sizes => "there is no larger size",
        };
        sorted.prefixed(&format!("{} grew no further since {why}", name(own.cell)), own.source)
    });
    let x = Axis::new("size of the recursion", Quantity::Count, Scale::Linear);
    let y = Axis::new(side.title, side.quantity.clone(), Scale::Log10);
    let named = if part == 0 { String::new() } else { format!(" ({})", part + 1) };
    Figure {
        id: id(&format!("{}-{kernel}{named}", side.name)),
        title: format!("{kernel}: {} against size{named}", side.title),
        about: why.collect(),
        body: Body::Lines(Plot::new(x, y, series.collect())),
        table: (side.name == SIDES[0].name).then(|| table(sorted, lines)),
    }
}

fn name(cell: &Cell) -> String {
    format!("{} x{}{}", cell.mapping, cell.workers, point::label(&cell.point))
}

/// The steps that are drawn, evenly chosen.
fn steps(growth: &Growth) -> impl Iterator<Item = &GrowthStep> {
    let all = growth.steps.len();
    let step = all.div_ceil(MOST_STEPS).max(1);
    growth.steps.iter().enumerate().filter(move |(at, _)| at % step == 0 || at + 1 == all).map(|(_, step)| step)
}

fn point(cell: &Cell, step: &GrowthStep, side: &Side) -> DataPoint {
    let y = (side.of)(step);
    let number = y.map_or_else(|| "none".to_owned(), |y| side.quantity.shown(y));
    let doubt = points::doubt(cell);
    let activities = units::count(step.activities);
    let note = format!(
        "{} at size {}: {} {number}{doubt}; {activities} activities{}",
        points::short(&point::name(cell)),
        step.size,
        side.title,
        points::against(cell)
    );
    DataPoint {
        x: step.size as f64,
        y,
        spread: None,
        state: if y.is_some() { points::state(cell) } else { State::Missing },
        note,
        runs: Vec::new(),
    }
}

fn table(sorted: &CellsByKernel<'_>, lines: &[Grown<'_>]) -> Table {
    let heading = ["line", "size", "activities", "threads", "would spawn", "attempts for a success", "time"];
    let row = |own: &SourcedCell<'_>, step: &GrowthStep| {
        let doubt = points::doubt(own.cell);
        let count = |number: u64| Datum::number(units::count(number), number as f64);
        let nanos = step.time_ns as f64;
        let data = vec![
            Datum::word(sorted.named(&name(own.cell), own.source)),
            count(step.size),
            count(step.activities),
            count(step.threads),
            count(step.would_spawn),
            Datum::known(attempts(step), |ratio| format!("{}{doubt}", units::count_of(ratio))),
            Datum::number(format!("{}{doubt}", units::nanos(nanos)), nanos),
        ];
        Row::new(data, points::state(own.cell))
    };
    let rows = lines.iter().flat_map(|(own, growth)| steps(growth).map(move |step| row(own, step)));
    let table = Table::new(&heading, rows.take(super::table::MOST));
    let all: usize = lines.iter().map(|(_, growth)| growth.steps.len()).sum();
    Table { left_out: all - table.rows.len(), ..table }
}
