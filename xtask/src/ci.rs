//! `ci`: what a change has to pass.

use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::stages::Stages;
use crate::{process, test, workspace};

/// Format and lints first, then the tests.
pub fn start(arguments: &[String]) -> Outcome {
    let checks_only = match arguments {
        [] => false,
        [only] if only == "--checks-only" => true,
        _ => return Err(Failure::usage("`ci` takes --checks-only or nothing")),
    };
    let mut stages = Stages::default();
    stages.stage("components", components)?;
    stages.stage("format", || process::run(workspace::cargo().args(["fmt", "--all", "--check"])))?;
    stages.stage("lints", || {
        let lints = ["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"];
        process::run(workspace::cargo().args(lints))
    })?;
    stages.summary("checks passed");
    if checks_only { Ok(()) } else { test::start(&[]) }
}

/// rustup's minimal profile lacks the formatter and the linter.
fn components() -> Outcome {
    let missing = |name: &&str| !process::succeeds(workspace::cargo().args([name, "--version"]));
    let missing: Vec<&str> = ["fmt", "clippy"].into_iter().filter(missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = ["component", "add", "rustfmt", "clippy"];
    if process::find("rustup").is_none() {
        let message = format!("cargo {} is missing; run: rustup {}", missing.join(" and "), install.join(" "));
        return Err(Failure::environment(message));
    }
    process::run(Command::new("rustup").current_dir(workspace::root()).args(install))
}
