//! `charz doctor` and `charz explain`.

use crate::support::{output, run};

/// On any machine every item is there and has a text.
#[test]
fn this_machine_is_looked_at() {
    let json: serde_json::Value = serde_json::from_str(&output(&["doctor", "--format", "json"])).unwrap();
    let findings = json["findings"].as_array().unwrap();
    assert!(findings.len() > 30, "{json}");
    let table = output(&["doctor", "-v"]);
    let mut counted = 0;
    for state in ["disturb", "limit", "unavailable", "ok"] {
        counted += json["summary"][state].as_u64().unwrap();
    }
    assert_eq!(counted, findings.len() as u64);
    for finding in findings {
        let key = finding["key"].as_str().unwrap();
        assert!(table.contains(&format!(" {key}: ")), "{key} is missing:\n{table}");
        assert!(!finding["read"].as_str().unwrap().is_empty() && !finding["name"].as_str().unwrap().is_empty());
        assert!(
            finding["fix"].is_string() && finding["value"].is_string() && finding["state"].is_string(),
            "{finding}"
        );
    }
}

/// A build of tests is not optimised, which is something to fix.
#[test]
fn what_is_to_fix_fails_where_it_is_to() {
    let strict = run(["doctor", "--strict"]);
    assert_eq!((strict.code, strict.err.as_str()), (Some(1), ""), "{}", strict.out);
    assert!(strict.out.lines().any(|line| line.starts_with("FIX") && line.contains("build")), "{}", strict.out);
}

/// Without the wait there is every check but what only watching shows.
#[test]
fn a_look_without_a_wait_leaves_the_timer_out() {
    let state = |flags: &[&str], key: &str| {
        let arguments = ["doctor", "--json"].iter().chain(flags).copied().collect::<Vec<_>>();
        let json: serde_json::Value = serde_json::from_str(&output(&arguments)).unwrap();
        let finding =
            json["findings"].as_array().unwrap().iter().find(|finding| finding["key"] == key).unwrap().clone();
        finding["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&["--no-wait"], "timer"), "unavailable");
    assert_ne!(state(&[], "timer"), "unavailable");
    assert_eq!(state(&["--no-wait"], "build"), state(&[], "build"));
}

#[test]
fn a_check_is_explained_however_its_code_is_written() {
    let page = output(&["explain", "V03"]);
    for word in ["V03", "cause", "thresholds", "evidence", "fix", "source", "schedstat", "V13"] {
        assert!(page.contains(word), "{word} is missing:\n{page}");
    }
    for code in ["v3", "3", "V3"] {
        assert_eq!(output(&["explain", code]), page, "{code}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 110), "{page}");
    assert!(output(&["explain", "V03", "--format", "markdown"]).starts_with("## V03"));
}

#[test]
fn the_list_has_every_check() {
    let list = output(&["explain"]);
    for code in 1..=34 {
        assert!(list.contains(&format!("V{code:02}  ")), "V{code:02} is missing:\n{list}");
    }
}

#[test]
fn a_code_that_does_not_exist_names_the_nearest() {
    for code in ["V99", "W03", "-1", "", "V\u{1b}[2J", "99999999999999999999"] {
        let ran = run(["explain", code]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{code:?}");
        assert!(
            ran.err.lines().count() == 1 && ran.err.contains("V01 to V") && !ran.err.contains('\u{1b}'),
            "{}",
            ran.err
        );
    }
    assert!(run(["explain", "W03"]).err.contains("did you mean V03?"));
    assert_eq!(run(["doctor", "--format", "xml"]).code, Some(2));
}
