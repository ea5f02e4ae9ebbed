//! The seats of all workers, for the threads of a runtime.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use charz_data::Work;

use charz_kernels::kernel::{Error, Worker};
use charz_kernels::sys::futex::{self, Scope};
use charz_kernels::sys::pthread::thread::Mask;
use charz_kernels::watch::Watch;

/// The longest sleep between two looks at the watch.
const PATIENCE: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(super) struct Seats {
    lent: Mutex<Vec<Mask>>,
    /// 1 once the run is over.
    over: AtomicU32,
    /// Operations that each worker reports.
    share: AtomicU64,
}

impl Seats {
    /// Lends the strands of the calling thread.
    pub(super) fn lend(&self) -> Result<(), Error> {
        let own = Mask::own()?;
        self.lent.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        Ok(())
    }

    /// The strands of each worker that has lent its own.
    pub(super) fn lent(&self) -> Vec<Mask> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The strands of all of these; of the calling thread where there are none.
    ///
    /// # Errors
    /// [`Error::Refused`] if the system does not say where the calling thread may run.
    pub(super) fn strands(lent: &[Mask]) -> Result<Mask, Error> {
        let Some((first, others)) = lent.split_first() else { return Mask::own() };
        let mut all = first.clone();
        others.iter().for_each(|one| all.add(one));
        Ok(all)
    }

    /// Before a run. Relaxed, here and below: workers begin their runs only after all have prepared, by other means.
    pub(super) fn begin(&self) {
        self.share.store(0, Ordering::Relaxed);
        self.over.store(0, Ordering::Relaxed);
    }

    /// The run is over, and each worker is to report so many operations.
    pub(super) fn end(&self, share: u64) {
        self.share.store(share, Ordering::Relaxed);
        self.over.store(1, Ordering::Release);
        futex::wake(&self.over, u32::MAX, Scope::Process);
    }
}

/// A worker that lends its seat.
pub(super) struct Lender(pub(super) std::sync::Arc<Seats>);

impl Worker for Lender {
    fn run(&mut self, watch: &Watch) -> Work {
        // The watch first: a worker that comes late, to a run that is over, looks too.
        while !watch.should_stop() && self.0.over.load(Ordering::Acquire) == 0 {
            futex::wait(&self.0.over, 0, Scope::Process, PATIENCE);
        }
        Work::ops(self.0.share.load(Ordering::Relaxed))
    }
}
