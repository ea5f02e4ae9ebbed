//! The NUMA nodes of a machine by their OS ids.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::machine::{Machine, NumaNode, Strand};
use crate::units;

impl NumaNode {
    /// Its memory, if that is to be shown and known, and the kind of it, not escaped: `2 GiB, MCDRAM`.
    pub fn in_words(&self, shows_memory: bool) -> String {
        let memory = self.memory_bytes.filter(|_| shows_memory).map(units::iec);
        memory.into_iter().chain(self.subtype.clone()).collect::<Vec<_>>().join(", ")
    }

    /// Whether it has memory that this process may use, as far as that is known.
    fn gives_memory(&self) -> bool {
        self.usable && self.memory_bytes != Some(0)
    }
}

impl Machine {
    /// OS ids of the NUMA nodes that this process can put memory on, in logical order.
    pub fn nodes_for_memory(&self) -> Vec<u32> {
        self.memory_nodes().map(|(_, id)| id).collect()
    }

    /// The same with their logical indices.
    pub fn memory_nodes(&self) -> impl Iterator<Item = (usize, u32)> {
        let nodes = self.numa_nodes.iter().enumerate().filter(|(_, node)| node.gives_memory());
        nodes.filter_map(|(index, node)| Some((index, node.os_id?)))
    }

    /// The number of the NUMA node at a logical index: its OS id, or the index where it has none.
    pub fn node_id(&self, index: u32) -> u32 {
        self.numa_nodes.get(index as usize).and_then(|node| node.os_id).unwrap_or(index)
    }

    /// The OS id of the NUMA node of each strand, by the strand's OS id; strands without a known node are left out.
    pub fn node_of_strands(&self) -> HashMap<u32, u32> {
        let node = |strand: &Strand| self.numa_nodes.get(strand.numa? as usize)?.os_id;
        self.strands.iter().filter_map(|strand| Some((strand.os_id, node(strand)?))).collect()
    }

    /// The OS id of the NUMA node that the local memory of each seat is on; `None` for a floating worker, and where the node is not known.
    pub fn nodes_of(&self, seats: &[Option<u32>]) -> Vec<Option<u32>> {
        let nodes = self.node_of_strands();
        seats.iter().map(|seat| self.local_node(*nodes.get(&(*seat)?)?)).collect()
    }

    /// The node that gives the strands of node `from` their memory, by OS ids: itself, or where it has none to use the nearest that has;
    /// `None` if several are as near, since the system takes any of them.
    pub fn local_node(&self, from: u32) -> Option<u32> {
        let own = self.node_index(from)?;
        if self.numa_nodes[own].gives_memory() {
            return Some(from);
        }
        let mut nodes: Vec<_> = self.memory_nodes().map(|(index, id)| (self.claimed(own, index), id)).collect();
        nodes.sort_unstable();
        let (least, nearest) = *nodes.first()?;
        nodes.get(1).is_none_or(|(next, _)| *next > least).then_some(nearest)
    }

    /// The distance that the firmware claims from the strands of one node to the memory of another, by OS ids; 10 is a node's
    /// distance from itself.
    pub fn node_distance(&self, from: u32, to: u32) -> Option<u64> {
        self.numa_distances.get(self.node_index(from)?)?.get(self.node_index(to)?).copied()
    }

    /// A distance by logical indices; 0 where the firmware claims none.
    fn claimed(&self, from: usize, to: usize) -> u64 {
        self.numa_distances.get(from).and_then(|row| row.get(to)).copied().unwrap_or(0)
    }

    fn node_index(&self, id: u32) -> Option<usize> {
        self.numa_nodes.iter().position(|node| node.os_id == Some(id))
    }

    /// The node for memory that is farthest from node `from` by the firmware's distances, all by OS ids. Among equally far
    /// nodes, or if the firmware gives no distances, it is the next one in a circle, so workers do not all use the same node.
    pub fn farthest_node(&self, from: u32) -> Option<u32> {
        let from = self.node_index(from)?;
        let after = |to: usize| (to + self.numa_nodes.len() - from) % self.numa_nodes.len();
        let others = self.memory_nodes().filter(|(index, _)| *index != from);
        others.max_by_key(|(index, _)| (self.claimed(from, *index), Reverse(after(*index)))).map(|(_, id)| id)
    }
}
