//! Locks that spin, and those of the C library and of Rust beside them.
//!
//! A worker that finds one of our locks taken spins with pauses; where workers share strands, it then yields its strand between
//! looks, and then naps between them (`primitives::Spin`): that is part of the measurement. No worker gives up waiting; a section
//! under a lock is a few instructions without a wait in them, so every worker gets its turn, whether the others have ended
//! meanwhile or not.
//!
//! Each lock is written with indices and atomics alone, without pointers, so it cannot touch memory that is not its own. Each
//! has a file, which uses only [`Lock`] and `primitives`: the models are built from these very files.

mod backoff;
mod clh;
mod mcs;
mod tas;
mod ticket;
mod ttas;

use super::mutexes::Mutex;
use super::primitives::{self, OwnStrands};
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

    /// Runs `section` while no other thread holds this lock, and counts in `stats` what that took: an attempt for each time
    /// that it tried to take the lock, and a wait if it had to try, or to look, more than once. Callers with strands of their own do not
    /// sleep.
    ///
    /// `rank` is the caller's number. No two threads call with the same one at a time: locks that queue would mistake them
    /// for one worker, and not exclude one from the other.
    fn with<R>(
        &self,
        rank: usize,
        strands: Option<&OwnStrands>,
        stats: &mut WaitStats,
        section: impl FnOnce() -> R,
    ) -> R;
}

/// A lock that serves in the order in which workers came.
#[cfg(test)]
pub(super) trait Queue: Lock {
    /// Changes whenever a worker has joined the queue.
    fn last(&self) -> u32;
}

/// A lock of the C library or of Rust, in which a thread sleeps if it waits for long. It is tried first, since none of these
/// locks reports whether it had to wait; if the lock is free, the try takes it.
pub struct Parked<M>(M);

impl<M: Mutex> Lock for Parked<M> {
    fn new(_: usize) -> Result<Self, Error> {
        M::new().map(Parked)
    }

    #[inline]
    fn with<R>(&self, _: usize, _: Option<&OwnStrands>, stats: &mut WaitStats, section: impl FnOnce() -> R) -> R {
        stats.attempts += 1;
        let _held = self.0.try_lock().unwrap_or_else(|| {
            stats.slept();
            self.0.lock()
        });
        section()
    }
}

/// Runs a closure at the end of the scope, after a panic too: a section that panics must not leave the others waiting.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    #[inline]
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests;
