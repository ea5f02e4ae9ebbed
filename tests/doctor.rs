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
