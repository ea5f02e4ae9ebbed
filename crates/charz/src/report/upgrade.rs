//! Reports of earlier formats, brought to the present one.
//!
//! Version 1 measured a cell in one process, had no severities and no intervals. Its numbers stay; none of them is `ok` any
//! more, since one process says nothing of how far another one would be off.

use serde_json::{Map, Value, json};

use super::{Report, SCHEMA_MAJOR};

type Object = Map<String, Value>;

/// Reads a report of version 1.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(super) fn from_version_1(text: &str) -> Result<Report, String> {
    let mut report: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let strange = || "it does not have the fields of its version".to_owned();
    let root = report.as_object_mut().ok_or_else(strange)?;
    root.insert("schema".into(), json!({"name": super::SCHEMA_NAME, "major": SCHEMA_MAJOR, "minor": 0}));
    root.insert("id".into(), "".into());
    root.insert("timer".into(), Value::Null);
    let tool = root.get_mut("tool").and_then(Value::as_object_mut).ok_or_else(strange)?;
    tool.insert("kernels".into(), "unknown".into());
    let plan = root.get_mut("plan").and_then(Value::as_object_mut).ok_or_else(strange)?;
    let repetitions = plan.get("repetitions").cloned().ok_or_else(strange)?;
    plan.extend(
        [("least_invocations", 1), ("most_invocations", 1), ("seed", 0)].map(|(key, n)| (key.into(), n.into())),
    );
    for list in ["floor", "cells"] {
        for cell in root.get_mut(list).and_then(Value::as_array_mut).ok_or_else(strange)? {
            let cell = cell.as_object_mut().ok_or_else(strange)?;
            cell.insert("repetitions".into(), repetitions.clone());
            upgrade_cell(cell).ok_or_else(strange)?;
        }
    }
    serde_json::from_value(report).map_err(|error| error.to_string())
}

fn upgrade_cell(cell: &mut Object) -> Option<()> {
    cell.insert("estimator".into(), "median".into());
    cell.insert("precision".into(), 1.0.into());
    let passport = cell.remove("passport").unwrap_or_default();
    let runs = cell.remove("runs").unwrap_or_default();
    let variant = cell.remove("variant").unwrap_or_default();
    let mut marks = upgrade_marks(&passport);
    let outcome = cell.get_mut("outcome")?.as_object_mut()?;
    let status = match outcome.get("status")?.as_str()? {
        "ok" => {
            marks.push(mark(
                "V12",
                "suspect",
                "measured in one process only, by an earlier version: no interval can be given",
            ));
            "suspect"
        }
        "unavailable" | "failed" => "skipped",
        "wrong" => {
            let reason = outcome.get("reason").and_then(Value::as_str).unwrap_or("a wrong answer").to_owned();
            marks.push(mark("V23", "invalid", &reason));
            "invalid"
        }
        "pending" => "pending",
        "skipped" => "skipped",
        "aborted" => "aborted",
        _ => return None,
    };
    outcome.insert("status".into(), status.into());
    cell.insert("marks".into(), marks.into());
    let runs: Vec<Value> = runs.as_array().cloned().unwrap_or_default();
    upgrade_summary(cell, &runs, status);
    let value = cell.get("summary").and_then(|summary| summary.get("raw")).cloned().unwrap_or_default();
    let invocations = if runs.is_empty() { vec![] } else { vec![invocation(runs, variant, value, &passport)?] };
    cell.insert("invocations".into(), invocations.into());
    Some(())
}

fn upgrade_marks(passport: &Value) -> Vec<Value> {
    let marks = passport.get("marks").and_then(Value::as_array).cloned().unwrap_or_default();
    let word = |mark: &Value, key| mark.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    marks.iter().map(|old| mark(&word(old, "code"), "suspect", &word(old, "reason"))).collect()
}

fn mark(code: &str, severity: &str, reason: &str) -> Value {
    json!({"code": code, "severity": severity, "reason": reason})
}

/// The median of the only process's repetitions is its value, and so the cell's.
fn upgrade_summary(cell: &mut Object, runs: &[Value], status: &str) {
    let Some(old) = cell.get("summary").and_then(Value::as_object).cloned() else { return };
    let number = |key: &str| old.get(key).cloned().unwrap_or_default();
    let median = number("median");
    let summary = json!({
        "value": if status == "suspect" { median.clone() } else { Value::Null },
        "raw": median,
        "interval": null,
        "invocations": 1,
        "clean_runs": runs.len(),
        "dirty_runs": 0,
        "spread": null,
        "best": number("best"),
        "worst": number("worst"),
        "best_of_three": number("best"),
        "start_skew_ns": number("start_skew_ns"),
    });
    cell.insert("summary".into(), summary);
}

fn invocation(mut runs: Vec<Value>, variant: Value, value: Value, passport: &Value) -> Option<Value> {
    for run in &mut runs {
        let run = run.as_object_mut()?;
        run.insert("pressure_ns".into(), Value::Null);
        run.insert("dirty".into(), json!([]));
        for lap in run.get_mut("laps")?.as_array_mut()? {
            let lap = lap.as_object_mut()?;
            lap.extend([("checks".to_owned(), 0.into()), ("strays".to_owned(), Value::Null)]);
        }
    }
    let evidence = json!({
        "pages": passport.get("pages"), "nodes": null, "frequency": null, "changes": [],
    });
    Some(json!({
        "started_ns": 0, "seed": 0, "ending": "done", "reason": null, "variant": variant,
        "evidence": evidence, "runs": runs, "value": value,
    }))
}
