//! `charz compare` as its users meet it.

pub mod fixtures;

use serde_json::Value;

use crate::bad_input::place::{Place, check_harmless, run};
use crate::schema::violations;
use crate::support::{Ran, one_line, output, root};
use fixtures::{RATE, Report, cell, cells_of, report};

/// Runs `charz compare` on two reports with further arguments.
#[track_caller]
fn compare(base: &Report, new: &Report, args: &[&str]) -> Ran {
    let place = Place::new();
    place.put("base.json", base.to_string().as_bytes());
    place.put("new.json", new.to_string().as_bytes());
    let mut command = place.charz();
    command.args(["compare", "base.json", "new.json"]).args(args);
    run("compare", command)
}

/// Two reports that must not be compared: exit code 2, one sentence with the word in it, nothing else.
#[track_caller]
fn check_refused(base: &Report, new: &Report, args: &[&str], words: &[&str]) {
    let place = Place::new();
    place.put("base.json", base.to_string().as_bytes());
    place.put("new.json", new.to_string().as_bytes());
    let line: Vec<&str> = ["compare", "base.json", "new.json"].iter().chain(args).copied().collect();
    place.refuses(words[0], &line, words);
}

fn two(first: f64, second: f64) -> Report {
    report(&[cell("arith-int", 1, first), cell("arith-float", 2, second)])
}

#[test]
fn the_exit_code_tells_a_regression() {
    let base = two(RATE, RATE);
    for (new, args, code) in [
        (two(RATE, RATE), &[][..], 0),
        (two(RATE, RATE), &["--strict"], 0),
        (two(1.2 * RATE, RATE), &["--strict"], 0),
        (two(RATE, 0.8 * RATE), &[], 1),
        (two(1.2 * RATE, 0.8 * RATE), &["--strict"], 1),
        // The interval reaches over the margin.
        (two(RATE, 0.96 * RATE), &[], 0),
        (two(RATE, 0.96 * RATE), &["--strict"], 5),
        (report(&[cell("arith-int", 1, RATE)]), &[], 0),
        (report(&[cell("arith-int", 1, RATE)]), &["--strict"], 5),
    ] {
        let ran = compare(&base, &new, args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}{}", ran.out, ran.err);
        assert_eq!(ran.err, "");
        let pass = code == 0 && (args.is_empty() || ran.out.contains("0 inconclusive, 0 skipped"));
        assert!(pass || code != 0, "{}", ran.out);
    }
    let text = compare(&base, &two(RATE, 0.96 * RATE), &[]).out;
    assert!(text.contains("1 inconclusive"), "{text}");
}

#[test]
fn every_format_has_every_cell() {
    let (base, new) = (two(RATE, RATE), two(1.2 * RATE, 0.8 * RATE));
    for (format, slower, faster) in [
        ("table", "  slower", "  faster"),
        ("markdown", "### Slower", "<details>"),
        ("json", "\"slower\"", "\"faster\""),
    ] {
        let ran = compare(&base, &new, &["--format", format]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        for word in ["arith-int", "arith-float", slower, faster] {
            assert!(ran.out.contains(word), "{format}: {word:?} is missing: {}", ran.out);
        }
    }
}

/// What the page of these two answers before anything else.
fn answer(page: &str) -> (&str, usize) {
    let start = page.find("<p class=\"answer\"><strong>").expect("the page has an answer") + 26;
    let end = start + page[start..].find("</strong>").unwrap();
    (&page[start..end], start)
}

#[test]
fn a_page_begins_with_the_verdict_then_its_picture() {
    let place = Place::new();
    place.put("base.json", two(RATE, RATE).to_string().as_bytes());
    place.put("new.json", two(1.2 * RATE, 0.8 * RATE).to_string().as_bytes());
    let page = |line: &str| {
        let mut command = place.charz();
        command.args(line.split(' '));
        let ran = run(line, command);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""), "{line}");
        (ran.code, std::fs::read_to_string(place.path().join("page.html")).unwrap())
    };
    let (code, compared) = page("compare base.json new.json --format html -o page.html");
    let (verdict, at) = answer(&compared);
    let told = compare(&two(RATE, RATE), &two(1.2 * RATE, 0.8 * RATE), &[]).out;
    // Two kernels, the farther one first; the page calls the report by its name.
    assert!(verdict.starts_with("new is 0.80 ±") && one_line(&told).starts_with(verdict), "{verdict}: {told}");
    assert_eq!(code, Some(1), "as in a terminal");
    let places = ["id=\"f-versus\"", "1 slower", "id=\"quality\""];
    let places = places.map(|word| compared[at..].find(word).unwrap_or_else(|| panic!("{word}")));
    assert!(places.is_sorted(), "{places:?}");
    let (_, rendered) = page("render base.json new.json --format html -o page.html");
    assert_eq!(answer(&rendered).0, verdict);
    // An answer of a report alone would be here twice.
    assert!(!compared.contains("class=\"badge") && !rendered.contains("class=\"badge"));
}

