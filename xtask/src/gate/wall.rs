//! Comparing by the clock: criterion's benches of both sides take turns.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::build::{self, Side};
use super::counts::PLANT;
use super::verdict::{self, Row, Verdict};
use crate::failure::{Failure, Outcome};
use crate::json::{self, Value};
use crate::{process, stats};

/// The bench targets that touch the machine. The others are pure and counted, see [`super::counts`].
const TARGETS: [&str; 3] = ["discovery", "harness", "kernels"];

/// Rounds unless told otherwise: enough for 60 benches, see [`verdict::least_rounds`].
pub const ROUNDS: usize = 16;

/// How long a turn takes, for criterion. Turns are short, since what disturbs them comes and goes within seconds, and it
/// should meet both sides alike.
const TURN: [&str; 8] =
    ["--warm-up-time", "0.02", "--measurement-time", "0.08", "--sample-size", "10", "--nresamples", "1000"];

/// A bench that both sides have.
struct Shared {
    target: &'static str,
    name: String,
}

/// Measures every bench of both sides in turns, `rounds` times or as often as it takes to be able to show anything.
///
/// # Errors
/// When a bench does not run.
pub fn compare(base: &Side, head: &Side, rounds: usize, plant: u32) -> Outcome<Vec<Row>> {
    let (mut shared, mut rows) = (Vec::new(), Vec::new());
    for target in TARGETS {
        let (old, new) = (benches(base, target)?, benches(head, target)?);
        for name in old.union(&new) {
            match (old.contains(name), new.contains(name)) {
                (true, true) => shared.push(Shared { target, name: name.clone() }),
                (true, false) => rows.push(Row::unmatched(format!("{target}: {name}"), Verdict::Gone)),
                _ => rows.push(Row::unmatched(format!("{target}: {name}"), Verdict::New)),
            }
        }
    }
    let rounds = rounds.max(verdict::least_rounds(shared.len()));
    let mut ratios = vec![Vec::with_capacity(rounds); shared.len()];
    for round in 0..rounds {
        for (bench, ratios) in shared.iter().zip(&mut ratios) {
            ratios.push(ratio(bench, base, head, plant, round)?);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    let names = shared.iter().map(|bench| format!("{}: {}", bench.target, bench.name));
    rows.extend(verdict::of_ratios(names.zip(ratios).collect()));
    Ok(rows)
}

/// The ratio of the times of one round, head to base. A round is four turns in mirrored order, so that a steady drift of
/// the machine cancels out; every other round starts with the other side.
fn ratio(bench: &Shared, base: &Side, head: &Side, plant: u32, round: usize) -> Outcome<f64> {
    let heads_turn = if round.is_multiple_of(2) { [false, true, true, false] } else { [true, false, false, true] };
    let mut sum = 0.0;
    for turn in heads_turn {
        let time = if turn { time(bench, head, plant)? } else { time(bench, base, 0)? };
        sum += if turn { time.ln() } else { -time.ln() };
    }
    Ok((sum / 2.0).exp())
}

/// The median time of one iteration, in nanoseconds, in one turn of a side.
fn time(bench: &Shared, side: &Side, plant: u32) -> Outcome<f64> {
    let home = build::folder().join("criterion");
    if let Err(error) = fs::remove_dir_all(&home)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(Failure::io(format!("remove {home:?}"), &error));
    }
    let mut command = Command::new(&side.programs[bench.target]);
    command.args(["--bench", "--noplot", "--quiet", "--exact", &bench.name]).args(TURN);
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
    let times = sample.as_deref().and_then(times).ok_or_else(|| lost("left no sample"))?;
    Ok(stats::median(&times))
}

/// The names of a target's benches.
fn benches(side: &Side, target: &str) -> Outcome<BTreeSet<String>> {
    let Some(program) = side.programs.get(target) else { return Ok(BTreeSet::new()) };
    let listed = process::read(Command::new(program).args(["--bench", "--list"]))?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": benchmark")).map(str::to_owned).collect())
}

/// The time of one iteration in each sample; `None` when this is no sample file of criterion's.
fn times(sample: &str) -> Option<Vec<f64>> {
    let sample = json::parse(sample)?;
    let numbers = |name| sample.get(name)?.list()?.iter().map(Value::number).collect::<Option<Vec<f64>>>();
    let (iterations, times) = (numbers("iters")?, numbers("times")?);
    let each: Vec<f64> = times.iter().zip(&iterations).map(|(time, iterations)| time / iterations).collect();
    // A time of 0 has no logarithm.
    (!each.is_empty() && each.iter().all(|time| time.is_finite() && *time > 0.0)).then_some(each)
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
        assert_eq!(times(sample), Some(vec![10.0, 11.0, 10.0]));
        assert_eq!(times(r#"{"iters":[1.0],"times":[0.0]}"#), None);
        assert_eq!(times(r#"{"iters":[],"times":[]}"#), None);
        assert_eq!(times("{}"), None);
    }
}
