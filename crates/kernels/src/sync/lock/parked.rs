//! The references: locks of the C library and of Rust, in which whoever waits for long sleeps.

use super::super::mutexes::Mutex;
use super::{Lock, WaitStats};
use crate::kernel::Error;

/// One of them. It is tried first, since none of them tells whether it had to wait; where nobody holds it, that is all.
pub struct Parked<M>(M);

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
