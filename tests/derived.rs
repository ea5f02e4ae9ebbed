//! Reports as tests of conclusions read them.

use serde_json::Value;

/// A report with what is derived of each cell, run and iteration in it; any other value as it is.
pub fn with_derived(mut report: Value) -> Value {
    let derived = report["derived"]["cells"].as_array().cloned().unwrap_or_default();
    let cells = report.get_mut("cells").and_then(Value::as_array_mut);
    for (cell, row) in cells.into_iter().flatten().zip(&derived) {
        for (at, value) in row["values"].as_array().into_iter().flatten().enumerate() {
            cell["runs"][at]["value"] = value.clone();
        }
        for excluded in row["excluded"].as_array().into_iter().flatten() {
            let [run, iteration] = ["run", "iteration"].map(|at| excluded[at].as_u64().expect("a place") as usize);
            cell["runs"][run]["iterations"][iteration]["excluded"] = excluded["by"].clone();
        }
        for (key, value) in row.as_object().into_iter().flatten().filter(|(key, _)| *key != "unit") {
            cell[key] = value.clone();
        }
    }
    report
}
