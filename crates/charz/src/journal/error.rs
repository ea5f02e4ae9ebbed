//! Why a journal could not be read or written.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Why a journal could not be read or written: one sentence. It can be cloned, since the first failure of a journal is its
/// answer from then on.
#[derive(Clone, Debug)]
pub struct JournalError {
    sentence: String,
    source: Option<Arc<io::Error>>,
}

impl JournalError {
    pub(super) fn new(sentence: String) -> Self {
        JournalError { sentence, source: None }
    }

    pub(super) fn io(sentence: String, source: io::Error) -> Self {
        JournalError { sentence, source: Some(Arc::new(source)) }
    }

    /// The kind of the operating system's error behind it. Without one, the file or the record is what cannot be used.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        self.source.as_ref().map(|error| error.kind())
    }

    /// The operating system's error behind it, by itself.
    pub fn into_source(self) -> Option<Box<dyn Error + Send + Sync>> {
        self.source.map(|error| Box::new(error) as _)
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl Error for JournalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|error| error as _)
    }
}
