//! Nothing is lost, nothing is added twice, and what is no history is left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

use rusqlite::Connection;

use super::*;
use crate::exit::Exit;
use charz_data::report::{File, Hardware, Unit, fixtures};

fn report(number: u64) -> Report {
    let cell = |kernel| fixtures::cell(kernel, 2, Unit::OpsPerSecond, 1e9);
    let cells = vec![cell("arith-int"), cell("mem-read").suspect(), cell("mem-write").invalid(), cell("noop")];
    let (id, started) = (format!("{number:032x}"), format!("2026-01-{:02}T12:00:00Z", 1 + number));
    Report { id, started, floor: Vec::new(), ..fixtures::report(cells) }
}

fn text(report: &Report) -> String {
    serde_json::to_string(report).unwrap() + "\n"
}

fn addition(report: Report) -> Addition {
    let text = text(&report);
    Addition::new("r.json".into(), &text, report)
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("sub/history.db")
    }

    /// A history of two reports, the newer one first.
    fn of_two(&self) -> Store {
        let mut store = Store::create(&self.file()).unwrap();
        store.add(&[addition(report(1)), addition(report(0))], Some("both"), false).unwrap();
        store
    }

    /// What opening and reading says after a change by another program.
    fn changed(&self, sql: &str) -> Result<(), Error> {
        drop(self.of_two());
        Connection::open(self.file()).unwrap().execute_batch(sql).unwrap();
        let mut store = Store::open(&self.file())?;
        store.list()?;
        store.read(1).map(|_| ())
    }
}

#[track_caller]
fn check_refused<T: std::fmt::Debug>(answer: Result<T, Error>, exit: Exit, words: &[&str]) {
    let error = answer.unwrap_err();
    let sentence = error.to_string();
    assert_eq!(error.exit, exit, "{sentence}");
    assert!(words.iter().all(|word| sentence.contains(word)) && !sentence.contains('\n'), "{words:?}: {sentence}");
}

#[test]
fn a_resumed_sweep_takes_the_place_of_its_earlier_state() {
    let place = Place::new();
    let mut store = Store::create(&place.file()).unwrap();
    let early = |report: Report| addition(Report { cells: report.cells[..2].to_vec(), ..report });
    assert_eq!(store.add(&[early(report(0))], Some("x"), false).unwrap(), [(1, Added::New)]);
    assert_eq!(store.add(&[addition(report(0))], None, false).unwrap(), [(1, Added::Later)]);
    assert_eq!(store.add(&[early(report(0))], None, false).unwrap(), [(1, Added::Earlier)]);
    let entries = store.list().unwrap();
    assert_eq!((entries.len(), entries[0].report.cells.len(), entries[0].label.as_deref()), (1, 4, Some("x")));
    let mut changed = report(0);
    changed.cells[0].invocations[0].seed += 1;
    let changed = addition(changed);
    check_refused(store.add(&[changed], None, false), Exit::BadInput, &["report 1", "same sweep", "changed"]);
}

#[test]
fn a_report_that_differs_in_no_measurement_is_the_same() {
    let place = Place::new();
    let mut store = Store::create(&place.file()).unwrap();
    let mut first = report(0);
    judge_report(&mut first);
    assert_eq!(store.add(&[addition(first.clone())], None, false).unwrap(), [(1, Added::New)]);
    let mut add = |text: String, report: &Report| {
        let addition = Addition::new("r.json".into(), &text, report.clone());
        store.add(&[addition], None, false).unwrap()[0].1
    };
    assert_eq!(add(serde_json::to_string_pretty(&first).unwrap(), &first), Added::Same);
    // As a resume writes it whose budget ended before a run.
    let stopped_by = Some("budget".to_owned());
    let resumed = Report { wall_ns: first.wall_ns + 1, complete: false, stopped_by, ..first.clone() };
    assert_eq!(add(serde_json::to_string(&resumed).unwrap(), &resumed), Added::Later);
    assert_eq!(add(serde_json::to_string(&first).unwrap(), &first), Added::Earlier);
    // Or after runs that the budget left only to the counters.
    let mut counted = Report { wall_ns: first.wall_ns + 2, ..first.clone() };
    counted.cells[0] = counted.cells[0].clone().counted(Hardware::default());
    assert_eq!(add(serde_json::to_string(&counted).unwrap(), &counted), Added::Later);
    assert_eq!(add(serde_json::to_string(&first).unwrap(), &first), Added::Earlier);
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
    assert_eq!(store.list().unwrap().len(), 2, "the good one was not added either");
    assert_eq!(store.add(&named, None, true).unwrap(), [(3, Added::New), (4, Added::New)]);
    let mut whole = report(4);
    whole.host.name = whole.host.name.map(|name| name + ".cluster.local");
    assert_eq!(store.add(&[addition(whole)], None, false).unwrap(), [(5, Added::New)], "with its domain");
    let timeless = addition(Report { started: "yesterday".into(), ..report(5) });
    check_refused(store.add(&[timeless], None, false), Exit::BadInput, &["\"yesterday\"", "no time"]);
}

