//! Where a sweep is kept: a journal beside the report while it goes on, and the report itself when it ends.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exit::Error;
use crate::journal::{self, Journal, Recovered};
use crate::report::{self, Report};
use crate::sweep::{Keep, Record};

/// What the journal begins with.
#[derive(Serialize, Deserialize)]
struct Header {
    /// The report as it was when the sitting began.
    report: Report,
    /// Whether it may take the place of a file that stood there before.
    replace: bool,
}

/// A report in the making.
pub(in crate::command) struct Kept {
    file: PathBuf,
    journal_file: PathBuf,
    journal: Journal,
    replace: bool,
}

impl Kept {
    /// Begins a journal for a report that will stand at `file`.
    pub(in crate::command) fn begin(file: PathBuf, report: &Report, replace: bool) -> Result<Self, Error> {
        let journal_file = journal::beside(&file);
        let header = Header { report: report.clone(), replace };
        match Journal::create(&journal_file, &header) {
            Ok(journal) => Ok(Kept { file, journal_file, journal, replace }),
            Err(error) => Err(match error.kind() {
                Some(ErrorKind::AlreadyExists) => Error::bad_input(format!(
                    "--output: {journal_file:?} is the journal of a sweep that was not finished, or still runs; finish it with \
                     charz sweep --resume {file:?}, or remove it"
                )),
                Some(ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded) => {
                    Error::environment("--output: the disk or a limit is full; make room or name a file elsewhere")
                        .caused_by(error)
                }
                _ => Error::bad_input("--output: nothing can be written there; name a file elsewhere").caused_by(error),
            }),
        }
    }

    /// Lets a journal go that holds nothing yet.
    pub(in crate::command) fn forget(self) {
        // If it cannot be removed, the next one who wants the name is told of it.
        let _ = fs::remove_file(&self.journal_file);
    }

    /// Goes on with a journal: the report as far as it was kept, and sentences about lines that were lost.
    pub(super) fn go_on(file: PathBuf, journal_file: PathBuf) -> Result<(Self, Report, Vec<String>), Error> {
        let (journal, recovered) = Journal::reopen::<Header, Record>(&journal_file).map_err(bad_journal)?;
        let (Header { report, replace }, lost) = restore(recovered, &journal_file)?;
        Ok((Kept { file, journal_file, journal, replace }, report, lost))
    }

    /// Makes the report out of what was kept, in one step, and lets the journal go. Gives the report's file.
    pub(in crate::command) fn finish(self, report: &Report) -> Result<PathBuf, Error> {
        // Killed between the last two steps of this function, a sweep leaves both files; the report is its own then.
        let own = || report::read(&self.file).is_ok_and(|there| there.id == report.id);
        let written = if self.replace || own() {
            report::save(&self.file, report)
        } else {
            report::write_new(&self.file, report)
        };
        written.map_err(|error| {
            Error::environment(format!(
                "the report cannot be written; everything is in {:?}: make room, then charz sweep --resume {:?}",
                self.journal_file, self.file
            ))
            .caused_by(error)
        })?;
        // If it cannot be removed, a resume finds nothing new in it.
        let _ = fs::remove_file(&self.journal_file);
        Ok(self.file)
    }
}

impl Keep for Kept {
    fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        self.journal.reserve(bytes).map(|_| ()).map_err(|error| self.full(error))
    }

    fn keep(&mut self, record: &Record) -> Result<(), Error> {
        self.journal.append(record).map_err(|error| self.full(error))
    }
}

impl Kept {
    fn full(&self, error: journal::JournalError) -> Error {
        Error::environment(format!(
            "another invocation cannot be kept; all finished ones are: make room, then charz sweep --resume {:?}",
            self.file
        ))
        .caused_by(error)
    }
}

/// A header whose report has what the records hold, and sentences about what was lost.
fn restore(recovered: Recovered<Header, Record>, journal_file: &Path) -> Result<(Header, Vec<String>), Error> {
    let mut header = recovered.header;
    report::check(&header.report)
        .map_err(|what| Error::bad_input(format!("--resume: the journal {journal_file:?} cannot be used: {what}")))?;
    let mut lost: Vec<String> =
        recovered.dropped.iter().map(|dropped| format!("{journal_file:?}: {dropped}")).collect();
    for record in recovered.records {
        let ended_ns = record.ended_ns();
        if let Err(what) = record.replay(&mut header.report) {
            lost.push(format!("{journal_file:?}: a record is left out: {what}"));
            continue;
        }
        // The end of a sitting that was killed is not known otherwise.
        header.report.wall_ns = header.report.wall_ns.max(ended_ns);
    }
    Ok((header, lost))
}

/// The report in the bytes of a journal, for whoever tests how they are read.
///
/// # Errors
/// Why they cannot be used.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<(Report, Vec<String>), Error> {
    let file = Path::new("journal");
    let (header, lost) = restore(journal::parse(bytes, file).map_err(bad_journal)?, file)?;
    Ok((header.report, lost))
}

fn bad_journal(error: journal::JournalError) -> Error {
    Error::bad_input(format!("--resume: {error}"))
}
