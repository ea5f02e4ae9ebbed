//! Test and set with exponential backoff: a worker that finds the lock taken stays off its line for a time that doubles with
//! each failure, up to a cap in proportion to the strands (T. E. Anderson, IEEE TPDS 1 (1990); Mellor-Crummey and Scott, ACM
//! TOCS 9 (1991), where it is the best of the locks without a queue).

use super::primitives::{AtomicBool, CachePadded, Ordering, OwnStrands, Spin, pause, strands};
use super::{Error, Finally, Lock, WaitStats};

/// Pauses after the first failure: some hundred nanoseconds to a few microseconds, in which the holder has the line to itself
/// for many sections. Of 4, 16, 64 and 128 it is the least that kept two cores of Zen 4 from fighting for the line.
const FIRST: u32 = 64;

/// The cap: so many pauses for each strand.
const EACH: u32 = 64;

/// The lock. It serves in no order.
#[derive(Debug)]
pub struct TasBackoff {
    taken: CachePadded<AtomicBool>,
    cap: u32,
}

impl Lock for TasBackoff {
    fn new(_: usize) -> Result<Self, Error> {
        let taken = CachePadded::new(AtomicBool::new(false));
        Ok(TasBackoff { taken, cap: strands().saturating_mul(EACH).max(FIRST) })
    }

    #[inline]
    fn with<R>(&self, _: usize, strands: Option<&OwnStrands>, stats: &mut WaitStats, section: impl FnOnce() -> R) -> R {
        let (mut spin, mut failures, mut pauses) = (Spin::start(), 0, FIRST);
        // Acquire, with the release below: what the last holder did is seen.
        while self.taken.swap(true, Ordering::Acquire) {
            failures += 1;
            pause(pauses);
            pauses = pauses.saturating_mul(2).min(self.cap);
            spin.turn(strands);
        }
        stats.attempts += failures + 1;
        stats.failures += failures;
        stats.waited(&spin);
        let _release = Finally(|| self.taken.store(false, Ordering::Release));
        section()
    }
}
