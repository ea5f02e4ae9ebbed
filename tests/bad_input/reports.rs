//! Reports that are none, and reports that mean ill.

use std::fs;

use serde_json::Value;

use super::place::{Place, check_harmless, run};
use crate::support::{read_json, root};

#[test]
fn reports_that_are_none() {
    let place = Place::new();
    for (what, content, word) in [
        ("nothing", &b""[..], "it is empty"),
        ("null", b"null", "JSON object"),
        ("an array", b"[]", "JSON object"),
        ("a cut", b"{\"schema\": {\"name\": \"charz-report\"", "EOF"),
        ("bytes that are no text", &[0xff, 0x00, 0x80], "not UTF-8"),
        ("another schema", b"{\"schema\": {\"name\": \"other\", \"major\": 1, \"minor\": 0}}", "\"other\""),
        ("a later version", b"{\"schema\": {\"name\": \"charz-report\", \"major\": 99, \"minor\": 0}}", "99.0"),
        ("no schema", b"{}", "schema"),
    ] {
        place.put("a.json", content);
        place.refuses(what, &["render", "a.json"], &["\"a.json\"", word]);
        place.refuses(what, &["sweep", "--resume", "a.json"], &["\"a.json\"", word]);
    }
    let report = fs::read(root().join("tests/golden/reports/arithmetic.json")).unwrap();
    place.put("two.json", &report.repeat(2));
    place.refuses("two reports", &["render", "two.json"], &["\"two.json\"", "more than one report"]);
    place.refuses("no file", &["render", "no-such-report"], &["\"no-such-report\""]);
    place.refuses("a folder", &["render", "."], &["\".\"", "regular file"]);
    place.refuses("a name that is too long", &["render", &"n".repeat(256)], &["too long"]);
}

/// Puts something in front of every text of a report that a person or a program chose.
fn taint(report: &mut Value, evil: &str) {
    let tainted = |text: &mut Value| {
        if let Some(words) = text.as_str() {
            *text = format!("{evil}{words}").into();
        }
    };
    for path in
        ["/host/name", "/host/processor", "/host/kernel", "/started", "/stopped_by", "/machine/name", "/tool/version"]
    {
        report.pointer_mut(path).into_iter().for_each(tainted);
    }
    // The floor keeps its kernel, so the cards with other names join those that are there.
    let cards = report["cards"].as_array_mut().unwrap();
    let mut renamed = cards.clone();
    renamed.iter_mut().for_each(|card| tainted(&mut card["name"]));
    cards.append(&mut renamed);
    for path in ["/plan/mappings", "/plan/kernels"] {
        report.pointer_mut(path).and_then(Value::as_array_mut).into_iter().flatten().for_each(tainted);
    }
    for cell in report["cells"].as_array_mut().unwrap() {
        ["kernel", "mapping", "variant"].into_iter().for_each(|name| tainted(&mut cell[name]));
        tainted(&mut cell["skipped"]);
    }
}

#[test]
fn names_in_a_report_steer_no_terminal_and_name_no_file() {
    let place = Place::new();
    let mut report = read_json(&root().join("tests/golden/reports/arithmetic.json"));
    let evil = "../../x/\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{2066}\n";
    taint(&mut report, evil);
    place.put("a.json", report.to_string().as_bytes());
    for format in ["table", "csv", "json"] {
        let mut command = place.charz();
        command.args(["render", "a.json", "--format", format]);
        let ran = run(format, command);
        assert_eq!(ran.code, Some(0), "{format}: {}", ran.err);
        check_harmless(format, &(ran.out.clone() + &ran.err));
        assert!(ran.out.contains("../../x"), "{format} leaves out what it escapes");
        if format == "json" {
            assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["host"]["name"], report["host"]["name"]);
        }
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "a name became a file");
}
