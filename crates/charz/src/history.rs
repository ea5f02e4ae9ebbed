//! The database file of a history: one row per report.
//!
//! `text` is the report as it was added, to the byte, compressed by gzip. `summary` is the same with one number per cell, so
//! commands read all reports without their texts. What is read goes through the parser of reports.

use charz_data::Arrange;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::database::{Database, Earlier, Fault, Layout, damaged};
use crate::exit::Error;
use charz_claims::compare::{is_one_host, other_machine};
use charz_claims::history::{Added, Entry, seconds, summary};
use charz_data::report::{self, Report, packed, unpacked};
use charz_measure::sweep::judge_report;
use charz_words::compare::unlike;

#[cfg(test)]
mod tests;

const NOUN: &str = "history";

static LAYOUT: Layout = Layout {
    application_id: 0x6368_727a,
    version: 2,
    table: "CREATE TABLE report (
    id INTEGER PRIMARY KEY,
    sweep TEXT NOT NULL UNIQUE,
    label TEXT,
    summary BLOB NOT NULL,
    text BLOB NOT NULL
) STRICT",
    earlier: &[Earlier { version: 1, table: UNPACKED, copy: pack }],
    noun: NOUN,
    create: "charz history add REPORT",
};

/// Version 1, which kept texts as they are.
const UNPACKED: &str = "CREATE TABLE report (
    id INTEGER PRIMARY KEY,
    sweep TEXT NOT NULL UNIQUE,
    label TEXT,
    summary TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT";

#[derive(Debug)]
pub struct Store(Database);

/// A report that is to be added. Of many, each takes as little memory as in the file.
#[derive(Debug)]
pub struct Addition {
    /// The file that it was read from, for messages.
    file: PathBuf,
    head: Report,
    state: State,
    summary: Vec<u8>,
    text: Vec<u8>,
}

impl Addition {
    pub fn new(file: PathBuf, text: &str, report: Report) -> Self {
        let (state, summary) = (state(&report), summary(report));
        let mut line = Vec::new();
        report::write(&summary, &[], true, &mut line).expect("memory takes it");
        Addition { file, head: head(summary), state, summary: line, text: packed(text) }
    }
}

/// A report without its cells: what the machine and the host are compared by.
fn head(report: Report) -> Report {
    Report { cells: Vec::new(), cards: Vec::new(), ..report }
}

/// How far a sweep got: its invocations, and how long it took.
type State = (usize, u64);

impl Store {
    /// Opens a history to read it; an empty file is one without reports.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Database::open(path, &LAYOUT).map(Store)
    }

    /// Opens a history to add to it; creates it, and its folder, if need be.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Database::create(path, &LAYOUT).map(Store)
    }

    /// Adds all reports, or none of them. The first report of a history says which machine it is of; `any_host` also takes
    /// reports of hosts with other names. Each report comes back with its number.
    pub fn add(
        &mut self,
        additions: &[Addition],
        label: Option<&str>,
        any_host: bool,
    ) -> Result<Vec<(i64, Added)>, Error> {
        self.0.write(|transaction, path| {
            additions.iter().map(|addition| add(transaction, path, addition, label, any_host)).collect()
        })
    }

    pub fn list(&mut self) -> Result<Vec<Entry>, Error> {
        self.entries(|report| report)
    }

    /// As [`Store::list`], without cells.
    pub fn heads(&mut self) -> Result<Vec<Entry>, Error> {
        self.entries(head)
    }

    /// The entries by time, with what `part` leaves of their reports.
    fn entries(&mut self, part: impl Fn(Report) -> Report) -> Result<Vec<Entry>, Error> {
        let mut entries = self.0.read(|transaction, path, is_created| {
            if !is_created {
                return Ok(Vec::new());
            }
            let mut statement = transaction.prepare("SELECT id, label, summary FROM report ORDER BY id")?;
            let mut rows = statement.query(())?;
            let mut entries: Vec<Entry> = Vec::new();
            while let Some(row) = rows.next()? {
                let Entry { id, at, label, report } = entry(path, row)?;
                ascend(path, entries.last().map(|last| last.id), id)?;
                entries.push(Entry { id, at, label, report: part(report) });
            }
            Ok(entries)
        })?;
        entries.arrange_by_key(|entry| (entry.at, entry.id));
        Ok(entries)
    }

    pub fn read(&mut self, id: i64) -> Result<(Report, String), Error> {
        self.0.read(|transaction, path, is_created| {
            let sql = "SELECT text FROM report WHERE id = ?1";
            let by_id = || transaction.query_row(sql, [id], |row| Ok(whole(id, row.get_ref(0)?)));
            let found = if is_created { by_id().optional()? } else { None };
            let found = found.ok_or_else(|| {
                Error::bad_input(format!("there is no report {id} in the history {path:?}; see charz history list"))
            })?;
            Ok(found.map_err(|why| damaged(path, NOUN, &why))?)
        })
    }
}