#[test]
fn of_many_that_create_a_history_at_once_each_adds_its_report() {
    for _ in 0..10 {
        let (place, barrier) = (Place::new(), Barrier::new(4));
        fs::create_dir(place.file().parent().unwrap()).unwrap();
        thread::scope(|scope| {
            for number in 0..4 {
                let (place, barrier) = (&place, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    Store::create(&place.file()).unwrap().add(&[addition(report(number))], None, false).unwrap();
                });
            }
        });
        assert_eq!(Store::open(&place.file()).unwrap().list().unwrap().len(), 4);
    }
}

#[test]
fn another_database_is_refused_and_left_alone() {
    let place = Place::new();
    let file = place.file();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for sql in ["CREATE TABLE report (id)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"] {
        let _ = fs::remove_file(&file);
        Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        let before = fs::read(&file).unwrap();
        check_refused(Store::open(&file), Exit::BadInput, &["another program"]);
        check_refused(Store::create(&file), Exit::BadInput, &["another program"]);
        assert_eq!(fs::read(&file).unwrap(), before);
    }
    check_refused(Place::new().changed("PRAGMA user_version = 3"), Exit::BadInput, &["version 3"]);
}

#[test]
fn changed_contents_are_refused() {
    let set = |column: &str, bytes: &[u8]| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("UPDATE report SET {column} = x'{digits}'")
    };
    let long_ago = serde_json::to_string(&summary(Report { started: "long ago".into(), ..report(0) })).unwrap();
    let whole = packed(&text(&report(0)));
    // More than a report may grow to, of which little is in the file.
    let bomb = packed(&" ".repeat(18 << 20));
    for sql in [
        "DROP TABLE report",
        "ALTER TABLE report DROP COLUMN label",
        "ALTER TABLE report RENAME TO whole; CREATE VIEW report AS SELECT * FROM whole",
        "PRAGMA user_version = 1",
        &set("text", b"{"),
        &set("text", b"\xff no text"),
        &set("text", &whole[..whole.len() / 2]),
        &set("text", &bomb),
        &set("summary", b"{}"),
        &set("summary", &packed(&long_ago)),
        &set("summary", &bomb),
    ] {
        check_refused(Place::new().changed(sql), Exit::BadInput, &["damaged"]);
    }
    check_refused(Place::new().of_two().read(7), Exit::BadInput, &["no report 7", "charz history list"]);
}

#[test]
fn what_runs_code_of_others_is_refused() {
    for sql in [
        "CREATE TRIGGER t AFTER INSERT ON report BEGIN SELECT 1; END",
        "CREATE INDEX i ON report (label)",
        "CREATE VIEW v AS SELECT * FROM report",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON report BEGIN SELECT 1; END; PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET type = 'TRIGGER' WHERE name = 't'",
    ] {
        let place = Place::new();
        check_refused(place.changed(sql), Exit::BadInput, &["damaged", "not charz's"]);
        check_refused(Store::create(&place.file()), Exit::BadInput, &["damaged", "not charz's"]);
    }
}

/// The file of a history of these reports as version 1 wrote it.
fn of_version_1(place: &Place, reports: impl Iterator<Item = Report>) {
    fs::create_dir_all(place.file().parent().unwrap()).unwrap();
    let old = Connection::open(place.file()).unwrap();
    old.pragma_update(None, "application_id", LAYOUT.application_id).unwrap();
    old.execute_batch(&format!("PRAGMA user_version = 1; {UNPACKED}; BEGIN")).unwrap();
    for report in reports {
        let (text, summary) = (text(&report), serde_json::to_string(&File::of(&summary(report.clone()), &[])).unwrap());
        let sql = "INSERT INTO report (sweep, label, summary, text) VALUES (?1, 'old', ?2, ?3)";
        old.execute(sql, params![report.id, summary, text]).unwrap();
    }
    old.execute_batch("DELETE FROM report WHERE id = 3; COMMIT").unwrap();
}

