//! Kernels whose workers meet at one line of memory, on purpose.
//!
//! What one worker does makes the others slower, so that a run can take many times what its work takes alone, and workers
//! that outnumber strands keep whoever is to stop them from running. Such a kernel says so on its card
//! ([`Card::contends`](crate::Card::contends)); its worker ends by its own deadline, which it looks at as often as the
//! module `pace` says; and what it counts is counted by each worker for itself, and added up when all have ended.

pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod c2c;
pub(crate) mod cas;
pub(crate) mod counter;
pub(crate) mod create;
pub(crate) mod handoff;
mod lock;
mod mutexes;
pub(crate) mod pool;
mod primitives;
pub(crate) mod ring;
mod schedule;
mod section;
pub(crate) mod spin;
pub(crate) mod uncontended;
mod wait_stats;

pub use section::section;
