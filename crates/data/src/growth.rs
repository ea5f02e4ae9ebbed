//! What a program that makes threads for its activities took, size by size.

use serde::{Deserialize, Serialize};

/// The sizes of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// Finished sizes, ascending.
    pub steps: Vec<GrowthStep>,
    /// Why there are no more.
    pub stopped_by: Halt,
    /// The size that was broken off, with its counts up to then; null where none was.
    pub unfinished: Option<GrowthStep>,
    /// The most threads that could exist at a time; 0 where there is no limit.
    pub most_threads: u64,
    /// What set that limit, e.g. `vm.max_map_count is 65530`; empty where there is none.
    pub limited_by: String,
}

impl Growth {
    /// What is known of any: its sizes, and why there are no more.
    pub fn new(steps: Vec<GrowthStep>, stopped_by: Halt) -> Self {
        Growth { steps, stopped_by, unfinished: None, most_threads: 0, limited_by: String::new() }
    }
}

/// One size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrowthStep {
    /// The size, from 1; of a product of matrices the levels of its recursion, from 0.
    pub size: u64,
    /// The time of the whole size.
    pub time_ns: u64,
    /// The same work on one thread by plain calls, without a runtime; null where that was not timed.
    pub sequential_ns: Option<u64>,
    /// Activities that it has, each a part of the work that any thread can do.
    pub activities: u64,
    /// The most threads that existed at a time, up to the end of this size.
    pub threads: u64,
    /// Threads made for this size.
    pub created: u64,
    /// Activities that their parent did itself, since there was no thread and none could be made.
    pub inlined: u64,
    /// Takes from and returns to the pool, failed ones included; 0 where the runtime does not report them.
    pub attempts: u64,
    /// Attempts that failed since another thread came first.
    pub failures: u64,
    /// How often a thread went to sleep, for lack of work or waiting for its parts.
    pub parks: u64,
    /// How often a thread woke a sleeping one.
    pub wakes: u64,
}

/// Why it grew no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// The next size would have exceeded the remaining time, or did.
    Time,
    /// There is no larger size.
    Sizes,
}
