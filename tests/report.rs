//! The report's format, read by others than its writer.

use std::ffi::OsStr;

use serde_json::Value;

use crate::derived::with_derived;
use crate::schema::violations;
use crate::support::{output, run, small_report};

fn schema() -> Value {
    serde_json::from_str(&output(&["docs", "schema"])).unwrap()
}

#[track_caller]
fn check_valid(report: &Value) {
    assert_eq!(violations(&schema(), report), [""; 0]);
}

#[test]
fn a_report_obeys_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let mut report = small_report(&folder.path().join("r.json"));
    check_valid(&report);
    // And the schema is able to refuse.
    report["cells"][0]["workers"] = "two".into();
    assert_ne!(violations(&schema(), &report), [""; 0]);
}

#[test]
fn laps_of_many_workers_are_grouped_and_a_file_is_compressed_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json.gz");
    let sweep = "sweep --kernel arith-int --mapping dumb --threads 40 --steps 1000 --runs 1 --iterations 1 --output";
    run(sweep.split(' ').map(OsStr::new).chain([file.as_os_str()])).check_swept();
    assert_eq!(std::fs::read(&file).unwrap()[..2], [0x1f, 0x8b]);
    let shown = run(["render".as_ref(), "--format".as_ref(), "json".as_ref(), file.as_os_str()]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let report: Value = serde_json::from_str(&shown.out).unwrap();
    check_valid(&report);
    let laps = report["cells"][0]["runs"][0]["iterations"][0]["laps"].as_array().unwrap();
    let workers = |lap: &Value| lap["group"]["workers"].as_u64().unwrap_or(1);
    assert_eq!(laps.iter().map(workers).sum::<u64>(), 40);
    assert!(laps.len() < 40, "{} laps", laps.len());
}

#[test]
fn rendered_json_is_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let report = small_report(&file);
    let text = output(&["render", file.to_str().unwrap(), "--format", "json"]);
    assert_eq!(with_derived(serde_json::from_str(&text).unwrap()), report);
}

#[test]
fn csv_has_a_row_a_cell_and_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let report = small_report(&file);
    let text = output(&["render", file.to_str().unwrap(), "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (value, workers) = (column("value"), column("workers"));
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let cells = report["cells"].as_array().unwrap();
    assert_eq!(rows.len(), cells.len());
    for (row, cell) in rows.iter().zip(cells) {
        assert_eq!(row[workers], cell["workers"].to_string());
        assert_eq!(row[value].parse::<f64>().ok(), cell["value"].as_f64());
    }
}
