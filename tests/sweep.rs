//! `charz sweep` from its start to its report.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Ran, SMALL, charz, one_line, output, read_json, run, small_report};

fn cells(report: &Value) -> &Vec<Value> {
    report["cells"].as_array().unwrap()
}

fn invocations(cell: &Value) -> &Vec<Value> {
    cell["runs"].as_array().unwrap()
}

fn runs(cell: &Value) -> impl Iterator<Item = &Value> {
    invocations(cell).iter().flat_map(|invocation| invocation["iterations"].as_array().unwrap())
}

fn codes(cell: &Value) -> Vec<&str> {
    cell["marks"].as_array().unwrap().iter().map(|mark| mark["code"].as_str().unwrap()).collect()
}

/// The middle of some numbers.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// The rates of all workers if each of their blocks took as long as its worker's slowest, and as its fastest; `None` where a worker
/// has no block.
fn bounds(cell: &Value) -> Option<[f64; 2]> {
    let times = |rank: usize| {
        let blocks = runs(cell).map(move |run| &run["laps"][rank]["blocks"]["times"]);
        let times = blocks.flat_map(|times| times.as_array().into_iter().flatten());
        times.map(|time| time.as_f64().unwrap())
    };
    let workers = cell["workers"].as_u64().unwrap() as usize;
    let rate =
        |of: fn(f64, f64) -> f64| (0..workers).map(|rank| Some(1e9 / times(rank).reduce(of)?)).sum::<Option<f64>>();
    Some([rate(f64::max)?, rate(f64::min)?])
}

