//! `charz sweep` from its start to its report.

use std::ffi::OsStr;

use serde_json::Value;

use crate::support::{output, read_json, run, small_report};

fn cells(report: &Value) -> &Vec<Value> {
    report["cells"].as_array().unwrap()
}

#[test]
fn every_number_follows_from_its_laps() {
    let folder = tempfile::tempdir().unwrap();
    let report = small_report(&folder.path().join("r.json"));
    assert_eq!(report["complete"], true);
    assert_eq!(cells(&report).len(), 8);
    for cell in cells(&report) {
        assert_eq!(cell["outcome"]["status"], "ok", "{}", cell["outcome"]);
        let mut rates = Vec::new();
        for run in cell["runs"].as_array().unwrap() {
            let laps = run["laps"].as_array().unwrap();
            assert_eq!(laps.len() as u64, cell["workers"].as_u64().unwrap());
            let number = |lap: &Value, name: &str| lap[name].as_u64().unwrap();
            let first = laps.iter().map(|lap| number(lap, "start_ns")).min().unwrap();
            let last = laps.iter().map(|lap| number(lap, "end_ns")).max().unwrap();
            assert_eq!(run["interval_ns"], last - first);
            let work: u64 = laps.iter().map(|lap| number(lap, "ops") + number(lap, "bytes")).sum();
            rates.push(work as f64 * 1e9 / (last - first) as f64);
        }
        assert_eq!(rates.len(), 2);
        let best = rates.iter().copied().fold(f64::MIN, f64::max);
        let found = cell["summary"]["best"].as_f64().unwrap();
        assert!((found / best - 1.0).abs() < 1e-9, "{found} instead of {best}");
    }
}

#[test]
fn work_is_what_the_cards_promise() {
    let folder = tempfile::tempdir().unwrap();
    let report = small_report(&folder.path().join("r.json"));
    for cell in cells(&report) {
        let laps = cell["runs"].as_array().unwrap().iter().flat_map(|run| run["laps"].as_array().unwrap());
        for lap in laps {
            let work = (lap["ops"].as_u64().unwrap(), lap["bytes"].as_u64().unwrap());
            // Eight operations a step; every byte of the block once.
            let expected = if cell["kernel"] == "arith-int" { (160_000, 0) } else { (0, 2 << 20) };
            assert_eq!(work, expected, "{}", cell["kernel"]);
        }
    }
}

#[test]
fn seats_are_those_of_the_map_and_are_honoured() {
    let folder = tempfile::tempdir().unwrap();
    let report = small_report(&folder.path().join("r.json"));
    for cell in cells(&report) {
        let mapping = cell["mapping"].as_str().unwrap();
        let workers = cell["workers"].to_string();
        let map = output(&["map", "--mapping", mapping, "--threads", &workers, "--format", "json"]);
        assert_eq!(cell["seats"], serde_json::from_str::<Value>(&map).unwrap()["seats"]);
        let honoured = &cell["passport"]["binding_honoured"];
        assert_eq!(honoured, &if mapping == "auto" { Value::Null } else { Value::Bool(true) });
    }
}

#[test]
fn a_cell_that_does_not_fit_is_skipped_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    // A tebibyte is more than half of any machine that runs this test.
    let args = ["sweep", "--kernel", "arith-int,mem-read", "--mapping", "dumb", "--threads", "1", "--size", "1TiB"];
    let more = ["--iterations", "1000", "--repetitions", "1", "--output"];
    let ran = run(args.iter().chain(&more).map(OsStr::new).chain([file.as_os_str()]));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = read_json(&file);
    assert_eq!(report["complete"], true);
    assert_eq!(cells(&report)[0]["outcome"]["status"], "ok");
    assert_eq!(cells(&report)[1]["outcome"]["status"], "skipped");
    let reason = cells(&report)[1]["outcome"]["reason"].as_str().unwrap();
    assert!(reason.contains("1 TiB") && reason.contains("50%"), "{reason}");
    assert!(ran.out.contains(reason), "{}", ran.out);
}

#[test]
fn oversubscription_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let strand = output(&["map", "--mapping", "dumb", "--threads", "1", "--format", "json"]);
    let strand = serde_json::from_str::<Value>(&strand).unwrap()["seats"][0].to_string();
    let mapping = format!("list:{strand}");
    let args = ["sweep", "--kernel", "arith-int", "--mapping", &mapping, "--threads", "1,2", "--iterations", "1000"];
    assert_eq!(run(args.iter().map(OsStr::new).chain([OsStr::new("--output"), file.as_os_str()])).code, Some(0));
    let codes = |cell: &Value| -> Vec<String> {
        let marks = cell["passport"]["marks"].as_array().unwrap();
        marks.iter().map(|mark| mark["code"].as_str().unwrap().to_owned()).collect()
    };
    let report = read_json(&file);
    assert!(!codes(&cells(&report)[0]).contains(&"V19".to_owned()));
    assert!(codes(&cells(&report)[1]).contains(&"V19".to_owned()), "two workers on one strand");
    // A run of 1000 steps is over before the clock can tell much.
    assert!(codes(&cells(&report)[0]).contains(&"V09".to_owned()));
}

#[test]
fn a_dry_run_measures_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let args = ["sweep", "--dry-run", "--threads", "1,2", "--kernel", "mem-read", "--size", "4MiB", "--output"];
    let ran = run(args.iter().map(OsStr::new).chain([file.as_os_str()]));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(!file.exists());
    let rows: Vec<_> = ran.out.lines().filter(|line| line.contains("mem-read")).collect();
    assert_eq!(rows.len(), 6, "two numbers of workers under three mappings:\n{}", ran.out);
    assert_eq!(rows.iter().filter(|row| row.contains("8 MiB")).count(), 3, "{}", ran.out);
}

#[test]
fn kernels_are_listed_with_their_meaning() {
    let json: Value = serde_json::from_str(&output(&["kernels", "--format", "json"])).unwrap();
    let names: Vec<_> = json.as_array().unwrap().iter().map(|kernel| kernel["name"].as_str().unwrap()).collect();
    for name in [
        "arith-int",
        "arith-float",
        "peak-int",
        "peak-float",
        "mem-read",
        "mem-write",
        "mem-write-nt",
        "mem-copy",
        "mem-triad",
        "noop",
    ] {
        assert!(names.contains(&name), "{name} is missing");
    }
    let table = output(&["kernels"]);
    for name in names {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name} is not in the table");
    }
}
