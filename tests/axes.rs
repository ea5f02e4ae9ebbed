//! Sizes, pages and the like as properties of each cell, from the command line to the report.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use crate::support::{output, read_json, run};

const KIB: u64 = 1 << 10;

/// A sweep of one kernel, once each, with these flags too.
fn sweep(file: &Path, flags: &[&str]) -> Value {
    let usual = ["sweep", "--kernel", "mem-read", "--mapping", "dumb", "--threads", "1", "--runs", "1"];
    let args = usual.iter().chain(flags).map(OsStr::new).chain([OsStr::new("--output"), file.as_os_str()]);
    let ran = run(args);
    // A budget of a millisecond leaves no result.
    assert!(matches!(ran.code, Some(0 | 5)), "{}", ran.err);
    read_json(file)
}

fn cells(report: &Value) -> &Vec<Value> {
    report["cells"].as_array().unwrap()
}

/// The size of a cell's blocks is what its worker has passed over.
#[track_caller]
fn check_sizes(report: &Value, expected: &[u64]) {
    let sizes: Vec<u64> = cells(report).iter().map(|cell| cell["point"]["size_bytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, expected);
    for (cell, size) in cells(report).iter().zip(sizes) {
        for run in cell["runs"].as_array().unwrap().iter().flat_map(|one| one["iterations"].as_array().unwrap()) {
            assert_eq!(run["laps"][0]["bytes"], size);
        }
    }
}

#[test]
fn each_cell_has_its_own_size_and_pages() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let report = sweep(&file, &["--size", "64KiB,256KiB", "--pages", "4k,thp"]);
    check_sizes(&report, &[64 * KIB, 256 * KIB, 64 * KIB, 256 * KIB]);
    for cell in cells(&report) {
        let small = cell["point"]["pages"] == "4k";
        let page = if small { 4 * KIB } else { 2048 * KIB };
        let size = cell["point"]["size_bytes"].as_u64().unwrap();
        assert_eq!(cell["footprint_bytes"], size.next_multiple_of(page), "{}", cell["point"]);
        let obtained = &cell["runs"][0]["evidence"]["pages"];
        assert!(!small || obtained["transparent_bytes"] == 0 && obtained["base_bytes"] == size, "{obtained}");
    }
    let table = output(&["render", file.to_str().unwrap(), "--format", "table"]);
    let heading = table.lines().find(|line| line.contains("pages") && line.contains("mapping")).unwrap();
    assert_eq!(heading.split_whitespace().take(4).collect::<Vec<_>>(), ["size", "pages", "mapping", "threads"]);
    let csv = output(&["render", file.to_str().unwrap(), "--format", "csv"]);
    assert_eq!(csv.lines().filter(|line| line.contains(",65536,4k,") || line.contains(",262144,thp,")).count(), 2);
}

#[test]
fn what_was_not_measured_is_finished_with_the_parameters_of_its_cell() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let sizes = [64 * KIB, 128 * KIB, 512 * KIB];
    let report = sweep(&file, &["--size", "64KiB,128KiB,512KiB", "--pages", "4k", "--budget", "1ms"]);
    assert_eq!((&report["complete"], &report["plan"]["pages"]), (&Value::Bool(false), &Value::from("4k")));
    let ran = run([OsStr::new("sweep"), OsStr::new("--resume"), file.as_os_str(), "--budget".as_ref(), "1m".as_ref()]);
    // Other programs may disturb each of so few iterations.
    assert!(matches!(ran.code, Some(0 | 5)), "{}", ran.err);
    let report = read_json(&file);
    assert_eq!(report["complete"], true);
    check_sizes(&report, &sizes);
    assert!(cells(&report).iter().all(|cell| !cell["summary"].is_null()));
}

#[test]
fn a_plan_of_levels_says_where_each_block_lies() {
    let dry = |flags: &[&str]| {
        // A busy machine is not advised to raise this budget.
        let usual = ["sweep", "--dry-run", "--kernel", "mem-read", "--mapping", "dumb", "--threads", "1"];
        output(&[&usual[..], &["--budget", "10h", "--size"], flags].concat())
    };
    let levels = |table: &str| -> Vec<String> {
        let rows = table.lines().skip(1).take_while(|line| !line.is_empty());
        rows.filter_map(|row| row.split_whitespace().find(|word| *word == "memory" || word.starts_with('L')))
            .map(str::to_owned)
            .collect()
    };
    let found = levels(&dry(&["curve"]));
    assert!(found.len() > 20 && found.is_sorted(), "{found:?}");
    let found = levels(&dry(&["levels"]));
    assert!(found.is_sorted() && found.windows(2).all(|pair| pair[0] != pair[1]), "{found:?}");
}
