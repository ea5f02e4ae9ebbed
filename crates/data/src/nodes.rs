//! The NUMA nodes of a machine by their OS ids.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::machine::{Machine, NumaNode, Strand};
use crate::report::Unit;
use crate::units;

impl NumaNode {
    /// A node that may be used, of which nothing but its id is known.
    pub fn unknown(os_id: Option<u32>) -> Self {
        NumaNode {
            os_id,
            subtype: None,
            memory_bytes: None,
            memory_side_cache_bytes: None,
            tier: None,
            strands: 0,
            usable: true,
        }
    }

    /// Its memory, if that is to be shown and known, and the kind of it, not escaped: `2 GiB, MCDRAM, 90 GB/s`.
    pub fn in_words(&self, shows_memory: bool) -> String {
        let memory = self.memory_bytes.filter(|_| shows_memory).map(units::iec);
        memory.into_iter().chain(self.kind_in_words()).collect::<Vec<_>>().join(", ")
    }

    /// The kind of its memory, and how fast that is said to be, not escaped: `MCDRAM, 90 GB/s`; empty of memory of which nothing is said.
    pub fn kind_in_words(&self) -> Option<String> {
        let tier = self.tier.unwrap_or_default();
        let rank = tier.rank.map(|rank| format!("tier {rank}"));
        let speed = tier.bytes_per_second.map(|rate| units::value(rate as f64, Unit::BytesPerSecond));
        let latency = tier.latency_ns.map(|latency| format!("{latency} ns"));
        let words: Vec<String> = self.subtype.clone().into_iter().chain(rank).chain(speed).chain(latency).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Whether it has memory that this process may use, as far as that is known.
    fn gives_memory(&self) -> bool {
        self.usable && self.memory_bytes != Some(0)
    }
}

/// The largest weight of Linux' weighted interleaving.
const MOST_WEIGHT: u32 = 255;
/// How far the share of a node may lie from that of its bandwidth, as a fraction of it.
const NEAR_ENOUGH: f64 = 0.03;

/// The smallest whole numbers that are to each other as these bandwidths, each share within 3%; the nearest up to 255 where none are. Empty
/// where a bandwidth is no positive number.
pub fn interleave_weights(bandwidths: &[f64]) -> Vec<u32> {
    let least = bandwidths.iter().copied().fold(f64::INFINITY, f64::min);
    if bandwidths.is_empty() || !bandwidths.iter().all(|value| value.is_finite() && *value > 0.0) {
        return Vec::new();
    }
    let scaled = |times: u32| -> Vec<u32> {
        bandwidths
            .iter()
            .map(|own| (own / least * f64::from(times)).round().min(f64::from(MOST_WEIGHT)) as u32)
            .collect()
    };
    let sum: f64 = bandwidths.iter().sum();
    let error = |weights: &[u32]| {
        let all: f64 = weights.iter().copied().map(f64::from).sum();
        let errors =
            weights.iter().zip(bandwidths).map(|(weight, own)| (f64::from(*weight) / all / (own / sum) - 1.0).abs());
        errors.fold(0.0, f64::max)
    };
    let all = || (1..=MOST_WEIGHT).map(scaled);
    let near = all().find(|weights| error(weights) <= NEAR_ENOUGH);
    near.or_else(|| all().min_by(|one, other| error(one).total_cmp(&error(other)))).unwrap_or_default()
}

impl Machine {
    /// The ids of the nodes whose memory has a stated bandwidth, with that, where these differ.
    pub fn stated_bandwidths(&self) -> Vec<(u32, f64)> {
        let stated = |(_, id): (usize, u32), rate: u64| (id, rate as f64);
        let rate = |index: usize| self.numa_nodes[index].tier.and_then(|tier| tier.bytes_per_second);
        let all: Vec<(u32, f64)> = self.memory_nodes().filter_map(|node| Some(stated(node, rate(node.0)?))).collect();
        if all.windows(2).any(|two| two[0].1 != two[1].1) { all } else { Vec::new() }
    }

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

#[cfg(test)]
mod tests {
    use super::interleave_weights;

    #[test]
    fn weights_are_as_small_as_the_bandwidths_allow() {
        assert_eq!(interleave_weights(&[300e9, 300e9]), [1, 1]);
        assert_eq!(interleave_weights(&[22.5e9, 90e9]), [1, 4]);
        assert_eq!(interleave_weights(&[200e9, 60e9]), [10, 3]);
        assert_eq!(interleave_weights(&[1e9, 1e12]), [1, 255]);
        assert!(interleave_weights(&[]).is_empty() && interleave_weights(&[1.0, 0.0]).is_empty());
    }
}
