//! How far apart two strands are, and strands and memory.

use crate::machine::{Machine, Strand};
use crate::words::words;

/// The innermost part of the machine that holds two strands. The nearer, the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distance {
    /// One core: they share its execution units or at least its private caches.
    Core,
    /// A cache for data, of several cores.
    Cache,
    /// A NUMA node, but no cache.
    Numa,
    /// A package, but no NUMA node.
    Package,
    /// Nothing but the machine.
    Machine,
}

// The nearest first. These are the words in `pair:WORD`.
words! { Distance { Core = "core", Cache = "cache", Numa = "numa", Package = "package", Machine = "machine" } }

impl Machine {
    /// How far apart two strands of this machine are. A part that the description lacks holds no strand.
    pub fn distance(&self, one: &Strand, other: &Strand) -> Distance {
        let both = |one: Option<u32>, other: Option<u32>| one.is_some() && one == other;
        if one.os_id == other.os_id || both(one.core, other.core) {
            return Distance::Core;
        }
        // Any cache that two strands share lies within their outermost one.
        let outermost = |strand| self.data_caches(strand).next_back().map(|(index, _)| index);
        if one.caches.last() == other.caches.last() && both(outermost(one), outermost(other)) {
            return Distance::Cache;
        }
        let is_part = |node: u32| {
            self.numa_nodes.get(node as usize).is_some_and(|node| (node.strands as usize) < self.strands.len())
        };
        // Packages are no nearer for a NUMA node that is the whole machine.
        match (both(one.numa, other.numa), both(one.package, other.package)) {
            (true, true) => Distance::Numa,
            (true, false) if self.packages.is_empty() || one.numa.is_some_and(is_part) => Distance::Numa,
            (false, true) => Distance::Package,
            (_, false) => Distance::Machine,
        }
    }

    /// The parts at a distance that hold a strand, by index.
    pub fn holders(&self, strand: &Strand, distance: Distance) -> Vec<u32> {
        match distance {
            Distance::Core => strand.core.into_iter().collect(),
            Distance::Cache => self.data_caches(strand).map(|(index, _)| index).collect(),
            Distance::Numa => strand.numa.into_iter().collect(),
            Distance::Package => vec![strand.package.unwrap_or(0)],
            Distance::Machine => vec![0],
        }
    }
}

/// Measured access of the strands of one NUMA node to the memory of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access {
    /// OS id of the strands' node.
    pub from: u32,
    /// OS id of the memory's node.
    pub to: u32,
    /// The time of a load that depends on the one before.
    pub latency_ns: Option<f64>,
    /// What all strands of the node read together.
    pub bytes_per_second: Option<f64>,
}
