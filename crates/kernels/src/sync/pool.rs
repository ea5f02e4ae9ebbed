//! `pool-…`: workers take items out of a pool and put them back, as the T3-4 report's runtime does with its threads.
//!
//! One kernel, and many pools. Items are numbers from 0; a pool never makes one and never frees one, so what comes out of it
//! after a run must be exactly what was put in before. There is one item per worker, and a worker holds one at a time: a worker
//! that finds none has met another one that was about to return an item, or a bug. The check after the run distinguishes the
//! two.

mod guarded;
mod kernel;
mod queues;
mod sampler;
mod treiber;

use charz_data::card::ROOM;
use charz_data::params::{INSIDE, OUTSIDE, SPAN};
use charz_data::{Card, Family, Metric, Role};

use super::lock::{self, Lock, Parked};
use super::mutexes;
use super::primitives;
use super::wait_stats::WaitStats;
use crate::kernel::Error;
use crate::plain::kernels;

use guarded::Guarded;
use kernel::pooling;
use queues::{Array, Deque, Segments};
use treiber::{AtOnce, Backoff, Treiber};

/// The pools of a runtime that makes threads: `charz-workloads` has some.
pub type MutexPool = Guarded<Parked<mutexes::Std>>;
pub type CasPool = Treiber<AtOnce>;

/// A pool of items, for workers that are numbered from 0.
pub trait Pool: Sized + Send + Sync + 'static {
    /// What happens where workers meet, in a word or two.
    const MEETING: &'static str;

    /// What a worker brings along when it takes and gives.
    type Hand;

    /// An empty one, for so many workers and the items below `items`.
    fn new(workers: usize, items: u32) -> Result<Self, Error>;

    /// A worker introduces itself, on its own thread, before any worker takes: so a pool knows whether they have a strand each.
    fn enrol(&self) {}

    /// The hand of worker `rank`. No two threads use one of the same worker at a time.
    ///
    /// # Errors
    /// [`Error::Refused`] for a worker that has one already, where each can have only one.
    fn hand(&self, rank: usize) -> Result<Self::Hand, Error>;

    /// Puts items in while no other worker uses the pool.
    fn fill(&self, items: impl Iterator<Item = u32>);

    /// Takes an item, if one is found. Counts in `stats` each attempt to do so, failed ones included, and a wait if it took more
    /// than one attempt or had to wait for another worker.
    fn take(&self, hand: &mut Self::Hand, stats: &mut WaitStats) -> Option<u32>;

    /// Puts an item in that was taken, and counts likewise.
    fn give(&self, hand: &mut Self::Hand, item: u32, stats: &mut WaitStats);
}

const SLEEPING: Card = Card::new("", Family::Sync, "", Metric::ops("one item taken and given back"))
    .role(Role::LockPool { is_reference: false, backs_off: None })
    .times("to take an item", "to give it back")
    .uncounted_traffic(
        "takes and returns that found the lock taken; threads that fail for long go to sleep; the list moves from core to core",
    )
    .params(&[&SPAN, &INSIDE, &OUTSIDE])
    // What a take leaves behind, the return loads, and the other way round: at least the 4 cycles of a load from the
    // first-level cache each (Agner Fog, "Instruction tables").
    .max_per_cycle(ROOM / 8.0)
    .blocks_in_kernel(true);

const SPINNING: Card = SLEEPING
    .uncounted_traffic(
        "attempts to take the lock, of takes and returns alike; the list and the lock move from core to core",
    )
    .contends(true)
    .blocks_in_kernel(false);

const LOCK_FREE: Card = SPINNING.role(Role::LockFreePool { backs_off: None }).uncounted_traffic(
    "what the library does to find a slot, which it does not report; the slots move from core to core",
);

const STACKED: &str =
    "exchanges of takes and returns that failed since another worker came first; the top moves from core to core";

const ANDERSON: &str =
    "T. E. Anderson, The performance of spin lock alternatives for shared-memory multiprocessors, IEEE TPDS 1 (1990)";

/// What a worker does with a list under a lock.
macro_rules! list {
    ($lock:literal) => {
        concat!(
            "takes an item from a list under ",
            $lock,
            ", holds it for a section, gives it back, and does another section"
        )
    };
}

