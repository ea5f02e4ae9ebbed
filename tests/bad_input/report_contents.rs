//! Reports that contradict themselves, or JSON.

use std::fs::File;

use serde_json::{Value, json};

use super::place::{Place, run};
use crate::compare::fixtures::{RATE, cell, report};

/// A valid report with one cell of two workers.
fn valid() -> Value {
    report(&[cell("arith-int", 2, RATE)])
}

/// Checks that every reader refuses this text, naming the file and each of the words.
#[track_caller]
fn check(what: &str, text: &str, words: &[&str]) {
    let place = Place::new();
    place.put("a.json", text.as_bytes());
    place.put("good.json", valid().to_string().as_bytes());
    let words: Vec<&str> = ["\"a.json\""].iter().chain(words).copied().collect();
    place.refuses(what, &["render", "a.json"], &words);
    place.refuses(what, &["compare", "a.json", "good.json"], &words);
    place.refuses(what, &["compare", "good.json", "a.json"], &words);
}

/// Checks a report in which the value at `path` is another one.
#[track_caller]
fn check_with(path: &str, value: Value, words: &[&str]) {
    let mut report = valid();
    *report.pointer_mut(path).unwrap_or_else(|| panic!("a report has no {path}")) = value;
    check(path, &report.to_string(), words);
}

/// Checks a report in which a piece of the text is another one.
#[track_caller]
fn check_text(piece: &str, other: &str, words: &[&str]) {
    let text = valid().to_string();
    assert!(text.contains(piece), "a report has no {piece}");
    check(other, &text.replacen(piece, other, 1), words);
}

#[test]
fn the_valid_report_is_valid() {
    let place = Place::new();
    place.put("a.json", valid().to_string().as_bytes());
    place.accepts("valid", &["render", "a.json"], &[]);
}

#[test]
fn numbers_that_are_none() {
    const START: &str = "\"start_ns\":0";
    check_text(START, "\"start_ns\":1e999", &["out of range"]);
    check_text(START, "\"start_ns\":\"1e999\"", &["string \"1e999\"", "u64"]);
    check_text(START, "\"start_ns\":NaN", &["expected"]);
    check_text(START, "\"start_ns\":Infinity", &["expected"]);
    check_text(START, "\"start_ns\":0x10", &["expected"]);
    check_with("/plan/precision", json!(0.0), &["precision"]);
    check_with("/cells/0/workers", json!(2.5), &["2.5"]);
    check_with("/cells/0/workers", json!("2"), &["string \"2\""]);
    check_with("/cells/0/workers", json!(1e20), &["1e+20"]);
    check_with("/cells/0/workers", json!(0), &["no workers"]);
}

#[test]
fn times_that_run_backwards() {
    let lap = |field: &str| format!("/cells/0/runs/0/iterations/0/laps/0/{field}");
    check_with(&lap("end_ns"), json!(-5), &["`-5`"]);
    check_with("/wall_ns", json!(-1), &["`-1`"]);
    check_with(&lap("start_ns"), json!(2_000_000_000), &["ends before it starts"]);
    check_with(&lap("rank"), json!(7), &["a worker that it does not have"]);
    check_with("/cells/0/runs/0/iterations/0/laps", json!([]), &["not those of its workers"]);
    check_with("/cells/0/seats", json!([0]), &["one seat a worker"]);
}

/// A valid report with a cell in whose repetitions times were stamped: in each of ten, one pair of 5 ns and 300 ns.
fn sampled() -> Value {
    let samples = |count: u64| {
        json!({
            "count": count, "second_shorter": 0, "bins": [[5, 288, count]],
            "first": {"min_ns": 5, "max_ns": 5, "bins": [[5, count]]},
            "second": {"min_ns": 300, "max_ns": 300, "bins": [[300, count]]},
        })
    };
    let mut report = valid();
    let cell = &mut report["cells"][0];
    for invocation in cell["runs"].as_array_mut().unwrap() {
        invocation["iterations"][0]["samples"] = samples(1);
    }
    report
}

#[track_caller]
fn check_sampled(path: &str, value: Value, words: &[&str]) {
    let mut report = sampled();
    *report.pointer_mut(path).unwrap_or_else(|| panic!("a report has no {path}")) = value;
    check(path, &report.to_string(), words);
}

#[test]
fn times_that_do_not_add_up() {
    let place = Place::new();
    place.put("a.json", sampled().to_string().as_bytes());
    place.accepts("sampled", &["render", "a.json"], &[]);
    let run = |field: &str| format!("/cells/0/runs/3/iterations/0/samples/{field}");
    check_sampled(&run("count"), json!(2), &["do not add up"]);
    check_sampled(&run("count"), json!(u64::MAX), &["do not add up"]);
    check_sampled(&run("second_shorter"), json!(1), &["shorter second time"]);
    check_sampled(&run("bins"), json!([[5, 300, 1]]), &["bins of pairs"]);
    check_sampled(&run("bins"), json!([[5, 320, 1]]), &["not those of its times"]);
    check_sampled(&run("first/bins"), json!([[5, u64::MAX], [6, 2]]), &["do not add up"]);
    check_sampled(&run("first/bins"), json!([[5, 0], [6, 1]]), &["bins of times"]);
    check_sampled(&run("first/min_ns"), json!(4), &["shortest"]);
    check_sampled(&run("second/max_ns"), json!(1_000_000), &["longest"]);
}

