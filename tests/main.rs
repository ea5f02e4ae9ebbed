//! Integration tests: the program as its users meet it, run as a process.
#![allow(clippy::print_stdout)] // A test that cannot run here says so.

mod bad_input;
mod docs;
mod interrupted;
mod placement;
mod report;
mod support;
mod sweep;
mod topo;
