//! `test`: everything that shows whether the project works, fast checks first.

use crate::failure::Outcome;
use crate::stages::Stages;
use crate::{asm, docs, process, setup, tidy, workspace};

/// Runs every stage; `arguments` go to `cargo test`.
pub fn start(arguments: &[String]) -> Outcome {
    let mut stages = Stages::default();
    stages.stage("setup", setup::quietly)?;
    stages.stage("tidy", tidy::check)?;
    stages.stage("build", || workspace::build_charz().map(|_| ()))?;
    stages.stage("docs", docs::check)?;
    stages.stage("asm", asm::check)?;
    // Not in the release profile: the tests take less than a minute in all without optimisation, building their
    // dependencies with it takes minutes, and only here overflow is checked.
    let tests = ["test", "--workspace", "--locked"];
    stages.stage("tests", || process::run(workspace::cargo().args(tests).args(arguments)))?;
    // Each bench runs once, which shows that it still works. In the profile of the tests, since what they depend on is
    // built already there.
    stages.stage("benches", || process::run(workspace::cargo().args(tests).args(["--bench", "*"])))?;
    stages.summary("passed");
    Ok(())
}
