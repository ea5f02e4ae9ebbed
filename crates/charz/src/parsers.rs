//! The parsers of foreign text by themselves: what the fuzz targets drive. No part of the crate's interface.

use crate::command::{latencies, sizes, sweep};
use crate::exit::Error;
use charz_data::report::{self, Report};

pub fn report(text: &str) -> Result<Report, Error> {
    report::parse(text).map_err(Error::bad_input)
}

/// How many CPUs the latencies in a text have, and in how many levels they are.
pub fn latencies(text: &str) -> Result<(usize, usize), String> {
    latencies::from_text(text)
}

/// The sizes in bytes and the latencies in nanoseconds of a table.
pub fn latency_by_size(text: &str) -> Result<Vec<(u64, f64)>, String> {
    Ok(sizes::parse(text)?.into_iter().map(|point| (point.size_bytes, point.ns)).collect())
}

/// The report in a journal's bytes, and sentences about what was lost of it.
pub fn journal(bytes: &[u8]) -> Result<(Report, Vec<String>), Error> {
    sweep::from_bytes(bytes)
}
