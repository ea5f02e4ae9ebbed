use std::sync::atomic::{AtomicU64, Ordering};

use super::Clock;

/// A clock for tests: each reading is the next multiple of a step.
#[derive(Debug)]
pub struct FakeClock {
    step: u64,
    next: AtomicU64,
}

impl FakeClock {
    pub const fn new(step: u64) -> Self {
        FakeClock { step, next: AtomicU64::new(0) }
    }
}

impl Clock for FakeClock {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn now(&self) -> u64 {
        self.next.fetch_add(self.step, Ordering::Relaxed)
    }
}
