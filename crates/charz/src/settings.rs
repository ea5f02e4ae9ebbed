//! The files of a user: where they are, and the text of those that people write: settings of a sweep, expectations, tolerances.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::exit::{Error, Exit};
use crate::log;

/// The largest file in bytes: thousands of times what all settings take.
const MAX_BYTES: u64 = 1 << 20;

/// The whole text of a file of TOML; `flag` is the one that names it.
///
/// # Errors
/// A sentence that begins with `flag` about what is no regular file, cannot be read, is larger than 1 MiB, or no UTF-8.
pub(crate) fn text(flag: &str, path: &Path) -> Result<String, Error> {
    open(flag, path).map(|(text, _)| text)
}

/// As [`text`], with the file that was read.
pub(crate) fn open(flag: &str, path: &Path) -> Result<(String, File), Error> {
    let refuse = |why: String| Error::bad_input(format!("{flag}: {path:?} {why}"));
    let unreadable = |error: std::io::Error| {
        Error::ended(Exit::of_path(&error), format!("{flag}: {path:?} cannot be read")).caused_by(error)
    };
    // Before it is opened: a FIFO would wait for a writer.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(refuse("is not a regular file; name a file of TOML".into()));
    }
    let (file, mut bytes) = (File::open(path).map_err(unreadable)?, Vec::new());
    (&file).take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(format!("is larger than {} MiB, which no file of settings is", MAX_BYTES >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("is not UTF-8 text".into()))?;
    log::line("read", || format!("{flag} {path:?}, {} bytes", text.len()));
    Ok((text, file))
}

/// A user's file in the folder of a variable, or in a folder of the home where that is not an absolute path, as the XDG Base
/// Directory Specification 0.8 has it.
pub(crate) fn user_file(
    variable: &str,
    folder: &str,
    file: &str,
    value: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let absolute = |name| value(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(folder)))?;
    Some(folder.join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_a_folder_for_each_kind_of_file() {
        let file = |state: &str, home: &str| {
            let value = |name: &str| Some(if name == "HOME" { home } else { state }.into());
            user_file("XDG_STATE_HOME", ".local/state", "charz/x", value)
        };
        assert_eq!(file("/s", "/h"), Some("/s/charz/x".into()));
        assert_eq!(file("relative", "/h"), Some("/h/.local/state/charz/x".into()));
        assert_eq!(file("", ""), None);
    }
}
