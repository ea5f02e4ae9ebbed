//! What the kernel states of the speed of each NUMA node's memory.
//!
//! Documentation/admin-guide/mm/numaperf.rst of the kernel has `access0` and `access1` (MB/s and nanoseconds, of the nearest CPUs in
//! `access1`), Documentation/ABI/testing has `sysfs-kernel-mm-memory-tiers` and `sysfs-kernel-mm-mempolicy-weighted-interleave`.

use std::collections::BTreeMap;
use std::path::Path;

use charz_data::machine::MemoryTier;

use crate::file;

/// Tiers are numbered by their distance, and there are few.
const MOST_TIERS: u32 = 256;

/// By the ids of these nodes what a system whose root is this folder states; nodes of which it states nothing are left out.
#[must_use]
pub fn read(root: &Path, nodes: &[u32]) -> BTreeMap<u32, MemoryTier> {
    let tiering = root.join("sys/devices/virtual/memory_tiering");
    let mut ranks: BTreeMap<u32, u32> = BTreeMap::new();
    if tiering.is_dir() {
        for rank in 0..MOST_TIERS {
            let listed = file::list(tiering.join(format!("memory_tier{rank}/nodelist"))).unwrap_or_default();
            ranks.extend(listed.into_iter().map(|node| (node, rank)));
        }
    }
    // Where all are in one, it distinguishes none.
    if ranks.values().min() == ranks.values().max() {
        ranks.clear();
    }
    let tier = |node: &u32| {
        let place = root.join(format!("sys/devices/system/node/node{node}"));
        let stated = |name: &str| {
            let file = |access: &&str| place.join(access).join("initiators").join(name);
            ["access1", "access0"]
                .iter()
                .find_map(|access| file::number::<u64>(file(access)).filter(|value| *value > 0))
        };
        let weight = root.join(format!("sys/kernel/mm/mempolicy/weighted_interleave/node{node}"));
        let tier = MemoryTier {
            rank: ranks.get(node).copied(),
            bytes_per_second: stated("read_bandwidth").map(|rate| rate.saturating_mul(1_000_000)),
            latency_ns: stated("read_latency").and_then(|latency| u32::try_from(latency).ok()),
            weight: file::number(weight),
        };
        (tier != MemoryTier::default()).then_some((*node, tier))
    };
    nodes.iter().filter_map(tier).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_node_has_what_is_stated_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let place = folder.path().join("sys").join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        };
        assert!(read(folder.path(), &[0, 1]).is_empty());
        write("devices/virtual/memory_tiering/memory_tier4/nodelist", "0-1\n");
        assert!(read(folder.path(), &[0, 1]).is_empty());
        write("devices/virtual/memory_tiering/memory_tier22/nodelist", "2\n");
        write("devices/system/node/node2/access0/initiators/read_bandwidth", "60000\n");
        write("devices/system/node/node2/access0/initiators/read_latency", "250\n");
        write("devices/system/node/node0/access0/initiators/read_bandwidth", "0\n");
        write("kernel/mm/mempolicy/weighted_interleave/node2", "3\n");
        let found = read(folder.path(), &[0, 2]);
        let far = MemoryTier {
            rank: Some(22),
            bytes_per_second: Some(60_000_000_000),
            latency_ns: Some(250),
            weight: Some(3),
        };
        assert_eq!((found[&0].rank, found[&0].bytes_per_second, found[&2]), (Some(4), None, far));
    }
}
