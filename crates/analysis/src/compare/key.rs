//! What makes two cells the same cell.

use charz_data::report::{Cell, Point};

/// Cells are the same where all of these are. Workers that share strands are compared only with as many that do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key<'a> {
    kernel: &'a str,
    mapping: &'a str,
    workers: u64,
    point: Point,
}

impl<'a> Key<'a> {
    pub(super) fn of(cell: &'a Cell) -> Self {
        Key { kernel: &cell.kernel, mapping: &cell.mapping, workers: cell.workers, point: cell.point }
    }
}
