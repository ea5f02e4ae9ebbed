//! The nightly toolchain, which a few tasks need and the project does not.

use std::process::Command;

use xtask::{Failure, Outcome};
use xtask::{process, workspace};

/// rustup's cargo on the nightly toolchain, started in the root of the checkout.
pub fn cargo() -> Outcome<Command> {
    if process::find("rustup").is_none() {
        let message = "rustup is missing, and with it the nightly toolchain; get it from https://rustup.rs";
        return Err(Failure::environment(message));
    }
    if !process::succeeds(&mut nightly("rustc", &["--version"])) {
        let message = "the nightly toolchain is missing; run: rustup toolchain install nightly --profile minimal";
        return Err(Failure::environment(message));
    }
    Ok(nightly("cargo", &[]))
}

fn nightly(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.current_dir(workspace::root()).args(["run", "nightly", program]).args(arguments);
    // The cargo that runs this task has set these for its own toolchain.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command
}