#[test]
fn a_history_of_version_1_is_read_as_it_is_and_converted_by_adding() {
    let place = Place::new();
    of_version_1(&place, (0..20).map(report));
    let bytes = || fs::read(place.file()).unwrap();
    let before = bytes();
    let check = |store: &mut Store, count: usize| {
        let list = store.list().unwrap();
        assert!(list.len() == count && list.iter().take(19).all(|entry| entry.label.as_deref() == Some("old")));
        for id in (1..=20).filter(|id| *id != 3) {
            assert_eq!(store.read(id).unwrap().1, text(&report(id as u64 - 1)), "report {id}");
        }
        check_refused(store.read(3), Exit::BadInput, &["no report 3"]);
    };
    check(&mut Store::open(&place.file()).unwrap(), 19);
    // A good one, one that is there, and one of another machine.
    let mut other = report(22);
    other.host.processor = Some("another".into());
    let additions = [addition(report(21)), addition(report(0)), addition(other)];
    let mut store = Store::create(&place.file()).unwrap();
    check_refused(store.add(&additions, None, false), Exit::BadInput, &["another"]);
    check(&mut store, 19);
    assert_eq!(bytes(), before, "neither reading nor a refusal changes anything");
    assert_eq!(store.add(&additions[..2], None, false).unwrap(), [(21, Added::New), (1, Added::Same)]);
    check(&mut store, 20);
    assert!(bytes().len() * 2 < before.len(), "{} of {} bytes", bytes().len(), before.len());
    check(&mut Store::open(&place.file()).unwrap(), 20);
    let version = |row: &Row<'_>| row.get::<_, i32>(0);
    let found = Connection::open(place.file()).unwrap().pragma_query_value(None, "user_version", version);
    assert_eq!(found, Ok(LAYOUT.version));
}

#[test]
fn a_damaged_history_of_version_1_is_not_converted() {
    let place = Place::new();
    of_version_1(&place, (0..4).map(report));
    let damage = Connection::open(place.file()).unwrap();
    damage.execute_batch("UPDATE report SET text = CAST(x'ff' AS TEXT) WHERE id = 4").unwrap();
    drop(damage);
    let before = fs::read(place.file()).unwrap();
    let mut store = Store::create(&place.file()).unwrap();
    check_refused(store.add(&[addition(report(9))], None, false), Exit::BadInput, &["damaged"]);
    check_refused(store.read(4), Exit::BadInput, &["damaged", "report 4"]);
    assert_eq!(fs::read(place.file()).unwrap(), before);
}

#[test]
fn a_report_takes_little_more_than_its_compressed_file() {
    let place = Place::new();
    // As many numbers as a sweep of a few minutes has.
    let mut random = fastrand::Rng::with_seed(1);
    let mut whole = report::parse(fixtures::ARITHMETIC).unwrap();
    for cell in &mut whole.cells {
        let measured = cell.invocations.clone();
        for mut more in std::iter::repeat_n(measured, 7).flatten() {
            (more.seed, more.started_ns) = (random.u64(..), random.u64(..1 << 40));
            for lap in more.runs.iter_mut().flat_map(|run| &mut run.laps) {
                lap.end_ns += random.u64(..1 << 20);
            }
            cell.invocations.push(more);
        }
    }
    let of = |number: u64| Report { id: format!("{number:032x}"), ..whole.clone() };
    let mut store = Store::create(&place.file()).unwrap();
    let mut length = |numbers: std::ops::Range<u64>| {
        store.add(&numbers.map(|number| addition(of(number))).collect::<Vec<_>>(), None, false).unwrap();
        fs::metadata(place.file()).unwrap().len()
    };
    let grown = (length(0..1), length(1..21));
    let per_report = (grown.1 - grown.0) / 20;
    let compressed = packed(&text(&whole)).len() as u64;
    assert!(per_report * 10 <= compressed * 12, "{per_report} bytes for {compressed}");
}

