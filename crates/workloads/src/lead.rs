//! The worker that has a runtime do a program.

use std::sync::Arc;

use charz_data::{Growth, GrowthStep, Halt};

use super::limit::ThreadLimit;
use super::runtime::{Counts, Runtime, Setting};
use super::seats::Seats;
use charz_kernels::kernel::Error;

/// Its runtime, which each run has anew: threads that a run makes are not there for the next one.
pub(super) struct Lead<R> {
    seats: Arc<Seats>,
    /// Threads of a runtime with a fixed number of them.
    threads: u32,
    /// Threads that a pool keeps.
    kept: u64,
    /// While a run is prepared and not verified.
    runtime: Option<Result<R, Error>>,
}

impl<R: Runtime> Lead<R> {
    pub(super) fn new(seats: Arc<Seats>, threads: u32, kept: u64) -> Self {
        Lead { seats, threads, kept, runtime: None }
    }

    /// Before a run.
    pub(super) fn prepare(&mut self) {
        self.seats.begin();
        // One that a stop has left is ended first.
        self.runtime = None;
        self.runtime = Some(self.made());
    }

    fn made(&self) -> Result<R, Error> {
        let (threads, kept) = (self.threads, self.kept);
        let seats = self.seats.lent();
        R::new(&Setting { threads, kept, mask: Seats::strands(&seats)?, seats, limit: ThreadLimit::get() })
    }

    /// The runtime of this run; `None` if the system has refused its threads, which [`Lead::close`] reports.
    pub(super) fn runtime(&self) -> Option<&R> {
        self.runtime.as_ref()?.as_ref().ok()
    }

    /// At the end of a run: each worker is to report so many operations.
    pub(super) fn end(&self, share: u64) {
        self.seats.end(share);
    }

    /// After a run: ends and joins the threads, which would disturb what is timed next, and completes what the run has counted.
    ///
    /// # Errors
    /// [`Error::Refused`] if there were no threads.
    pub(super) fn close(&mut self, growth: &mut Growth) -> Result<(), Error> {
        if let Some(limit) = self.runtime.take().transpose()?.and_then(|runtime| runtime.limit()) {
            (growth.most_threads, growth.limited_by) = (limit.at_most.into(), limit.because);
        }
        Ok(())
    }
}

pub(super) fn nothing_yet() -> Growth {
    Growth::new(Vec::new(), Halt::Sizes)
}

/// A size that took this time, with what was counted since.
pub(super) fn step(size: usize, activities: u64, time_ns: u64, before: Counts, after: Counts) -> GrowthStep {
    GrowthStep {
        size: size as u64,
        time_ns,
        sequential_ns: None,
        activities,
        threads: after.peak,
        created: after.created - before.created,
        inlined: after.inlined - before.inlined,
        attempts: after.attempts - before.attempts,
        failures: after.failures - before.failures,
        parks: after.parks - before.parks,
        wakes: after.wakes - before.wakes,
    }
}
