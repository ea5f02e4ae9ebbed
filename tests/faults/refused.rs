//! What the system refuses every verb: threads and processes, open files, locked memory, room for a file. Each ends with a code of the
//! page and with a sentence, and none panics.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::trial::{faulty, together};

/// Lines that measure: they come to their first process, and no further.
const MEASURE: &[&str] = &[
    "topo --measured --budget 1s",
    "sweep --kernel honest --threads 1 --mapping dumb --budget 1s --output new.json",
    "sweep --kernel honest --threads 1 --mapping command:./order --budget 1s --output new.json",
    "sweep --command ./order --value last --threads 1 --mapping dumb --budget 1s --output new.json",
    "exec -- ./order",
    "exec --follow poll -- ./order",
    "c2c --budget 1s --output new.json",
    "numa --budget 1s --output new.json",
    "audit --budget 1s",
    "ab --a --mapping=dumb --b --mapping=compact --kernel honest --threads 1 --budget 1s",
    "selftest --aa --rounds 1 --invocations 1 --budget 1s",
    "replicate t3-4 --budget 1s --output new.json",
    "advise a.json --validate",
    "fleet check --baseline site.toml",
];

/// Lines that do not.
const READ: &[&str] = &[
    "topo",
    "map --mapping dumb --threads 2",
    "map --mapping command:./order --threads 2",
    "kernels",
    "replicate --list",
    "advise a.json",
    "predict a.json --mapping compact --threads 2",
    "render a.json --format html",
    "compare a.json b.json",
    "compare --machines a.json b.json",
    "history add a.json --db new.db",
    "history list --db h.db",
    "history show newest --db h.db",
    "history plot --db h.db",
    "fleet show a.json b.json",
    "fleet add a.json b.json --db new.db",
    "fleet baseline a.json b.json",
    "fleet check --baseline site.toml a.json",
    "doctor",
    "watch 0.1 1",
    "lockutil -n 2 a.json",
    "explain",
    "config show",
    "completions bash",
    "docs exit-codes",
];

/// A folder of a user whom the limits hold, as they do not hold root.
struct Site {
    folder: TempDir,
    /// The words before a program that make it run as that user.
    user: Vec<String>,
}

impl Site {
    /// `None`, and a word about it, where there is no such user.
    fn new() -> Option<Self> {
        const ID: u32 = 64_317;
        let folder = tempfile::tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let become_user = ["setpriv", &format!("--reuid={ID}"), &format!("--regid={ID}"), "--clear-groups"];
        let user = if is_root { become_user.map(str::to_owned).to_vec() } else { vec!["env".into()] };
        let site = Site { folder, user };
        let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/reports/arithmetic.json");
        let report = fs::read_to_string(report).unwrap();
        fs::write(site.path("a.json"), &report).unwrap();
        fs::write(site.path("b.json"), report.replacen("\"id\": \"", "\"id\": \"b", 1)).unwrap();
        // Another process writes it: one that another test starts meanwhile might inherit the file open for writing.
        let order = "printf '#!/bin/sh\\necho 0\\n' > \"$0\" && chmod 755 \"$0\"";
        assert!(Command::new("sh").args(["-c", order]).arg(site.path("order")).status().unwrap().success());
        fs::set_permissions(site.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        if is_root && chown(site.folder.path(), Some(ID), Some(ID)).is_err()
            || !site.run(&[], "--version").is_ok_and(|output| output.status.success())
        {
            println!("skipped: the program cannot be run as a user without rights");
            return None;
        }
        for line in ["history add a.json --db h.db", "fleet baseline a.json --output site.toml"] {
            let output = site.run(&[], line).unwrap();
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Some(site)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What charz comes to under limits, as prlimit takes them.
    fn run(&self, limits: &[&str], line: &str) -> std::io::Result<Output> {
        let mut command = Command::new(&self.user[0]);
        command.args(&self.user[1..]).arg("prlimit").args(limits).arg(faulty()).args(line.split(' '));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"CHARZ_")) {
            command.env_remove(name);
        }
        for folder in ["CHARZ_LOCK_DIR", "HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env(folder, self.folder.path());
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null()).output()
    }

    /// The code is one of the page, and what is wrong is said where nothing else is.
    #[track_caller]
    fn check(&self, limits: &[&str], line: &str) {
        let output = self.run(limits, line).unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let code = output.status.code();
        assert!(code.is_some_and(|code| codes().contains(&code)), "{limits:?} {line}: {:?}: {err}", output.status);
        assert!(code == Some(0) || !(out.is_empty() && err.is_empty()), "{limits:?} {line}: {code:?} without a word");
        for new in ["new.json", "new.json.journal", "new.db"] {
            let _ = fs::remove_file(self.path(new));
        }
    }
}

/// The codes that charz documents.
fn codes() -> BTreeSet<i32> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/exit-codes.md")).unwrap();
    page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn every_verb_has_a_line() {
    let grammar = Command::new(faulty()).args(["docs", "grammar"]).output().unwrap();
    let grammar: Value = serde_json::from_slice(&grammar.stdout).unwrap();
    let lines = || MEASURE.iter().chain(READ);
    for command in grammar["commands"].as_array().unwrap() {
        let words: Vec<&str> = command["words"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let words = words.join(" ");
        assert!(lines().any(|line| line.starts_with(&words)), "charz {words} has no line");
    }
}

#[test]
fn no_thread_or_process_is_to_be_had() {
    let _machine = together();
    let Some(site) = Site::new() else { return };
    MEASURE.iter().chain(READ).for_each(|line| site.check(&["--nproc=0"], line));
    // What can be done without is done.
    for line in ["compare a.json b.json", "fleet show a.json b.json", "fleet baseline a.json b.json"] {
        let [alone, free] = [&["--nproc=0"][..], &[]].map(|limits| site.run(limits, line).unwrap());
        assert!(!free.stdout.is_empty(), "{line}: {}", String::from_utf8_lossy(&free.stderr));
        assert_eq!((alone.status.code(), &alone.stdout), (free.status.code(), &free.stdout), "{line}");
    }
}

/// Errors are no tables: `--quiet` leaves them.
#[test]
fn a_quiet_sweep_that_fails_says_why() {
    let _machine = together();
    let Some(site) = Site::new() else { return };
    let sweep = "sweep --quiet --kernel honest,noop --threads 1 --mapping dumb --budget 1s --output new.json";
    for line in [sweep, "sweep --quiet --resume new.json --budget 1s"] {
        let output = site.run(&["--nproc=0"], line).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{line}: {err}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "new.json\n", "{line}");
        let is_said = err.starts_with("charz: ") && err.contains("no process") && err.contains("1 more");
        assert!(is_said && err.lines().count() == 1, "{line}: {err}");
    }
}

#[test]
fn no_file_memory_or_room_is_to_be_had() {
    let _machine = together();
    let Some(site) = Site::new() else { return };
    for limit in ["--nofile=4", "--nofile=6", "--nofile=9", "--memlock=0", "--fsize=0"] {
        READ.iter().for_each(|line| site.check(&[limit], line));
    }
}
