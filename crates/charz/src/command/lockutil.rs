//! `charz lockutil`: which share of a machine's CPUs waited for each lock.

use std::fs::File;
use std::io::{Read, Write, stdin};
use std::path::{Path, PathBuf};

use super::STREAM;
use super::render::is_something_else;
use crate::exit::{Error, Exit};
use crate::view::lockutil::{Format, Page};
use charz_analysis::lock_waits::{LockWaits, of_report, read};
use charz_data::report::is_report;

pub struct Options {
    pub file: PathBuf,
    /// `None` is known of reports only.
    pub cpus: Option<usize>,
    pub elapsed_s: Option<f64>,
    pub format: &'static Format,
}

/// The largest listing: one of a machine with a million locks is a tenth of it.
const MOST_BYTES: u64 = 1 << 30;

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let Options { file, cpus, elapsed_s, format } = options;
    let is_json = file.extension().is_some_and(|ending| ending == "json" || ending == "gz");
    let (found, cpus) = if is_report(file) || (is_json && !is_something_else(file)) {
        let report = super::render::read(file)?;
        let strands = report.machine.usable_strands().count();
        (of_report(&report), cpus.unwrap_or(strands))
    } else {
        let cpus = cpus.ok_or_else(|| {
            Error::bad_input("-n is missing: how many CPUs has the machine that this is from? example: -n 64")
        })?;
        (read(&text(file)?), cpus)
    };
    let name = if file.as_os_str() == STREAM { "standard input".to_owned() } else { format!("{file:?}") };
    if let Some(without) = nothing(&found) {
        return Err(Error::bad_input(format!("{name}: {without}")));
    }
    if found.waits.iter().any(|wait| wait.share(cpus, *elapsed_s).is_none()) {
        return Err(Error::bad_input(format!(
            "{name} does not tell how long it watched; add --elapsed, example: --elapsed 30s"
        )));
    }
    (format.write)(&Page { found: &found, cpus, elapsed_s: *elapsed_s }, out)?;
    Ok(Exit::Done)
}

/// Why there is nothing to add up.
fn nothing(found: &LockWaits) -> Option<String> {
    if !found.waits.is_empty() {
        return None;
    }
    let left_out = found.notes.first().map(|note| format!("; {note}")).unwrap_or_default();
    let unknown = match found.first_unknown.first() {
        Some(line) => format!("; {} lines could not be read, the first: {line:?}", found.unknown),
        None => String::new(),
    };
    Some(format!("there is no wait for a lock in it{left_out}{unknown}"))
}

fn text(file: &Path) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let read = match file.as_os_str() == STREAM {
        true => stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes),
        false => File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Error::ended(Exit::of_path(&error), format!("cannot read {file:?}: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::bad_input(format!("{file:?} is longer than a GiB; name a part of it")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
