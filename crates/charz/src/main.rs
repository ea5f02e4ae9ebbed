//! The program; see [`charz::program`].

use std::process::ExitCode;

fn main() -> ExitCode {
    charz::program::main()
}
