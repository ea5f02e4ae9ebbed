//! A sweep is recorded in a journal beside its report while it runs; the report is written when it ends.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exit::{Error, Exit};
use charz_data::report::{self, Report};
use charz_estimate::Estimates;
use charz_measure::atomic_file;
use charz_measure::journal::{self, Journal, JournalError, Recovered};
use charz_measure::sweep::{Record, Recorder, judge_report};
use charz_words::findings::findings;

#[derive(Serialize, Deserialize)]
struct Header {
    report: Report,
    replace: bool,
}

pub(crate) struct JournalRecorder {
    file: PathBuf,
    journal_file: PathBuf,
    journal: Journal,
    replace: bool,
}

/// Whether a journal can be begun, as far as that can be known before minutes are spent.
pub(crate) fn recordable(file: &Path) -> Result<(), Error> {
    let path = journal::beside(file);
    let refused = |source| JournalError::System { action: "create", path: path.clone(), source };
    atomic_file::temporary(&path, 0o600).map(drop).map_err(|error| cannot_begin(file, &path, refused(error)))
}

impl JournalRecorder {
    pub(crate) fn begin(file: PathBuf, report: &Report, replace: bool) -> Result<Self, Error> {
        // It may have appeared while this sweep waited for another.
        if !replace && file.symlink_metadata().is_ok() {
            return Err(super::name::exists(&file));
        }
        let journal_file = journal::beside(&file);
        let journal = Journal::create(&journal_file, Header { report: report.clone(), replace });
        let journal = journal.map_err(|error| cannot_begin(&file, &journal_file, error))?;
        Ok(JournalRecorder { file, journal_file, journal, replace })
    }

    /// The report's file, for a command that is printed.
    pub(crate) fn name(&self) -> String {
        self.file.to_string_lossy().into_owned()
    }

    pub(crate) fn discard(self) {
        // If it cannot be removed, the next sweep of this name is refused and says so.
        let _ = fs::remove_file(&self.journal_file);
    }

    /// Goes on with a journal: also returns the report as far as it was recorded, and sentences about lines that were lost.
    pub(super) fn resume(file: PathBuf, journal_file: PathBuf) -> Result<(Self, Report, Vec<String>), Error> {
        let (journal, recovered) = Journal::reopen::<Header, Record>(&journal_file).map_err(bad_journal)?;
        let (Header { report, replace }, lost) = restore(recovered, &journal_file)?;
        // A sweep that was killed after it wrote its report leaves both files.
        let own = || report::read(&file).is_ok_and(|there| there.id == report.id);
        if !replace && file.symlink_metadata().is_ok() && !own() {
            return Err(Error::bad_input(format!(
                "--resume: {file:?} exists and is not the report of {journal_file:?}; move it away first"
            )));
        }
        let replace = replace || file.symlink_metadata().is_ok();
        Ok((JournalRecorder { file, journal_file, journal, replace }, report, lost))
    }

    /// The file of the journal.
    pub(super) fn journal(&self) -> &File {
        self.journal.file()
    }

    /// Writes the report in one step and removes the journal. Returns the report's file.
    pub(crate) fn finish(self, report: &Report) -> Result<PathBuf, Error> {
        let findings = findings(&Estimates::of(report));
        let fill = |out: &mut dyn Write| report::write(report, &findings, report::is_packed(&self.file), out);
        let written =
            if self.replace { atomic_file::replace(&self.file, fill) } else { atomic_file::create(&self.file, fill) };
        written.map_err(|error| self.cannot_finish(error))?;
        // If it cannot be removed, a resume finds nothing new in it.
        let _ = fs::remove_file(&self.journal_file);
        Ok(self.file)
    }

    fn cannot_finish(&self, error: io::Error) -> Error {
        let (file, journal) = (&self.file, &self.journal_file);
        let sentence = if !journal.exists() {
            format!("the report {file:?} cannot be written, and its journal is gone too: start a new sweep")
        } else if error.kind() == ErrorKind::AlreadyExists {
            format!(
                "{file:?} was created by another program during the sweep; all measurements are in {journal:?}: move {file:?} \
                 away, then run charz sweep --resume {file:?}"
            )
        } else {
            format!(
                "the report cannot be written; all measurements are in {journal:?}: {}, then run charz sweep --resume {file:?}",
                remedy(&error)
            )
        };
        Error::environment(sentence).caused_by(error)
    }
}

