//! Bars for kernels that have one number, or few: a row for each kernel and point.

use charz_estimate::grouped;
use std::collections::{BTreeSet, HashMap};

use super::cells::{CellsByKernel, Shape, SourcedCell};
use super::lines::{self, Lines};
use crate::figure::{Axis, Body, Figure, Quantity, Scale};
use charz_data::Family;
use charz_data::report::{Cell, Unit};
use charz_words::point;

/// The most rows of one figure: as many as a page of paper has room for.
const MOST_ROWS: usize = 40;
/// From this ratio on numbers are spread by ratios.
const WIDE: f64 = 20.0;

/// A figure for each family and unit; of programs, whose operations are not alike, for each meaning.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let cells = sorted.shaped(Shape::Single).flat_map(|kernel| kernel.cells.iter().copied());
    let groups = grouped(cells, |own| {
        let card = sorted.sources[own.source].report.card(&own.cell.kernel);
        let metric = card.filter(|card| card.family == Family::Workload).map(|card| card.metric.clone());
        (family(sorted, *own), own.cell.unit, metric)
    });
    groups.iter().flat_map(|cells| of_group(sorted, cells)).collect()
}

fn family(sorted: &CellsByKernel<'_>, own: SourcedCell<'_>) -> &'static str {
    let card = sorted.sources[own.source].report.card(&own.cell.kernel);
    card.map_or("other", |card| card.family.name())
}

/// What the kernels of a figure are called: a few by their names.
fn title(family: &str, cells: &[SourcedCell<'_>]) -> String {
    const FEW: usize = 3;
    let mut names: Vec<&str> = cells.iter().map(|own| own.cell.kernel.as_str()).collect();
    names.dedup();
    if names.len() > FEW { format!("{family} kernels") } else { names.join(", ") }
}

fn of_group(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> Vec<Figure> {
    let (family, unit) = (family(sorted, cells[0]), cells[0].cell.unit);
    let (slug, what) = what(unit);
    let named = |own: &SourcedCell<'_>| (own.cell.kernel.clone(), own.cell.point);
    let all_rows = grouped(cells.iter().copied(), named);
    let parts: Vec<&[Vec<SourcedCell<'_>>]> = all_rows.chunks(MOST_ROWS).collect();
    let part = |(at, own_rows): (usize, &&[Vec<SourcedCell<'_>>])| {
        let cells: Vec<SourcedCell<'_>> = own_rows.iter().flatten().copied().collect();
        let rows: HashMap<_, usize> = own_rows.iter().enumerate().map(|(row, own)| (named(&own[0]), row)).collect();
        let names = own_rows.iter().map(|own| format!("{}{}", own[0].cell.kernel, point::label(&own[0].cell.point)));
        let names = names.collect();
        let name = namer(&cells);
        let lines = Lines {
            id: format!("{family}-{slug}-{}", at + 1),
            title: match parts.len() {
                1 => format!("{}: {what}", title(family, &cells)),
                count => format!("{}: {what}, part {} of {count}", title(family, &cells), at + 1),
            },
            x: Axis::new("kernel", Quantity::Names(names), Scale::Linear),
            y: Axis::new(what, Quantity::Value(unit), Scale::Linear),
            cells: &cells,
            name: &|own| name(own.cell),
            place: &|own| rows.get(&named(&own)).map(|row| *row as f64),
            along: None,
        };
        let mut drawn = lines.draw(sorted);
        for plot in drawn.iter_mut().map(|part| &mut part.plot) {
            if plot.y_range().is_some_and(|[low, high]| low > 0.0 && high > WIDE * low) {
                plot.y.scale = Scale::Log10;
            }
        }
        lines::figures(sorted, drawn, Vec::new(), Body::Dots)
    };
    parts.iter().enumerate().flat_map(part).collect()
}

/// What the numbers are, as a part of an id and in words.
fn what(unit: Unit) -> (&'static str, &'static str) {
    match unit {
        Unit::OpsPerSecond => ("ops", "throughput"),
        Unit::BytesPerSecond => ("bytes", "throughput"),
        Unit::Nanoseconds => ("time", "time of a run"),
        Unit::NanosecondsPerOp => ("time-per-op", "time from one operation to the next, over all threads"),
        Unit::NanosecondsPerStep => ("time-per-step", "time of an operation"),
        Unit::MillisecondsPerGib => ("time-per-gib", "time of a GiB"),
        Unit::NanosecondsSampled => ("sampled", "median of the second time"),
        Unit::Reported(unit) => ("reported", unit.symbol.as_str()),
    }
}

fn namer(cells: &[SourcedCell<'_>]) -> impl Fn(&Cell) -> String {
    let workers = cells.iter().map(|own| own.cell.workers).collect::<BTreeSet<_>>().len() > 1;
    move |cell| {
        if workers { format!("{} x{}", cell.mapping, cell.workers) } else { cell.mapping.clone() }
    }
}
