//! Everything wrong that can be typed gets one clear sentence and its exit code, and changes nothing.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::support::{SMALL, T3_4, charz, run};

/// Runs a line that must be refused: one line on standard error with `word` in it, nothing on standard output.
#[track_caller]
fn check_refused(args: &[&str], code: i32, word: &str) {
    let ran = run(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    assert_eq!(ran.out, "", "{args:?}");
    let lines: Vec<_> = ran.err.lines().collect();
    assert_eq!(lines.len(), 1, "{args:?}: {}", ran.err);
    assert!(lines[0].starts_with("charz: ") && lines[0].contains(word), "{args:?} lacks {word:?}: {}", lines[0]);
}

#[test]
fn words_that_do_not_exist() {
    for (args, word) in [
        (&["topol"][..], "topo"),
        (&["topo", "--format", "xml"], "tree, table, psrinfo, json"),
        (&["map", "--mapping", "rr", "--threads", "1"], "round-robin"),
        (&["map", "--mapping", "dumb", "--threads", "1", "--format", "slurm"], "srun"),
        (&["kernels", "--format", "yaml"], "table, json"),
        (&["sweep", "--kernel", "mem-raed"], "mem-read"),
        (&["sweep", "--family", "gpu"], "compute, memory, floor"),
        (&["sweep", "--mapping", "dumb,,auto"], "there is no such mapper"),
        (&["sweep", "--mapping", "scatter"], "scatter"),
        (&["sweep", "--pages", "64k"], "4k, thp, 2m, 1g"),
        (&["sweep", "--layout", "tight"], "padded, contiguous"),
        (&["sweep", "--clock", "sun"], "os, tsc"),
        (&["sweep", "--binder", "numactl"], "hwloc, core-affinity"),
        (&["docs", "novel"], "novel"),
        (&["sweep", "--bogus"], "--bogus"),
    ] {
        check_refused(args, 2, word);
    }
}

#[test]
fn numbers_that_are_none_or_too_large() {
    for threads in ["0", "-1", "+4", "1.5", "1e3", "0x10", " 4", "", "99999999999999999999", "4294967297"] {
        check_refused(&["map", "--mapping", "dumb", "--threads", threads], 2, "--threads");
        check_refused(&["sweep", "--threads", threads], 2, "--threads");
    }
    for threads in ["5-1", "1-1000000000", "1-8:0", "1,,2", "1-", "1000000"] {
        check_refused(&["sweep", "--threads", threads], 2, "--threads");
    }
    for size in ["0MiB", "-1MiB", "10XB", "256", "16EiB", "99999999G", "", "NaN"] {
        check_refused(&["sweep", "--size", size], 2, "--size");
    }
    for budget in ["0s", "-1s", "5", "soon", "1e400s"] {
        check_refused(&["sweep", "--budget", budget], 2, "--budget");
    }
    check_refused(&["sweep", "--repetitions", "0"], 2, "--repetitions");
    check_refused(&["sweep", "--iterations", "many"], 2, "--iterations");
}

#[test]
fn mappings_that_do_not_fit() {
    let on_t3_4 = |mapping: &str, word: &str| {
        check_refused(&["map", "--mapping", mapping, "--threads", "4", "--topology", T3_4], 2, word);
    };
    for (mapping, word) in [
        ("round-robin:", "takes no parameter"),
        ("round-robin:foo", "takes no parameter"),
        ("list:", "list:"),
        ("list:0,0", "0"),
        ("list:9999", "9999"),
        ("list:1-", "list"),
        ("list:a", "list"),
        ("occupancy:22", "4"),
        ("occupancy:0000", "occupancy"),
        ("occupancy:129,0,0,0", "129"),
        ("occupancy:x", "occupancy"),
    ] {
        on_t3_4(mapping, word);
    }
}

#[test]
fn mapper_programs_that_misbehave() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        format!("command:sh {}", path.display())
    };
    for (mapping, word) in [
        ("command:".to_owned(), "needs a parameter"),
        ("command:/no/such/program".to_owned(), "/no/such/program"),
        (script("fails", "cat >/dev/null; echo first >&2; echo the last words >&2; exit 7"), "the last words"),
        (script("silent", "cat >/dev/null"), "no strand"),
        (script("nonsense", "cat >/dev/null; echo hello"), "hello"),
        (script("unknown", "cat >/dev/null; echo 0 4096"), "4096"),
        (script("twice", "cat >/dev/null; echo '[3, 3]'"), "3"),
        (script("killed", "kill -9 $$"), "SIGKILL"),
    ] {
        check_refused(&["map", "--mapping", &mapping, "--threads", "2", "--topology", T3_4], 2, word);
    }
    // A program that neither reads nor complains is fine.
    let deaf = script("deaf", "echo 5");
    let ran = run(["map", "--mapping", &deaf, "--threads", "2", "--topology", T3_4, "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("[5,5]"), "{}", ran.out);
}

#[test]
fn topologies_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let file = |name: &str, content: &[u8]| {
        fs::write(folder.path().join(name), content).unwrap();
        path(name)
    };
    let good = br#"<?xml version="1.0"?><topology version="2.0"><object type="Machine" cpuset="0x1"#;
    for source in [
        path("missing.xml"),
        folder.path().display().to_string(),
        file("empty.xml", b""),
        file("text.xml", b"not XML at all"),
        file("truncated.xml", good),
        file("binary.xml", &[0x1f, 0x8b, 8, 0, 255, 254, 0, 1]),
        file("utf16.xml", &[0xff, 0xfe, b'<', 0]),
        file("other.xml", b"<html><body/></html>"),
        file("entity.xml", br#"<!DOCTYPE topology [<!ENTITY a "b">]><topology version="2.0">&a;</topology>"#),
        file("large.xml", &vec![b' '; 100_000_000]),
        "/dev/zero".to_owned(),
    ] {
        check_refused(&["topo", "--topology", &source], 2, "topology");
    }
    for text in [
        "Package:0 PU:1",
        "pu:-1",
        "pu:1000000000",
        "pack:99999 core:99999 pu:99999",
        "core:2 pack:2 pu:2",
        "foo:2 pu:2",
        "pack:2 core:2",
        "pu:2 pu:2",
        "pu:2(indexes=0,0)",
        "pu:2(indexes=0",
        "pack:2 [numa pu:1",
    ] {
        check_refused(&["topo", "--topology", text], 2, "topology");
    }
}

#[test]
fn reports_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("empty", &b""[..]),
        ("null", b"null"),
        ("array", b"[]"),
        ("truncated", b"{\"schema\": {\"name\": \"charz-report\""),
        ("binary", &[0xff, 0x00, 0x80]),
        ("foreign", b"{\"schema\": {\"name\": \"other\", \"major\": 1, \"minor\": 0}}"),
        ("later", b"{\"schema\": {\"name\": \"charz-report\", \"major\": 2, \"minor\": 0}}"),
        ("headless", b"{}"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        check_refused(&["render", path.to_str().unwrap()], 2, name);
        check_refused(&["sweep", "--resume", path.to_str().unwrap()], 2, name);
        assert_eq!(fs::read(&path).unwrap(), content, "an input is never written to");
    }
    check_refused(&["render", "/no/such/report"], 2, "/no/such/report");
    check_refused(&["render", folder.path().to_str().unwrap()], 2, "regular file");
}

#[test]
fn outputs_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken.json");
    fs::write(&taken, "mine").unwrap();
    let dangling = folder.path().join("dangling.json");
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &dangling).unwrap();
    let check = |file: &Path, word: &str| {
        let args = [&SMALL[..], &["--output", file.to_str().unwrap()]].concat();
        check_refused(&args, 2, word);
    };
    check(&taken, "--force");
    check(&dangling, "--force");
    check(folder.path(), "folder");
    check(&folder.path().join("no/such/report.json"), "create it first");
    check(Path::new("/proc/report.json"), "name a file elsewhere");
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    assert!(!folder.path().join("elsewhere").exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing was left behind");

    let forced = [&SMALL[..], &["--force", "--output", taken.to_str().unwrap()]].concat();
    assert_eq!(run(&forced).code, Some(0));
    assert_ne!(fs::read_to_string(&taken).unwrap(), "mine");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = charz()
        .args(["topo", "--format", "table", "--topology", "Package:64 Core:64 PU:8"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_full_output_device_is_one() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = charz().args(["topo"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
}

#[test]
fn arguments_that_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let output = charz().arg("topo").arg(std::ffi::OsStr::from_bytes(b"--format=\xff")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
}
