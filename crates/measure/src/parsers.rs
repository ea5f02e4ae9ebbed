//! The parsers of what the kernel reports about pages by themselves: what fuzz targets drive. No part of the crate's interface.

use charz_data::report::{Nodes, Pages};
use charz_kernels::Region;

use crate::harness::pages::{self, PlacedRegion};

/// Where the pages of a region lie whose worker is on NUMA node 0, by the text of `/proc/self/maps` and `/proc/self/numa_maps`.
pub fn nodes(maps: &str, numa_maps: &str, region: Region) -> Option<Nodes> {
    pages::from_maps(maps, numa_maps, &[PlacedRegion { region, node: Some(0), homes: vec![0, 1] }], &|node| vec![node])
}

/// The pages of regions, by the text of `/proc/self/smaps`.
pub fn pages(smaps: &str, regions: &[Region]) -> Option<Pages> {
    let plots: Vec<PlacedRegion> =
        regions.iter().map(|&region| PlacedRegion { region, node: None, homes: Vec::new() }).collect();
    pages::from_smaps(smaps, &plots)
}
