//! `charz replicate`: documents, what they list, a tiny run, and pages of reports.

use std::ffi::OsStr;

use serde_json::Value;

use crate::place::Place;
use crate::schema::violations;
use crate::support::{one_line, output, read_json, run};

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
        // Of intervals that hold 90%, those of 36 points hold 85% or more in four of five.
        assert!(!predicts || 20 * found["held"].as_u64().unwrap() >= 17 * model["others"].as_u64().unwrap(), "{model}");
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
            // The values of a kernel's parameters are in the page of the manual only.
            let help = output(&[command, "--help"]) + &output(&["docs", &format!("man-{command}")]);
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
fn a_run_leaves_a_report_from_which_the_page_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let args = "replicate t3-4 --only section-6.2 --budget 1m --runs 2 --steps 10000 --output";
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
