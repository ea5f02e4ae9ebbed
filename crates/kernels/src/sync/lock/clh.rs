//! A queue in which everybody waits at the place of the one before, and takes that place over (T. S. Craig, Building FIFO and
//! priority-queuing spin locks from atomic swap, University of Washington TR 93-02-02 (1993); P. Magnusson, A. Landin and
//! E. Hagersten, Queue locks on cache coherent multiprocessors, IPPS 1994).

use super::primitives::{AtomicBool, AtomicU32, CachePadded, Ordering, OwnStrands, Spin};
use super::{Error, Finally, Lock, WaitStats};

/// The lock. It serves in the order of arrival.
#[derive(Debug)]
pub struct Clh {
    tail: CachePadded<AtomicU32>,
    /// A place for each worker and one more; whether its owner holds the lock or waits.
    places: Box<[CachePadded<AtomicBool>]>,
    /// The place that each worker owns now. Only the worker itself reads and writes its entry.
    owned: Box<[CachePadded<AtomicU32>]>,
}

impl Lock for Clh {
    fn new(workers: usize) -> Result<Self, Error> {
        let number = |number| CachePadded::new(AtomicU32::new(number));
        Ok(Clh {
            tail: number(workers as u32),
            places: (0..=workers).map(|_| CachePadded::new(AtomicBool::new(false))).collect(),
            owned: (0..workers as u32).map(number).collect(),
        })
    }

    #[inline]
    fn with<R>(
        &self,
        rank: usize,
        strands: Option<&OwnStrands>,
        stats: &mut WaitStats,
        section: impl FnOnce() -> R,
    ) -> R {
        let owned = &self.owned[rank];
        let place = owned.load(Ordering::Relaxed);
        self.place(place).store(true, Ordering::Relaxed);
        // Release: who comes next finds the place busy. Acquire: so does this worker with the one before.
        let before = self.tail.swap(place, Ordering::AcqRel);
        let mut spin = Spin::start();
        // Acquire, with the release below: what the one before did under the lock is seen.
        while self.place(before).load(Ordering::Acquire) {
            spin.turn(strands);
        }
        stats.attempts += 1;
        stats.waited(&spin);
        let _release = Finally(|| {
            self.place(place).store(false, Ordering::Release);
            owned.store(before, Ordering::Relaxed);
        });
        section()
    }
}

impl Clh {
    fn place(&self, place: u32) -> &AtomicBool {
        &self.places[place as usize]
    }
}

#[cfg(test)]
impl super::Queue for Clh {
    fn last(&self) -> u32 {
        self.tail.load(Ordering::Relaxed)
    }
}
