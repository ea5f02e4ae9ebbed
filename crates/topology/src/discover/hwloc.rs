//! hwloc's tree of objects into a [`Machine`].
//!
//! The tree is walked once, from the root to the strands, carrying along what lies around. Sets of strands are never
//! compared: on a machine of 65,536 strands each set has 8 KiB, and one for each strand would be half a gigabyte.

use charz_data::Arrange;
use std::collections::HashMap;

use hwlocality::Topology;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::{CacheAssociativity, CacheAttributes, ObjectAttributes};
use hwlocality::object::distance::DistancesKind;
use hwlocality::object::types::{CacheType, ObjectType};

use super::inclusive::INCLUSIVE;
use super::kinds::{self, ids};
use super::notation::{ALU_GROUPS, DOUBT, NODE_CPUS, STATED};
use super::scale::Scale;
use crate::{AluSource, Cache, CacheHolds, Core, Group, Machine, NumaNode, Package, Strand, Usable, cpulist};

/// Reads a loaded topology. All its strands count as usable.
///
/// `alu_width` is the number of strands in each ALU group where the source states it; hwloc drops groups of one strand.
/// With a `scale` the topology is a small twin of the machine. `bare` are the NUMA nodes without CPUs, by OS ids.
pub(super) fn machine(
    topology: &Topology,
    source: String,
    alu_width: Option<u32>,
    scale: Option<&Scale>,
    bare: &[u32],
) -> Machine {
    let mut machine = empty(topology, source);
    if scale.is_some() {
        machine.numa_nodes.clear();
        machine.numa_distances.clear();
    }
    let root = topology.root_object();
    let all = strands(root);
    let mut reader =
        Reader { machine, alus: Vec::new(), next_alu: 0, alu: None, caches: HashMap::new(), scale, bare, all };
    reader.visit(root, &Around::default());
    let Reader { mut machine, alus, alu, .. } = reader;
    stated_nodes(topology, &mut machine);
    place_in_cores(&mut machine, &alus, alu_width);
    machine.alu = alu.unwrap_or(machine.alu);
    machine.doubts = infos(root, DOUBT);
    // To hwloc 0 bytes are also an amount that is not known, as it then is of all nodes.
    if machine.numa_nodes.iter().any(|node| node.memory_bytes.is_some()) {
        machine.numa_nodes.iter_mut().for_each(|node| node.memory_bytes = node.memory_bytes.or(Some(0)));
    }
    machine.absent = absent(topology, &machine);
    kinds::read(topology, &mut machine);
    machine.count_strands();
    machine.usable = Usable::everything(machine.strands.len());
    machine
}

/// A machine without strands, but with its NUMA nodes, which do not lie on the way to the strands.
fn empty(topology: &Topology, source: String) -> Machine {
    let name = ["DMIProductName", "DMIBoardName"].into_iter().find_map(|key| info(topology.root_object(), key));
    Machine {
        source,
        name,
        strands: Vec::new(),
        cores: Vec::new(),
        packages: Vec::new(),
        numa_nodes: topology.objects_with_type(ObjectType::NUMANode).map(numa_node).collect(),
        numa_distances: distances(topology),
        caches: Vec::new(),
        groups: Vec::new(),
        kinds: Vec::new(),
        devices: Vec::new(),
        alu: AluSource::Assumed,
        absent: Vec::new(),
        usable: Usable::everything(0),
        doubts: Vec::new(),
    }
}

fn numa_node(object: &TopologyObject) -> NumaNode {
    let memory_bytes = match object.attributes() {
        Some(ObjectAttributes::NUMANode(node)) => node.local_memory().map(Into::into),
        _ => None,
    };
    let subtype = object.subtype().map(|subtype| subtype.to_string_lossy().into_owned());
    NumaNode { subtype, memory_bytes, ..NumaNode::unknown(os_id(object)) }
}

/// What the firmware claims of the distances between all NUMA nodes, by logical indices; empty where it does not, or not of
/// all of them.
fn distances(topology: &Topology) -> Vec<Vec<u64>> {
    let claimed = DistancesKind::FROM_OS | DistancesKind::MEANS_LATENCY;
    let matrices = topology.distances_with_type(Some(claimed), ObjectType::NUMANode).unwrap_or_default();
    let Some(matrix) = matrices.first() else { return Vec::new() };
    let nodes: Vec<&TopologyObject> = topology.objects_with_type(ObjectType::NUMANode).collect();
    let places: Option<Vec<usize>> = nodes.iter().map(|node| matrix.object_idx(node)).collect();
    let Some(places) = places else { return Vec::new() };
    let (size, values) = (matrix.num_objects(), matrix.distances());
    let row = |from: &usize| places.iter().map(|to| values[from * size + to]).collect();
    places.iter().map(row).collect()
}

