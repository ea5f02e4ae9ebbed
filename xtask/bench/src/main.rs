//! Tasks that measure, started by `cargo xtask bench-gate` and `cargo xtask peers`.

mod gate;
mod peers;

use std::process::ExitCode;

use xtask::{Failure, failure, process};

fn main() -> ExitCode {
    failure::exit(match process::arguments().split_first() {
        Some((task, rest)) if task == "gate" => gate::start(rest),
        Some((task, rest)) if task == "peers" => peers::start(rest),
        _ => Err(Failure::usage("the tasks are gate and peers")),
    })
}
