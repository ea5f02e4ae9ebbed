//! The parsers of foreign text by themselves: what the fuzz targets drive. No part of the crate's interface.

use crate::command::sweep;
use crate::exit::Error;
use charz_data::report::{self, Report};

pub fn report(text: &str) -> Result<Report, Error> {
    report::parse(text).map_err(Error::bad_input)
}

/// The report in a journal's bytes, and sentences about what was lost of it.
pub fn journal(bytes: &[u8]) -> Result<(Report, Vec<String>), Error> {
    sweep::from_bytes(bytes)
}