fn add(
    transaction: &Transaction<'_>,
    path: &Path,
    addition: &Addition,
    label: Option<&str>,
    any_host: bool,
) -> Result<(i64, Added), Fault> {
    let Addition { file, head, state, summary, text } = addition;
    let refuse = |why: String| Error::bad_input(format!("{file:?}: {why}; no report was added"));
    if seconds(&head.started).is_none() {
        Err(refuse(format!("it began at {:?}, which is no time such as 2026-01-31T12:00:00Z", head.started)))?;
    }
    let sql = "SELECT id, label, summary FROM report ORDER BY id LIMIT 1";
    if let Some(first) = transaction.query_row(sql, (), |row| Ok(entry(path, row))).optional()? {
        refuse_others(&first?, head, any_host).map_err(refuse)?;
    }
    let sql = "SELECT id, text FROM report WHERE sweep = ?1";
    let known = transaction.query_row(sql, [&head.id], |row| {
        let id = row.get(0)?;
        Ok((id, whole(id, row.get_ref(1)?)))
    });
    let Some((id, known)) = known.optional()? else {
        let sql = "INSERT INTO report (sweep, label, summary, text) VALUES (?1, ?2, ?3, ?4)";
        transaction.execute(sql, params![head.id, label, summary, text])?;
        return Ok((transaction.last_insert_rowid(), Added::New));
    };
    let (known, there) = known.map_err(|why| damaged(path, NOUN, &why))?;
    let (report, text_added) = whole(id, ValueRef::Blob(text)).map_err(refuse)?;
    if there == text_added {
        return Ok((id, Added::Same));
    }
    let order = self::state(&known).cmp(state);
    if self::state(&known).0 == state.0 && measured(known) != measured(report) {
        Err(refuse(format!(
            "report {id} of the history is of the same sweep with as many invocations, and differs; one of them was changed"
        )))?;
    }
    match order {
        Ordering::Less => {
            let sql = "UPDATE report SET label = coalesce(?2, label), summary = ?3, text = ?4 WHERE id = ?1";
            transaction.execute(sql, params![id, label, summary, text])?;
            Ok((id, Added::Later))
        }
        Ordering::Equal => Ok((id, Added::Same)),
        Ordering::Greater => Ok((id, Added::Earlier)),
    }
}

/// Copies a table of version 1, one report at a time.
fn pack(transaction: &Transaction<'_>, path: &Path) -> Result<(), Fault> {
    let mut all = transaction.prepare("SELECT id, sweep, label, summary, text FROM earlier ORDER BY id")?;
    let mut insert =
        transaction.prepare("INSERT INTO report (id, sweep, label, summary, text) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let (mut rows, mut last) = (all.query(())?, None);
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        ascend(path, last, id)?;
        last = Some(id);
        let text = |column| Ok::<_, Fault>(packed(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?));
        let (sweep, label): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        insert.execute(params![id, sweep, label, text(3)?, text(4)?])?;
    }
    Ok(())
}

/// Refuses a row behind one with a number that is as large. In a file whose pages lead in circles rows come again, without an end.
fn ascend(path: &Path, last: Option<i64>, id: i64) -> Result<(), Fault> {
    match last.is_some_and(|last| id <= last) {
        true => Err(damaged(path, NOUN, "its rows are not in order").into()),
        false => Ok(()),
    }
}

fn refuse_others(first: &Entry, report: &Report, any_host: bool) -> Result<(), String> {
    let id = first.id;
    if let Some(difference) = other_machine([&first.report, report]) {
        let difference = unlike(&difference);
        return Err(format!(
            "another machine than that of report {id} of the history: {difference}; name a file for this machine by --db FILE"
        ));
    }
    match (&first.report.host.name, &report.host.name) {
        (Some(one), Some(other)) if !is_one_host(one, other) && !any_host => Err(format!(
            "it is of the host {other:?}, and report {id} of the history of {one:?}; name a file for this host by --db FILE, or treat \
             hosts that are alike as one machine by --any-host"
        )),
        _ => Ok(()),
    }
}

fn state(report: &Report) -> State {
    let cells = report.floor.iter().chain(&report.cells);
    (cells.map(|cell| cell.invocations.len() + cell.counted.len()).sum(), report.wall_ns)
}

/// A report without what a resume changes that adds no run, and what follows from the rest.
fn measured(report: Report) -> Report {
    Report { wall_ns: 0, complete: false, stopped_by: None, file: None, ..report }
}

fn entry(path: &Path, row: &Row<'_>) -> Result<Entry, Fault> {
    let id = row.get(0)?;
    let text = row.get_ref(2)?.as_bytes().ok().and_then(|stored| unpacked("it", stored).ok());
    let report = text.and_then(|text| report::with_derived(&text).ok());
    let entry = report.and_then(|report| Entry::new(id, row.get::<_, Option<String>>(1).ok()?.map(Into::into), report));
    Ok(entry.ok_or_else(|| damaged(path, NOUN, &format!("the summary of report {id} cannot be read")))?)
}

/// A report, judged as one that is added is judged when it is read, and its text. All versions of the layout are read alike, by what a value begins
/// with; an error is what is wrong with it.
fn whole(id: i64, stored: ValueRef<'_>) -> Result<(Report, String), String> {
    let name = format!("report {id}");
    let bytes = stored.as_bytes().map_err(|why| format!("{name}: {why}"))?;
    let (mut report, text) = report::read_stream(&name, bytes).map_err(|why| why.to_string())?;
    judge_report(&mut report);
    Ok((report, text))
}
