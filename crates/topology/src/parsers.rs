//! The parsers of foreign text by themselves: what the fuzz targets drive. No part of the crate's interface. Errors are the reasons
//! that [`discover`](crate::discover) reports.

use crate::Machine;
use crate::discover::{self, synthetic, xml};

pub use crate::discover::memory_doubt;
pub use crate::mapper::answer;

/// How many strands a synthetic description has, if it passes the check that comes before hwloc.
pub fn synthetic(text: &str) -> Result<u64, String> {
    synthetic::check(text).map(|description| description.strands())
}

/// The text of a file as hwloc gets it, if it passes the check that comes before.
pub fn xml(bytes: &[u8]) -> Result<String, String> {
    xml::check(&xml::decode(bytes.to_vec())?)
}

/// The machine in a text that [`xml`] has passed.
pub fn machine(xml: &str) -> Result<Machine, String> {
    discover::from_xml(xml, String::new())
}
