//! Comparing by the clock: criterion's benches of both sides take turns, and the test of `charz ab` judges them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use charz_stats::{Better, Comparison, Pair, Rule, Sample, compare as judge, min_invocations};
use serde_json::Value;
use xtask::{Failure, Outcome, process};

use super::counts::PLANT;
use super::programs::{self, Side};
use super::{Row, Verdict};

/// The bench targets that touch the machine, each with the share that its benches may be slower. The others are pure; what matters of
/// them is counted.
///
/// Where the linker happens to place a loop moves it by a few percent without any change of its code, and what makes a kernel's loop
/// longer is counted; the harness calls the system for most of its time.
const TARGETS: [Target; 3] = [
    Target { name: "discovery", margin: 0.10, more: 1 },
    Target { name: "harness", margin: 0.04, more: 3 },
    Target { name: "kernels", margin: 0.10, more: 1 },
];

struct Target {
    name: &'static str,
    /// The share that a bench may be slower.
    margin: f64,
    /// How many times as many rounds: a narrower margin takes a narrower interval.
    more: usize,
}

/// The default number of rounds.
pub const ROUNDS: usize = 16;

/// The chance of calling any bench slower when none is. With the customary 1 %, twenty runs over unchanged code would not all
/// be green often enough.
const ALPHA: f64 = 0.002;

/// How long a turn takes, for criterion. Turns are short, since what disturbs them comes and goes within seconds, and it
/// should meet both sides alike.
const TURN: [&str; 8] =
    ["--warm-up-time", "0.02", "--measurement-time", "0.08", "--sample-size", "10", "--nresamples", "1000"];

type Benches = BTreeMap<String, PathBuf>;

