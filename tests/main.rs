//! Integration tests: the program as its users meet it, run as a process.
#![allow(clippy::print_stdout)] // A test that cannot run here says so.
#![allow(clippy::disallowed_methods)] // A test may panic.

mod ab;
mod advise;
mod anonymous;
mod audit;
mod axes;
mod c2c;
mod cases;
mod command;
mod derived;
mod docs;
mod doctor;
mod examples;
mod exec;
mod extension;
mod fixtures;
mod fleet;
mod full_pipe;
mod fuzz_corpus;
mod interrupted;
mod listed;
mod numa;
mod old_reports;
mod place;
mod predict;
mod replicate;
mod report;
mod schema;
mod support;
mod sweep;
mod topo;
mod units;
mod watch;
mod widths;
