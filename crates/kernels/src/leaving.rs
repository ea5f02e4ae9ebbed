//! The end of a run of which one worker takes the samples and the others help.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use charz_data::Work;

use crate::kernel::{Error, Worker};
use crate::sys::futex::{self, Scope};
use crate::sys::pthread::thread::Mask;
use crate::watch::Watch;

/// How many samples there are, the first worker says when it leaves; one that leaves before has seen its watch end.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    /// 1 once a worker has left the run.
    over: AtomicU32,
    /// Samples of the run, once the first worker has left it.
    taken: AtomicU64,
}

impl Leaving {
    pub(crate) fn reset(&self) {
        // Relaxed: the workers begin their runs only after all have prepared, by other means.
        self.taken.store(0, Ordering::Relaxed);
        self.over.store(0, Ordering::Relaxed);
    }

    /// Whether a worker has left.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.over.load(Ordering::Acquire) == 1
    }

    /// The first worker leaves, with so many samples.
    pub(crate) fn first(&self, taken: u64) -> Work {
        // Released by what follows.
        self.taken.store(taken, Ordering::Relaxed);
        self.other();
        Work::ops(taken)
    }

    /// Another worker leaves, with as many samples as the first.
    pub(crate) fn other(&self) -> Work {
        let left = self.over.swap(1, Ordering::AcqRel) == 1;
        futex::wake(&self.over, u32::MAX, Scope::Process);
        Work::ops(if left { self.taken.load(Ordering::Relaxed) } else { 0 })
    }

    /// Sleeps until a worker leaves, or the watch ends, at which it looks so often.
    pub(crate) fn sleep(&self, watch: &Watch, patience: Duration) {
        while !watch.should_stop() && !self.has_begun() {
            futex::wait(&self.over, 0, Scope::Process, patience);
        }
    }
}

/// What a worker shares with another that lends it its strands.
#[derive(Debug, Default)]
pub(crate) struct Lent {
    pub(crate) leaving: Leaving,
    pub(crate) mask: Mutex<Option<Mask>>,
}

impl Lent {
    /// The strands that were lent, unless they are the caller's own.
    pub(crate) fn mask(&self) -> Result<Option<Mask>, Error> {
        let lent = self.mask.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let own = Mask::own()?;
        Ok(lent.filter(|lent| *lent != own))
    }
}

/// The worker that lends its strands, and sleeps.
pub(crate) struct Lender(Arc<Lent>);

impl Lender {
    /// Lends the strands of the calling thread.
    pub(crate) fn new(lent: Arc<Lent>) -> Result<Self, Error> {
        *lent.mask.lock().unwrap_or_else(PoisonError::into_inner) = Some(Mask::own()?);
        Ok(Lender(lent))
    }
}

impl Worker for Lender {
    fn run(&mut self, watch: &Watch) -> Work {
        self.0.leaving.sleep(watch, Duration::from_millis(50));
        self.0.leaving.other()
    }
}