/// What lies around an object, as indices into the machine's lists.
#[derive(Clone, Default)]
struct Around {
    package: Option<u32>,
    core: Option<u32>,
    /// The ALU group: a number that no other group has.
    alu: Option<u32>,
    /// Whether each strand of the core is an ALU group of its own.
    alone: bool,
    numa_nodes: Vec<u32>,
    /// The first of those that belong to the innermost object that has some.
    numa: Option<u32>,
    /// The caches, from the outermost inwards.
    caches: Vec<u32>,
    groups: Vec<u32>,
}

struct Reader<'a> {
    machine: Machine,
    alus: Vec<Option<u32>>,
    next_alu: u32,
    /// How the groups of some core are known, if it says so.
    alu: Option<AluSource>,
    /// How many caches of each level and content there are already.
    caches: HashMap<(u32, CacheHolds), u32>,
    scale: Option<&'a Scale>,
    bare: &'a [u32],
    /// How many strands the machine has.
    all: u64,
}

impl Reader<'_> {
    /// Reads an object and all below it. Files are checked for their depth before hwloc loads them.
    fn visit(&mut self, object: &TopologyObject, around: &Around) {
        if object.object_type() == ObjectType::PU {
            self.strand(object, around);
            return;
        }
        let mut inside = around.clone();
        self.enter(object, &mut inside);
        self.enter_memory(object, &mut inside);
        let Some(scale) = self.scale else {
            for child in object.normal_children() {
                self.visit(child, &inside);
            }
            return;
        };
        if let Some(child) = object.normal_children().next() {
            for _ in 0..scale.children(strands(object), strands(child)) {
                self.visit(child, &inside);
            }
        }
    }

    /// The operating system's id of an object; in a scaled machine that is its rank.
    fn os_id(&self, object: &TopologyObject, rank: usize) -> Option<u32> {
        match self.scale {
            None => os_id(object),
            Some(_) => u32::try_from(rank).ok(),
        }
    }

    /// Notes the NUMA nodes that are local to all strands of an object. hwloc gives a node without CPUs those that it is nearest to, or, where
    /// it knows of none, all: such a node is local to none.
    fn enter_memory(&mut self, object: &TopologyObject, inside: &mut Around) {
        let is_bare = |node: &TopologyObject| os_id(node).is_some_and(|id| self.bare.contains(&id));
        let mut nodes = local_nodes(object);
        nodes.retain(|node| !is_bare(node) || strands(object) < self.all);
        let nodes: Vec<u32> = nodes.into_iter().map(|node| self.numa_index(node)).collect();
        inside.numa = nodes.iter().copied().min().or(inside.numa);
        inside.numa_nodes.extend(nodes);
    }

    /// The index of a NUMA node, which all but scaled machines have listed before.
    fn numa_index(&mut self, object: &TopologyObject) -> u32 {
        if self.scale.is_none() {
            return u32::try_from(object.logical_index()).unwrap_or(u32::MAX);
        }
        let os_id = self.os_id(object, self.machine.numa_nodes.len());
        push(&mut self.machine.numa_nodes, NumaNode { os_id, ..numa_node(object) })
    }

    /// Notes the object in the machine's list of its type.
    fn enter(&mut self, object: &TopologyObject, inside: &mut Around) {
        match object.object_type() {
            ObjectType::Package => {
                let os_id = self.os_id(object, self.machine.packages.len());
                let model = info(object, "CPUModel").or_else(|| info(object, "CPUType"));
                inside.package = Some(push(&mut self.machine.packages, Package { os_id, model, strands: 0 }));
            }
            ObjectType::Core => {
                let os_id = self.os_id(object, self.machine.cores.len());
                inside.core = Some(push(&mut self.machine.cores, Core { os_id, strands: 0 }));
                let text = info(object, ALU_GROUPS).unwrap_or_default();
                let (number, how) = text.split_once(' ').unwrap_or((&text, ""));
                let groups = number.parse::<u64>().ok();
                if groups.is_some() {
                    self.alu = Some(if how == STATED { AluSource::Stated } else { AluSource::Measured });
                }
                // hwloc has left out the groups: they are of one strand each.
                inside.alone = groups.is_some_and(|groups| groups > 1 && groups == strands(object));
            }
            // Groups below a core are its ALU groups; of nested ones the outermost.
            ObjectType::Group if inside.core.is_some() => {
                if inside.alu.is_none() {
                    inside.alu = Some(self.next_alu);
                    self.next_alu += 1;
                }
            }
            kind @ (ObjectType::Group | ObjectType::Die) => {
                let what = object.subtype().map(|subtype| subtype.to_string_lossy().into_owned());
                let plain = if kind == ObjectType::Die { "die" } else { "group" };
                let what = what.unwrap_or_else(|| plain.to_owned());
                inside.groups.push(push(&mut self.machine.groups, Group { what, strands: 0 }));
            }
            _ => {
                if let Some(ObjectAttributes::Cache(attributes)) = object.attributes() {
                    let cache = self.cache(object, attributes);
                    inside.caches.push(push(&mut self.machine.caches, cache));
                }
            }
        }
    }

    fn cache(&mut self, object: &TopologyObject, attributes: &CacheAttributes) -> Cache {
        let level = u32::try_from(attributes.depth()).unwrap_or(u32::MAX);
        let holds = match attributes.cache_type() {
            CacheType::Data => CacheHolds::Data,
            CacheType::Instruction => CacheHolds::Instruction,
            _ => CacheHolds::Unified,
        };
        let ways = match attributes.associativity() {
            CacheAssociativity::Ways(ways) => u32::try_from(ways.get()).ok(),
            _ => None,
        };
        let count = self.caches.entry((level, holds)).or_default();
        let index = *count;
        *count += 1;
        let line_bytes = attributes.line_size().and_then(|line| u32::try_from(line.get()).ok());
        let size_bytes = attributes.size().map(Into::into);
        let inclusive = info(object, INCLUSIVE).and_then(|text| text.parse::<u8>().ok()).map(|number| number != 0);
        Cache { level, holds, index, size_bytes, line_bytes, ways, inclusive, strands: 0 }
    }

    fn strand(&mut self, object: &TopologyObject, around: &Around) {
        let mut numa_nodes = around.numa_nodes.clone();
        numa_nodes.sort_unstable();
        let own = around.alone.then(|| {
            self.next_alu += 1;
            self.next_alu - 1
        });
        self.alus.push(own.or(around.alu));
        let rank = self.machine.strands.len();
        self.machine.strands.push(Strand {
            // hwloc gives every PU its id: it is the PU's bit in all sets.
            os_id: self.os_id(object, rank).unwrap_or(u32::MAX),
            package: around.package,
            numa: around.numa,
            core: around.core,
            alu: 0,
            slot: 0,
            strand_in_core: 0,
            kind: None,
            numa_nodes,
            caches: around.caches.iter().rev().copied().collect(),
            groups: around.groups.clone(),
            usable: true,
        });
    }
}

