//! Where the history is kept.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::exit::Error;

/// The variable that names the file where no flag does.
pub const VARIABLE: &str = "CHARZ_DB";

/// The file of a history: the one that was named, else that of [`VARIABLE`], else `charz/history.db` in `$XDG_DATA_HOME`, or in
/// `~/.local/share` where that is not an absolute path, as the XDG Base Directory Specification 0.8 has it. `variable` looks
/// into the environment.
///
/// # Errors
/// The variable holds nothing, or there is no home.
pub fn file(named: Option<PathBuf>, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Error> {
    let named = named.or_else(|| variable(VARIABLE).map(PathBuf::from));
    if let Some(file) = named {
        if file.as_os_str().is_empty() {
            return Err(Error::bad_input(format!(
                "the history's file has no name; name it by --db FILE or {VARIABLE}=FILE, or leave both out"
            )));
        }
        return Ok(file);
    }
    let absolute = |name| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("charz/history.db")).ok_or_else(|| {
        Error::bad_input(
            "there is no place for the history: neither XDG_DATA_HOME nor HOME is an absolute path; name a file by --db FILE",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(named: Option<&str>, variables: &[(&str, &str)], expected: Option<&str>) {
        let variable =
            |wanted: &str| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| OsString::from(value));
        let found = file(named.map(PathBuf::from), variable);
        assert_eq!(found.ok(), expected.map(PathBuf::from), "{named:?} {variables:?}");
    }

    #[test]
    fn what_is_nearest_to_the_user_names_the_file() {
        let (home, data) = (("HOME", "/home/u"), ("XDG_DATA_HOME", "/data"));
        check(Some("a.db"), &[("CHARZ_DB", "b.db"), home, data], Some("a.db"));
        check(None, &[("CHARZ_DB", "b.db"), home, data], Some("b.db"));
        check(None, &[home, data], Some("/data/charz/history.db"));
        check(None, &[home], Some("/home/u/.local/share/charz/history.db"));
        check(None, &[home, ("XDG_DATA_HOME", "not/absolute")], Some("/home/u/.local/share/charz/history.db"));
    }

    #[test]
    fn nothing_is_no_name() {
        check(None, &[("CHARZ_DB", ""), ("HOME", "/home/u")], None);
        check(Some(""), &[("HOME", "/home/u")], None);
        check(None, &[], None);
        check(None, &[("HOME", "here")], None);
    }
}
