//! The mappers that are one line each: by id, by containment, and none at all.

use super::{Mapper, Order};
use crate::{Error, Machine};

/// Strands by operating-system id.
struct Dumb;

/// One core after the other.
struct Compact;

/// No binding.
struct Auto;

pub(super) fn dumb(_: &str) -> Result<(Box<dyn Mapper>, String), String> {
    Ok((Box::new(Dumb), String::new()))
}

pub(super) fn compact(_: &str) -> Result<(Box<dyn Mapper>, String), String> {
    Ok((Box::new(Compact), String::new()))
}

pub(super) fn auto(_: &str) -> Result<(Box<dyn Mapper>, String), String> {
    Ok((Box::new(Auto), String::new()))
}

impl Mapper for Dumb {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let mut ids: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        ids.sort_unstable();
        Ok(Order::Strands(ids))
    }
}

impl Mapper for Compact {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let mut strands: Vec<_> = machine.usable_strands().collect();
        // The sort is stable: strands without a core stay in logical order.
        strands.sort_by_key(|strand| (strand.package, strand.numa, strand.core, strand.alu, strand.slot));
        Ok(Order::Strands(strands.iter().map(|strand| strand.os_id).collect()))
    }
}

impl Mapper for Auto {
    fn order(&self, _: &Machine) -> Result<Order, Error> {
        Ok(Order::Floating)
    }
}
