//! `miri`: the tests that an interpreter of Rust can run, which sees undefined behaviour and data races where they happen.

use crate::toolchain;
use xtask::{Failure, Outcome};
use xtask::{process, workspace};

/// What miri can run of each package: it knows no foreign library (hwloc), no assembly, and few system calls. Names of tests
/// start with one of these; the first word of an entry is the package.
const TESTS: &[(&str, &[&str])] = &[
    ("charz-data", &["cpulist::tests::prints", "escape::", "units::"]),
    ("charz-stats", &["tests::known_samples", "tests::nothing"]),
    ("charz-system", &["tests::a_hostile", "tests::all_of", "tests::each_line", "tests::nonsense", "tests::pages_on"]),
    (
        "charz-topology",
        &[
            "discover::kinds::",
            "discover::synthetic::tests::refuses_bad_structure",
            "discover::xml::set::",
            "mapper::round_robin::",
            "placement::",
        ],
    ),
    ("charz-kernels", &["block::", "sync::counter::", "sync::lock::", "sync::pool::"]),
    (
        "charz-measure",
        &["harness::gate::", "harness::counters::tests::steal", "harness::pages::tests::only", "plan::threads::"],
    ),
];

/// Runs them all; `arguments` after the name go to the test programs.
pub fn start(arguments: &[String]) -> Outcome {
    if !process::succeeds(toolchain::cargo()?.args(["miri", "--version"])) {
        let message = "miri is missing; run: rustup component add miri rust-src --toolchain nightly";
        return Err(Failure::environment(message));
    }
    for (package, tests) in TESTS {
        let mut command = toolchain::cargo()?;
        command.args(["miri", "test", "--lib", "--package", package, "--"]).args(*tests).args(arguments);
        // Miri's builds are for an interpreter, so other builds cannot use them. Isolation would refuse the clock and files.
        command.env("CARGO_TARGET_DIR", workspace::target().join("miri")).env("MIRIFLAGS", "-Zmiri-disable-isolation");
        process::run(&mut command)?;
    }
    Ok(())
}
