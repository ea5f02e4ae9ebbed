//! A journal: a file of JSON lines that only grows, so results survive any abnormal end of the program.
//!
//! The first line holds a header, each other line a record. [`Journal::append`] returns once its record is on the disk, and
//! [`Journal::reopen`] recovers every record that was acknowledged in this way. A line that is torn or is not the JSON of a
//! record is reported and skipped; the other lines are kept.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::atomic_file::{open_regular, sync_folder};
use crate::lock;
use charz_data::report::{SCHEMA_MAJOR, Schema, from_json};
use charz_system::origin::{self, Invoker};

#[cfg(test)]
mod tests;

/// The largest journal that is written or read: the size of the largest report.
pub const MAX_BYTES: u64 = 2 << 30;
/// A hostile file has a thousand million damaged lines; more than these are only counted.
const MOST_NAMED: usize = 100;
const START: &[u8] = b"{\"journal\":";

#[derive(Debug, Error)]
pub enum JournalError {
    #[error("cannot {action} the journal {path:?}")]
    System { action: &'static str, path: PathBuf, source: io::Error },
    #[error("another charz is writing to the journal {0:?}; wait until it ends, or end it")]
    Busy(PathBuf),
    #[error("{path:?} {reason}")]
    Unusable { path: PathBuf, reason: String },
}

impl JournalError {
    pub fn path(&self) -> &Path {
        match self {
            JournalError::System { path, .. } | JournalError::Busy(path) | JournalError::Unusable { path, .. } => path,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct First<H> {
    journal: H,
}

/// What of a header says by which version its sweep was begun.
#[derive(Deserialize)]
struct Begun {
    report: Format,
}

#[derive(Deserialize)]
struct Format {
    schema: Schema,
}

/// A journal that is open for appending, by this process alone.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    length: u64,
    torn: bool,
    ended: bool,
}

#[derive(Debug)]
pub struct Recovered<H, R> {
    pub header: H,
    /// The intact records, in the order of their lines.
    pub records: Vec<R>,
    /// The number of each damaged line, from 1, and what is wrong with it. The first 100 of them.
    pub damaged: Vec<(u64, String)>,
    pub unnamed: u64,
}

/// The journal of a file: `r.json.journal` for `r.json`.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".journal");
    file.with_file_name(name)
}

pub fn is_journal(path: &Path) -> bool {
    let mut start = [0; START.len()];
    let file = open_regular(path, OpenOptions::new().read(true), OFlags::empty());
    file.and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == START
}

/// Removes a journal that ends within its first line: its sweep was killed before it recorded anything. `false` for any other file, for
/// one that another process has locked, and where files cannot be locked.
pub fn remove_unbegun(path: &Path) -> bool {
    let file = open_regular(path, OpenOptions::new().read(true).append(true), OFlags::NOFOLLOW);
    let Some(file) = file.ok().filter(|file| lock::linger(file).is_ok_and(|locked| locked)) else { return false };
    let mut line = Vec::new();
    let read = BufReader::new((&file).take(MAX_BYTES)).read_until(b'\n', &mut line);
    let is_ours = line.starts_with(START) || START.starts_with(&line);
    let is_whole = line.ends_with(b"\n") || serde_json::from_slice::<IgnoredAny>(&line).is_ok();
    read.is_ok() && is_ours && !is_whole && lock::is_at(&file, path) && fs::remove_file(path).is_ok()
}

impl Journal {
    /// Creates a journal, readable by its owner only, and puts its header on the disk. Refused if anything has that name; if
    /// the header cannot be written, no file is left.
    pub fn create<H: Serialize + DeserializeOwned>(path: &Path, header: H) -> Result<Self, JournalError> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| system("create", path, error))?;
        let mut journal = Journal { file, path: path.to_owned(), length: 0, torn: false, ended: false };
        let begun = journal.lock().and_then(|()| match path.symlink_metadata() {
            Ok(_) => journal.append(&First { journal: header }),
            // Removed before it was locked: another process begins a sweep of this name.
            Err(_) => Err(JournalError::Busy(path.to_owned())),
        });
        let begun = begun.and_then(|()| sync_folder(path).map_err(|error| system("create", path, error)));
        match begun {
            Ok(()) => Ok(journal),
            Err(error) => {
                // A file that cannot be removed is refused by its first line.
                let _ = fs::remove_file(path);
                Err(error)
            }
        }
    }

