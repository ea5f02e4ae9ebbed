//! The parsers of foreign text by themselves: what the fuzz targets drive. No part of the crate's interface. Errors are the reasons
//! that [`discover`](crate::discover) reports.

use std::path::Path;

use crate::cgroup::{self, Group};
use crate::discover::{self, synthetic, xml};
use crate::{Machine, NumaNode, mapper, usable};

/// How many strands a synthetic description has, if it passes the check that comes before hwloc.
pub fn synthetic(text: &str) -> Result<u64, String> {
    synthetic::check(text).map(|description| description.counts.iter().map(|(count, _)| count).product())
}

/// The text of a file as hwloc gets it, if it passes the check that comes before.
pub fn xml(bytes: &[u8]) -> Result<String, String> {
    xml::check(&xml::decode(bytes.to_vec())?)
}

/// The machine in a text that [`xml`] has passed.
pub fn machine(xml: &str) -> Result<Machine, String> {
    discover::from_xml(xml, String::new()).map(|(machine, _)| machine)
}

/// The control groups of a process, given the text of its files `cgroup` and `mountinfo`.
pub fn groups(controller: &str, groups: &str, mounts: &str) -> Vec<Group> {
    cgroup::groups_in(controller, groups, mounts)
}

/// The tightest quota of the groups in CPUs' worth, given the content of every file of theirs.
pub fn quota(groups: &[Group], content: &str) -> Option<f64> {
    cgroup::tightest(groups, &|_: &Path| Some(content.to_owned()))
}

/// The ids in the line `Cpus_allowed_list:` of a status file.
pub fn allowed_list(status: &str) -> Option<Vec<u32>> {
    usable::allowed_list(status)
}

/// Whether `/proc/meminfo` contradicts the sizes of the nodes.
pub fn memory_doubt(nodes: &[NumaNode], meminfo: &str) -> Option<String> {
    discover::memory_doubt(nodes, meminfo)
}

/// The strands in the answer of a mapper program, or what the program did, as the end of the sentence "the mapper program …".
pub fn answer(bytes: &[u8]) -> Result<Vec<u32>, String> {
    mapper::answer(bytes)
}
