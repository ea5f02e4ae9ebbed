//! Tickets: everybody draws a number and waits until it is called (D. P. Reed and R. K. Kanodia, Synchronization with
//! eventcounts and sequencers, CACM 22 (1979); J. M. Mellor-Crummey and M. L. Scott, Algorithms for scalable synchronization
//! on shared-memory multiprocessors, ACM TOCS 9 (1991)).

use super::primitives::{AtomicU32, CachePadded, Ordering, OwnStrands, Spin};
use super::{Error, Finally, Lock, WaitStats};

/// The lock. It serves in the order of arrival; all who wait look at the same line. Numbers wrap, which would do harm from
/// 2³² workers on.
#[derive(Debug)]
pub struct Ticket {
    next: CachePadded<AtomicU32>,
    called: CachePadded<AtomicU32>,
}

impl Lock for Ticket {
    fn new(_: usize) -> Result<Self, Error> {
        let [next, called] = [0, 0].map(|number| CachePadded::new(AtomicU32::new(number)));
        Ok(Ticket { next, called })
    }

    #[inline]
    fn with<R>(&self, _: usize, strands: Option<&OwnStrands>, stats: &mut WaitStats, section: impl FnOnce() -> R) -> R {
        // Relaxed: the call orders what is done under the lock.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut spin = Spin::start();
        // Acquire, with the release below: what the last holder did is seen.
        while self.called.load(Ordering::Acquire) != number {
            spin.turn(strands);
        }
        stats.attempts += 1;
        stats.waited(&spin);
        let _release = Finally(|| self.called.store(number.wrapping_add(1), Ordering::Release));
        section()
    }
}

#[cfg(test)]
impl Ticket {
    /// A free one that has given out nearly all numbers.
    pub fn near_the_end() -> Self {
        let [next, called] = [u32::MAX - 1; 2].map(|number| CachePadded::new(AtomicU32::new(number)));
        Ticket { next, called }
    }
}

#[cfg(test)]
impl super::Queue for Ticket {
    fn last(&self) -> u32 {
        self.next.load(Ordering::Relaxed)
    }
}
