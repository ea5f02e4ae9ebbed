//! `counter-mutex`, `counter-atomic` and `counter-sharded`: a resource of which there are so many units and no more.
//!
//! Memory, swap space and process numbers are such resources, and a counter of them is asked by every processor (S. Sistare,
//! "Solaris Scalability"): under a lock, by one atomic addition, or by a stock for each strand. Whichever it is, it keeps the
//! limit at every moment, and gives every unit back.

mod sharded;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use charz_data::card::{CounterKind, ROOM};
use charz_data::params::{INSIDE, OUTSIDE, SPAN};
use charz_data::{Bytes, Card, Contention, Family, Metric, Params, Role, Work};

use super::primitives::{self, AtomicU64, CachePadded, Ordering, strands};
use super::section;
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::watch::Watch;

use sharded::Sharded;

/// Units that a worker takes, one by one, before it gives them back, one by one.
const BURST: u64 = 64;

/// Units per worker: three quarters of a burst, so the limit is met when all workers take a burst at once. A single worker has
/// a whole burst.
const SHARE: u64 = BURST / 4 * 3;

pub(super) trait Counter: Send + Sync + 'static {
    /// Takes a unit for worker `rank`, unless all are out, and adds to `waits` if it waited for another worker
    /// and got one.
    ///
    /// A counter may also refuse one while another worker is about to take or give one.
    fn take(&self, rank: usize, waits: &mut u64) -> bool;

    fn give(&self, rank: usize);

    /// The units that are not out. No worker may take or give meanwhile.
    fn free(&self) -> u64;
}

trait Limited: Counter {
    const VARIANT: &'static str;

    fn with_units(units: u64, workers: usize) -> Self;
}

impl Limited for CachePadded<Mutex<u64>> {
    const VARIANT: &'static str = "std::sync::Mutex";

    fn with_units(units: u64, _: usize) -> Self {
        CachePadded::new(Mutex::new(units))
    }
}

impl Limited for Global {
    const VARIANT: &'static str = "fetch-add";

    fn with_units(units: u64, _: usize) -> Self {
        Global { out: CachePadded::new(AtomicU64::new(0)), limit: units }
    }
}

impl Limited for Sharded {
    const VARIANT: &'static str = "compare-and-swap";

    fn with_units(units: u64, workers: usize) -> Self {
        Sharded::with_shards(units, workers.min(strands() as usize))
    }
}

impl Counter for CachePadded<Mutex<u64>> {
    fn take(&self, _: usize, waits: &mut u64) -> bool {
        // As the locks of the pools: if it is free, the try takes it.
        let mut free = match self.try_lock() {
            Ok(free) => free,
            Err(_) => wait_for(self, waits),
        };
        let taken = free.checked_sub(1);
        *free = taken.unwrap_or(0);
        taken.is_some()
    }

    fn give(&self, _: usize) {
        *self.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn free(&self) -> u64 {
        *self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cold]
fn wait_for<'a>(mutex: &'a Mutex<u64>, waits: &mut u64) -> MutexGuard<'a, u64> {
    let free = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    // That of a take that is refused is counted as one.
    *waits += u64::from(*free > 0);
    free
}

pub struct Global {
    /// Units that are out, and those that were asked for in vain and are about to be taken off again.
    out: CachePadded<AtomicU64>,
    limit: u64,
}

