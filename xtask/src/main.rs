//! The project's own tasks, `cargo xtask TASK`.
//!
//! A task drives other programs (cargo, charz itself, git, valgrind, …) and links none of the project's crates, so it
//! builds on a machine that has nothing but Rust and a linker. `TASKS` is the table of contents; a task is a file.
#![allow(clippy::disallowed_methods)] // A task may panic where a thread is refused.

mod asm;
mod bench;
mod browser;
mod ci;
mod conditions;
mod dist;
mod docs;
mod emulated;
mod fuzz;
mod golden;
mod libtest;
mod machines;
mod miri;
mod models;
mod nightly;
mod oldest;
mod package;
mod readers;
mod real;
mod run;
mod same;
mod slurm;
mod stages;
mod test;
mod tidy;
mod toolchain;
mod user;

use std::process::ExitCode;

use xtask::{Failure, Outcome, failure, process, setup};

/// A task, one line in [`TASKS`]: its name, the arguments it takes as the list shows them, what it does, and what does it.
struct Task(&'static str, &'static str, &'static str, fn(&[String]) -> Outcome);

const TASKS: &[Task] = &[
    Task("setup", "", "install the native packages that are missing", setup::start),
    Task("run", "-- ARGS", "setup, then build and run charz ARGS", run::start),
    Task("test", "[ARGS]", "setup, then every test; ARGS go to `cargo test`", test::start),
    Task(
        "conditions",
        "[NAME…] [--rounds N] [-- ARGS]",
        "the tests as an ordinary user, under load, on one CPU, …: a table of what failed; ARGS go to `cargo test`",
        conditions::start,
    ),
    Task(
        "ci",
        "[--checks-only]",
        "format and lint checks, then the tests, the benches and the attack unless --checks-only",
        ci::start,
    ),
    Task("tidy", "", "check the conventions: layers, unsafe, words", tidy::start),
    Task("docs", "[--check]", "write the generated pages, or compare them", docs::start),
    Task(
        "dist",
        "[--target TRIPLE] [--try] [--charz PATH]",
        "make an archive, a Debian package, an RPM and a wheel of charz that need nothing installed, and try them",
        dist::start,
    ),
    Task(
        "package",
        "",
        "make the crates' packages, install charz from them outside the checkout, and run it",
        package::start,
    ),
    Task("readers", "", "open each export with the program that it is for; needs Python and a network", readers::start),
    Task("machines", "[--list] [NAME…]", "boot machines in an emulator, and check charz on them", machines::start),
    Task("old-hwloc", "", "run charz with the oldest hwloc that it supports", oldest::start),
    Task(
        "slurm",
        "",
        "run the guide for many nodes on a Slurm of four nodes, on this machine; needs root",
        slurm::start,
    ),
    Task(
        "same-code",
        "",
        "compare the machine code of what is timed between the first build and a release",
        same::start,
    ),
    Task("golden", "", "rewrite the golden files and show what moved", golden::start),
    Task(
        "asm",
        "arith-int|arith-float [--target TRIPLE]",
        "print the kernel's loop and count its arithmetic",
        asm::start,
    ),
    Task(
        "emulated",
        "[--quick|ARGS]",
        "run the kernels' tests for the other architecture in an emulator",
        emulated::start,
    ),
    Task("loom", "", "explore the models of the concurrent parts and their seeded bugs", models::start),
    Task("miri", "[ARGS]", "interpret the tests of pure and concurrent parts; needs nightly", miri::start),
    Task("fuzz", "[TARGET…] [--seconds N]", "throw made-up input at the parsers; needs nightly", fuzz::start),
    Task(
        "attack",
        "[directed|neighbour|limits …] [--planted] [--seconds N] [--cases N] [--seed N] [--case N] [--charz PATH]",
        "throw changed files, command lines, limits, neighbours and signals at charz itself",
        |words| bench::start("attack", words),
    ),
    Task(
        "bench-gate",
        "[--base REV] [--all] [--night] | --count | --planted | --passed",
        "compare the benches of two revisions, and fail on a slowdown; see whether it would; remember a commit as base",
        |words| bench::start("gate", words),
    ),
    Task(
        "net",
        "--planted",
        "see whether what is recorded of reports shows each of some changed rules and words",
        |words| bench::start("net", words),
    ),
    Task(
        "calibrate",
        "[--charz PATH] [--part PART,…] [--condition NAME,…] [--sweeps N] [--seconds S] [--truth CELL=VALUE[cycles],…] [--json FILE]",
        "compare what charz reports with what the machine can do, beside programs that disturb it",
        |words| bench::start("calibrate", words),
    ),
    Task(
        "browser",
        "[REPORT…]",
        "open a report's page in chromium: no word on the console, no request; pictures to look at",
        browser::start,
    ),
    Task(
        "real",
        "[--charz PATH]",
        "charz on the machines of CHARZ_REAL, which others described and measured: a table of right and wrong",
        real::start,
    ),
    Task("nightly", "[--list] [PART…]", "run what takes too long for each change, whatever fails", nightly::start),
];

fn main() -> ExitCode {
    failure::exit(dispatch(&process::arguments()))
}

fn dispatch(arguments: &[String]) -> Outcome {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure::usage(format!("no task given; the tasks are:\n{}", list())));
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        print!("usage: cargo xtask TASK\n\n{}", list());
        return Ok(());
    }
    match TASKS.iter().find(|Task(task, ..)| task == name) {
        Some(Task(.., start)) => start(rest),
        None => Err(Failure::usage(format!("there is no task {name:?}; the tasks are:\n{}", list()))),
    }
}

fn list() -> String {
    let line = |Task(name, arguments, about, _): &Task| {
        let usage = format!("cargo xtask {name} {arguments}");
        format!("  {name:<10}  {about}\n              {}\n", usage.trim_end())
    };
    TASKS.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_task_is_a_usage_error_that_lists_the_tasks() {
        let failure = dispatch(&["tset\n".to_owned()]).unwrap_err();
        assert_eq!(failure.code, 2);
        let text = failure.to_string();
        assert!(text.contains("\"tset\\n\""), "{text}");
        for Task(name, _, about, _) in TASKS {
            assert!(text.contains(about), "{name} is not listed");
        }
    }

    #[test]
    fn names_are_unique() {
        for (at, Task(name, ..)) in TASKS.iter().enumerate() {
            assert!(TASKS[..at].iter().all(|Task(other, ..)| other != name), "{name} twice");
        }
    }
}
