//! What a report says of its cells, and what `charz selftest` found.

use charz_stats::Sample;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok,
    Suspect,
    Invalid,
    /// Not measured: skipped, failed, pending.
    Missing,
}

/// A cell of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub kernel: String,
    pub workers: u64,
    pub status: Status,
    pub value: Option<f64>,
    pub interval: Option<[f64; 2]>,
    /// The lowest and the highest of the clocks of its fastest cores, but for the outer tenths of its invocations.
    pub clocks_hz: Option<[f64; 2]>,
    /// The share of the capacity that it says was delivered.
    pub delivered: Option<f64>,
    /// The share of the time of its repetitions for which its workers had a CPU: one that is through waits for the last.
    pub on_cpu: Option<f64>,
}

/// The cells of a report.
pub fn cells(report: &str) -> Result<Vec<Cell>, String> {
    let report: Value = serde_json::from_str(report).map_err(|error| error.to_string())?;
    let cells = report["cells"].as_array().ok_or("there are no cells")?;
    cells
        .iter()
        .zip(1..)
        .map(|(value, at)| cell(value).ok_or_else(|| format!("cell {at} has an unknown form")))
        .collect()
}

fn cell(cell: &Value) -> Option<Cell> {
    // What has no capacity, as bandwidth of memory, has a value that was delivered.
    let number = if cell["capacity"].is_object() { &cell["capacity"] } else { &cell["delivered"] };
    let status = match cell["status"].as_str()? {
        "ok" => Status::Ok,
        "suspect" => Status::Suspect,
        "invalid" => Status::Invalid,
        _ => Status::Missing,
    };
    Some(Cell {
        kernel: cell["kernel"].as_str()?.to_owned(),
        workers: cell["workers"].as_u64()?,
        status,
        value: number["value"].as_f64(),
        interval: number["interval"][0].as_f64().zip(number["interval"][1].as_f64()).map(<[f64; 2]>::from),
        clocks_hz: clocks(cell),
        delivered: delivered(cell),
        on_cpu: on_cpu(cell),
    })
}

fn clocks(cell: &Value) -> Option<[f64; 2]> {
    let counted = cell["invocations"].as_array()?.iter().filter(|invocation| invocation["value"].is_number());
    let clocks: Option<_> = counted.map(|counted| counted["evidence"]["frequency"]["highest_hz"].as_f64()).collect();
    let clocks = Sample::new(clocks?)?;
    Some([0.1, 0.9].map(|share| clocks.quantile(share)))
}

fn delivered(cell: &Value) -> Option<f64> {
    let [capacity, delivered] = ["capacity", "delivered"].map(|key| cell[key]["value"].as_f64());
    let share = delivered? / capacity?;
    Some(if cell["unit"].as_str()?.starts_with("nanoseconds") { share.recip() } else { share })
}

fn on_cpu(cell: &Value) -> Option<f64> {
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (mut on_cpu, mut wall) = (0, 0);
    for run in all(&cell["invocations"]).into_iter().flat_map(|invocation| all(&invocation["runs"])) {
        let laps = all(&run["laps"]);
        wall += run["interval_ns"].as_u64()? * laps.len() as u64;
        for lap in laps {
            on_cpu += lap["counts"]["cpu_ns"].as_u64()?;
        }
    }
    (wall > 0).then(|| on_cpu as f64 / wall as f64)
}

/// How the comparisons of `charz selftest --aa` ended.
#[derive(Debug, PartialEq)]
pub struct SelfTest {
    pub rounds: u64,
    pub false_verdicts: u64,
    pub not_compared: u64,
}

/// Reads the only cell of what `--format json` printed, among what went to the standard error.
pub fn selftest(printed: &str) -> Option<SelfTest> {
    let [begin, end] = [printed.find('{')?, printed.rfind('}')?];
    let page: Value = serde_json::from_str(printed.get(begin..=end)?).ok()?;
    let [cell] = page["cells"].as_array()?.as_slice() else { return None };
    let count = |key: &str| cell["equal"][key].as_u64();
    Some(SelfTest {
        rounds: count("comparisons")?,
        false_verdicts: count("faster")? + count("slower")?,
        not_compared: count("uncompared")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(cell: &str) -> Cell {
        cells(&format!(r#"{{"cells": [{cell}]}}"#)).unwrap().remove(0)
    }

    #[test]
    fn cells_with_a_capacity() {
        let both = r#"{"kernel": "arith-int", "mapping": "dumb", "workers": 2, "status": "ok", "unit": "ops_per_second",
            "capacity": {"value": 2.0, "interval": [1.5, 2.5]}, "delivered": {"value": 1.0, "interval": null}}"#;
        let expected = Cell {
            kernel: "arith-int".into(),
            workers: 2,
            status: Status::Ok,
            value: Some(2.0),
            interval: Some([1.5, 2.5]),
            clocks_hz: None,
            delivered: Some(0.5),
            on_cpu: None,
        };
        assert_eq!(only(both), expected);
        let delivered = r#"{"kernel": "mem-read", "workers": 1, "status": "suspect", "capacity": null,
            "delivered": {"value": 1.0, "interval": null}}"#;
        let Cell { status, value, interval, .. } = only(delivered);
        assert_eq!((status, value, interval), (Status::Suspect, Some(1.0), None));
        let none = r#"{"kernel": "x", "workers": 1, "status": "failed", "capacity": null, "delivered": null}"#;
        let Cell { status, value, interval, .. } = only(none);
        assert_eq!((status, value, interval), (Status::Missing, None, None));
    }

    #[test]
    fn what_was_delivered_and_the_time_for_it() {
        let lap = |cpu| format!(r#"{{"counts": {{"cpu_ns": {cpu}}}}}"#);
        let run = |time, laps: &[String]| format!(r#"{{"interval_ns": {time}, "laps": [{}]}}"#, laps.join(", "));
        let runs = format!("[{}, {}]", run(10, &[lap(10), lap(5)]), run(20, &[lap(5)]));
        let cell = only(&format!(
            r#"{{"kernel": "chase-random", "workers": 2, "status": "ok", "unit": "nanoseconds_per_step",
            "invocations": [{{"value": 1.0, "runs": {runs}}}], "capacity": {{"value": 2.0}}, "delivered": {{"value": 4.0}}}}"#
        ));
        assert_eq!((cell.delivered, cell.on_cpu), (Some(0.5), Some(0.5)));
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["", "{}", r#"{"cells": [{}]}"#, r#"{"cells": [{"kernel": "x", "workers": 1}]}"#] {
            assert!(cells(text).is_err(), "{text}");
        }
    }

    #[test]
    fn self_tests() {
        let text = r#"12 of 30 comparisons
            {"cells": [{"kernel": "arith-int", "equal": {"comparisons": 30, "faster": 1, "slower": 2, "uncompared": 13}}]}
            a note"#;
        let expected = SelfTest { rounds: 30, false_verdicts: 3, not_compared: 13 };
        assert_eq!(selftest(text), Some(expected));
        assert_eq!(selftest("charz: refused\n"), None);
        assert_eq!(selftest(&text.replace("equal", "other")), None);
    }
}