impl Counter for Global {
    fn take(&self, _: usize, _: &mut u64) -> bool {
        // The number is never below the units that are out, so no more than the limit ever are. Acquire and release: a worker
        // that has a unit sees what the one that had it before did with it.
        let taken = self.out.fetch_add(1, Ordering::Acquire) < self.limit;
        if !taken {
            self.out.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }

    fn give(&self, _: usize) {
        self.out.fetch_sub(1, Ordering::Release);
    }

    fn free(&self) -> u64 {
        self.limit.wrapping_sub(self.out.load(Ordering::Relaxed))
    }
}

const CARD: Card =
    Card::new("", Family::Sync, "", Metric::ops("one unit taken and given back; one that was refused is none"))
        .params(&[&SPAN, &INSIDE, &OUTSIDE])
        .source("S. Sistare, Solaris scalability: limits on resources, counted in one place or in many")
        // To take and to give change a word each, of which the second waits for the first at least the 4 cycles of a load from the
        // first-level cache (Agner Fog, "Instruction tables").
        .max_per_cycle(ROOM / 8.0);

/// What a worker does, and how it is counted.
macro_rules! about {
    ($how:literal) => {
        concat!(
            "takes up to 64 units of a resource, one by one, and gives them back; there are 48 for each worker, counted ",
            $how
        )
    };
}

kernels! {
    counting::<CachePadded<Mutex<u64>>> => CARD
        .named("counter-mutex", about!("in one number under a mutex of Rust's standard library"))
        .role(Role::Counter(CounterKind::Mutex))
        .uncounted_traffic("refused units are failed attempts; the lock and the number move from core to core")
        .blocks_in_kernel(true);
    counting::<Global> => CARD.named("counter-atomic", about!("in one number by atomic additions"))
        .role(Role::Counter(CounterKind::Atomic))
        .uncounted_traffic(
            "refused units are failed attempts, and additions that are undone; the number moves from core to core",
        )
        .contends(true);
    counting::<Sharded> => CARD.named(
            "counter-sharded",
            about!("in a stock for each strand, which fetches 16 from the middle when it is empty"),
        )
        .role(Role::Counter(CounterKind::Sharded))
        .uncounted_traffic("refused units are failed attempts, which have looked into every stock")
        .contends(true);
}

const fn counting<C: Limited>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes(size_of::<CachePadded<AtomicU64>>() as u64);
    PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        let (name, units) = (kernel.name(), BURST.max(SHARE * workers as u64));
        let counter = Arc::new(C::with_units(units, workers));
        let sections = [params.inside_steps, params.outside_steps];
        stage(C::VARIANT, Extent::Span(params.span()), move |rank| {
            Ok(Box::new(Taker::new(name, Arc::clone(&counter), units, rank, sections)))
        })
    })
}

struct Taker<C> {
    name: &'static str,
    units: u64,
    rank: usize,
    /// Steps with a unit in hand, and after it was given back.
    sections: [u64; 2],
    counter: Arc<C>,
    stats: CachePadded<Contention>,
    /// The result of the last section, from which the next one starts.
    state: u64,
}

impl<C: Limited> Taker<C> {
    fn new(name: &'static str, counter: Arc<C>, units: u64, rank: usize, sections: [u64; 2]) -> Self {
        Taker { name, units, rank, sections, counter, stats: CachePadded::default(), state: rank as u64 }
    }

    /// Takes units, as many as there are, and gives them back.
    fn burst(&mut self, stats: &mut Contention) {
        let [inside, outside] = self.sections;
        let mut held = 0;
        while held < BURST {
            stats.attempts += 1;
            if !self.counter.take(self.rank, &mut stats.waits) {
                stats.failures += 1;
                stats.waits += 1;
                break;
            }
            self.state = section(inside, self.state);
            held += 1;
        }
        for _ in 0..held {
            self.counter.give(self.rank);
            self.state = section(outside, self.state);
        }
    }
}

impl<C: Limited> Worker for Taker<C> {
    fn run(&mut self, watch: &Watch) -> Work {
        let (mut stats, mut pace) = (Contention::default(), Pace::start());
        while !watch.should_stop() {
            (0..pace.attempts()).for_each(|_| self.burst(&mut stats));
            pace.adapt();
        }
        *self.stats = stats;
        self.state = std::hint::black_box(self.state);
        Work::ops(stats.successes())
    }

    fn verify(&mut self) -> Result<(), Error> {
        let (free, units) = (self.counter.free(), self.units);
        Error::unless(free == units, self.name, || {
            format!("{free} units are left when all were given back, and there were {units}")
        })
    }

    fn contention(&self) -> Option<Contention> {
        Some(*self.stats)
    }
}

#[cfg(test)]
mod tests;
