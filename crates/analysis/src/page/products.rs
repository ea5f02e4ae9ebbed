//! What products of matrices take against the levels of their recursion, and beside a library.

use charz_estimate::{Estimate, grouped};
use std::collections::BTreeSet;

use super::cells::{CellsByKernel, Shape, SourcedCell};
use super::lines::{self, Lines, MOST_LINES};
use super::{points, table};
use crate::figure::{
    Axis, Body, DataPoint, Datum, Figure, Plot, Quantity, Role as LineRole, Row, Scale, Series, State, Table, id,
};
use charz_claims::findings::millis;
use charz_data::params::{DEPTH, Params};
use charz_data::report::{Cell, GrowthStep};
use charz_data::units;
use charz_data::{Arrange, Role};

/// The best times by order where there are several, then a figure for each program and order, a line for each mapping and number of
/// threads.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let programs = sorted.shaped(Shape::Products).flat_map(|kernel| kernel.cells.iter().copied());
    let programs = grouped(programs, |own| (own.cell.kernel.as_str(), params(sorted, own).order));
    let each = programs.iter().flat_map(|cells| of_program(sorted, cells));
    by_levels(sorted, &lines(sorted)).into_iter().chain(each).collect()
}

/// The cells that have a time, by their programs, mappings and numbers of threads.
fn lines<'a>(sorted: &CellsByKernel<'a>) -> Vec<Vec<SourcedCell<'a>>> {
    let kernels = sorted.kernels.iter().filter(|kernel| matches!(kernel.role(), Role::Product(_)));
    let cells = kernels.flat_map(|kernel| kernel.cells.iter().copied());
    grouped(cells.filter(|own| nanos(sorted, own).is_some()), |own| (own.source, name(own.cell)))
}

/// One line and order: its cells, and the best of them.
struct Best<'a> {
    cells: Vec<SourcedCell<'a>>,
    order: u64,
    best: SourcedCell<'a>,
}

fn bests<'a>(sorted: &CellsByKernel<'_>, line: &[SourcedCell<'a>]) -> Vec<Best<'a>> {
    let mut orders = grouped(line.iter().copied(), |own| params(sorted, own).order);
    orders.arrange_by_key(|cells| params(sorted, &cells[0]).order);
    let best = |cells: Vec<SourcedCell<'a>>| {
        let numbers: Vec<Estimate<'_>> = cells.iter().filter_map(|own| Estimate::of(own.cell)).collect();
        let found = charz_estimate::Best::of(&numbers)?.number;
        let best = *cells.iter().find(|own| std::ptr::eq(own.cell, found.cell))?;
        Some(Best { order: params(sorted, &best).order, best, cells })
    };
    orders.into_iter().filter_map(best).collect()
}

/// The best time against the order.
fn by_levels(sorted: &CellsByKernel<'_>, lines: &[Vec<SourcedCell<'_>>]) -> Vec<Figure> {
    let orders: BTreeSet<u64> = lines.iter().flatten().map(|own| params(sorted, own).order).collect();
    let draw = |(part, lines): (usize, &[Vec<SourcedCell<'_>>])| {
        let series = lines.iter().map(|line| Series {
            name: sorted.named(&name(line[0].cell), line[0].source),
            role: LineRole::Measured,
            source: line[0].source,
            points: bests(sorted, line).iter().map(|best| point(sorted, &best.best, best.order as f64)).collect(),
        });
        let x = Axis::new("order", Quantity::Count, Scale::Log2);
        let y = Axis::new("time of a product", Quantity::Nanos, Scale::Log10);
        let named = if part == 0 { String::new() } else { format!(" ({})", part + 1) };
        Figure {
            id: id(&format!("products{named}")),
            title: format!("Time of a product against order, at the fastest number of levels{named}"),
            about: Vec::new(),
            body: Body::Lines(Plot::new(x, y, series.collect())),
            table: None,
        }
    };
    // Of one order the table has as much.
    if orders.len() > 1 { lines.chunks(MOST_LINES).enumerate().map(draw).collect() } else { Vec::new() }
}

/// The times of all programs; `None` without any.
pub(super) fn times(sorted: &CellsByKernel<'_>) -> Option<Table> {
    let lines = lines(sorted);
    (!lines.is_empty()).then(|| timed(sorted, &lines))
}

/// A row for each line and order, a column for each number of levels.
fn timed(sorted: &CellsByKernel<'_>, lines: &[Vec<SourcedCell<'_>>]) -> Table {
    let rows: Vec<Best<'_>> = lines.iter().flat_map(|line| bests(sorted, line)).collect();
    let cells = || rows.iter().flat_map(|row| &row.cells);
    let levels: BTreeSet<u64> = cells().filter_map(|own| depth(sorted, own)).collect();
    let time = |own: &SourcedCell<'_>| {
        Datum::known(nanos(sorted, own), |nanos| format!("{}{}", units::nanos(nanos), points::doubt(own.cell)))
    };
    let ratio = |one: &SourcedCell<'_>, other: &SourcedCell<'_>, shown: fn(f64) -> String| {
        let ratio = nanos(sorted, one).zip(nanos(sorted, other)).map(|(one, other)| one / other);
        let doubt = units::doubt([one, other].iter().any(|own| points::state(own.cell) == State::Suspect));
        Datum::known(ratio, |ratio| format!("{}{doubt}", shown(ratio)))
    };
    let row = |row: &Best<'_>| {
        let Best { cells, order, best } = row;
        let at = |levels: u64| cells.iter().find(|own| depth(sorted, own) == Some(levels));
        let deepest = cells.iter().filter(|own| depth(sorted, own).is_some()).max_by_key(|own| depth(sorted, own));
        let library = rows.iter().find(|other| {
            let (own, other_cell) = (best.cell, other.best.cell);
            depth(sorted, &other.best).is_none()
                && (other.best.source, other.order, &other_cell.mapping, other_cell.workers)
                    == (best.source, *order, &own.mapping, own.workers)
        });
        let mut data = vec![Datum::word(sorted.named(&name(best.cell), best.source)), Datum::count(*order)];
        data.extend(levels.iter().map(|levels| at(*levels).map_or_else(Datum::none, time)));
        data.push(depth(sorted, best).map_or_else(Datum::none, Datum::count));
        data.push(time(best));
        data.push(deepest.map_or_else(Datum::none, |deepest| ratio(deepest, best, units::count_of)));
        data.push(library.map_or_else(Datum::none, |library| ratio(&library.best, best, units::percent)));
        Row::new(data, points::state(best.cell))
    };
    let levels: Vec<String> = levels.iter().map(|levels| format!("k={levels}")).collect();
    let last = ["best k", "time", "deepest / best", "of library"];
    let heading: Vec<&str> = ["line", "N"].into_iter().chain(levels.iter().map(String::as_str)).chain(last).collect();
    Table::new(&heading, rows.iter().map(row)).at_most(table::MOST)
}

