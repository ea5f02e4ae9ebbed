//! How a recursion grew that asks for a thread for each of its activities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sizes of one repetition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// Those that were ended, in ascending order.
    pub steps: Vec<GrowthStep>,
    /// Why there are no more.
    pub stopped_by: Halt,
}

/// One size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrowthStep {
    /// The size, from 1.
    pub size: u64,
    /// How long it took.
    pub time_ns: u64,
    /// How many activities it has.
    pub activities: u64,
    /// How many threads there were at its end.
    pub threads: u64,
    /// How many more there would have been, were there no limit.
    pub would_spawn: u64,
    /// How often threads were taken from their pool and returned to it, with the attempts that failed.
    pub attempts: u64,
    /// How many attempts failed, or found the pool empty.
    pub failures: u64,
}

/// Why a recursion grew no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// The next size would have taken more than the rest of the time.
    Time,
    /// There would be more than a million threads.
    Threads,
    /// There is no larger size.
    Sizes,
}
