//! Tasks with dependencies, started by `cargo xtask attack`, `bench-gate`, `calibrate` and `net`.
#![allow(clippy::disallowed_methods)] // A task may panic where a thread is refused.

mod attack;
mod calibrate;
mod gate;
mod hog;
mod net;
mod tree;

use std::process::ExitCode;

use xtask::{Failure, failure, process};

fn main() -> ExitCode {
    failure::exit(match process::arguments().split_first() {
        Some((task, rest)) if task == "attack" => attack::start(rest),
        Some((task, rest)) if task == "gate" => gate::start(rest),
        Some((task, rest)) if task == "calibrate" => calibrate::start(rest),
        Some((task, rest)) if task == "hog" => hog::start(rest),
        Some((task, rest)) if task == "net" => net::start(rest),
        _ => Err(Failure::usage("the tasks are attack, calibrate, gate, hog and net")),
    })
}
