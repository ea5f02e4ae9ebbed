//! `ci`: what a change has to pass.

use std::fs::{self, File};
use std::process::Command;
use std::thread;

use xtask::packages::{self, CC, HWLOC, OBJDUMP, VALGRIND};
use xtask::{Failure, Outcome, arguments, process, workspace};

use crate::stages::Stages;
use crate::user::User;
use crate::{emulated, machines, test, tidy};

/// What each change boots: one machine of each architecture.
const MACHINES: [&str; 2] = ["restricted", "clusters"];

/// How long the attack may take, in seconds.
const ATTACKED: &str = "60";

/// Conventions, format and lints; the program for the other architecture, and its loops in an emulator; then the tests, as an ordinary user
/// also where this is root, and beside them the build and the counts of the benches; then what the benches say; then a minute of the attack,
/// and two machines. A commit that passes is the base of what comes after it.
pub fn start(words: &[String]) -> Outcome {
    let checks_only = arguments::flag("ci", "--checks-only", words)?;
    let mut stages = Stages::default();
    stages.stage("setup", || {
        // All that later stages need: what cannot be installed is said at once.
        let needs: &[packages::Need] = if checks_only { &[CC, HWLOC] } else { &[CC, HWLOC, OBJDUMP, VALGRIND] };
        packages::ensure(needs).and_then(|_| components())
    })?;
    stages.stage("format", || process::run(workspace::cargo().args(["fmt", "--all", "--check"])))?;
    stages.stage("tidy", tidy::check)?;
    thread::scope(|scope| {
        // What the last stages need is fetched beside the lints, which compute. Where it is not to be had, those stages say so.
        scope.spawn(|| {
            let machines = if checks_only { Ok(()) } else { machines::prepare() };
            let _ = emulated::prepare().and(machines);
        });
        stages.stage("lints", || {
            let lints = ["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"];
            process::run(workspace::cargo().args(lints))
        })
    })?;
    stages.where_possible("other architecture", emulated::quickly)?;
    if !checks_only {
        let user = User::new()?;
        stages.stage("build of the tests", test::build)?;
        // Beside the tests, which wait a lot: what is counted does not depend on what else runs. It is the program that was built with
        // them: for its package alone cargo would build the dependencies again, with fewer features.
        let counts = thread::spawn(|| aside(gate().arg("--count")));
        let tests = test::run(&mut stages, &[], user.as_ref());
        let (said, counted) = counts.join().expect("it does not panic")?;
        tests?;
        stages
            .stage("benches", || counted.and_then(|()| process::run(&mut gate())).inspect_err(|_| print!("{said}")))?;
        // Of the programs of the tests, and as root where this is: it needs several users.
        stages.stage("attack", || {
            let [bench, charz] = ["xtask-bench", "charz"].map(|program| workspace::built("debug").join(program));
            process::run(Command::new(bench).args(["attack", "--seconds", ATTACKED, "--charz"]).arg(charz))
        })?;
        // The programs are those that the stages before built.
        stages.where_possible("machines", || machines::start(&MACHINES.map(str::to_owned)))?;
        process::run(gate().arg("--passed"))?;
    }
    stages.summary("passed");
    Ok(())
}

/// The task of that name, as it was built with the tests.
fn gate() -> Command {
    let mut gate = Command::new(workspace::built("debug").join("xtask-bench"));
    gate.arg("gate");
    gate
}

/// Runs a program to its end, and gives what it said.
fn aside(command: &mut Command) -> Outcome<(String, Outcome)> {
    let path = workspace::built("tmp").join("aside.txt");
    let failed = |error| Failure::io(format!("write {path:?}"), &error);
    let file = File::create(&path).map_err(failed)?;
    let ended = process::run(command.stderr(file.try_clone().map_err(failed)?).stdout(file));
    Ok((fs::read_to_string(&path).map_err(failed)?, ended))
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
