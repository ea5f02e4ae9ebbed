#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::disallowed_methods))] // A test may panic.

// Planning: cells, how long they take, what the system allows.
pub mod limits;
pub mod plan;
pub mod predict;

// Measuring: rounds of invocations, each in a fresh process, and in it one cell with its seats, gate and laps.
pub mod harness;
pub mod invoke;
pub mod sweep;
pub mod user_program;

// The machine before a sweep.
pub mod doctor;

// Disks, as the nodes reach them.
pub mod disk;

// Files: results survive any abnormal end of the program.
pub mod atomic_file;
pub mod journal;
pub mod lock;
pub mod moment;

// Tests: made-up sweeps, golden lists, and the parsers that fuzz targets drive.
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
#[cfg(test)]
#[path = "../../../tests/golden.rs"]
mod golden;
#[doc(hidden)]
pub mod parsers;
