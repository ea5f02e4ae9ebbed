//! Reports that are named otherwise than by a file: `-` and `last`.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::bad_input::place::{Place, run as run_in};
use crate::support::{Ran, SMALL, charz, root, run};

fn golden(name: &str) -> Vec<u8> {
    fs::read(root().join("tests/golden/reports").join(name)).unwrap()
}

/// Runs the program with these bytes in a pipe as standard input.
fn piped(args: &[&str], bytes: Vec<u8>) -> Ran {
    let mut command = charz();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // A program that refuses its arguments reads nothing.
        let _ = stdin.write_all(&bytes);
    });
    let ran = child.wait_with_output().unwrap().into();
    writer.join().unwrap();
    ran
}

#[test]
fn standard_input_is_a_report_wherever_one_is_named() {
    let file = root().join("tests/golden/reports/waits.json");
    let file = file.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("h.db");
    for line in [
        "render - --format csv",
        "render - --format json --output -",
        "render - --format openmetrics",
        "compare - FILE --cross-machine --format json",
        "compare FILE - --cross-machine --format json",
        "topo --measured - --format csv",
        "replicate t3-4 --from - --format json",
        "history add - --db DB",
    ] {
        let words = |name: &str| -> Vec<String> {
            let line = line.replace("FILE", file).replace("DB", history.to_str().unwrap());
            line.split(' ')
                .enumerate()
                .map(|(at, word)| match word {
                    "-" if line.split(' ').nth(at - 1) != Some("--output") => name.to_owned(),
                    word => word.to_owned(),
                })
                .collect()
        };
        let _ = fs::remove_file(&history);
        let by_file = run(words(file));
        for name in ["-", "/dev/stdin"] {
            let _ = fs::remove_file(&history);
            let words = words(name);
            let by_stream = piped(&words.iter().map(String::as_str).collect::<Vec<_>>(), golden("waits.json"));
            assert_eq!(by_stream.code, by_file.code, "{line}: {}", by_stream.err);
            assert!(matches!(by_stream.code, Some(0 | 5)), "{line}: {}", by_stream.err);
            let bare = |ran: &Ran| ran.out.replace(file, "-");
            assert!(bare(&by_stream) == bare(&by_file), "{line}: {} {}", by_stream.out, by_file.out);
        }
    }
}

#[test]
fn standard_input_may_be_compressed_and_is_one_report() {
    let folder = tempfile::tempdir().unwrap();
    let mut zipped = std::process::Command::new("gzip").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    zipped.stdin.take().unwrap().write_all(&golden("arithmetic.json")).unwrap();
    let zipped = zipped.wait_with_output().unwrap().stdout;
    let ran = piped(&["render", "-", "--format", "json"], zipped.clone());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let file = root().join("tests/golden/reports/arithmetic.json");
    let by_file = run(["render".as_ref(), file.as_os_str(), "--format".as_ref(), "json".as_ref()]).out;
    assert!(ran.out == by_file, "what was compressed reads the same");
    for (args, bytes, word) in [
        (&["render", "-"][..], Vec::new(), "standard input: not a usable charz report"),
        (&["render", "-"], b"{}".to_vec(), "standard input: not a usable charz report"),
        (&["render", "-"], zipped[..zipped.len() / 2].to_vec(), "standard input: not a usable charz report"),
        (&["render", "-", "/dev/stdin", "--format", "html"], golden("waits.json"), "more than once"),
        (&["compare", "-", "-"], golden("waits.json"), "more than once"),
        (&["sweep", "--resume", "-"], golden("waits.json"), "--resume"),
        (&["ab", "--a", "--pages 4k", "--b", "--pages thp", "--output", "-"], Vec::new(), "--output"),
    ] {
        let ran = piped(args, bytes);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.err.contains(word), "{args:?}: {}", ran.err);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_sweep_writes_its_report_to_standard_output_and_to_no_file() {
    let place = Place::new();
    let mut command = place.charz();
    command.args(SMALL).args(["--output", "-"]);
    let ran = run_in("a report on standard output", command);
    ran.check_swept();
    assert!(ran.err.contains("cannot be resumed"), "{}", ran.err);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["cells"].as_array().unwrap().len(), 8);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "a file was written");
}

/// Writes a file that was changed so many seconds after an hour of long ago.
fn put(folder: &Path, name: &str, bytes: &[u8], second: u64) {
    let mut file = File::create(folder.join(name)).unwrap();
    file.write_all(bytes).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + second)).unwrap();
}

#[test]
fn last_is_the_newest_report_of_the_folder() {
    let place = Place::new();
    let folder = place.path();
    place.refuses("no report", &["render", "last"], &["last", "no report in this folder"]);
    put(folder, "b.json", &golden("waits.json"), 1);
    put(folder, "a.json", &golden("arithmetic.json"), 2);
    put(folder, "no-report.json", b"{}", 3);
    fs::create_dir(folder.join("folder.json")).unwrap();
    let shown = |args: &[&str]| {
        let mut command = place.charz();
        command.args(args);
        let ran = run_in("last", command);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran
    };
    let csv = |name: &str| shown(&["render", name, "--format", "csv"]);
    assert_eq!(csv("last").out, csv("a.json").out);
    assert!(csv("last").err.contains("a.json"), "a note names the file");
    put(folder, "b.json", &golden("waits.json"), 4);
    assert_eq!(csv("last").out, csv("b.json").out);
    shown(&["history", "add", "last", "--db", "h.db"]);
    // A file of this name is what was named.
    put(folder, "last", &golden("arithmetic.json"), 0);
    assert_eq!(csv("last").out, csv("a.json").out);
}
