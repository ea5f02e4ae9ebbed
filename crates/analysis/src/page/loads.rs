//! Latency against what the others move meanwhile.

use std::collections::HashMap;

use super::Drawing;
use super::cells::{CellsByKernel, Shape, SourcedCell};
use super::lines::{Along, Drawn, Lines};
use super::points;
use crate::figure::{Axis, Body, Figure, Label, Quantity, Scale, State};
use crate::findings::{bandwidth, knee_delay};
use crate::group::grouped;
use crate::point;
use charz_data::report::{Cell, Point, Unit};
use charz_data::units;

pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Drawing {
    let mut figures = Vec::new();
    for kernel in sorted.shaped(Shape::Loads) {
        figures.extend(kernel.by_unit().iter().flat_map(|cells| of_kernel(sorted, kernel.name, cells)));
    }
    figures.into()
}

fn of_kernel(sorted: &CellsByKernel<'_>, kernel: &str, cells: &[SourcedCell<'_>]) -> Vec<Figure> {
    let unit = cells[0].cell.unit;
    let lines = Lines {
        id: format!("loaded-{kernel}"),
        title: format!("{kernel}: latency against the bandwidth that the others get"),
        x: Axis {
            label: "bandwidth of all others".into(),
            quantity: Quantity::Value(Unit::BytesPerSecond),
            scale: Scale::Linear,
        },
        y: Axis { label: "latency".into(), quantity: Quantity::Value(unit), scale: Scale::Log10 },
        cells,
        name: &|own| name(own.cell),
        place: &|own| bandwidth(own.cell),
        // The longest delay is the least load. Where the memory is full, less delay moves no more, and the line turns up or back.
        along: Along::Other(&|own| u64::MAX - own.cell.point.delay.unwrap_or(0)),
    };
    let mut drawn = lines.draw(sorted);
    let by_line = grouped(cells.iter().copied(), |own| (own.source, name(own.cell)));
    let by_line: HashMap<_, _> = by_line.iter().map(|line| ((line[0].source, name(line[0].cell)), line)).collect();
    for Drawn { figure, firsts } in &mut drawn {
        let Body::Lines(plot) = &mut figure.body else { continue };
        for (series, first) in firsts.iter().enumerate() {
            let line = by_line.get(&(first.source, name(first.cell)));
            plot.flags.extend(line.and_then(|line| knee(line)).map(|(x, label)| Label { series, x, label }));
        }
    }
    if let Some(first) = drawn.first_mut() {
        first.figure.about.extend(sorted.latencies(kernel));
        first.figure.about.extend(nowhere(cells));
    }
    drawn.into_iter().map(|drawn| drawn.figure).collect()
}

fn name(cell: &Cell) -> String {
    format!("{} x{}{}", cell.mapping, cell.workers, point::label(&place(cell)))
}

/// What the cells of a line have in common.
fn place(cell: &Cell) -> Point {
    Point { delay: None, ..cell.point }
}

/// Where a load takes twice as long as idle from there on, and what is said of it.
fn knee(line: &[SourcedCell<'_>]) -> Option<(f64, String)> {
    let cells: Vec<&Cell> = line.iter().map(|own| own.cell).collect();
    let delay = knee_delay(&cells)?;
    let cell = cells.into_iter().find(|cell| cell.point.delay == Some(delay) && cell.value().is_some())?;
    let doubt = units::doubt(points::state(cell) == State::Suspect);
    Some((bandwidth(cell)?, format!("knee{doubt}")))
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
