//! `charz render`.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Error, Exit};
use crate::journal;
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

/// Reads a report that the user named; of one that is not there yet, or is still a journal, it says how to get it.
pub(super) fn read(path: &Path) -> Result<report::Report, Error> {
    let unfinished = |report: &Path| {
        Error::bad_input(format!(
            "{path:?} belongs to a sweep that was not finished, or still runs; charz sweep --resume {report:?} finishes it, \
             with --budget 1ms without measuring more"
        ))
    };
    if journal::is_journal(path) {
        return Err(unfinished(&path.with_extension("")));
    }
    report::read(path).map_err(|error| match error.kind() {
        Some(ErrorKind::NotFound) if journal::is_journal(&journal::beside(path)) => unfinished(path),
        _ => Error::from_bad_file(error),
    })
}
