//! `loom`: the models of the concurrent parts, each with its seeded bugs.

use xtask::Outcome;
use xtask::{arguments, process, workspace};

/// Explores every model. `cargo xtask test` does so too, among all other tests; this task runs nothing else.
pub fn start(words: &[String]) -> Outcome {
    arguments::none("loom", words)?;
    process::run(workspace::cargo().args(["test", "--locked", "--package", "charz-models"]))
}
