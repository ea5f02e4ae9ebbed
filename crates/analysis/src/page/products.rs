//! What products of matrices take against the levels of their recursion, and beside a library.

use super::cells::{CellsByKernel, SourcedCell};
use super::points;
use crate::figure::{
    Axis, Body, DataPoint, Datum, Figure, Plot, Quantity, Role as LineRole, Row, Scale, Series, Table, id,
};
use crate::findings::millis;
use crate::group::grouped;
use charz_data::Role;
use charz_data::params::{DEPTH, Params};
use charz_data::report::{Cell, GrowthStep};
use charz_data::units;

const MOST_LINES: usize = 12;

/// A figure and a table for each order.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let kernels = sorted.kernels.iter().filter(|kernel| matches!(kernel.role(), Role::Product(_)));
    let cells = kernels.flat_map(|kernel| kernel.cells.iter().copied()).filter(|own| nanos(sorted, own).is_some());
    grouped(cells, |own| params(sorted, own).order).iter().flat_map(|cells| of_order(sorted, cells)).collect()
}

fn of_order(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> Vec<Figure> {
    let order = params(sorted, &cells[0]).order;
    let lines = grouped(cells.iter().copied(), |own| (own.source, name(own.cell)));
    let draw = |(part, lines): (usize, &[Vec<SourcedCell<'_>>])| {
        let series = lines.iter().map(|line| Series {
            name: sorted.named(&name(line[0].cell), line[0].source),
            role: LineRole::Measured,
            source: line[0].source,
            points: line.iter().map(|own| point(sorted, own)).collect(),
        });
        let x = Axis::new("levels of the recursion", Quantity::Count, Scale::Linear);
        let y = Axis::new("time of a product", Quantity::Nanos, Scale::Log10);
        let named = if part == 0 { String::new() } else { format!(" ({})", part + 1) };
        Figure {
            id: id(&format!("products-{order}{named}")),
            title: format!("Order {order}: time of a product against levels{named}"),
            about: Vec::new(),
            body: Body::Lines(Plot::new(x, y, series.collect())),
            table: Some(table(sorted, &lines.concat())),
        }
    };
    lines.chunks(MOST_LINES).enumerate().map(draw).collect()
}

fn params(sorted: &CellsByKernel<'_>, own: &SourcedCell<'_>) -> Params {
    own.cell.point.params(&sorted.sources[own.source].report.plan.params)
}

fn nanos(sorted: &CellsByKernel<'_>, own: &SourcedCell<'_>) -> Option<f64> {
    millis(own.cell, &sorted.sources[own.source].report.plan.params).map(|millis| millis * 1e6)
}

/// The levels of a recursion; none of a library.
fn depth(sorted: &CellsByKernel<'_>, own: &SourcedCell<'_>) -> Option<u64> {
    let card = sorted.sources[own.source].report.card(&own.cell.kernel)?;
    card.obeys(&DEPTH).then(|| params(sorted, own).depth)
}

fn name(cell: &Cell) -> String {
    format!("{} {} x{}", cell.kernel, cell.mapping, cell.workers)
}

/// A library has no levels: it is drawn where a recursion has none.
fn point(sorted: &CellsByKernel<'_>, own: &SourcedCell<'_>) -> DataPoint {
    let (cell, nanos) = (own.cell, nanos(sorted, own));
    let time = nanos.map_or_else(String::new, units::nanos);
    let note = format!("{}, {time}{}", points::note(cell), points::doubt(cell));
    DataPoint {
        x: depth(sorted, own).unwrap_or(0) as f64,
        y: nanos,
        spread: None,
        state: points::state(cell),
        note,
        runs: Vec::new(),
    }
}

fn table(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> Table {
    let heading = ["line", "levels", "activities", "threads", "created", "done inline", "retries", "sleeps", "time"];
    let row = |own: &SourcedCell<'_>| {
        let (cell, step) = (own.cell, last_step(own.cell));
        let count = |of: fn(&GrowthStep) -> u64| {
            Datum::known(step.map(|step| of(step) as f64), |number| units::count(number as u64))
        };
        let data = vec![
            Datum::word(sorted.named(&name(cell), own.source)),
            depth(sorted, own).map_or_else(Datum::none, Datum::count),
            count(|step| step.activities),
            count(|step| step.threads),
            count(|step| step.created),
            count(|step| step.inlined),
            count(|step| step.failures),
            count(|step| step.parks),
            Datum::known(nanos(sorted, own), |nanos| format!("{}{}", units::nanos(nanos), points::doubt(cell))),
        ];
        Row::new(data, points::state(cell))
    };
    let table = Table::new(&heading, cells.iter().take(super::table::MOST).map(row));
    Table { left_out: cells.len() - table.rows.len(), ..table }
}

/// The counts of the last repetition that has any.
fn last_step(cell: &Cell) -> Option<&GrowthStep> {
    let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    runs.filter_map(|run| run.growth.as_deref()?.steps.last()).next_back()
}
