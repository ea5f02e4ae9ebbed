//! Names of reports: fields in braces, and the default name.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use charz_system::file::word;
use charz_topology::{Source, discover};

use crate::exit::Error;
use charz_measure::journal;
use charz_measure::moment::rfc3339;
use charz_measure::sweep::node;

/// A field in braces, and its value at some time.
type Field = (&'static str, fn(SystemTime) -> Option<String>);

const FIELDS: [Field; 5] = [
    ("host", |_| word("/proc/sys/kernel/hostname")),
    ("node", |_| node()),
    ("date", |now| Some(date(now))),
    ("cpu", |_| discover(&Source::ThisMachine).ok()?.packages.iter().find_map(|package| package.model.clone())),
    ("job", |_| Some(job(|name| env::var(name).ok()))),
];

/// The name where none is given, and that of a report that does not say whose it is.
const USUAL: &str = "charz-{host}-{date}";
const ANONYMOUS: &str = "charz-{date}";

/// Puts values in the place of [`FIELDS`].
pub(crate) fn filled(named: PathBuf, now: SystemTime) -> Result<PathBuf, Error> {
    // What is no text has no braces of ours.
    let Some(text) = named.to_str() else { return Ok(named) };
    let (mut whole, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(b, tail)| Some((b, tail.split_once('}')?)))
    {
        let Some((_, value)) = FIELDS.iter().find(|(field, _)| *field == name) else {
            let known = FIELDS.map(|(field, _)| format!("{{{field}}}")).join(", ");
            return Err(Error::bad_input(format!(
                "--output: unknown {:?} in {text:?}; known are {known}",
                format!("{{{name}}}")
            )));
        };
        whole = whole + before + &in_a_name(&value(now).unwrap_or_default());
        rest = after;
    }
    Ok((whole + rest).into())
}

/// `charz-node7-20260131-120000.json`; `charz-node7-20260131-120000-2.json` if that one, its compressed form, or a journal of theirs
/// exists.
pub(super) fn usual(is_anonymous: bool, now: SystemTime, exists: impl Fn(&Path) -> bool) -> Result<PathBuf, Error> {
    let first = filled(if is_anonymous { ANONYMOUS } else { USUAL }.into(), now)?;
    let first = first.display();
    let taken = |name: &str| {
        let forms = [name.into(), PathBuf::from(format!("{name}.gz"))];
        forms.iter().any(|form| exists(form) || exists(&journal::beside(form)))
    };
    let mut name = format!("{first}.json");
    for number in 2.. {
        if !taken(&name) {
            break;
        }
        name = format!("{first}-{number}.json");
    }
    Ok(name.into())
}

/// `20260131-120000`, in UTC.
fn date(now: SystemTime) -> String {
    let digits: String = rfc3339(now).chars().filter(char::is_ascii_digit).collect();
    format!("{}-{}", &digits[..8], &digits[8..])
}

/// The number that the batch system gave this job.
fn job(variable: impl Fn(&str) -> Option<String>) -> String {
    let known = ["SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"];
    let given = known.into_iter().filter_map(variable).find(|value| !value.is_empty());
    given.unwrap_or_else(|| "nojob".into())
}

/// A value as a part of a file's name: letters, digits, `.`, `_` and `-`, at most 64 of them.
fn in_a_name(value: &str) -> String {
    let plain = value.split(|mark: char| !mark.is_ascii_alphanumeric() && !matches!(mark, '.' | '_' | '-'));
    let words: Vec<&str> = plain.filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").trim_matches(['.', '-']).chars().take(64).collect();
    if name.is_empty() { "unknown".into() } else { name }
}

/// The longest name of an output file in bytes: the journal and the temporary file beside it have longer ones, and 255 is the most on
/// Linux's file systems.
const MOST_NAME: usize = 230;

pub(in crate::command) fn output(file: PathBuf, force: bool) -> Result<PathBuf, Error> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Some(name) = file.file_name().filter(|_| !file.is_dir()) else {
        return Err(Error::bad_input(format!("--output: {file:?} is a folder; name a file in it")));
    };
    if name.len() > MOST_NAME {
        return Err(Error::bad_input(format!("--output: {name:?} has more than {MOST_NAME} bytes; shorten the name")));
    }
    if !folder.is_dir() {
        return Err(Error::bad_input(format!("--output: there is no folder {folder:?}; create it first")));
    }
    match file.symlink_metadata() {
        Err(_) => Ok(file),
        Ok(_) if !force => Err(exists(&file)),
        // What a link leads to may be anybody's: a report replaces only what was named.
        Ok(about) if about.is_symlink() => {
            Err(Error::bad_input(format!("--output: {file:?} is a link; name the file that it leads to")))
        }
        Ok(about) if about.is_file() => Ok(file),
        Ok(_) => Err(Error::bad_input(format!(
            "--output: {file:?} is not a regular file, and only those are replaced; name another file"
        ))),
    }
}