#[test]
fn what_differs_between_the_reports_is_no_obstacle_to_a_page_that_says_so() {
    let place = Place::new();
    let mut other = two(RATE, 0.8 * RATE);
    other["host"]["processor"] = "another".into();
    place.put("a.json", two(RATE, RATE).to_string().as_bytes());
    place.put("b.json", other.to_string().as_bytes());
    let mut command = place.charz();
    command.args(["render", "a.json", "b.json", "--format", "html"]);
    let page = run("render", command).out;
    assert!(answer(&page).0.starts_with("b is 0.80 ±") && page.contains("compared despite"), "{}", answer(&page).0);
}

#[test]
fn a_result_gets_a_file_and_no_input_is_lost() {
    let place = Place::new();
    place.put("base.json", two(RATE, RATE).to_string().as_bytes());
    place.put("new.json", two(RATE, RATE).to_string().as_bytes());
    for line in [
        "compare base.json new.json",
        "advise base.json",
        "render base.json --format csv",
        "doctor --no-wait --json",
        "kernels sync",
        "explain V03",
        "topo --format tree",
        "topo --measured base.json",
        "map --mapping dumb --threads 2",
    ] {
        let ran = |more: &[&str]| {
            let mut command = place.charz();
            command.args(line.split(' ')).args(more);
            run(line, command)
        };
        let (printed, written) = (ran(&[]), ran(&["-o", "result"]));
        assert_eq!((written.code, written.out.as_str()), (printed.code, ""), "{line}: {}", written.err);
        let result = std::fs::read_to_string(place.path().join("result")).unwrap();
        // The load of the machine goes on.
        assert!(result == printed.out || line.starts_with("doctor"), "{line}");
        assert!(!result.is_empty());
    }
    place.put("other", b"any content");
    for line in [
        "compare base.json new.json -o new.json",
        "compare base.json new.json -o ./base.json",
        "advise base.json -o base.json",
        "topo --topology ./other -o other",
        "map --topology other --mapping dumb --threads 2 -o other",
        "predict --topology other --table base.json -o other",
        "predict --topology other --mapping dumb --threads 2 base.json -o other",
        "fleet show base.json other -o other",
        "fleet show . -o new.json",
        "fleet baseline . -o base.json",
    ] {
        place.refuses(line, &line.split(' ').collect::<Vec<_>>(), &["also an input"]);
    }
    // It may be hours of measuring, and one letter from the name that was meant.
    place.put("whole.json", &std::fs::read(root().join("tests/golden/reports/waits.json")).unwrap());
    for line in ["topo -o whole.json", "explain V03 -o whole.json", "render base.json -o whole.json"] {
        place.refuses(line, &line.split(' ').collect::<Vec<_>>(), &["whole.json", "is a report"]);
    }
    let mut again = place.charz();
    again.args(["render", "base.json", "--format", "json", "-o", "whole.json"]);
    assert_eq!(run("a report in place of a report", again).code, Some(0));
    place.refuses("no folder", &["compare", "base.json", "new.json", "-o", "none/x"], &["--output", "create it first"]);
}

#[test]
fn json_obeys_its_schema_and_has_the_numbers() {
    let ran = compare(&two(RATE, RATE), &two(RATE, 0.8 * RATE), &["--format", "json"]);
    let comparison: Value = serde_json::from_str(&ran.out).unwrap();
    let schema = serde_json::from_str(&output(&["docs", "comparison-schema"])).unwrap();
    assert_eq!(violations(&schema, &comparison), [""; 0]);
    assert_ne!(violations(&schema, &Value::Null), [""; 0], "the schema is able to refuse");
    assert_eq!((&comparison["design"], &comparison["quantity"]), (&"sequential".into(), &"capacity".into()));
    let row = &comparison["rows"][1];
    let number = |path: &str| row.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {row}"));
    assert!((number("/effect") - 0.8).abs() < 0.01);
    assert!(number("/interval/0") < number("/effect") && number("/effect") < number("/interval/1"));
    assert!(number("/smallest_effect") > 1.04 && number("/adjusted_p") < 0.01);
}

#[test]
fn what_was_delivered_is_all_work_over_all_time() {
    let (base, mut new) = (two(RATE, RATE), two(RATE, RATE));
    // A second repetition at half the rate: the median of each invocation is a fourth less, and what it delivered is a third less.
    for (at, invocation) in cells_of(&mut new)[1]["runs"].as_array_mut().unwrap().iter_mut().enumerate() {
        let mut slow = invocation["iterations"][0].clone();
        for lap in slow["laps"].as_array_mut().unwrap() {
            (lap["end_ns"], lap["counts"]["cpu_ns"]) = (2_000_000_000_u64.into(), 2_000_000_000_u64.into());
        }
        // Before and after the other in turn, for first ones that are all slower would be left out.
        invocation["iterations"].as_array_mut().unwrap().insert(at % 2, slow);
    }
    let effect = |args: &[&str]| {
        let ran = compare(&base, &new, &[&["--format", "json"], args].concat());
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap()["rows"][1]["effect"].as_f64().unwrap()
    };
    assert!((effect(&[]) - 0.75).abs() < 0.01, "{}", effect(&[]));
    assert!((effect(&["--delivered"]) - 2.0 / 3.0).abs() < 0.01, "{}", effect(&["--delivered"]));
}

