//! Bars for kernels that have one number, or few: a row for each kernel and point.

use std::collections::BTreeSet;

use super::cells::{CellsByKernel, Shape, SourcedCell};
use super::lines::{self, Rows, own_number};
use super::{points, table};
use crate::figure::{Axis, Body, Figure, Quantity, Scale, Table};
use charz_data::Family;
use charz_estimate::grouped;
use charz_words::point;

/// The most rows of one figure: as many as a page of paper has room for.
const MOST_ROWS: usize = 40;

/// A figure for each family and unit that has several configurations; of programs, whose operations are not alike, for each meaning; of programs that grow, for each size
/// that they reached: numbers of another size are of other work.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    groups(sorted).iter().filter(|cells| cells.len() > 1).flat_map(|cells| of_group(sorted, cells)).collect()
}

/// The numbers that are alone in their unit: a chart of one bar shows nothing.
pub(super) fn table(sorted: &CellsByKernel<'_>) -> Option<Table> {
    let lone = groups(sorted).into_iter().filter(|cells| cells.len() == 1).collect::<Vec<_>>().concat();
    (!lone.is_empty()).then(|| table::with_kernels(sorted.sources, &lone))
}

fn groups<'a>(sorted: &CellsByKernel<'a>) -> Vec<Vec<SourcedCell<'a>>> {
    let cells = sorted.shaped(Shape::Single).flat_map(|kernel| kernel.cells.iter().copied());
    grouped(cells, |own| {
        let card = sorted.sources[own.source].report.card(&own.cell.kernel);
        let metric = card.filter(|card| card.family == Family::Workload).map(|card| card.metric.clone());
        (card.map_or("other", |card| card.family.name()), own.cell.unit, metric, own.cell.last_size())
    })
}

/// What the kernels of a figure are called: a few by their names.
fn title(family: &str, cells: &[SourcedCell<'_>]) -> String {
    const FEW: usize = 3;
    let mut names: Vec<&str> = cells.iter().map(|own| own.cell.kernel.as_str()).collect();
    names.dedup();
    if names.len() > FEW { format!("{family} kernels") } else { names.join(", ") }
}

fn of_group(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> Vec<Figure> {
    let SourcedCell { source, cell } = cells[0];
    let card = sorted.sources[source].report.card(&cell.kernel);
    let (family, unit) = (card.map_or("other", |card| card.family.name()), cell.unit);
    let size = cell.last_size().map(|size| format!(", size {size}")).unwrap_or_default();
    let (slug, what) = points::what(sorted, cells);
    let row = |own: SourcedCell<'_>| format!("{}{}", own.cell.kernel, point::label(&own.cell.point));
    let rows = grouped(cells.iter().copied(), |own| row(*own));
    let count = rows.len().div_ceil(MOST_ROWS);
    let part = |(at, rows): (usize, &[Vec<SourcedCell<'_>>])| {
        let cells = rows.concat();
        let workers = cells.iter().map(|own| own.cell.workers).collect::<BTreeSet<_>>().len() > 1;
        let of = if count == 1 { String::new() } else { format!(", part {} of {count}", at + 1) };
        let rows = Rows {
            id: format!("{family}-{slug}-{}{size}", at + 1),
            title: format!("{}: {what}{size}{of}", title(family, &cells)),
            y: Axis::new(what.as_str(), Quantity::Value(unit), Scale::Linear),
            cells: &cells,
            row: &row,
            name: &|own| match workers {
                true => format!("{} x{}", own.cell.mapping, own.cell.workers),
                false => own.cell.mapping.clone(),
            },
            point: &own_number,
        };
        lines::figures(sorted, rows.draw(sorted), Vec::new(), Body::Dots)
    };
    rows.chunks(MOST_ROWS).enumerate().flat_map(part).collect()
}
