//! Units of work in a given time, and threads of fresh processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{charz, read_json};

const BRIEF: [&str; 8] =
    ["--mapping=round-robin", "--runs=1", "--iterations=1", "--span=2ms", "--samples=3", "--budget=1m", "-q", "-o"];

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("units-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The cells of a brief sweep that ends with this code, with files in this folder.
#[track_caller]
fn cells(name: &str, files: &Path, kernels: &[&str], code: i32) -> Vec<Value> {
    let report = folder(name).join("report.json");
    let mut sweep = charz();
    sweep.env("TMPDIR", files).arg("sweep").args(kernels).args(BRIEF).arg(&report);
    let ran = sweep.output().unwrap();
    let report = read_json(&report);
    // Other programs may disturb each of so few iterations.
    let ended = ran.status.code();
    assert!(ended == Some(code) || (code, ended) == (0, Some(5)), "{ran:?}");
    report["cells"].as_array().unwrap().clone()
}

fn runs(cell: &Value) -> impl Iterator<Item = &Value> {
    cell["runs"].as_array().unwrap().iter().flat_map(|invocation| invocation["iterations"].as_array().unwrap())
}

#[test]
fn each_kernel_counts_its_own_units_in_a_mix() {
    let files = folder("mix-files");
    let kernels = ["--kernel=cmt-compute,cmt-io-open", "--threads=1,2", "--mix=1:0:1", "--oversubscribed=2"];
    for cell in cells("mix", &files, &kernels, 0) {
        if cell["workers"] == 1 {
            assert_eq!(cell["status"], "skipped");
            assert!(cell["reason"].as_str().unwrap().contains("multiples of 2 workers"), "{}", cell["reason"]);
            continue;
        }
        let counting = u64::from(cell["kernel"] == "cmt-io-open");
        assert!(runs(&cell).count() > 0, "{cell}");
        for lap in runs(&cell).flat_map(|run| run["laps"].as_array().unwrap()) {
            assert_eq!(lap["ops"].as_u64().unwrap() > 0, lap["rank"] == counting, "{cell}");
        }
    }
    assert_eq!(fs::read_dir(files).unwrap().count(), 0);
}

/// Numbers of warm processes and of mixes are named beside those that are neither.
#[test]
fn a_process_and_a_mix_are_named_where_they_are_unusual() {
    let point = |flags: &[&str]| {
        let kernels = [&["--kernel=cmt-compute", "--threads=2"], flags].concat();
        let cells = cells(&flags.concat(), &folder("named-files"), &kernels, 0);
        cells
            .iter()
            .map(|cell| (cell["point"]["process"].clone(), cell["point"]["mix"]["io"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(point(&[]), [(Value::Null, Value::Null)]);
    assert_eq!(point(&["--process=warm"]), [("warm".into(), Value::Null)]);
    assert_eq!(point(&["--process=fresh,warm"]), [("fresh".into(), Value::Null), ("warm".into(), Value::Null)]);
    assert_eq!(point(&["--mix=1:0:1"]), [(Value::Null, 1.into())]);
}

#[test]
fn a_folder_for_files_that_is_missing_is_the_reason() {
    let cells = cells("missing", Path::new("/proc/none"), &["--kernel=cmt-io", "--threads=1"], 3);
    assert_eq!(cells[0]["status"], "skipped");
    let reason = cells[0]["reason"].as_str().unwrap();
    assert!(reason.contains("/proc/none") && reason.contains("TMPDIR"), "{reason}");
}

#[test]
fn the_program_starts_itself_for_the_first_thread_of_a_process() {
    let cells = cells("first", &folder("first-files"), &["--kernel=create-first", "--threads=1"], 0);
    let samples: Vec<_> = runs(&cells[0]).map(|run| run["samples"]["count"].as_u64()).collect();
    assert_eq!(samples, [Some(3)], "{}", cells[0]);
}

/// Whatever ends the program, it leaves no file.
#[test]
fn a_killed_sweep_leaves_no_file_of_its_workers() {
    let (files, report) = (folder("kill-files"), folder("kill").join("report.json"));
    let mut sweep = charz();
    sweep.env("TMPDIR", &files).args(["sweep", "--kernel=cmt-io-open,cmt-io", "--threads=1,2", "--span=200ms"]);
    let sweep = sweep.args(["--budget=1m", "-q", "-o"]).arg(&report).stdout(Stdio::null()).stderr(Stdio::null());
    let mut sweep = sweep.spawn().unwrap();
    let journal = report.with_file_name("report.json.journal");
    let patience = Instant::now() + Duration::from_secs(600);
    while fs::read_to_string(&journal).unwrap_or_default().lines().count() < 3 {
        assert!(Instant::now() < patience, "the sweep gets nowhere");
        std::thread::sleep(Duration::from_millis(5));
    }
    sweep.kill().unwrap();
    sweep.wait().unwrap();
    assert_eq!(fs::read_dir(&files).unwrap().count(), 0);
}
