//! File systems that fail: a library between the program and its folder returns what a network file system may.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::trial::{Trial, together};

/// For files below `$FAILING`, the call that `$FAIL` names fails by `$ERRNO` when it is made for the `$NUMBER`-th time. All writes are
/// short.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(const char *call, int fd) {
    static int calls;
    char link[64], path[4096];
    const char *folder = getenv("FAILING"), *wanted = getenv("FAIL");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || !folder || strncmp(path, folder, strlen(folder)) || !wanted || strcmp(wanted, call)) return 0;
    if (++calls != atoi(getenv("NUMBER"))) return 0;
    errno = atoi(getenv("ERRNO"));
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    if (fails("write", fd)) return -1;
    return syscall(SYS_write, fd, bytes, count > 1000 && fd > 2 ? 1000 : count);
}
int fsync(int fd) { return fails("fsync", fd) ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails("fdatasync", fd) ? -1 : (int)syscall(SYS_fdatasync, fd); }
int flock(int fd, int operation) { return fails("flock", fd) ? -1 : (int)syscall(SYS_flock, fd, operation); }
"#;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOLCK: i32 = 37;
const ESTALE: i32 = 116;
const EDQUOT: i32 = 122;

/// The library, in the folder of the trial.
fn library(trial: &Trial) -> Option<PathBuf> {
    let [source, library] = ["failing.c", "failing.so"].map(|name| trial.folder().join(name));
    fs::write(&source, LIBRARY).unwrap();
    let compiler = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    let Ok(status) = compiler else {
        println!("skipped: no C compiler (cc) here");
        return None;
    };
    assert!(status.success(), "{LIBRARY}");
    Some(library)
}

/// A sweep of which one call fails; `None` where there is no C compiler.
fn failing(call: &str, number: u32, errno: i32) -> Option<Trial> {
    let trial = Trial::of("honest");
    // The program and the library see what links lead to.
    let folder = trial.folder().canonicalize().unwrap();
    let set = format!("export LD_PRELOAD='{}' FAILING='{}'", library(&trial)?.display(), folder.display());
    Some(trial.after(&format!("{set} FAIL={call} NUMBER={number} ERRNO={errno}")))
}

/// One for each invocation of a report.
fn seeds(report: &Value) -> BTreeSet<u64> {
    let cells = ["floor", "cells"].into_iter().flat_map(|cells| report[cells].as_array().unwrap());
    let invocations = cells.flat_map(|cell| cell["runs"].as_array().unwrap());
    invocations.map(|invocation| invocation["seed"].as_u64().unwrap()).collect()
}

#[test]
fn what_fails_in_the_middle_loses_nothing_that_was_acknowledged() {
    let _machine = together();
    // The header is the first record; the report is synced after the journal's folder.
    for (call, number, errno, advice, stopper) in [
        ("fdatasync", 3, EIO, "check its file system", "Input/output error"),
        ("fdatasync", 3, EDQUOT, "make room", "a full disk"),
        ("fsync", 2, ESTALE, "check its file system", ""),
    ] {
        let Some(trial) = failing(call, number, errno) else { return };
        let ended = trial.run();
        assert_eq!(ended.code, Some(3), "{call}: {}", ended.err);
        let last = ended.err.lines().last().unwrap();
        assert!(last.contains("r.json") && last.contains("--resume") && last.contains(advice), "{last}");
        let kept = match &ended.report {
            Some(report) => {
                let stopped_by = report["stopped_by"].as_str().unwrap();
                assert!(stopped_by.contains(stopper), "{stopped_by}");
                seeds(report)
            }
            None => {
                let journal = fs::read_to_string(trial.journal()).unwrap();
                let records = journal.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
                records.map(|record| record["invocation"]["seed"].as_u64().unwrap()).collect()
            }
        };
        assert!(!kept.is_empty(), "{call}: what was recorded before the failure is there");
        let resumed = trial.resume();
        resumed.check_done();
        assert!(kept.is_subset(&seeds(resumed.report.as_ref().unwrap())), "{call}");
        resumed.check_measured("honest");
    }
}

#[test]
fn a_sweep_that_cannot_be_kept_is_not_begun() {
    let _machine = together();
    let Some(trial) = failing("fdatasync", 1, EIO) else { return };
    let ended = trial.run();
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(ended.err.contains("--output") && ended.err.contains("r.json.journal"), "{}", ended.err);
    assert!(ended.report.is_none() && !trial.journal().exists());
}

#[test]
fn interrupted_calls_short_writes_and_missing_locks_disturb_nothing() {
    let _machine = together();
    for (call, errno) in [("write", EINTR), ("fdatasync", EINTR), ("flock", ENOLCK)] {
        // The machine's lock is the first of two, and cannot be done without.
        let Some(trial) = failing(call, 2, errno) else { return };
        let ended = trial.run();
        ended.check_done();
        ended.check_measured("honest");
    }
}
