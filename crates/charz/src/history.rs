//! The database file of a history: one row per report.
//!
//! `text` is the report as it was added, to the byte. `summary` is the same with one number per cell, as JSON too, so
//! commands read all reports without their texts. Every command is one transaction, which holds through power failures: SQLite waits for
//! the disk. The file is input like any other: the application id and version are checked first, a file of another program is
//! never written, and what is read goes through the parser of reports.

use std::cmp::Ordering;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use tempfile::NamedTempFile;

use crate::exit::{Error, Exit};
use charz_analysis::compare::other_machine;
use charz_analysis::history::{Added, Addition, Entry, seconds, summary};
use charz_data::report::{self, Report};
use charz_measure::atomic_file::{self, create_private_folder};

#[cfg(test)]
mod tests;

const APPLICATION_ID: i32 = 0x6368_727a;
const VERSION: i32 = 1;
const PATIENCE: Duration = Duration::from_secs(5);

const TABLE: &str = "CREATE TABLE report (
    id INTEGER PRIMARY KEY,
    sweep TEXT NOT NULL UNIQUE,
    label TEXT,
    summary TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT";

#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The file of a new history, which gets its name with the first reports: without room for them there is none.
    draft: Option<NamedTempFile>,
}

#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Refused(#[from] Error),
}

impl Store {
    /// Opens a history to read it; an empty file is one without reports.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if !exists(path)? {
            return Err(Error::bad_input(format!(
                "there is no history at {path:?}; create it by charz history add REPORT, or name another by --db FILE"
            )));
        }
        let mut store = Store::connect(path, path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        store.transact(TransactionBehavior::Deferred, |_, _, _| Ok(()))?;
        Ok(store)
    }

    /// Opens a history to add to it; creates it, and its folder, if need be.
    pub fn create(path: &Path) -> Result<Self, Error> {
        if exists(path)? {
            return Store::prepare(path, path);
        }
        create_private_folder(path).map_err(|error| not_created(path, error))?;
        let draft = atomic_file::temporary(path, atomic_file::ANYBODY).map_err(|error| not_created(path, error))?;
        let store = Store::prepare(path, draft.path())?;
        Ok(Store { draft: Some(draft), ..store })
    }

    /// Opens `file` to add to the history `path`.
    fn prepare(path: &Path, file: &Path) -> Result<Self, Error> {
        let mut store = Store::connect(path, file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        // Looking and creating are one transaction: of two programs that create it at once, the second finds it created.
        store.transact(TransactionBehavior::Immediate, |transaction, _, is_created| {
            if !is_created {
                transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
                transaction.execute(TABLE, ())?;
            }
            Ok(())
        })?;
        Ok(store)
    }

    fn connect(path: &Path, file: &Path, flags: OpenFlags) -> Result<Self, Error> {
        // Names such as `:memory:` are no files.
        let whole = std::path::absolute(file)
            .map_err(|error| Error::environment(format!("cannot find {path:?}")).caused_by(error))?;
        let connect = || {
            let connection = Connection::open_with_flags(whole, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "trusted_schema", false)?;
            Ok(connection)
        };
        Ok(Store { connection: connect().map_err(|error| explain(path, error))?, path: path.to_owned(), draft: None })
    }

    /// Does all of `work`, or nothing. The last argument of `work` is whether the table exists.
    fn transact<T>(
        &mut self,
        behaviour: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>, &Path, bool) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let Store { connection, path, .. } = self;
        let begun = connection.transaction_with_behavior(behaviour).map_err(Fault::from);
        let done = begun.and_then(|transaction| {
            let answer = work(&transaction, path, is_created(&transaction, path)?)?;
            transaction.commit()?;
            Ok(answer)
        });
        done.map_err(|fault| match fault {
            Fault::Database(error) => explain(path, error),
            Fault::Refused(error) => error,
        })
    }

    /// Adds all reports, or none of them. The first report of a history says which machine it is of; `any_host` also takes
    /// reports of hosts with other names. Each report comes back with its number.
    pub fn add(
        &mut self,
        additions: &[Addition],
        label: Option<&str>,
        any_host: bool,
    ) -> Result<Vec<(i64, Added)>, Error> {
        let all = |store: &mut Self| {
            store.transact(TransactionBehavior::Immediate, |transaction, path, _| {
                additions.iter().map(|addition| add(transaction, path, addition, label, any_host)).collect()
            })
        };
        let Some(draft) = self.draft.take() else { return all(self) };
        let added = all(self)?;
        let kept = atomic_file::keep(draft, &self.path);
        *self = Store::prepare(&self.path, &self.path)?;
        match kept {
            Ok(()) => Ok(added),
            // Another program was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => all(self),
            Err(error) => Err(not_created(&self.path, error)),
        }
    }

    pub fn list(&mut self) -> Result<Vec<Entry>, Error> {
        let mut entries = self.transact(TransactionBehavior::Deferred, |transaction, path, is_created| {
            if !is_created {
                return Ok(Vec::new());
            }
            let mut statement = transaction.prepare("SELECT id, label, summary FROM report")?;
            let mut rows = statement.query(())?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                entries.push(entry(path, row)?);
            }
            Ok(entries)
        })?;
        entries.sort_by_key(|entry| (entry.at, entry.id));
        Ok(entries)
    }

    pub fn read(&mut self, id: i64) -> Result<(Report, String), Error> {
        self.transact(TransactionBehavior::Deferred, |transaction, path, is_created| {
            let by_id = || transaction.query_row("SELECT text FROM report WHERE id = ?1", [id], |row| row.get(0));
            let text: Option<String> = if is_created { by_id().optional()? } else { None };
            let text = text.ok_or_else(|| {
                Error::bad_input(format!("there is no report {id} in the history {path:?}; see charz history list"))
            })?;
            Ok((parse(path, id, &text)?, text))
        })
    }
}