#[track_caller]
fn check_equal(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} instead of {expected}"));
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn every_number_follows_from_its_laps() {
    let folder = tempfile::tempdir().unwrap();
    let report = small_report(&folder.path().join("r.json"));
    assert_eq!(report["complete"], true);
    assert_eq!(cells(&report).len(), 8);
    for cell in cells(&report) {
        let by_mode = cell["estimator"] == "fast_mode";
        let has_blocks = runs(cell).any(|run| !run["laps"][0]["blocks"].is_null());
        let (mut values, mut clocks) = (Vec::new(), Vec::new());
        let (mut all_work, mut all_time) = (0.0, 0.0);
        for invocation in invocations(cell) {
            let mut clean = Vec::new();
            for run in invocation["iterations"].as_array().unwrap() {
                let laps = run["laps"].as_array().unwrap();
                assert_eq!(laps.len() as u64, cell["workers"].as_u64().unwrap());
                let number = |lap: &Value, name: &str| lap[name].as_u64().unwrap();
                let first = laps.iter().map(|lap| number(lap, "start_ns")).min().unwrap();
                let last = laps.iter().map(|lap| number(lap, "end_ns")).max().unwrap();
                let work: u64 = laps.iter().map(|lap| number(lap, "ops") + number(lap, "bytes")).sum();
                if run["excluded"].is_null() {
                    clean.push(work as f64 * 1e9 / (last - first) as f64);
                }
                all_work += work as f64;
                all_time += (last - first) as f64;
            }
            let value = &invocation["value"];
            assert!(value.is_null() || !clean.is_empty(), "{value} without a repetition that counts");
            if has_blocks {
                // Blocks are those in which all workers were at work. A repetition as a whole is slower than any of them where workers
                // share a strand or a cache, and faster where one of them ended early.
                let is_whole = |value: f64| !by_mode && clean.iter().any(|run| (value / run - 1.0).abs() < 1e-9);
                let is_within = |value: f64| match bounds(cell) {
                    Some([low, high]) => (value > low * (1.0 - 1e-9) || !by_mode) && value < high * (1.0 + 1e-9),
                    None => !by_mode,
                };
                let follows = |value: f64| is_within(value) || is_whole(value);
                assert!(value.as_f64().is_none_or(follows), "{value} is not within {:?}", bounds(cell));
            } else if !clean.is_empty() {
                let best = clean.iter().copied().fold(f64::MIN, f64::max);
                check_equal(value, if cell["estimator"] == "best" { best } else { median(clean) });
            }
            values.extend(value.as_f64());
            clocks.extend(value.as_f64().and(invocation["evidence"]["frequency"]["highest_hz"].as_f64()));
        }
        match cell["status"].as_str() {
            Some("ok" | "suspect") => {
                // What follows the clock is stated at the middle clock.
                let in_cycles = values.iter().zip(&clocks).map(|(value, clock)| value / clock).collect();
                let by_clock = (clocks.len() == values.len()).then(|| median(in_cycles) * median(clocks));
                let found = cell["value"].as_f64().unwrap();
                let is_near = |expected: &f64| (found / expected - 1.0).abs() < 1e-9;
                let mut expected = [Some(median(values)), by_clock].into_iter().flatten();
                assert!(expected.any(|expected| is_near(&expected)), "{found}");
                check_equal(&cell["delivered"], all_work * 1e9 / all_time);
            }
            Some("invalid") => {
                assert!(cell["value"].is_null(), "{cell}");
                // Other programs may have left no capacity of it.
                if !cell["delivered"].is_null() {
                    check_equal(&cell["delivered"], all_work * 1e9 / all_time);
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn work_is_what_the_cards_promise() {
    let folder = tempfile::tempdir().unwrap();
    let report = small_report(&folder.path().join("r.json"));
    for cell in cells(&report) {
        for lap in runs(cell).flat_map(|run| run["laps"].as_array().unwrap()) {
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
        for lap in runs(cell).flat_map(|run| run["laps"].as_array().unwrap()) {
            assert_eq!(lap["on_seat"], if mapping == "auto" { Value::Null } else { Value::Bool(true) });
        }
        assert!(!codes(cell).contains(&"V01"), "{cell}");
    }
}

#[test]
fn invocations_are_processes_of_their_own_in_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let report = small_report(&folder.path().join("r.json"));
    let started = |cell: &Value, at: usize| invocations(cell).get(at).map(|one| one["started_ns"].as_u64().unwrap());
    let last_of_first_round = cells(&report).iter().filter_map(|cell| started(cell, 0)).max();
    let first_of_second_round = cells(&report).iter().filter_map(|cell| started(cell, 1)).min();
    assert!(last_of_first_round < first_of_second_round, "{last_of_first_round:?} {first_of_second_round:?}");
    let seeds: HashSet<u64> =
        cells(&report).iter().flat_map(invocations).map(|one| one["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds.len(), cells(&report).iter().map(|cell| invocations(cell).len()).sum::<usize>());
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let folder = tempfile::tempdir().unwrap();
    let order = |file: &str| -> Vec<(String, u64)> {
        let file = folder.path().join(file);
        let args = SMALL.iter().map(OsStr::new).chain(["--seed", "7", "--output"].map(OsStr::new));
        run(args.chain([file.as_os_str()])).check_swept();
        let report = read_json(&file);
        let mut first: Vec<_> = cells(&report)
            .iter()
            .map(|cell| {
                let started = invocations(cell)[0]["started_ns"].as_u64().unwrap();
                (started, (format!("{} {}", cell["kernel"], cell["mapping"]), cell["workers"].as_u64().unwrap()))
            })
            .collect();
        first.sort();
        first.into_iter().map(|(_, name)| name).collect()
    };
    assert_eq!(order("a.json"), order("b.json"));
}

#[test]
fn a_cell_that_does_not_fit_is_skipped_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    // Three quarters of the memory are more than the half of it that a cell may take, and there is so much.
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kib: u64 = meminfo.split_whitespace().nth(1).and_then(|total| total.parse().ok()).unwrap();
    let size = format!("{}MiB", kib / 1024 * 3 / 4);
    let args = ["sweep", "--kernel", "arith-int,mem-read", "--mapping", "dumb", "--threads", "1", "--size", &size];
    let more = ["--steps", "1000000", "--iterations", "2", "--runs", "1", "--verbose", "--output"];
    let ran = run(args.iter().chain(&more).map(OsStr::new).chain([file.as_os_str()]));
    ran.check_swept();
    let report = read_json(&file);
    assert_eq!(report["complete"], true);
    assert!(!invocations(&cells(&report)[0]).is_empty());
    assert_eq!(cells(&report)[1]["status"], "skipped");
    let reason = cells(&report)[1]["reason"].as_str().unwrap();
    assert!(reason.starts_with("1 block take") && reason.contains("50%"), "{reason}");
    assert!(one_line(&ran.out).contains(reason), "{}", ran.out);
    // Alone, it leaves a sweep without a result.
    let alone = format!("sweep --kernel mem-read --mapping dumb --threads 1 --size {size} --force --output");
    let ran = run(alone.split(' ').map(OsStr::new).chain([file.as_os_str()]));
    let report = read_json(&file);
    assert_eq!((ran.code, &report["complete"]), (Some(5), &true.into()), "{}", ran.err);
    assert!(one_line(&ran.out).contains(cells(&report)[0]["reason"].as_str().unwrap()), "{}", ran.out);
}

#[test]
fn oversubscription_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let strand = output(&["map", "--mapping", "dumb", "--threads", "1", "--format", "json"]);
    let strand = serde_json::from_str::<Value>(&strand).unwrap()["seats"][0].to_string();
    let mapping = format!("list:{strand}");
    let args =
        ["sweep", "--kernel", "arith-int", "--mapping", &mapping, "--threads", "1,2", "--steps", "1000", "--runs", "1"];
    run(args.iter().map(OsStr::new).chain([OsStr::new("--output"), file.as_os_str()])).check_swept();
    let report = read_json(&file);
    assert!(!codes(&cells(&report)[0]).contains(&"V19"));
    assert!(codes(&cells(&report)[1]).contains(&"V19"), "two workers on one strand");
    // A run of 1000 steps is over before the clock can tell much.
    assert!(codes(&cells(&report)[0]).contains(&"V09"));
}

/// Both start while the lock is held, mostly within the second that gives a report its name.
#[test]
fn sweeps_that_wait_together_write_two_reports() {
    let folder = tempfile::tempdir().unwrap();
    let lock = File::create(folder.path().join("charz.lock")).unwrap();
    lock.lock().unwrap();
    let start = || {
        let mut sweep = charz();
        sweep.args("sweep --wait --kernel noop --mapping dumb --threads 1 --runs 1".split(' '));
        sweep.env("CHARZ_LOCK_DIR", folder.path()).current_dir(folder.path());
        sweep.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let sweeps = [start(), start()];
    thread::sleep(Duration::from_millis(500));
    drop(lock);
    for sweep in sweeps {
        Ran::from(sweep.wait_with_output().unwrap()).check_swept();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "the lock and two reports");
}

/// A plan takes no lock: where another charz measures it makes no run.
#[test]
fn a_plan_is_made_while_another_charz_measures() {
    let folder = tempfile::tempdir().unwrap();
    let lock = File::create(folder.path().join("charz.lock")).unwrap();
    lock.lock().unwrap();
    let ran = |flags: &str| {
        let mut sweep = charz();
        sweep.args(format!("sweep --kernel arith-int --threads 1{flags}").split(' '));
        sweep.env("CHARZ_LOCK_DIR", folder.path()).current_dir(folder.path());
        Ran::from(sweep.output().unwrap())
    };
    let plan = ran(" --dry-run --format json");
    let found: Value = serde_json::from_str(&plan.out).unwrap_or_else(|why| panic!("{why}: {}", plan.err));
    assert_eq!((plan.code, found["cells"].as_u64()), (Some(0), Some(2)), "{}", plan.out);
    assert_eq!(ran("").code, Some(3));
}
