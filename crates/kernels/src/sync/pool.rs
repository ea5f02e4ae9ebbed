//! `pool-…`: workers take items out of a pool and put them back, as the T3-4 report's runtime does with its threads.
//!
//! One kernel, and many pools. Items are numbers from 0; a pool never makes one and never frees one, so that what comes out
//! of it after a run must be exactly what was put in before. There is an item for each worker, and a worker holds one at a
//! time: whoever finds nothing met somebody who was about to give it back, or a bug, which the check after the run tells
//! from each other.

mod guarded;
mod kernel;
mod queues;
mod sampler;
mod spawn;
mod treiber;

use charz_data::card::ROOM;
use charz_data::params::{INSIDE, OUTSIDE, SPAN};
use charz_data::{Card, Family, Metric, Role};

use super::lock::{self, Lock, Parked};
use super::mutexes;
use super::primitives;
use super::wait_stats::WaitStats;
use crate::kernel::{Error, Kernel};

use guarded::Guarded;
use kernel::pooling;
use queues::{Array, Deque, Segments};
use spawn::spawning;
use treiber::{AtOnce, Backoff, Treiber};

/// A pool of items, for workers that are numbered from 0.
pub(super) trait Pool: Sized + Send + Sync + 'static {
    /// What happens where workers meet, in a word or two.
    const MEETING: &'static str;

    /// What a worker brings along when it takes and gives.
    type Hand;

    /// An empty one, for so many workers and the items below `items`.
    fn new(workers: usize, items: u32) -> Result<Self, Error>;

    /// The hand of worker `rank`. No two threads use one of the same worker at a time.
    ///
    /// # Errors
    /// [`Error::Refused`] for a worker that has one already, where each can have only one.
    fn hand(&self, rank: usize) -> Result<Self::Hand, Error>;

    /// Puts items in while nobody else is about.
    fn fill(&self, items: impl Iterator<Item = u32>);

    /// Takes an item, if one is found. Counts in `stats` each attempt to do so, the failed ones among them, and a wait if it took
    /// more than one, or somebody else had to be waited for.
    fn take(&self, hand: &mut Self::Hand, stats: &mut WaitStats) -> Option<u32>;

    /// Puts an item in that was taken, and counts likewise.
    fn give(&self, hand: &mut Self::Hand, item: u32, stats: &mut WaitStats);
}

/// What a kernel of this module is made of, beside its pool.
struct About {
    name: &'static str,
    about: &'static str,
    beside: &'static str,
    source: &'static str,
    /// Whether whoever waits spins; otherwise it sleeps.
    spins: bool,
}

const LOCK: Role = Role::LockPool { is_reference: false, backs_off: None };
const LOCK_FREE: Role = Role::LockFreePool { backs_off: None };

const fn card(kernel: About) -> Card {
    Card::new(kernel.name, Family::Sync, kernel.about, Metric::ops("one item taken and given back"))
        .times("to take an item", "to give it back")
        .uncounted_traffic(kernel.beside)
        .params(&[&SPAN, &INSIDE, &OUTSIDE])
        .source(kernel.source)
        // What a take leaves behind, the return loads, and the other way round: at least the 4 cycles of a load from the
        // first-level cache each (Agner Fog, "Instruction tables").
        .max_per_cycle(ROOM / 8.0)
        .contends(kernel.spins)
        .blocks_in_kernel(!kernel.spins)
}

/// Defines kernels, each with the pool that it is about.
macro_rules! pools {
    ($($kernel:ident: $pool:ty as $role:expr => $about:expr;)*) => { $(
        static $kernel: &dyn Kernel = &pooling::<$pool>(const { &card($about).role($role) });
    )*
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$($kernel,)* SPAWN_MUTEX, SPAWN_CAS];
    };
}

/// The end of the sentence about a list under a lock.
macro_rules! list {
    ($lock:literal) => {
        concat!(
            "takes an item from a list under ",
            $lock,
            ", holds it for a section, gives it back, and does another section"
        )
    };
}

const LISTED: &str =
    "attempts to take the lock, of takes and returns alike; the list and the lock move from core to core";
const SLEEPS: &str =
    "takes and returns that found the lock taken; who does so for long sleeps; the list moves from core to core";
const STACKED: &str =
    "exchanges of takes and returns that failed since another worker came first; the top moves from core to core";
const QUEUED: &str =
    "what the library does to find a slot, of which it tells nothing; the slots move from core to core";

