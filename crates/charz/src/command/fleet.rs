//! `charz fleet`: many reports, read one at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::render::{is_something_else, names, read, say_rules};
use super::sweep::{self, New};
use crate::collection::{Collection, Packed};
use crate::exit::{Error, Exit};
use crate::settings;
use crate::view::{look, present};
use charz_data::at_once;
use charz_data::escape::counted;
use charz_data::report;
use charz_fleet::baseline::{Baseline, Checked, Level};
use charz_fleet::formats::Format;
use charz_fleet::formats::check::{self, level};
use charz_fleet::{Unreadable, Visit, judge, words};
use charz_measure::journal;
use charz_render::formats::JSON;

pub enum Task {
    /// Files and folders.
    Show(Vec<PathBuf>, &'static Format),
    Add {
        reports: Vec<PathBuf>,
        db: PathBuf,
    },
    Baseline(Vec<PathBuf>),
    Check {
        /// `None` measures this machine.
        report: Option<PathBuf>,
        /// The sweep that does.
        quick: Box<New>,
        baseline: PathBuf,
        format: &'static check::Format,
    },
}

impl Task {
    /// What is read, folders by their files.
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        match self {
            Task::Show(named, _) | Task::Baseline(named) => {
                find(named).map(|Found { files, journals, .. }| [files, journals].concat()).unwrap_or_default()
            }
            Task::Add { .. } | Task::Check { .. } => Vec::new(),
        }
    }
}

pub(super) fn run(task: Task, out: &mut dyn Write) -> Result<Exit, Error> {
    match task {
        Task::Show(named, format) => {
            let Found { files, journals, passed, unlisted } = find(&named)?;
            let (visits, mut unreadable) = visits(&[files, journals].concat());
            unreadable.extend(unlisted);
            if visits.is_empty() {
                return Err(none(&unreadable));
            }
            if !passed.is_empty() {
                let passed = counted(passed.len(), "file");
                look::say(&format!("charz: note: passed over {passed} of JSON that are no reports"));
            }
            present(format, &judge(&visits, unreadable), out)?;
        }
        Task::Add { reports, db } => {
            let files = find(&reports)?.reports()?;
            // Before the database is touched, or created.
            let named = names(&files);
            let pack = |(file, name): (&PathBuf, &String)| {
                read(file).map(|report| Packed::of(report, name)).map_err(|error| unreadable(file, &error))
            };
            let (mut packed, mut left_out) = (Vec::new(), Vec::new());
            for read in at_once(files.iter().zip(&named), pack) {
                match read {
                    Ok(report) => packed.push(report),
                    Err(file) => left_out.push(file),
                }
            }
            if packed.is_empty() {
                return Err(none(&left_out));
            }
            let mut collection = Collection::create(&db)?;
            // One that cannot be counted is refused before anything is added.
            collection.counts()?;
            let added = collection.add(&packed)?;
            let [all, hosts] = collection.counts()?;
            let [all, hosts] = [counted(all, "report"), counted(hosts, "host")];
            writeln!(out, "{added} of {} added; {all} of {hosts} in {db:?}", counted(packed.len(), "report"))?;
            if !left_out.is_empty() {
                name_left_out(&left_out);
                return Err(Error::bad_input(format!(
                    "{} of {} could not be read, and the others were added; repair or remove the rest",
                    left_out.len(),
                    counted(files.len(), "file")
                )));
            }
        }
        Task::Baseline(named) => {
            let (visits, left_out) = visits(&find(&named)?.reports()?);
            if visits.is_empty() {
                return Err(none(&left_out));
            }
            // What a limit is made of is not to be left out without a word, also in its file.
            name_left_out(&left_out);
            if !left_out.is_empty() {
                let left_out = counted(left_out.len(), "file");
                writeln!(out, "# Warning: left out {left_out} that could not be read.")?;
            }
            let baseline = Baseline::of(&visits).map_err(|error| Error::ended(Exit::NoVerdict, error.to_string()))?;
            for warning in words::warnings(&baseline) {
                look::say(&format!("charz: warning: {warning}"));
            }
            out.write_all(words::text(&baseline).as_bytes())?;
        }
        Task::Check { report, quick, baseline, format } => {
            let found = checked(report.as_deref(), *quick, &baseline).map_err(|error| error.whole());
            (format.write)(&found, out)?;
            // The codes of Nagios' plugins have their own meanings.
            return Ok(match level(&found) {
                Level::Ok => Exit::Done,
                Level::Warning => Exit::Regression,
                Level::Critical => Exit::BadInput,
                Level::Unknown => Exit::Environment,
            });
        }
    }
    Ok(Exit::Done)
}

