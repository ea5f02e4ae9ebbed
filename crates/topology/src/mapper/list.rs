//! A list of strands as it was written, and the check that every list of strands must pass.

use std::collections::{HashMap, HashSet};

use super::{Mapper, Order, misfit};
use crate::cpulist::{self, Wanted};
use crate::{Error, Machine, Usable};

/// These strands in this order.
struct List(Wanted);

pub(super) fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let wanted = Wanted::of(text)?;
    let canonical = wanted.to_string();
    Ok((Box::new(List(wanted)), canonical))
}

impl Mapper for List {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let mut usable: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        usable.sort_unstable();
        let ids = self.0.among(&usable).and_then(|ids| check_usable(&ids, machine).map(|()| ids));
        ids.map(Order::Strands).map_err(|reason| misfit(&format!("list:{}", self.0), &reason))
    }

    fn order_of_ids(&self, usable: &[u32]) -> Option<Order> {
        let ids = self.0.among(usable).ok()?;
        ids.iter().all(|id| usable.binary_search(id).is_ok()).then_some(Order::Strands(ids))
    }

    fn repeated(&self) -> Option<u32> {
        match &self.0 {
            Wanted::These(ids) | Wanted::Counted(ids) => first_repeated(ids),
            Wanted::All | Wanted::AllBut(_) => None,
        }
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
            Some(false) => return Err(forbidden(*id, &machine.usable)),
            None if machine.absent.binary_search(id).is_ok() => {
                return Err(format!("CPU {id} is offline or not allowed"));
            }
            None => return Err(format!("the machine has no CPU {id}")),
        }
    }
    Ok(())
}

/// Why a CPU is not usable. A process may widen its own mask up to its cpuset; the kernel begins with a mask without isolated CPUs.
fn forbidden(id: u32, usable: &Usable) -> String {
    let holds = |list: &str| cpulist::parse(list).is_ok_and(|ids| ids.contains(&id));
    match (&usable.cpuset, &usable.affinity) {
        (Some(cpuset), Some(affinity)) if holds(cpuset) && !holds(affinity) => {
            format!(
                "CPU {id} is not allowed: the affinity mask lacks it; start charz under `taskset -c {cpuset}`, where the cpuset allows it"
            )
        }
        _ => format!("CPU {id} is not allowed (cpuset or affinity mask)"),
    }
}

#[cfg(test)]
mod tests {
    use super::check_usable;
    use crate::{Source, discover};

    #[test]
    fn a_mask_that_is_too_narrow_has_a_remedy() {
        let mut machine = discover(&Source::Synthetic("core:4 pu:1".to_owned())).unwrap();
        machine.strands.iter_mut().for_each(|strand| strand.usable = strand.os_id < 2);
        (machine.usable.cpuset, machine.usable.affinity) = (Some("0-2".to_owned()), Some("0-1".to_owned()));
        let remedy = |id| check_usable(&[id], &machine).map_err(|reason| reason.contains("`taskset -c 0-2`"));
        assert_eq!([remedy(1), remedy(2), remedy(3)], [Ok(()), Err(true), Err(false)]);
    }
}
