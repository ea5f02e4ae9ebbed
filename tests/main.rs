//! Integration tests: the program as its users meet it, run as a process.
#![allow(clippy::print_stdout)] // A test that cannot run here says so.
#![allow(clippy::disallowed_methods)] // A test may panic.

mod ab;
mod advise;
mod anonymous;
mod audit;
mod axes;
mod bad_input;
mod c2c;
mod clocks;
mod command;
mod compare;
mod conventions;
mod derived;
mod docs;
mod doctor;
mod environment;
mod exec;
mod extension;
mod fleet;
mod full_pipe;
mod fuzz_corpus;
mod history;
mod interrupted;
mod named;
mod numa;
mod old_reports;
mod placement;
mod predict;
mod replicate;
mod report;
mod schema;
mod support;
mod sweep;
mod topo;
mod trust;
mod units;
mod watch;
mod widths;
