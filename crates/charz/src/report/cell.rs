//! One cell of a report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kernel, under one mapping, with one number of workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The kernel's name.
    pub kernel: String,
    /// The mapping, as on the command line.
    pub mapping: String,
    /// How many workers.
    pub workers: u64,
    /// OS id of each worker's seat; null for a floating worker.
    pub seats: Vec<Option<u32>>,
    /// What the throughput counts.
    pub unit: Unit,
    /// The code path that the kernel chose at run time.
    pub variant: Option<String>,
    /// Memory that the workers' blocks take in all.
    pub footprint_bytes: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Every finished repetition.
    pub runs: Vec<Run>,
    /// The evidence, summed up; null without runs.
    pub passport: Option<Passport>,
    /// The numbers; null without runs.
    pub summary: Option<Summary>,
}

/// What a throughput counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations per second.
    OpsPerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds: the kernel does no work, its time alone is of interest.
    Nanoseconds,
}

/// How a cell ended, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The kind of ending.
    pub status: Status,
    /// Why, in words, unless it is `ok` or `pending`.
    pub reason: Option<String>,
}

/// The kinds of endings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Measured and verified.
    Ok,
    /// Not run yet.
    Pending,
    /// Not run by decision, e.g. because its memory would not fit.
    Skipped,
    /// The kernel cannot run on this machine.
    Unavailable,
    /// The system refused something: memory, a thread, a seat.
    Failed,
    /// The kernel computed a wrong answer.
    Wrong,
    /// Interrupted in the middle; the runs that were finished are kept.
    Aborted,
}

/// One repetition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// From the first start to the last end over all laps.
    pub interval_ns: u64,
    /// From the first start to the last start.
    pub start_skew_ns: u64,
    /// Nanoseconds stolen by the hypervisor during the run, over all strands of the machine; counted in ticks of 10 ms.
    pub steal_ns: Option<u64>,
    /// Periods in which the control group's quota stopped the process.
    pub throttled_periods: Option<u64>,
    /// One lap a worker.
    pub laps: Vec<Lap>,
}

/// One worker's part of a repetition. Stamps count from an arbitrary origin that all laps of a cell share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lap {
    /// The worker's number.
    pub rank: u64,
    /// OS id of its seat; null for a floating worker.
    pub seat: Option<u32>,
    /// OS id of the strand that it was on after the run.
    pub strand: Option<u32>,
    /// First stamp.
    pub start_ns: u64,
    /// Last stamp.
    pub end_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whether it was bound to its seat, and on it, before and after; null for a floating worker or where unknown.
    pub on_seat: Option<bool>,
    /// What the system counted for the thread around the run.
    pub counts: Counts,
}

/// What the system counted for a thread; null where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Context switches that the thread did not ask for.
    pub involuntary_switches: Option<u64>,
    /// Moves from strand to strand.
    pub migrations: Option<u64>,
    /// Nanoseconds spent ready to run, waiting for a strand.
    pub run_delay_ns: Option<u64>,
}

/// The evidence of a cell, over all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passport {
    /// Whether every worker was on its seat, before and after every run; null for floating workers or where unknown.
    pub binding_honoured: Option<bool>,
    /// The pages that the blocks got; null for kernels without blocks or where unknown.
    pub pages: Option<Pages>,
    /// Nanoseconds stolen by the hypervisor.
    pub steal_ns: Option<u64>,
    /// Periods in which the quota stopped the process.
    pub throttled_periods: Option<u64>,
    /// Sums over all laps.
    pub counts: Counts,
    /// Everything that speaks against the numbers. Empty is good.
    pub marks: Vec<Mark>,
}

/// A reason to distrust a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// The check's code, e.g. `V01`; see the methodology.
    pub code: String,
    /// What was found, in words.
    pub reason: String,
}

/// Resident bytes by kind of page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pages {
    /// The size of a base page.
    pub base_page_bytes: u64,
    /// On pages of the base size.
    pub base_bytes: u64,
    /// On transparent huge pages.
    pub transparent_bytes: u64,
    /// On reserved huge pages of 2 MiB.
    pub huge_2m_bytes: u64,
    /// On reserved huge pages of 1 GiB.
    pub huge_1g_bytes: u64,
}

/// The numbers of a cell in its [`Unit`]. "Best" is the largest rate, or the shortest time where the unit is nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The best repetition, as the source document reports it.
    pub best: f64,
    /// The repetition in the middle.
    pub median: f64,
    /// The worst repetition.
    pub worst: f64,
    /// (max − min) / median over the repetitions, as a fraction.
    pub spread: Option<f64>,
    /// Largest start skew of any run.
    pub start_skew_ns: u64,
}
