//! Writing report files. A file is replaced whole or not at all.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use super::Report;
use crate::atomic_file;

/// Why a report could not be read or written: one sentence.
#[derive(Debug)]
pub struct FileError {
    sentence: String,
    source: Option<io::Error>,
}

impl FileError {
    pub(super) fn new(sentence: String) -> Self {
        FileError { sentence, source: None }
    }

    pub(super) fn io(sentence: String, source: io::Error) -> Self {
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

/// Writes a report to a path where nothing stands yet, and puts it on the disk.
///
/// # Errors
/// A sentence that says what the system refused; [`FileError::kind`] is `AlreadyExists` when a file is in the way.
pub fn write_new(path: &Path, report: &Report) -> Result<(), FileError> {
    atomic_file::create(path, |writer| fill(writer, report)).map_err(|error| refused(path, error))
}

/// Replaces a report in one step: whoever reads the path sees the old file or the new one.
///
/// # Errors
/// A sentence that says what the system refused; the old file is untouched.
pub fn save(path: &Path, report: &Report) -> Result<(), FileError> {
    atomic_file::replace(path, |writer| fill(writer, report)).map_err(|error| refused(path, error))
}

/// Takes room for the next [`save`] of a report of at most `bytes` bytes, so that what is measured until then can be kept.
///
/// # Errors
/// A sentence that says what the system refused; the report is untouched.
pub fn reserve(path: &Path, bytes: u64) -> Result<(), FileError> {
    atomic_file::reserve(path, bytes).map_err(|error| refused(path, error))
}

/// Gives the room back that [`reserve`] took.
pub fn release(path: &Path) {
    atomic_file::release(path);
}

fn fill(writer: &mut dyn Write, report: &Report) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, report)?;
    writer.write_all(b"\n")
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
