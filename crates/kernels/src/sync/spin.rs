//! Waiting for another worker without sleeping.

use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::sys::strand;
use crate::watch::Watch;

/// Looks at what is waited for between two looks at the watch: 20 to 50 µs of pauses, which take 10 to 45 ns each.
const STRETCH: u32 = 1000;

/// How long a worker sleeps between two looks, after a stretch in vain. It does not yield: a thread that yields on a busy
/// machine loses its whole share of the strand to those that do not.
const NAP: Duration = Duration::from_micros(50);

/// Waits until it is there, and returns true; or until the run ends, which is asked once a stretch.
///
/// It spins for one stretch, within which what comes at all comes where each has a strand; and not at all while the one it waits for
/// is `near`, on the same strand, which it would keep from coming.
pub(crate) fn until(ends: impl Fn() -> bool, near: impl Fn() -> bool, mut there: impl FnMut() -> bool) -> bool {
    let mut stretches = 0;
    loop {
        let spins = if stretches == 0 && !near() { STRETCH } else { 1 };
        for _ in 0..spins {
            if there() {
                return true;
            }
            hint::spin_loop();
        }
        if ends() {
            return false;
        }
        if spins == 1 {
            thread::sleep(NAP);
        }
        stretches += 1;
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

/// The same for a time of the workers' clock. It keeps its strand, so as to be there in time.
pub(super) fn until_due(watch: &Watch, ends: impl Fn() -> bool, due: u64) -> bool {
    loop {
        for _ in 0..STRETCH {
            if watch.now() >= due {
                return true;
            }
            hint::spin_loop();
        }
        if ends() {
            return false;
        }
    }
}

/// Whether it is there within a stretch.
pub(super) fn for_a_stretch(there: impl Fn() -> bool) -> bool {
    (0..STRETCH).any(|_| {
        let found = there();
        if !found {
            hint::spin_loop();
        }
        found
    })
}
