//! `attack`, `bench-gate` and `calibrate`: tasks that read JSON and need statistics. They are a program of their own,
//! so this one has no dependencies.

use xtask::{Outcome, process, setup, workspace};

pub fn start(task: &str, arguments: &[String]) -> Outcome {
    setup::quietly()?;
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--quiet", "--locked", "--package", "xtask-bench", "--", task]).args(arguments);
    process::run(&mut cargo)
}
