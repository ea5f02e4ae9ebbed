//! What the locks, pools and barriers of ours are built on. Their models put loom's parts, of the same names, in place of these.

use std::time::Duration;
use std::{hint, thread};

pub(super) use crossbeam::utils::CachePadded;
pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Pauses of a waiting worker before it yields its strand, a few microseconds on most processors: about what it costs to
/// put a thread to sleep and to wake it, as A. R. Karlin et al. advise (Empirical studies of competitive spinning, SOSP
/// 1991).
const PAUSES: u32 = 128;

/// Yields after the pauses, before a worker naps. Where many wait, each yield may take as long as all the others' together.
const YIELDS: u32 = 16;

/// How long a nap is, to which the system adds some 50 µs of its own.
const NAP: Duration = Duration::from_micros(50);

/// One wait: it spins with pauses; when that has lasted, it yields the strand a few times; and from then on it naps.
///
/// Workers that outnumber strands must not spin until the scheduler takes the strand away, since the one that they wait for
/// has none meanwhile: hence the yields. Nor do yields suffice: where a lock serves in the order of arrival, all but one of
/// the workers that get the strand yield it again, so a hand-over takes a round of them all, and 128 workers on 2 strands took
/// seconds to end after a stop. While they nap, the next in order finds a strand free.
pub(super) struct Spin(u32);

impl Spin {
    pub(super) const fn start() -> Self {
        Spin(0)
    }

    /// After a look that found nothing.
    #[inline]
    pub(super) fn turn(&mut self) {
        if self.0 < PAUSES {
            self.0 += 1;
            hint::spin_loop();
        } else {
            self.rest();
        }
    }

    #[cold]
    fn rest(&mut self) {
        if self.0 < PAUSES + YIELDS {
            self.0 += 1;
            thread::yield_now();
        } else {
            thread::sleep(NAP);
        }
    }
}

impl Spin {
    /// Whether a look found nothing.
    pub(super) const fn waited(&self) -> bool {
        self.0 > 0
    }

    /// Whether the wait was a long one, which may take milliseconds.
    pub(super) const fn rested(&self) -> bool {
        self.0 > PAUSES
    }
}

/// Stays off a contended line for so many pauses.
#[inline]
pub(super) fn pause(pauses: u32) {
    (0..pauses).for_each(|_| hint::spin_loop());
}

/// Strands that this process may use, for delays that grow with them.
pub(super) fn strands() -> u32 {
    thread::available_parallelism().map_or(1, |strands| u32::try_from(strands.get()).unwrap_or(u32::MAX))
}
