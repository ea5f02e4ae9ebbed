//! `loom`: the models of the concurrent parts, each with its seeded bugs.

use xtask::Outcome;
use xtask::{arguments, process, workspace};

/// Explores every model. `cargo xtask test` does so too, among all other tests; this task runs nothing else.
pub fn start(words: &[String]) -> Outcome {
    arguments::none("loom", words)?;
    // One more than where bugs lie, which takes ten times as long as what each change passes.
    let mut cargo = workspace::cargo();
    process::run(cargo.env("LOOM_MAX_PREEMPTIONS", "3").args(["test", "--locked", "--package", "charz-models"]))
}
