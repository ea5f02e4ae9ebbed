//! Signals, and what is left behind: an exit that tells, files that are valid, and no process.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::trial::{Ended, Trial, alone, together};

/// A sweep of some seconds: a disturbance falls inside it.
fn long() -> Trial {
    Trial::of("honest").with("--threads", "1,2").with("--steps", "2000000").with("--runs", "6")
}

fn send(child: &Child, signal: Signal) {
    // A process that has just ended by itself is not there any more.
    let _ = kill_process(Pid::from_child(child), signal);
}

/// Waits until none of them is left, which takes a moment for those without a parent.
#[track_caller]
fn check_alone(trial: &Trial) {
    let patience = Instant::now() + Duration::from_secs(600);
    while let Some(pid) = trial.processes().first() {
        assert!(Instant::now() < patience, "process {pid} was left behind");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Moments of a sweep in milliseconds, from its first to its last: no two runs are stopped at the same place.
fn moments(count: u32) -> impl Iterator<Item = Duration> {
    (0..count).map(|_| Duration::from_micros(fastrand::u64(0..1_500_000)))
}

#[track_caller]
fn check_resumes(trial: &Trial) {
    let resumed = trial.resume();
    resumed.check_done();
    assert_eq!(resumed.report.as_ref().unwrap()["complete"], true);
}

#[test]
fn a_signal_at_any_moment_leaves_a_valid_report_and_no_process_behind() {
    let _machine = together();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        for moment in moments(3) {
            let trial = long();
            let mut child = trial.start();
            thread::sleep(moment);
            send(&child, signal);
            let ended = child.wait().unwrap();
            check_alone(&trial);
            // Before its handlers are there the signal ends the process as it ends any other; afterwards it is too late.
            let early = ended.code().is_none() && trial.report().is_none();
            let late =
                matches!(ended.code(), Some(0 | 5)) && trial.report().is_some_and(|report| report["complete"] == true);
            assert!(early || late || ended.code() == Some(code), "{signal:?} after {moment:?}: {ended}");
            if trial.report().is_some() {
                check_resumes(&trial);
            }
        }
    }
}

#[test]
fn a_signal_stops_even_those_that_heed_nothing() {
    let _machine = together();
    for kernel in ["spins", "stops"] {
        let trial = Trial::of(kernel);
        let mut child = trial.start();
        trial.measuring(&child);
        send(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{kernel}");
        check_alone(&trial);
        let report = trial.report().expect("what was not measured is in the report, too");
        assert_eq!(report["stopped_by"], "SIGINT");
        assert!(!report["cells"].to_string().contains("timed_out"), "its deadline is not waited for: {report}");
    }
}

/// 64 times as many workers as strands fight for one line, which starves the thread that would stop them by a flag.
#[test]
fn a_signal_stops_a_storm() {
    let _machine = alone();
    let strands = thread::available_parallelism().unwrap().get();
    let workers = (64 * strands).min(4096).to_string();
    for _ in 0..5 {
        let trial = Trial::of("cas-counter").with("--threads", &workers).with("--oversubscribed", "64");
        let trial = trial.with("--span", "10s").with("--runs", "20");
        let mut child = trial.start();
        trial.measuring(&child);
        thread::sleep(Duration::from_millis(fastrand::u64(0..500)));
        send(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        check_alone(&trial);
    }
}

#[test]
fn a_second_signal_ends_it_too() {
    let _machine = together();
    let trial = long();
    let mut child = trial.start();
    trial.measuring(&child);
    send(&child, Signal::INT);
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    check_alone(&trial);
    check_resumes(&trial);
}

#[test]
fn no_process_measures_for_a_dead_sweep() {
    let _machine = together();
    for kernel in ["honest", "spins", "stops"] {
        let trial = Trial::of(kernel).with("--steps", "500000000");
        let mut child = trial.start();
        trial.measuring(&child);
        send(&child, Signal::KILL);
        child.wait().unwrap();
        check_alone(&trial);
    }
}

/// Twenty times, each in the sweep that the last one left.
#[test]
fn what_was_kept_survives_being_killed() {
    let _machine = together();
    let trial = long();
    let mut kept = 0;
    for (number, moment) in moments(20).enumerate() {
        let known = whole_lines(&trial.journal()) > 0 || trial.report().is_some();
        if !known {
            // A kill between the file and its first line leaves an empty one, which the next sweep asks to remove.
            let _ = fs::remove_file(trial.journal());
        }
        let mut child = if known { trial.start_resume() } else { trial.start() };
        if number == 0 {
            // On a busy machine a moment may be too short for any of them to keep something.
            trial.measuring(&child);
        }
        thread::sleep(moment / 2);
        send(&child, Signal::KILL);
        child.wait().unwrap();
        check_alone(&trial);
        if trial.report().is_none() {
            let now = whole_lines(&trial.journal());
            assert!(now >= kept, "kill {number}: {now} records of {kept} are left");
            kept = now;
        }
    }
    check_resumes(&trial);
    let report = trial.report().unwrap();
    let cells = ["floor", "cells"].into_iter().flat_map(|cells| report[cells].as_array().unwrap());
    let invocations: usize = cells.map(|cell| cell["runs"].as_array().unwrap().len()).sum();
    // The header is a line, too.
    assert!(invocations + 1 >= kept, "{invocations} invocations, and {kept} lines were kept");
    assert!(!trial.journal().exists());
}

fn whole_lines(journal: &Path) -> usize {
    let text = fs::read(journal).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn two_sweeps_do_not_measure_each_other() {
    let _machine = together();
    // Longer than a second is willing to wait for a lock without an owner.
    let first = Trial::of("honest").with("--steps", "2000000").with("--runs", "100");
    let mut child = first.start();
    first.measuring(&child);
    let lock = first.folder();
    let second = Trial::of("honest").variable("CHARZ_LOCK_DIR", &lock);
    let refused = second.run();
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    assert!(refused.err.contains(&format!("process id {}", child.id())), "{}", refused.err);
    let ways_out = ["--wait", "CHARZ_LOCK_DIR"].iter().all(|word| refused.err.contains(word));
    assert!(ways_out && refused.report.is_none(), "{}", refused.err);
    let waiting = second.command().arg("--wait").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut waiting = waiting.unwrap();
    thread::sleep(Duration::from_millis(300));
    // Its measuring process may outlive it for a moment, and must not keep the lock.
    send(&child, Signal::KILL);
    child.wait().unwrap();
    assert!(waiting.wait().unwrap().success(), "it waited, and measured");
    assert!(second.report().is_some());
}

/// Its turn comes when the other has written the report.
#[test]
fn a_sweep_that_waits_for_another_does_not_measure_into_its_report() {
    let _machine = together();
    let first = long();
    let child = first.start();
    first.measuring(&child);
    let second = Trial::of("honest").variable("CHARZ_LOCK_DIR", first.folder()).into(first.file().to_owned());
    let refused = second.command().arg("--wait").output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(2), &b""[..]), "{err}");
    assert!(err.contains("exists"), "{err}");
    let ended = first.wait(child);
    assert_eq!(ended.report.as_ref().unwrap()["complete"], true);
    assert!(!first.journal().exists(), "{}", ended.err);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let _machine = together();
    let trial = Trial::of("honest");
    let mut child = trial.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 5)), "{err}");
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(trial.report().unwrap()["complete"], true);
}

#[test]
fn an_output_that_takes_nothing_is_told_and_the_report_is_kept() {
    let _machine = together();
    for (setup, codes) in [("exec > /dev/full", &[3][..]), ("exec >&-", &[0, 3])] {
        let trial = Trial::of("honest").after(setup);
        let Ended { code, err, report, .. } = trial.run();
        assert!(code.is_some_and(|code| codes.contains(&code)), "{setup}: {code:?}: {err}");
        assert_eq!(report.expect("the numbers are in the report")["complete"], true, "{setup}: {err}");
    }
}
