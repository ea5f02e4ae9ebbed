//! `atomic-load` to `atomic-cas-128-private`: one atomic operation, again and again, on words that lie in several ways.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::card::{ROOM, WordOwner};
use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Contention, Family, Metric, Params, Role, Work};
use crossbeam::utils::CachePadded;

use crate::kernel::{Error, Kernel, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, stage};
use crate::watch::Watch;
use operation::{Check, Hand, Operation, ROUND, Word};

mod operation;

/// How the words of several workers lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    Contended,
    /// Each has its own, beside those of others in one line: four to a line.
    FalseShared,
    /// Each has its own, on a line of its own; two such lines are the 128 bytes that some processors fetch together.
    NextLine,
    /// Each has its own, on lines of its own, in one array.
    Padded,
    /// Each has its own, in memory that it allocated itself.
    Private,
}

/// Words that share a line of 64 bytes, be they of 8 or of 16.
const NEIGHBOURS: usize = 4;
/// The words of [`CachePadded`], of which those of 8 bytes take 128.
const PLACES: usize = 16;

impl Lie {
    /// The line and the place in it of a worker's word.
    fn place(self, rank: usize) -> (usize, usize) {
        match self {
            Lie::Contended | Lie::Private => (0, 0),
            Lie::FalseShared => (rank / NEIGHBOURS, rank % NEIGHBOURS),
            Lie::NextLine => (rank / 2, rank % 2 * PLACES / 2),
            Lie::Padded => (rank, 0),
        }
    }
}

