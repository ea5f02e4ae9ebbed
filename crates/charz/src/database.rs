//! A database file of reports: what a history and a collection of many nodes have in common.
//!
//! Every command is one transaction, which holds through power failures: SQLite waits for the disk. Programs that add at the same time wait for
//! each other. The file is input like any other: the application id and version are checked first, and a file of another program is never
//! written. Reading changes nothing: a file that has to be repaired first is repaired in a copy.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};
use rustix::fs::OFlags;
use tempfile::{NamedTempFile, TempDir};

use crate::exit::{Error, Exit};
use charz_data::quote;
use charz_measure::atomic_file::{self, create_private_folder, open_regular};
use charz_system::origin::{self, Invoker};

const PATIENCE: Duration = Duration::from_secs(5);
/// How long another user's write is waited for.
const LONGEST_WRITE: Duration = if cfg!(test) { Duration::from_millis(100) } else { PATIENCE };

/// What a database is for, and how it is laid out.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) application_id: i32,
    pub(crate) version: i32,
    /// The statement that creates the one table, which is called `report`.
    pub(crate) table: &'static str,
    /// The ones before it: they are read as they are, and converted by the next write.
    pub(crate) earlier: &'static [Earlier],
    /// What it is called.
    pub(crate) noun: &'static str,
    /// The command that creates it.
    pub(crate) create: &'static str,
}

#[derive(Debug)]
pub(crate) struct Earlier {
    pub(crate) version: i32,
    pub(crate) table: &'static str,
    /// Copies all rows from its table, which is called `earlier` meanwhile, to `report`.
    pub(crate) copy: fn(&Transaction<'_>, &Path) -> Result<(), Fault>,
}

impl Layout {
    /// The statement that created the table of a version; `None` if this program does not read that version.
    fn table_of(&self, version: i32) -> Option<&'static str> {
        let earlier = self.earlier.iter().map(|earlier| (earlier.version, earlier.table));
        let mut versions = earlier.chain([(self.version, self.table)]);
        versions.find(|(known, _)| *known == version).map(|(_, table)| table)
    }
}

