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
    let [cells, derived] = [&report["cells"], &report["derived"]["cells"]].map(Value::as_array);
    let cells = cells.zip(derived).ok_or("there are no cells")?;
    let both = cells.0.iter().zip(cells.1);
    both.zip(1..)
        .map(|((measured, derived), at)| {
            cell(measured, derived).ok_or_else(|| format!("cell {at} has an unknown form"))
        })
        .collect()
}

fn cell(cell: &Value, derived: &Value) -> Option<Cell> {
    // What has no capacity, as bandwidth of memory, has a value that was delivered.
    let names = ["value", "low", "high"];
    let names = if derived["value"].is_number() { names } else { ["delivered", "delivered_low", "delivered_high"] };
    let [value, low, high] = names.map(|name| derived[name].as_f64());
    let status = match derived["status"].as_str()? {
        "ok" => Status::Ok,
        "suspect" => Status::Suspect,
        "invalid" => Status::Invalid,
        _ => Status::Missing,
    };
    Some(Cell {
        kernel: cell["kernel"].as_str()?.to_owned(),
        workers: cell["workers"].as_u64()?,
        status,
        value,
        interval: low.zip(high).map(<[f64; 2]>::from),
        clocks_hz: clocks(cell, derived),
        delivered: delivered(cell, derived),
        on_cpu: on_cpu(cell),
    })
}

fn clocks(cell: &Value, derived: &Value) -> Option<[f64; 2]> {
    let runs = cell["runs"].as_array()?.iter().zip(derived["values"].as_array()?);
    let counted = runs.filter(|(_, value)| value.is_number());
    let clocks: Option<_> = counted.map(|(run, _)| run["evidence"]["frequency"]["highest_hz"].as_f64()).collect();
    let clocks = Sample::new(clocks?)?;
    Some([0.1, 0.9].map(|share| clocks.quantile(share)))
}

fn delivered(cell: &Value, derived: &Value) -> Option<f64> {
    let [capacity, delivered] = ["value", "delivered"].map(|key| derived[key].as_f64());
    let share = delivered? / capacity?;
    Some(if cell["unit"].as_str()?.starts_with("nanoseconds") { share.recip() } else { share })
}

fn on_cpu(cell: &Value) -> Option<f64> {
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (mut on_cpu, mut wall) = (0, 0);
    for iteration in all(&cell["runs"]).into_iter().flat_map(|run| all(&run["iterations"])) {
        let laps = all(&iteration["laps"]);
        let stamps = |name: &str| laps.iter().filter_map(|lap| lap[name].as_u64()).collect::<Vec<_>>();
        let interval = stamps("end_ns").into_iter().max()?.checked_sub(stamps("start_ns").into_iter().min()?)?;
        wall += interval * laps.len() as u64;
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

    /// The only cell of a report, and what is derived of it.
    fn only(cell: &str, derived: &str) -> Cell {
        cells(&format!(r#"{{"cells": [{cell}], "derived": {{"cells": [{derived}]}}}}"#)).unwrap().remove(0)
    }

    #[test]
    fn cells_with_a_capacity() {
        let cell = r#"{"kernel": "arith-int", "mapping": "dumb", "workers": 2, "unit": "ops_per_second"}"#;
        let both = r#"{"status": "ok", "value": 2.0, "low": 1.5, "high": 2.5, "delivered": 1.0}"#;
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
        assert_eq!(only(cell, both), expected);
        let Cell { status, value, interval, .. } = only(cell, r#"{"status": "suspect", "delivered": 1.0}"#);
        assert_eq!((status, value, interval), (Status::Suspect, Some(1.0), None));
        let Cell { status, value, interval, .. } = only(cell, r#"{"status": "failed"}"#);
        assert_eq!((status, value, interval), (Status::Missing, None, None));
    }

    #[test]
    fn what_was_delivered_and_the_time_for_it() {
        let lap =
            |start, end, cpu| format!(r#"{{"start_ns": {start}, "end_ns": {end}, "counts": {{"cpu_ns": {cpu}}}}}"#);
        let iteration = |laps: &[String]| format!(r#"{{"laps": [{}]}}"#, laps.join(", "));
        let iterations = [iteration(&[lap(0, 10, 10), lap(5, 10, 5)]), iteration(&[lap(20, 40, 5)])].join(", ");
        let cell = format!(
            r#"{{"kernel": "chase-random", "workers": 2, "unit": "nanoseconds_per_step",
            "runs": [{{"iterations": [{iterations}]}}]}}"#
        );
        let cell = only(&cell, r#"{"status": "ok", "value": 2.0, "delivered": 4.0, "values": [1.0]}"#);
        assert_eq!((cell.delivered, cell.on_cpu), (Some(0.5), Some(0.5)));
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["", "{}", r#"{"cells": [{}]}"#, r#"{"cells": [{}], "derived": {"cells": [{}]}}"#] {
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
