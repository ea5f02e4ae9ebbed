//! `loom`: the models of the concurrent parts, each with its seeded bugs.

use xtask::Outcome;
use xtask::failure::no_arguments;
use xtask::{process, workspace};

/// Explores every model. `cargo xtask test` does so too, among all other tests; this is for whoever works on such a part.
pub fn start(arguments: &[String]) -> Outcome {
    no_arguments("loom", arguments)?;
    process::run(workspace::cargo().args(["test", "--locked", "--package", "charz-models"]))
}
