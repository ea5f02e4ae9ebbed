//! The database file of a fleet: one row per report, as small as the fleet's answer allows.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::params;

use crate::database::{Database, Fault, Layout, damaged};
use crate::exit::Error;
use charz_data::report::{self, Report};
use charz_fleet::compact;

const NOUN: &str = "collection";

static LAYOUT: Layout = Layout {
    application_id: 0x6368_7266,
    version: 1,
    table: "CREATE TABLE report (
    sweep TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    started TEXT NOT NULL,
    runs INTEGER NOT NULL,
    compact BLOB NOT NULL
) STRICT, WITHOUT ROWID",
    earlier: &[],
    noun: NOUN,
    create: "charz fleet add --db FILE REPORT",
};

/// How a file of SQLite begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// From so many bytes on, reports wait for the next transaction.
const BATCH_BYTES: usize = if cfg!(test) { 1 } else { 16 << 20 };

pub(crate) struct Collection(Database);

/// A report that is to be added, packed.
pub(crate) struct Packed {
    sweep: String,
    host: String,
    started: String,
    runs: usize,
    compact: Vec<u8>,
}

impl Packed {
    /// `name` stands for the host where the report has none.
    pub(crate) fn of(report: Report, name: &str) -> Self {
        let host = report.host.name.clone().filter(|host| !host.is_empty()).unwrap_or_else(|| name.to_owned());
        let runs = report.cells.iter().map(|cell| cell.invocations.len()).sum();
        let mut report = compact(report);
        report.host.name = Some(host.clone());
        let mut packed = Vec::new();
        report::write(&report, &[], true, &mut packed).expect("memory takes it");
        Packed { sweep: report.id, host, started: report.started, runs, compact: packed }
    }
}

impl Collection {
    /// Whether a file is a database, whose ever it is.
    pub(crate) fn is_one(path: &Path) -> bool {
        use std::io::Read;
        let mut start = [0; MAGIC.len()];
        // What a FIFO has can be read once.
        path.is_file()
            && std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok() && start == MAGIC)
    }

    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        Database::open(path, &LAYOUT).map(Collection)
    }

    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        Database::create(path, &LAYOUT).map(Collection)
    }

    /// Adds all reports, or none of them; of one sweep that with the most runs is kept. Returns how many were new, or later than what was
    /// there.
    pub(crate) fn add(&mut self, reports: &[Packed]) -> Result<usize, Error> {
        self.0.write(|transaction, _| {
            let add = |report: &Packed| -> Result<usize, Fault> {
                let Packed { sweep, host, started, runs, compact } = report;
                let sql = "SELECT count(*) FROM report WHERE sweep = ?1 AND (host, started) <> (?2, ?3)";
                let is_of_another: bool = transaction.query_row(sql, params![sweep, host, started], |row| row.get(0))?;
                let sweep = if is_of_another { &format!("{sweep} {host} {started}") } else { sweep };
                let sql = "INSERT INTO report (sweep, host, started, runs, compact) VALUES (?1, ?2, ?3, ?4, ?5) \
                           ON CONFLICT (sweep) DO UPDATE SET host = ?2, started = ?3, runs = ?4, compact = ?5 WHERE runs < ?4";
                Ok(transaction.execute(sql, params![sweep, host, started, *runs as i64, compact])?)
            };
            reports.iter().map(add).sum()
        })
    }

    /// How many reports it has, and of how many hosts.
    pub(crate) fn counts(&mut self) -> Result<[usize; 2], Error> {
        self.0.read(|transaction, path, is_created| {
            let (mut count, mut hosts, mut last) = (0, BTreeSet::new(), None);
            if is_created {
                let mut statement = transaction.prepare("SELECT sweep, host FROM report ORDER BY sweep")?;
                let mut rows = statement.query(())?;
                while let Some(row) = rows.next()? {
                    ascend(path, &mut last, row.get(0)?)?;
                    hosts.insert(row.get::<_, String>(1)?);
                    count += 1;
                }
            }
            Ok([count, hosts.len()])
        })
    }

    /// Gives all reports by their ids to `each`, some at a time, and none twice. While they are parsed, others may add to the database.
    pub(crate) fn each(&mut self, mut each: impl FnMut(&[(String, Vec<u8>)])) -> Result<(), Error> {
        let mut last = None;
        loop {
            let mut batch = self.batch(last.as_deref())?;
            each(&batch);
            let Some((sweep, _)) = batch.pop() else { return Ok(()) };
            last = Some(sweep);
        }
    }

    /// The next reports behind that of an id, by their ids: as many as fit into memory on any machine.
    fn batch(&mut self, last: Option<&str>) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.0.read(|transaction, path, is_created| {
            let (mut batch, mut bytes, mut before) = (Vec::new(), 0, last.map(str::to_owned));
            if !is_created {
                return Ok(batch);
            }
            // An id may be empty.
            let behind = if last.is_some() { ">" } else { ">=" };
            let sql = format!("SELECT compact, sweep FROM report WHERE sweep {behind} ?1 ORDER BY sweep");
            let mut statement = transaction.prepare(&sql)?;
            let mut rows = statement.query([last.unwrap_or_default()])?;
            while let Some(row) = if bytes < BATCH_BYTES { rows.next()? } else { None } {
                let sweep: String = row.get(1)?;
                let blob = row.get_ref(0)?;
                let blob = blob.as_blob().map_err(|error| damaged(path, NOUN, &format!("report {sweep}: {error}")))?;
                bytes += blob.len() + sweep.len() + size_of::<(String, Vec<u8>)>();
                let blob = blob.to_owned();
                ascend(path, &mut before, sweep.clone())?;
                batch.push((sweep, blob));
            }
            Ok(batch)
        })
    }
}