/// The four kernels of each operation: its name, what it does, the most of it in a cycle, whether it takes the line away from others,
/// and where it comes from.
macro_rules! atomics {
    ($(
        $(#[$condition:meta])? $operation:ident, $name:literal, $does:literal, $most:expr, $takes:literal, $source:expr
            $(, $role:ident)?;
    )*) => {
        pub(crate) static KERNELS: &[&dyn Kernel] = &[$(
            $(#[$condition])?
            &atomic::<operation::$operation>(Lie::Contended, const { &card(concat!("atomic-", $name),
                concat!($does, ": one word for all workers"), $most, $takes, $source)
                $(.role(Role::$role(WordOwner::All)))? }),
            $(#[$condition])?
            &atomic::<operation::$operation>(Lie::FalseShared, const { &card(concat!("atomic-", $name, "-false"),
                concat!($does, ": a word for each worker, four of them on a line"), $most, $takes, $source) }),
            $(#[$condition])?
            &atomic::<operation::$operation>(Lie::Padded, const { &card(concat!("atomic-", $name, "-padded"),
                concat!($does, ": a word for each worker, on lines of its own in one array"), $most, false, $source)
                $(.role(Role::$role(WordOwner::Apart)))? }),
            $(#[$condition])?
            &atomic::<operation::$operation>(Lie::Private, const { &card(concat!("atomic-", $name, "-private"),
                concat!($does, ": a word for each worker, in memory of its own"), $most, false, $source)
                $(.role(Role::$role(WordOwner::Worker)))? }),
        )* &NEXT_LINE];
    };
}

/// How far apart words have to be: beside `atomic-fetch-add-padded`, whose lines no processor fetches in pairs.
static NEXT_LINE: PlainKernel<Lie> = atomic::<operation::FetchAdd>(
    Lie::NextLine,
    const {
        &card(
        "atomic-fetch-add-next-line",
        "adds 1 to a 64-bit word and learns what was there: a word for each worker, two of them on the lines of 128 bytes",
        ROOM / 2.0,
        false,
        "Intel 64 and IA-32 Architectures Optimization Reference Manual, data prefetching: the spatial prefetcher completes pairs of lines",
    )
    .role(Role::Adding(WordOwner::NextLine))
    },
);

const fn card(name: &'static str, about: &'static str, most: f64, fights: bool, source: &'static str) -> Card {
    let one = Metric::ops("one operation; attempts that fail since another worker came first are none");
    Card::new(name, Family::Sync, about, one)
        .uncounted_traffic(if fights { "the line moves from core to core" } else { "" })
        .params(&[&SPAN])
        .source(source)
        .max_per_cycle(most)
        .contends(fights)
}

const RELAXED: &str = "ISO/IEC 14882, [atomics.order]: memory_order_relaxed";
const SEQ_CST: &str = "ISO/IEC 14882, [atomics.order]: memory_order_seq_cst";
const GOTTLIEB: &str = "A. Gottlieb et al., The NYU Ultracomputer, IEEE TC 32 (1983): fetch-and-add";

// The most in a cycle: loads and stores by the ports of Zen 5 and Lion Cove (Agner Fog, "Microarchitecture": 4 and 2); what reads
// and writes waits for the load of its own word, at least 4 cycles, which aarch64 can do in part at the cache: every other one.
atomics! {
    Load, "load", "loads a 64-bit word that no thread writes, relaxed", ROOM * 4.0, false, RELAXED;
    #[cfg(target_arch = "aarch64")]
    LoadSeqCst, "load-seq-cst", "loads a 64-bit word that no thread writes, sequentially \
        consistent", ROOM * 4.0, false, SEQ_CST;
    Store, "store", "stores to a 64-bit word, relaxed", ROOM * 2.0, true, RELAXED;
    StoreSeqCst, "store-seq-cst", "stores to a 64-bit word, sequentially consistent", ROOM * 2.0, true, SEQ_CST;
    Fence, "fence", "stores to a 64-bit word, relaxed, and passes a full fence", ROOM / 2.0, true,
        "ISO/IEC 14882, [atomics.fences]: atomic_thread_fence";
    FetchAdd, "fetch-add", "adds 1 to a 64-bit word and learns what was there", ROOM / 2.0, true, GOTTLIEB, Adding;
    #[cfg(target_arch = "aarch64")]
    FetchAddSeqCst, "fetch-add-seq-cst", "adds 1 to a 64-bit word and learns what was there, sequentially consistent",
        ROOM / 2.0, true, GOTTLIEB;
    Swap, "swap", "exchanges a 64-bit word with a value of its own", ROOM / 2.0, true,
        "M. Herlihy, Wait-free synchronization, TOPLAS 13 (1991): swap";
    Cas, "cas", "adds 1 to a 64-bit word by compare-and-swap, each time to what the last attempt found", ROOM / 2.0, true,
        "M. Herlihy, Wait-free synchronization, TOPLAS 13 (1991): compare-and-swap";
    Cas128, "cas-128", "adds 1 to a 128-bit word by compare-and-swap, each time to what the last attempt found", ROOM / 4.0,
        true, "Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A: CMPXCHG16B";
}

const fn atomic<O: Operation>(lie: Lie, card: &'static Card) -> PlainKernel<Lie> {
    let footprint = |_: &PlainKernel<Lie>, _: &Params| {
        Bytes((size_of::<CachePadded<[O::Word; PLACES]>>() + size_of::<Claim>()) as u64)
    };
    let kernel = PlainKernel::new(card, lie, footprint, |kernel, params, workers| {
        let (name, lie) = (kernel.name(), kernel.data);
        let shared = Arc::new(Shared::<O>::new(lie, workers));
        stage(O::VARIANT, Extent::Span(params.span()), move |rank| {
            Ok(Box::new(Repeater::new(name, lie, Arc::clone(&shared), rank)))
        })
    });
    kernel.check(|kernel| match O::Word::available() {
        true => Ok(()),
        false => Err(kernel.unavailable("needs a processor with cmpxchg16b, which this one has not: leave it out")),
    })
}

/// Words, a few to each pair of lines.
type Lines<W> = Box<[CachePadded<[W; PLACES]>]>;

fn lines<W: Word>(count: usize) -> Lines<W> {
    (0..count).map(|_| CachePadded::new(std::array::from_fn(|_| W::new()))).collect()
}

/// What a worker says of all of its runs, written once a run.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Claim {
    balance: AtomicU64,
    last: AtomicU64,
}

struct Shared<O: Operation> {
    lines: Lines<O::Word>,
    claims: Box<[Claim]>,
}

struct Repeater<O: Operation> {
    name: &'static str,
    rank: usize,
    lie: Lie,
    own: Option<Lines<O::Word>>,
    shared: Arc<Shared<O>>,
    hand: CachePadded<Hand>,
    /// Of the last run.
    ops: u64,
}

impl<O: Operation> Shared<O> {
    fn new(lie: Lie, workers: usize) -> Self {
        let lines = lines(lie.place(workers - 1).0 + 1);
        Shared { lines, claims: (0..workers).map(|_| Claim::default()).collect() }
    }
}

impl<O: Operation> Repeater<O> {
    fn new(name: &'static str, lie: Lie, shared: Arc<Shared<O>>, rank: usize) -> Self {
        // No two workers ever put the same value there, and 2⁴⁰ of them take an hour.
        let hand = CachePadded::new(Hand::new((rank as u64 + 1) << 40));
        let own = (lie == Lie::Private).then(|| lines(1));
        Repeater { name, rank, lie, own, shared, hand, ops: 0 }
    }

    fn word(&self) -> &O::Word {
        let (line, place) = self.lie.place(self.rank);
        &self.own.as_ref().unwrap_or(&self.shared.lines)[line][place]
    }

    /// What those say who have this worker's word.
    fn claims(&self) -> &[Claim] {
        match self.lie {
            Lie::Contended => &self.shared.claims,
            Lie::FalseShared | Lie::NextLine | Lie::Padded | Lie::Private => &self.shared.claims[self.rank..=self.rank],
        }
    }
}

impl<O: Operation> Worker for Repeater<O> {
    fn run(&mut self, watch: &Watch) -> Work {
        let (mut hand, mut pace, mut rounds) = (std::mem::take(&mut *self.hand), Pace::start(), 0);
        (hand.failures, hand.waits) = (0, 0);
        let word = self.word();
        let alone = matches!(self.lie, Lie::NextLine | Lie::Padded | Lie::Private);
        while !(if alone { watch.should_stop_after(ROUND * rounds) } else { watch.should_stop() }) {
            (0..pace.attempts()).for_each(|_| O::round(word, &mut hand));
            rounds += pace.attempts();
            pace.adapt();
        }
        self.ops = ROUND * rounds - hand.failures;
        if rounds > 0 {
            hand.last = hand.next;
        }
        // Relaxed: the reader has waited for this worker to end, by other means.
        let claim = &self.shared.claims[self.rank];
        claim.balance.store(hand.balance(), Ordering::Relaxed);
        claim.last.store(hand.last, Ordering::Relaxed);
        *self.hand = hand;
        Work::ops(self.ops)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let found = self.word().value();
        let claims = self.claims().iter();
        let (right, told) = match O::CHECK {
            Check::Balance => {
                let sum =
                    claims.map(|claim| claim.balance.load(Ordering::Relaxed)).fold(operation::FIRST, u64::wrapping_add);
                (found == sum, format!("{sum}, by what the workers put in and took out"))
            }
            Check::Last => {
                let mut lasts = claims.map(|claim| claim.last.load(Ordering::Relaxed));
                (lasts.any(|last| last == found), "the last value of a worker".into())
            }
        };
        Error::unless(right, self.name, || format!("the word holds {found}, and not {told}"))
    }

    fn contention(&self) -> Option<Contention> {
        let Hand { failures, waits, .. } = *self.hand;
        let attempts = self.ops + failures;
        O::CAN_FAIL.then_some(Contention { attempts, failures, waits, ..Contention::default() })
    }
}

#[cfg(test)]
mod tests;
