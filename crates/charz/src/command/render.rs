//! `charz render`.

use std::io::Write;
use std::path::PathBuf;

use crate::exit::{Error, Exit};
use crate::render::report::Format;
use crate::report;

/// What to show.
pub struct Options {
    /// The report's file.
    pub report: PathBuf,
    /// How.
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let report = read(&options.report)?;
    (options.format.write)(&report, out)?;
    Ok(Exit::Done)
}

/// Reads a report that the user named.
pub(super) fn read(path: &std::path::Path) -> Result<report::Report, Error> {
    report::read(path).map_err(Error::from_bad_file)
}
