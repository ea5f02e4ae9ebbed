//! What is said when the database refuses.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::exit::Error;

/// The sentence for what SQLite answered, with the exit code that goes with it.
pub(super) fn told(path: &Path, error: rusqlite::Error) -> Error {
    let Some(code) = error.sqlite_error_code() else { return damaged(path, &error.to_string()) };
    let system = |what: &str| Error::environment(format!("the history {path:?} {what}"));
    match code {
        ErrorCode::NotADatabase => {
            Error::bad_input(format!("{path:?} is no history: it is not a database; name another file by --db FILE"))
        }
        ErrorCode::DatabaseCorrupt => damaged(path, "a part of it cannot be read"),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            system("is in use by another program, and nothing was changed; try again when that has ended")
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
            system("cannot be written, and nothing was changed; name another file by --db FILE, or be its owner")
        }
        ErrorCode::DiskFull => system("finds no room on its disk, and nothing was changed; make room and try again"),
        ErrorCode::CannotOpen => system("cannot be opened; name another file by --db FILE").caused_by(error),
        _ => system("is refused by the system, and nothing was changed").caused_by(error),
    }
}

/// The file is not what this program wrote.
pub(super) fn damaged(path: &Path, what: &str) -> Error {
    Error::bad_input(format!(
        "the history {path:?} is damaged: {what}; take a copy of it, or move it away and add the reports again"
    ))
}
