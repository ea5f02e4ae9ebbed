//! A database file of reports: what a history and a collection of many nodes have in common.
//!
//! Every command is one transaction, which holds through power failures: SQLite waits for the disk. Programs that add at the same time wait for
//! each other. The file is input like any other: the application id and version are checked first, and a file of another program is never
//! written.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};
use tempfile::NamedTempFile;

use crate::exit::{Error, Exit};
use charz_measure::atomic_file::{self, create_private_folder};

const PATIENCE: Duration = Duration::from_secs(5);

/// What a database is for, and how it is laid out.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) application_id: i32,
    pub(crate) version: i32,
    /// The statement that creates the one table, which is called `report`.
    pub(crate) table: &'static str,
    /// What it is called.
    pub(crate) noun: &'static str,
    /// The command that creates it.
    pub(crate) create: &'static str,
}

#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
    layout: &'static Layout,
    /// The file of a new one, which gets its name with the first reports: without room for them there is none.
    draft: Option<NamedTempFile>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Refused(#[from] Error),
}

impl Database {
    /// Opens one to read it; an empty file is one without reports.
    pub(crate) fn open(path: &Path, layout: &'static Layout) -> Result<Self, Error> {
        let Layout { noun, create, .. } = layout;
        if !exists(path, layout)? {
            return Err(Error::bad_input(format!(
                "there is no {noun} at {path:?}; create it by {create}, or name another by --db FILE"
            )));
        }
        let mut database = Database::connect(path, path, OpenFlags::SQLITE_OPEN_READ_WRITE, layout)?;
        database.transact(TransactionBehavior::Deferred, |_, _, _| Ok(()))?;
        Ok(database)
    }

    /// Opens one to add to it; creates it, and its folder, if need be.
    pub(crate) fn create(path: &Path, layout: &'static Layout) -> Result<Self, Error> {
        if exists(path, layout)? {
            return Database::prepare(path, path, layout);
        }
        create_private_folder(path).map_err(|error| not_created(path, layout, error))?;
        let draft =
            atomic_file::temporary(path, atomic_file::ANYBODY).map_err(|error| not_created(path, layout, error))?;
        let database = Database::prepare(path, draft.path(), layout)?;
        Ok(Database { draft: Some(draft), ..database })
    }

    /// Opens `file` to add to `path`.
    fn prepare(path: &Path, file: &Path, layout: &'static Layout) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut database = Database::connect(path, file, flags, layout)?;
        // Looking and creating are one transaction: of two programs that create it at once, the second finds it created.
        database.transact(TransactionBehavior::Immediate, |transaction, _, is_created| {
            if !is_created {
                transaction.pragma_update(None, "application_id", layout.application_id)?;
                transaction.pragma_update(None, "user_version", layout.version)?;
                transaction.execute(layout.table, ())?;
            }
            Ok(())
        })?;
        Ok(database)
    }

    fn connect(path: &Path, file: &Path, flags: OpenFlags, layout: &'static Layout) -> Result<Self, Error> {
        // Names such as `:memory:` are no files.
        let whole = std::path::absolute(file)
            .map_err(|error| Error::environment(format!("cannot find {path:?}")).caused_by(error))?;
        let connect = || {
            let connection = Connection::open_with_flags(whole, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(PATIENCE)?;
            if file != path {
                // A draft that fails is thrown away, and is to leave no second file behind.
                connection.pragma_update(None, "journal_mode", "MEMORY")?;
            }
            connection.pragma_update(None, "trusted_schema", false)?;
            Ok(connection)
        };
        let connection = connect().map_err(|error| explain(path, layout, error))?;
        Ok(Database { connection, path: path.to_owned(), layout, draft: None })
    }

    /// Does all of `work`, or nothing. The last argument of `work` is whether the table exists.
    fn transact<T>(
        &mut self,
        behaviour: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>, &Path, bool) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let Database { connection, path, layout, .. } = self;
        let begun = connection.transaction_with_behavior(behaviour).map_err(Fault::from);
        let done = begun.and_then(|transaction| {
            let answer = work(&transaction, path, is_created(&transaction, path, layout)?)?;
            transaction.commit()?;
            Ok(answer)
        });
        done.map_err(|fault| match fault {
            Fault::Database(error) => explain(path, layout, error),
            Fault::Refused(error) => error,
        })
    }