fn none(unreadable: &[Unreadable]) -> Error {
    Error::bad_input(match unreadable {
        [Unreadable { file, why }] => format!("{file}: {why}"),
        [Unreadable { file, why }, ..] => {
            format!("none of the {} files is a report; the first: {file}: {why}", unreadable.len())
        }
        [] => "there is no report".into(),
    })
}

/// So many files that were left out are named; damaged folders have thousands.
const MOST_NAMED: usize = 10;

fn name_left_out(files: &[Unreadable]) {
    for Unreadable { file, why } in files.iter().take(MOST_NAMED) {
        look::say(&format!("charz: warning: left out {file}: {why}"));
    }
    if let Some(more @ 1..) = files.len().checked_sub(MOST_NAMED) {
        look::say(&format!("charz: warning: left out {more} more; charz fleet show --format json lists all of them"));
    }
}

/// How deep the folders are read: a folder per visit or rack, and one of these.
const DEPTH: usize = 4;

/// What is in the folders that were named.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    /// Those of sweeps that have no report yet.
    journals: Vec<PathBuf>,
    /// Files of JSON that are no reports, such as comparisons.
    passed: Vec<PathBuf>,
    /// Folders inside of these that cannot be listed.
    unlisted: Vec<Unreadable>,
}

/// The files that were named, and those of folders, each once.
fn find(named: &[PathBuf]) -> Result<Found, Error> {
    let mut found = Found::default();
    for path in named {
        if !path.is_dir() {
            found.files.push(path.clone());
            continue;
        }
        let before = found.files.len() + found.journals.len();
        found.descend(path, DEPTH)?;
        if found.files.len() + found.journals.len() == before {
            let unlisted = found.unlisted.last().map(|Unreadable { file, why }| format!("; {file}: {why}"));
            let unlisted = unlisted.unwrap_or_default();
            return Err(Error::bad_input(format!("there is no report in {path:?} (*.json, *.json.gz){unlisted}")));
        }
    }
    // A folder may be named with one inside it.
    let mut seen = BTreeSet::new();
    let mut is_new = |file: &Path| seen.insert(fs::canonicalize(file).unwrap_or_else(|_| file.to_owned()));
    for files in [&mut found.files, &mut found.journals, &mut found.passed] {
        files.retain(|file| is_new(file));
    }
    found.unlisted.retain(|folder| is_new(Path::new(&folder.file)));
    Ok(found)
}

impl Found {
    /// The reports; where there are journals alone, the error that says how to get their reports.
    fn reports(self) -> Result<Vec<PathBuf>, Error> {
        if let Some(journal) = self.journals.first() {
            if self.files.is_empty() {
                return read(journal).map(|_| self.files);
            }
            let journals = counted(self.journals.len(), "journal");
            look::say(&format!("charz: note: passed over {journals} of sweeps that have no report yet"));
        }
        for Unreadable { file, why } in &self.unlisted {
            look::say(&format!("charz: note: passed over {file}: {why}"));
        }
        Ok(self.files)
    }

