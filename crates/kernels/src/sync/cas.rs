//! `cas-counter`: all workers count in one place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::card::ROOM;
use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Contention, Family, Metric, Work};
use crossbeam::utils::CachePadded;

use crate::kernel::{Error, Kernel, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, stage};
use crate::watch::Watch;

static CARD: Card = Card::new(
    "cas-counter",
    Family::Sync,
    "increments one 64-bit counter that all workers share, each by a load and a compare-and-swap until it succeeds",
    Metric::ops("one increment that succeeded"),
)
.uncounted_traffic("attempts that failed since another worker came first; the line moves from core to core")
.params(&[&SPAN])
.source(
    "M. Herlihy, Wait-free synchronization, TOPLAS 13 (1991): compare-and-swap; R. K. Treiber, IBM RJ 5118 (1986): \
             the retry loop",
)
// The exchange waits for the load, and the next load for the exchange, each at least the 4 cycles of a load from the
// first-level cache (Agner Fog, "Instruction tables"). Zen 4 was measured to take 9.5 for both.
.max_per_cycle(ROOM / 8.0)
.contends(true);

pub(crate) static KERNELS: &[&dyn Kernel] = &[&PlainKernel::new(
    &CARD,
    (),
    |_, _| Bytes(size_of::<CachePadded<AtomicU64>>() as u64),
    |kernel, params, workers| {
        let shared = Arc::new(Shared::new(workers));
        let variant = if cfg!(target_arch = "x86_64") { "lock cmpxchg" } else { "compare-and-swap" };
        // By time: where the hardware favours some of the workers, equal shares would end far apart.
        stage(variant, Extent::Span(kernel.span(params)?), move |rank| {
            Ok(Box::new(Counter::new(Arc::clone(&shared), rank)))
        })
    },
)];

/// What the workers share: each field on a line of its own.
struct Shared {
    counter: CachePadded<AtomicU64>,
    /// What each worker reports to have added, over all of its runs, so nothing has to be reset between two runs while
    /// another worker may still verify the first. Written once per run.
    added: Box<[CachePadded<AtomicU64>]>,
}

impl Shared {
    fn new(workers: usize) -> Self {
        let zero = || CachePadded::new(AtomicU64::new(0));
        Shared { counter: zero(), added: (0..workers).map(|_| zero()).collect() }
    }
}

struct Counter {
    rank: usize,
    shared: Arc<Shared>,
    stats: CachePadded<Contention>,
}

impl Counter {
    fn new(shared: Arc<Shared>, rank: usize) -> Self {
        Counter { rank, shared, stats: CachePadded::default() }
    }
}

impl Worker for Counter {
    fn prepare(&mut self) {
        *self.stats = Contention::default();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut stats, mut pace, mut retries) = (Contention::default(), Pace::start(), false);
        while !watch.should_stop() {
            stats += repeat(pace.attempts(), &mut retries, || increment(&self.shared.counter));
            pace.adapt();
        }
        *self.stats = stats;
        // Relaxed: the reader has waited for this worker to end, by other means.
        self.shared.added[self.rank].fetch_add(stats.successes(), Ordering::Relaxed);
        Work::ops(stats.successes())
    }

    /// To be called when all workers have ended their runs, and none has begun another.
    fn verify(&mut self) -> Result<(), Error> {
        let claims = self.shared.added.iter().map(|added| added.load(Ordering::Relaxed));
        let expected = claims.fold(0, u64::wrapping_add);
        let found = self.shared.counter.load(Ordering::Relaxed);
        Error::unless(found == expected, &CARD.name, || {
            format!("the counter is at {found}, and the workers added {expected}")
        })
    }

    fn contention(&self) -> Option<Contention> {
        Some(*self.stats)
    }
}

/// Makes so many attempts. A first one that failed is a wait, and `retries` is whether the next is not a first one.
#[inline]
fn repeat(attempts: u64, retries: &mut bool, attempt: impl Fn() -> bool) -> Contention {
    let (mut stats, mut left) = (Contention { attempts, ..Contention::default() }, attempts);
    // First attempts and others have a loop each: counting both in one takes 6% of the time of an increment that meets no other.
    loop {
        while *retries {
            if left == 0 {
                return stats;
            }
            left -= 1;
            *retries = !attempt();
            stats.failures += u64::from(*retries);
        }
        while !*retries {
            if left == 0 {
                return stats;
            }
            left -= 1;
            *retries = !attempt();
        }
        (stats.failures, stats.waits) = (stats.failures + 1, stats.waits + 1);
    }
}

/// Tries to increment the counter once.
///
/// Relaxed: the counter guards no other memory, and every success is an exchange of its own in the order of that one
/// variable. A strong exchange: it fails only where another worker came first, which is what a failure is to mean.
#[inline]
fn increment(counter: &AtomicU64) -> bool {
    let seen = counter.load(Ordering::Relaxed);
    counter.compare_exchange(seen, seen.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

#[cfg(test)]
mod tests;
