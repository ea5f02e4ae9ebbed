//! A queue in which each worker spins on a place of its own, until the worker before it clears its flag there (J. M.
//! Mellor-Crummey and M. L. Scott, Algorithms for scalable synchronization on shared-memory multiprocessors, ACM TOCS 9 (1991)).

use super::primitives::{AtomicBool, AtomicU32, CachePadded, Ordering, OwnStrands, Spin};
use super::{Error, Finally, Lock, WaitStats};

const NONE: u32 = u32::MAX;

/// The lock. It serves in the order of arrival.
#[derive(Debug)]
pub struct Mcs {
    /// The last worker of the queue; [`NONE`] while the lock is free.
    tail: CachePadded<AtomicU32>,
    places: Box<[CachePadded<Place>]>,
}

#[derive(Debug)]
struct Place {
    waits: AtomicBool,
    next: AtomicU32,
}

impl Lock for Mcs {
    fn new(workers: usize) -> Result<Self, Error> {
        let place = || CachePadded::new(Place { waits: AtomicBool::new(false), next: AtomicU32::new(NONE) });
        Ok(Mcs { tail: CachePadded::new(AtomicU32::new(NONE)), places: (0..workers).map(|_| place()).collect() })
    }

    #[inline]
    fn with<R>(
        &self,
        rank: usize,
        strands: Option<&OwnStrands>,
        stats: &mut WaitStats,
        section: impl FnOnce() -> R,
    ) -> R {
        stats.attempts += 1;
        stats.waited(&self.enter(rank as u32, strands));
        let _release = Finally(|| self.leave(rank as u32));
        section()
    }
}

impl Mcs {
    fn place(&self, rank: u32) -> &Place {
        &self.places[rank as usize]
    }

    /// Waits for the worker's turn, and returns how it waited.
    #[inline]
    fn enter(&self, rank: u32, strands: Option<&OwnStrands>) -> Spin {
        let mut spin = Spin::start();
        let place = self.place(rank);
        place.next.store(NONE, Ordering::Relaxed);
        place.waits.store(true, Ordering::Relaxed);
        // Release: the next one finds the place empty. Acquire: with no waiter before, what the last holder did is seen.
        let before = self.tail.swap(rank, Ordering::AcqRel);
        if before == NONE {
            return spin;
        }
        // Release: the worker before this one does so after this one has stored that it waits.
        self.place(before).next.store(rank, Ordering::Release);
        // Acquire: what the one before did under the lock is seen.
        while place.waits.load(Ordering::Acquire) {
            spin.turn(strands);
        }
        spin
    }

    #[inline]
    fn leave(&self, rank: u32) {
        let place = self.place(rank);
        let mut next = place.next.load(Ordering::Acquire);
        if next == NONE {
            // Release: the next worker to find the queue empty sees what was done under the lock.
            if self.tail.compare_exchange(rank, NONE, Ordering::Release, Ordering::Relaxed).is_ok() {
                return;
            }
            // Another worker has joined the queue, and is about to store its rank in `next`.
            let mut spin = Spin::start();
            while next == NONE {
                spin.turn(None);
                next = place.next.load(Ordering::Acquire);
            }
        }
        self.place(next).waits.store(false, Ordering::Release);
    }
}

#[cfg(test)]
impl super::Queue for Mcs {
    fn last(&self) -> u32 {
        self.tail.load(Ordering::Relaxed)
    }
}
