//! What a store keeps to: nothing is lost, nothing is taken in twice, and what is no history is left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::exit::Exit;
use crate::history::Counts;
use crate::report::{Report, Unit, invented};

/// A report of another time with a name of its own.
fn report(number: u64) -> Report {
    let cell = |kernel| invented::cell(kernel, 2, Unit::OpsPerSecond, 1e9);
    let cells = vec![cell("arith-int"), cell("mem-read").suspect(), cell("mem-write").invalid(), cell("noop")];
    let (id, started) = (format!("{number:032x}"), format!("2026-01-{:02}T12:00:00Z", 1 + number));
    Report { id, started, floor: Vec::new(), ..invented::report(cells) }
}

fn addition(report: Report) -> Addition {
    let text = serde_json::to_string(&report).unwrap() + "\n";
    Addition { file: "r.json".into(), text, report }
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("sub/history.db")
    }

    fn begin(&self) -> Store {
        Store::open_or_begin(&self.file()).unwrap()
    }

    /// A history of two reports.
    fn of_two(&self) -> Store {
        let mut store = self.begin();
        store.add(&[addition(report(1)), addition(report(0))], Some("both"), false).unwrap();
        store
    }
}

#[track_caller]
fn check_refused<T: std::fmt::Debug>(answer: Result<T, Error>, exit: Exit, words: &[&str]) {
    let error = answer.unwrap_err();
    let sentence = error.to_string();
    assert_eq!(error.exit, exit, "{sentence}");
    for word in words {
        assert!(sentence.contains(word), "{word:?} is missing: {sentence}");
    }
    assert!(!sentence.contains('\n'), "{sentence}");
}

#[test]
fn reports_come_back_to_the_byte_and_in_the_order_of_time() {
    let place = Place::new();
    let mut store = place.begin();
    let text = "\n".to_owned() + &serde_json::to_string_pretty(&report(1)).unwrap();
    let odd = Addition { text: text.clone(), ..addition(report(1)) };
    assert_eq!(store.add(&[odd, addition(report(0))], None, false).unwrap(), [Added::New(1), Added::New(2)]);
    let (entries, series) = Store::open(&place.file()).unwrap().read().unwrap();
    assert_eq!(entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(store.report(1).unwrap(), (report(1), text));
    let cells = report(0).cells;
    assert_eq!(series.len(), cells.len());
    for (series, cell) in series.iter().zip(&cells) {
        assert_eq!((&series.kernel, series.workers), (&cell.kernel, cell.workers));
        let value = cell.summary.and_then(|summary| summary.value);
        assert_eq!(series.values.iter().map(|found| found.value).collect::<Vec<_>>(), [value, value]);
    }
    assert_eq!(entries[0].counts, Counts { ok: 2, suspect: 1, invalid: 1, others: 0 });
}

#[test]
fn what_is_there_is_not_added_again() {
    let place = Place::new();
    let mut store = place.of_two();
    assert_eq!(
        store.add(&[addition(report(0)), addition(report(1))], None, false).unwrap(),
        [Added::Same(2), Added::Same(1)]
    );
    assert_eq!(store.read().unwrap().0.len(), 2);
}

#[test]
fn a_resumed_sweep_takes_the_place_of_its_earlier_state() {
    let place = Place::new();
    let mut store = place.begin();
    let early = |report: Report| Report { cells: report.cells[..2].to_vec(), ..report };
    assert_eq!(store.add(&[addition(early(report(0)))], Some("x"), false).unwrap(), [Added::New(1)]);
    assert_eq!(store.add(&[addition(report(0))], None, false).unwrap(), [Added::Later(1)]);
    assert_eq!(store.add(&[addition(early(report(0)))], None, false).unwrap(), [Added::Earlier(1)]);
    let (entries, series) = store.read().unwrap();
    assert_eq!((entries.len(), series.len()), (1, report(0).cells.len()));
    assert_eq!(entries[0].label.as_deref(), Some("x"));
    let changed = Report { wall_ns: 1, ..report(0) };
    check_refused(store.add(&[addition(changed)], None, false), Exit::BadInput, &["report 1", "same sweep", "changed"]);
}

#[test]
fn a_history_is_of_one_machine_and_takes_all_or_nothing() {
    let place = Place::new();
    let mut store = place.of_two();
    let mut other = report(3);
    other.host.processor = Some("another".into());
    let answer = store.add(&[addition(report(2)), addition(other)], None, false);
    check_refused(answer, Exit::BadInput, &["\"r.json\"", "report 1", "\"another\"", "--db"]);
    let mut named = report(3);
    named.host.name = Some("another".into());
    let named = [addition(report(2)), addition(named)];
    check_refused(store.add(&named, None, false), Exit::BadInput, &["\"another\"", "--any-host"]);
    assert_eq!(store.read().unwrap().0.len(), 2, "the good one was not added either");
    assert_eq!(store.add(&named, None, true).unwrap(), [Added::New(3), Added::New(4)]);
    let timeless = Report { started: "yesterday".into(), ..report(5) };
    check_refused(store.add(&[addition(timeless)], None, false), Exit::BadInput, &["\"yesterday\"", "no time"]);
}

#[test]
fn what_is_no_history_is_refused_and_left_alone() {
    let place = Place::new();
    let file = place.file();
    check_refused(Store::open(&file), Exit::BadInput, &["there is no history", "charz history add"]);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "not a database, and long enough to have a header, ".repeat(40)).unwrap();
    let before = fs::read(&file).unwrap();
    check_refused(Store::open(&file), Exit::BadInput, &["not a database", "--db"]);
    check_refused(Store::open_or_begin(&file), Exit::BadInput, &["not a database"]);
    assert_eq!(fs::read(&file).unwrap(), before);
    check_refused(Store::open(file.parent().unwrap()), Exit::BadInput, &["regular file"]);
    fs::remove_file(&file).unwrap();
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE report (id)").unwrap();
    check_refused(Store::open(&file), Exit::BadInput, &["another program"]);
    check_refused(Store::open_or_begin(&file), Exit::BadInput, &["another program"]);
}

