//! One cell: workers are seated, built, released together, timed, checked.
//!
//! `stage → spawn → seat, read back → worker → (prepare → gate → now → run → now → gate → verify → gate) × repetitions → join`
//!
//! The calling thread waits at the gate too, so it can look at the machine while no worker runs: which pages the blocks got,
//! how much time the hypervisor stole. It sleeps during the timed spans.

mod blocks;
mod cell;
pub mod clock;
pub mod counters;
pub(crate) mod exchange;
pub mod fingerprint;
mod frequency;
mod gate;
pub(crate) mod pages;
pub(crate) mod seen;
mod sync;
#[cfg(test)]
mod tests;
mod wakes;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use charz_data::report::{Ending, Invocation};
use charz_kernels::{Kernel, Params, Stop};
use charz_topology::Binder;

pub use cell::{LEAST_REPETITIONS, MOST_REPETITIONS, measure};

use clock::Clock;
use counters::hardware::OpenCounters;

/// What an invocation is given besides ten times its predicted time before it is thought stuck.
pub(crate) const LEAST_DEADLINE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
pub struct Cell<'a> {
    pub kernel: &'static dyn Kernel,
    pub params: Params,
    /// One seat a worker: an OS id, or `None` for a floating worker. Not empty.
    pub seats: &'a [Option<u32>],
    /// The NUMA node of each seat, as far as it is known; empty if it is not used.
    pub nodes: &'a [Option<u32>],
    /// The NUMA nodes of each worker's memory, by OS ids: one element per worker, or one for all workers; none if the first
    /// touch decides.
    pub homes: &'a [Vec<u32>],
    pub repetitions: usize,
    /// Whether each worker keeps its own lap, however many they are; else laps are [grouped](Lap::grouped).
    pub separate_laps: bool,
}

#[derive(Clone, Copy)]
pub struct Bench<'a> {
    pub binder: &'a Binder,
    pub clock: &'a Arc<dyn Clock>,
    pub stop: &'a Stop,
    /// The longest that a repetition may take: each worker ends itself then, whether or not anybody raises the flag.
    pub time_box: Duration,
    /// After so long no other repetition begins, if there are [two](LEAST_REPETITIONS).
    pub enough: Duration,
    /// Strands that this process may use; workers beyond it are parked at the gate instead of spinning.
    pub strands: usize,
    /// Whether workers spin behind the gate until all are awake; else a run begins at a plain barrier.
    pub spins: bool,
    /// The processor's counters, where they are to count.
    pub counters: Option<&'a dyn OpenCounters>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub ending: Ending,
    pub reason: String,
}

impl Failure {
    pub(crate) fn new(ending: Ending, reason: impl Into<String>) -> Self {
        Failure { ending, reason: reason.into() }
    }

    /// The stop flag was raised before a repetition was over.
    pub(crate) fn stopped() -> Self {
        Failure::new(Ending::Stopped, "stopped before its first repetition ended")
    }
}

impl From<Failure> for Invocation {
    fn from(failure: Failure) -> Self {
        Invocation::without_runs(failure.ending, failure.reason)
    }
}

impl From<charz_kernels::Error> for Failure {
    fn from(error: charz_kernels::Error) -> Self {
        match error {
            charz_kernels::Error::Unavailable(reason) => Failure::new(Ending::Unavailable, reason),
            charz_kernels::Error::Refused(reason) => Failure::new(Ending::Refused, reason),
            charz_kernels::Error::Wrong(reason) => Failure::new(Ending::Wrong, reason),
        }
    }
}