    fn descend(&mut self, folder: &Path, depth: usize) -> Result<(), Error> {
        let cannot = |error| Error::bad_input(format!("cannot list {folder:?}")).caused_by(error);
        let entries = fs::read_dir(folder).map_err(cannot)?.map(|entry| entry.map(|entry| entry.path()));
        let mut entries: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(cannot)?;
        entries.sort();
        for file in entries {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if file.is_dir() {
                // Such as lost+found.
                if let Some(Err(error)) = (depth > 1).then(|| self.descend(&file, depth - 1)) {
                    self.unlisted.push(unreadable(&file, &error));
                }
            } else if name.ends_with(".json") || name.ends_with(".json.gz") {
                match is_something_else(&file) {
                    true => self.passed.push(file),
                    false => self.files.push(file),
                }
            } else if name.ends_with(".journal") && journal::is_journal(&file) && !file.with_extension("").exists() {
                self.journals.push(file);
            }
        }
        Ok(())
    }
}

fn unreadable(file: &Path, error: &Error) -> Unreadable {
    // The name is said with it.
    let why = format!(" {}", error.whole()).replacen(&format!(" {file:?}"), "", 1);
    Unreadable { file: file.display().to_string(), why: why.trim_start_matches([':', ' ']).to_owned() }
}

/// What is kept of each report, in the order of the files, and the files that are none.
fn visits(files: &[PathBuf]) -> (Vec<Visit>, Vec<Unreadable>) {
    let names = names(files);
    let read = |(file, name): (&PathBuf, &String)| match Collection::is_one(file) {
        true => collected(file),
        false => vec![read(file).map(|report| Visit::of(&report, name))],
    };
    let found = at_once(files.iter().zip(&names), read);
    let (mut visits, mut unreadables) = (Vec::new(), Vec::new());
    for (file, found) in files.iter().zip(found) {
        for visit in found {
            match visit {
                Ok(visit) => visits.push(visit),
                Err(error) => unreadables.push(unreadable(file, &error)),
            }
        }
    }
    (visits, unreadables)
}

/// What is kept of each report of a database.
fn collected(file: &Path) -> Vec<Result<Visit, Error>> {
    let mut visits = Vec::new();
    let all = Collection::open(file).and_then(|mut collection| {
        collection.each(|batch| {
            visits.extend(at_once(batch, |(sweep, packed)| {
                let text = report::unpacked(sweep, packed.as_slice()).map_err(|why| Error::new(Exit::BadInput, why))?;
                let excerpt = report::with_derived(&text).and_then(|kept| report::check(&kept).map(|()| kept));
                let unusable = |what| Error::bad_input(format!("{sweep}: not a usable charz report: {what}"));
                let kept = excerpt.map_err(unusable)?;
                say_rules(&kept, false);
                Ok(Visit::of(&kept, sweep))
            }));
        })
    });
    visits.extend(all.err().map(Err));
    visits
}

fn checked(report: Option<&Path>, quick: New, baseline: &Path) -> Result<Checked, Error> {
    let text = settings::text("--baseline", baseline)?;
    let baseline =
        Baseline::parse(&text).map_err(|error| Error::bad_input(format!("--baseline: {baseline:?} {error}")))?;
    let read = match report {
        Some(file) => read(file)?,
        None => measured(quick)?,
    };
    Ok(baseline.check(&Visit::of(&read, "this node"), report.is_none()))
}

/// The report of a sweep of this machine, which is not kept. The sweep is of this process: what ends a check ends it too.
fn measured(quick: New) -> Result<report::Report, Error> {
    let failed = |why: &str| Error::environment(format!("the sweep of this machine failed: {why}"));
    let folder = tempfile::tempdir()
        .map_err(|error| Error::environment("cannot make a folder for the report").caused_by(error))?;
    let file = folder.path().join("node.json");
    let quick = New { output: Some(file.clone()), ..quick };
    let exit = sweep::start(&quick, JSON, &mut io::sink()).map_err(|error| failed(&error.whole()))?;
    if [Exit::Interrupted, Exit::Terminated, Exit::HungUp].contains(&exit) {
        return Err(failed("a signal stopped it"));
    }
    read(&file).map_err(|error| failed(&error.whole()))
}