#[test]
fn later_versions_and_other_tables_are_refused() {
    let change = |sql: &str| {
        let place = Place::new();
        drop(place.of_two());
        Connection::open(place.file()).unwrap().execute_batch(sql).unwrap();
        Store::open(&place.file())
    };
    check_refused(change("PRAGMA user_version = 2"), Exit::BadInput, &["version 2", "the charz that wrote it"]);
    for sql in [
        "DROP TABLE cell",
        "ALTER TABLE cell ADD COLUMN x TEXT",
        "CREATE VIEW x AS WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n FROM n) SELECT * FROM n",
        "CREATE TRIGGER x AFTER INSERT ON report BEGIN DELETE FROM cell; END",
    ] {
        check_refused(change(sql), Exit::BadInput, &["damaged", "tables"]);
    }
    assert!(change("PRAGMA user_version = 1").is_ok());
}

#[test]
fn contents_that_were_tampered_with_are_refused() {
    let change = |sql: &str| {
        let place = Place::new();
        drop(place.of_two());
        Connection::open(place.file()).unwrap().execute_batch(sql).unwrap();
        let mut store = Store::open(&place.file()).unwrap();
        store.read().and_then(|_| store.report(1))
    };
    for sql in [
        "UPDATE report SET text = zeroblob(10)",
        "UPDATE report SET text = (SELECT text FROM report WHERE id = 2) WHERE id = 1",
        "UPDATE report SET head = x'00'",
        "UPDATE cell SET unit = 'parsecs'",
        "UPDATE cell SET workers = -1",
        "UPDATE cell SET parameters = '{'",
        "PRAGMA foreign_keys = OFF; UPDATE cell SET report = 99 WHERE report = 1",
    ] {
        check_refused(change(sql), Exit::BadInput, &["damaged"]);
    }
    let place = Place::new();
    check_refused(place.of_two().report(7), Exit::BadInput, &["no report 7", "charz history list"]);
}

#[test]
fn a_torn_file_is_refused_before_anything_is_added() {
    let place = Place::new();
    drop(place.of_two());
    let whole = fs::read(place.file()).unwrap();
    fs::write(place.file(), &whole[..whole.len() - 4096]).unwrap();
    check_refused(Store::open_or_begin(&place.file()), Exit::BadInput, &["damaged"]);
    // A page in the middle.
    let mut torn = whole.clone();
    let middle = whole.len() / 2 / 4096 * 4096;
    torn[middle..middle + 4096].fill(0x5a);
    fs::write(place.file(), &torn).unwrap();
    let mut store = match Store::open(&place.file()) {
        Ok(store) => store,
        Err(error) => return assert_eq!(error.exit, Exit::BadInput),
    };
    let read = store.read().and_then(|_| Ok((store.report(1)?, store.report(2)?)));
    check_refused(read, Exit::BadInput, &["damaged"]);
}

#[test]
fn a_file_in_use_or_that_may_not_be_written_is_told() {
    let place = Place::new();
    let mut store = place.of_two();
    store.connection.busy_timeout(Duration::from_millis(1)).unwrap();
    let other = Connection::open(place.file()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    check_refused(store.add(&[addition(report(2))], None, false), Exit::Environment, &["in use"]);
    drop(other);
    store.connection.pragma_update(None, "query_only", true).unwrap();
    check_refused(store.add(&[addition(report(2))], None, false), Exit::Environment, &["cannot be written"]);
    store.connection.pragma_update(None, "query_only", false).unwrap();
    // A disk that is full, as far as SQLite can tell.
    store.connection.pragma_update(None, "max_page_count", 1).unwrap();
    let many: Vec<Addition> = (2..20).map(|number| addition(report(number))).collect();
    check_refused(store.add(&many, None, false), Exit::Environment, &["no room"]);
    assert_eq!(store.read().unwrap().0.len(), 2);
}

#[test]
fn an_empty_file_is_a_history_without_reports() {
    let place = Place::new();
    fs::create_dir_all(place.file().parent().unwrap()).unwrap();
    fs::write(place.file(), "").unwrap();
    let mut store = Store::open(&place.file()).unwrap();
    assert!(store.read().unwrap().0.is_empty());
    check_refused(store.report(1), Exit::BadInput, &["no report 1"]);
    assert!(fs::read(place.file()).unwrap().is_empty(), "looking changes nothing");
}

#[test]
fn the_folder_is_made_for_its_owner() {
    let place = Place::new();
    place.begin();
    let folder = fs::metadata(place.file().parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    let blocked = place.file().join("below/a/file.db");
    check_refused(Store::open_or_begin(&blocked), Exit::Environment, &["--db"]);
}
