//! Commands, flags and names that do not exist, and arguments that are no text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::place::{Place, run};
use crate::support::root;

#[test]
fn words_that_do_not_exist() {
    let place = Place::new();
    for (what, args, words) in [
        ("a command", &["topol"][..], &["'topol'", "topo"][..]),
        ("a command that steers a terminal", &["\u{202e}topo"], &[r"\u{202e}topo"]),
        ("an option", &["sweep", "--bogus"], &["'--bogus'", "--help"]),
        ("an option of another command", &["topo", "--threads", "1"], &["'--threads'"]),
        ("a misspelt option", &["sweep", "--thread", "1"], &["'--thread'", "'--threads'"]),
        ("an argument too many", &["topo", "extra"], &["'extra'"]),
        ("a kernel", &["sweep", "--kernel", "mem-raed"], &["\"mem-raed\"", "similar: mem-read", "charz kernels"]),
        ("an empty kernel", &["sweep", "--kernel", "noop,"], &["\"\"", "charz kernels"]),
        ("a family", &["sweep", "--family", "gpu"], &["\"gpu\"", "compute, memory, sync, timer, workload, floor"]),
        ("a kind of pages", &["sweep", "--pages", "64k"], &["\"64k\"", "4k, thp, 2m or 1g"]),
        ("a layout", &["sweep", "--layout", "tight"], &["\"tight\"", "padded or contiguous"]),
        ("a clock", &["sweep", "--clock", "sun"], &["\"sun\"", "os, realtime, tsc"]),
        ("a binder", &["sweep", "--binder", "numactl"], &["\"numactl\"", "hwloc, core-affinity"]),
        ("a format of topo", &["topo", "--format", "gif"], &["\"gif\"", "tree, boxes, table"]),
        (
            "a format of map",
            &["map", "--mapping", "dumb", "--threads", "1", "--format", "slurm"],
            &["\"slurm\"", "srun"],
        ),
        ("a format of kernels", &["kernels", "--format", "yaml"], &["\"yaml\"", "table, json"]),
        ("a page", &["docs", "novel"], &["\"novel\"", "man-sweep"]),
        ("what steers a terminal", &["sweep", "--kernel", "\u{1b}]0;x\u{7}\u{202e}"], &[r"\u{1b}]0;x\u{7}\u{202e}"]),
        ("an option that steers one", &["topo", "--\u{1b}[2J"], &[r"--\u{1b}[2J"]),
        ("lines", &["sweep", "--kernel", "a\nb"], &[r"a\nb"]),
    ] {
        place.refuses(what, args, words);
    }
}

#[test]
fn flags_that_contradict_each_other() {
    let place = Place::new();
    for (what, args, words) in [
        (
            "one flag, two values",
            &["sweep", "--threads", "1", "--threads", "2"][..],
            &["--threads", "multiple times"][..],
        ),
        ("two sizes", &["sweep", "--size", "1MiB", "--size", "2MiB"], &["--size", "multiple times"]),
        ("two files", &["sweep", "--config", "a", "--config", "b"], &["--config", "multiple times"]),
        ("quick and a size", &["sweep", "--quick", "--size", "1MiB"], &["--quick", "--size"]),
        (
            "an old plan and a new one",
            &["sweep", "--resume", "mine.json", "--kernel", "noop"],
            &["--resume", "--kernel"],
        ),
        ("an old plan and a file", &["sweep", "--resume", "mine.json", "--config", "a"], &["--resume", "--config"]),
        ("a flag without its value", &["sweep", "--threads"], &["--threads", "value is required"]),
        ("a flag for a value", &["sweep", "--threads", "--force"], &["--threads", "\"--force\""]),
        ("a mapping without workers", &["map", "--mapping", "dumb"], &["--threads"]),
    ] {
        place.refuses(what, args, words);
    }
}

#[test]
fn files_with_a_dash_in_front() {
    let place = Place::new();
    let report = fs::read(root().join("tests/golden/reports/arithmetic.json")).unwrap();
    place.put("-x", &report);
    place.refuses("taken for an option", &["render", "-x"], &["'-x'", "'-- -x'"]);
    assert!(
        place.accepts("behind two dashes", &["render", "--format", "table", "--", "-x"], &[]).contains("arith-int")
    );
    place.refuses("taken for an option", &["sweep", "--output", "-x"], &["'-x'"]);
    place.refuses("after a sign of equality", &["sweep", "--output=-x"], &["\"-x\" exists", "--force"]);
    place.refuses("a machine that is none", &["topo", "--topology=-x"], &["\"-x\"", "not XML"]);
}

#[test]
fn arguments_that_are_not_text() {
    let place = Place::new();
    for (what, verb, bytes, word) in [
        ("a value", "topo", &b"--format=\xff"[..], r#""--format=\xFF""#),
        ("a number", "sweep", b"--threads=1\xfe", r"1\xFE"),
        ("an option", "sweep", b"--\xff\x1b[2J", r"\x1B[2J"),
    ] {
        let word = word.to_owned();
        let mut command = place.charz();
        command.arg(verb).arg(OsStr::from_bytes(bytes));
        let ran = run(what, command);
        // Some of these the parser meets first as an unknown option, and shows what it can of it.
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{what}: {}", ran.err);
        assert!(ran.err.contains(&word) || what == "an option", "{what}: {}", ran.err);
        super::place::check_harmless(what, &ran.err);
    }
    // A path is bytes.
    let mut command = place.charz();
    command.arg("render").arg(OsStr::from_bytes(b"no\xffreport"));
    place.refused("a path", command, &[r"no\xFFreport"]);
}

#[test]
fn arguments_beyond_measure() {
    let place = Place::new();
    // Linux takes 128 KiB at most in one argument, and a quarter of the stack's limit, mostly 2 MiB, in all.
    let long = "9".repeat(120_000);
    place.refuses(
        "a long number",
        &["sweep", "--threads", &long],
        &["--threads: \"999", "too large", " … ", "example"],
    );
    place.refuses("a long name", &["sweep", "--kernel", &long], &["unknown kernel", "charz kernels"]);
    place.refuses("a long option", &["sweep", &format!("--{long}")], &["'--999", " … ", "see --help"]);
    place.refuses(
        "a long mapping",
        &["map", "--threads", "1", "--mapping", &format!("list:{long}")],
        &["above the largest"],
    );
    let many: Vec<String> = std::iter::repeat_n(long.clone(), 12).collect();
    place.refuses("a megabyte and a half", &[vec!["topo".to_owned()], many].concat(), &["'999", " … "]);
    let eight_mib: Vec<String> = std::iter::repeat_n(long, 70).collect();
    let error = place.charz().args(eight_mib).output().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ArgumentListTooLong, "the system refuses what is longer");
}
