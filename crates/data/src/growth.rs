//! How a recursion grows that asks for a thread for each of its activities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sizes of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Finished sizes, ascending.
    pub steps: Vec<GrowthStep>,
    /// Why there are no more.
    pub stopped_by: Halt,
}

/// One size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthStep {
    /// The size, from 1.
    pub size: u64,
    pub time_ns: u64,
    pub activities: u64,
    /// Threads at its end.
    pub threads: u64,
    /// Further threads that there would be without a limit.
    pub would_spawn: u64,
    /// Takes from and returns to the pool of threads, failed ones included.
    pub attempts: u64,
    /// Attempts that failed or found the pool empty.
    pub failures: u64,
}

/// Why a recursion grew no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// The next size would have exceeded the remaining time.
    Time,
    /// There would be more than a million threads.
    Threads,
    /// There is no larger size.
    Sizes,
}
