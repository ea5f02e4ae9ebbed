use std::path::PathBuf;

/// A file of the system that does not hold what the kernel documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", file.display())]
pub struct Error {
    /// The file, as this process opens it for itself.
    pub file: PathBuf,
    /// What is wrong with it, as the end of a sentence about the file.
    pub why: String,
}

impl Error {
    pub(crate) fn new(file: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Error { file: file.into(), why: why.into() }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}
