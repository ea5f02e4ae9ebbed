//! Reports that were edited: what is concluded follows from what was measured, whatever the file says of it.

use serde_json::{Value, json};

use super::place::Place;
use crate::compare::fixtures::{RATE, cell, report};

/// What a command says of a report.
fn shown(place: &Place, report: &Value, args: &[&str]) -> String {
    place.put("a.json", report.to_string().as_bytes());
    place.accepts("a report", &[&["render", "a.json"], args].concat(), &[])
}

#[test]
fn an_edited_conclusion_changes_nothing() {
    let place = Place::new();
    let text = shown(&place, &report(&[cell("arith-int", 2, RATE)]), &["--format", "json"]);
    let honest: Value = serde_json::from_str(&text).unwrap();
    let row = "/derived/cells/0";
    assert_eq!(
        (&honest.pointer(row).unwrap()["status"], honest.pointer(row).unwrap()["runs"].is_null()),
        (&json!("ok"), true)
    );
    for (path, value) in [
        ("/status", json!("invalid")),
        ("/value", json!(7e12)),
        ("/low", json!(1.0)),
        ("/values", json!([])),
        ("/summary", json!("a good one")),
        ("", json!(5)),
    ] {
        let mut edited = honest.clone();
        *edited.pointer_mut(&format!("{row}{path}")).unwrap() = value;
        for format in ["summary", "table", "csv", "json"] {
            let [one, other] = [&honest, &edited].map(|report| shown(&place, report, &["--format", format]));
            assert_eq!(one, other, "{path}");
        }
    }
    let mut bare = honest.clone();
    bare.as_object_mut().unwrap().remove("derived");
    assert_eq!(shown(&place, &bare, &["--format", "json"]), text);
}

#[test]
fn an_edited_measurement_is_another_measurement() {
    let place = Place::new();
    let value = |report: &Value| {
        let text = shown(&place, report, &["--format", "json"]);
        serde_json::from_str::<Value>(&text).unwrap()["derived"]["cells"][0]["value"].as_f64().unwrap()
    };
    let mut report = report(&[cell("arith-int", 2, RATE)]);
    let before = value(&report);
    for run in report["cells"][0]["runs"].as_array_mut().unwrap() {
        let ops = &mut run["iterations"][0]["laps"][0]["ops"];
        *ops = (ops.as_u64().unwrap() / 2).into();
    }
    assert!((value(&report) / before - 0.5).abs() < 1e-6);
}
