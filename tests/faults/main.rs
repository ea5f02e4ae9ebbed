//! Faults, staged for real: what kernels, the system, its users and its neighbours do to a sweep, and what is left of it.
//!
//! What is asserted holds on a busy machine as well. What needs rights or parts of the system that are not here is skipped, and says so.
#![allow(clippy::print_stdout)] // A test that cannot run here says so.

#[path = "../derived.rs"]
mod derived;
mod disks;
mod group;
mod journals;
mod kernels;
mod limits;
mod marks;
mod signals;
mod stuck;
mod trial;
mod without;
