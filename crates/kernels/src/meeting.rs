//! Where workers meet between phases.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crossbeam::utils::{Backoff, CachePadded};

use crate::watch::Watch;

/// Looks for the others between two at the watch: some microseconds while they spin, and as many yields later on.
const LOOKS: u64 = 64;

/// A meeting of all workers, as often as they like. It is over for all as soon as one of them has to go.
pub struct Meeting {
    workers: u64,
    /// How often any of them arrived since the meeting was opened.
    arrived: CachePadded<AtomicU64>,
    over: CachePadded<AtomicBool>,
}

impl Meeting {
    pub fn of(workers: usize) -> Self {
        Meeting { workers: workers as u64, arrived: CachePadded::default(), over: CachePadded::default() }
    }

    /// Before a run, by one of the workers, while no other meets.
    pub fn open(&self) {
        self.arrived.store(0, Ordering::Relaxed);
        self.over.store(false, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Whether one of the workers had to go.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Meets the others for the `time`-th time of this run, from 1. Whether all came: what they did before is then seen by all. If
    /// not, one of them had to go, or this worker has to.
    pub fn meet(&self, time: u64, watch: &Watch) -> bool {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        // A worker that sees all of them there goes on, although one may have left since: the next meeting reports that.
        self.wait(watch, || self.arrived.load(Ordering::Acquire) >= time * self.workers)
    }

    /// Waits until `ready`. Whether it is: if not, one of the workers had to go, or this one has to.
    pub fn wait(&self, watch: &Watch, ready: impl Fn() -> bool) -> bool {
        let backoff = Backoff::new();
        let mut looks = 0_u64;
        while !ready() {
            if self.is_over() {
                return false;
            }
            looks += 1;
            if looks.is_multiple_of(LOOKS) && watch.should_stop() {
                self.end();
                return false;
            }
            if looks < LOOKS { backoff.spin() } else { backoff.snooze() }
        }
        true
    }
}