    /// Recovers a journal and opens it to go on after its last line. Nothing is written before the next [`Self::append`]. A
    /// symbolic link is refused, and so is a journal of another user than the invoker and root, who could change what is recorded.
    pub fn reopen<H: DeserializeOwned, R: DeserializeOwned>(
        path: &Path,
    ) -> Result<(Self, Recovered<H, R>), JournalError> {
        let refused = |error| system("open", path, error);
        let file = open_regular(path, OpenOptions::new().read(true).append(true), OFlags::NOFOLLOW).map_err(refused)?;
        let (owner, invoker) = (file.metadata().map_err(refused)?.uid(), Invoker::current());
        if !invoker.trusts(owner) {
            let user = origin::name(owner);
            return Err(unusable(path, format!("belongs to {user}, so it is not continued; name another file")));
        }
        let mut journal = Journal { file, path: path.to_owned(), length: 0, torn: false, ended: false };
        journal.lock()?;
        journal.length = journal.file.metadata().map_err(refused)?.len();
        if journal.length > MAX_BYTES {
            return Err(unusable(path, format!("has {} bytes; a journal has at most {MAX_BYTES}", journal.length)));
        }
        let recovered = parse(BufReader::new((&journal.file).take(MAX_BYTES)), path)?;
        let mut last = [0];
        journal.file.read_exact_at(&mut last, journal.length - 1).map_err(refused)?;
        journal.torn = last != *b"\n";
        Ok((journal, recovered))
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Appends a record. When this returns, the record survives the end of the program and a power cut.
    ///
    /// The first write that fails ends the journal: a second fsync may succeed although the bytes are lost, since Linux marks
    /// pages that it could not write as clean (Rebello et al., *Can Applications Recover from fsync Failures?*, USENIX ATC 2020).
    pub fn append<R: Serialize + DeserializeOwned>(&mut self, record: &R) -> Result<(), JournalError> {
        if self.ended {
            return Err(unusable(&self.path, "takes no more records since a write to it failed"));
        }
        let mut line = if self.torn { b"\n".to_vec() } else { Vec::new() };
        // As reports are written: for each kind of writer the compiler builds all that writes them.
        serde_json::to_writer(&mut line as &mut dyn Write, record)
            // Some values are written as what cannot be read, such as a number that is not finite.
            .and_then(|()| from_json::<R>(&line).map(drop))
            .map_err(|error| {
                unusable(&self.path, format!("cannot hold a record that cannot be read again: {error}"))
            })?;
        line.push(b'\n');
        let length = self.length + line.len() as u64;
        if length > MAX_BYTES {
            return Err(unusable(&self.path, format!("would have more than {MAX_BYTES} bytes")));
        }
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(|error| {
            self.ended = true;
            system("write to", &self.path, error)
        })?;
        (self.length, self.torn) = (length, false);
        Ok(())
    }

    /// Two processes that resume one sweep would mix their records. A file system without locks does without.
    fn lock(&self) -> Result<(), JournalError> {
        match lock::linger(&self.file) {
            Ok(false) => Err(JournalError::Busy(self.path.clone())),
            Ok(true) | Err(_) => Ok(()),
        }
    }
}

/// Reads the lines of a journal; `path` is for messages.
pub fn parse<H: DeserializeOwned, R: DeserializeOwned>(
    mut reader: impl BufRead,
    path: &Path,
) -> Result<Recovered<H, R>, JournalError> {
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        reader.read_until(b'\n', line).map_err(|error| system("read", path, error))
    };
    if next(&mut line)? == 0 {
        return Err(unusable(
            path,
            "is empty: a sweep ended before it wrote to it; remove it, then resume its report if there is one, else start a new sweep",
        ));
    }
    if !line.starts_with(START) {
        return Err(unusable(path, "is not a journal that charz wrote; name another file"));
    }
    let First { journal: header } = from_json(&line).map_err(|error| {
        if let Ok(First { journal: Begun { report } }) = from_json(&line)
            && report.schema.major != SCHEMA_MAJOR
        {
            let Schema { major, minor, .. } = report.schema;
            return unusable(
                path,
                format!("is of a sweep that another version of charz began (format {major}.{minor}); finish it with that one, or remove it"),
            );
        }
        let what = words(&error);
        unusable(
            path,
            format!("is a journal whose first line cannot be used ({what}); remove it, then resume its report if there is one, else start a new sweep"),
        )
    })?;
    let mut recovered = Recovered { header, records: Vec::new(), damaged: Vec::new(), unnamed: 0 };
    for number in 2.. {
        if next(&mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match from_json(&line) {
            Ok(record) => recovered.records.push(record),
            Err(error) if recovered.damaged.len() < MOST_NAMED => recovered.damaged.push((number, words(&error))),
            Err(_) => recovered.unnamed += 1,
        }
    }
    Ok(recovered)
}

/// The first 200 characters of the JSON reader's message, which may quote the file.
fn words(error: &serde_json::Error) -> String {
    error.to_string().chars().take(200).collect()
}

fn system(action: &'static str, path: &Path, source: io::Error) -> JournalError {
    JournalError::System { action, path: path.to_owned(), source }
}

fn unusable(path: &Path, reason: impl Into<String>) -> JournalError {
    JournalError::Unusable { path: path.to_owned(), reason: reason.into() }
}
