//! Test-and-set: whoever waits writes to the lock again and again (T. E. Anderson, The performance of spin lock alternatives
//! for shared-memory multiprocessors, IEEE TPDS 1 (1990)).

use super::bare::{AtomicBool, CachePadded, Ordering, Spin};
use super::{Error, Finally, Lock, Met};

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
    fn with<R>(&self, _: usize, met: &mut Met, section: impl FnOnce() -> R) -> R {
        let (mut spin, mut failures) = (Spin::start(), 0);
        // Acquire, with the release below: what the last holder did is seen.
        while self.taken.swap(true, Ordering::Acquire) {
            failures += 1;
            spin.turn();
        }
        met.attempts += failures + 1;
        met.failures += failures;
        met.waited(&spin);
        let _release = Finally(|| self.taken.store(false, Ordering::Release));
        section()
    }
}
