//! Reading and writing report files. A file is replaced whole or not at all.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Report, SCHEMA_MAJOR, SCHEMA_NAME, Schema};

/// The largest file that is read: about 100 times a sweep of 512 strands.
const MAX_BYTES: u64 = 2 << 30;

/// Why a report could not be read or written: one sentence.
#[derive(Debug)]
pub struct FileError {
    sentence: String,
    source: Option<io::Error>,
}

impl FileError {
    fn new(sentence: String) -> Self {
        FileError { sentence, source: None }
    }

    fn io(sentence: String, source: io::Error) -> Self {
        FileError { sentence, source: Some(source) }
    }

    /// The operating system's error behind it, by itself.
    pub fn into_source(self) -> Option<Box<dyn std::error::Error + Send + Sync>> {
        self.source.map(Into::into)
    }

    /// The kind of the operating system's error behind it.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        self.source.as_ref().map(io::Error::kind)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}

/// Reads a report and checks its version and its sense.
///
/// # Errors
/// A sentence that names the file and what is wrong with it.
pub fn read(path: &Path) -> Result<Report, FileError> {
    let unreadable = |error| FileError::io(format!("cannot read the report {path:?}"), error);
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(FileError::new(format!("{path:?} is not a regular file; name a report that charz sweep wrote")));
    }
    if metadata.len() > MAX_BYTES {
        return Err(FileError::new(format!("{path:?} has {} bytes; a report has at most {MAX_BYTES}", metadata.len())));
    }
    let mut text = String::new();
    File::open(path).and_then(|mut file| file.read_to_string(&mut text)).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => FileError::new(format!("{path:?} is not a report: it is not UTF-8 text")),
        _ => unreadable(error),
    })?;
    parse(&text).map_err(|reason| FileError::new(format!("{path:?} is not a report that can be used: {reason}")))
}

/// Only what tells whether the rest can be understood.
#[derive(Deserialize)]
struct Head {
    schema: Schema,
}

fn parse(text: &str) -> Result<Report, String> {
    if text.trim().is_empty() {
        return Err("it is empty".into());
    }
    let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if head.schema.name != SCHEMA_NAME {
        return Err(format!("its schema is {:?}, not {SCHEMA_NAME:?}", head.schema.name));
    }
    if head.schema.major != SCHEMA_MAJOR {
        return Err(format!(
            "it has format version {}.{}, and this program reads {SCHEMA_MAJOR}.x; use the charz that wrote it",
            head.schema.major, head.schema.minor
        ));
    }
    let report: Report = serde_json::from_str(text).map_err(|error| error.to_string())?;
    check(&report)?;
    Ok(report)
}

/// What the types cannot say.
fn check(report: &Report) -> Result<(), String> {
    let mut seen = HashSet::new();
    if let Some(twice) = report.cells.iter().find(|cell| !seen.insert((&cell.kernel, &cell.mapping, cell.workers))) {
        return Err(format!("it holds {:?} under {:?} with {} twice", twice.kernel, twice.mapping, twice.workers));
    }
    for (index, cell) in report.floor.iter().chain(&report.cells).enumerate() {
        let wrong = |what: &str| {
            Err(format!("cell {index}, floor included ({:?}, {} workers), {what}", cell.kernel, cell.workers))
        };
        if cell.workers == 0 {
            return wrong("has no workers");
        }
        if cell.seats.len() as u64 != cell.workers {
            return wrong("does not have one seat a worker");
        }
        for run in &cell.runs {
            if run.laps.len() as u64 != cell.workers {
                return wrong("has a run without one lap a worker");
            }
            if run.laps.iter().any(|lap| lap.end_ns < lap.start_ns) {
                return wrong("has a lap that ends before it starts");
            }
            let first = run.laps.iter().map(|lap| lap.start_ns).min().unwrap_or(0);
            let last = run.laps.iter().map(|lap| lap.end_ns).max().unwrap_or(0);
            if run.interval_ns != last - first {
                return wrong("has an interval that is not that of its laps");
            }
        }
    }
    Ok(())
}

/// Writes a report to a path where nothing stands yet, and puts it on the disk.
///
/// # Errors
/// A sentence that says what the system refused; [`FileError::kind`] is `AlreadyExists` when a file is in the way.
pub fn write_new(path: &Path, report: &Report) -> Result<(), FileError> {
    let place = |temporary: &Path| match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without links: the name is taken first, so that only a crash within the next call leaves it empty.
        Err(_) => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::rename(temporary, path)
        }
    };
    put(path, report, place)
}

/// Replaces a report in one step: whoever reads the path sees the old file or the new one.
///
/// # Errors
/// A sentence that says what the system refused; the old file is untouched.
pub fn save(path: &Path, report: &Report) -> Result<(), FileError> {
    put(path, report, |temporary| fs::rename(temporary, path))
}

/// Writes a temporary file beside `path`, puts it on the disk, and has `place` give it the name.
fn put(path: &Path, report: &Report, place: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), FileError> {
    let temporary = temporary_name(path);
    let placed = open_temporary(&temporary).and_then(|file| write(file, report)).and_then(|()| place(&temporary));
    if let Err(error) = placed {
        let _ = fs::remove_file(&temporary);
        return Err(refused(path, error));
    }
    sync_folder(path).map_err(|error| refused(path, error))
}

/// Takes room for the next [`save`] of a report of at most `bytes` bytes, so that what is measured until then can be kept.
///
/// # Errors
/// A sentence that says what the system refused; the report is untouched.
pub fn reserve(path: &Path, bytes: u64) -> Result<(), FileError> {
    let temporary = temporary_name(path);
    let filled = open_temporary(&temporary).and_then(|mut file| {
        // Written, not only lengthened: a hole takes no room.
        let missing = bytes.saturating_sub(file.metadata()?.len());
        file.seek(SeekFrom::End(0))?;
        io::copy(&mut io::repeat(0).take(missing), &mut file).map(|_| ())
    });
    filled.map_err(|error| {
        release(path);
        refused(path, error)
    })
}

/// Gives the room back that [`reserve`] took.
pub fn release(path: &Path) {
    // If it cannot be removed it stands beside the report, as after a crash.
    let _ = fs::remove_file(temporary_name(path));
}

/// The temporary file, with the room that it has already.
fn open_temporary(temporary: &Path) -> io::Result<File> {
    match OpenOptions::new().write(true).create_new(true).open(temporary) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Ours, or that of a dead process of the same number; but a link would lead somewhere else.
            if !fs::symlink_metadata(temporary)?.is_file() {
                return Err(error);
            }
            OpenOptions::new().write(true).open(temporary)
        }
        opened => opened,
    }
}

fn write(file: File, report: &Report) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    serde_json::to_writer(&mut writer, report)?;
    writer.write_all(b"\n")?;
    let mut file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    let length = file.stream_position()?;
    file.set_len(length)?;
    file.sync_all()
}

/// In the same folder, since a rename works within one file system only; with the process's number, so that two
/// processes do not write to one name.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// A rename is on the disk once its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn refused(path: &Path, error: io::Error) -> FileError {
    FileError::io(format!("cannot write the report {path:?}"), error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        /// What a resumed sweep reads and writes again is what was measured.
        #[test]
        fn numbers_survive_the_file(value in any::<f64>().prop_filter("JSON has finite numbers only", |v| v.is_finite())) {
            let text = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), value.to_bits());
        }
    }
}
