//! Clocks that lie.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::charz;

/// A clock at 0.8 times the kernel's rate, as libfaketime makes one.
const SLOW: &str = r"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0) {
        long long nanos = (time->tv_sec * 1000000000LL + time->tv_nsec) / 5 * 4;
        time->tv_sec = nanos / 1000000000LL;
        time->tv_nsec = nanos % 1000000000LL;
    }
    return result;
}
";

/// The library of the slow clock in `folder`; `None` where there is no C compiler.
fn slow_clock(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (folder.join("slow.c"), folder.join("slow.so"));
    std::fs::write(&source, SLOW).unwrap();
    let args = [OsStr::new("-shared"), OsStr::new("-fPIC"), OsStr::new("-o"), library.as_os_str(), source.as_os_str()];
    Command::new("cc").args(args).status().ok().map(|status| {
        assert!(status.success(), "{SLOW}");
        library
    })
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that checks nothing has to say so")]
fn a_preloaded_clock_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = slow_clock(folder.path()) else {
        eprintln!("no C compiler (cc) here: nothing to preload");
        return;
    };
    let report = folder.path().join("report.json");
    for clock in ["auto", "os"] {
        let sweep = ["sweep", "--kernel", "arith-int", "--threads", "1", "--clock", clock, "--output"];
        let mut charz = charz();
        let ran = charz.args(sweep).arg(&report).env("LD_PRELOAD", &library).output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(3), 0), "{err}");
        assert!(err.contains("0.8000 times") && err.contains("LD_PRELOAD"), "{err}");
        assert!(!report.exists(), "nothing was measured");
    }
}
