//! What stamps.

use std::fmt::Debug;
use std::sync::LazyLock;
use std::time::Instant;

/// A source of nanosecond stamps that all threads share. The origin is arbitrary; stamps never go backwards.
pub trait Clock: Debug + Send + Sync {
    fn name(&self) -> &'static str;

    fn now(&self) -> u64;

    /// By how many nanoseconds it was set since it was made, where it can be and was.
    fn set_by_ns(&self) -> Option<i64> {
        None
    }
}

/// The operating system's monotonic clock (`CLOCK_MONOTONIC` on Linux). All of a process are one: their stamps can be compared.
#[derive(Debug)]
pub struct OsClock {
    origin: Instant,
}

impl Default for OsClock {
    fn default() -> Self {
        static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        OsClock { origin: *ORIGIN }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_a_process_agree() {
        let first = OsClock::default();
        let before = first.now();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(OsClock::default().now() >= before + 1_000_000);
    }
}
