//! `test`: everything that shows whether the project works, fast checks first.

use xtask::packages::{self, CC, HWLOC, OBJDUMP};
use xtask::{Outcome, process, workspace};

use crate::libtest::{self, Skipped};
use crate::stages::Stages;
use crate::user::User;
use crate::{asm, tidy};

pub fn start(arguments: &[String]) -> Outcome {
    let mut stages = Stages::default();
    stages.stage("setup", || packages::ensure(&[CC, HWLOC, OBJDUMP]).map(drop))?;
    stages.stage("tidy", tidy::check)?;
    run(&mut stages, arguments, None)?;
    stages.summary("passed");
    Ok(())
}

/// The tests as `user`, and then, as root, those that this user had to skip. Nothing is built twice: both run the same
/// programs.
pub fn run(stages: &mut Stages, arguments: &[String], user: Option<&User>) -> Outcome {
    // Of the chosen package alone where there is one, and of all otherwise.
    let chosen = arguments.iter().any(|word| ["-p", "--package"].contains(&word.as_str()));
    let scope: &[&str] = if chosen { &[] } else { &["--workspace"] };
    let (of_cargo, of_tests) = divide(arguments);
    let everything = of_cargo.is_empty();
    let mut skipped = Vec::new();
    // In one build and without optimisation: the tests take a few minutes in all, optimising their dependencies would take
    // longer, and only here overflow is checked. Benches run each of their cases once, which shows that they still work.
    stages.stage("tests", || {
        let targets: &[&str] = if everything { &["--lib", "--bins", "--tests", "--benches"] } else { &[] };
        if everything {
            // Tests run the examples; where targets are named, cargo builds none of them.
            process::run(workspace::cargo().args(["build", "--locked", "--examples"]).args(scope))?;
        }
        let mut command = workspace::cargo();
        command.args(["test", "--locked"]).args(scope).args(targets).args(of_cargo);
        if let Some(user) = user {
            command.env(User::variable()?, user.runner());
        }
        skipped = libtest::run(command.args(["--", "--show-output"]).args(of_tests))?;
        Ok(())
    })?;
    if user.is_some() && !skipped.is_empty() {
        stages.stage("tests as root", || as_root(&mut skipped))?;
    }
    if everything {
        stages.stage("examples in docs", || {
            process::run(workspace::cargo().args(["test", "--locked", "--doc"]).args(scope))
        })?;
        stages.stage("asm", || asm::check(&workspace::target().join("debug/charz")))?;
    }
    for Skipped { test, reason } in &skipped {
        println!("skipped: {test}: {reason}");
    }
    Ok(())
}

/// Runs the tests that an ordinary user had to skip, and keeps those that root skips as well.
fn as_root(skipped: &mut Vec<Skipped>) -> Outcome {
    let mut names: Vec<&str> = skipped.iter().map(|skipped| skipped.test.as_str()).collect();
    names.dedup();
    let mut command = workspace::cargo();
    command.args(["test", "--locked", "--workspace", "--lib", "--bins", "--tests", "--", "--show-output", "--exact"]);
    let still = libtest::run(command.args(names))?;
    *skipped = still;
    Ok(())
}

/// What is for cargo, and behind `--` what is for the test programs.
fn divide(arguments: &[String]) -> (&[String], &[String]) {
    match arguments.iter().position(|word| word == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[]),
    }
}
