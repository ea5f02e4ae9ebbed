//! One cell: workers are seated, built, released together, timed, checked.
//!
//! `stage → spawn → seat, read back → worker → (prepare → gate → now → run → now → gate → verify → gate) × repetitions → join`
//!
//! The calling thread is a party of the gate, so that it can look at the machine while nobody runs: which pages the blocks
//! got, what the hypervisor stole. It sleeps during the timed spans.

mod cell;
pub mod clock;
pub mod counters;
pub mod fingerprint;
pub mod frequency;
pub mod gate;
mod nodes;
pub mod pages;
mod sync;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use charz_kernels::{Contention, Growth, JointHistogram, Stop, Work};
use charz_topology::Binder;

pub use cell::{Cell, measure};

use clock::Clock;
use counters::{MachineCounts, ThreadCounts};
use frequency::Frequency;
use pages::{Nodes, PagesObtained};

/// What the harness is handed for a whole sweep.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// Seats threads and reads their seats back.
    pub binder: &'a Binder,
    /// Stamps starts and ends.
    pub clock: &'a Arc<dyn Clock>,
    /// Raised when the measurement is to end early.
    pub stop: &'a Stop,
    /// The longest that a repetition may take: each worker ends itself then, whether or not anybody raises the flag.
    pub time_box: Duration,
    /// Strands that this process may use; workers beyond it are parked at the gate instead of spinning.
    pub strands: usize,
}

/// One worker's part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Lap {
    /// The worker's number, from 0.
    pub rank: usize,
    /// The OS id of its strand; `None` for a floating worker.
    pub seat: Option<u32>,
    /// First stamp, in nanoseconds of the bench's clock.
    pub start: u64,
    /// Last stamp.
    pub end: u64,
    /// The work done in between.
    pub work: Work,
    /// Whether the thread was bound to its seat, and on it, before and after; `None` for a floating worker, or where the
    /// system does not tell.
    pub on_seat: Option<bool>,
    /// The strand that it was on after the run.
    pub strand: Option<u32>,
    /// How often it looked where it was.
    pub checks: u64,
    /// How often it was elsewhere than on its seat then; `None` for a floating worker, or where the system does not tell.
    pub strays: Option<u64>,
    /// What the system counted for the thread between the readings around the run.
    pub counts: ThreadCounts,
    /// What it met at a line that it shares with others.
    pub contention: Option<Contention>,
    /// What it stamped itself.
    pub samples: Option<JointHistogram>,
    /// How its recursion grew.
    pub growth: Option<Growth>,
}

/// One repetition: every worker once.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// One lap a worker, in order of rank.
    pub laps: Vec<Lap>,
    /// What the system counted for the machine around the run.
    pub machine: MachineCounts,
}

/// What [`measure`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The code path that the kernel chose.
    pub variant: &'static str,
    /// The finished repetitions.
    pub runs: Vec<Run>,
    /// The pages that the blocks got, for kernels that have any.
    pub pages: Option<PagesObtained>,
    /// The NUMA nodes that the blocks of seated workers lie on.
    pub nodes: Option<Nodes>,
    /// The frequency of the workers' cores; not measured where workers share strands.
    pub frequency: Option<Frequency>,
    /// What of the machine changed meanwhile.
    pub changes: Vec<String>,
    /// Whether the stop flag ended it before the last repetition.
    pub stopped: bool,
}

/// Why a cell has no measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The kernel cannot run here, or not with these parameters.
    Unavailable(String),
    /// The system refused memory, a thread or a seat.
    Refused(String),
    /// A wrong answer.
    Wrong(String),
    /// A worker panicked.
    Panicked(String),
    /// The stop flag was raised before anything was measured.
    Stopped,
    /// A repetition did not end in its time box.
    Overdue(String),
}

impl From<charz_kernels::Error> for Failure {
    fn from(error: charz_kernels::Error) -> Self {
        match error {
            charz_kernels::Error::Unavailable(reason) => Failure::Unavailable(reason),
            charz_kernels::Error::Refused(reason) => Failure::Refused(reason),
            charz_kernels::Error::Wrong(reason) => Failure::Wrong(reason),
        }
    }
}