/// Whether the history has its table; an error if the database is not a history of this version.
fn is_created(transaction: &Transaction<'_>, path: &Path) -> Result<bool, Fault> {
    let number = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION_ID, VERSION) => {
            // A view, or a column that is computed, would make gigabytes out of a small file.
            let sql = "SELECT sql FROM sqlite_schema WHERE name = 'report'";
            let table: Option<String> = transaction.query_row(sql, (), |row| row.get(0)).optional()?;
            match table {
                Some(table) if table == TABLE => Ok(true),
                _ => Err(damaged(path, "its table of reports is not as it was created"))?,
            }
        }
        (0, 0) if tables == 0 => Ok(false),
        (APPLICATION_ID, version) => Err(Error::bad_input(format!(
            "{path:?} is a history of version {version}, and this program reads version {VERSION}; use the charz that wrote it"
        )))?,
        _ => Err(Error::bad_input(format!(
            "{path:?} is the database of another program; name another file by --db FILE"
        )))?,
    }
}

fn add(
    transaction: &Transaction<'_>,
    path: &Path,
    addition: &Addition,
    label: Option<&str>,
    any_host: bool,
) -> Result<(i64, Added), Fault> {
    let Addition { file, text, report } = addition;
    let refuse = |why: String| Error::bad_input(format!("{file:?}: {why}; no report was added"));
    if seconds(&report.started).is_none() {
        Err(refuse(format!("it began at {:?}, which is no time such as 2026-01-31T12:00:00Z", report.started)))?;
    }
    let sql = "SELECT id, label, summary FROM report ORDER BY id LIMIT 1";
    if let Some(first) = transaction.query_row(sql, (), |row| Ok(entry(path, row))).optional()? {
        refuse_others(&first?, report, any_host).map_err(refuse)?;
    }
    let mut line = Vec::new();
    report::write(&summary(report.clone()), false, &mut line).expect("memory takes it");
    let summary = String::from_utf8_lossy(&line);
    let sql = "SELECT id, text FROM report WHERE sweep = ?1";
    let known = transaction.query_row(sql, [&report.id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((id, there)): Option<(i64, String)> = known else {
        let sql = "INSERT INTO report (sweep, label, summary, text) VALUES (?1, ?2, ?3, ?4)";
        transaction.execute(sql, params![report.id, label, summary, text])?;
        return Ok((transaction.last_insert_rowid(), Added::New));
    };
    if there == *text {
        return Ok((id, Added::Same));
    }
    match invocations(&parse(path, id, &there)?).cmp(&invocations(report)) {
        Ordering::Less => {
            let sql = "UPDATE report SET label = coalesce(?2, label), summary = ?3, text = ?4 WHERE id = ?1";
            transaction.execute(sql, params![id, label, summary, text])?;
            Ok((id, Added::Later))
        }
        Ordering::Greater => Ok((id, Added::Earlier)),
        Ordering::Equal => Err(refuse(format!(
            "report {id} of the history is of the same sweep with as many invocations, and differs; one of them was changed"
        )))?,
    }
}

fn refuse_others(first: &Entry, report: &Report, any_host: bool) -> Result<(), String> {
    let id = first.id;
    if let Some(difference) = other_machine(&first.report, report) {
        return Err(format!(
            "another machine than that of report {id} of the history: {difference}; name a file for this machine by --db FILE"
        ));
    }
    match (&first.report.host.name, &report.host.name) {
        (Some(one), Some(other)) if one != other && !any_host => Err(format!(
            "it is of the host {other:?}, and report {id} of the history of {one:?}; name a file for this host by --db FILE, or treat \
             hosts that are alike as one machine by --any-host"
        )),
        _ => Ok(()),
    }
}

fn invocations(report: &Report) -> usize {
    report.floor.iter().chain(&report.cells).map(|cell| cell.invocations.len()).sum()
}

fn entry(path: &Path, row: &Row<'_>) -> Result<Entry, Fault> {
    let id = row.get(0)?;
    // Bytes, as the journal's lines: for text the compiler would build all that reads a report a second time.
    let report = row.get_ref(2)?.as_bytes().ok().and_then(|text| serde_json::from_slice(text).ok());
    let entry = report.and_then(|report| Entry::new(id, row.get(1).ok()?, report));
    Ok(entry.ok_or_else(|| damaged(path, &format!("the summary of report {id} cannot be read")))?)
}

fn parse(path: &Path, id: i64, text: &str) -> Result<Report, Error> {
    report::parse(text).map_err(|why| damaged(path, &format!("report {id}: {why}")))
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::bad_input(format!("the history {path:?} is damaged: {what}; move it away and add the reports again"))
}

fn explain(path: &Path, error: rusqlite::Error) -> Error {
    let Some(code) = error.sqlite_error_code() else { return damaged(path, &error.to_string()) };
    match code {
        ErrorCode::NotADatabase => {
            Error::bad_input(format!("{path:?} is not a database, so no history; name another file by --db FILE"))
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::Unknown => damaged(path, &error.to_string()),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::environment(format!(
            "the history {path:?} is in use by another program or its file system has no locks, and nothing was changed; try again \
             later, or name another file by --db FILE"
        )),
        _ => {
            let exit = if code == ErrorCode::CannotOpen { Exit::BadInput } else { Exit::Environment };
            let sentence = format!(
                "the system refused access to the history {path:?}, and nothing was changed; name another file by --db FILE"
            );
            Error::ended(exit, sentence).caused_by(error)
        }
    }
}

/// Whether there is a file. Anything but a regular file is refused: a pipe would wait for its other end.
fn exists(path: &Path) -> Result<bool, Error> {
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(true),
        Ok(_) => Err(Error::bad_input(format!("{path:?} is not a regular file; name another by --db FILE"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let sentence = format!("cannot read the history {path:?}; name another file by --db FILE");
            Err(Error::ended(Exit::of_path(&error), sentence).caused_by(error))
        }
    }
}

fn not_created(path: &Path, error: std::io::Error) -> Error {
    let sentence = format!("cannot create the history {path:?}; name a file elsewhere by --db FILE");
    Error::ended(Exit::of_path(&error), sentence).caused_by(error)
}
