//! Tasks that measure, started by `cargo xtask bench-gate`, `cargo xtask calibrate` and `cargo xtask peers`.

mod calibrate;
mod gate;
mod hog;
mod peers;

use std::process::ExitCode;

use xtask::{Failure, failure, process};

fn main() -> ExitCode {
    failure::exit(match process::arguments().split_first() {
        Some((task, rest)) if task == "gate" => gate::start(rest),
        Some((task, rest)) if task == "calibrate" => calibrate::start(rest),
        Some((task, rest)) if task == "hog" => hog::start(rest),
        Some((task, rest)) if task == "peers" => peers::start(rest),
        _ => Err(Failure::usage("the tasks are calibrate, gate, hog and peers")),
    })
}
