//! Journals that were tampered with, and those of another machine: what can be trusted is used, the rest is named.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::trial::{Trial, together};

/// A sweep that was killed after at least three records.
fn killed() -> Trial {
    let trial = Trial::of("honest").with("--threads", "1,2").with("--runs", "6");
    let trial = trial.with("--steps", "2000000");
    let mut child = trial.start();
    while fs::read_to_string(trial.journal()).unwrap_or_default().lines().count() < 5 {
        trial.measuring(&child);
    }
    let _ = kill_process(Pid::from_child(&child), Signal::KILL);
    child.wait().unwrap();
    trial
}

#[test]
fn a_damaged_record_is_named_and_the_others_are_kept() {
    let _machine = together();
    let trial = killed();
    let text = fs::read_to_string(trial.journal()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // The third line is the second record.
    let seed = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["invocation"]["seed"].clone();
    let (lost, kept) = (seed(&lines[2]), seed(&lines[3]));
    lines[2] = lines[2].replace("\"start_ns\":", "\"start_nS\":");
    fs::write(trial.journal(), lines.join("\n") + "\n").unwrap();
    let resumed = trial.resume();
    resumed.check_done();
    assert!(resumed.err.contains("line 3"), "{}", resumed.err);
    let report = resumed.report.unwrap();
    let cells = ["floor", "cells"].into_iter().flat_map(|cells| report[cells].as_array().unwrap());
    let seeds: Vec<_> = cells.flat_map(|cell| cell["runs"].as_array().unwrap()).map(|one| &one["seed"]).collect();
    assert!(seeds.contains(&&kept) && !seeds.contains(&&lost), "{seeds:?}");
    assert_eq!(report["complete"], true, "what was lost is measured again");
}

/// It is a journal as another machine would write it.
#[test]
fn the_journal_of_another_machine_is_refused_and_left_alone() {
    let _machine = together();
    let trial = killed();
    let text = fs::read_to_string(trial.journal()).unwrap();
    let forged = text.replacen("\"os_id\":0,", "\"os_id\":4711,", 1);
    assert!(forged.lines().next().unwrap().contains("4711"), "the machine's strands are in the header");
    fs::write(trial.journal(), &forged).unwrap();
    let resumed = trial.resume();
    assert_eq!(resumed.code, Some(2), "{}", resumed.err);
    assert!(resumed.err.contains("another machine"), "{}", resumed.err);
    assert_eq!(fs::read_to_string(trial.journal()).unwrap(), forged, "the journal is as it was");
    assert!(resumed.report.is_none());
}

/// Killed between its report and the end of its journal, a sweep has both.
#[test]
fn a_journal_beside_its_own_report_is_finished() {
    let _machine = together();
    let trial = killed();
    let journal = fs::read(trial.journal()).unwrap();
    trial.resume().check_done();
    fs::write(trial.journal(), &journal).unwrap();
    let resumed = trial.resume();
    resumed.check_done();
    assert_eq!(resumed.report.unwrap()["complete"], true);
    assert!(!trial.journal().exists());

    // Another sweep's report is none of its business.
    let other = Trial::of("honest").run().report.unwrap().to_string();
    fs::write(trial.journal(), &journal).unwrap();
    fs::write(trial.file(), &other).unwrap();
    assert_eq!(trial.resume().code, Some(2));
    assert_eq!(fs::read_to_string(trial.file()).unwrap(), other);
}
