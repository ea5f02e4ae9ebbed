//! Locks that spin, and those of the C library and of Rust beside them.
//!
//! Whoever finds a lock of ours taken spins with pauses, then yields its strand between looks, then naps between them
//! (`primitives::Spin`): that is part of what is measured, although nobody gets past the pauses where each has a strand. Nobody gives up waiting; what is done under a lock is a few
//! instructions without a wait in them, so that every worker's turn comes, whether the others have ended meanwhile or not.
//!
//! Each is written with indices and atomics alone, without a pointer, so that none can touch what is not its own. A file
//! each, and none of them knows more than [`Lock`] and `primitives`: models of them are made of these very files.

mod backoff;
mod clh;
mod mcs;
mod tas;
mod ticket;
mod ttas;

use super::mutexes::Mutex;
use super::primitives;
use super::wait_stats::WaitStats;
use crate::kernel::Error;

pub(super) use backoff::TasBackoff;
pub(super) use clh::Clh;
pub(super) use mcs::Mcs;
pub(super) use tas::Tas;
pub(super) use ticket::Ticket;
pub(super) use ttas::Ttas;

/// A lock, for workers that are numbered from 0.
pub(super) trait Lock: Sized + Send + Sync + 'static {
    /// A free one, for so many workers.
    fn new(workers: usize) -> Result<Self, Error>;

    /// Does `section` while nobody else does anything under this lock, and counts in `met` what that took: an attempt for
    /// each time that it tried to take the lock, and a wait if it had to try, or to look, more than once.
    ///
    /// `rank` is the caller's number. No two threads call with the same one at a time: locks that queue would mistake them
    /// for one worker, and exclude nobody.
    fn with<R>(&self, rank: usize, stats: &mut WaitStats, section: impl FnOnce() -> R) -> R;
}

/// A lock that serves in the order in which workers came.
#[cfg(test)]
pub(super) trait Queue: Lock {
    /// Changes whenever somebody has joined the queue.
    fn last(&self) -> u32;
}

/// A lock of the C library or of Rust, in which whoever waits for long sleeps. It is tried first, since none of them tells whether it had to wait; where nobody holds it, that is all.
pub(super) struct Parked<M>(M);

impl<M: Mutex> Lock for Parked<M> {
    fn new(_: usize) -> Result<Self, Error> {
        M::new().map(Parked)
    }

    #[inline]
    fn with<R>(&self, _: usize, stats: &mut WaitStats, section: impl FnOnce() -> R) -> R {
        stats.attempts += 1;
        let _held = self.0.try_lock().unwrap_or_else(|| {
            stats.slept();
            self.0.lock()
        });
        section()
    }
}

/// Does something when it goes out of scope, whatever ends the scope: a section that panics must not leave the others
/// waiting.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    #[inline]
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests;
