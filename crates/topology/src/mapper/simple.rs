//! The mappers that are one line each: by id, by containment, and none at all.

use super::Order;
use crate::Machine;

pub(super) fn dumb(machine: &Machine) -> Order {
    let mut ids: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
    ids.sort_unstable();
    Order::Strands(ids)
}

pub(super) fn compact(machine: &Machine) -> Order {
    let mut strands: Vec<_> = machine.usable_strands().collect();
    // The sort is stable: strands without a core stay in logical order.
    strands.sort_by_key(|strand| (strand.package, strand.numa, strand.core, strand.alu, strand.slot));
    Order::Strands(strands.iter().map(|strand| strand.os_id).collect())
}

pub(super) fn auto(_: &Machine) -> Order {
    Order::Floating
}
