//! `run`: builds charz and becomes it.

use std::os::unix::process::CommandExt;
use std::process::Command;

use xtask::{Failure, Outcome};
use xtask::{process, setup, workspace};

/// Builds what is timed as a release has it, and the rest sooner. Replaces this process by `cargo run`, which in turn replaces itself by
/// charz: standard streams, signals and the exit code are charz's own, without a process that passes them on. The working folder stays that of
/// the caller.
pub fn start(arguments: &[String]) -> Outcome {
    setup::quietly()?;
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    let mut command = Command::new(workspace::cargo_program());
    command.args(["run", "--profile", "first", "--package", "charz", "--manifest-path"]);
    command.arg(workspace::root().join("Cargo.toml")).arg("--").args(arguments);
    workspace::link_what_is_loaded(&mut command);
    let error = command.exec();
    Err(Failure::environment(format!("cannot start `{}`: {error}", process::line(&command))))
}
