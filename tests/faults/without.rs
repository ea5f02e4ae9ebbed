//! Systems that tell little: what cannot be read is unknown, never zero, and the number is at most suspect.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::trial::{Trial, faulty, together};

/// A root with the program, its libraries and a folder to write to, and no /proc, /sys or /dev. `None`, and a word about it,
/// where the libraries cannot be found out.
fn bare_root(root: &Path) -> Option<()> {
    let listed = Command::new("ldd").arg(faulty()).output().ok()?;
    let text = String::from_utf8(listed.stdout).ok()?;
    let libraries = text.split_whitespace().filter(|word| word.starts_with('/'));
    for file in libraries {
        let place = root.join(file.trim_start_matches('/'));
        fs::create_dir_all(place.parent()?).ok()?;
        copy(Path::new(file), &place)?;
    }
    copy(faulty().as_ref(), &root.join("charz"))?;
    fs::create_dir(root.join("tmp")).ok()
}

/// Another process writes the copy: a program that another test starts meanwhile might inherit the open file from this one, and Linux
/// runs no file that is open for writing.
fn copy(from: &Path, to: &Path) -> Option<()> {
    Command::new("cp").arg(from).arg(to).status().ok()?.success().then_some(())
}

#[test]
fn without_proc_and_sys() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root may change the root");
        return;
    }
    let _machine = together();
    let trial = Trial::of("arith-int");
    let root = trial.folder();
    if bare_root(&root).is_none() {
        println!("skipped: there is no ldd to ask for libraries");
        return;
    }
    // Short laps: without run delays any switch makes one dirty, and long ones have some.
    // A program's input is missing, not the program.
    let command = ["/charz", "sweep", "--command", "/charz --version", "--threads", "1", "--mapping", "dumb"];
    let more = ["--runs", "2", "--budget", "5s", "--output", "/null.json"];
    let mut chroot = Command::new("chroot");
    let ran = chroot.arg(&root).args(command).args(more).env("CHARZ_LOCK_DIR", "/tmp").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if !err.contains("Operation not permitted") {
        assert_eq!(ran.status.code(), Some(3), "{err}");
        assert!(
            err.contains("/dev/null") && !err.contains("interpreter") && !out.contains("interpreter"),
            "{out}{err}"
        );
    }
    let what = ["--kernel", "arith-int", "--mapping", "dumb", "--threads", "1", "--steps", "500000"];
    let flags = what.into_iter().chain(["--runs", "2", "--output", "/r.json"]);
    let mut chroot = Command::new("chroot");
    let ran = chroot.arg(&root).args(["/charz", "sweep"]).args(flags).env("CHARZ_LOCK_DIR", "/tmp").output().unwrap();
    let err = String::from_utf8(ran.stderr).unwrap();
    if err.contains("Operation not permitted") {
        println!("skipped: this user may not change the root");
        return;
    }
    assert!(matches!(ran.status.code(), Some(0 | 5)), "{err}");
    assert!(!err.contains("hwloc"), "the library speaks: {err}");
    let report = trial.report().expect("there is a report");
    let cell = &report["cells"][0];
    // A busy machine may make it worse.
    assert!(["suspect", "invalid"].iter().any(|status| cell["status"] == *status), "{}", cell["reason"]);
    let run = &cell["runs"][0]["iterations"][0];
    for what in ["steal_ns", "throttled_periods", "pressure_ns"] {
        assert_eq!(run[what], Value::Null, "{what}");
    }
    for what in ["run_delay_ns", "migrations"] {
        assert_eq!(run["laps"][0]["counts"][what], Value::Null, "{what}");
    }
    for what in ["name", "kernel", "clock_source"] {
        assert_eq!(report["host"][what], Value::Null, "{what}");
    }
    assert_eq!(report["host"]["memory"]["total_bytes"], Value::Null);
    let marks = cell["marks"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["code"] == "V05"), "what could not be checked is marked: {marks:?}");
}
