//! The mappers that are a line or two each: by id, by containment, and none at all.

use charz_data::Arrange;
use std::collections::HashSet;

use super::Order;
use crate::{Machine, Strand};

pub(super) fn dumb(usable: &[u32]) -> Order {
    Order::Strands(usable.to_vec())
}

pub(super) fn compact(machine: &Machine) -> Order {
    Order::Strands(compacted(machine).iter().map(|strand| strand.os_id).collect())
}

pub(super) fn compact_cores(machine: &Machine) -> Order {
    let mut seen = HashSet::new();
    let mut strands = compacted(machine);
    strands.retain(|strand| strand.core.is_none_or(|core| seen.insert(core)));
    Order::Strands(strands.iter().map(|strand| strand.os_id).collect())
}

fn compacted(machine: &Machine) -> Vec<&Strand> {
    let mut strands: Vec<_> = machine.usable_strands().collect();
    // The sort is stable: strands without a core stay in logical order.
    strands.arrange_by_key(|strand| (strand.package, strand.numa, strand.core, strand.alu, strand.slot));
    strands
}

pub(super) fn auto(_: &[u32]) -> Order {
    Order::Floating
}
