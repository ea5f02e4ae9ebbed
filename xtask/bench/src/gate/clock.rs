//! Comparing by the clock: criterion's benches of both sides take turns, and the test of `charz ab` judges them.
//!
//! Every bench is tried once, those first whose instructions cannot be counted, for half of the time; what looks slower is measured again in
//! pairs that know nothing of that look, until the interval decides or the time is over.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use charz_stats::{Better, Comparison, Pair, Rule, Sample, compare as judge, min_invocations};
use serde_json::Value;
use xtask::{Failure, Outcome, process};

use super::counts;
use super::programs::{self, Side};
use super::{Row, Target, Verdict};
use crate::tree::remove;

/// The chance of calling any bench slower when none is. With the customary 1 %, twenty runs over unchanged code would not all
/// be green often enough.
const ALPHA: f64 = 0.002;

/// What is measured again: what looks slower by this share of its target's margin.
const LOOKS: f64 = 0.5;

/// How long a turn takes, for criterion. Turns are short, since what disturbs them comes and goes within seconds, and it
/// should meet both sides alike.
const TURN: [&str; 8] =
    ["--warm-up-time", "0.01", "--measurement-time", "0.04", "--sample-size", "10", "--nresamples", "1000"];

/// A bench that both sides have.
struct Bench {
    target: &'static Target,
    name: String,
    /// Whether its instructions are known, too.
    is_counted: bool,
    /// The programs of base and head.
    programs: [PathBuf; 2],
    times: [Vec<f64>; 2],
}

/// Compares the benches of these targets for at most so long. `thorough` measures each in pairs, however it looks.
pub fn compare(
    base: &Side,
    head: &Side,
    targets: &[&'static Target],
    accepted: &str,
    most: Duration,
    thorough: bool,
) -> Outcome<Vec<Row>> {
    let (begun, until) = (Instant::now(), Instant::now() + most);
    let (mut benches, mut rows) = (Vec::new(), Vec::new());
    for target in targets {
        let (old, new) = (listed(base, target)?, listed(head, target)?);
        let missing = |of: &[String], from: &[String], verdict| {
            let missing = of.iter().filter(|name| !from.contains(name));
            missing.map(|name| Row::unmatched(name.clone(), verdict)).collect::<Vec<_>>()
        };
        rows.extend(missing(&old, &new, Verdict::Gone));
        rows.extend(missing(&new, &old, Verdict::New));
        let both = [base, head].map(|side| side.program(target.name));
        let [Some(base), Some(head)] = both else { continue };
        let counted = counts::cases(&head)?;
        benches.extend(new.into_iter().filter(|name| old.contains(name)).map(|name| Bench {
            target,
            is_counted: counted.contains(&name),
            name,
            programs: [base.clone(), head.clone()],
            times: Default::default(),
        }));
    }
    // There is not time for all: each run begins elsewhere, and ends up with every bench once in a while.
    let elsewhere = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos() as usize);
    let places = benches.len().max(1);
    benches.rotate_left(elsewhere % places);
    benches.sort_by_key(|bench| bench.is_counted);
    let (mut looked, all, mut tried) = (Vec::new(), benches.len(), 0);
    for (turn, bench) in benches.into_iter().enumerate() {
        if begun.elapsed() >= most / 2 && !thorough {
            break;
        }
        tried = turn + 1;
        let [old, new] = bench.pair(turn)?;
        if thorough || new > old * (1.0 + bench.target.margin * LOOKS) {
            looked.push(bench);
        }
    }
    println!("by the clock: {tried} of {all} benches looked at, {} measured in pairs", looked.len());
    rows.extend(confirmed(looked, until)?.into_iter().map(|row| row.accepted(accepted)));
    Ok(rows)
}

/// Measures benches in pairs, as often as it takes to be able to show anything, and judges them. When the time is over, what has been
/// measured so far decides nothing.
fn confirmed(mut benches: Vec<Bench>, until: Instant) -> Outcome<Vec<Row>> {
    let pairs = min_invocations(benches.len().max(1), ALPHA) + 2;
    for turn in 0..pairs {
        for bench in &mut benches {
            if Instant::now() >= until {
                break;
            }
            let times = bench.pair(turn)?;
            bench.times.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
        }
    }
    let pairs: Vec<Pair<'_>> =
        benches.iter().map(|Bench { times: [base, new], .. }| Pair { base, new, better: Better::Lower }).collect();
    // Margins are those of targets: each is judged as one of all.
    let verdicts = |target: &Target| judge(&pairs, &Rule::new(ALPHA, target.margin).expect("both are shares"));
    Ok(benches.iter().enumerate().map(|(place, bench)| row(&verdicts(bench.target)[place], bench)).collect())
}

impl Bench {
    /// The times of base and head, one after the other; which comes first alternates, and a drift of the machine affects both alike.
    fn pair(&self, turn: usize) -> Outcome<[f64; 2]> {
        let [base, head] = &self.programs;
        let time = |program| time(&self.name, program);
        if turn.is_multiple_of(2) {
            let old = time(base)?;
            return Ok([old, time(head)?]);
        }
        let new = time(head)?;
        Ok([time(base)?, new])
    }
}

fn row(found: &Comparison, bench: &Bench) -> Row {
    let verdict = match found.verdict {
        charz_stats::Verdict::Faster => Verdict::Faster,
        charz_stats::Verdict::Slower => Verdict::Slower,
        charz_stats::Verdict::Same => Verdict::Same,
        charz_stats::Verdict::Inconclusive(_) => Verdict::Undecided,
    };
    // As times, like the benches themselves: above 0 is slower.
    let longer = |effect: f64| (1.0 / effect - 1.0) * 100.0;
    let effect = found.effect.map_or_else(String::new, |effect| format!("{:+.1} %", longer(effect)));
    let interval = found.interval.as_ref().map_or_else(String::new, |interval| {
        format!(" ({:+.1} to {:+.1})", longer(interval.high), longer(interval.low))
    });
    let pairs = bench.times[0].len();
    Row { bench: bench.name.clone(), verdict, evidence: format!("{effect}{interval} of the time, {pairs} pairs") }
}

/// The median time of one iteration, in nanoseconds, in one turn.
fn time(bench: &str, program: &Path) -> Outcome<f64> {
    let home = programs::folder().join("criterion");
    remove(&home)?;
    let mut command = Command::new(program);
    command.args(["--bench", "--noplot", "--quiet", "--exact", bench]).args(TURN);
    command.env("CRITERION_HOME", &home);
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

/// The benches of a target.
fn listed(side: &Side, target: &Target) -> Outcome<Vec<String>> {
    let Some(program) = side.program(target.name) else { return Ok(Vec::new()) };
    let listed = process::read(Command::new(program).args(["--bench", "--list"]))?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": benchmark")).map(str::to_owned).collect())
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
