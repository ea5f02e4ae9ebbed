//! Small valid reports with made-up cells in a measured frame.

use serde_json::{Value, json};

use crate::support::{read_json, root};

/// A report as any writer of JSON can make it.
pub type Report = Value;

/// Operations a second of a cell, about.
pub const RATE: f64 = 1e9;

/// A report with these cells.
pub fn report(cells: &[Value]) -> Report {
    let mut report = read_json(&root().join("tests/golden/reports/arithmetic.json"));
    report["cells"] = cells.into();
    add_card(&mut report, "arith-float");
    report
}

fn add_card(report: &mut Report, name: &str) {
    let mut card = report["cards"][0].clone();
    card["name"] = name.into();
    report["cards"].as_array_mut().expect("a report has cards").push(card);
}

/// An `ok` cell of ten invocations around `rate` operations a second, with about 1% of noise.
pub fn cell(kernel: &str, workers: u64, rate: f64) -> Value {
    let values: Vec<u64> = (0..10).map(|at| (rate * (1.0 + 0.001 * f64::from(at * 7 % 10))) as u64).collect();
    let runs: Vec<Value> = values.iter().map(|value| invocation(*value, workers)).collect();
    json!({
        "kernel": kernel, "mapping": "round-robin", "workers": workers, "seats": (0..workers).collect::<Vec<_>>(),
        "unit": "ops_per_second", "repetitions": 1, "footprint_bytes": 0, "runs": runs,
    })
}

/// One repetition of one second, in which the workers together did `operations`.
fn invocation(operations: u64, workers: u64) -> Value {
    let counts = json!({
        "cpu_ns": 1_000_000_000, "run_delay_ns": 0, "involuntary_switches": 0, "migrations": 0, "minor_faults": 0,
        "major_faults": 0,
    });
    let lap = |rank: u64| {
        json!({
            "rank": rank, "strand": rank, "start_ns": 0, "end_ns": 1_000_000_000,
            "ops": if rank == 0 { operations } else { 0 }, "bytes": 0, "on_seat": true, "checks": 10_000, "strays": 0,
            "counts": counts,
        })
    };
    json!({
        "started_ns": 0, "seed": 0, "ending": "done", "evidence": {},
        "iterations": [{
            "steal_ns": 0, "pressure_ns": 0, "laps": (0..workers).map(lap).collect::<Vec<_>>(),
        }],
    })
}
