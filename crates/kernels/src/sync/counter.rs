//! `counter-mutex`, `counter-atomic` and `counter-sharded`: a resource of which there are so many units and no more.
//!
//! Memory, swap space and process numbers are such resources, and a counter of them is asked by every processor (S. Sistare,
//! "Solaris Scalability"): under a lock, by one atomic addition, or by a stock for each strand. Whichever it is, it keeps the
//! limit at every moment, and gives every unit back.

mod sharded;

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use charz_data::card::{CounterKind, ROOM};
use charz_data::params::{INSIDE, OUTSIDE, SPAN};
use charz_data::{Bytes, Card, Contention, Family, Metric, Params, Role, Work};

use super::primitives::{self, AtomicU64, CachePadded, Ordering};
use super::section;
use crate::kernel::{Error, Kernel, Stage, Worker};
use crate::pace::Pace;
use crate::watch::Watch;

use sharded::Sharded;

/// Units that a worker takes, one by one, before it gives them back, one by one.
const BURST: u64 = 64;

/// Units that there are for each worker: three quarters of what they would all like to have at once, so that the limit is met
/// when they do; and enough for one that is alone.
const SHARE: u64 = BURST / 4 * 3;

pub(super) trait Counter: Send + Sync + 'static {
    /// Takes a unit for worker `rank`, unless all are out.
    ///
    /// A counter may also refuse one while another worker is about to take or give one.
    fn take(&self, rank: usize) -> bool;

    /// Gives back a unit that was taken, by whatever worker.
    fn give(&self, rank: usize);

    /// The units that are not out, while nobody takes or gives.
    fn free(&self) -> u64;
}

/// A number under the lock of Rust's standard library.
impl Counter for CachePadded<Mutex<u64>> {
    fn take(&self, _: usize) -> bool {
        let mut free = self.lock().unwrap_or_else(PoisonError::into_inner);
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

#[derive(Debug)]
pub struct Global {
    /// Units that are out, and those that were asked for in vain and are about to be taken off again.
    out: CachePadded<AtomicU64>,
    limit: u64,
}

impl Counter for Global {
    fn take(&self, _: usize) -> bool {
        // The number is never below the units that are out, so that no more than the limit ever are. Acquire and release: who
        // has a unit sees what whoever had it before did with it.
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

pub struct CounterKernel<C> {
    card: &'static Card,
    variant: &'static str,
    /// A counter of so many units for so many workers.
    make: fn(u64, usize) -> C,
    counter: PhantomData<fn() -> C>,
}

const SISTARE: &str = "S. Sistare, Solaris scalability: limits on resources, counted in one place or in many";

macro_rules! counters {
    ($($(#[$doc:meta])* $kernel:ident, $counter:ty, $name:literal, $how:literal, $beside:literal, $sleeps:literal,
       $variant:literal, $kind:ident, $make:expr;)*) => { $(
        $(#[$doc])*
        static $kernel: CounterKernel<$counter> = CounterKernel {
            card: &Card::new($name, Family::Sync, concat!("takes up to 64 units of a resource, one by one, and gives them back; there are 48 for each worker, \
                                counted ", $how), Metric::ops("one unit taken and given back; one that was refused is none"))
                .role(Role::Counter(CounterKind::$kind))
            .uncounted_traffic($beside)
                .params(&[&SPAN, &INSIDE, &OUTSIDE])
                .source(SISTARE)
                // To take and to give change a word each, of which the second waits for the first at least the 4 cycles of a
                // load from the first-level cache (Agner Fog, "Instruction tables").
                .max_per_cycle(ROOM / 8.0)
                .contends(!$sleeps)
                .blocks_in_kernel($sleeps),
            variant: $variant,
            make: $make,
            counter: PhantomData,
        };
    )*
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$(&$kernel),*];
    };
}

counters! {
    COUNTER_MUTEX, CachePadded<Mutex<u64>>, "counter-mutex", "in one number under a mutex of Rust's standard library",
        "refused units are failed attempts; the lock and the number move from core to core", true, "std::sync::Mutex", Mutex,
        |units, _| CachePadded::new(Mutex::new(units));
    COUNTER_ATOMIC, Global, "counter-atomic", "in one number by atomic additions",
        "refused units are failed attempts, and additions that are undone; the number moves from core to core", false,
        "fetch-add", Atomic, |units, _| Global { out: CachePadded::new(AtomicU64::new(0)), limit: units };
    COUNTER_SHARDED, Sharded, "counter-sharded", "in a stock for each strand, which fetches 16 from the middle when it is empty",
        "refused units are failed attempts, which have looked into every stock", false, "compare-and-swap", Sharded, |units, workers| {
            Sharded::with_shards(units, workers.min(std::thread::available_parallelism().map_or(1, usize::from)))
        };
}

impl<C: Counter> Kernel for CounterKernel<C> {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn footprint(&self, _: &Params) -> Bytes {
        Bytes(size_of::<CachePadded<AtomicU64>>() as u64)
    }

    fn stage(&self, params: &Params, workers: usize) -> Result<Box<dyn Stage>, Error> {
        let units = BURST.max(SHARE * workers as u64);
        let counter = Arc::new((self.make)(units, workers.max(1)));
        let span = params.span();
        Ok(Box::new(Counting {
            name: &self.card.name,
            variant: self.variant,
            units,
            span,
            sections: [params.inside_steps, params.outside_steps],
            counter,
        }))
    }
}

struct Counting<C> {
    name: &'static str,
    variant: &'static str,
    units: u64,
    span: Duration,
    /// Steps with a unit in hand, and after it was given back.
    sections: [u64; 2],
    counter: Arc<C>,
}

impl<C: Counter> Stage for Counting<C> {
    fn variant(&self) -> &'static str {
        self.variant
    }

    fn work(&self) -> Work {
        Work::default()
    }

    fn span(&self) -> Option<Duration> {
        Some(self.span)
    }

    fn worker(&self, rank: usize) -> Result<Box<dyn Worker>, Error> {
        let Counting { name, units, sections, .. } = *self;
        let counter = Arc::clone(&self.counter);
        Ok(Box::new(Taker { name, units, rank, sections, counter, stats: CachePadded::default(), state: rank as u64 }))
    }
}

struct Taker<C> {
    name: &'static str,
    units: u64,
    rank: usize,
    sections: [u64; 2],
    counter: Arc<C>,
    stats: CachePadded<Contention>,
    /// What its sections have come to.
    state: u64,
}

impl<C: Counter> Taker<C> {
    /// Takes units, as many as there are, and gives them back.
    fn burst(&mut self, stats: &mut Contention) {
        let [inside, outside] = self.sections;
        let mut held = 0;
        while held < BURST {
            stats.attempts += 1;
            if !self.counter.take(self.rank) {
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

impl<C: Counter> Worker for Taker<C> {
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
        let free = self.counter.free();
        if free == self.units {
            return Ok(());
        }
        Err(Error::Wrong(format!(
            "{}: {free} units are left when all were given back, and there were {}: the result of this run is void",
            self.name, self.units
        )))
    }

    fn contention(&self) -> Option<Contention> {
        Some(*self.stats)
    }
}

#[cfg(test)]
mod tests;
