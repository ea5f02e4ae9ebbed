//! A sweep that is killed, interrupted, or runs out of disk loses no finished cell, and can be finished.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{charz, read_json, run};

/// Sixteen cells of some 50 ms each.
const SLOW: [&str; 13] = [
    "sweep",
    "--kernel",
    "arith-int",
    "--mapping",
    "dumb",
    "--threads",
    "1-16",
    "--iterations",
    "4000000",
    "--repetitions",
    "2",
    "--budget",
    "5m",
];

fn start(file: &Path) -> Child {
    charz().args(SLOW).arg("--output").arg(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the report on disk holds `cells` finished cells.
fn wait_for(file: &Path, cells: usize) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !file.exists() || finished(&read_json(file)).len() < cells {
        assert!(Instant::now() < patience, "the sweep gets nowhere");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The finished cells, each as it stands in the report.
fn finished(report: &Value) -> Vec<Value> {
    let cells = report["cells"].as_array().unwrap();
    cells.iter().filter(|cell| cell["outcome"]["status"] == "ok").cloned().collect()
}

/// Finishes a report and checks that nothing that was measured before has changed.
#[track_caller]
fn check_resumes(file: &Path) {
    let before = finished(&read_json(file));
    assert!(before.len() < 16, "the sweep was over before it could be disturbed");
    let ran = run([OsStr::new("sweep"), OsStr::new("--resume"), file.as_os_str()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = read_json(file);
    assert_eq!(report["complete"], true);
    assert_eq!(report["stopped_by"], Value::Null);
    let after = finished(&report);
    assert_eq!(after.len(), 16);
    for cell in before {
        assert!(after.contains(&cell), "a finished cell was lost");
    }
    let folder = std::fs::read_dir(file.parent().unwrap()).unwrap();
    let left: Vec<_> =
        folder.map(|entry| entry.unwrap().file_name()).filter(|name| name != file.file_name().unwrap()).collect();
    assert!(left.len() <= 1, "at most the temporary file of the killed process: {left:?}");
}

#[test]
fn killed_without_warning() {
    let folder = tempfile::tempdir().unwrap();
    for cells in [1, 3] {
        let file = folder.path().join(format!("{cells}/r.json"));
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let mut child = start(&file);
        wait_for(&file, cells);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(finished(&read_json(&file)).len() >= cells);
        assert_eq!(read_json(&file)["complete"], false);
        check_resumes(&file);
    }
}

#[test]
fn interrupted_and_terminated() {
    let folder = tempfile::tempdir().unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let file = folder.path().join(format!("{signal}/r.json"));
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let mut child = start(&file);
        wait_for(&file, 2);
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let report = read_json(&file);
        assert_eq!(report["complete"], false);
        assert_eq!(report["stopped_by"], format!("SIG{signal}"));
        assert!(finished(&report).len() >= 2);
        check_resumes(&file);
    }
}

/// `ulimit -f` stands in for a full disk: writing beyond it fails in the same places.
#[test]
fn out_of_disk_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.json");
    assert_eq!(run(SLOW.iter().map(OsStr::new).chain([OsStr::new("--output"), whole.as_os_str()])).code, Some(0));
    let size = std::fs::metadata(&whole).unwrap().len();
    std::fs::remove_file(&whole).unwrap();

    let file = folder.path().join("r.json");
    // In blocks of 512 bytes. Room is taken before it is needed, and more of it: the last cells do not find enough.
    let line = format!("ulimit -f {} && exec \"$0\" \"$@\"", size / 512);
    let output = Command::new("sh")
        .args(["-c", &line, env!("CARGO_BIN_EXE_charz")])
        .args(SLOW)
        .arg("--output")
        .arg(&file)
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{err}");
    let last = err.lines().last().unwrap();
    assert!(last.contains("--resume"), "{err}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("arith-int"), "what was measured is told: {told}");
    assert!(!finished(&read_json(&file)).is_empty());
    check_resumes(&file);
}

#[test]
fn a_report_of_another_machine_is_not_finished_here() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let mut child = start(&file);
    wait_for(&file, 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut report = read_json(&file);
    report["machine"]["strands"][0]["os_id"] = 4711.into();
    let text = report.to_string();
    std::fs::write(&file, &text).unwrap();
    let ran = run([OsStr::new("sweep"), OsStr::new("--resume"), file.as_os_str()]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("another machine"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "the file is untouched");
}

#[test]
fn a_budget_leaves_the_rest_pending() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let mut args = SLOW;
    args[12] = "1ms";
    let ran = run(args.iter().map(OsStr::new).chain([OsStr::new("--output"), file.as_os_str()]));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(read_json(&file)["stopped_by"], "budget");
    assert!(ran.out.contains("--resume"), "{}", ran.out);
    check_resumes(&file);
}
