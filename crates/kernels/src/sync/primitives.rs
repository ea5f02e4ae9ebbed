//! What the locks, pools and barriers of ours are built on. Their models put loom's parts, of the same names, in place of these.

use std::num::NonZero;
use std::time::Duration;
use std::{hint, thread};

use crate::sys::pthread::thread::Mask;

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

/// One wait. Workers with a strand each only pause, however many are served first. Of others each pauses; when that has lasted, it yields
/// the strand a few times; and from then on it naps.
///
/// Workers that outnumber strands must not spin until the scheduler takes the strand away, since the one that they wait for
/// has none meanwhile: hence the yields. Nor do yields suffice: where a lock serves in the order of arrival, all but one of
/// the workers that get the strand yield it again, so a hand-over takes a round of them all, and 128 workers on 2 strands took
/// seconds to end after a stop. While they nap, the next in order finds a strand free.
pub(super) struct Spin {
    turns: u32,
    /// How many of the turns are pauses.
    pauses: u32,
}

impl Spin {
    /// Of a worker among others that have a strand `each`, or may have to share.
    pub(super) const fn start(each: bool) -> Self {
        Spin { turns: 0, pauses: if each { u32::MAX } else { PAUSES } }
    }

    /// After a look that found nothing.
    #[inline]
    pub(super) fn turn(&mut self) {
        if self.turns < self.pauses {
            self.turns += 1;
            hint::spin_loop();
        } else {
            self.rest();
        }
    }

    #[cold]
    fn rest(&mut self) {
        if self.turns < PAUSES + YIELDS {
            self.turns += 1;
            thread::yield_now();
        } else {
            thread::sleep(NAP);
        }
    }
}

impl Spin {
    /// Whether a look found nothing.
    pub(super) const fn waited(&self) -> bool {
        self.turns > 0
    }

    /// Whether the wait was a long one, which may take milliseconds.
    pub(super) const fn rested(&self) -> bool {
        self.turns > PAUSES
    }
}

/// Stays off a contended line for so many pauses.
#[inline]
pub(super) fn pause(pauses: u32) {
    (0..pauses).for_each(|_| hint::spin_loop());
}

/// Strands that this process may use, for delays that grow with them.
pub(super) fn strands() -> u32 {
    let mask = Mask::own().ok().map(|mask| mask.strands().count());
    usable(mask, thread::available_parallelism().ok().map(NonZero::get))
}

/// The fewer of the strands of the mask and those that the standard library counts: it knows the quota, and where the system has more than
/// 1,024 CPUs all that are online in place of the mask.
fn usable(mask: Option<usize>, counted: Option<usize>) -> u32 {
    let fewer = [mask, counted].into_iter().flatten().min().unwrap_or(1);
    u32::try_from(fewer).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_and_the_quota_bound_the_strands() {
        assert_eq!(usable(Some(8), Some(2048)), 8, "the mask of a machine that is too large for the standard library");
        assert_eq!(usable(Some(8), Some(2)), 2, "a quota");
        assert_eq!([usable(None, Some(4)), usable(Some(4), None), usable(None, None)], [4, 4, 1]);
    }
}
