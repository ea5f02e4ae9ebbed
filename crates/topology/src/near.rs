//! The CPUs and the memory near a device.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use charz_data::escape::{plain, shortened};

use crate::error::quote;
use crate::{Device, Error, Machine, Order, Strand};

/// The most characters of the list of devices in a sentence.
const MOST_OF_LIST: f64 = 160.0;

/// Where threads and memory are near a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The device by the name that was given, or that it is called first.
    pub device: String,
    /// OS id of the node to put memory on; `None` where there is one node, or none to choose.
    pub memory: Option<u32>,
    /// Whether this process may use CPUs that are local to the device; if not, the nearest others stand for them.
    pub has_local: bool,
    /// For each usable CPU how far it is: 0 for those that count as local.
    ranks: HashMap<u32, usize>,
}

impl Near {
    /// Finds the device that a user calls so. An error if there is none, and if the system does not report where it hangs.
    pub fn of(machine: &Machine, text: &str) -> Result<Self, Error> {
        let failed = |reason: String| Error::Near { device: quote(text), reason };
        let Some(device) = machine.device(text) else {
            let names: Vec<&str> = machine.devices.iter().map(Device::name).collect();
            return Err(failed(match names.is_empty() {
                true if machine.source == "this machine" => "the system lists no GPU, network port or disk".to_owned(),
                true => {
                    "the topology names no device; lstopo writes devices unless it is called with --no-io".to_owned()
                }
                false => {
                    let names = shortened(&plain(&names.join(", ")), MOST_OF_LIST, |_| 1.0);
                    format!("there is no such device; there are {names}; charz topo lists them")
                }
            }));
        };
        if !device.is_placed(machine) {
            return Err(failed(
                "the system does not report its NUMA node (-1), so no CPU is known to be near; name CPUs with --mapping list:"
                    .to_owned(),
            ));
        }
        if machine.usable_strands().next().is_none() {
            return Err(failed("this process may use no CPU (cpuset or affinity mask)".to_owned()));
        }
        let local: BTreeSet<u32> = device.local().into_iter().collect();
        // Distances are those of the nodes around the device, or of its own where that has no CPU.
        let around = machine.strands.iter().filter(|strand| local.contains(&strand.os_id));
        let nodes: BTreeSet<u32> = device.numa.into_iter().chain(around.filter_map(|strand| strand.numa)).collect();
        let distance = |strand: &Strand| {
            let row = strand.numa.and_then(|node| machine.numa_distances.get(node as usize));
            nodes.iter().filter_map(|node| row?.get(*node as usize).copied()).min().unwrap_or(0)
        };
        let key = |strand: &Strand| {
            (
                !local.contains(&strand.os_id),
                distance(strand),
                device.package.is_some() && strand.package != device.package,
            )
        };
        let keys: BTreeMap<_, usize> =
            machine.usable_strands().map(key).collect::<BTreeSet<_>>().into_iter().zip(0..).collect();
        let own = device.numa.or(nodes.first().copied().filter(|_| nodes.len() == 1));
        let memory = own.map(|node| machine.node_id(node)).and_then(|node| machine.local_node(node));
        Ok(Near {
            device: device.names.iter().find(|name| *name == text).map_or(device.name(), |name| name).to_owned(),
            memory: memory.filter(|_| machine.nodes_for_memory().len() > 1),
            has_local: keys.keys().next().is_some_and(|(is_far, ..)| !is_far),
            ranks: machine.usable_strands().map(|strand| (strand.os_id, keys[&key(strand)])).collect(),
        })
    }

    /// The same order with the nearest CPUs first; those equally near keep theirs. An error for threads without seats.
    pub fn order(&self, order: Order) -> Result<Order, Error> {
        let Order::Strands(mut strands) = order else {
            let reason = "auto binds no thread; take another mapping, such as round-robin".to_owned();
            return Err(Error::Near { device: quote(&self.device), reason });
        };
        strands.sort_by_key(|id| self.ranks.get(id).copied().unwrap_or(usize::MAX));
        Ok(Order::Strands(strands))
    }

