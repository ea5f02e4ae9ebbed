//! The mappers that are one line each: by id, by containment, and none at all.

use super::Order;
use crate::Machine;

pub(super) fn dumb(usable: &[u32]) -> Order {
    Order::Strands(usable.to_vec())
}

pub(super) fn compact(machine: &Machine) -> Order {
    let mut strands: Vec<_> = machine.usable_strands().collect();
    // The sort is stable: strands without a core stay in logical order.
    strands.sort_by_key(|strand| (strand.package, strand.numa, strand.core, strand.alu, strand.slot));
    Order::Strands(strands.iter().map(|strand| strand.os_id).collect())
}

pub(super) fn auto(_: &[u32]) -> Order {
    Order::Floating
}
