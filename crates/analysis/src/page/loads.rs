//! Latency against what the others move meanwhile.

use super::cells::{CellsByKernel, Shape, SourcedCell};
use super::lines::{self, Lines, MOST_LINES, own_number};
use super::points;
use crate::figure::{Axis, Body, Figure, Label, Quantity, Scale};
use charz_claims::findings::{bandwidth, knee_delay};
use charz_data::report::{Cell, Point, Unit};
use charz_words::point;

pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for kernel in sorted.shaped(Shape::Loads) {
        figures.extend(kernel.by_unit().iter().flat_map(|cells| of_kernel(sorted, kernel.name, cells)));
    }
    figures
}

fn of_kernel(sorted: &CellsByKernel<'_>, kernel: &str, cells: &[SourcedCell<'_>]) -> Vec<Figure> {
    let unit = cells[0].cell.unit;
    let lines = Lines {
        id: format!("loaded-{kernel}"),
        title: format!("{kernel}: latency against the bandwidth that the others get"),
        x: Axis::new("bandwidth of all others", Quantity::Value(Unit::BytesPerSecond), Scale::Linear),
        y: Axis::new("latency", Quantity::Value(unit), Scale::Log10),
        cells,
        name: &|own| name(own.cell),
        place: &|own| bandwidth(own.cell),
        // The longest delay is the least load. Where the memory is full, less delay moves no more, and the line turns up or back.
        along: Some(&|own| u64::MAX - own.cell.point.delay.unwrap_or(0)),
        point: &own_number,
        most: MOST_LINES,
    };
    let mut drawn = lines.draw(sorted);
    for part in &mut drawn {
        let knees = part.lines.iter().enumerate().filter_map(|(series, line)| Some((series, knee(line)?)));
        part.plot.flags.extend(knees.map(|(series, (x, label))| Label { series, x, label }));
    }
    let about = sorted.latencies(kernel).into_iter().chain(nowhere(cells)).collect();
    lines::figures(sorted, drawn, about, Body::Lines)
}

fn name(cell: &Cell) -> String {
    // What the cells of a line have in common.
    let place = Point { delay: None, ..cell.point };
    format!("{} x{}{}", cell.mapping, cell.workers, point::label(&place))
}

/// Where a load takes twice as long as idle from there on, and what is said of it.
fn knee(line: &[SourcedCell<'_>]) -> Option<(f64, String)> {
    let cells: Vec<&Cell> = line.iter().map(|own| own.cell).collect();
    let delay = knee_delay(&cells)?;
    let cell = cells.into_iter().find(|cell| cell.point.delay == Some(delay) && cell.value().is_some())?;
    Some((bandwidth(cell)?, format!("knee{}", points::doubt(cell))))
}

/// Cells of which it is not known what the others moved have no place on the axis.
fn nowhere(cells: &[SourcedCell<'_>]) -> Option<String> {
    let lost: Vec<&SourcedCell<'_>> = cells.iter().filter(|own| bandwidth(own.cell).is_none()).collect();
    let first = lost.first()?;
    Some(match lost.len() {
        1 => format!("not drawn, since nothing was moved: {}", points::note(first.cell)),
        count => format!(
            "{count} points are not drawn, since nothing was moved, the first of them {}",
            points::note(first.cell)
        ),
    })
}
