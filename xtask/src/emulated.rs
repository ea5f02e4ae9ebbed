//! `emulated`: the laws of the kernels, and what else knows the hardware, built for the architecture that this machine does not have.
//!
//! QEMU's emulator of single programs runs them. It has no `ptrace`, so the launcher is left to the machines that
//! `cargo xtask machines` boots, and its times mean nothing, as there.

use xtask::target::Target;
use xtask::{Outcome, process};

const PACKAGES: [&str; 4] = ["charz-data", "charz-stats", "charz-topology", "charz-kernels"];

/// Runs the unit tests; `words` go to the test programs.
pub fn start(words: &[String]) -> Outcome {
    let target = Target::other()?;
    target.prepare()?;
    let mut cargo = target.cargo(&["test", "--lib", "--no-fail-fast"])?;
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    process::run(cargo.arg("--").args(words))
}
