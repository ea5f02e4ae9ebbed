//! The runs of a user's program as hyperfine exports its own (`--export-json`), so what reads those reads these:
//! <https://github.com/sharkdp/hyperfine/blob/master/src/benchmark/benchmark_result.rs> and its folder `scripts`.
//!
//! Times are from the start of a run to its end, in seconds, whatever number the program prints. Runs that charz excludes, and configurations
//! without a result, are left out. CPU time is not split into modes: `user` has all of it, and `system` is 0, since readers require both.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json::write_pretty_line;
use charz_data::escape::plain;
use charz_data::report::{Cell, Report, Run};
use charz_data::{Arrange, Program};

#[derive(Serialize)]
struct Export {
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    command: String,
    mean: f64,
    /// Of a single run there is none.
    stddev: Option<f64>,
    median: f64,
    user: Option<f64>,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    /// 0, the code of a run that counts; null where others count too.
    exit_codes: Vec<Option<i32>>,
    parameters: BTreeMap<&'static str, String>,
}

/// A document without results where the report has no program.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let results = report.cells.iter().filter_map(|cell| outcome(cell, report.program_of(cell)?)).collect();
    write_pretty_line(&Export { results }, out)
}

fn outcome(cell: &Cell, program: &Program) -> Option<Outcome> {
    cell.value()?;
    let runs: Vec<&Run> = cell.invocations.iter().flat_map(|invocation| invocation.clean_runs()).collect();
    let times: Vec<f64> = runs.iter().map(|run| run.interval_ns as f64 / 1e9).collect();
    let mut sorted = times.clone();
    sorted.arrange_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    let used = |run: &&Run| run.laps.iter().map(|lap| Some(lap.counts.cpu_ns? as f64 / 1e9)).sum::<Option<f64>>();
    let used: Option<f64> = runs.iter().map(used).sum();
    let code = program.ignored_failures.is_none().then_some(0);
    Some(Outcome {
        // A legend has one entry for each configuration.
        command: plain(&format!("{} ({} x{})", program.command, cell.mapping, cell.workers)),
        mean,
        stddev: (times.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
        median: (sorted[(times.len() - 1) / 2] + sorted[times.len() / 2]) / 2.0,
        user: used.map(|used| used / count),
        system: 0.0,
        min,
        max,
        exit_codes: vec![code; times.len()],
        times,
        parameters: [("mapping", plain(&cell.mapping)), ("threads", cell.workers.to_string())].into(),
    })
}

#[cfg(test)]
mod tests {
    use charz_data::report::fixtures::{cell, report};
    use charz_data::report::{Status, Unit};
    use charz_data::{Better, COMMAND, ProgramValue, ReportedUnit};
    use serde_json::Value;

    use super::*;
    use crate::formats::tests::written;

    fn shown(report: &Report) -> Vec<Value> {
        let document: Value = serde_json::from_str(&written(|out| write(report, out))).unwrap();
        document["results"].as_array().unwrap().clone()
    }

    /// A program that prints a score, and took these times.
    fn program(times: &[u64]) -> Report {
        let unit = ReportedUnit::new("points", Better::Higher).unwrap();
        let mut one = cell(COMMAND, 2, Unit::Reported(unit), 40.0);
        let of = |time: &u64| {
            let mut invocation = one.invocations[0].clone();
            invocation.runs.truncate(1);
            invocation.runs[0].interval_ns = *time;
            invocation
        };
        one.invocations = times.iter().map(of).collect();
        let mut report = report(vec![one]);
        report.plan.program = Some(Program::new("./score {threads}", ProgramValue::Last, unit));
        report
    }

    #[test]
    fn times_are_those_of_the_clean_runs_in_seconds() {
        let mut found = program(&[3_000_000_000, 1_000_000_000, 9_000_000_000, 2_000_000_000]);
        found.cells[0].invocations[2].runs[0].dirty.push("V03".into());
        let [result] = &*shown(&found) else { panic!("one configuration") };
        let numbers = ["mean", "median", "min", "max", "stddev"].map(|key| result[key].as_f64().unwrap());
        assert_eq!(numbers, [2.0, 2.0, 1.0, 3.0, 1.0]);
        assert_eq!(result["times"], serde_json::json!([3.0, 1.0, 2.0]));
        assert_eq!(result["exit_codes"], serde_json::json!([0, 0, 0]));
        assert_eq!(result["parameters"]["threads"], "2");
        found.plan.program.as_mut().unwrap().ignored_failures = Some(vec![1]);
        assert_eq!(shown(&found)[0]["exit_codes"][0], Value::Null, "it may have been 1");
    }

    #[test]
    fn a_single_run_has_no_deviation_and_what_has_no_number_no_result() {
        let mut one = program(&[5_000_000]);
        assert_eq!(shown(&one)[0]["stddev"], Value::Null);
        one.cells[0].status = Status::Invalid;
        assert!(shown(&one).is_empty());
        assert!(shown(&report(vec![cell("noop", 1, Unit::OpsPerSecond, 1e9)])).is_empty(), "no program");
    }
}
