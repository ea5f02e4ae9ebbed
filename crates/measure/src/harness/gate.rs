//! The gate: a barrier that all workers pass together, or none.
//!
//! It works in two stretches. In the first, [`Gate::arrive`], parties sleep on a condition variable until the last one is
//! there: however long the others take to allocate and touch their memory, no worker burns a strand meanwhile, and a
//! thousand waiting threads cost nothing. In the second, [`Gate::spin_release`], the workers, now all awake, spin for the few
//! microseconds that waking takes to spread, so their first stamps lie close together. Where workers outnumber
//! strands there is nothing to gain from spinning, and the second stretch is left out.
//!
//! A party that cannot go on calls [`Gate::close`]. Everybody waiting wakes up with [`Decision::NoGo`], now and ever
//! after, so no failure can leave a thread hanging.

use std::sync::PoisonError;

use super::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, spin_loop, yield_now};

/// What all workers at the gate receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// All are there: go on.
    Go,
    /// A worker failed: leave.
    NoGo,
}

/// Spins before a yield, once in [`Gate::spin_release`]: about 50 µs of pauses, longer than a wake-up on an idle machine takes.
const SPINS_BEFORE_YIELD: u32 = 2000;

/// A reusable go/no-go barrier.
#[derive(Debug)]
pub struct Gate {
    parties: usize,
    spinners: usize,
    queue: Mutex<Queue>,
    bell: Condvar,
    closed: AtomicBool,
    released: AtomicUsize,
}

#[derive(Debug, Default)]
struct Queue {
    arrived: usize,
    generation: u64,
}

impl Gate {
    /// A gate for `parties` threads, of which `spinners` meet in [`Gate::spin_release`]; 0 makes that a no-op.
    pub fn new(parties: usize, spinners: usize) -> Self {
        Gate {
            parties,
            spinners,
            queue: Mutex::default(),
            bell: Condvar::new(),
            closed: AtomicBool::new(false),
            released: AtomicUsize::new(0),
        }
    }

    /// Sleeps until all parties have arrived, or one has closed the gate.
    pub fn arrive(&self) -> Decision {
        let mut queue = self.lock();
        if self.closed() {
            return Decision::NoGo;
        }
        queue.arrived += 1;
        if queue.arrived == self.parties {
            queue.arrived = 0;
            queue.generation += 1;
            self.bell.notify_all();
            return Decision::Go;
        }
        let generation = queue.generation;
        while queue.generation == generation && !self.closed() {
            queue = self.bell.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if queue.generation == generation { Decision::NoGo } else { Decision::Go }
    }

    /// Whether all parties but one have arrived.
    pub fn awaits_one(&self) -> bool {
        self.lock().arrived + 1 == self.parties
    }

    /// Whether [`Gate::spin_release`] makes workers wait for each other.
    pub fn spins(&self) -> bool {
        self.spinners > 0
    }

    /// Spins until all spinners are awake for their `round`-th release, counted from 1.
    pub fn spin_release(&self, round: usize) {
        if !self.spins() {
            return;
        }
        // Acquire and release: what a worker prepared is visible to the others before any of them starts.
        self.released.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0;
        while self.released.load(Ordering::Acquire) < round * self.spinners && !self.closed() {
            if spins < SPINS_BEFORE_YIELD {
                spins += 1;
                spin_loop();
            } else {
                // A worker has lost its strand to another process: do not stand in the way of its return.
                yield_now();
            }
        }
    }

    /// Closes the gate for good and wakes everybody.
    pub fn close(&self) {
        // Under the lock, or a party could read `closed` just before and go to sleep just after.
        let _queue = self.lock();
        self.closed.store(true, Ordering::Relaxed);
        self.bell.notify_all();
    }

    /// Whether the gate was closed.
    pub fn closed(&self) -> bool {
        // Relaxed: it says nothing but itself. Why the gate was closed is what its closer returns.
        self.closed.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic inside the lock cannot leave it half-changed: no call in there can panic.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn nobody_passes_before_the_last_has_arrived() {
        const PARTIES: usize = 4;
        const ROUNDS: u64 = 200;
        for spinners in [0, PARTIES] {
            let gate = Gate::new(PARTIES, spinners);
            let arrived = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for _ in 0..PARTIES {
                    scope.spawn(|| {
                        for round in 1..=ROUNDS {
                            arrived.fetch_add(1, Ordering::SeqCst);
                            assert_eq!(gate.arrive(), Decision::Go);
                            gate.spin_release(round as usize);
                            // All of this round are in; no worker can be two rounds ahead.
                            let seen = arrived.load(Ordering::SeqCst);
                            assert!(seen >= round * PARTIES as u64, "{seen} in round {round}");
                            assert!(seen < (round + 1) * PARTIES as u64, "{seen} in round {round}");
                            assert_eq!(gate.arrive(), Decision::Go);
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn closing_wakes_sleepers_and_stays() {
        let gate = Gate::new(3, 3);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| gate.arrive());
            let second = scope.spawn(|| gate.arrive());
            gate.close();
            assert_eq!(first.join().unwrap(), Decision::NoGo);
            assert_eq!(second.join().unwrap(), Decision::NoGo);
        });
        assert_eq!(gate.arrive(), Decision::NoGo);
        // Spinning behind a closed gate ends although the others never come.
        gate.spin_release(1);
    }
}