/// The NUMA nodes that are local to all strands of an object, in logical order; some are behind a memory-side cache.
///
/// A node whose processor is not to be used hangs somewhere too, with an empty set of strands: it is local to none.
fn local_nodes(object: &TopologyObject) -> Vec<&TopologyObject> {
    let mut nodes = Vec::new();
    let mut attached: Vec<&TopologyObject> = object.memory_children().collect();
    while let Some(memory) = attached.pop() {
        let local = memory.cpuset().is_some_and(|strands| !strands.is_empty());
        if memory.object_type() == ObjectType::NUMANode && local {
            nodes.push(memory);
        }
        attached.extend(memory.memory_children());
    }
    nodes.arrange_by_key(|node| node.logical_index());
    nodes
}

/// Gives the NUMA nodes that name their CPUs just those. No CPU is on two: a file in which one is loses what it names from there on.
fn stated_nodes(topology: &Topology, machine: &mut Machine) {
    let mut node_of = HashMap::new();
    let mut stated = Vec::new();
    for (index, node) in (0u32..).zip(topology.objects_with_type(ObjectType::NUMANode)) {
        let Some(ids) = info(node, NODE_CPUS).and_then(|list| cpulist::parse(&list).ok()) else { continue };
        if ids.len() + node_of.len() > machine.strands.len() {
            break;
        }
        node_of.extend(ids.into_iter().map(|id| (id, index)));
        stated.push(index);
    }
    for strand in machine.strands.iter_mut().filter(|_| !stated.is_empty()) {
        strand.numa_nodes.retain(|node| !stated.contains(node));
        strand.numa = strand.numa.filter(|node| !stated.contains(node));
        if let Some(own) = node_of.get(&strand.os_id) {
            strand.numa = Some(*own);
            strand.numa_nodes.push(*own);
            strand.numa_nodes.sort_unstable();
        }
    }
}

