//! The report's format, read by others than its writer.

use std::ffi::OsStr;

use serde_json::Value;

use crate::derived::with_derived;
use crate::schema::violations;
use crate::support::{output, root, run, small_report};

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
    let sweep = "sweep --kernel arith-int --mapping dumb --threads 40 --iterations 1000 --invocations 1 --repetitions 1 --output";
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
fn golden_reports_are_readable() {
    let golden = root().join("tests/golden/reports");
    let mut seen = 0;
    for entry in std::fs::read_dir(golden).unwrap() {
        let path = entry.unwrap().path();
        let ran = run(["render".as_ref(), path.as_os_str()]);
        assert_eq!(ran.code, Some(0), "{}: {}", path.display(), ran.err);
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn fields_of_later_minor_versions_are_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let mut report = small_report(&file);
    report["schema"]["minor"] = 99.into();
    report["cells"][0]["invented_later"] = 1.into();
    std::fs::write(&file, report.to_string()).unwrap();
    assert_eq!(run(["render".as_ref(), file.as_os_str()]).code, Some(0));
}

#[test]
fn a_byte_order_mark_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let golden = std::fs::read_to_string(root().join("tests/golden/reports/waits.json")).unwrap();
    let file = folder.path().join("r.json");
    std::fs::write(&file, format!("\u{feff}{golden}")).unwrap();
    assert_eq!(run(["render".as_ref(), file.as_os_str()]).code, Some(0));
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

#[test]
fn several_reports_are_one_table() {
    let golden = ["arithmetic", "waits"].map(|name| format!("tests/golden/reports/{name}.json"));
    let [first, second] = golden.map(|file| root().join(file).into_os_string().into_string().unwrap());
    for format in ["csv", "runs-csv"] {
        let [alone, other, both] = [&[&*first][..], &[&*second], &[&*first, &*second]].map(|files| {
            let text = output(&[&["render", "--format", format], files].concat());
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        });
        assert_eq!(both, [&alone[..], &other[1..]].concat(), "{format}");
    }
    let refused = run(["render", &first, &second, "--format", "openmetrics"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
}

#[test]
fn a_terminal_is_not_steered_by_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let mut report = small_report(&file);
    report["host"]["name"] = "evil\u{1b}[2J".into();
    report["cells"][0]["runs"][0]["variant"] = "\u{1b}]0;owned\u{7}".into();
    std::fs::write(&file, report.to_string()).unwrap();
    for format in ["table", "summary", "csv"] {
        let text = output(&["render", file.to_str().unwrap(), "--format", format]);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{format}");
    }
}
