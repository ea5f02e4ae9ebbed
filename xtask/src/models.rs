//! `loom`: the models of the concurrent parts, each with its seeded bugs.

use xtask::Outcome;
use xtask::{arguments, process, workspace};

/// Explores every model, which `cargo xtask test` leaves to this task.
pub fn start(words: &[String]) -> Outcome {
    arguments::none("loom", words)?;
    process::run(workspace::cargo().args(["test", "--locked", "--package", "charz-models"]))
}
