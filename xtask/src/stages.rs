//! A task in stages: each with a name and a duration, and a summary at the end.

use std::time::{Duration, Instant};

use xtask::Outcome;

#[derive(Default)]
pub struct Stages {
    done: Vec<(&'static str, Duration)>,
    /// Stages that this machine lacks something for, and what.
    not_run: Vec<(&'static str, String)>,
}

impl Stages {
    /// Runs one stage. The first that fails ends the task, since the stages are ordered from fast to slow and a later
    /// one seldom says anything new about a tree that fails an earlier one.
    pub fn stage(&mut self, name: &'static str, work: impl FnOnce() -> Outcome) -> Outcome {
        println!("== {name}");
        let start = Instant::now();
        let outcome = work();
        let took = start.elapsed();
        println!("== {name}: {} after {:.1} s", if outcome.is_ok() { "ended" } else { "FAILED" }, took.as_secs_f64());
        self.done.push((name, took));
        outcome.inspect_err(|_| self.summary("failed")).map_err(|failure| failure.within(name))
    }

    /// Runs a stage that needs more than the others, from elsewhere: where it is not to be had, the task goes on and the summary names
    /// what is missing.
    pub fn where_possible(&mut self, name: &'static str, work: impl FnOnce() -> Outcome) -> Outcome {
        let mut lacks = None;
        let outcome = self.stage(name, || match work() {
            Err(failure) if failure.is_environment() => {
                println!("not run: {failure}");
                lacks = Some((name, failure.to_string()));
                Ok(())
            }
            outcome => outcome,
        });
        self.not_run.extend(lacks);
        outcome
    }

    /// Prints the durations of all stages; `verdict` is the last word.
    pub fn summary(&self, verdict: &str) {
        println!();
        for (name, took) in &self.done {
            println!("{:>8.1} s  {name}", took.as_secs_f64());
        }
        self.not_run.iter().for_each(|(name, lacks)| println!(" not run    {name}: {lacks}"));
        let total: Duration = self.done.iter().map(|(_, took)| *took).sum();
        println!("{:>8.1} s  in all: {verdict}", total.as_secs_f64());
    }
}