pub(super) fn exists(file: &Path) -> Error {
    Error::bad_input(format!("--output: {file:?} exists; name another file, or replace it with --force"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_of_one_second_have_names_of_their_own() {
        let name = |taken: &[&Path]| usual(false, SystemTime::UNIX_EPOCH, |file| taken.contains(&file)).unwrap();
        let first = name(&[]);
        let text = first.to_str().unwrap();
        let host = in_a_name(&word("/proc/sys/kernel/hostname").unwrap_or_default());
        assert_eq!(text, format!("charz-{host}-19700101-000000.json"));
        let second = PathBuf::from(text.replace(".json", "-2.json"));
        for taken in [text.to_owned(), format!("{text}.journal"), format!("{text}.gz")] {
            assert_eq!(name(&[Path::new(&taken)]), second);
        }
        assert_eq!(name(&[&first, &second]), PathBuf::from(text.replace(".json", "-3.json")));
        assert_eq!(usual(true, SystemTime::UNIX_EPOCH, |_| false).unwrap(), Path::new("charz-19700101-000000.json"));
    }

    #[test]
    fn values_fit_into_the_name_of_a_file() {
        for (value, expected) in [
            ("AMD EPYC", "AMD-EPYC"),
            ("Intel(R) Xeon(R) @ 2.50GHz", "Intel-R-Xeon-R-2.50GHz"),
            ("../../etc/passwd", "etc-passwd"),
            ("-rf", "rf"),
            ("..", "unknown"),
            ("", "unknown"),
            ("1234.server\n", "1234.server"),
        ] {
            assert_eq!(in_a_name(value), expected, "{value:?}");
        }
        assert_eq!(in_a_name(&"x".repeat(999)).len(), 64);
    }

    #[test]
    fn braces_are_filled_or_refused() {
        let fill = |text: &str| filled(text.into(), SystemTime::UNIX_EPOCH);
        assert_eq!(fill("a{/b}.json").unwrap_err().exit, crate::exit::Exit::BadInput);
        assert_eq!(fill("q{date}/{date}{").unwrap(), Path::new("q19700101-000000/19700101-000000{"));
        assert!(!fill("{cpu}-{host}-{job}").unwrap().to_str().unwrap().contains(['{', '/', ' ']));
        let error = fill("{hots}.json").unwrap_err().to_string();
        assert!(error.contains("{hots}") && error.contains("{host}, {node}, {date}, {cpu}, {job}"), "{error}");
    }

    #[test]
    fn a_job_is_that_of_the_batch_system() {
        let of =
            |set: &[(&str, &str)]| job(|name| set.iter().find(|(key, _)| *key == name).map(|(_, v)| (*v).to_owned()));
        assert_eq!(of(&[]), "nojob");
        assert_eq!(of(&[("SLURM_JOB_ID", ""), ("PBS_JOBID", "7.node")]), "7.node");
        assert_eq!(of(&[("LSB_JOBID", "8"), ("SLURM_JOB_ID", "9")]), "9");
    }
}
