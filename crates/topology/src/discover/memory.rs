//! Whether the sizes of the NUMA nodes can be right.

use crate::NumaNode;

/// How far the nodes' sum may lie from the machine's memory, as a fraction: the kernel keeps some to itself.
const TOLERANCE: f64 = 0.05;

/// On guests whose memory was added after the start, the kernel's files on the nodes, and so hwloc, miss a part of it, while
/// `/proc/meminfo` has all. Which node is wrong is then unknown, and the machine has a doubt.
pub(crate) fn doubt(nodes: &[NumaNode], meminfo: &str) -> Option<String> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let sum = nodes.iter().try_fold(0u64, |sum, node| sum.checked_add(node.memory_bytes?))?;
    let total = kib.checked_mul(1024)?;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    (sum.abs_diff(total) as f64 > TOLERANCE * total as f64).then(|| {
        format!(
            "the NUMA nodes have {:.1} GiB together, but the machine has {:.1} GiB by /proc/meminfo: trust no node's size",
            gib(sum),
            gib(total)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::doubt;
    use crate::NumaNode;

    #[track_caller]
    fn check(gib: &[Option<u64>], meminfo: &str, doubted: bool) {
        let node = |gib: &Option<u64>| NumaNode {
            os_id: None,
            subtype: None,
            memory_bytes: gib.map(|gib| gib << 30),
            strands: 1,
            usable: true,
        };
        let nodes: Vec<_> = gib.iter().map(node).collect();
        assert_eq!(doubt(&nodes, meminfo).is_some(), doubted);
    }

    #[test]
    fn only_a_contradiction_is_doubted() {
        let eight = "MemTotal:        8388608 kB\nMemFree:  1 kB\n";
        check(&[Some(4), Some(4)], eight, false);
        check(&[Some(4)], eight, true);
        check(&[Some(8), Some(8)], eight, true);
        check(&[Some(4), None], eight, false);
        check(&[Some(4)], "", false);
    }
}
