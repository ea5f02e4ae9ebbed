//! Faults, staged for real: what kernels, the system, its users and its neighbours do to a sweep, and what is left of it.
//!
//! A binary of its own, one test after the other: two sweeps at once would measure each other. What needs rights or parts
//! of the system that are not here says so and is skipped.
#![allow(clippy::print_stdout)] // A test that cannot run here says so.

mod group;
mod journals;
mod kernels;
mod limits;
mod marks;
mod signals;
mod stuck;
mod trial;
mod without;