/// Takes note of the id of a row. In a file whose pages lead in circles rows come again, without an end.
fn ascend(path: &Path, last: &mut Option<String>, id: String) -> Result<(), Fault> {
    match last.as_ref().is_some_and(|last| id <= *last) {
        true => Err(damaged(path, NOUN, "its rows are not in order").into()),
        false => {
            *last = Some(id);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use charz_data::report::{Invocation, Unit, fixtures};
    use charz_fleet::{Visit, judge};

    /// Of a host, with so many of its runs.
    fn report(host: usize, runs: usize) -> Report {
        let mut cell = fixtures::cell("arith-int", 2, Unit::OpsPerSecond, 1e9).seated(&[0, 1]);
        cell.invocations.truncate(runs);
        cell.summary = None;
        let mut report = fixtures::report(vec![cell]).on(2);
        (report.id, report.host.name) = (format!("{host:032x}"), Some(format!("n{host}")));
        report
    }

    fn hosts(collection: &mut Collection) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        collection
            .each(|batch| {
                for (sweep, packed) in batch {
                    let text = report::unpacked(sweep, packed.as_slice()).unwrap();
                    let report = report::with_derived(&text).unwrap();
                    let runs = report.cells[0].invocations.iter().filter(|run: &&Invocation| run.value.is_some());
                    found.push((report.host.name.clone().unwrap(), runs.count()));
                    assert_eq!(judge(&[Visit::of(&report, "file")], Vec::new()).nodes.len(), 1);
                }
            })
            .unwrap();
        found
    }

    #[test]
    fn collectors_at_once_lose_nothing_and_keep_nothing_twice() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/fleet.db");
        // Each adds some of its own, and some that another adds too.
        thread::scope(|scope| {
            for collector in 0..4 {
                let file = &file;
                scope.spawn(move || {
                    for host in collector * 5..collector * 5 + 10 {
                        Collection::create(file).unwrap().add(&[Packed::of(report(host, 6), "file")]).unwrap();
                    }
                });
            }
        });
        let mut collection = Collection::open(&file).unwrap();
        assert_eq!(collection.counts().unwrap(), [25, 25]);
        assert_eq!(hosts(&mut collection).len(), 25);
        assert!(Collection::is_one(&file) && !Collection::is_one(folder.path()));
        // One that is added while they are read.
        let (mut count, late) = (0, Packed::of(report(99, 6), "file"));
        let add = |batch: &[(String, Vec<u8>)]| {
            count += batch.len();
            Collection::create(&file).unwrap().add(std::slice::from_ref(&late)).unwrap();
        };
        collection.each(add).unwrap();
        assert_eq!((count, hosts(&mut collection).len()), (26, 26));
    }

    #[test]
    fn of_a_sweep_that_was_continued_the_later_state_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut collection = Collection::create(&folder.path().join("fleet.db")).unwrap();
        let mut add = |runs| collection.add(&[Packed::of(report(1, runs), "file")]).unwrap();
        assert_eq!([add(6), add(6), add(8), add(7)], [1, 0, 1, 0]);
        let mut other = report(2, 6);
        other.id = report(1, 6).id;
        assert_eq!([(); 2].map(|()| collection.add(&[Packed::of(other.clone(), "file")]).unwrap()), [1, 0], "one id");
        assert_eq!(hosts(&mut collection), [("n1".to_owned(), 8), ("n2".to_owned(), 6)]);
    }

    #[test]
    fn a_file_that_cannot_be_named_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fleet.db");
        let mut collection = Collection::create(&file).unwrap();
        std::fs::remove_file(collection.0.draft()).unwrap();
        assert!(collection.add(&[Packed::of(report(1, 6), "file")]).is_err() && !file.exists());
    }

    #[test]
    fn a_history_is_no_collection() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.db");
        let text = serde_json::to_string(&report(1, 6)).unwrap();
        let addition = crate::history::Addition::new("r.json".into(), &text, report(1, 6));
        crate::history::Store::create(&file).unwrap().add(&[addition], None, false).unwrap();
        let refused = Collection::open(&file).err().unwrap().to_string();
        assert!(refused.contains("another program") && refused.contains("no collection"), "{refused}");
    }
}
