//! `emulated`: the laws of the kernels, and what else knows the hardware, built for the architecture that this machine does not have.
//!
//! QEMU's emulator of single programs runs them. It has no `ptrace`, so the launcher is left to the machines that
//! `cargo xtask machines` boots, and its times mean nothing, as there.

use xtask::target::Target;
use xtask::{Outcome, process};

use crate::asm;

const PACKAGES: [&str; 6] =
    ["charz-data", "charz-stats", "charz-system", "charz-topology", "charz-kernels", "charz-workloads"];

/// Under the emulator a parent does not learn that its child's `exec` failed. A child hangs in it one in ten times where 16 threads fork at
/// once, and mostly where it makes threads. (The laws have rings of three processes.)
const NOT_THERE: [&str; 6] = [
    "--skip",
    "a_program_that_does_not_exist_cannot_be_started",
    "--skip",
    "the_token_goes_round_among_processes",
    "--skip",
    "workers_share_processes_as_asked",
];

/// Lints and runs the unit tests; `words` go to the test programs. With `--quick` what each change passes.
pub fn start(words: &[String]) -> Outcome {
    if words == ["--quick"] {
        return quickly();
    }
    let target = Target::other()?;
    target.prepare()?;
    let lints = ["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    process::run(&mut target.cargo(&lints)?)?;
    let mut cargo = target.cargo(&["test", "--lib", "--no-fail-fast"])?;
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    process::run(cargo.arg("--").args(NOT_THERE).args(words))
}

/// Installs and builds what these need beside the checkout.
pub fn prepare() -> Outcome {
    Target::other()?.prepare()
}

/// What each change passes: the program is built and linked, its loops are counted, and it finds its machine.
pub fn quickly() -> Outcome {
    let target = Target::other()?;
    target.prepare()?;
    process::run(&mut target.cargo(&["build", "--package", "charz"])?)?;
    let charz = target.folder("debug").join("charz");
    asm::check(target, &charz)?;
    process::run(target.run(&charz).arg("topo"))
}