impl Recorder for JournalRecorder {
    fn record(&mut self, record: &Record) -> Result<(), JournalError> {
        self.journal.append(record)
    }
}

/// What to do where a sweep ended since a journal could not grow.
pub(crate) fn cannot_record(error: JournalError) -> Error {
    let report = error.path().with_extension("");
    let remedy = match &error {
        JournalError::System { source, .. } => remedy(source),
        _ => "make room",
    };
    Error::environment(format!(
        "a run could not be recorded; those before it are: {remedy}, then run charz sweep --resume {report:?}"
    ))
    .caused_by(error)
}

/// What stops such a sweep, for its report.
pub(super) fn stopper(error: &JournalError) -> String {
    match error {
        JournalError::System { source, .. } if is_full(source) => "a full disk".into(),
        JournalError::System { source, .. } => format!("a failed write to the journal: {source}"),
        _ => format!("a failed write to the journal: {error}"),
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded)
}

/// Whether this process, or all of them, may open no more files.
fn is_out_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn remedy(error: &io::Error) -> &'static str {
    match error {
        _ if is_full(error) => "make room",
        _ if is_out_of_files(error) => "raise the limit on open files with ulimit -n 1024",
        _ => "check its file system",
    }
}

fn cannot_begin(file: &Path, journal_file: &Path, error: JournalError) -> Error {
    match &error {
        JournalError::System { source, .. } => match source.kind() {
            ErrorKind::AlreadyExists => Error::bad_input(format!(
                "--output: {journal_file:?} is the journal of a sweep that was not finished, or still runs; finish it with charz \
                 sweep --resume {file:?}, or remove it"
            )),
            _ if Exit::of_path(source) == Exit::BadInput => {
                Error::bad_input("--output: nothing can be written there; name a file elsewhere").caused_by(error)
            }
            _ if is_full(source) => {
                Error::environment("--output: the disk or a limit is full; make room or name a file elsewhere")
                    .caused_by(error)
            }
            _ if is_out_of_files(source) => Error::environment(
                "--output: the limit on open files is reached; raise it with ulimit -n 1024, or fs.file-max where all processes reach it",
            )
            .caused_by(error),
            _ => Error::environment("--output: its file system fails; check it or name a file elsewhere")
                .caused_by(error),
        },
        _ => Error::new(Exit::Environment, error),
    }
}

/// How many records that do not fit are named; the others are counted.
const MOST_NAMED: usize = 10;

/// A header whose report has what the records hold, and sentences about what was lost.
fn restore(recovered: Recovered<Header, Record>, journal_file: &Path) -> Result<(Header, Vec<String>), Error> {
    let mut header = recovered.header;
    header.report.complete_cells();
    report::check(&header.report)
        .map_err(|what| Error::bad_input(format!("--resume: the journal {journal_file:?} cannot be used: {what}")))?;
    let damaged = recovered.damaged.iter();
    let mut lost: Vec<String> =
        damaged.map(|(line, what)| format!("{journal_file:?}: line {line} is damaged and ignored: {what}")).collect();
    if recovered.unnamed > 0 {
        lost.push(format!("{journal_file:?}: {} more lines are damaged and ignored", recovered.unnamed));
    }
    let mut ignored = 0;
    for record in recovered.records {
        let ended_ns = record.ended_ns();
        if let Err(what) = record.replay(&mut header.report) {
            ignored += 1;
            if ignored <= MOST_NAMED {
                lost.push(format!("{journal_file:?}: a record is ignored: {what}"));
            }
            continue;
        }
        // The end of a session that was killed is not known otherwise.
        header.report.wall_ns = header.report.wall_ns.max(ended_ns);
    }
    if ignored > MOST_NAMED {
        lost.push(format!("{journal_file:?}: {} more records are ignored", ignored - MOST_NAMED));
    }
    judge_report(&mut header.report);
    Ok((header, lost))
}

/// The report in the bytes of a journal, for tests of how they are read.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<(Report, Vec<String>), Error> {
    let file = Path::new("journal");
    let (header, lost) = restore(journal::parse(bytes, file).map_err(bad_journal)?, file)?;
    Ok((header.report, lost))
}

fn bad_journal(error: JournalError) -> Error {
    Error::new(Exit::BadInput, error).read_from("--resume")
}
