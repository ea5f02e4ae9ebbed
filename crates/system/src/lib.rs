#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))] // A test may panic.

pub mod cgroup;
pub mod cpuinfo;
pub mod devices;
pub mod dmi;
pub mod energy;
mod error;
pub mod file;
pub mod meminfo;
pub mod numa_maps;
mod oom;
pub mod origin;
pub mod per_cpu;
pub mod plugins;
pub mod pressure;
pub mod stat;
mod status;
pub mod sysfs;
pub mod task;
#[cfg(test)]
mod tests;
pub mod threads;
pub mod tiers;

pub use error::Error;
pub use oom::OomKills;
pub use status::{Status, runnable_cpus};
