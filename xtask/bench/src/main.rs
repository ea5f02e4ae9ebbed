//! Tasks that measure, started by `cargo xtask bench-gate` and `cargo xtask peers`.

mod gate;
mod peers;

use std::process::ExitCode;

use xtask::Failure;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let outcome = match arguments.split_first() {
        Some((task, rest)) if task == "gate" => gate::start(rest),
        Some((task, rest)) if task == "peers" => peers::start(rest),
        _ => Err(Failure::usage("the tasks are gate and peers")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.code())
        }
    }
}