kernels! {
    pooling::<Guarded<Parked<mutexes::Std>>> => SLEEPING
        .named("pool-std", list!("the mutex of Rust's standard library"))
        .source("The Rust standard library, std::sync::Mutex");
    pooling::<Guarded<Parked<mutexes::ParkingLot>>> => SLEEPING
        .named("pool-parking-lot", list!("the mutex of parking_lot"))
        .role(Role::LockPool { is_reference: true, backs_off: None })
        .source("The crate parking_lot, Mutex");
    pooling::<Guarded<Parked<mutexes::Pthread<false>>>> => SLEEPING
        .named("pool-pthread", list!("the C library's default mutex"))
        .source("POSIX, pthread_mutex_lock");
    pooling::<Guarded<Parked<mutexes::Pthread<true>>>> => SLEEPING
        .named("pool-pthread-adaptive", list!("the C library's adaptive mutex, which spins before it sleeps"))
        .source("The GNU C library, PTHREAD_MUTEX_ADAPTIVE_NP");
    pooling::<Guarded<lock::Tas>> => SPINNING
        .named("pool-tas", list!("a test-and-set lock, whose waiters spin with exchange and pauses, and nap where they share CPUs"))
        .source(ANDERSON);
    pooling::<Guarded<lock::TasBackoff>> => SPINNING
        .named("pool-tas-backoff", list!("a test-and-set lock, whose waiters exchange after delays that double up to a cap in proportion to the \
            CPUs"))
        .role(Role::LockPool { is_reference: false, backs_off: Role::backoff_of("pool-tas") })
        .source(ANDERSON);
    pooling::<Guarded<lock::Ttas>> => SPINNING
        .named("pool-ttas", list!("a test-and-test-and-set lock: who waits reads, with pauses, and with naps where \
            workers share CPUs"))
        .source("L. Rudolph and Z. Segall, Dynamic decentralized cache schemes, ISCA 1984; T. E. Anderson, IEEE TPDS 1 \
            (1990)");
    pooling::<Guarded<lock::Ticket>> => SPINNING
        .named("pool-ticket", list!("a ticket lock, first come, first served: who waits reads, with pauses, and with \
            naps where workers share CPUs"))
        .source("D. P. Reed and R. K. Kanodia, CACM 22 (1979); J. M. Mellor-Crummey and M. L. Scott, ACM TOCS 9 \
            (1991)");
    pooling::<Guarded<lock::Mcs>> => SPINNING
        .named("pool-mcs", list!("an MCS queue lock: who waits reads a line of its own, with pauses, and with \
            naps where workers share CPUs"))
        .source("J. M. Mellor-Crummey and M. L. Scott, Algorithms for scalable synchronization on shared-memory \
            multiprocessors, ACM TOCS 9 (1991)");
    pooling::<Guarded<lock::Clh>> => SPINNING
        .named("pool-clh", list!("a CLH queue lock: who waits reads the line of the one before, with pauses, \
            and with naps where workers share CPUs"))
        .source("T. S. Craig, University of Washington TR 93-02-02 (1993); P. Magnusson, A. Landin and E. Hagersten, \
            Queue locks on cache coherent multiprocessors, IPPS 1994");
    pooling::<Treiber<AtOnce>> => LOCK_FREE
        .named("pool-treiber", "pops an item off a stack by compare-and-swap until it succeeds, holds it for a \
            section, pushes it, and does another section")
        .uncounted_traffic(STACKED)
        .source("R. K. Treiber, Systems programming: coping with parallelism, IBM RJ 5118 (1986); the 32-bit tag: IBM \
            System/370 Principles of Operation, compare double and swap");
    pooling::<Treiber<Backoff>> => LOCK_FREE
        .named("pool-treiber-backoff", "the same with pauses after a failure that double up to a cap in proportion to \
            the strands")
        .role(Role::LockFreePool { backs_off: Role::backoff_of("pool-treiber") })
        .uncounted_traffic(STACKED)
        .source("R. K. Treiber, IBM RJ 5118 (1986); S. Sistare, Solaris scalability: the delay doubles to a cap in \
            proportion to the CPUs");
    pooling::<Array> => LOCK_FREE
        .named("pool-array-queue", "takes an item out of crossbeam's bounded queue, holds it for a section, puts it \
            back, and does another section")
        .source("The crate crossbeam, ArrayQueue; D. Vyukov, Bounded MPMC queue");
    pooling::<Segments> => LOCK_FREE
        .named("pool-seg-queue", "takes an item out of crossbeam's unbounded queue, holds it for a section, puts it \
            back, and does another section")
        .source("The crate crossbeam, SegQueue");
    pooling::<Deque> => LOCK_FREE
        .named("pool-deque", "takes an item from its own deque, or steals one where that is empty, holds it for a \
            section, puts it on its own deque, and does another section")
        .uncounted_traffic("steals, and searches that found nothing; a worker that has found an item keeps to it, and \
            then meets no other")
        .source("D. Chase and Y. Lev, Dynamic circular work-stealing deque, SPAA 2005; the crate crossbeam, Injector \
            and Stealer");
}

#[cfg(test)]
mod tests;