/// Compares the benches of each target.
pub fn compare(base: &Side, head: &Side, rounds: usize, plant: u32) -> Outcome<Vec<Row>> {
    let rows = TARGETS.iter().map(|target| one(target, [base, head], rounds * target.more, plant));
    Ok(rows.collect::<Outcome<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Measures every bench of both sides in turns, `rounds` times or as often as it takes to be able to show anything.
fn one(target: &Target, sides: [&Side; 2], rounds: usize, plant: u32) -> Outcome<Vec<Row>> {
    let [old, new] = sides.map(|side| benches(side, target));
    let (old, new) = (old?, new?);
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    let mut rows: Vec<Row> = gone.map(|name| Row::unmatched(name.clone(), Verdict::Gone)).collect();
    let fresh = new.keys().filter(|name| !old.contains_key(*name));
    rows.extend(fresh.map(|name| Row::unmatched(name.clone(), Verdict::New)));
    let alpha = ALPHA / TARGETS.len() as f64;
    let shared: Vec<&String> = old.keys().filter(|name| new.contains_key(*name)).collect();
    let rounds = rounds.max(min_invocations(shared.len().max(1), alpha) + 1);
    let mut times = vec![(Vec::with_capacity(rounds), Vec::with_capacity(rounds)); shared.len()];
    for round in 0..rounds {
        for (name, (base, head)) in shared.iter().zip(&mut times) {
            // A round is four turns in mirrored order, so a steady drift of the machine affects both sides equally.
            let heads_turn =
                if round.is_multiple_of(2) { [false, true, true, false] } else { [true, false, false, true] };
            let mut sum = [0.0; 2];
            for turn in heads_turn {
                let time = if turn { time(name, &new[*name], plant)? } else { time(name, &old[*name], 0)? };
                sum[usize::from(turn)] += time;
            }
            base.push(sum[0] / 2.0);
            head.push(sum[1] / 2.0);
        }
        eprintln!("{}: round {} of {rounds}", target.name, round + 1);
    }
    let pairs: Vec<Pair<'_>> = times.iter().map(|(base, new)| Pair { base, new, better: Better::Lower }).collect();
    let rule = Rule::new(alpha, target.margin).expect("both are shares");
    rows.extend(judge(&pairs, &rule).iter().zip(shared).map(|(found, name)| row(found, name, rounds)));
    Ok(rows)
}

fn row(found: &Comparison, name: &str, rounds: usize) -> Row {
    let verdict = match found.verdict {
        charz_stats::Verdict::Faster => Verdict::Faster,
        charz_stats::Verdict::Slower => Verdict::Slower,
        charz_stats::Verdict::Same => Verdict::Same,
        charz_stats::Verdict::Inconclusive(_) => Verdict::Inconclusive,
    };
    // As times, like the benches themselves: above 0 is slower.
    let longer = |effect: f64| (1.0 / effect - 1.0) * 100.0;
    let effect = found.effect.map_or_else(String::new, |effect| format!("{:+.1} %", longer(effect)));
    let interval = found.interval.as_ref().map_or_else(String::new, |interval| {
        format!(" ({:+.1} to {:+.1})", longer(interval.high), longer(interval.low))
    });
    Row { bench: name.to_owned(), verdict, evidence: format!("{effect}{interval}, {rounds} rounds") }
}

/// The median time of one iteration, in nanoseconds, in one turn of a side.
fn time(bench: &str, program: &Path, plant: u32) -> Outcome<f64> {
    let home = programs::folder().join("criterion");
    programs::remove(&home)?;
    let mut command = Command::new(program);
    command.args(["--bench", "--noplot", "--quiet", "--exact", bench]).args(TURN);
    command.env("CRITERION_HOME", &home).env(PLANT, plant.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null());
    // Criterion warns that turns are short, each time.
    let output = command.stderr(Stdio::piped()).output().map_err(|error| Failure::io("start a bench", &error))?;
    let lost = |why: &str| {
        let said = String::from_utf8_lossy(&output.stderr);
        Failure::found(format!("`{}` {why}: {}", process::line(&command), said.trim_end()))
    };
    if !output.status.success() {
        return Err(lost("failed"));
    }
    let sample = find(&home, "sample.json").and_then(|file| fs::read_to_string(file).ok());
    sample.as_deref().and_then(median).ok_or_else(|| lost("left no sample"))
}

/// The benches of a side that belong to a target.
fn benches(side: &Side, target: &Target) -> Outcome<Benches> {
    let mut benches = Benches::new();
    let of_target = |name: &str| name.ends_with(&format!("-{}", target.name));
    for (_, program) in side.programs.iter().filter(|(name, _)| of_target(name)) {
        let listed = process::read(Command::new(program).args(["--bench", "--list"]))?;
        let names = listed.lines().filter_map(|line| line.strip_suffix(": benchmark"));
        benches.extend(names.map(|name| (name.to_owned(), program.clone())));
    }
    Ok(benches)
}

/// The median time of one iteration; `None` when this is no sample file of criterion's.
fn median(sample: &str) -> Option<f64> {
    let sample: Value = serde_json::from_str(sample).ok()?;
    let numbers = |name: &str| sample[name].as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
    let (iterations, times) = (numbers("iters")?, numbers("times")?);
    let each: Vec<f64> = times.iter().zip(&iterations).map(|(time, iterations)| time / iterations).collect();
    // A time of 0 has no logarithm.
    let sound = each.iter().all(|time| time.is_finite() && *time > 0.0);
    Some(Sample::new(each).filter(|_| sound)?.median())
}

/// A file of this name somewhere below `folder`.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let path = entry.path();
        if path.is_dir() { find(&path, name) } else { path.ends_with(name).then_some(path) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_one_iteration() {
        let sample = r#"{"sampling_mode":"Linear","iters":[1.0,2.0,4.0],"times":[10.0,22.0,40.0]}"#;
        assert_eq!(median(sample), Some(10.0));
        assert_eq!(median(r#"{"iters":[1.0],"times":[0.0]}"#), None);
        assert_eq!(median(r#"{"iters":[],"times":[]}"#), None);
        assert_eq!(median("{}"), None);
    }
}