/// The files of a history of one report to which a program was killed while it added another.
fn interrupted(place: &Place) -> [PathBuf; 2] {
    let whole = place.0.path().join("whole.db");
    Store::create(&whole).unwrap().add(&[addition(report(0))], None, false).unwrap();
    let writer = Connection::open(&whole).unwrap();
    // With a cache of one page what is written goes to the file before the transaction ends.
    writer
        .execute_batch(
            "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE report SET text = zeroblob(50000), summary = x''",
        )
        .unwrap();
    let files = ["", "-journal"].map(|end| (place.0.path().join(format!("whole.db{end}")), format!("history.db{end}")));
    fs::create_dir_all(place.file().parent().unwrap()).unwrap();
    let files = files.map(|(from, to)| {
        let to = place.file().with_file_name(to);
        fs::copy(from, &to).unwrap();
        to
    });
    drop(writer);
    files
}

#[test]
fn a_write_that_was_interrupted_is_undone_by_the_next_write_and_not_by_reading() {
    let place = Place::new();
    let files = interrupted(&place);
    let bytes = || files.each_ref().map(|file| fs::read(file).unwrap());
    let before = bytes();
    let names = |store: &mut Store| store.list().unwrap().len();
    for _ in 0..2 {
        let mut store = Store::open(&place.file()).unwrap();
        assert_eq!(names(&mut store), 1, "the report from before the write");
        store.read(1).unwrap();
        assert_eq!(bytes(), before, "reading changes nothing");
    }
    let mut store = Store::create(&place.file()).unwrap();
    store.add(&[addition(report(1))], None, false).unwrap();
    assert_eq!(names(&mut store), 2);
    assert!(!files[1].exists());
}

#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn what_others_put_beside_a_history_is_no_part_of_it() {
    let place = Place::new();
    let [file, journal] = interrupted(&place);
    let before = fs::read(&file).unwrap();
    let log = Place::new();
    drop(log.of_two());
    Connection::open(log.file()).unwrap().execute_batch("PRAGMA journal_mode = WAL").unwrap();
    let names = || fs::read_dir(log.file().parent().unwrap()).unwrap().count();
    check_refused(Store::open(&log.file()), Exit::BadInput, &["write-ahead log", "journal_mode=DELETE"]);
    assert_eq!(names(), 1, "no file was made");
    for end in ["wal", "shm"] {
        let log = file.with_file_name(format!("history.db-{end}"));
        fs::write(&log, "").unwrap();
        check_refused(Store::open(&file), Exit::BadInput, &[end, "does not read"]);
        check_refused(Store::create(&file), Exit::BadInput, &[end, "does not read"]);
        fs::remove_file(log).unwrap();
    }
    if std::os::unix::fs::chown(&journal, Some(65_534), None).is_err() {
        println!("not tested with another user's journal, which only root makes");
        return;
    }
    check_refused(Store::open(&file), Exit::BadInput, &["history.db-journal", "user"]);
    check_refused(Store::create(&file), Exit::BadInput, &["history.db-journal", "user"]);
    assert_eq!(fs::read(&file).unwrap(), before);
    // Who owns the database may also repair it.
    std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
    assert_eq!(Store::open(&file).unwrap().list().unwrap().len(), 1);
}

#[test]
fn a_file_that_cannot_be_written_keeps_its_reports() {
    let place = Place::new();
    let mut store = place.of_two();
    store.0.connection().busy_timeout(std::time::Duration::from_millis(1)).unwrap();
    let other = Connection::open(place.file()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    check_refused(store.add(&[addition(report(2))], None, false), Exit::Environment, &["in use"]);
    drop(other);
    // SQLite reports these as a full disk.
    for (pragma, value) in [("query_only", true), ("max_page_count", true)] {
        store.0.connection().pragma_update(None, pragma, value).unwrap();
        let many: Vec<Addition> = (2..20).map(|number| addition(report(number))).collect();
        check_refused(store.add(&many, None, false), Exit::Environment, &["nothing was changed"]);
        store.0.connection().pragma_update(None, "query_only", false).unwrap();
    }
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn an_empty_file_is_a_history_without_reports() {
    let place = Place::new();
    fs::create_dir_all(place.file().parent().unwrap()).unwrap();
    fs::write(place.file(), "").unwrap();
    let mut store = Store::open(&place.file()).unwrap();
    assert!(store.list().unwrap().is_empty());
    check_refused(store.read(1), Exit::BadInput, &["no report 1"]);
    assert!(fs::read(place.file()).unwrap().is_empty(), "looking changes nothing");
}

#[test]
fn the_folder_is_private() {
    let place = Place::new();
    place.of_two();
    let folder = fs::metadata(place.file().parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    check_refused(Store::create(&place.file().join("below/a/file.db")), Exit::BadInput, &["--db"]);
}
