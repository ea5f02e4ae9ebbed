//! The database file.
//!
//! A report is a row of `report`: its text as it was added, packed, and its head; each of its cells is a row of `cell`, so
//! that what is asked of many reports needs none of their texts. Whatever is written is one transaction: all of it is there
//! afterwards, or nothing. SQLite keeps that promise through power failures with its rollback journal, which works on any file
//! system, and waits for the disk.

mod add;
mod read;
mod refusal;
#[cfg(test)]
mod tests;

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::exit::Error;
pub use add::{Added, Addition};
use refusal::{damaged, told};

/// Says whose the file is: "chrz" in ASCII.
const OURS: i32 = 0x6368_727a;
/// The version of the tables.
const VERSION: i32 = 1;
/// How long another program may keep the file to itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// One statement a table or index: a database has exactly these, or is not read.
const TABLES: [&str; 3] = [
    "CREATE TABLE report (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    sweep TEXT NOT NULL,
    at INTEGER NOT NULL,
    label TEXT,
    head BLOB NOT NULL,
    text BLOB NOT NULL
) STRICT",
    "CREATE TABLE cell (
    report INTEGER NOT NULL REFERENCES report (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    kernel TEXT NOT NULL,
    mapping TEXT NOT NULL,
    workers INTEGER NOT NULL,
    parameters TEXT NOT NULL,
    unit TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    value REAL,
    low REAL,
    high REAL,
    PRIMARY KEY (report, place)
) STRICT, WITHOUT ROWID",
    "CREATE INDEX cell_of_series ON cell (kernel, mapping, workers)",
];

/// An open history.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens a history to look at it. One that is empty is one without reports.
    ///
    /// # Errors
    /// A sentence: there is none, it is not of this program or of a later one, it is damaged, or the system refused it.
    pub fn open(path: &Path) -> Result<Store, Error> {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::bad_input(format!(
                "there is no history at {path:?}; charz history add REPORT begins one, and --db FILE names another"
            ))),
            about => {
                refuse_odd(path, about)?;
                Store::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            }
        }
    }

    /// Opens a history to add to it, or begins one, in a folder that is made if need be.
    ///
    /// # Errors
    /// As [`Store::open`]; or the folder cannot be made.
    pub fn open_or_begin(path: &Path) -> Result<Store, Error> {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => make_folder(path)?,
            about => refuse_odd(path, about)?,
        }
        let mut store = Store::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        store.check_whole()?;
        store.transact(|transaction, _| make_tables(transaction))?;
        Ok(store)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Store, Error> {
        // Names such as `:memory:` would be no files.
        let whole = std::path::absolute(path)
            .map_err(|error| Error::environment(format!("{path:?} has no place")).caused_by(error))?;
        let connection = Connection::open_with_flags(whole, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let store = Store { connection: connection.map_err(|error| told(path, error))?, path: path.to_owned() };
        store.guard().map_err(|error| told(path, error))?;
        store.check_form()?;
        Ok(store)
    }

    /// What stands in the file is not trusted.
    fn guard(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(PATIENCE)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "foreign_keys", true)
    }

    /// That it is empty, or ours, of this version, and of the form that this program makes.
    fn check_form(&self) -> Result<(), Error> {
        let refuse = |error| told(&self.path, error);
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let (owner, version) = (number("application_id").map_err(refuse)?, number("user_version").map_err(refuse)?);
        let tables = self.tables().map_err(refuse)?;
        if owner == 0 && version == 0 && tables.is_empty() {
            return Ok(());
        }
        let path = &self.path;
        if owner != OURS {
            return Err(Error::bad_input(format!(
                "{path:?} is the database of another program; name another file by --db FILE"
            )));
        }
        if version > VERSION {
            return Err(Error::bad_input(format!(
                "{path:?} is a history of version {version}, and this program reads version {VERSION}; use the charz that wrote it"
            )));
        }
        let expected: Vec<String> = TABLES.iter().map(|&table| table.to_owned()).collect();
        if version != VERSION || tables != expected {
            Err(damaged(path, "its tables are not those of a history"))
        } else {
            Ok(())
        }
    }

    /// How tables, indices, views and triggers were made, in that order, but for those that SQLite makes by itself.
    fn tables(&self) -> rusqlite::Result<Vec<String>> {
        let mut wanted =
            self.connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
        wanted.query_map((), |row| row.get(0))?.collect()
    }

    /// That no page of the file is lost or torn: what is added to a damaged file would be lost with it.
    fn check_whole(&self) -> Result<(), Error> {
        let found = self.connection.query_row("PRAGMA quick_check(1)", (), |row| row.get::<_, String>(0));
        match found.map_err(|error| told(&self.path, error))?.as_str() {
            "ok" => Ok(()),
            what => Err(damaged(&self.path, what)),
        }
    }

    /// Does all of it, or nothing.
    fn transact<T>(&mut self, work: impl FnOnce(&Transaction<'_>, &Path) -> Result<T, Stopped>) -> Result<T, Error> {
        let Store { connection, path } = self;
        let done = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Stopped::from)
            .and_then(|transaction| {
                let answer = work(&transaction, path)?;
                transaction.commit()?;
                Ok(answer)
            });
        done.map_err(|stopped| match stopped {
            Stopped::Database(error) => told(path, error),
            Stopped::Refused(error) => error,
        })
    }
}

/// Why a transaction was taken back.
#[derive(Debug)]
enum Stopped {
    /// The database refused.
    Database(rusqlite::Error),
    /// We did.
    Refused(Error),
}

impl From<rusqlite::Error> for Stopped {
    fn from(error: rusqlite::Error) -> Self {
        Stopped::Database(error)
    }
}

/// A pipe would keep us waiting for its other end.
fn refuse_odd(path: &Path, about: std::io::Result<std::fs::Metadata>) -> Result<(), Error> {
    let about = about.map_err(|error| {
        Error::environment(format!("cannot read the history {path:?}; name another file by --db FILE")).caused_by(error)
    })?;
    if about.is_file() {
        return Ok(());
    }
    Err(Error::bad_input(format!("{path:?} is not a regular file; name another by --db FILE")))
}

fn make_folder(path: &Path) -> Result<(), Error> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) else {
        return Ok(());
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        Error::environment(format!(
            "cannot make the folder {folder:?} for the history; name a file elsewhere by --db FILE"
        ))
        .caused_by(error)
    })
}

fn make_tables(transaction: &Transaction<'_>) -> Result<(), Stopped> {
    // Another program may have begun it meanwhile.
    if transaction.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))? == OURS {
        return Ok(());
    }
    transaction.pragma_update(None, "application_id", OURS)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    for table in TABLES {
        transaction.execute(table, ())?;
    }
    Ok(())
}
