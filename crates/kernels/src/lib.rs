#![doc = include_str!("../README.md")]
//! # Modules
//!
//! * [`kernel`]: the three steps of a kernel's life. Start here.
//! * [`catalog`]: all kernels, and how a program adds its own.
//! * [`watch`]: what a worker looks at while it runs.
//! * [`block`]: memory with a kind of page. [`clock`]: what stamps. `cpu`: CPUID, on x86.
//! * [`arith`], [`peak`]: arithmetic. [`stream`], [`level`], [`chase`], [`loaded`], [`cache_words`]: caches and memory. [`pages`], [`alloc`]: the
//!   memory of the operating system. [`sync`]: workers that contend or wait for each other. [`timer`]: clocks and timeouts.
//!   [`noop`]: the floor. Whole programs are in `charz-workloads`.
//! * [`canary`]: the clock of the core, from instructions of known latency.
//!
//! Unsafe code lives in `sys` and nowhere else.
#![deny(unsafe_code)]
// Names say what they can; comments give reasons.
#![allow(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods))] // A test may panic.

pub mod alloc;
pub mod arith;
pub mod block;
pub mod cache_words;
pub mod canary;
pub mod catalog;
pub mod chase;
pub mod clock;
mod copying;
#[cfg(target_arch = "x86_64")]
pub mod cpu;
pub mod kernel;
#[cfg(any(test, feature = "laws"))]
#[doc(hidden)]
pub mod laws;
mod leaving;
pub mod level;
pub mod loaded;
#[doc(hidden)]
pub mod meeting;
mod migrate;
pub mod noop;
#[doc(hidden)]
pub mod pace;
pub mod pages;
mod pairs;
pub mod peak;
#[doc(hidden)]
pub mod plain;
mod sample;
pub mod stream;
pub mod sync;
#[doc(hidden)]
pub mod sys;
#[cfg(any(test, feature = "laws"))]
#[doc(hidden)]
pub mod tests;
pub mod timer;
mod turns;
pub mod watch;

pub use block::{Block, Region};
pub use catalog::{add, families, find, kernels};
pub use charz_data::{
    Bytes, Card, Class, Contention, Family, Growth, GrowthStep, Halt, Histogram, JointHistogram, Layout, Metric, Ops,
    PageKind, Param, Params, Period, Role, Work, WorkerCount, params,
};
pub use clock::{Clock, OsClock};
pub use kernel::{Axes, Error, Kernel, Sizes, Stage, Worker};
pub use sync::create::first::serve;
pub use watch::{Stop, Watch};

/// A hash of the crate's sources: numbers of two builds are those of the same kernels if it is the same.
pub const SOURCE_HASH: &str = env!("CHARZ_KERNELS_HASH");

/// The optimisation level that the crate was compiled with.
pub const OPT_LEVEL: &str = env!("CHARZ_KERNELS_OPT_LEVEL");