pools! {
    STD: Guarded<Parked<mutexes::Std>> as LOCK => About {
        name: "pool-std",
        about: list!("the mutex of Rust's standard library"),
        beside: SLEEPS,
        source: "The Rust standard library, std::sync::Mutex",
        spins: false,
    };
    PARKING_LOT: Guarded<Parked<mutexes::ParkingLot>> as Role::LockPool { is_reference: true, backs_off: None } => About {
        name: "pool-parking-lot",
        about: list!("the mutex of parking_lot"),
        beside: SLEEPS,
        source: "The crate parking_lot, Mutex",
        spins: false,
    };
    PTHREAD: Guarded<Parked<mutexes::Pthread<false>>> as LOCK => About {
        name: "pool-pthread",
        about: list!("the C library's default mutex"),
        beside: SLEEPS,
        source: "POSIX, pthread_mutex_lock",
        spins: false,
    };
    PTHREAD_ADAPTIVE: Guarded<Parked<mutexes::Pthread<true>>> as LOCK => About {
        name: "pool-pthread-adaptive",
        about: list!("the C library's adaptive mutex, which spins before it sleeps"),
        beside: SLEEPS,
        source: "The GNU C library, PTHREAD_MUTEX_ADAPTIVE_NP",
        spins: false,
    };
    TAS: Guarded<lock::Tas> as LOCK => About {
        name: "pool-tas",
        about: list!("a test-and-set lock: who waits exchanges, at first with pauses, then with yields and naps in between"),
        beside: LISTED,
        source: "T. E. Anderson, The performance of spin lock alternatives for shared-memory multiprocessors, IEEE TPDS 1 (1990)",
        spins: true,
    };
    TAS_BACKOFF: Guarded<lock::TasBackoff> as Role::LockPool { is_reference: false, backs_off: Role::backoff_of("pool-tas") } => About {
        name: "pool-tas-backoff",
        about: list!("a test-and-set lock: who waits exchanges, after delays that double up to a cap in proportion to the strands"),
        beside: LISTED,
        source: "T. E. Anderson, The performance of spin lock alternatives for shared-memory multiprocessors, IEEE TPDS 1 (1990)",
        spins: true,
    };
    TTAS: Guarded<lock::Ttas> as LOCK => About {
        name: "pool-ttas",
        about: list!("a test-and-test-and-set lock: who waits reads, at first with pauses, then with yields and naps in between"),
        beside: LISTED,
        source: "L. Rudolph and Z. Segall, Dynamic decentralized cache schemes, ISCA 1984; T. E. Anderson, IEEE TPDS 1 (1990)",
        spins: true,
    };
    TICKET: Guarded<lock::Ticket> as LOCK => About {
        name: "pool-ticket",
        about: list!("a ticket lock, first come, first served: who waits reads, with pauses, then yields, then naps"),
        beside: LISTED,
        source: "D. P. Reed and R. K. Kanodia, CACM 22 (1979); J. M. Mellor-Crummey and M. L. Scott, ACM TOCS 9 (1991)",
        spins: true,
    };
    MCS: Guarded<lock::Mcs> as LOCK => About {
        name: "pool-mcs",
        about: list!("an MCS queue lock: who waits reads a line of its own, with pauses, then yields, then naps"),
        beside: LISTED,
        source: "J. M. Mellor-Crummey and M. L. Scott, Algorithms for scalable synchronization on shared-memory \
                 multiprocessors, ACM TOCS 9 (1991)",
        spins: true,
    };
    CLH: Guarded<lock::Clh> as LOCK => About {
        name: "pool-clh",
        about: list!("a CLH queue lock: who waits reads the line of the one before, with pauses, then yields, then naps"),
        beside: LISTED,
        source: "T. S. Craig, University of Washington TR 93-02-02 (1993); P. Magnusson, A. Landin and E. Hagersten, Queue \
                 locks on cache coherent multiprocessors, IPPS 1994",
        spins: true,
    };
    TREIBER: Treiber<AtOnce> as LOCK_FREE => About {
        name: "pool-treiber",
        about: "pops an item off a stack by compare-and-swap until it succeeds, holds it for a section, pushes it, and does \
                another section",
        beside: STACKED,
        source: "R. K. Treiber, Systems programming: coping with parallelism, IBM RJ 5118 (1986); the 32-bit tag: IBM \
                 System/370 Principles of Operation, compare double and swap",
        spins: true,
    };
    TREIBER_BACKOFF: Treiber<Backoff> as Role::LockFreePool { backs_off: Role::backoff_of("pool-treiber") } => About {
        name: "pool-treiber-backoff",
        about: "the same with pauses after a failure that double up to a cap in proportion to the strands",
        beside: STACKED,
        source: "R. K. Treiber, IBM RJ 5118 (1986); S. Sistare, Solaris scalability: the delay doubles to a cap in proportion \
                 to the CPUs",
        spins: true,
    };
    ARRAY_QUEUE: Array as LOCK_FREE => About {
        name: "pool-array-queue",
        about: "takes an item out of crossbeam's bounded queue, holds it for a section, puts it back, and does another section",
        beside: QUEUED,
        source: "The crate crossbeam, ArrayQueue; D. Vyukov, Bounded MPMC queue",
        spins: true,
    };
    SEG_QUEUE: Segments as LOCK_FREE => About {
        name: "pool-seg-queue",
        about: "takes an item out of crossbeam's unbounded queue, holds it for a section, puts it back, and does another section",
        beside: QUEUED,
        source: "The crate crossbeam, SegQueue",
        spins: true,
    };
    DEQUE: Deque as LOCK_FREE => About {
        name: "pool-deque",
        about: "takes an item from its own deque, or steals one where that is empty, holds it for a section, puts it on its own \
                deque, and does another section",
        beside: "steals, and searches that found nothing; a worker that has found an item keeps to it, and then meets nobody",
        source: "D. Chase and Y. Lev, Dynamic circular work-stealing deque, SPAA 2005; the crate crossbeam, Injector and Stealer",
        spins: true,
    };
}

static SPAWN_MUTEX: &dyn Kernel = &spawning::<Guarded<Parked<mutexes::Std>>>(
    const {
        &spawn::card(
            "pool-spawn-mutex",
            "does activities that each have two parts, sizes 1, 2, 3 and so on, each part by a thread from a list under a mutex, or \
             a new one; beyond the workers it counts the threads that there would be, and does the part itself",
        )
    },
);

static SPAWN_CAS: &dyn Kernel = &spawning::<Treiber<AtOnce>>(
    const {
        &spawn::card(
            "pool-spawn-cas",
            "does activities that each have two parts, sizes 1, 2, 3 and so on, each part by a thread from a stack without a lock, \
             or a new one; beyond the workers it counts the threads that there would be, and does the part itself",
        )
    },
);

#[cfg(test)]
mod tests;
