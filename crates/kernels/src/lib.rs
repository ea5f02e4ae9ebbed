//! `charz-kernels` says *what* a worker does: the catalog of kernels, and what each of them counts.
//!
//! A [`Kernel`] is a value with a [`Card`]. It builds a [`Stage`], which is what the workers of one cell share; the stage
//! builds each [`Worker`] on that worker's own seated thread; the worker runs, and is checked. The crate knows nothing of
//! seats, clocks or reports: whoever uses it brings those.
//!
//! * [`kernel`]: the three steps, cards and parameters. Start here.
//! * [`catalog`]: the one list, and how a program adds to it.
//! * [`watch`]: what a worker looks at while it runs.
//! * [`clock`]: what stamps. [`joint`]: pairs of times as a distribution.
//! * [`work`]: operations and bytes as types.
//! * [`block`]: memory with a kind of page.
//! * [`arith`]: chains of dependent arithmetic. [`peak`]: independent streams of it. [`stream`]: passes over memory. [`level`]:
//!   passes over what a level of the caches holds. [`chase`]: loads that wait for each other. [`loaded`]: such loads while others
//!   load the memory. [`words`]: words from a cache, one's own and another's. [`pages`]: what the system takes for pages. [`alloc`]: allocators. [`sync`]: workers that meet at one line.
//!   [`timer`]: clocks and timeouts. [`noop`]: nothing at all.
//! * [`canary`]: what the clock of the core is, told by instructions of known latency.
//!
//! Unsafe code lives in `sys` and nowhere else.
#![deny(unsafe_code)]

pub mod alloc;
pub mod arith;
pub mod block;
pub mod canary;
pub mod catalog;
pub mod chase;
pub mod clock;
#[cfg(target_arch = "x86_64")]
mod cpu;
pub mod joint;
pub mod kernel;
pub mod level;
pub mod loaded;
pub mod noop;
mod pace;
pub mod pages;
pub mod peak;
mod staged;
pub mod stream;
pub mod sync;

mod sys;
pub mod timer;
pub mod watch;
pub mod words;
pub mod work;

pub use block::{Block, PagePolicy};
pub use catalog::{KERNELS, add, find, kernels};
pub use clock::{Clock, OsClock};
pub use joint::{Joint, Marginal};
pub use kernel::{
    Axes, Card, Contention, Counts, Crew, Error, Family, Growth, GrowthStep, Halt, Kernel, Knob, Layout, Params,
    Period, Region, Sizes, Stage, Stop, Worker,
};
pub use watch::Watch;
pub use work::{Bytes, Ops, Work};
