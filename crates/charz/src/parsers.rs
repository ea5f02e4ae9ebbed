//! The parsers of foreign text by themselves: what the fuzz targets drive. No part of the crate's interface.

use charz_kernels::Region;

use crate::command::sweep;
use crate::exit::Error;
use crate::harness::pages::{self, PlacedRegion};
use charz_data::report::{self, Nodes, Pages, Report};

pub fn report(text: &str) -> Result<Report, Error> {
    report::parse(text).map_err(Error::bad_input)
}

/// The report in a journal's bytes, and sentences about what was lost of it.
pub fn journal(bytes: &[u8]) -> Result<(Report, Vec<String>), Error> {
    sweep::from_bytes(bytes)
}

/// Where the pages of a region lie whose worker is on NUMA node 0, by the text of `/proc/self/maps` and `/proc/self/numa_maps`.
pub fn nodes(maps: &str, numa_maps: &str, region: Region) -> Option<Nodes> {
    pages::from_maps(maps, numa_maps, &[PlacedRegion { region, node: Some(0), homes: vec![0, 1] }])
}

/// The pages of regions, by the text of `/proc/self/smaps`.
pub fn pages(smaps: &str, regions: &[Region]) -> Option<Pages> {
    let plots: Vec<PlacedRegion> =
        regions.iter().map(|&region| PlacedRegion { region, node: None, homes: Vec::new() }).collect();
    pages::from_smaps(smaps, &plots)
}
