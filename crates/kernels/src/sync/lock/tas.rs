//! Test-and-set: a waiting worker writes to the lock again and again (T. E. Anderson, The performance of spin lock alternatives
//! for shared-memory multiprocessors, IEEE TPDS 1 (1990)).

use super::primitives::{AtomicBool, CachePadded, Ordering, OwnStrands, Spin};
use super::{Error, Finally, Lock, WaitStats};

/// The lock. It serves in no order.
#[derive(Debug)]
pub struct Tas {
    taken: CachePadded<AtomicBool>,
}

impl Lock for Tas {
    fn new(_: usize) -> Result<Self, Error> {
        Ok(Tas { taken: CachePadded::new(AtomicBool::new(false)) })
    }

    #[inline]
    fn with<R>(&self, _: usize, strands: Option<&OwnStrands>, stats: &mut WaitStats, section: impl FnOnce() -> R) -> R {
        let (mut spin, mut failures) = (Spin::start(), 0);
        // Acquire, with the release below: what the last holder did is seen.
        while self.taken.swap(true, Ordering::Acquire) {
            failures += 1;
            spin.turn(strands);
        }
        stats.attempts += failures + 1;
        stats.failures += failures;
        stats.waited(&spin);
        let _release = Finally(|| self.taken.store(false, Ordering::Release));
        section()
    }
}
