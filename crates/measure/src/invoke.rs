//! One invocation: a fresh process that measures a cell a few times, and what keeps it in bounds.
//!
//! The process that sweeps is never the one that measures: a kernel that crashes, hangs, or runs the machine out of memory
//! takes nothing with it. Three things end a measurement, none of which needs another to be scheduled: each worker looks at
//! its own deadline between blocks of its work; a supervisor thread in the measuring process raises the flag that all
//! workers share, and ends the process if that does not help; the sweeping process kills it from outside.
//!
//! A fresh process is also the unit of the statistics: where its stack, its heap and its pages lie differs from process to
//! process and can move a number further than any repetition shows (T. Mytkowicz et al., "Producing wrong data without
//! doing anything obviously wrong!", ASPLOS 2009).

mod child;
pub(crate) mod culprits;
mod neighbour;
mod process;

use std::time::{Duration, Instant};

use charz_kernels::{Kernel, Metric, Params};
use serde::{Deserialize, Serialize};

use crate::harness::clock::Stamps;
use charz_data::report::{Invocation, Unit};
use charz_data::{Program, ReportedUnit};

pub use child::serve;
pub use neighbour::{Beside, Pace, Placement};
pub use process::Processes;

/// The version of the protocol between the two processes. Both should be the same program; a measuring process refuses a
/// request of another version.
pub const PROTOCOL: u32 = 8;

/// The first argument of a measuring process.
pub const VERB: &str = "measure";

/// What a measuring process is given if it is only to say how it was built.
pub const ABOUT: &str = "--about";

/// How long after its deadline a measuring process is left to end by itself.
pub const GRACE: Duration = Duration::from_secs(4);

/// The exit code of a measuring process whose workers did not heed the end of its time, as `timeout(1)` has it.
const STUCK: i32 = 124;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureRequest {
    pub protocol: u32,
    pub kernel: String,
    /// What the kernel is asked for.
    pub params: Params,
    /// One seat a worker; `None` floats.
    pub seats: Vec<Option<u32>>,
    /// The NUMA node of each seat, as far as it is known.
    pub nodes: Vec<Option<u32>>,
    /// The NUMA nodes of each worker's memory: one element per worker, or one for all workers; none if the first touch
    /// decides.
    pub homes: Vec<Vec<u32>>,
    pub repetitions: u64,
    /// Whether each worker's lap is answered by itself, however many they are.
    #[serde(default)]
    pub separate_laps: bool,
    pub strands: u64,
    pub stamps: Stamps,
    pub binder: String,
    pub time_box_ns: u64,
    /// After so long no other repetition begins, if there are two.
    pub enough_ns: u64,
    pub deadline_ns: u64,
    /// The deadline moves by as long as a thread had to wait for a CPU, to this one at the latest.
    pub latest_ns: u64,
    /// What the kernel `command` runs.
    pub program: Option<Program>,
    /// The name of the order in which seats were taken, for such a program.
    pub mapping: String,
    /// Whether nothing follows such a program, unless it says how it is to be followed: too much of its time would be charz's.
    #[serde(default)]
    pub untraced: bool,
    /// Whether the processor's counters are to count.
    pub counters: bool,
    /// Whether it is the load beside which cells are measured.
    #[serde(default)]
    pub is_neighbour: bool,
}

impl MeasureRequest {
    /// An order for these parameters, in which what a cell decides is still to be filled in.
    pub fn new(params: &Params) -> Self {
        MeasureRequest {
            protocol: PROTOCOL,
            kernel: String::new(),
            params: *params,
            seats: Vec::new(),
            nodes: Vec::new(),
            homes: Vec::new(),
            repetitions: 1,
            separate_laps: false,
            strands: 1,
            stamps: Stamps::Os,
            binder: "hwloc".into(),
            time_box_ns: 0,
            enough_ns: u64::MAX,
            deadline_ns: 0,
            latest_ns: 0,
            program: None,
            mapping: String::new(),
            untraced: false,
            counters: false,
            is_neighbour: false,
        }
    }
}

/// What the numbers of a kernel count; of the user's program, what it reports.
pub fn unit(kernel: &dyn Kernel, program: Option<&Program>) -> Unit {
    match (&kernel.card().metric, program) {
        (Metric::Reported(_), program) => Unit::Reported(program.map_or(ReportedUnit::SECONDS, |program| program.unit)),
        (Metric::Ops(_), _) => Unit::OpsPerSecond,
        (Metric::Bytes(_), _) => Unit::BytesPerSecond,
        (Metric::Duration, _) => Unit::Nanoseconds,
        (Metric::SerialTime(_), _) => Unit::NanosecondsPerOp,
        (Metric::OpTime(_), _) => Unit::NanosecondsPerStep,
        (Metric::TimePerGib(_), _) => Unit::MillisecondsPerGib,
        (Metric::SecondTime, _) => Unit::NanosecondsSampled,
    }
}

/// When a process has taken longer than it may: what only waits for CPUs that others keep busy is slow, and not stuck.
#[derive(Clone, Copy)]
struct Deadline {
    begun: Instant,
    /// How long the process had waited for CPUs by then.
    waited: Duration,
    after: Duration,
    latest: Duration,
}

impl Deadline {
    /// From now on, and later by so much, for a process that has waited for so long.
    fn of(order: &MeasureRequest, grace: Duration, waited: Duration) -> Self {
        let [after, latest] = [order.deadline_ns, order.deadline_ns.max(order.latest_ns)].map(Duration::from_nanos);
        Deadline { begun: Instant::now(), waited, after: after + grace, latest: latest + grace }
    }

    /// The time that is left, given how long the process has waited for CPUs up to now; `None` when it is over.
    fn left(&self, waited: impl FnOnce() -> Duration) -> Option<Duration> {
        let took = self.begun.elapsed();
        let left = |deadline: Duration| deadline.checked_sub(took).filter(|left| !left.is_zero());
        let moved = || self.after.saturating_add(waited().saturating_sub(self.waited));
        left(self.after).or_else(|| left(moved().min(self.latest)))
    }
}

pub trait Invoke {
    /// Measures in a fresh process whose environment, and so whose stack, is moved by `seed`. An error is reported in the
    /// invocation's ending.
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation;

    /// Leaves the machine to other programs for this time, or until the user stops the sweep.
    fn rest(&self, time: Duration);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_moves_by_what_was_waited_and_not_for_ever() {
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let begun = Instant::now().checked_sub(minute).expect("the machine runs for longer");
        let left =
            |after, waited| Deadline { begun, waited: second, after, latest: minute * 2 }.left(|| waited + second);
        assert!(left(minute + second, Duration::ZERO) <= Some(second));
        assert_eq!(left(minute, Duration::ZERO), None);
        assert!(left(minute, second * 30).is_some_and(|left| (second * 29..=second * 30).contains(&left)));
        assert!(left(minute, minute * 9).is_some_and(|left| left <= minute));
        assert_eq!(left(second, second * 50), None);
    }
}
