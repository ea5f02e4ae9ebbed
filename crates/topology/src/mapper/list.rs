//! A list of strands as it was written, and the check that every list of strands must pass.

use std::collections::{HashMap, HashSet};

use super::{Mapper, Order, misfit};
use crate::{Error, Machine, cpulist};

/// These strands in this order.
struct List(Vec<u32>);

pub(super) fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let ids = cpulist::parse(text)?;
    let canonical = cpulist::print(&ids);
    Ok((Box::new(List(ids)), canonical))
}

impl Mapper for List {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        check_usable(&self.0, machine)
            .map_err(|reason| misfit(&format!("list:{}", cpulist::print(&self.0)), &reason))?;
        Ok(Order::Strands(self.0.clone()))
    }

    fn order_of_ids(&self, usable: &[u32]) -> Option<Order> {
        let all = self.0.iter().all(|id| usable.binary_search(id).is_ok());
        all.then(|| Order::Strands(self.0.clone()))
    }

    fn repeated(&self) -> Option<u32> {
        first_repeated(&self.0)
    }
}

/// The first id that the list repeats.
pub(super) fn first_repeated(ids: &[u32]) -> Option<u32> {
    let mut seen = HashSet::new();
    ids.iter().copied().find(|id| !seen.insert(*id))
}

/// Whether this process may use all these strands; otherwise a sentence about the first that it may not use.
pub(super) fn check_usable(ids: &[u32], machine: &Machine) -> Result<(), String> {
    let strands = machine.strands.iter().map(|strand| (strand.os_id, strand.usable));
    // There may be thousands of pairs on a machine of thousands of strands.
    let usable: HashMap<u32, bool> = match ids.len() {
        0..=2 => strands.filter(|(id, _)| ids.contains(id)).collect(),
        _ => strands.collect(),
    };
    for id in ids {
        match usable.get(id) {
            Some(true) => {}
            Some(false) => {
                return Err(format!("CPU {id} is not allowed (cpuset or affinity mask)"));
            }
            None if machine.absent.binary_search(id).is_ok() => {
                return Err(format!("CPU {id} is offline or not allowed"));
            }
            None => return Err(format!("the machine has no CPU {id}")),
        }
    }
    Ok(())
}
