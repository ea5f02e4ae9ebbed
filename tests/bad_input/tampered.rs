//! Reports of the program itself in which a verdict or a number was changed afterwards: each is judged again when it is read.

use serde_json::{Value, json};

use super::place::{Place, run};
use crate::support::read_json;

/// A report of one cell with enough invocations for an interval, and so few of them that it carries a mark on any machine.
fn measured(place: &Place) -> Value {
    let what = ["sweep", "--kernel", "arith-int", "--mapping", "dumb", "--threads", "1", "--invocations", "6"];
    let how = ["--iterations", "1000000", "--repetitions", "2", "--budget", "5m", "--output", "good.json"];
    let mut command = place.charz();
    command.args(what).args(how);
    run("a sweep", command).check_swept();
    place.accepts("as it was measured", &["render", "good.json"], &[]);
    read_json(&place.path().join("good.json"))
}

/// Checks that every reader refuses the report after this edit, and names what does not follow.
#[track_caller]
fn check(place: &Place, report: &Value, word: &str, edit: impl FnOnce(&mut Value)) {
    let mut edited = report.clone();
    edit(&mut edited["cells"][0]);
    assert_ne!(&edited, report, "{word}: nothing was changed");
    place.put("edited.json", edited.to_string().as_bytes());
    let words = ["\"edited.json\"", "arith-int", word, "contradict"];
    place.refuses(word, &["render", "edited.json"], &words);
    place.refuses(word, &["compare", "edited.json", "good.json"], &words);
    place.refuses(word, &["compare", "good.json", "edited.json"], &words);
}

fn invocations(cell: &mut Value) -> impl Iterator<Item = &mut Value> {
    cell["invocations"].as_array_mut().unwrap().iter_mut()
}

/// What was disturbed from its beginning to its end has no number, and gets none.
fn scale(number: &mut Value, by: f64) {
    *number = json!(number.as_f64().map(|number| number * by));
}

#[test]
fn a_number_that_was_made_better() {
    let place = Place::new();
    let report = measured(&place);
    let cell = &report["cells"][0];
    let value = cell["capacity"]["value"].as_f64().unwrap_or_else(|| panic!("{}", cell["reason"]));
    assert!(cell["marks"].as_array().is_some_and(|marks| !marks.is_empty()));

    check(&place, &report, "status", |cell| {
        cell["status"] = if cell["status"] == "ok" { "suspect".into() } else { "ok".into() };
    });
    check(&place, &report, "has marks", |cell| cell["marks"] = json!([]));
    check(&place, &report, "has marks", |cell| cell["marks"][0]["severity"] = "invalid".into());
    check(&place, &report, "contradict", |cell| {
        (cell["marks"], cell["status"], cell["reason"]) = (json!([]), "ok".into(), Value::Null);
    });
    check(&place, &report, "has a status", |cell| {
        (cell["status"], cell["reason"]) = ("invalid".into(), "the machine changed".into());
        (cell["capacity"], cell["delivered"]) = (Value::Null, Value::Null);
    });
    check(&place, &report, "has a summary", |cell| cell["summary"]["raw"] = json!(value * 1.25));
    for estimate in ["capacity", "delivered"] {
        check(&place, &report, "a number or an interval", |cell| {
            let value = cell[estimate]["value"].as_f64().unwrap();
            cell[estimate]["interval"] = json!([value * (1.0 - 1e-4), value * (1.0 + 1e-4)]);
        });
        check(&place, &report, "a number or an interval", |cell| cell[estimate]["interval"] = Value::Null);
    }
    check(&place, &report, "a number or an interval", |cell| {
        cell["capacity"] = json!({"value": value * 1.25, "interval": [value, value * 1.5]});
    });
    check(&place, &report, "precision", |cell| cell["precision"] = json!(0.5));
    check(&place, &report, "an invocation with a value", |cell| {
        invocations(cell).for_each(|invocation| scale(&mut invocation["value"], 1.25));
    });
    check(&place, &report, "an invocation with a value", |cell| {
        for run in invocations(cell).flat_map(|invocation| invocation["runs"].as_array_mut().unwrap()) {
            let times = run["laps"][0]["blocks"]["times"].as_array_mut().expect("what shares nothing has blocks");
            times.iter_mut().for_each(|time| scale(time, 0.8));
        }
    });
}
