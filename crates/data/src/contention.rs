//! What workers meet at what they share.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one worker met in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contention {
    pub attempts: u64,
    /// Attempts that failed because another worker came first.
    pub failures: u64,
    /// Operations that had to wait: spun, slept, or found nothing to take.
    pub waits: u64,
}

impl Contention {
    pub const fn successes(&self) -> u64 {
        self.attempts - self.failures
    }
}

impl AddAssign for Contention {
    fn add_assign(&mut self, other: Contention) {
        self.attempts += other.attempts;
        self.failures += other.failures;
        self.waits += other.waits;
    }
}
