//! Why a report file cannot be read.

use std::fmt;
use std::io;

/// Why a report could not be read: one sentence.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileError {
    sentence: String,
    source: Option<io::Error>,
}

impl FileError {
    pub fn new(sentence: String) -> Self {
        FileError { sentence, source: None }
    }

    pub fn io(sentence: String, source: io::Error) -> Self {
        FileError { sentence, source: Some(source) }
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
