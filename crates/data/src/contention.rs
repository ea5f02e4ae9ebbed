//! What workers meet at what they share, and what they cost each other there.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// What one worker met in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contention {
    /// Attempts at an operation.
    pub attempts: u64,
    /// Attempts that failed because another worker came first.
    pub failures: u64,
    /// Operations that had to wait: spun, slept, or found nothing to take.
    pub waits: u64,
    /// Operations that had to wait and whose time was sampled.
    pub sampled_waits: u64,
    /// The sum of the sampled times of operations that waited.
    pub sampled_waits_ns: u64,
}

impl Contention {
    /// Attempts that did not fail.
    pub const fn successes(&self) -> u64 {
        self.attempts - self.failures
    }
}

impl AddAssign for Contention {
    fn add_assign(&mut self, other: Contention) {
        self.attempts += other.attempts;
        self.failures += other.failures;
        self.waits += other.waits;
        self.sampled_waits += other.sampled_waits;
        self.sampled_waits_ns += other.sampled_waits_ns;
    }
}

/// A cell's counts, over the repetitions that count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sharing {
    /// Attempts for each success.
    pub attempts_per_success: f64,
    /// The share of successes that had to wait, as a fraction. Taking something and giving it back are two.
    pub waited: f64,
    /// The share of the strands' time that was spent waiting, as a fraction: operations that waited times the mean time of the
    /// sampled ones among them, over interval times strands in use; null where no operation that waited was sampled. The
    /// formula is that of Solaris' `lockutil`.
    pub wait_share: Option<f64>,
    /// How evenly the operations were shared out: 1 is even, one over the number of workers is one worker alone (R. Jain et
    /// al., DEC-TR-301, 1984). The median over the repetitions.
    pub fairness: f64,
    /// The operations of the worker with most over those of the one with fewest; null where one had none. The median over the
    /// repetitions.
    pub most_to_least: Option<f64>,
}
