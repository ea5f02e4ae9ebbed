#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Only [`args`] knows how the command line is spelled, and only [`exit`] knows exit codes.
#![cfg_attr(test, allow(clippy::disallowed_methods))] // A test may panic.

// The program: from arguments to an exit code.
pub(crate) mod anonymous;
pub mod args;
pub mod command;
pub mod exit;
pub(crate) mod log;
pub mod program;
pub(crate) mod provenance;
pub(crate) mod signals;
pub mod view;

// The machine compared with itself, with what it was, and with others.
pub(crate) mod collection;
pub(crate) mod database;
pub(crate) mod history;
pub(crate) mod permit;
pub(crate) mod seal;
pub(crate) mod selftest;
pub(crate) mod settings;

// Tests: golden lists, and the parsers that fuzz targets drive.
#[cfg(test)]
#[path = "../../../tests/golden.rs"]
mod golden;
#[doc(hidden)]
pub mod parsers;
#[cfg(test)]
mod planned;
