//! Where devices hang: those of this machine by the kernel's files, those of a file by its objects.
//!
//! hwloc is asked for neither: on this machine it would read the configuration space of each function, and load what asks GPUs; of a file
//! our own check has seen the objects.

use std::collections::BTreeSet;

use charz_system::devices::Found;

use crate::{Device, Machine, Strand, cpulist};

/// Enters devices with the package and the node that the CPUs local to each have in common.
pub(super) fn enter(machine: &mut Machine, found: Vec<Found>) {
    let place = |found: Found| {
        let Found { names, kind, model, pci, pci_root, node, cpus, .. } = found;
        let node = node.and_then(|id| machine.numa_nodes.iter().position(|node| node.os_id == Some(id)));
        let node = node.and_then(|at| u32::try_from(at).ok());
        let listed: Option<BTreeSet<u32>> =
            cpus.and_then(|list| Some(cpulist::parse(&list).ok()?.into_iter().collect()));
        let is_local = |strand: &&Strand| match (node, &listed) {
            (Some(node), _) => strand.numa_nodes.contains(&node),
            (None, Some(listed)) => listed.contains(&strand.os_id),
            (None, None) => true,
        };
        let strands = || machine.strands.iter().filter(is_local);
        let mut local: Vec<u32> = strands().map(|strand| strand.os_id).collect();
        local.sort_unstable();
        let only = |of: fn(&Strand) -> Option<u32>| {
            let all: BTreeSet<Option<u32>> = strands().map(of).collect();
            all.first().copied().flatten().filter(|_| all.len() == 1)
        };
        let (numa, package) = (node.or_else(|| only(|strand| strand.numa)), only(|strand| strand.package));
        Some(Device { names, kind: kind?, model, pci, pci_root, package, numa, cpus: cpulist::print(&local) })
    };
    let devices = found.into_iter().filter_map(place).collect();
    machine.enter_devices(devices);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceKind, Source, discover};

    #[track_caller]
    fn check(node: Option<u32>, cpus: Option<&str>, expected: (Option<u32>, Option<u32>, &str), is_placed: bool) {
        let mut machine = discover(&Source::Synthetic("pack:2 numa:2 core:2 pu:1".into())).unwrap();
        let found = Found { kind: Some(DeviceKind::Nic), node, cpus: cpus.map(str::to_owned), ..Found::default() };
        enter(&mut machine, vec![found]);
        let device = &machine.devices[0];
        assert_eq!((device.package, device.numa, device.cpus.as_str()), expected);
        assert_eq!(device.is_placed(&machine), is_placed);
    }

    #[test]
    fn a_device_hangs_where_its_cpus_are_together() {
        check(Some(3), Some("6-7"), (Some(1), Some(3), "6-7"), true);
        check(None, Some("4-7"), (Some(1), None, "4-7"), true);
        check(None, Some("0-1"), (Some(0), Some(0), "0-1"), true);
        check(None, Some("0-7"), (None, None, "0-7"), false);
        check(None, None, (None, None, "0-7"), false);
        check(Some(9), Some("0-7,100"), (None, None, "0-7"), false);
    }
}
