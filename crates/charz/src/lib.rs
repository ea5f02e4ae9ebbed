#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! What a module does not know is the point: [`harness`] knows no mapping or file; [`sweep`] prints nothing; only [`args`] knows how
//! the command line is spelled, and only [`exit`] knows exit codes.

// The program: from arguments to an exit code.
pub mod args;
pub mod command;
pub mod exit;
pub mod program;
pub(crate) mod signals;
pub mod view;

// Planning: cells, how long they take, what the system allows.
pub mod limits;
pub mod plan;
pub mod predict;

// Measuring: rounds of invocations, each in a fresh process, and in it one cell with its seats, gate and laps.
pub mod harness;
pub(crate) mod invoke;
pub mod sweep;
pub(crate) mod user_program;

// Judging: which repetitions count and what is wrong with a number; the machine before a sweep, and compared with itself.
pub(crate) mod doctor;
pub mod judge;
pub(crate) mod noise;
pub(crate) mod selftest;

// Files: results survive any abnormal end of the program.
pub(crate) mod atomic_file;
pub(crate) mod history;
pub(crate) mod journal;
pub(crate) mod lock;

// Tests: golden lists, and the parsers that fuzz targets drive.
#[cfg(test)]
mod golden;
#[doc(hidden)]
pub mod parsers;
#[cfg(test)]
mod planned;
