//! What a report is called on the command line: its file, `-` for standard input, or `last`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::command::STREAM;
use crate::exit::Error;
use charz_data::escape::quoted;
use charz_data::{Arrange, report};
use charz_system::origin::{self, Invoker};

/// The user's newest report of this folder.
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
    if name.is_dir() {
        let folder = quoted(&name.to_string_lossy());
        return Err(Error::bad_input(format!(
            "{name:?} is a folder; name a report in it, or type: charz fleet show {folder}"
        )));
    }
    // A file of this name is what was named.
    if name.as_os_str() != LAST || name.symlink_metadata().is_ok() {
        return Ok(name);
    }
    let (newest, foreign) = newest(Path::new("."), &Invoker::current());
    let newest = newest.ok_or_else(|| {
        Error::bad_input(match &foreign[..] {
            [] => "last: there is no report in this folder (*.json, *.json.gz); name its file".to_owned(),
            _ => format!("last: no report in this folder is your own; name one of another user: {}", listed(&foreign)),
        })
    })?;
    let newer =
        if foreign.is_empty() { String::new() } else { format!("; newer, of other users: {}", listed(&foreign)) };
    notes.push(format!("last is {newest:?}{newer}"));
    Ok(newest)
}

/// How many files of other users are named.
const MOST_NAMED: usize = 3;

fn listed(files: &[(PathBuf, u32)]) -> String {
    let named = files.iter().take(MOST_NAMED).map(|(file, user)| format!("{file:?} of {}", origin::name(*user)));
    let more = files.len().saturating_sub(MOST_NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// The invoker's own report in the folder that was written last, by the times of the files, and those of other users that are newer.
fn newest(folder: &Path, invoker: &Invoker) -> (Option<PathBuf>, Vec<(PathBuf, u32)>) {
    let named = |name: &str| name.ends_with(".json") || name.ends_with(".json.gz");
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let name = PathBuf::from(entry.ok()?.file_name());
            let file = folder.join(&name);
            let about = file.metadata().ok()?;
            // A link of another user leads wherever they like.
            let owner = origin::foreign_link(&file, invoker).unwrap_or(about.uid());
            name.to_str().is_some_and(named).then_some((about.modified().ok()?, name, owner))
        })
        .collect();
    files.arrange_by(|one, other| other.cmp(one));
    let mut foreign = Vec::new();
    for (_, name, owner) in files {
        if !report::is_report(&folder.join(&name)) {
            continue;
        }
        if invoker.owns(owner) {
            return (Some(name), foreign);
        }
        foreign.push((name, owner));
    }
    (None, foreign)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, lchown, symlink};
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    #[allow(clippy::print_stdout, reason = "a skipped test says so")]
    fn last_is_the_newest_report_of_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, age: u64| {
            let file = folder.path().join(name);
            fs::write(&file, r#"{"schema":{"name":"charz-report","major":1,"minor":0}}"#).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
            file
        };
        let (own, invoker) = (put("own.json", 100), Invoker::current());
        let theirs = put("theirs.json", 10);
        put("old.json.gz", 1000);
        fs::write(folder.path().join("other.json"), "{}").unwrap();
        let newest = || newest(folder.path(), &invoker);
        assert_eq!(newest(), (Some("theirs.json".into()), Vec::new()));
        if chown(&theirs, Some(65_534), None).is_err() {
            println!("not tested: only root gives files away");
            return;
        }
        assert_eq!(newest(), (Some("own.json".into()), vec![("theirs.json".into(), 65_534)]));
        let link = folder.path().join("link.json");
        symlink(&own, &link).unwrap();
        assert!(newest().0.is_some_and(|name| ["own.json", "link.json"].map(PathBuf::from).contains(&name)));
        lchown(&link, Some(65_534), None).unwrap();
        assert_eq!(newest().0, Some("own.json".into()));
        fs::remove_file(own).unwrap();
        fs::remove_file(folder.path().join("old.json.gz")).unwrap();
        assert_eq!(newest().0, None);
    }
}
