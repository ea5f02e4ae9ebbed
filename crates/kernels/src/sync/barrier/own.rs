//! Two barriers that spin.

use super::primitives::{AtomicBool, AtomicU32, CachePadded, Ordering, Spin, pause};

/// A counter of the workers that have arrived, and a generation that the last one to arrive changes: the others wait for the
/// change.
#[derive(Debug)]
pub struct Central {
    parties: u32,
    arrived: CachePadded<AtomicU32>,
    generation: CachePadded<AtomicU32>,
}

impl Central {
    pub fn new(parties: u32) -> Self {
        let zero = || CachePadded::new(AtomicU32::new(0));
        Central { parties, arrived: zero(), generation: zero() }
    }

    /// Waits until all parties have arrived, which have a strand `each` or may have to share.
    #[inline]
    pub fn wait(&self, each: bool) {
        // Relaxed: it cannot change before this worker has arrived, and this worker saw the last change when it left.
        let generation = self.generation.load(Ordering::Relaxed);
        // Acquire and release: the last to arrive has seen what all others did before, and passes it on with its change.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parties {
            // Relaxed: no worker arrives again before it has seen the change.
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        spin_until(each, || self.generation.load(Ordering::Acquire) != generation);
    }
}

/// The sense-reversing centralised barrier of J. M. Mellor-Crummey and M. L. Scott, Algorithms for Scalable Synchronization on
/// Shared-Memory Multiprocessors, TOCS 9 (1991), section 3.1: a counter of the workers still missing, and a flag that the last
/// to arrive turns to the sense of the episode. Each worker keeps its own sense and turns it, so it reads nothing shared before
/// it arrives.
#[derive(Debug)]
pub struct Sense {
    parties: u32,
    missing: CachePadded<AtomicU32>,
    sense: CachePadded<AtomicBool>,
}

impl Sense {
    pub fn new(parties: u32) -> Self {
        let missing = CachePadded::new(AtomicU32::new(parties));
        Sense { parties, missing, sense: CachePadded::new(AtomicBool::new(false)) }
    }

    /// The sense that a party has before its first episode.
    pub fn sense(&self) -> bool {
        self.sense.load(Ordering::Relaxed)
    }

    /// The same; `own` is the sense of this party, and its alone.
    #[inline]
    pub fn wait(&self, own: &mut bool, each: bool) {
        *own = !*own;
        // Acquire and release: the last to arrive has seen what all others did before, and passes it on with the sense.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Relaxed: no worker arrives again before it has seen the sense.
            self.missing.store(self.parties, Ordering::Relaxed);
            self.sense.store(*own, Ordering::Release);
            return;
        }
        spin_until(each, || self.sense.load(Ordering::Acquire) == *own);
    }
}

fn spin_until(each: bool, there: impl Fn() -> bool) {
    let mut spin = Spin::start();
    while !there() {
        if each { pause(1) } else { spin.turn(None) }
    }
}
