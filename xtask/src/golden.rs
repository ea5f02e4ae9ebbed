//! `golden`: rewrites the expected outputs that the tests compare with, and shows what moved.

use std::process::Command;

use xtask::Outcome;
use xtask::{arguments, process, setup, workspace};

/// The tests rewrite their files when this variable is set.
const UPDATE: &str = "CHARZ_GOLDEN";

/// Runs the tests in rewriting mode, then prints the difference to the index of git.
pub fn start(words: &[String]) -> Outcome {
    arguments::none("golden", words)?;
    setup::quietly()?;
    let lib = ["--lib", "--package", "charz-judge", "--package", "charz-measure"];
    for (target, tests) in [
        (&["--test", "charz"][..], &["cases::", "topo::", "examples::pictures"][..]),
        (&lib, &["planned::", "the_same_verdicts"]),
    ] {
        let mut command = workspace::cargo();
        command.env(UPDATE, "update").args(["test", "--package", "charz"]).args(target).arg("--").args(tests);
        process::run(&mut command)?;
    }
    let mut net = workspace::cargo();
    process::run(net.env("INSTA_UPDATE", "always").args(["test", "--package", "charz", "--test", "net"]))?;
    let moved = ["--no-pager", "diff", "--stat", "--", "tests/golden", "tests/cases", "tests/net", "docs/pictures"];
    process::run(Command::new("git").current_dir(workspace::root()).args(moved))?;
    let new = [
        "status",
        "--short",
        "--untracked-files=all",
        "--",
        "tests/golden",
        "tests/cases",
        "tests/net",
        "docs/pictures",
    ];
    process::run(Command::new("git").current_dir(workspace::root()).args(new))
}
