//! The project's own tasks, `cargo xtask TASK`.
//!
//! A task drives other programs (cargo, charz itself, git, valgrind, …) and links none of the project's crates, so it
//! builds on a machine that has nothing but Rust and a linker. `TASKS` is the table of contents; a task is a file.

mod asm;
mod bench;
mod browser;
mod ci;
mod docs;
mod fuzz;
mod golden;
mod libtest;
mod miri;
mod models;
mod nightly;
mod run;
mod stages;
mod test;
mod tidy;
mod user;

use std::process::ExitCode;

use xtask::{Failure, Outcome, setup};

/// A task: one line in [`TASKS`].
struct Task {
    name: &'static str,
    /// The arguments it takes, as the list shows them.
    arguments: &'static str,
    about: &'static str,
    start: fn(&[String]) -> Outcome,
}

const TASKS: &[Task] = &[
    Task { name: "setup", arguments: "", about: "install the native packages that are missing", start: setup::start },
    Task { name: "run", arguments: "-- ARGS", about: "setup, then build and run charz ARGS", start: run::start },
    Task {
        name: "test",
        arguments: "[ARGS]",
        about: "setup, then every test; ARGS go to `cargo test`",
        start: test::start,
    },
    Task {
        name: "ci",
        arguments: "[--checks-only]",
        about: "format and lint checks, then the tests and the count of instructions unless told otherwise",
        start: ci::start,
    },
    Task { name: "tidy", arguments: "", about: "check the conventions: layers, unsafe, words", start: tidy::start },
    Task {
        name: "docs",
        arguments: "[--check]",
        about: "write the generated pages, or compare them",
        start: docs::start,
    },
    Task { name: "golden", arguments: "", about: "rewrite the golden files and show what moved", start: golden::start },
    Task {
        name: "asm",
        arguments: "arith-int|arith-float",
        about: "print the kernel's loop and count its arithmetic",
        start: asm::start,
    },
    Task {
        name: "loom",
        arguments: "",
        about: "explore the models of the concurrent parts and their seeded bugs",
        start: models::start,
    },
    Task {
        name: "miri",
        arguments: "[ARGS]",
        about: "interpret the tests of pure and concurrent parts; needs nightly",
        start: miri::start,
    },
    Task {
        name: "fuzz",
        arguments: "[TARGET…] [--seconds N]",
        about: "throw made-up input at the parsers; needs nightly",
        start: fuzz::start,
    },
    Task {
        name: "bench-gate",
        arguments: "[--quick] [--base REV] [--rounds N] [--plant PERCENT] | --self-test [--rounds N]",
        about: "compare the benches of two revisions; fail on a slowdown",
        start: bench::gate,
    },
    Task {
        name: "browser",
        arguments: "[REPORT…]",
        about: "open a report's page in chromium: no word on the console, no request; pictures to look at",
        start: browser::start,
    },
    Task {
        name: "peers",
        arguments: "[--pairs N] [NAME…]",
        about: "compare with likwid-bench, memset and lscpu, side by side",
        start: bench::peers,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure::usage(format!("no task given; the tasks are:\n{}", list())));
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        print!("usage: cargo xtask TASK\n\n{}", list());
        return Ok(());
    }
    match TASKS.iter().find(|task| task.name == name) {
        Some(task) => (task.start)(rest),
        None => Err(Failure::usage(format!("there is no task {name:?}; the tasks are:\n{}", list()))),
    }
}

/// The tasks, one a line.
fn list() -> String {
    TASKS.iter().map(|task| format!("  {:<10}  {}\n              {}\n", task.name, task.about, usage(task))).collect()
}

fn usage(task: &Task) -> String {
    format!("cargo xtask {} {}", task.name, task.arguments).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_task_is_a_usage_error_that_lists_the_tasks() {
        let failure = dispatch(&["tset\n".to_owned()]).unwrap_err();
        assert_eq!(failure.code(), xtask::failure::USAGE);
        let text = failure.to_string();
        assert!(text.contains("\"tset\\n\""), "{text}");
        for task in TASKS {
            assert!(text.contains(task.about), "{} is not listed", task.name);
        }
    }

    #[test]
    fn names_are_unique() {
        for (at, task) in TASKS.iter().enumerate() {
            assert!(TASKS[..at].iter().all(|other| other.name != task.name), "{} twice", task.name);
        }
    }
}