    /// The file that gets its name with the first reports.
    #[cfg(test)]
    pub(crate) fn draft(&self) -> &Path {
        self.draft.as_ref().expect("it is new").path()
    }

    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Reads; the last argument of `work` is whether the table exists.
    pub(crate) fn read<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &Path, bool) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        self.transact(TransactionBehavior::Deferred, work)
    }

    /// Writes all of `work`, or nothing, and gives a new file its name.
    pub(crate) fn write<T>(&mut self, work: impl Fn(&Transaction<'_>, &Path) -> Result<T, Fault>) -> Result<T, Error> {
        let all = |database: &mut Self| {
            database.transact(TransactionBehavior::Immediate, |transaction, path, _| work(transaction, path))
        };
        let Some(draft) = self.draft.take() else { return all(self) };
        let added = all(self)?;
        let kept = atomic_file::keep(draft, &self.path);
        let is_late = match kept {
            Ok(()) => false,
            // Another program was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => true,
            Err(error) => return Err(not_created(&self.path, self.layout, error)),
        };
        *self = Database::prepare(&self.path, &self.path, self.layout)?;
        if is_late { all(self) } else { Ok(added) }
    }
}

/// Whether it has its table; an error if the database is not one of this layout and version.
fn is_created(transaction: &Transaction<'_>, path: &Path, layout: &Layout) -> Result<bool, Fault> {
    let Layout { application_id, version, table, noun, .. } = layout;
    let number = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    match (number("application_id")?, number("user_version")?) {
        (own, own_version) if own == *application_id && own_version == *version => {
            // A view, or a column that is computed, would make gigabytes out of a small file.
            let sql = "SELECT sql FROM sqlite_schema WHERE name = 'report'";
            let found: Option<String> = transaction.query_row(sql, (), |row| row.get(0)).optional()?;
            match found {
                Some(found) if found == *table => Ok(true),
                _ => Err(damaged(path, noun, "its table of reports is not as it was created"))?,
            }
        }
        (0, 0) if tables == 0 => Ok(false),
        (own, other) if own == *application_id => Err(Error::bad_input(format!(
            "{path:?} is a {noun} of version {other}, and this program reads version {version}; use the charz that wrote it"
        )))?,
        _ => Err(Error::bad_input(format!(
            "{path:?} is the database of another program, and no {noun}; name another file by --db FILE"
        )))?,
    }
}

pub(crate) fn damaged(path: &Path, noun: &str, what: &str) -> Error {
    Error::bad_input(format!("the {noun} {path:?} is damaged: {what}; move it away and add the reports again"))
}

fn explain(path: &Path, layout: &Layout, error: rusqlite::Error) -> Error {
    let noun = layout.noun;
    let Some(code) = error.sqlite_error_code() else { return damaged(path, noun, &error.to_string()) };
    match code {
        ErrorCode::NotADatabase => {
            Error::bad_input(format!("{path:?} is not a database, so no {noun}; name another file by --db FILE"))
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::Unknown => damaged(path, noun, &error.to_string()),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::environment(format!(
            "the {noun} {path:?} is in use by another program or its file system has no locks, and nothing was changed; try again \
             later, or name another file by --db FILE"
        )),
        _ => {
            let exit = if code == ErrorCode::CannotOpen { Exit::BadInput } else { Exit::Environment };
            let what = match code {
                ErrorCode::DiskFull => "has no room left",
                ErrorCode::SystemIoFailure => "could not be written",
                _ => "could not be opened",
            };
            let sentence =
                format!("the {noun} {path:?} {what}, and nothing was changed; name another file by --db FILE");
            // Its source says the same in other words.
            Error::ended(exit, sentence).caused_by(std::io::Error::other(error.to_string()))
        }
    }
}

/// Whether there is a file. Anything but a regular file is refused: a pipe would wait for its other end.
fn exists(path: &Path, layout: &Layout) -> Result<bool, Error> {
    // In a folder where others may write, it leads wherever they like.
    let is_foreign =
        |link: std::fs::Metadata| link.is_symlink() && ![0, rustix::process::geteuid().as_raw()].contains(&link.uid());
    if path.symlink_metadata().is_ok_and(is_foreign) {
        return Err(Error::bad_input(format!(
            "{path:?} is a link that another user made; name the file itself by --db FILE"
        )));
    }
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(true),
        Ok(_) => Err(Error::bad_input(format!("{path:?} is not a regular file; name another by --db FILE"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let sentence = format!("cannot read the {} {path:?}; name another file by --db FILE", layout.noun);
            Err(Error::ended(Exit::of_path(&error), sentence).caused_by(error))
        }
    }
}

fn not_created(path: &Path, layout: &Layout, error: std::io::Error) -> Error {
    let sentence = format!("cannot create the {} {path:?}; name a file elsewhere by --db FILE", layout.noun);
    Error::ended(Exit::of_path(&error), sentence).caused_by(error)
}
