//! `charz lockutil`: which share of a machine's CPUs waited for each lock.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{STREAM, render, stream};
use crate::exit::{Error, Exit};
use crate::view::lockutil::{Format, Page};
use crate::view::present;
use charz_analysis::lock_waits::{LockWaits, of_report, read};
use charz_data::escape::counted;
use charz_data::report::unpacked;
use charz_measure::journal::{beside, is_journal};

pub struct Options {
    pub file: PathBuf,
    /// `None` is known of reports only.
    pub cpus: Option<usize>,
    pub elapsed_s: Option<f64>,
    pub format: &'static Format,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let Options { file, cpus, elapsed_s, format } = options;
    let name = if file.as_os_str() == STREAM { "standard input".to_owned() } else { format!("{file:?}") };
    let bytes = bytes(file, &name)?;
    // A report begins with a brace, after a byte-order mark perhaps.
    let is_report = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start().starts_with(b"{");
    let (found, cpus) = if is_report {
        let (report, _) = render::read_stream(&name, &bytes[..])?;
        (of_report(&report), cpus.unwrap_or_else(|| report.machine.usable_strands().count()))
    } else {
        let cpus = cpus.ok_or_else(|| {
            Error::bad_input("-n is missing: how many CPUs has the machine that this is from? example: -n 64")
        })?;
        (read(&String::from_utf8_lossy(&bytes)).map_err(str::to_owned), cpus)
    };
    let found = found.and_then(|found| nothing(&found).map_or(Ok(found), Err));
    let found = found.map_err(|reason| Error::bad_input(format!("{name}: {reason}")))?;
    if found.waits.iter().any(|wait| wait.share(cpus, *elapsed_s).is_none()) {
        return Err(Error::bad_input(format!(
            "{name} does not tell how long it watched; add --elapsed, example: --elapsed 30s"
        )));
    }
    present(format, &Page { found: &found, cpus, elapsed_s: *elapsed_s }, out)?;
    Ok(Exit::Done)
}

/// Why there is nothing to add up.
fn nothing(found: &LockWaits) -> Option<String> {
    if !found.waits.is_empty() {
        return None;
    }
    let left_out = found.notes.first().map(|note| format!("; {note}")).unwrap_or_default();
    let unknown = match found.first_unknown.first() {
        Some(line) => format!("; {} could not be read, the first: {line:?}", counted(found.unknown, "line")),
        None => String::new(),
    };
    Some(format!("there is no wait for a lock in it{left_out}{unknown}"))
}

fn bytes(file: &Path, name: &str) -> Result<Vec<u8>, Error> {
    let is_stream = file.as_os_str() == STREAM;
    if !is_stream && (is_journal(file) || (!file.exists() && is_journal(&beside(file)))) {
        // It refuses it, and says how to get the report.
        render::read(file)?;
    }
    let bytes = unpacked(name, stream(file, name)?).map_err(render::unreadable)?;
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Error::bad_input(format!("{name}: it is UTF-16; convert it with iconv -f UTF-16 -t UTF-8")));
    }
    Ok(bytes)
}
