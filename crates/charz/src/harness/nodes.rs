//! Which NUMA nodes a cell's memory lies on, as the kernel tells it in `/proc/self/numa_maps`.

use std::collections::HashMap;
use std::fs;

use super::pages::{Plot, header};

/// Resident bytes of seated workers' blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// On the node of the worker that owns them.
    pub local_bytes: u64,
    /// Where they were asked to be, where that is not simply the worker's own node: of several nodes, no more on one than its
    /// equal part.
    pub asked_bytes: Option<u64>,
    /// On any node.
    pub bytes: u64,
    /// Whether the kernel moves pages between nodes by itself; `None` where it does not say.
    pub balancing: Option<bool>,
}

impl Nodes {
    /// Looks the blocks of workers up whose node is known, or was asked for. `None` without any, or where the system does not
    /// tell.
    pub fn look_up(plots: &[Plot]) -> Option<Self> {
        if !plots.iter().any(|plot| plot.node.is_some() || !plot.homes.is_empty()) {
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
            let held: Vec<&Plot> = plots.iter().filter(|plot| plot.overlaps(start, end)).collect();
            if held.iter().all(|plot| plot.node.is_none() && plot.homes.is_empty()) {
                continue;
            }
            let page_bytes = words.clone().find_map(|word| word.strip_prefix("kernelpagesize_kB=")?.parse().ok());
            let page_bytes = page_bytes.unwrap_or(4_u64).checked_mul(1024)?;
            let shares = words.filter_map(share).map(|(node, pages)| Some((node, pages.checked_mul(page_bytes)?)));
            let shares: Vec<(u32, u64)> = shares.collect::<Option<_>>()?;
            let all = shares.iter().try_fold(0_u64, |sum, (_, bytes)| sum.checked_add(*bytes))?;
            nodes.bytes = nodes.bytes.checked_add(all)?;
            let local = shares.iter().filter(|(node, _)| held.iter().any(|plot| plot.node == Some(*node)));
            nodes.local_bytes += local.map(|(_, bytes)| bytes).sum::<u64>();
            if let Some(asked) = as_asked(&held, &shares, all, page_bytes) {
                nodes.asked_bytes = Some(nodes.asked_bytes.unwrap_or(0) + asked);
            }
        }
        (nodes.bytes > 0).then_some(nodes)
    }
}

/// Bytes of a mapping that lie as its blocks were asked to. A node that several were asked for holds as asked no more than its
/// part, and a page of each block, since each begins to go round where it likes: all of the memory on one of two nodes is not
/// interleaved. `None` where nothing was asked.
fn as_asked(held: &[&Plot], shares: &[(u32, u64)], all: u64, page_bytes: u64) -> Option<u64> {
    let parts = held.iter().map(|plot| plot.homes.len()).max().filter(|parts| *parts > 0)? as u64;
    let most = match parts {
        1 => all,
        _ => (all / parts).saturating_add(page_bytes.saturating_mul(held.len() as u64)),
    };
    let asked = shares.iter().filter(|(node, _)| held.iter().any(|plot| plot.homes.contains(node)));
    Some(asked.map(|(_, bytes)| (*bytes).min(most)).sum())
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
        Plot { region: Region { start, bytes: 4096 }, node, homes: Vec::new() }
    }

    #[test]
    fn pages_on_another_node_are_not_local() {
        let plots = [plot(0x7f00_0000_0000, Some(0)), plot(0x7f10_0000_0000, Some(1))];
        let nodes = Nodes::from_maps(MAPS, NUMA_MAPS, &plots).unwrap();
        assert_eq!(nodes.bytes, (256 * 4 + 2 * 2048) * 1024);
        assert_eq!(nodes.local_bytes, (192 * 4 + 2 * 2048) * 1024);
    }

    #[track_caller]
    fn check_asked(blocks: &[(usize, &[u32])], expected: u64) {
        let plots: Vec<Plot> = blocks
            .iter()
            .map(|(start, homes)| Plot { homes: homes.to_vec(), ..plot(0x7f00_0000_0000 + (start << 36), Some(0)) })
            .collect();
        let nodes = Nodes::from_maps(MAPS, NUMA_MAPS, &plots).unwrap();
        assert_eq!(nodes.asked_bytes, Some(expected << 10), "{nodes:?}");
    }

    #[test]
    fn pages_are_as_asked_on_the_nodes_that_were_asked_for() {
        check_asked(&[(0, &[0])], 192 * 4);
        check_asked(&[(0, &[1])], 64 * 4);
        check_asked(&[(0, &[2])], 0);
        check_asked(&[(0, &[1]), (1, &[1])], 64 * 4 + 2 * 2048);
        // Of 1 MiB in two parts, one node has 768 KiB: as asked are 512 KiB and a page of them, and the other's 256 KiB.
        check_asked(&[(0, &[0, 1])], 512 + 4 + 256);
        // Nine pages on one of two nodes are not interleaved.
        check_asked(&[(2, &[0, 1])], 9 * 4 / 2 + 4);
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
        let Some(nodes) = Nodes::look_up(&[Plot { region, node: Some(0), homes: Vec::new() }]) else { return };
        assert!(nodes.bytes >= 1 << 22, "{nodes:?}");
    }
}
