//! `charz replicate`: documents, what they list, a tiny run, and pages of reports.

use std::ffi::OsStr;

use serde_json::Value;

use crate::bad_input::place::Place;
use crate::schema::violations;
use crate::support::{Ran, one_line, output, read_json, run};

const DOCUMENTS: [&str; 5] = ["t3-4", "cmt", "cascade", "tacc", "solaris"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the output is JSON")
}

#[test]
fn documents_and_their_figures_are_listed() {
    let list = output(&["replicate", "--list"]);
    for document in DOCUMENTS {
        assert!(list.lines().any(|line| line.starts_with(document)), "{document}: {list}");
        let figures = one_line(&output(&["replicate", document, "--list"]));
        let found = json(&output(&["replicate", document, "--list", "--format", "json"]));
        assert_eq!(found["schema"]["name"], "charz-replication");
        for figure in found["figures"].as_array().unwrap() {
            let (number, title) = (figure["number"].as_str().unwrap(), figure["title"].as_str().unwrap());
            let status = figure["status"].as_str().unwrap();
            let line =
                format!("{number}: {title} [{}]", status.replace('_', " ").replace("impossible", "cannot be here"));
            assert!(figures.contains(&line), "{line}: {figures}");
            let bare = figure["reasons"].as_array().unwrap().is_empty();
            assert!(status == "done" || !bare, "{number} is {status} without a reason");
        }
    }
}

/// A few values of the T3-4 say what the others are; on the two other machines of its table they do not.
#[test]
fn a_model_of_published_values_predicts_or_there_is_none() {
    let found = json(&output(&["replicate", "t3-4", "--list", "--format", "json"]));
    let figures = found["figures"].as_array().unwrap();
    let models: Vec<&Value> = figures.iter().filter_map(|figure| figure["models"].as_array()).flatten().collect();
    for (machine, predicts) in [("t3-4", true), ("x4470", false), ("magny-cours", false)] {
        let model = models.iter().find(|model| model["machine"] == machine).unwrap();
        let found = &model["outcome"]["model"];
        assert_eq!((found.is_object(), model["outcome"]["none"].is_null()), (predicts, predicts), "{model}");
        assert!(!predicts || 10 * found["held"].as_u64().unwrap() >= 9 * model["others"].as_u64().unwrap(), "{model}");
    }
}

/// Where a document has words such as `charz sweep --kernel chase-stride`, there is such a command with such flags and values.
#[test]
fn commands_that_documents_name_exist() {
    let pages = output(&["docs"]);
    let commands: Vec<&str> = pages.lines().filter_map(|page| page.strip_prefix("man-")).collect();
    let mut found = 0;
    for document in DOCUMENTS {
        let file = crate::support::root().join(format!("crates/replicate/documents/{document}.toml"));
        let text = std::fs::read_to_string(file).unwrap();
        for (at, _) in text.match_indices("charz ") {
            let line = text[at..].lines().next().unwrap();
            let mut words =
                line.split_whitespace().skip(1).map(|word| word.trim_end_matches([',', ';', '.', ')', '"', ':']));
            let command = words.next().unwrap_or_default();
            let mut words = words.skip_while(|word| word.bytes().all(|byte| byte.is_ascii_uppercase())).peekable();
            if !commands.contains(&command) {
                assert!(words.next().is_none_or(|word| !word.starts_with("--")), "no such command: {line}");
                continue;
            }
            let help = output(&[command, "--help"]);
            while let Some(flag) = words.next_if(|word| word.starts_with("--")) {
                found += 1;
                assert!(help.contains(flag), "{command} has no {flag}: {line}");
                let has_value = help.contains(&format!("{flag} <"));
                let Some(value) = words.next_if(|word| has_value && !word.starts_with("--")) else { continue };
                let is_name = value.bytes().all(|byte| byte.is_ascii_uppercase());
                let is_kernel = || flag == "--kernel" && run(["kernels", value]).code == Some(0);
                assert!(is_name || is_kernel() || help.contains(value), "{flag} takes no {value}: {line}");
            }
        }
    }
    assert!(found > 5, "documents name commands");
}

#[test]
fn the_format_is_that_of_its_schema() {
    let schema = json(&output(&["docs", "replication-schema"]));
    for document in DOCUMENTS {
        let found = json(&output(&["replicate", document, "--list", "--format", "json"]));
        assert_eq!(violations(&schema, &found), [""; 0], "{document}");
    }
}

