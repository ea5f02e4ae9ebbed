//! Where a cell is in its report: what the cell of the other report is found by.

use std::collections::HashSet;

use charz_data::params;
use charz_data::report::{Cell, Point, Report};

/// Kernel, mapping, number of workers and parameters. Workers that share strands are compared only with as many that do.
pub(super) type Place<'a> = (&'a str, &'a str, u64, Point);

pub(super) fn place(cell: &Cell) -> Place<'_> {
    (&cell.kernel, &cell.mapping, cell.workers, cell.point)
}

pub(super) fn places(report: &Report) -> HashSet<Place<'_>> {
    report.cells.iter().map(place).collect()
}

/// With the size that the plan has for it: one sweep varies what another has one value of.
pub(super) fn sized<'a>(cell: &'a Cell, report: &Report) -> Place<'a> {
    let (kernel, mapping, workers, point) = place(cell);
    let size = obeys_size(cell, report).then_some(report.plan.params.size_bytes);
    (kernel, mapping, workers, Point { size_bytes: point.size_bytes.or(size), ..point })
}

pub(super) fn obeys_size(cell: &Cell, report: &Report) -> bool {
    report.card(&cell.kernel).is_some_and(|card| card.obeys(&params::SIZE))
}
