//! `nightly`: everything that takes too long for each change.

use std::process::Command;
use std::time::Instant;

use xtask::{Failure, Outcome, process};

/// A part: its name, and the words of the tasks that it runs, one after the other.
struct Part(&'static str, &'static [&'static [&'static str]]);

/// Those that fail soonest and most often first.
const PARTS: [Part; 19] = [
    Part("loom", &[&["loom"]]),
    Part("package", &[&["package"]]),
    Part("same-code", &[&["same-code"]]),
    Part("emulated", &[&["emulated"]]),
    Part("browser", &[&["browser"]]),
    Part("readers", &[&["readers"]]),
    // The draws of minutes.
    Part("draws", &[&["test", "--release", "--lib", "--", "--ignored"]]),
    Part("real", &[&["real"]]),
    Part("machines", &[&["machines"]]),
    Part("old-hwloc", &[&["old-hwloc"]]),
    Part("dist", &[&["dist", "--try"], &["dist", "--target", "aarch64-unknown-linux-gnu", "--try"]]),
    Part("slurm", &[&["slurm"]]),
    Part("attack", &[&["attack", "--seconds", "900"], &["attack", "--planted"]]),
    Part("miri", &[&["miri"]]),
    Part("fuzz", &[&["fuzz", "--seconds", "60"]]),
    Part("conditions", &[&["conditions"]]),
    Part("calibrate", &[&["calibrate"]]),
    Part("net", &[&["net", "--planted"]]),
    Part("gate", &[&["bench-gate", "--planted"], &["bench-gate", "--night"]]),
];

/// How a part ended.
#[derive(PartialEq)]
enum End {
    Passed,
    Failed,
    /// The machine lacks something, which the part has named.
    NotRun,
}

/// Runs all parts, or those that are named, whatever fails; then says how each ended. What was not run is no success of it.
pub fn start(words: &[String]) -> Outcome {
    if words == ["--list"] {
        let line = |words: &&[&str]| format!("cargo xtask {}", words.join(" "));
        PARTS.iter().for_each(|Part(name, tasks)| {
            println!("{name:<10}  {}", tasks.iter().map(line).collect::<Vec<_>>().join("; "))
        });
        return Ok(());
    }
    let mut ends = Vec::new();
    for Part(name, tasks) in chosen(words)? {
        println!("== {name}");
        let start = Instant::now();
        let end = tasks.iter().map(|words| run(words)).fold(Ok(End::Passed), worse)?;
        ends.push((name, end, start.elapsed()));
    }
    println!();
    for (name, end, took) in &ends {
        let word = match end {
            End::Passed => "passed",
            End::Failed => "FAILED",
            End::NotRun => "NOT RUN",
        };
        println!("{:>8.1} s  {word:<7}  {name}", took.as_secs_f64());
    }
    verdict(&ends.into_iter().map(|(_, end, _)| end).collect::<Vec<_>>())
}

/// A part that was not run is a failure of the machine where none failed.
fn verdict(ends: &[End]) -> Outcome {
    let count = |of: End| ends.iter().filter(|end| **end == of).count();
    match (count(End::Failed), count(End::NotRun)) {
        (0, 0) => Ok(()),
        (0, n) => Err(Failure::environment(format!("{n} of {} parts could not be run", ends.len()))),
        (n, _) => Err(Failure::found(format!("{n} of {} parts failed", ends.len()))),
    }
}

fn chosen(names: &[String]) -> Outcome<Vec<&'static Part>> {
    static ALL: [Part; PARTS.len()] = PARTS;
    let find = |name: &String| {
        let known = || PARTS.iter().map(|Part(name, _)| *name).collect::<Vec<_>>().join(", ");
        let found = ALL.iter().find(|Part(part, _)| part == name);
        found.ok_or_else(|| Failure::usage(format!("there is no part {name:?}; the parts are {}", known())))
    };
    if names.is_empty() { Ok(ALL.iter().collect()) } else { names.iter().map(find).collect() }
}

/// Runs a task as a process of its own: one that breaks off takes no other with it.
fn run(words: &[&str]) -> Outcome<End> {
    let own = std::env::current_exe().map_err(|error| Failure::io("find this program", &error))?;
    let mut task = Command::new(own);
    let status =
        task.args(words).status().map_err(|error| Failure::io(format!("start {}", process::line(&task)), &error))?;
    Ok(match status.code() {
        Some(0) => End::Passed,
        // As `Failure::environment` has it.
        Some(3) => End::NotRun,
        _ => End::Failed,
    })
}

fn worse(so_far: Outcome<End>, next: Outcome<End>) -> Outcome<End> {
    Ok(match (so_far?, next?) {
        (End::Failed, _) | (_, End::Failed) => End::Failed,
        (End::NotRun, _) | (_, End::NotRun) => End::NotRun,
        _ => End::Passed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_a_task() {
        for Part(name, tasks) in PARTS {
            for words in tasks {
                assert!(crate::TASKS.iter().any(|task| task.0 == words[0]), "{name}: there is no task {}", words[0]);
            }
        }
        assert_eq!(chosen(&["tea".to_owned()]).err().map(|failure| failure.code), Some(2));
    }

    #[test]
    fn what_was_not_run_did_not_pass() {
        let of = |ends: Vec<End>| ends.into_iter().map(Ok).fold(Ok(End::Passed), worse).unwrap();
        assert!(matches!(of(vec![End::Passed, End::NotRun]), End::NotRun));
        assert!(matches!(of(vec![End::Failed, End::NotRun, End::Passed]), End::Failed));
        assert!(matches!(of(vec![]), End::Passed));
        let code = |ends: &[End]| verdict(ends).err().map(|failure| failure.code);
        assert_eq!(code(&[End::Passed, End::Passed]), None);
        assert_eq!(code(&[End::NotRun, End::Passed]), Some(3));
        assert_eq!(code(&[End::NotRun, End::Failed]), Some(1));
    }
}
