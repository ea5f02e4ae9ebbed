//! Runtimes: who does the activities that a program is made of.
//!
//! A program forks activities and waits for them, by [`Hand::each`], whatever runs them: plain calls, a thread for each out of a pool, or
//! rayon's work-stealing pool. The program is the same, so times differ by the runtime.

pub(super) mod alone;
pub(super) mod maker;
mod parker;
pub(super) mod pooled;
pub(super) mod rayon;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use charz_kernels::kernel::Error;
use charz_kernels::sys::pthread::thread::Mask;
use charz_kernels::watch::Watch;

use super::limit::ThreadLimit;

/// Bytes of stack of a thread: activities nest up to some twenty deep, and a work-stealing thread runs others while it waits. Only what
/// is touched takes memory.
const STACK: usize = 256 << 10;

/// The longest sleep of the worker that waits for a program, between two looks at its watch.
const PATIENCE: Duration = Duration::from_millis(5);

/// What a thread is to the activity that it runs.
pub(super) trait Hand: Sized {
    /// Does an activity for each part, and returns when all are done.
    fn each<T: Send, const N: usize>(&self, parts: [T; N], work: impl Fn(&Self, T) + Sync);

    /// Whether the run is broken off: activities return at once, and what they would have computed stays as it is.
    fn is_over(&self) -> bool;
}

/// How a runtime is to be made.
pub(super) struct Setting {
    /// Threads of a runtime with a fixed number of them.
    pub threads: u32,
    /// The strands of all workers, on which threads that are made may run.
    pub mask: Mask,
    /// Those of each, for a fixed number of threads.
    pub seats: Vec<Mask>,
    /// Threads that it keeps for the next activity.
    pub kept: u64,
    pub limit: ThreadLimit,
}

/// Dropping it ends and joins all its threads.
pub(super) trait Runtime: Sized + Send + 'static {
    const VARIANT: &'static str;

    type Hand: Hand;

    /// # Errors
    /// [`Error::Refused`] if the system refuses the threads of a runtime that makes them in advance.
    fn new(setting: &Setting) -> Result<Self, Error>;

    /// Does `work` as an activity. The calling thread sleeps meanwhile, looks at the watch, and breaks the run off when it is to end.
    fn run<T: Send>(&self, watch: &Watch, part: T, work: impl Fn(&Self::Hand, T) + Sync);

    /// Whether a run was broken off. The runtime does no other then.
    fn is_over(&self) -> bool;

    /// What its threads have counted so far.
    fn counts(&self) -> Counts;

    /// The most threads at a time, and what sets that limit; `None` where their number is fixed.
    fn limit(&self) -> Option<ThreadLimit> {
        None
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub created: u64,
    /// The most threads that existed at a time.
    pub peak: u64,
    pub inlined: u64,
    pub attempts: u64,
    pub failures: u64,
    pub parks: u64,
    pub wakes: u64,
}

/// What one thread counts. It alone writes, so no count is lost, and counting costs no exchange.
#[derive(Debug, Default)]
struct Tally {
    inlined: AtomicU64,
    attempts: AtomicU64,
    failures: AtomicU64,
    parks: AtomicU64,
    wakes: AtomicU64,
}

impl Tally {
    #[inline]
    fn add(count: &AtomicU64, more: u64) {
        // Relaxed: it is read when the thread has ended what it counts, or as it stands.
        count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    /// Adds these up, beside what the runtime knows of its threads.
    fn sum<'a>(tallies: impl Iterator<Item = &'a Tally>, created: u64, peak: u64) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        tallies.fold(Counts { created, peak, ..Counts::default() }, |sum, tally| Counts {
            inlined: sum.inlined + read(&tally.inlined),
            attempts: sum.attempts + read(&tally.attempts),
            failures: sum.failures + read(&tally.failures),
            parks: sum.parks + read(&tally.parks),
            wakes: sum.wakes + read(&tally.wakes),
            ..sum
        })
    }
}

/// One look of the worker that waits for a program: how long it may sleep until the next one, at most until the run is to end.
fn patience(watch: &Watch, over: &AtomicBool) -> Duration {
    if watch.should_stop() {
        over.store(true, Ordering::Relaxed);
        return PATIENCE;
    }
    watch.left().map_or(PATIENCE, |left| left.min(PATIENCE))
}

#[cfg(test)]
pub(super) mod tests;
