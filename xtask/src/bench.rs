//! `attack`, `bench-gate`, `calibrate` and `peers`: tasks that read JSON and need statistics. They are a program of their own,
//! so this one has no dependencies.

use std::process::Command;

use xtask::{Outcome, process, setup, workspace};

pub fn start(task: &str, arguments: &[String]) -> Outcome {
    setup::quietly()?;
    process::run(&mut command(task, arguments))
}

pub fn command(task: &str, arguments: &[String]) -> Command {
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--locked", "--package", "xtask-bench", "--", task]).args(arguments);
    command
}
