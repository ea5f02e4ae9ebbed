//! Which pages a cell's memory got, and on which NUMA nodes they lie: `smaps`, `maps` and `numa_maps` of `/proc/self`.

use std::collections::{HashMap, HashSet};
use std::{fs, iter};

use charz_data::report::{Nodes, Pages};
use charz_kernels::Region;
use charz_system::{file, numa_maps};

/// A worker's block, the NUMA node of its seat as far as it is known, and those that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedRegion {
    pub region: Region,
    pub node: Option<u32>,
    /// The nodes that the block is to lie on, in equal parts; none where nothing else was asked than the worker's own.
    pub homes: Vec<u32>,
}

impl PlacedRegion {
    fn overlaps(&self, start: usize, end: usize) -> bool {
        self.region.start < end && start < self.region.start.saturating_add(self.region.bytes)
    }
}

/// The pages of the blocks. `None` without any or without `/proc`.
pub(super) fn look_up(plots: &[PlacedRegion]) -> Option<Pages> {
    if plots.is_empty() {
        return None;
    }
    let pages = from_smaps(&fs::read_to_string("/proc/self/smaps").ok()?, plots)?;
    Some(Pages { transparent_page_bytes: file::number(file::HUGE_PAGE), ..pages })
}

/// The kernel joins neighbouring blocks into one mapping, so only the sum over all mappings that hold a part of a block is known.
pub(crate) fn from_smaps(smaps: &str, plots: &[PlacedRegion]) -> Option<Pages> {
    let mut obtained = Pages::default();
    let mut mapping = Mapping::default();
    for line in smaps.lines() {
        if let Some((start, end)) = header(line) {
            mapping.add_to(&mut obtained);
            let ours = plots.iter().any(|plot| plot.overlaps(start, end));
            mapping = Mapping { ours, ..Mapping::default() };
        } else if let Some((name, bytes)) = field(line) {
            match name {
                "KernelPageSize" => mapping.page_bytes = bytes,
                "Rss" => mapping.resident = bytes,
                "AnonHugePages" => mapping.transparent = bytes,
                "Private_Hugetlb" | "Shared_Hugetlb" => mapping.reserved = mapping.reserved.saturating_add(bytes),
                _ => {}
            }
        }
    }
    mapping.add_to(&mut obtained);
    (obtained.total() > 0).then_some(obtained)
}

#[derive(Default)]
struct Mapping {
    ours: bool,
    page_bytes: u64,
    resident: u64,
    transparent: u64,
    reserved: u64,
}

impl Mapping {
    fn add_to(&self, obtained: &mut Pages) {
        if !self.ours {
            return;
        }
        if self.reserved == 0 {
            obtained.base_page_bytes = self.page_bytes;
        }
        let add = |sum: &mut u64, bytes| *sum = sum.saturating_add(bytes);
        add(&mut obtained.transparent_bytes, self.transparent);
        add(&mut obtained.base_bytes, self.resident.saturating_sub(self.transparent));
        let huge = self.page_bytes >= 1 << 30;
        add(if huge { &mut obtained.huge_1g_bytes } else { &mut obtained.huge_2m_bytes }, self.reserved);
    }
}

