//! Reading what was added.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{OptionalExtension, Row};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{Stopped, Store, damaged};
use crate::exit::Error;
use crate::history::entry::{Counts, Entry};
use crate::history::packed::{self, unpack};
use crate::history::series::{Parameters, Series, Value};
use crate::report::{self, Report, Status, Unit};

impl Store {
    /// All reports, the oldest first, and what they say of each cell; series in the order of the newest report that has them.
    ///
    /// # Errors
    /// The database refused, or is damaged.
    pub fn read(&mut self) -> Result<(Vec<Entry>, Vec<Series>), Error> {
        // One transaction: what another program adds meanwhile is seen in both, or in neither.
        let Store { connection, path } = self;
        let read = connection.transaction().map_err(Stopped::from).and_then(|transaction| {
            if !transaction.table_exists(None, "report")? {
                return Ok((Vec::new(), Vec::new()));
            }
            let mut entries = entries(&transaction, path)?;
            let series = series(&transaction, path, &mut entries)?;
            Ok((entries, series))
        });
        read.map_err(|stopped| match stopped {
            Stopped::Database(error) => super::told(path, error),
            Stopped::Refused(error) => error,
        })
    }

    /// The report with this number, and the text that was added, to the byte.
    ///
    /// # Errors
    /// There is none, the database refused, or it is damaged.
    pub fn report(&self, id: i64) -> Result<(Report, String), Error> {
        let path = &self.path;
        let missing = || {
            Error::bad_input(format!(
                "there is no report {id} in the history {path:?}; charz history list names those that are"
            ))
        };
        let refuse = |error| super::told(path, error);
        if !self.connection.table_exists(None, "report").map_err(refuse)? {
            return Err(missing());
        }
        let sql = "SELECT text, digest FROM report WHERE id = ?1";
        let found = self.connection.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).optional();
        let (text, digest): (Vec<u8>, String) = found.map_err(refuse)?.ok_or_else(missing)?;
        report_of(path, id, &text, &digest)
    }
}

/// The report that was packed, if it is the one that was added.
pub(super) fn report_of(path: &Path, id: i64, bytes: &[u8], digest: &str) -> Result<(Report, String), Error> {
    let text = unpack(bytes).filter(|text| packed::digest(text) == digest);
    let text = text.ok_or_else(|| damaged(path, &format!("report {id} is not what was added")))?;
    let report = report::parse(&text).map_err(|why| damaged(path, &format!("report {id}: {why}")))?;
    Ok((report, text))
}

/// An entry, without its counts, out of a row of `id, at, label, digest, head`; `None` where the head is none.
pub(super) fn entry_of(row: &Row<'_>) -> rusqlite::Result<Option<Entry>> {
    let (id, at, label, digest) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    let head = unpack(&row.get::<_, Vec<u8>>(4)?).and_then(|text| report::parse(&text).ok());
    Ok(head.map(|head| Entry { id, at, label, digest, counts: Counts::default(), head }))
}

fn entries(connection: &rusqlite::Connection, path: &Path) -> Result<Vec<Entry>, Stopped> {
    let mut wanted = connection.prepare("SELECT id, at, label, digest, head FROM report ORDER BY at, id")?;
    let mut rows = wanted.query(())?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let unread = || Stopped::Refused(damaged(path, "the head of a report cannot be read"));
        entries.push(entry_of(row)?.ok_or_else(unread)?);
    }
    Ok(entries)
}

/// What makes values of different reports values of one series.
type Key = (String, String, u64, Parameters, String);

fn series(connection: &rusqlite::Connection, path: &Path, entries: &mut [Entry]) -> Result<Vec<Series>, Stopped> {
    let sql = "SELECT report, kernel, mapping, workers, parameters, unit, status, reason, value, low, high
        FROM cell ORDER BY report, place";
    let mut wanted = connection.prepare(sql)?;
    let places: HashMap<i64, usize> = entries.iter().enumerate().map(|(place, entry)| (entry.id, place)).collect();
    let mut series: Vec<Series> = Vec::new();
    // The last place of each series within its newest report, to sort them by.
    let mut newest: Vec<(usize, usize)> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    let unread = || Stopped::Refused(damaged(path, "what it says of a cell cannot be read"));
    let mut rows = wanted.query(())?;
    let mut number = 0;
    while let Some(row) = rows.next()? {
        let entry = *places.get(&row.get(0)?).ok_or_else(unread)?;
        let workers = row.get::<_, i64>(3)?.try_into().map_err(|_| unread())?;
        let parameters: Parameters =
            serde_json::from_str(row.get_ref(4)?.as_str().map_err(|_| unread())?).map_err(|_| unread())?;
        let key: Key = (row.get(1)?, row.get(2)?, workers, parameters, row.get(5)?);
        let unit: Unit = wire(&key.4).ok_or_else(unread)?;
        let status: Status = wire(&row.get::<_, String>(6)?).ok_or_else(unread)?;
        let finite = |at| Ok::<_, Stopped>(row.get::<_, Option<f64>>(at)?.filter(|value| value.is_finite()));
        let value = Value {
            entry,
            status,
            reason: row.get(7)?,
            value: finite(8)?.filter(|_| matches!(status, Status::Ok | Status::Suspect)),
            interval: finite(9)?.zip(finite(10)?),
        };
        entries[entry].counts.count(status, 1);
        number += 1;
        let at = *known.entry(key).or_insert_with_key(|(kernel, mapping, workers, parameters, _)| {
            series.push(Series {
                kernel: kernel.clone(),
                mapping: mapping.clone(),
                workers: *workers,
                parameters: parameters.clone(),
                unit,
                values: Vec::new(),
            });
            newest.push((0, 0));
            series.len() - 1
        });
        // Local memory that was asked for, and that which nobody asked for, are one cell.
        if series[at].values.last().is_none_or(|last| last.entry != entry) {
            series[at].values.push(value);
        }
        newest[at] = newest[at].max((entry + 1, number));
    }
    for series in &mut series {
        series.values.sort_by_key(|value| value.entry);
    }
    let mut sorted: Vec<_> = series.into_iter().zip(newest).collect();
    sorted.sort_by_key(|(_, (entry, number))| (std::cmp::Reverse(*entry), *number));
    Ok(sorted.into_iter().map(|(series, _)| series).collect())
}

/// The value of a wire type that is one word.
fn wire<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(Json::String(word.to_owned())).ok()
}
