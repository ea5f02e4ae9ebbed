//! Waiting for another worker without sleeping.

use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use super::primitives::OwnStrands;
use crate::sys::strand;
use crate::watch::Watch;

/// How long a worker looks at what is waited for between two looks at the watch. A count of pauses would be no time: one takes 3 to 45 ns.
const STRETCH: Duration = Duration::from_micros(30);

/// Looks between two readings of the clock, so a reading takes a few hundredths of their time at most.
const LOOKS: u32 = 256;

/// How long a worker sleeps between two looks, after a stretch in vain. It does not yield: a thread that yields on a busy
/// machine loses its whole share of the strand to those that do not.
const NAP: Duration = Duration::from_micros(50);

/// Waits until it is there, and returns true; or until the run ends, which is asked once a stretch.
///
/// It spins for one stretch, within which what comes at all comes where each has a strand; and not at all while the one it waits for
/// is `near`, on the same strand, which it would keep from coming.
pub(crate) fn until(ends: impl Fn() -> bool, near: impl Fn() -> bool, mut there: impl FnMut() -> bool) -> bool {
    if !near() && for_a_stretch(&mut there) {
        return true;
    }
    while !there() {
        if ends() {
            return false;
        }
        thread::sleep(NAP);
    }
    true
}

/// The same of a worker that keeps its strand for as long as it takes. One that slept would have to be woken by its own timer.
pub(crate) fn keep(ends: impl Fn() -> bool, mut there: impl FnMut() -> bool) -> bool {
    while !for_a_stretch(&mut there) {
        if ends() {
            return false;
        }
    }
    true
}

/// Whether it is there within a stretch.
pub(super) fn for_a_stretch(mut there: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        for _ in 0..LOOKS {
            if there() {
                return true;
            }
            hint::spin_loop();
        }
        if begun.elapsed() >= STRETCH {
            return false;
        }
    }
}

/// Where a worker was last, for others to look at.
#[derive(Debug)]
pub(super) struct Whereabouts(AtomicU32);

impl Default for Whereabouts {
    fn default() -> Self {
        Whereabouts(AtomicU32::new(u32::MAX))
    }
}

impl Whereabouts {
    #[inline]
    pub(super) fn tell(&self) {
        self.0.store(strand::current().unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Whether it told of the strand that the calling worker is on.
    #[inline]
    pub(super) fn near(&self) -> bool {
        strand::current() == Some(self.0.load(Ordering::Relaxed))
    }
}

/// Waits for a time of the workers' clock. It keeps its strand, so as to be there in time.
pub(super) fn until_due(watch: &Watch, ends: impl Fn() -> bool, due: u64) -> bool {
    keep(ends, || watch.now() >= due)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The fewest looks between two questions whether the run ends.
    fn fewest_looks(wait: impl Fn(&dyn Fn() -> bool, &mut dyn FnMut() -> bool) -> bool) -> u32 {
        let [looks, fewest, asked] = [0, u32::MAX, 0].map(Cell::new);
        let ends = || {
            fewest.set(fewest.get().min(looks.replace(0)));
            asked.set(asked.get() + 1);
            asked.get() == 5
        };
        let mut there = || {
            looks.set(looks.get() + 1);
            false
        };
        assert!(!wait(&ends, &mut there));
        fewest.get()
    }

    #[test]
    fn a_worker_that_keeps_its_strand_goes_on_looking() {
        assert_eq!(fewest_looks(|ends, there| until(ends, || false, there)), 1);
        assert!(fewest_looks(|ends, there| keep(ends, there)) >= LOOKS);
    }
}