#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
    layout: &'static Layout,
    /// The file of a new one, which gets its name with the first reports: without room for them there is none.
    draft: Option<NamedTempFile>,
    /// The folder of the copy that is read in place of the file.
    _copy: Option<TempDir>,
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
        refuse_others_aside(path, layout)?;
        let mut database = Database::connect(path, path, OpenFlags::SQLITE_OPEN_READ_ONLY, layout)?;
        let looked = database.connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()));
        if looked.is_err_and(|error| is_interrupted(&error)) {
            database = Database::repaired(path, layout)?;
        }
        database.transact(TransactionBehavior::Deferred, |_, _, _| Ok(()))?;
        Ok(database)
    }

    /// Opens a copy of one that a program left in the middle of a write, without what that had written.
    fn repaired(path: &Path, layout: &'static Layout) -> Result<Self, Error> {
        let failed = |error| {
            Error::environment(format!(
                "the {} {path:?} was left in the middle of a write, and cannot be copied to be read; {} repairs it",
                layout.noun, layout.create
            ))
            .caused_by(error)
        };
        // What is in the database is for those alone who may read it.
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().permissions(private).tempdir().map_err(failed)?;
        let copy = folder.path().join("copy.db");
        copied(path, &copy).map_err(failed)?;
        let database = Database::connect(path, &copy, OpenFlags::SQLITE_OPEN_READ_WRITE, layout)?;
        Ok(Database { _copy: Some(folder), ..database })
    }

    /// Opens one to add to it; creates it, and its folder, if need be.
    pub(crate) fn create(path: &Path, layout: &'static Layout) -> Result<Self, Error> {
        if exists(path, layout)? {
            refuse_others_aside(path, layout)?;
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
            if flags.contains(OpenFlags::SQLITE_OPEN_CREATE) && file != path {
                // A draft that fails is thrown away, and is to leave no second file behind.
                connection.pragma_update(None, "journal_mode", "MEMORY")?;
            }
            connection.pragma_update(None, "trusted_schema", false)?;
            Ok(connection)
        };
        let connection = connect().map_err(|error| explain(path, layout, error))?;
        Ok(Database { connection, path: path.to_owned(), layout, draft: None, _copy: None })
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

    /// Writes all of `work`, or nothing, and gives a new file its name. An earlier layout is converted by the same transaction.
    pub(crate) fn write<T>(&mut self, work: impl Fn(&Transaction<'_>, &Path) -> Result<T, Fault>) -> Result<T, Error> {
        let all = |database: &mut Self| {
            let layout = database.layout;
            let (done, is_converted) = database.transact(TransactionBehavior::Immediate, |transaction, path, _| {
                let is_converted = convert(transaction, path, layout)?;
                Ok((work(transaction, path)?, is_converted))
            })?;
            if is_converted {
                // All is written: without room for this the file only stays as large as it was.
                let _ = database.connection.execute_batch("VACUUM");
            }
            Ok(done)
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

/// Converts a table of an earlier version; whether it was one.
fn convert(transaction: &Transaction<'_>, path: &Path, layout: &Layout) -> Result<bool, Fault> {
    let version: i32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let Some(earlier) = layout.earlier.iter().find(|earlier| earlier.version == version) else { return Ok(false) };
    // The new one is created by its own statement: renamed, it would have another.
    transaction.execute("ALTER TABLE report RENAME TO earlier", ())?;
    transaction.execute(layout.table, ())?;
    (earlier.copy)(transaction, path)?;
    transaction.execute("DROP TABLE earlier", ())?;
    transaction.pragma_update(None, "user_version", layout.version)?;
    Ok(true)
}

/// Whether it has its table; an error if the database is not one of this layout, in a version that is read.
fn is_created(transaction: &Transaction<'_>, path: &Path, layout: &Layout) -> Result<bool, Fault> {
    let Layout { application_id, version, noun, .. } = layout;
    let number = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    match (number("application_id")?, number("user_version")?) {
        (own, found) if own == *application_id => {
            let table = layout.table_of(found).ok_or_else(|| {
                Error::bad_input(format!(
                    "{path:?} is a {noun} of version {found}, and this program reads up to version {version}; use the charz that wrote it"
                ))
            })?;
            // A view, or a column that is computed, would make gigabytes out of a small file.
            let sql = "SELECT sql FROM sqlite_schema WHERE name = 'report'";
            let found: Option<String> = transaction.query_row(sql, (), |row| row.get(0)).optional()?;
            match found {
                Some(found) if found == table => refuse_other_code(transaction, path, noun).map(|()| true),
                _ => Err(damaged(path, noun, "its table of reports is not as it was created"))?,
            }
        }
        (0, 0) if tables == 0 => Ok(false),
        _ => Err(Error::bad_input(format!(
            "{path:?} is the database of another program, and no {noun}; name another file by --db FILE"
        )))?,
    }
}

/// Triggers, views and indexes run what their author wrote whenever the table is read or written. The table is all that charz makes; SQLite
/// makes indexes for its own keys, which have no statement. What kind of thing a row is SQLite reads without regard to case.
fn refuse_other_code(transaction: &Transaction<'_>, path: &Path, noun: &str) -> Result<(), Fault> {
    let sql = "SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL AND (type, name, tbl_name) <> ('table', 'report', 'report') LIMIT 1";
    let found = transaction.query_row(sql, (), |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    found.map_or(Ok(()), |(kind, name): (String, String)| {
        Err(damaged(path, noun, &format!("it has the {kind} {}, which is not charz's", quote(&name))).into())
    })
}

/// Refuses what SQLite would take for parts of the database, and another user may have put beside it: a rollback journal of another user than
/// the invoker, root or the owner of the database is waited for, since its program may be at work, and then refused. charz keeps no
/// write-ahead log.
fn refuse_others_aside(path: &Path, layout: &Layout) -> Result<(), Error> {
    let (begun, invoker, noun) = (Instant::now(), Invoker::current(), layout.noun);
    let refuse =
        |file: &Path, why: String| Err(Error::bad_input(format!("the {noun} {path:?} has {file:?} beside it, {why}")));
    // SQLite puts it beside the file that a link leads to.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if has_log(path) {
        let why = "was changed by another program to keep a write-ahead log, which charz does not read: sqlite3 FILE 'PRAGMA journal_mode=DELETE' \
                   changes it back";
        return Err(Error::bad_input(format!("the {noun} {path:?} {why}")));
    }
    for end in ["-wal", "-shm"] {
        let log = aside(path, end);
        if log.symlink_metadata().is_ok() {
            return refuse(&log, "a log of another program, which charz does not read; close that program".into());
        }
    }
    let owner = path.metadata().map(|about| about.uid()).ok();
    let journal = aside(path, "-journal");
    loop {
        let Ok(about) = journal.symlink_metadata() else { return Ok(()) };
        let user = about.uid();
        if about.is_file() && (invoker.trusts(user) || Some(user) == owner) {
            return Ok(());
        }
        if begun.elapsed() > LONGEST_WRITE {
            let user = origin::name(user);
            return refuse(
                &journal,
                format!(
                    "which is of {user}: a write of theirs was interrupted, or it was put there; they repair it by {}, or remove it",
                    layout.create
                ),
            );
        }
        thread::sleep(LONGEST_WRITE / 100);
    }
}

/// Whether the header of a database says that it has a write-ahead log (SQLite's file format, section 1.3: versions 2 to write and read). SQLite
/// would make its files also for those who only read.
fn has_log(path: &Path) -> bool {
    let mut versions = [0; 2];
    let read = open_regular(path, OpenOptions::new().read(true), OFlags::empty());
    read.and_then(|file| file.read_exact_at(&mut versions, 18)).is_ok() && versions.contains(&2)
}

fn aside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

/// Whether a write was interrupted that a connection which only reads cannot undo.
fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_READONLY_ROLLBACK)
}

/// Copies a database and its journal, as both are at one time.
fn copied(path: &Path, copy: &Path) -> std::io::Result<()> {
    let path = &std::fs::canonicalize(path)?;
    let journal = aside(path, "-journal");
    let state = || {
        let [file, journal] = [path, &journal].map(|path| path.symlink_metadata());
        let of = |about: Metadata| (about.ino(), about.len(), about.mtime(), about.mtime_nsec());
        Ok::<_, std::io::Error>((file.map(of)?, journal.map(of).ok()))
    };
    for _ in 0..COPIES {
        let before = state()?;
        std::fs::copy(path, copy)?;
        let mut opened = match open_regular(&journal, OpenOptions::new().read(true), OFlags::NOFOLLOW) {
            Ok(opened) => opened,
            // Another program has repaired the file meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let owners = [opened.metadata()?.uid(), path.metadata()?.uid()];
        if !Invoker::current().trusts(owners[0]) && owners[0] != owners[1] {
            return Err(std::io::Error::other("its journal was replaced meanwhile"));
        }
        // With the name of a super-journal at its end SQLite would wait for that file, whatever it is; charz has one database a transaction.
        let (length, mut end) = (opened.metadata()?.len(), [0; JOURNAL.len()]);
        if length >= 8 && opened.read_exact_at(&mut end, length - 8).is_ok() && end == JOURNAL {
            return Err(std::io::Error::other("its journal is of several databases"));
        }
        std::io::copy(&mut opened, &mut File::create(aside(copy, "-journal"))?)?;
        if state()? == before {
            return Ok(());
        }
    }
    Err(std::io::Error::other("it changes while it is read"))
}

/// What a journal begins with, and ends with where it is of several databases.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// How often a file that changes meanwhile is copied.
const COPIES: usize = 5;

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
        ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation | ErrorCode::Unknown => {
            damaged(path, noun, &error.to_string())
        }
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
    if origin::foreign_link(path, &Invoker::current()).is_some() {
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