fn of_program(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> Vec<Figure> {
    let (kernel, order) = (&cells[0].cell.kernel, params(sorted, &cells[0]).order);
    let lines = Lines {
        id: format!("products-{kernel}-{order}"),
        title: format!("{kernel} order {order}: time of a product vs levels"),
        x: Axis::new("levels of the recursion", Quantity::Count, Scale::Linear),
        y: Axis::new("time of a product", Quantity::Nanos, Scale::Log10),
        cells,
        name: &|own| format!("{} x{}", own.cell.mapping, own.cell.workers),
        place: &|own| depth(sorted, &own).map(|levels| levels as f64),
        along: None,
        point: &|own, levels| point(sorted, &own, levels),
        most: MOST_LINES,
    };
    let mut figures = lines::figures(sorted, lines.draw(sorted), Vec::new(), Body::Lines);
    if let [only] = figures.as_mut_slice() {
        only.table = Some(table(sorted, cells));
    }
    figures
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

fn point(sorted: &CellsByKernel<'_>, own: &SourcedCell<'_>, x: f64) -> DataPoint {
    let (cell, nanos) = (own.cell, nanos(sorted, own));
    let time = nanos.map_or_else(String::new, units::nanos);
    let note = format!("{}, {time}{}", points::note(cell), points::doubt(cell));
    DataPoint::new(x, nanos, points::state(cell), note)
}

/// Every point, with its time and what its recursion did.
fn table(sorted: &CellsByKernel<'_>, cells: &[SourcedCell<'_>]) -> Table {
    type Count = (&'static str, fn(&GrowthStep) -> u64);
    const COUNTS: [Count; 7] = [
        ("activities", |step| step.activities),
        ("started", |step| step.threads),
        ("created", |step| step.created),
        ("done inline", |step| step.inlined),
        ("retries", |step| step.failures),
        ("sleeps", |step| step.parks),
        ("wakes", |step| step.wakes),
    ];
    let mut table = table::table(sorted.sources, cells);
    table.heading.extend(["time"].into_iter().chain(COUNTS.map(|(name, _)| name)).map(str::to_owned));
    for (row, own) in table.rows.iter_mut().zip(&table::ordered(cells)) {
        let time = |nanos| format!("{}{}", units::nanos(nanos), points::doubt(own.cell));
        row.data.push(Datum::known(nanos(sorted, own), time));
        let step = last_step(own.cell);
        let count = |of: fn(&GrowthStep) -> u64| {
            Datum::known(step.map(|step| of(step) as f64), |number| units::count(number as u64))
        };
        row.data.extend(COUNTS.map(|(_, of)| count(of)));
    }
    table
}

/// The counts of the last repetition that has any.
fn last_step(cell: &Cell) -> Option<&GrowthStep> {
    let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    runs.filter_map(|run| run.growth.as_deref()?.steps.last()).next_back()
}