    /// Whether a CPU counts as local.
    pub fn is_local(&self, strand: u32) -> bool {
        self.ranks.get(&strand) == Some(&0)
    }

    /// How many CPUs of an order count as local.
    pub fn locals(&self, order: &Order) -> usize {
        match order {
            Order::Strands(strands) => strands.iter().filter(|id| self.is_local(**id)).count(),
            Order::Floating => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceKind, Mapping, Source, discover};

    /// Two packages of two nodes of two cores, with a device on a node.
    fn machine(numa: Option<u32>, package: Option<u32>, cpus: &str) -> Machine {
        let mut machine = discover(&Source::Synthetic("pack:2 numa:2 core:2 pu:1".into())).unwrap();
        machine.numa_distances =
            vec![vec![10, 12, 30, 32], vec![12, 10, 32, 20], vec![30, 32, 10, 12], vec![32, 20, 12, 10]];
        let names = vec!["eth7".to_owned()];
        let (kind, pci) = (DeviceKind::Nic, Some("0000:3b:00.0".to_owned()));
        let device = Device { names, kind, model: None, pci, pci_root: None, package, numa, cpus: cpus.to_owned() };
        machine.enter_devices(vec![device]);
        machine
    }

    #[track_caller]
    fn check(machine: &Machine, mapping: &str, expected: &[u32], locals: usize, memory: Option<u32>) {
        let near = Near::of(machine, "3b:00.0").unwrap();
        let order = near.order(mapping.parse::<Mapping>().unwrap().order(machine).unwrap()).unwrap();
        assert_eq!((near.locals(&order), near.memory), (locals, memory));
        assert_eq!(order, Order::Strands(expected.to_vec()));
    }

    #[test]
    fn the_nearest_cpus_come_first_and_keep_their_order() {
        let mut own = machine(Some(1), Some(0), "2-3");
        check(&own, "round-robin", &[2, 3, 0, 1, 6, 7, 4, 5], 2, Some(1));
        check(&own, "list:7,0,3", &[3, 0, 7], 1, Some(1));
        check(&machine(None, Some(1), "4-7"), "compact", &[4, 5, 6, 7, 2, 3, 0, 1], 4, None);
        own.strands[2].usable = false;
        own.strands[3].usable = false;
        own.numa_nodes[1].usable = false;
        check(&own, "dumb", &[0, 1, 6, 7, 4, 5], 2, Some(0));
        assert!(!Near::of(&own, "eth7").unwrap().has_local);
        // A node of memory only: the CPUs nearest to it.
        check(&machine(Some(3), None, ""), "dumb", &[6, 7, 4, 5, 2, 3, 0, 1], 2, Some(3));
    }

    #[track_caller]
    fn refuses(machine: &Machine, text: &str, part: &str) {
        let found = Near::of(machine, text).expect_err(part).to_string();
        assert!(found.contains(part), "{found} does not say {part:?}");
    }

    #[test]
    fn what_is_near_nothing_is_refused_with_a_sentence() {
        refuses(&machine(Some(1), Some(0), "2-3"), "eth\u{1b}", "there are eth7");
        refuses(&machine(None, None, "0-7"), "eth7", "does not report its NUMA node");
        refuses(&discover(&Source::Synthetic("pu:2".into())).unwrap(), "eth0", "names no device");
        let mut none = machine(Some(1), Some(0), "2-3");
        none.strands.iter_mut().for_each(|strand| strand.usable = false);
        refuses(&none, "eth7", "no CPU");
        let near = Near::of(&machine(Some(1), Some(0), "2-3"), "eth7").unwrap();
        assert!(near.order(Order::Floating).unwrap_err().to_string().contains("auto binds no thread"));
    }
}