fn strands(object: &TopologyObject) -> u64 {
    object.cpuset().and_then(|set| set.weight()).map_or(0, |weight| weight as u64)
}

/// Fills in each strand's ranks within its core. The strands of a core follow each other.
pub(super) fn place_in_cores(machine: &mut Machine, alus: &[Option<u32>], alu_width: Option<u32>) {
    let stated = alus.iter().any(Option::is_some) || alu_width.is_some();
    machine.alu = if stated { AluSource::Stated } else { AluSource::Assumed };
    let mut first = 0;
    for strands in machine.strands.chunk_by_mut(|a, b| a.core.is_some() && a.core == b.core) {
        let groups: Vec<Option<u32>> = match alu_width {
            Some(width) => (0..).take(strands.len()).map(|rank: u32| Some(rank / width)).collect(),
            None => alus[first..first + strands.len()].to_vec(),
        };
        first += strands.len();
        for ((rank, strand), (alu, slot)) in (0..).zip(strands).zip(ranks(&groups)) {
            (strand.strand_in_core, strand.alu, strand.slot) = (rank, alu, slot);
        }
    }
}

/// The ranks of a core's strands among those that share its execution units, see [`AluSource`]: for each strand that of its group
/// within the core, and its own within the group.
///
/// `groups` holds for each strand of the core, in logical order, the group below the core that it belongs to. Where some
/// have a group, a strand without one is its own group: hwloc leaves out groups of a single strand.
fn ranks(groups: &[Option<u32>]) -> Vec<(u32, u32)> {
    if groups.iter().all(Option::is_none) {
        return (0..).zip(groups).map(|(slot, _)| (0, slot)).collect();
    }
    let mut ranks: Vec<(u32, u32)> = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        ranks.push(match ranks.last() {
            None => (0, 0),
            Some((alu, slot)) if group.is_some() && *group == groups[at - 1] => (*alu, slot + 1),
            Some((alu, _)) => (alu + 1, 0),
        });
    }
    ranks
}

/// The ids that the topology knows without listing their strands.
fn absent(topology: &Topology, machine: &Machine) -> Vec<u32> {
    let mut listed: Vec<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
    listed.sort_unstable();
    let complete = topology.complete_cpuset();
    if complete.weight().is_none() {
        // An endless set means that the others are unknown, not that there are a million.
        return Vec::new();
    }
    let mut known = ids(complete);
    known.retain(|id| listed.binary_search(id).is_err());
    known
}

/// The operating system's id of an object, where it has one that is possible.
fn os_id(object: &TopologyObject) -> Option<u32> {
    object.os_index().and_then(|id| u32::try_from(id).ok())
}

/// A named text that hwloc holds about an object.
fn info(object: &TopologyObject, key: &str) -> Option<String> {
    let text = object.info(key)?.to_string_lossy().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// All texts of one name that hwloc holds about an object.
fn infos(object: &TopologyObject, key: &str) -> Vec<String> {
    let of_name = object.infos().iter().filter(|info| info.name().to_string_lossy() == key);
    of_name.map(|info| info.value().to_string_lossy().into_owned()).collect()
}

/// Appends, and returns the index.
fn push<T>(list: &mut Vec<T>, element: T) -> u32 {
    list.push(element);
    u32::try_from(list.len() - 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn groups_are_ranked_and_lone_strands_stand_alone() {
        assert_eq!(ranks(&[]), []);
        assert_eq!(ranks(&[None, None, None]), [(0, 0), (0, 1), (0, 2)], "a core without groups is one group");
        assert_eq!(ranks(&[Some(7), Some(7), Some(9), Some(9)]), [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(ranks(&[None, None, Some(3), Some(3), None]), [(0, 0), (1, 0), (2, 0), (2, 1), (3, 0)]);
    }
}
