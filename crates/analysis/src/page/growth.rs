//! How programs grew from size to size that have threads do their activities.

use super::cells::{CellsByKernel, SourcedCell};
use super::lines::MOST_LINES;
use super::points;
use crate::figure::{Axis, Body, DataPoint, Datum, Figure, Plot, Quantity, Role, Row, Scale, Series, State, Table, id};
use charz_data::Role as CardRole;
use charz_data::escape::counted;
use charz_data::report::{Cell, Growth, GrowthStep, Halt};
use charz_data::units;
use charz_estimate::grouped;
use charz_words::point;

const MOST_STEPS: usize = 400;

struct Side {
    name: &'static str,
    title: &'static str,
    of: fn(&GrowthStep) -> Option<f64>,
    quantity: Quantity,
}

const SIDES: [Side; 2] = [
    Side {
        name: "growth-time",
        title: "time",
        of: |step| (step.time_ns > 0).then_some(step.time_ns as f64),
        quantity: Quantity::Nanos,
    },
    Side { name: "growth-retries", title: "retries", of: retries, quantity: Quantity::Count },
];

/// Attempts to use the pool that failed since another thread came first; none where none did, which a logarithm has no place for.
fn retries(step: &GrowthStep) -> Option<f64> {
    (step.failures > 0).then_some(step.failures as f64)
}

/// A cell with the growth of the repetition that came furthest.
type Grown<'a> = (SourcedCell<'a>, &'a Growth);

pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    // A product has one size in each cell, and a section of its own.
    let kernels = sorted.kernels.iter().filter(|kernel| !matches!(kernel.role(), CardRole::Product(_)));
    let cells = kernels.flat_map(|kernel| kernel.cells.iter().copied()).filter(|own| own.cell.value().is_some());
    let grown = cells.filter_map(|own| Some((own, furthest(own.cell)?)));
    for kernel in grouped(grown, |(own, _)| own.cell.kernel.as_str()) {
        for (part, lines) in kernel.chunks(MOST_LINES).enumerate() {
            let drawn =
                |side: &&Side| lines.iter().any(|(_, growth)| steps(growth).any(|step| (side.of)(step).is_some()));
            figures.extend(SIDES.iter().filter(drawn).map(|side| figure(sorted, side, lines, part)));
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
    let why = lines
        .iter()
        .map(|(own, growth)| sorted.prefixed(&format!("{}: {}", name(own.cell), stopped(growth)), own.source));
    let x = Axis::new("size", Quantity::Count, Scale::Linear);
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

/// At which size a program stopped, and why.
fn stopped(growth: &Growth) -> String {
    let counts = |step: &GrowthStep| {
        let (time, threads) = (units::nanos(step.time_ns as f64), counted(step.threads as usize, "thread"));
        format!("{time}, {threads}, {} retries", units::count(step.failures))
    };
    let last =
        growth.steps.last().map_or_else(String::new, |last| format!("stopped at size {}: {}", last.size, counts(last)));
    let why = match (&growth.unfinished, growth.stopped_by) {
        (Some(step), _) => format!("; size {} was broken off after {}", step.size, counts(step)),
        (None, Halt::Time) => "; the next size would have exceeded its time".to_owned(),
        (None, Halt::Sizes) => "; there is no larger size".to_owned(),
    };
    let inlined: u64 = growth.steps.iter().map(|step| step.inlined).sum();
    let limit = match inlined {
        0 => String::new(),
        _ => format!(
            "; {} activities were done by their parents, since there may be {} threads ({})",
            units::count(inlined),
            growth.most_threads,
            points::short(&growth.limited_by)
        ),
    };
    format!("{last}{why}{limit}")
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
    let state = if y.is_some() { points::state(cell) } else { State::Missing };
    DataPoint::new(step.size as f64, y, state, note)
}

fn table(sorted: &CellsByKernel<'_>, lines: &[Grown<'_>]) -> Table {
    let heading = [
        "line",
        "size",
        "activities",
        "threads",
        "created",
        "done inline",
        "retries",
        "sleeps",
        "wakes",
        "plain calls",
        "time",
    ];
    let row = |own: &SourcedCell<'_>, step: &GrowthStep| {
        let doubt = points::doubt(own.cell);
        let count = |number: u64| Datum::number(units::count(number), number as f64);
        let nanos = step.time_ns as f64;
        let data = vec![
            Datum::word(sorted.named(&name(own.cell), own.source)),
            count(step.size),
            count(step.activities),
            count(step.threads),
            count(step.created),
            count(step.inlined),
            count(step.failures),
            count(step.parks),
            count(step.wakes),
            Datum::known(step.sequential_ns.map(|nanos| nanos as f64), units::nanos),
            Datum::number(format!("{}{doubt}", units::nanos(nanos)), nanos),
        ];
        Row::new(data, points::state(own.cell))
    };
    let rows = lines.iter().flat_map(|(own, growth)| steps(growth).map(move |step| row(own, step)));
    let all: usize = lines.iter().map(|(_, growth)| growth.steps.len()).sum();
    let table = Table::new(&heading, rows.take(super::table::MOST));
    Table { left_out: all - table.rows.len(), ..table }
}
