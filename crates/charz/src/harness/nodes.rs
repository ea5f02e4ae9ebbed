//! Which NUMA nodes a cell's memory lies on, as the kernel tells it in `/proc/self/numa_maps`.

use std::collections::HashMap;
use std::fs;

use super::pages::{Plot, header};

/// Resident bytes of seated workers' blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// On the node of the worker that owns them.
    pub local_bytes: u64,
    /// On any node.
    pub bytes: u64,
    /// Whether the kernel moves pages between nodes by itself; `None` where it does not say.
    pub balancing: Option<bool>,
}

impl Nodes {
    /// Looks the blocks of workers up whose node is known. `None` without any, or where the system does not tell.
    pub fn look_up(plots: &[Plot]) -> Option<Self> {
        if !plots.iter().any(|plot| plot.node.is_some()) {
            return None;
        }
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let numa_maps = fs::read_to_string("/proc/self/numa_maps").ok()?;
        let balancing = fs::read_to_string("/proc/sys/kernel/numa_balancing").ok();
        let balancing = balancing.and_then(|text| Some(text.trim().parse::<u32>().ok()? != 0));
        Some(Nodes { balancing, ..Self::from_maps(&maps, &numa_maps, plots)? })
    }

    /// `numa_maps` names a mapping by its start only; where it ends stands in `maps`. A mapping that holds blocks of workers
    /// on several nodes counts as local on each of them: the kernel joins neighbouring blocks.
    pub(crate) fn from_maps(maps: &str, numa_maps: &str, plots: &[Plot]) -> Option<Self> {
        let ends: HashMap<usize, usize> = maps.lines().filter_map(header).collect();
        let mut nodes = Nodes::default();
        for line in numa_maps.lines() {
            let mut words = line.split_whitespace();
            let Some(start) = words.next().and_then(|word| usize::from_str_radix(word, 16).ok()) else { continue };
            let Some(&end) = ends.get(&start) else { continue };
            let homes: Vec<u32> =
                plots.iter().filter(|plot| plot.overlaps(start, end)).filter_map(|plot| plot.node).collect();
            if homes.is_empty() {
                continue;
            }
            let page_bytes = words.clone().find_map(|word| word.strip_prefix("kernelpagesize_kB=")?.parse().ok());
            let page_bytes = page_bytes.unwrap_or(4_u64).checked_mul(1024)?;
            for (node, pages) in words.filter_map(share) {
                let bytes = pages.checked_mul(page_bytes)?;
                nodes.bytes = nodes.bytes.checked_add(bytes)?;
                if homes.contains(&node) {
                    nodes.local_bytes += bytes;
                }
            }
        }
        (nodes.bytes > 0).then_some(nodes)
    }
}

/// `N0=256`: a node and its pages.
fn share(word: &str) -> Option<(u32, u64)> {
    let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
    Some((node.parse().ok()?, pages.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_kernels::Region;

    const MAPS: &str = "\
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
7f1000000000-7f1000400000 rw-p 00000000 00:00 0
7f2000000000-7f2000100000 rw-p 00000000 00:00 0
";
    const NUMA_MAPS: &str = "\
7f0000000000 default anon=256 dirty=256 N0=192 N1=64 kernelpagesize_kB=4
7f1000000000 default huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048
7f2000000000 default anon=9 N0=9 kernelpagesize_kB=4
";

    fn plot(start: usize, node: Option<u32>) -> Plot {
        Plot { region: Region { start, bytes: 4096 }, node }
    }

    #[test]
    fn pages_on_another_node_are_not_local() {
        let plots = [plot(0x7f00_0000_0000, Some(0)), plot(0x7f10_0000_0000, Some(1))];
        let nodes = Nodes::from_maps(MAPS, NUMA_MAPS, &plots).unwrap();
        assert_eq!(nodes.bytes, (256 * 4 + 2 * 2048) * 1024);
        assert_eq!(nodes.local_bytes, (192 * 4 + 2 * 2048) * 1024);
    }

    #[test]
    fn blocks_without_a_home_are_not_judged() {
        assert_eq!(Nodes::look_up(&[plot(0x7f00_0000_0000, None)]), None);
        assert_eq!(Nodes::from_maps(MAPS, NUMA_MAPS, &[plot(0x1000, Some(0))]), None);
    }

    #[test]
    fn a_touched_buffer_of_this_process_lies_somewhere() {
        let buffer = vec![1_u8; 1 << 22];
        let region = Region { start: std::hint::black_box(buffer.as_ptr()) as usize, bytes: buffer.len() };
        let Some(nodes) = Nodes::look_up(&[Plot { region, node: Some(0) }]) else { return };
        assert!(nodes.bytes >= 1 << 22, "{nodes:?}");
    }
}
