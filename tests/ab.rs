//! `charz ab` and `charz selftest` from their start to their verdicts, by a build without optimisation: every cell is suspect.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Ran, charz, read_json, run, write_program};

/// A comparison that takes about a second: arguments without the sides.
const SMALL: [&str; 9] =
    ["ab", "--kernel", "arith-int,arith-float", "--threads", "1", "--iterations", "2", "--budget", "5m"];

/// A program of the shell.
fn script(folder: &Path, lines: &str) -> PathBuf {
    let file = folder.join("program");
    write_program(&file, &format!("#!/bin/sh\n{lines}\n"));
    file
}

fn small(more: &[&OsStr]) -> Ran {
    let sides = ["--a", "--mapping round-robin", "--b", "--mapping auto", "--steps", "200000"];
    run(SMALL.iter().chain(&sides).map(OsStr::new).chain(more.iter().copied()))
}

#[test]
fn both_sides_are_kept_with_as_many_invocations_and_can_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("trial.json");
    let more = ["--runs", "6", "--format", "json", "--allow-suspect", "--output"];
    let ran = small(&more.iter().map(OsStr::new).chain([name.as_os_str()]).collect::<Vec<_>>());
    // On a busy machine nothing may be comparable, and the exit code reports that.
    assert!(matches!(ran.code, Some(0 | 1 | 5)), "{ran:?}");
    let comparison: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(comparison["design"], "interleaved");
    let rows = comparison["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["mapping"] == "round-robin -> auto"), "{rows:?}");
    let sides = ["a", "b"].map(|side| folder.path().join(format!("trial.{side}.json")));
    let [a, b] = sides.each_ref().map(|file| read_json(file));
    for (one, other) in a["cells"].as_array().unwrap().iter().zip(b["cells"].as_array().unwrap()) {
        let made = [one, other].map(|cell| cell["runs"].as_array().unwrap().len());
        // A cell that a busy machine leaves without a clean repetition is given up early, and has no value.
        let given_up = [one, other].iter().any(|cell| cell["value"].is_null());
        assert!(made[0] == made[1] && (made[0] >= 6 || given_up), "{made:?}");
        assert_eq!(one["repetitions"], other["repetitions"]);
    }
    for file in &sides {
        assert_eq!(run([OsStr::new("render"), file.as_os_str()]).code, Some(0));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no journal is left");
}

#[test]
fn what_cannot_be_printed_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--a", "--mapping round-robin", "--b", "--mapping auto", "--steps", "20000", "--runs", "1"];
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = charz();
    command.current_dir(&folder).args(SMALL).args(args).args(["--format", "html", "--output", "trial.json"]);
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort_unstable();
    assert_eq!(left, ["trial.a.json", "trial.b.json"]);
}

#[test]
fn a_suspect_side_is_no_verdict_and_nothing_compared_is_no_pass() {
    let ran = small(&["--runs", "6"].map(OsStr::new));
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.out.contains("2 skipped") && ran.err.contains("nothing could be compared"), "{ran:?}");
}

#[test]
fn a_program_that_dies_leaves_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let charz = env!("CARGO_BIN_EXE_charz");
    let dying = script(folder.path(), &format!("[ \"$2\" = --about ] && exec '{charz}' measure --about\nkill -9 $$"));
    let more = ["--format", "json", "--b-program"];
    let ran = small(&more.iter().map(OsStr::new).chain([dying.as_os_str()]).collect::<Vec<_>>());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let comparison: Value = serde_json::from_str(&ran.out).unwrap();
    for row in comparison["rows"].as_array().unwrap() {
        assert_eq!((&row["verdict"], &row["new"]["status"]), (&"uncompared".into(), &"failed".into()));
        assert!(row["reason"].as_str().unwrap().contains("signal 9"), "{row}");
    }
}

#[test]
fn a_self_test_needs_twenty_comparisons_for_a_floor() {
    let folder = tempfile::tempdir().unwrap();
    let rounds = |rounds: &str, more: &[&str]| -> Ran {
        let args = ["selftest", "--aa", "--runs", "1", "--allow-suspect", "--rounds", rounds];
        charz().args(args).args(more).output().unwrap().into()
    };
    let selftest = |more: &[&str]| rounds("2", more);
    let ran = selftest(&[]);
    assert!(ran.out.contains("in 2 comparisons, "), "{ran:?}");
    assert!(ran.out.contains("no noise floor") && ran.code == Some(5), "two are too few for a floor: {ran:?}");
    // Where the machine lets nothing be compared, there is none.
    let ran = rounds("20", &[]);
    assert!(matches!(ran.code, Some(0 | 5)), "{ran:?}");
    assert_eq!(ran.out.contains("the noise floor of arith-int here is "), ran.code == Some(0), "{ran:?}");

    // What was measured is in the file, whatever is missing for a floor.
    let kept = folder.path().join("page.json");
    let ran = selftest(&["--delivered", "--format", "json", "--output", kept.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(5), ""), "{ran:?}");
    let page = read_json(&kept);
    assert_eq!(page["quantity"], "delivered");
    assert_eq!(page["cells"][0]["equal"]["comparisons"], 2, "{page}");

    for (args, word) in [(&["--rounds", "0"][..], "--rounds"), (&["--threads", "1,2"], "--threads")] {
        let ran = selftest(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    assert_eq!(run(["selftest"]).code, Some(2), "what to do is said");
}
