//! The database file of a history: one row per report.
//!
//! `text` is the report as it was added, to the byte. `summary` is the same with one number per cell, as JSON too, so
//! commands read all reports without their texts. What is read goes through the parser of reports.

use charz_data::Arrange;
use std::cmp::Ordering;
use std::path::Path;

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::database::{Database, Fault, Layout, damaged};
use crate::exit::Error;
use charz_analysis::compare::{is_one_host, other_machine};
use charz_analysis::history::{Added, Addition, Entry, seconds, summary};
use charz_data::report::{self, Report, from_json};
use charz_measure::sweep::reread;

#[cfg(test)]
mod tests;

const NOUN: &str = "history";

static LAYOUT: Layout = Layout {
    application_id: 0x6368_727a,
    version: 1,
    table: "CREATE TABLE report (
    id INTEGER PRIMARY KEY,
    sweep TEXT NOT NULL UNIQUE,
    label TEXT,
    summary TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT",
    noun: NOUN,
    create: "charz history add REPORT",
};

#[derive(Debug)]
pub struct Store(Database);

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
        let mut entries = self.0.read(|transaction, path, is_created| {
            if !is_created {
                return Ok(Vec::new());
            }
            let mut statement = transaction.prepare("SELECT id, label, summary FROM report ORDER BY id")?;
            let mut rows = statement.query(())?;
            let mut entries: Vec<Entry> = Vec::new();
            while let Some(row) = rows.next()? {
                let next = entry(path, row)?;
                // In a file whose pages lead in circles rows come again, without an end.
                if entries.last().is_some_and(|last| next.id <= last.id) {
                    Err(damaged(path, NOUN, "its rows are not in order"))?;
                }
                entries.push(next);
            }
            Ok(entries)
        })?;
        entries.arrange_by_key(|entry| (entry.at, entry.id));
        Ok(entries)
    }

    pub fn read(&mut self, id: i64) -> Result<(Report, String), Error> {
        self.0.read(|transaction, path, is_created| {
            let by_id = || transaction.query_row("SELECT text FROM report WHERE id = ?1", [id], |row| row.get(0));
            let text: Option<String> = if is_created { by_id().optional()? } else { None };
            let text = text.ok_or_else(|| {
                Error::bad_input(format!("there is no report {id} in the history {path:?}; see charz history list"))
            })?;
            Ok((judged(path, id, parse(path, id, &text)?)?, text))
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
    let known = parse(path, id, &there)?;
    let state = |report: &Report| (invocations(report), report.wall_ns);
    let order = state(&known).cmp(&state(report));
    let has_as_many = invocations(&known) == invocations(report);
    if has_as_many && measured(judged(path, id, known)?) != measured(report.clone()) {
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

fn refuse_others(first: &Entry, report: &Report, any_host: bool) -> Result<(), String> {
    let id = first.id;
    if let Some(difference) = other_machine(&first.report, report) {
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

fn invocations(report: &Report) -> usize {
    report.floor.iter().chain(&report.cells).map(|cell| cell.invocations.len() + cell.counted.len()).sum()
}

/// A report without what a resume changes that adds no run, and what follows from the rest.
fn measured(report: Report) -> Report {
    Report { findings: Vec::new(), wall_ns: 0, complete: false, stopped_by: None, file: None, ..report }
}

fn entry(path: &Path, row: &Row<'_>) -> Result<Entry, Fault> {
    let id = row.get(0)?;
    let report = row.get_ref(2)?.as_bytes().ok().and_then(|text| from_json(text).ok());
    let entry = report.and_then(|report| Entry::new(id, row.get(1).ok()?, report));
    Ok(entry.ok_or_else(|| damaged(path, NOUN, &format!("the summary of report {id} cannot be read")))?)
}

fn parse(path: &Path, id: i64, text: &str) -> Result<Report, Error> {
    report::parse(text).map_err(|why| damaged(path, NOUN, &format!("report {id}: {why}")))
}

/// As a report that is added is judged when it is read.
fn judged(path: &Path, id: i64, mut report: Report) -> Result<Report, Error> {
    reread(&mut report).map_err(|why| damaged(path, NOUN, &format!("report {id}: {why}")))?;
    Ok(report)
}
