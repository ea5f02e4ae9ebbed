//! `test`: everything that shows whether the project works, fast checks first.

use std::process::Command;
use std::thread;

use xtask::packages::{self, CC, HWLOC, OBJDUMP};
use xtask::target::Target;
use xtask::{Outcome, process, workspace};

use crate::libtest::{Ran, Skipped};
use crate::stages::Stages;
use crate::user::User;
use crate::{asm, tidy};

pub fn start(arguments: &[String]) -> Outcome {
    let mut stages = Stages::default();
    stages.stage("setup", || packages::ensure(&[CC, HWLOC, OBJDUMP]).map(drop))?;
    stages.stage("tidy", tidy::check)?;
    if divide(arguments).0.is_empty() {
        stages.stage("build of the tests", build)?;
    }
    run(&mut stages, arguments, None)?;
    stages.summary("passed");
    Ok(())
}

/// The tests as `user`, and then, as root, those that this user had to skip, of programs that [`build`] has built. Nothing is built twice: both run the same
/// programs. All of them run, whatever fails first, and the failure names each test.
pub fn run(stages: &mut Stages, arguments: &[String], user: Option<&User>) -> Outcome {
    let (of_cargo, of_tests) = divide(arguments);
    let everything = of_cargo.is_empty();
    let mut all = Ran::default();
    stages.stage("tests", || {
        all = tests(of_cargo, of_tests, &user.map(User::runner).unwrap_or_default())?;
        Ok(())
    })?;
    if user.is_some() && !all.skipped.is_empty() {
        // What root skips as well is kept.
        let skipped: Vec<String> = std::mem::take(&mut all.skipped).into_iter().map(|skipped| skipped.test).collect();
        stages.stage("tests as root", || {
            let words: Vec<String> = ["--exact".to_owned()].into_iter().chain(skipped).collect();
            all.append(tests(&[], &words, "")?);
            Ok(())
        })?;
    }
    if everything {
        stages.stage("examples in docs", || all.run(workspace::cargo().args(TEST).args(TESTED).arg("--doc")))?;
        stages.stage("asm", || asm::check(Target::host()?, &workspace::built("debug").join("charz")))?;
    }
    for Skipped { test, reason } in &all.skipped {
        println!("skipped: {test}: {reason}");
    }
    all.outcome().inspect_err(|_| stages.summary("failed"))
}

/// Builds all test programs.
pub fn build() -> Outcome {
    programs()?;
    process::run(command(&KINDS.map(|(kind, _)| kind).concat(), WAITING).arg("--no-run"))
}

/// Builds the programs of the workspace with its examples, which tests run too. For one package alone cargo would build the
/// dependencies again, with fewer features.
pub fn programs() -> Outcome {
    process::run(workspace::cargo().args(["build", "--locked", "--bins", "--examples"]).args(TESTED))
}

/// How many tests of a program run at a time.
const THREADS: &str = "RUST_TEST_THREADS";

const TEST: [&str; 3] = ["test", "--locked", "--no-fail-fast"];

/// `cargo xtask loom` explores the models. Beside them, some dependencies have more features, and what uses those would be built twice.
const TESTED: [&str; 3] = ["--workspace", "--exclude", "charz-models"];

/// The test programs in three parts that run beside each other, with how many of their tests run at a time for each CPU: those of the first
/// compute, and spin for each other, as much as those of the others wait, the faults longest.
const KINDS: [(&[&str], usize); 3] =
    [(&["--lib", "--bins"], 1), (&["--test", "[!f]*"], WAITING), (&["--test", "f*"], WAITING)];

/// Most wait, for programs or for time that has to pass.
const WAITING: usize = 2;

/// Runs all test programs, or those of these arguments, with these words before each.
pub fn tests(of_cargo: &[String], of_tests: &[String], runner: &str) -> Outcome<Ran> {
    let part = |of_cargo: &[&str], each: usize| {
        let (mut ran, mut command) = (Ran::default(), command(of_cargo, each));
        if !runner.is_empty() {
            command.env(User::variable()?, runner);
        }
        ran.run(command.args(["--", "--show-output"]).args(of_tests)).map(|()| ran)
    };
    if !of_cargo.is_empty() {
        return part(&of_cargo.iter().map(String::as_str).collect::<Vec<_>>(), WAITING);
    }
    let parts = thread::scope(|scope| {
        let beside = KINDS.map(|(kind, each)| scope.spawn(move || part(kind, each)));
        beside.map(|part| part.join().expect("it does not panic"))
    });
    let mut all = Ran::default();
    for part in parts {
        all.append(part?);
    }
    Ok(all)
}

/// Test programs in one build and without optimisation: the tests take a few minutes in all, optimising their dependencies would take
/// longer, and only here overflow is checked.
fn command(of_cargo: &[&str], each: usize) -> Command {
    let mut command = workspace::cargo();
    command.args(TEST).args(of_cargo);
    if std::env::var_os(THREADS).is_none() {
        command.env(THREADS, (each * thread::available_parallelism().map_or(1, usize::from)).to_string());
    }
    // Of the chosen package alone where there is one, and of all otherwise.
    if !of_cargo.iter().any(|word| ["-p", "--package"].contains(word)) {
        command.args(TESTED);
    }
    command
}

/// What is for cargo, and behind `--` what is for the test programs.
pub fn divide(arguments: &[String]) -> (&[String], &[String]) {
    match arguments.iter().position(|word| word == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[]),
    }
}
