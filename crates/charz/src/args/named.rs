//! What a report is called on the command line: its file, `-` for standard input, or `last`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::STREAM;
use crate::exit::Error;
use charz_data::report;

/// The newest report of this folder.
const LAST: &str = "last";

/// The reports that were named; `notes` get what `last` stands for.
pub(super) fn reports(named: Vec<PathBuf>, notes: &mut Vec<String>) -> Result<Vec<PathBuf>, Error> {
    let files = named.into_iter().map(|name| report(name, notes)).collect::<Result<Vec<_>, Error>>()?;
    if files.iter().filter(|file| file.as_os_str() == STREAM).count() > 1 {
        return Err(Error::bad_input("- is named more than once, and standard input holds one report; name files"));
    }
    Ok(files)
}

pub(super) fn report(name: PathBuf, notes: &mut Vec<String>) -> Result<PathBuf, Error> {
    if name.as_os_str() == "/dev/stdin" {
        return Ok(STREAM.into());
    }
    // A file of this name is what was named.
    if name.as_os_str() != LAST || name.symlink_metadata().is_ok() {
        return Ok(name);
    }
    let newest = newest(Path::new(".")).ok_or_else(|| {
        Error::bad_input("last: there is no report in this folder (*.json, *.json.gz); name its file")
    })?;
    notes.push(format!("last is {newest:?}"));
    Ok(newest)
}

/// The report in the folder that was written last, by the times of the files.
fn newest(folder: &Path) -> Option<PathBuf> {
    let named = |name: &str| name.ends_with(".json") || name.ends_with(".json.gz");
    let mut files: Vec<_> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| {
            let name = PathBuf::from(entry.ok()?.file_name());
            let file = folder.join(&name);
            let changed = file.metadata().ok()?.modified().ok()?;
            name.to_str().is_some_and(named).then_some((changed, name))
        })
        .collect();
    files.sort_by(|one, other| other.cmp(one));
    files.into_iter().map(|(_, name)| name).find(|name| report::is_report(&folder.join(name)))
}
