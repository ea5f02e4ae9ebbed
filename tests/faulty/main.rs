//! charz with kernels that misbehave, each in one way: what a kernel, and the machine below it, can do to a measurement.
//!
//! The process that measures is started from `/proc/self/exe`, so it has them too.

mod kernels;

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::var_os("FAULTY_NO_THP").is_some() {
        // Processes that this one starts must not inherit it.
        rustix::thread::disable_transparent_huge_pages(true).expect("the system lets a process do without");
    }
    charz_kernels::add(kernels::KERNELS).expect("the names are free");
    charz::program::main()
}