#[test]
fn more_sampled_waits_than_waits() {
    let mut report = valid();
    report["cells"][0]["runs"][0]["iterations"][0]["laps"][0]["contention"] =
        json!({"attempts": 9, "failures": 0, "waits": 1, "sampled_waits": 2, "sampled_waits_ns": 5});
    check("sampled waits", &report.to_string(), &["sampled waits"]);
}

#[test]
fn words_that_are_none() {
    let ending = "/cells/0/runs/0/ending";
    check_with(ending, json!("splendid"), &["unknown variant", "splendid", "timed_out"]);
    check_with(ending, json!("d\u{1b}[2Jone"), &["unknown variant", "\\u{1b}"]);
    check_with("/cells/0/unit", json!("furlongs"), &["unknown variant", "furlongs"]);
    check_with("/schema/name", json!("other"), &["\"other\""]);
    check_with("/schema/major", json!(99), &["99.0", "use the charz that wrote it"]);
    check_with("/schema/major", json!(-1), &["`-1`"]);
}

#[test]
fn things_that_stand_there_twice() {
    let mut twice = valid();
    let cells = twice["cells"].as_array_mut().unwrap();
    cells.push(cells[0].clone());
    check("a cell", &twice.to_string(), &["twice", "arith-int"]);
    check_text("\"wall_ns\"", "\"wall_ns\":1,\"wall_ns\"", &["duplicate field", "wall_ns"]);
    check_text("\"workers\":2", "\"workers\":2,\"workers\":2", &["duplicate field", "workers"]);
}

#[test]
fn text_that_ends_early_or_goes_on() {
    let text = valid().to_string();
    for length in [1, text.len() / 3, text.len() / 2, text.len() - 1] {
        check("cut", &text[..length], &["EOF"]);
    }
    check("two reports", &format!("{text}{text}"), &["more than one report"]);
    check("a blank file", " \n\t ", &["it is empty"]);
}

#[test]
fn depth_exhausts_no_stack() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    check("nothing but depth", &deep(200), &["a JSON object"]);
    check("a hundred thousand brackets", &"[".repeat(100_000), &["a JSON object"]);
    let with = |field: &str, depth| {
        valid().to_string().replacen("\"wall_ns\"", &format!("\"{field}\":{},\"wall_ns\"", deep(depth)), 1)
    };
    // An unknown field is skipped without parsing it.
    let place = Place::new();
    place.put("a.json", with("later", 100_000).as_bytes());
    place.accepts("an unknown field", &["render", "a.json"], &[]);
}

#[test]
fn a_file_beyond_the_cap_is_refused_before_it_is_read() {
    let place = Place::new();
    // Reading it takes longer than the program is given.
    File::create(place.path().join("large.json")).unwrap().set_len(4 << 40).unwrap();
    place.put("good.json", valid().to_string().as_bytes());
    place.refuses("4 TiB", &["render", "large.json"], &["\"large.json\"", "4398046511104 bytes", "at most"]);
    place.refuses("4 TiB", &["compare", "good.json", "large.json"], &["\"large.json\"", "at most"]);
}

/// JSON has one kind of number, and many of its readers hold it in 53 bits.
#[test]
fn integers_keep_all_their_digits() {
    const LARGE: u64 = (1 << 53) + 1;
    let mut report = valid();
    report["plan"]["seed"] = u64::MAX.into();
    report["wall_ns"] = LARGE.into();
    let place = Place::new();
    place.put("a.json", report.to_string().as_bytes());
    let text = place.accepts("large integers", &["render", "a.json", "--format", "json"], &[]);
    let again: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&again["plan"]["seed"], &again["wall_ns"]), (&report["plan"]["seed"], &report["wall_ns"]));
    report["wall_ns"] = json!(36_893_488_147_419_103_232_f64);
    check("beyond 64 bits", &report.to_string(), &["u64"]);
}

/// What a later version added is left out, and that is said.
#[test]
fn a_later_minor_version_is_read_with_a_note() {
    let mut report = valid();
    report["schema"]["minor"] = 99.into();
    report["cells"][0]["added_later"] = json!({"a": [1, null]});
    let place = Place::new();
    place.put("a.json", report.to_string().as_bytes());
    place.put("good.json", valid().to_string().as_bytes());
    for args in [
        &["render", "a.json", "--format", "table"][..],
        &["compare", "good.json", "a.json"],
        &["compare", "a.json", "good.json"],
    ] {
        let mut command = place.charz();
        command.args(args);
        let ran = run("a later minor version", command);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        assert!(ran.out.contains("format version 2.99"), "{args:?}: {}", ran.out);
    }
}
