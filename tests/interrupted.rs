//! A sweep that is killed, interrupted, or runs out of disk loses no finished invocation, and can be finished.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ran, charz, read_json, run, send};

/// Eight cells, three invocations each, of some 20 ms.
const SLOW: [&str; 15] = [
    "sweep",
    "--kernel",
    "arith-int",
    "--mapping",
    "dumb",
    "--threads",
    "1-8",
    "--steps",
    "1000000",
    "--iterations",
    "2",
    "--runs",
    "3",
    "--budget",
    "5m",
];
const INVOCATIONS: usize = 24;

fn start(file: &Path) -> Child {
    charz().args(SLOW).arg("--output").arg(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// `r.json.journal` for `r.json`.
fn journal(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

/// The records of a journal that are whole lines, without its first line.
fn records(journal: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(journal).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits until the journal holds `count` invocations.
fn wait_for(file: &Path, count: usize) {
    let patience = Instant::now() + Duration::from_secs(600);
    while records(&journal(file)).len() < count {
        assert!(Instant::now() < patience, "the sweep gets nowhere");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Each invocation of the report's floor and cells, with the place of its cell.
fn invocations(report: &Value) -> Vec<(usize, Value)> {
    let cells = ["floor", "cells"].into_iter().flat_map(|list| report[list].as_array().unwrap());
    cells
        .enumerate()
        .flat_map(|(at, cell)| cell["runs"].as_array().unwrap().iter().map(move |one| (at, one["iterations"].clone())))
        .collect()
}

/// Finishes what was kept and checks that nothing of it has changed.
#[track_caller]
fn check_resumes(file: &Path) {
    let kept: Vec<(usize, Value)> = match journal(file).exists() {
        true => records(&journal(file))
            .into_iter()
            .map(|record| (record["cell"].as_u64().unwrap() as usize, record["invocation"]["iterations"].clone()))
            .collect(),
        false => invocations(&read_json(file)),
    };
    // Time enough beside others, too.
    let ran = run(["sweep", "--budget", "30m", "--resume"].map(OsStr::new).into_iter().chain([file.as_os_str()]));
    ran.check_swept();
    let report = read_json(file);
    assert_eq!(report["complete"], true);
    assert_eq!(report["stopped_by"], Value::Null);
    let bare = |iterations: &Value| {
        // Which iterations count is judged anew.
        let mut iterations = iterations.clone();
        for iteration in iterations.as_array_mut().unwrap() {
            iteration.as_object_mut().unwrap().remove("excluded");
        }
        iterations
    };
    let after: Vec<_> = invocations(&report).into_iter().map(|(at, runs)| (at, bare(&runs))).collect();
    for (at, runs) in &kept {
        assert!(after.contains(&(*at, bare(runs))), "an invocation was lost");
    }
    let started = |invocation: &Value| invocation["started_ns"].as_u64().unwrap();
    let cells = report["cells"].as_array().unwrap().iter();
    let last = cells.flat_map(|cell| cell["runs"].as_array().unwrap()).map(started).max();
    assert!(report["wall_ns"].as_u64() > last, "the time of all sessions");
    let of_cell = |cell: &Value| (cell["runs"].as_array().unwrap().len(), cell["reason"].clone());
    let measured: Vec<_> = report["cells"].as_array().unwrap().iter().map(of_cell).collect();
    assert!(measured.iter().map(|(count, _)| count).sum::<usize>() >= INVOCATIONS, "{measured:?}");
    let folder = std::fs::read_dir(file.parent().unwrap()).unwrap();
    let left: Vec<_> =
        folder.map(|entry| entry.unwrap().file_name()).filter(|name| name != file.file_name().unwrap()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// As jobs that are queued again do: the second one has nothing left to measure.
#[test]
fn resumes_that_wait_together_measure_once() {
    let folder = tempfile::tempdir().unwrap();
    for (signal, kept) in [(Signal::INT, "report"), (Signal::KILL, "journal")] {
        let file = folder.path().join(format!("{kept}/r.json"));
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let mut child = start(&file);
        wait_for(&file, 2);
        send(&child, signal);
        child.wait().unwrap();
        assert_eq!(journal(&file).exists(), kept == "journal");
        let lock = File::create(folder.path().join("charz.lock")).unwrap();
        lock.lock().unwrap();
        let resume = || {
            let mut command = charz();
            command.args(["sweep", "--wait", "--resume"]).arg(&file).env("CHARZ_LOCK_DIR", folder.path());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let both = [resume(), resume()];
        std::thread::sleep(Duration::from_millis(500));
        drop(lock);
        let both = both.map(|child| Ran::from(child.wait_with_output().unwrap()));
        both.iter().for_each(Ran::check_swept);
        let idle = both.iter().filter(|ran| ran.out.contains("nothing is left to measure")).count();
        assert_eq!((idle, &read_json(&file)["complete"]), (1, &true.into()), "{both:?}");
    }
}

/// With a time of its own, a resume narrows the intervals of a report that lacks nothing.
#[test]
fn a_complete_report_is_refined_by_a_resume_with_a_budget() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let sweep = |more: &[&str]| run([&["sweep", "--output", file.to_str().unwrap()], more].concat());
    let cell = ["--kernel", "mem-read", "--size", "4MiB", "--threads", "1", "--mapping", "dumb"];
    let wanted = ["--runs", "6-9", "--precision", "0.1%", "--budget", "1m"];
    let ran = sweep(&[&cell[..], &wanted[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    // As a sweep leaves it that ended when each had its fewest.
    let mut report = read_json(&file);
    assert_eq!(report["complete"], true);
    report["plan"]["max_runs"] = 12.into();
    std::fs::write(&file, report.to_string()).unwrap();
    let runs = || read_json(&file)["cells"][0]["runs"].as_array().unwrap().len();
    let resume = |more: &[&str]| run([&["sweep", "--resume", file.to_str().unwrap()], more].concat());
    let before = runs();
    assert!(resume(&[]).out.contains("nothing is left to measure") && runs() == before);
    let ran = resume(&["--budget", "1m"]);
    assert!(runs() > before, "{before}: {} {}", ran.out, ran.err);
}

/// Neither a file that appeared during the sweep, nor a report that is drawn.
#[test]
fn nothing_is_replaced_that_was_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let args = SLOW.iter().map(OsStr::new).chain([OsStr::new("--output"), file.as_os_str()]);
    let child = charz().args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&file, 1);
    std::fs::write(&file, "theirs").unwrap();
    send(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("away") && err.contains("--resume"), "{err}");
    let resume = || run([OsStr::new("sweep"), OsStr::new("--resume"), file.as_os_str()]);
    let ran = resume();
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("move it away"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "theirs");
    std::fs::remove_file(&file).unwrap();
    check_resumes(&file);

    let report = std::fs::read(&file).unwrap();
    let render = [OsStr::new("render"), file.as_os_str(), OsStr::new("--output"), file.as_os_str()];
    let ran = run(render);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("also an input"), "{}", ran.err);
    assert_eq!(std::fs::read(&file).unwrap(), report);
}

#[test]
fn a_folder_that_is_removed_takes_the_sweep_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("removed/r.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let args = SLOW.iter().map(OsStr::new).chain([OsStr::new("--output"), file.as_os_str()]);
    let child = charz().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&file, 1);
    std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.contains("new sweep") && !err.contains("--resume"), "what is lost cannot be resumed: {err}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("arith-int"), "what was measured is printed");
}

/// `nohup charz sweep &`, and a logout.
#[test]
fn an_ignored_hangup_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_charz")])
        .env("CHARZ_LOCK_DIR", folder.path())
        .args(SLOW)
        .arg("--output")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&file, 1);
    send(&child, Signal::HUP);
    wait_for(&file, records(&journal(&file)).len() + 2);
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
}
