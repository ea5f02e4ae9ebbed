#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))] // A test may panic.

mod cmt;
mod compress;
mod fft;
mod folder;
mod lead;
pub mod limit;
mod matmul;
mod npb;
mod runtime;
mod seats;
mod sys;
mod team;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use charz_kernels::{Family, Kernel, catalog};

/// The kernels of this crate, in the order in which they are listed and swept.
pub static KERNELS: LazyLock<Vec<&'static dyn Kernel>> = LazyLock::new(|| {
    [
        npb::KERNELS,
        matmul::KERNELS,
        fft::KERNELS,
        compress::KERNELS,
        cmt::KERNELS,
        cmt::quota::KERNELS,
        npb::process::KERNELS,
    ]
    .concat()
});

/// Adds the workloads to the catalog, once however often it is called.
///
/// # Panics
/// If another kernel has one of their names, or the catalog was read before.
pub fn join() {
    static JOINED: LazyLock<()> = LazyLock::new(|| {
        catalog::add(&KERNELS).unwrap_or_else(|error| panic!("workloads: {error}"));
    });
    LazyLock::force(&JOINED);
}

/// Every kernel: those of `charz-kernels`, what the program added, and the workloads.
pub fn kernels() -> impl Iterator<Item = &'static dyn Kernel> {
    join();
    catalog::kernels()
}

/// As [`catalog::families`], with the workloads.
pub fn families() -> impl Iterator<Item = Family> {
    join();
    catalog::families()
}

/// As [`catalog::find`], with the workloads.
pub fn find(name: &str) -> Option<&'static dyn Kernel> {
    join();
    catalog::find(name)
}

/// A hash of the sources of all kernels: numbers of two builds are those of the same kernels if it is the same.
pub fn source_hash() -> String {
    let [base, own] = [charz_kernels::SOURCE_HASH, env!("CHARZ_WORKLOADS_HASH")]
        .map(|hash| u64::from_str_radix(hash, 16).expect("the build script writes 16 digits"));
    format!("{:016x}", base.rotate_left(1) ^ own)
}