/// `7f0000000000-7f0010000000 rw-p 00000000 00:00 0`
fn header(line: &str) -> Option<(usize, usize)> {
    let (range, _) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

/// `AnonHugePages:    262144 kB`
fn field(line: &str) -> Option<(&str, u64)> {
    let (name, value) = line.split_once(':')?;
    let kib: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((name, kib.checked_mul(1024)?))
}

/// The nodes that blocks lie on whose worker's node is known, or that were asked for. `None` without any, or where the system does
/// not report them.
pub(super) fn look_up_nodes(plots: &[PlacedRegion]) -> Option<Nodes> {
    if !plots.iter().any(|plot| plot.node.is_some() || !plot.homes.is_empty()) {
        return None;
    }
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let numa_maps = fs::read_to_string("/proc/self/numa_maps").ok()?;
    let balancing = file::number("/proc/sys/kernel/numa_balancing").map(|mode: u32| mode != 0);
    Some(Nodes { balancing, ..from_maps(&maps, &numa_maps, plots, &nearest_nodes)? })
}

/// The nodes that are as near to a node as itself: more than one where the kernel divides one memory, as with `numa=fake`.
fn nearest_nodes(node: u32) -> Vec<u32> {
    let online = file::list(file::ONLINE_NODES).unwrap_or_default();
    let text = fs::read_to_string(format!("/sys/devices/system/node/node{node}/distance")).unwrap_or_default();
    nearest(node, &online, &text)
}

/// The same of a file of distances, which has one for each node that is online.
fn nearest(node: u32, online: &[u32], distances: &str) -> Vec<u32> {
    let distances: Vec<(u32, &str)> = online.iter().copied().zip(distances.split_whitespace()).collect();
    let own = distances.iter().find(|(of, _)| *of == node).map(|(_, own)| *own);
    let others = distances.into_iter().filter(|(of, far)| *of != node && Some(*far) == own).map(|(of, _)| of);
    iter::once(node).chain(others).collect()
}

/// `numa_maps` names a mapping by its start only; its end is in `maps`. A mapping that holds blocks of workers on several nodes
/// counts as local on each of them: the kernel joins neighbouring blocks.
pub(crate) fn from_maps(
    maps: &str,
    numa_maps: &str,
    plots: &[PlacedRegion],
    nearest: &dyn Fn(u32) -> Vec<u32>,
) -> Option<Nodes> {
    let ends: HashMap<usize, usize> = maps.lines().filter_map(header).collect();
    let mut nodes = Nodes::default();
    let own: HashSet<u32> = plots.iter().filter_map(|plot| plot.node).collect();
    let near: HashMap<u32, Vec<u32>> = own.into_iter().map(|node| (node, nearest(node))).collect();
    for mapping in numa_maps::mappings(numa_maps) {
        let start = mapping.start;
        let Some(&end) = ends.get(&start) else { continue };
        let held: Vec<&PlacedRegion> = plots.iter().filter(|plot| plot.overlaps(start, end)).collect();
        if held.iter().all(|plot| plot.node.is_none() && plot.homes.is_empty()) {
            continue;
        }
        let (page_bytes, shares) = (mapping.page_bytes()?, mapping.bytes_by_node()?);
        let all = shares.iter().try_fold(0_u64, |sum, (_, bytes)| sum.checked_add(*bytes))?;
        nodes.bytes = nodes.bytes.checked_add(all)?;
        let local = shares
            .iter()
            .filter(|(node, _)| held.iter().any(|plot| plot.node.is_some_and(|own| near[&own].contains(node))));
        nodes.local_bytes += local.map(|(_, bytes)| bytes).sum::<u64>();
        if let Some(asked) = as_asked(&held, &shares, all, page_bytes) {
            nodes.asked_bytes = Some(nodes.asked_bytes.unwrap_or(0) + asked);
        }
    }
    (nodes.bytes > 0).then_some(nodes)
}

/// Bytes of a mapping that lie as its blocks were asked to. A node that several were asked for holds as asked no more than its
/// part, and a page of each block, since each begins to go round where it likes: all of the memory on one of two nodes is not
/// interleaved. `None` where nothing was asked.
fn as_asked(held: &[&PlacedRegion], shares: &[(u32, u64)], all: u64, page_bytes: u64) -> Option<u64> {
    let parts = held.iter().map(|plot| plot.homes.len()).max().filter(|parts| *parts > 0)? as u64;
    let most = match parts {
        1 => all,
        _ => (all / parts).saturating_add(page_bytes.saturating_mul(held.len() as u64)),
    };
    let asked = shares.iter().filter(|(node, _)| held.iter().any(|plot| plot.homes.contains(node)));
    Some(asked.map(|(_, bytes)| (*bytes).min(most)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                4096 kB
AnonHugePages:      2048 kB
Private_Hugetlb:       0 kB
VmFlags: rd wr
7f1000000000-7f1000400000 rw-p 00000000 00:00 0
KernelPageSize:     2048 kB
Rss:                   0 kB
AnonHugePages:         0 kB
Private_Hugetlb:    4096 kB
7f2000000000-7f2000400000 rw-p 00000000 00:00 0
KernelPageSize:        4 kB
Rss:                 512 kB
AnonHugePages:         0 kB
";

    fn plot(start: usize, node: Option<u32>) -> PlacedRegion {
        PlacedRegion { region: Region { start, bytes: 4096 }, node, homes: Vec::new() }
    }

    #[test]
    fn only_mappings_that_hold_a_region_count() {
        let plots = [plot(0x7f00_0000_1000, None), plot(0x7f10_0000_0000, None)];
        let expected = Pages {
            base_page_bytes: 4096,
            base_bytes: 2 << 20,
            transparent_bytes: 2 << 20,
            huge_2m_bytes: 4 << 20,
            ..Pages::default()
        };
        assert_eq!(from_smaps(SMAPS, &plots), Some(expected));
    }

    #[test]
    fn memory_outside_of_every_mapping_is_unknown() {
        assert_eq!(from_smaps(SMAPS, &[plot(0x1000, None)]), None);
        assert_eq!(from_smaps("", &[plot(0x1000, None)]), None);
        assert_eq!(look_up(&[]), None);
    }

    #[test]
    fn a_touched_buffer_of_this_process_is_found() {
        let buffer = vec![1_u8; 1 << 20];
        let region = Region { start: std::hint::black_box(buffer.as_ptr()) as usize, bytes: buffer.len() };
        let plots = [PlacedRegion { region, node: Some(0), homes: Vec::new() }];
        let (pages, nodes) = (look_up(&plots), look_up_nodes(&plots));
        assert!(pages.is_none_or(|pages| pages.total() >= 1 << 20), "{pages:?}");
        assert!(nodes.is_none_or(|nodes| nodes.bytes >= 1 << 20), "{nodes:?}");
    }

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

    #[test]
    fn pages_on_another_node_are_not_local() {
        let plots = [plot(0x7f00_0000_0000, Some(0)), plot(0x7f10_0000_0000, Some(1))];
        let nodes = from_maps(MAPS, NUMA_MAPS, &plots, &|node| vec![node]).unwrap();
        assert_eq!(nodes.bytes, (256 * 4 + 2 * 2048) * 1024);
        assert_eq!(nodes.local_bytes, (192 * 4 + 2 * 2048) * 1024);
        // The parts of one memory are equally near.
        let distances = |node: u32| nearest(node, &[0, 1, 4], ["10 10 20", "10 10 20", "20 20 10"][node as usize]);
        let nodes = from_maps(MAPS, NUMA_MAPS, &plots, &distances).unwrap();
        assert_eq!(nodes.local_bytes, nodes.bytes);
        assert_eq!((nearest(4, &[0, 1, 4], "20 20 10"), nearest(1, &[0, 1], "")), (vec![4], vec![1]));
    }

    #[track_caller]
    fn check_asked(blocks: &[(usize, &[u32])], expected: u64) {
        let plots: Vec<PlacedRegion> = blocks
            .iter()
            .map(|(start, homes)| PlacedRegion {
                homes: homes.to_vec(),
                ..plot(0x7f00_0000_0000 + (start << 36), Some(0))
            })
            .collect();
        let nodes = from_maps(MAPS, NUMA_MAPS, &plots, &|node| vec![node]).unwrap();
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
        assert_eq!(look_up_nodes(&[plot(0x7f00_0000_0000, None)]), None);
        assert_eq!(from_maps(MAPS, NUMA_MAPS, &[plot(0x1000, Some(0))], &|node| vec![node]), None);
    }
}
