//! `old-hwloc`: charz with the oldest library of hwloc that it supports, that of Debian 11, as it is built for any other.

use std::process::Command;

use xtask::target::Target;
use xtask::{Failure, Outcome, arguments, process, setup, workspace};

use crate::machines::debian::Debian;
use crate::test;

/// The version of Debian 11.
const VERSION: &str = "2.4";

const COMMANDS: [&str; 3] = ["topo", "topo --format xml", "exec --mapping compact -- true"];

pub fn start(words: &[String]) -> Outcome {
    arguments::none("old-hwloc", words)?;
    setup::quietly()?;
    let target = Target::host()?;
    let folder = workspace::target().join("old-hwloc");
    let root = Debian::new(folder, target.debian, "bullseye").unpacked(&["libhwloc15"], false)?;
    test::programs()?;
    let libraries = root.join(format!("usr/lib/{}-linux-gnu", target.arch));
    let charz = |words: &str| {
        let mut charz = Command::new(workspace::built("debug").join("charz"));
        process::read(charz.env("LD_LIBRARY_PATH", &libraries).args(words.split(' ')))
    };
    let version = charz("--version")?;
    if !version.contains(&format!("hwloc: {VERSION}.")) {
        return Err(Failure::found(format!("charz does not load hwloc {VERSION}:\n{version}")));
    }
    for words in COMMANDS {
        println!("charz {words}: {} lines", charz(words)?.lines().count());
    }
    let mut tests = workspace::cargo();
    process::run(tests.args(["test", "--locked", "--package", "charz-topology"]).env("LD_LIBRARY_PATH", &libraries))
}