#[test]
fn a_dry_run_plans_what_the_document_ran() {
    let place = Place::new();
    // A budget that a busy machine, too, is not advised to raise.
    let args = ["replicate", "t3-4", "--dry-run", "--only", "1,5", "--budget", "10h"];
    let ran: Ran = place.charz().args(args).output().unwrap().into();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for (kernel, memory) in [("arith-int", None), ("mem-read", Some("256 MiB"))] {
        for mapping in ["dumb", "round-robin", "auto"] {
            let has = |line: &str| line.starts_with(kernel) && line.contains(&format!(" 1  {mapping}"));
            let row =
                ran.out.lines().find(|line| has(line)).unwrap_or_else(|| panic!("{kernel} {mapping}: {}", ran.out));
            assert!(memory.is_none_or(|memory| row.contains(memory)), "{row}");
        }
    }
    assert!(!ran.out.contains("mem-write"), "{}", ran.out);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing but the user's own file");
}

#[test]
fn a_run_leaves_a_report_from_which_the_page_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let args = "replicate t3-4 --only section-6.2 --budget 1m --invocations 2 --iterations 10000 --output";
    let ran = run(args.split(' ').map(OsStr::new).chain([file.as_os_str()]));
    ran.check_swept();
    for word in ["arXiv:1106.2992", "Section 6.2", "lock and unlock", "432", "system call", "report: "] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    let report = read_json(&file);
    assert_eq!(
        (&report["plan"]["kernels"], &report["plan"]["layout"]),
        (&serde_json::json!(["lock-pthread"]), &"contiguous".into())
    );
    let from = ["replicate", "t3-4", "--only", "Section 6.2", "--from", file.to_str().unwrap()];
    assert!(ran.out.starts_with(&output(&from)), "{}", ran.out);
    let found = json(&output(&[&from[..], &["--format", "json"]].concat()));
    assert_eq!(found["report"]["id"], report["id"]);
    let cell = &report["cells"][0];
    let row = &found["figures"][0]["rows"][0];
    // Without a clock there are no cycles, and the row says so.
    let number = row["here"]["value"].as_f64();
    match (number, found["clock"]["hz"].as_f64(), cell["value"].as_f64()) {
        (Some(cycles), Some(hz), Some(nanos)) => assert!((cycles / (nanos * hz / 1e9) - 1.0).abs() < 1e-9, "{row}"),
        _ => assert!(!row["gap"].is_null(), "{row}"),
    }
}

#[test]
fn a_report_of_something_else_lacks_what_the_document_wants() {
    let golden = crate::support::root().join("tests/golden/reports/waits.json");
    let place = Place::new();
    let page = place.path().join("page.html");
    let into =
        ["replicate", "cascade", "--from", golden.to_str().unwrap(), "--format", "html", "-o", page.to_str().unwrap()];
    assert_eq!(output(&into), "");
    assert!(std::fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
    let from = ["replicate", "cascade", "--from", golden.to_str().unwrap(), "--format", "json"];
    let found = json(&output(&from));
    for figure in found["figures"].as_array().unwrap() {
        // No two strands of that machine share a core or a cache, or are in two packages.
        let expected = if figure["number"] == "In conclusion" { "impossible" } else { "not_measured" };
        assert_eq!(figure["status"], expected, "{figure}");
    }
    assert!(output(&from[..4]).contains("ring-mutex-adaptive auto"));
}

#[test]
fn what_cannot_be_replicated_is_refused() {
    let place = Place::new();
    for (what, args, words) in [
        ("no document", &[][..], &["which document", "t3-4", "solaris", "--list"][..]),
        ("a document that there is not", &["t34"], &["\"t34\"", "did you mean t3-4?"]),
        ("a figure that there is not", &["cmt", "--only", "Table 9"], &["--only", "\"Table 9\"", "Table 1"]),
        ("a report that there is not", &["cmt", "--from", "nothing.json"], &["nothing.json"]),
        (
            "a format that there is not",
            &["cmt", "--list", "--format", "pdf"],
            &["--format", "table, json, markdown, csv"],
        ),
        ("another machine without one", &["t3-4", "--against", "mine.json"], &["--from"]),
        ("no figure of two", &["cascade", "--from", "mine.json", "--against", "b.json"], &["--against: "]),
        ("standard input twice", &["t3-4", "--from", "-", "--against", "-"], &["- is named more than once"]),
        ("a list of a run", &["cmt", "--list", "--dry-run"], &["--dry-run"]),
        ("time for a report that there is", &["cmt", "--from", "mine.json", "--budget", "5s"], &["--from", "--budget"]),
        ("pairs in one", &["cmt", "--from", "mine.json", "--samples", "9"], &["--from", "--samples"]),
        ("no time", &["cmt", "--budget", "0s"], &["--budget", "no time"]),
        ("what no sweep measures", &["t3-4", "--only", "10", "--output", "r.json"], &["charz replicate t3-4 --list"]),
    ] {
        place.refuses(what, &[&["replicate"], args].concat(), words);
    }
}
