//! What the locks, pools and barriers of ours are built on. Their models put loom's parts, of the same names, in place of these.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
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

/// One wait: it spins with pauses. Where workers may have to share strands, it yields the strand a few times when that has lasted, and
/// from then on it naps.
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

    /// After a look that found nothing. Workers of which it is not known that they have a strand each may have to share.
    #[inline]
    pub(super) fn turn(&mut self, strands: Option<&OwnStrands>) {
        if self.0 < PAUSES {
            self.0 += 1;
            hint::spin_loop();
        } else {
            self.rest(strands);
        }
    }

    #[cold]
    fn rest(&mut self, strands: Option<&OwnStrands>) {
        if strands.is_some_and(OwnStrands::each) {
            self.0 = PAUSES + 1;
            hint::spin_loop();
        } else if self.0 < PAUSES + YIELDS {
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

/// Whether the workers of a kernel have a strand each, so one that waits may keep its own.
#[derive(Debug, Default)]
pub(crate) struct OwnStrands {
    shared: AtomicBool,
    seats: Mutex<BTreeSet<u32>>,
}

impl OwnStrands {
    /// Of so many workers; asked before any of them is bound to its seat.
    pub(crate) fn of(workers: usize) -> Self {
        OwnStrands { shared: AtomicBool::new(workers > strands() as usize), ..OwnStrands::default() }
    }

    /// A worker introduces itself, on its own thread. One that floats finds a strand that is idle.
    pub(crate) fn enrol(&self) {
        let own: Vec<u32> = Mask::own().map(|mask| mask.strands().take(2).collect()).unwrap_or_default();
        let is_free = |seat| self.seats.lock().unwrap_or_else(PoisonError::into_inner).insert(seat);
        if matches!(own[..], [seat] if !is_free(seat)) {
            self.shared.store(true, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn each(&self) -> bool {
        !self.shared.load(Ordering::Relaxed)
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

    #[test]
    fn workers_of_one_strand_are_seen() {
        let each = |seats: &[u32]| {
            let strands = &OwnStrands::default();
            let enrol = |seat: u32| {
                Mask::of(seat).bind().expect("it may use this strand");
                strands.enrol();
            };
            thread::scope(|scope| seats.iter().for_each(|&seat| _ = scope.spawn(move || enrol(seat))));
            strands.each()
        };
        let own: Vec<u32> = Mask::own().expect("the system reports it").strands().collect();
        assert!(each(&own) && !each(&[own[0], own[0]]));
        assert!(!OwnStrands::of(usize::MAX).each());
    }
}
