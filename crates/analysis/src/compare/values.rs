//! What of a cell is compared: its number, and the values of its invocations.

use super::terms::Quantity;
use charz_data::report::{Cell, Ending};
use charz_stats::median;

/// The number of a cell that is compared.
pub(super) fn value(cell: &Cell, quantity: Quantity) -> Option<f64> {
    match quantity {
        Quantity::Capacity => cell.capacity.map(|capacity| capacity.value),
        // Of the runs that are compared: all work over all time may lie on the other side of the base's.
        // What is invalid delivered nothing that counts.
        Quantity::Delivered => cell.delivered.and_then(|_| median(values(cell, quantity))),
    }
}

/// One of each invocation that has one.
pub(super) fn values(cell: &Cell, quantity: Quantity) -> Vec<f64> {
    match quantity {
        Quantity::Capacity => cell.invocations.iter().filter_map(|invocation| invocation.value).collect(),
        Quantity::Delivered => {
            let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done);
            done.filter_map(|invocation| invocation.delivered(cell.unit)).collect()
        }
    }
}

/// [`values`], as what is done in a time.
pub(super) fn rates(cell: &Cell, quantity: Quantity) -> Vec<f64> {
    let values = values(cell, quantity).into_iter();
    if cell.unit.more_is_better() { values.collect() } else { values.map(f64::recip).collect() }
}
