//! `charz sweep --command`: a user's program is measured as a kernel, and whatever it does ends in one sentence.

mod results;
mod setup;

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Pid;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{Ran, charz, read_json, root};

/// A sweep of a program with one thread and two runs, in a folder of its own.
struct Trial {
    folder: TempDir,
    ran: Ran,
}

impl Trial {
    fn of(command: &str, flags: &[&str]) -> Self {
        Trial::with(command, &["--threads", "1", "--mapping", "dumb"], flags)
    }

    fn with(command: &str, threads: &[&str], flags: &[&str]) -> Self {
        let folder = tempdir().unwrap();
        let ran = charz()
            .current_dir(&folder)
            .args(["sweep", "--budget", "3m", "--output", "r.json", "--command", command])
            .args(if flags.contains(&"--runs") { [].as_slice() } else { &["--runs", "2"] })
            .args(threads)
            .args(flags)
            .output()
            .expect("the program starts")
            .into();
        Trial { folder, ran }
    }

    #[track_caller]
    fn report(&self) -> Value {
        assert!(!self.folder.path().join("r.json.journal").exists(), "the journal became the report");
        read_json(&self.folder.path().join("r.json"))
    }

    #[track_caller]
    fn cell(&self) -> Value {
        self.report()["cells"][0].clone()
    }
}

/// The cell ends so, for a reason of one line with these words, and nothing of the program is left.
#[track_caller]
fn check(command: &str, flags: &[&str], code: i32, status: &str, words: &[&str]) {
    let trial = Trial::of(command, flags);
    assert_eq!(trial.ran.code, Some(code), "{command}: {}", trial.ran.err);
    let cell = trial.cell();
    let reason = cell["reason"].as_str().unwrap_or_default();
    assert_eq!(cell["status"], status, "{command}: {reason}");
    assert!(words.iter().all(|word| reason.contains(word)) && !reason.contains('\n'), "{command}: {reason}");
    assert!(trial.ran.err.contains(words[0]), "it is said at once: {}", trial.ran.err);
}

/// A time to sleep that no other test takes, nor another run of the tests on this machine.
fn own_sleep(number: u32) -> String {
    format!("{}.{}", 86_390 + number, std::process::id())
}

/// Processes whose command line has this word.
fn running(word: &str) -> Vec<Pid> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let has = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|own| own == word.as_bytes())
    };
    pids.filter(has).filter_map(Pid::from_raw).collect()
}

fn alive(word: &str) -> usize {
    running(word).len()
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_started() {
    let sleeps = &own_sleep(0);
    let command = format!("sh -c '(setsid sleep {sleeps} &); sleep {sleeps}'");
    check(&command, &["--run-timeout", "300ms"], 3, "failed", &["--run-timeout"]);
    assert_eq!(alive(sleeps), 0, "an orphan is left");
}

#[test]
fn what_a_program_leaves_running_is_ended_and_counted() {
    let sleeps = &own_sleep(3);
    let trial = Trial::of(&format!("sh -c '(setsid sleep {sleeps} &); echo 5'"), &["--value", "last"]);
    let cell = trial.cell();
    assert_eq!(cell["runs"][0]["evidence"]["program"]["left"], 1, "{cell}");
    assert_eq!((cell["runs"][0]["ending"].as_str(), alive(sleeps)), (Some("done"), 0));
}

#[test]
fn a_program_that_leaves_its_seat_is_marked() {
    let leave = "taskset -pc 0-4095 $$ >/dev/null 2>&1";
    let trial = Trial::of(&format!("sh -c '{leave}; sleep 0.02; echo 7'"), &["--value", "last"]);
    let cell = trial.cell();
    // In a group or a machine of one CPU there is nowhere else to be; a mask, as these tests may have one, can be left.
    let cpus = Command::new("sh").args(["-c", &format!("{leave}; nproc")]).output().unwrap().stdout;
    let away = String::from_utf8_lossy(&cpus).trim() != "1";
    let marked = cell["marks"].as_array().unwrap().iter().any(|mark| mark["code"] == "V01");
    assert_eq!(marked, away, "{cell}");
    assert_eq!(cell["runs"][0]["ending"], "done");
}

#[test]
fn threads_that_are_put_on_their_seats_have_not_moved() {
    let command = "sh -c 'for i in 1 2 3 4; do (sleep 0.01) & done; wait; echo 5' x {threads}";
    let trial = Trial::with(command, &["--threads", "2", "--mapping", "dumb"], &["--value", "last"]);
    let run = trial.cell()["runs"][0]["iterations"][0].clone();
    let moves: u64 =
        run["laps"].as_array().unwrap().iter().filter_map(|lap| lap["counts"]["migrations"].as_u64()).sum();
    // What else a busy machine does to a run is its own.
    let moved = run["excluded"].as_array().into_iter().flatten().any(|code| code == "V02");
    assert!(moves == 0 && !moved, "{run}");
}

/// The program in a fenced block of the page on the line protocol.
fn example(language: &str) -> String {
    let page = fs::read_to_string(root().join("docs/your-kernel-in-any-language.md")).unwrap();
    let fence = format!("```{language}\n");
    page.split_once(&fence).unwrap().1.split_once("```").unwrap().0.to_owned()
}

#[track_caller]
fn check_protocol(folder: &Path, command: &str) {
    let ran: Ran = charz()
        .current_dir(folder)
        .args(["sweep", "--command", command, "--value", "protocol", "--unit", "cells/s", "--threads", "2"])
        .args(["--mapping", "dumb", "--runs", "1", "--iterations", "3", "--budget", "60s"])
        .args(["--output", "r.json"])
        .output()
        .unwrap()
        .into();
    let report = read_json(&folder.join("r.json"));
    let invocation = &report["cells"][0]["runs"][0];
    assert_eq!(invocation["ending"], "done", "{command}: {} {invocation}", ran.err);
    let runs = invocation["iterations"].as_array().unwrap();
    // Of three; fewer where other programs leave it little of the time.
    let is_measured = |run: &Value| run["reported"].as_f64() > Some(0.0);
    assert!((1..=3).contains(&runs.len()) && runs.iter().all(is_measured), "{invocation}");
}

#[test]
fn the_examples_of_the_line_protocol_are_measured() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("walk.c");
    fs::write(&file, example("c")).unwrap();
    match Command::new("cc").args(["-O1", "-o"]).arg(folder.path().join("walk")).arg(&file).status() {
        Ok(built) => {
            assert!(built.success());
            check_protocol(folder.path(), "./walk");
        }
        Err(_) => println!("skipped: there is no C compiler"),
    }
}

#[test]
fn the_example_in_python_is_measured() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("hash.py"), example("python")).unwrap();
    match Command::new("python3").arg("--version").output() {
        Ok(version) if version.status.success() => check_protocol(folder.path(), "python3 hash.py {threads}"),
        _ => println!("skipped: there is no python3"),
    }
}
