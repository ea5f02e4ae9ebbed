//! What stamps.

use std::fmt::Debug;
use std::time::Instant;

/// A source of nanosecond stamps that all threads share. The origin is arbitrary; stamps never go backwards.
pub trait Clock: Debug + Send + Sync {
    fn name(&self) -> &'static str;

    fn now(&self) -> u64;
}

/// The operating system's monotonic clock (`CLOCK_MONOTONIC` on Linux).
#[derive(Debug)]
pub struct OsClock {
    origin: Instant,
}

impl Default for OsClock {
    fn default() -> Self {
        OsClock { origin: Instant::now() }
    }
}

impl Clock for OsClock {
    fn name(&self) -> &'static str {
        "os"
    }

    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
