//! Test and test-and-set: a waiting worker only reads, from its own cache, until the lock looks free (L. Rudolph and Z. Segall,
//! Dynamic decentralized cache schemes for MIMD parallel processors, ISCA 1984; T. E. Anderson, IEEE TPDS 1 (1990)).

use super::primitives::{AtomicBool, CachePadded, Ordering, OwnStrands, Spin};
use super::{Error, Finally, Lock, WaitStats};

/// The lock. It serves in no order.
#[derive(Debug)]
pub struct Ttas {
    taken: CachePadded<AtomicBool>,
}

impl Lock for Ttas {
    fn new(_: usize) -> Result<Self, Error> {
        Ok(Ttas { taken: CachePadded::new(AtomicBool::new(false)) })
    }

    #[inline]
    fn with<R>(&self, _: usize, strands: Option<&OwnStrands>, stats: &mut WaitStats, section: impl FnOnce() -> R) -> R {
        let (mut spin, mut failures) = (Spin::start(), 0);
        loop {
            // Relaxed: it may look free; taking it decides.
            while self.taken.load(Ordering::Relaxed) {
                spin.turn(strands);
            }
            // Acquire, with the release below: what the last holder did is seen.
            if !self.taken.swap(true, Ordering::Acquire) {
                break;
            }
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