#[test]
fn reports_that_differ_are_refused_unless_every_line_may_say_so() {
    type Change = fn(&mut Report);
    let table: [(Change, &str, &str, &str); 4] = [
        (|r| r["host"]["processor"] = "another \u{1b}[2J".into(), "--machines", "--cross-machine", "other machine"),
        (|r| r["tool"]["kernels"] = "0123".into(), "source code", "--cross-build", "other build"),
        (|r| r["tool"]["rustflags"] = "-Ctarget-cpu=native".into(), "flags", "--cross-build", "other build"),
        (|r| r["plan"]["pages"] = "1g".into(), "pages", "--cross-plan", "other plan"),
    ];
    for (change, word, flag, caveat) in table {
        let (base, mut new) = (two(RATE, RATE), two(RATE, RATE));
        change(&mut new);
        check_refused(&base, &new, &[], &[word, flag]);
        let ran = compare(&base, &new, &[flag]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        check_harmless(flag, &ran.out);
        assert_eq!(ran.out.lines().filter(|line| line.contains(caveat)).count(), 2, "{}", ran.out);
        assert!(ran.out.contains("compared despite"), "{}", ran.out);
    }
}

/// Two reports of which nothing can be compared: an exit code of its own, one sentence with the words in it, nothing else.
#[track_caller]
fn check_nothing(base: &Report, new: &Report, words: &[&str]) {
    let ran = compare(base, new, &["--strict"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(5), "", 1), "{}", ran.err);
    assert!(words.iter().all(|word| ran.err.contains(word)), "{words:?}: {}", ran.err);
}

#[test]
fn nothing_in_common_is_no_pass() {
    let base = two(RATE, RATE);
    check_nothing(&base, &report(&[cell("noop", 1, RATE)]), &["no configuration in common", "--kernel"]);
    check_nothing(&base, &report(&[cell("arith-int", 7, RATE)]), &["no configuration in common"]);
}

#[test]
fn a_base_without_a_sound_number_is_refused() {
    let mut base = two(RATE, RATE);
    for cell in cells_of(&mut base) {
        // Whether the machine changed is not known then.
        cell["runs"][0]["evidence"] = Value::Null;
    }
    check_nothing(&base, &two(RATE, RATE), &["no number of the base report", "charz doctor", "--allow-suspect"]);
    let ran = compare(&base, &two(RATE, 0.8 * RATE), &["--allow-suspect"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.out.lines().filter(|line| line.contains("(noisy)")).count(), 2, "{}", ran.out);
}

#[test]
fn a_difference_that_is_skipped_is_no_pass() {
    let mut new = two(RATE, 0.6 * RATE);
    cells_of(&mut new)[1]["runs"][0]["evidence"] = Value::Null;
    let ran = compare(&two(RATE, RATE), &new, &[]);
    assert_eq!(ran.code, Some(5), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("0 slower") && ran.out.contains("by −40.0%"), "{}", ran.out);
}

#[test]
fn a_report_with_itself() {
    let ran = compare(&two(RATE, RATE), &two(RATE, RATE), &[]);
    assert!(ran.out.contains("note: both are the same report") && ran.out.contains("2 same"), "{}", ran.out);
}

#[test]
fn what_is_no_report_is_refused_on_either_side() {
    let place = Place::new();
    place.put("good.json", two(RATE, RATE).to_string().as_bytes());
    place.put("bad.json", b"{");
    place.refuses("base", &["compare", "bad.json", "good.json"], &["\"bad.json\"", "EOF"]);
    place.refuses("new", &["compare", "good.json", "bad.json"], &["\"bad.json\"", "EOF"]);
    place.refuses("missing", &["compare", "good.json"], &["<NEW>"]);
    place.refuses("a folder", &["compare", ".", "good.json"], &["regular file"]);
}

#[test]
fn hostile_names_steer_no_page_and_no_terminal() {
    let evil = "../../x|`</details><img src=x>\n\u{1b}[2J\u{202e}";
    let with = |rate| {
        let mut report = two(rate, RATE);
        report["host"]["name"] = evil.into();
        report["started"] = evil.into();
        fixtures::rename_first(&mut report, evil);
        report
    };
    for format in ["table", "markdown", "json"] {
        let ran = compare(&with(RATE), &with(0.5 * RATE), &["--format", format]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        check_harmless(format, &ran.out);
        assert!(ran.out.contains("../../x"), "{format}: {}", ran.out);
        assert!(format != "markdown" || !ran.out.contains("<img"), "{}", ran.out);
    }
}
