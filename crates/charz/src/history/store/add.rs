//! Adding reports.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Transaction, params};

use super::read::entry_of;
use super::{Stopped, Store};
use crate::compare::other_machine;
use crate::exit::Error;
use crate::history::entry::{head, seconds};
use crate::history::packed::{digest, pack};
use crate::history::series::Parameters;
use crate::report::{Cell, Report};

/// A report that is to be added.
#[derive(Debug)]
pub struct Addition {
    /// The file that it was read from, for messages.
    pub file: PathBuf,
    /// What stands in the file.
    pub text: String,
    /// What that says.
    pub report: Report,
}

/// What became of it; with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is a new one.
    New(i64),
    /// The very same was there, and nothing changed.
    Same(i64),
    /// It is a later state of a sweep that was there, as after a resumption, and takes its place.
    Later(i64),
    /// It is an earlier state of a sweep that is there, and nothing changed.
    Earlier(i64),
}

impl Store {
    /// Adds reports: all, or none of them. The first report that a history ever gets says which machine it is of.
    ///
    /// # Errors
    /// A sentence that names the report which cannot be added: it is of another machine; of another host, unless `any_host`;
    /// it says of no time when it began; or it contradicts what is there of the same sweep. Or the database refused.
    pub fn add(&mut self, additions: &[Addition], label: Option<&str>, any_host: bool) -> Result<Vec<Added>, Error> {
        self.transact(|transaction, path| {
            additions.iter().map(|addition| add(transaction, path, addition, label, any_host)).collect()
        })
    }
}

fn add(
    transaction: &Transaction<'_>,
    path: &Path,
    addition: &Addition,
    label: Option<&str>,
    any_host: bool,
) -> Result<Added, Stopped> {
    let Addition { file, text, report } = addition;
    let refuse =
        |why: String| Stopped::Refused(Error::bad_input(format!("{file:?} was not added, nor any other: {why}")));
    let Some(at) = seconds(&report.started) else {
        return Err(refuse(format!(
            "it says {:?} of when it began, which is no time such as 2026-01-31T12:00:00Z",
            report.started
        )));
    };
    let digest = digest(text);
    let by_digest = "SELECT id FROM report WHERE digest = ?1";
    if let Some(id) = transaction.query_row(by_digest, [&digest], |row| row.get(0)).optional()? {
        return Ok(Added::Same(id));
    }
    refuse_others(transaction, path, report, any_host, &refuse)?;
    match same_sweep(transaction, path, report)? {
        None => {
            let sql = "INSERT INTO report (digest, sweep, at, label, head, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let packed = packed(text, report)?;
            transaction.execute(sql, params![digest, report.id, at, label, packed.head, packed.text])?;
            let id = transaction.last_insert_rowid();
            insert_cells(transaction, id, report)?;
            Ok(Added::New(id))
        }
        Some((id, there)) if there < invocations(report) => {
            let sql = "UPDATE report SET digest = ?2, at = ?3, label = coalesce(?4, label), head = ?5, text = ?6 WHERE id = ?1";
            let packed = packed(text, report)?;
            transaction.execute(sql, params![id, digest, at, label, packed.head, packed.text])?;
            transaction.execute("DELETE FROM cell WHERE report = ?1", [id])?;
            insert_cells(transaction, id, report)?;
            Ok(Added::Later(id))
        }
        Some((id, there)) if there > invocations(report) => Ok(Added::Earlier(id)),
        Some((id, _)) => Err(refuse(format!(
            "report {id} of the history is of the same sweep, has as many invocations, and says something else; one of the two was \
             changed"
        ))),
    }
}

/// A history is that of one machine.
fn refuse_others(
    transaction: &Transaction<'_>,
    path: &Path,
    report: &Report,
    any_host: bool,
    refuse: &dyn Fn(String) -> Stopped,
) -> Result<(), Stopped> {
    let first = "SELECT id, at, label, digest, head FROM report ORDER BY id LIMIT 1";
    let Some(first) = transaction.query_row(first, (), |row| Ok(entry_of(row))).optional()? else { return Ok(()) };
    let first =
        first?.ok_or_else(|| Stopped::Refused(super::damaged(path, "the head of its first report cannot be read")))?;
    if let Some(difference) = other_machine(&first.head, report) {
        return Err(refuse(format!(
            "it is of another machine than report {} of the history {path:?}: {difference}; give each machine a file of its own by \
             --db FILE",
            first.id
        )));
    }
    match (&first.head.host.name, &report.host.name) {
        (Some(one), Some(other)) if one != other && !any_host => Err(refuse(format!(
            "it is of the host {other:?}, and the history {path:?} of {one:?}; give each host a file of its own by --db FILE, or take \
             hosts that are alike for one machine by --any-host"
        ))),
        _ => Ok(()),
    }
}

/// The report of the same sweep that is there, with the number of its invocations.
fn same_sweep(transaction: &Transaction<'_>, path: &Path, report: &Report) -> Result<Option<(i64, usize)>, Stopped> {
    if report.id.is_empty() {
        return Ok(None);
    }
    let sql = "SELECT id, text, digest FROM report WHERE sweep = ?1";
    let there =
        transaction.query_row(sql, [&report.id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
    let Some((id, text, digest)): Option<(i64, Vec<u8>, String)> = there else { return Ok(None) };
    let (there, _) = super::read::report_of(path, id, &text, &digest).map_err(Stopped::Refused)?;
    Ok(Some((id, invocations(&there))))
}

fn invocations(report: &Report) -> usize {
    report.floor.iter().chain(&report.cells).map(|cell| cell.invocations.len()).sum()
}

struct Packed {
    head: Vec<u8>,
    text: Vec<u8>,
}

fn packed(text: &str, report: &Report) -> Result<Packed, Stopped> {
    let failed = |error| Stopped::Refused(Error::environment("cannot pack the report").caused_by(error));
    let head = serde_json::to_string(&head(report)).map_err(std::io::Error::from).map_err(failed)?;
    Ok(Packed { head: pack(&head).map_err(failed)?, text: pack(text).map_err(failed)? })
}

fn insert_cells(transaction: &Transaction<'_>, id: i64, report: &Report) -> Result<(), Stopped> {
    let sql =
        "INSERT INTO cell (report, place, kernel, mapping, workers, parameters, unit, status, reason, value, low, high)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (place, cell) in (0_i64..).zip(&report.cells) {
        let Cell { kernel, mapping, workers, .. } = cell;
        let workers = i64::try_from(*workers).unwrap_or(i64::MAX);
        let parameters = word(&Parameters::of(cell, &report.plan));
        let (unit, status) = (unquoted(&cell.unit), unquoted(&cell.outcome.status));
        let value = cell.summary.and_then(|summary| summary.value);
        let interval = cell.summary.and_then(|summary| summary.interval).filter(|_| value.is_some());
        let (low, high) = (interval.map(|interval| interval.low), interval.map(|interval| interval.high));
        let reason = &cell.outcome.reason;
        insert.execute(params![
            id, place, kernel, mapping, workers, parameters, unit, status, reason, value, low, high
        ])?;
    }
    Ok(())
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("words and numbers can be written")
}

/// The word of a wire type that is one.
fn unquoted(value: &impl serde::Serialize) -> String {
    word(value).trim_matches('"').to_owned()
}
