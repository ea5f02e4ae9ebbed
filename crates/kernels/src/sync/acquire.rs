//! Locks that workers take and give back as often as they can: acquisitions per second.
//!
//! * `acquire-*`: one lock for all, with nothing behind it. lockhammer counts the same (github.com/ARM-software/synchronization-benchmarks).
//! * `lock-striped`: each section takes one of `--stripes` locks at random. One lock for everything is the first step of a scalable program, and
//!   an array of locks by a hash the second (S. Sistare, "Solaris Scalability").

use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use charz_data::card::ROOM;
use charz_data::params::{INSIDE, OUTSIDE, SPAN, STRIPES};
use charz_data::{Bytes, Card, Contention, Family, Metric, Params, Role, Work};
use crossbeam::utils::CachePadded;

use super::lock::{self, Lock, Parked};
use super::primitives::OwnStrands;
use super::wait_stats::WaitStats;
use super::{mutexes, section};
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::watch::Watch;

/// Of so many acquisitions of a lock alone one adds to the word behind it, which the check needs: its line moves from core to core too.
const CHECKED: u64 = 64;

const CARD: Card = Card::new("", Family::Sync, "", Metric::ops("one section"))
    // A lock is taken and given back by a word that changes twice: at least the 4 cycles of a load from the first-level cache each
    // (Agner Fog, "Instruction tables").
    .max_per_cycle(ROOM / 8.0);

const SLEEPING: Card = CARD
    .metric(Metric::ops("one acquisition of the lock"))
    .params(&[&SPAN, &INSIDE, &OUTSIDE])
    .role(Role::Lock { is_reference: false, backs_off: None })
    .uncounted_traffic("attempts that found the lock taken; one acquisition in 64 also adds to a word behind the lock, to check that it excludes")
    .source("lockhammer, github.com/ARM-software/synchronization-benchmarks: acquisitions per second, with sections of any length")
    .blocks_in_kernel(true);

const SPINNING: Card = SLEEPING.contends(true).blocks_in_kernel(false);

/// What a worker does with a lock.
macro_rules! acquires {
    ($lock:literal) => {
        concat!(
            "takes ",
            $lock,
            " that all workers share, holds it for a section, gives it back, and does another section"
        )
    };
}

kernels! {
    acquiring::<Parked<mutexes::Std>> => SLEEPING.named("acquire-std", acquires!("a mutex of Rust's standard library"));
    acquiring::<Parked<mutexes::ParkingLot>> => SLEEPING
        .named("acquire-parking-lot", acquires!("a mutex of parking_lot"))
        .role(Role::Lock { is_reference: true, backs_off: None });
    acquiring::<Parked<mutexes::Pthread<false>>> => SLEEPING
        .named("acquire-pthread", acquires!("the C library's default mutex"));
    acquiring::<Parked<mutexes::Pthread<true>>> => SLEEPING
        .named("acquire-pthread-adaptive", acquires!("the C library's adaptive mutex"));
    acquiring::<lock::Tas> => SPINNING.named("acquire-tas", acquires!("a test-and-set lock"));
    acquiring::<lock::TasBackoff> => SPINNING
        .named("acquire-tas-backoff", acquires!("a test-and-set lock with delays that double up to a cap in proportion to the CPUs"))
        .role(Role::Lock { is_reference: false, backs_off: Role::backoff_of("acquire-tas") });
    acquiring::<lock::Ttas> => SPINNING.named("acquire-ttas", acquires!("a test-and-test-and-set lock"));
    acquiring::<lock::Ticket> => SPINNING.named("acquire-ticket", acquires!("a ticket lock"));
    acquiring::<lock::Mcs> => SPINNING.named("acquire-mcs", acquires!("an MCS queue lock"));
    acquiring::<lock::Clh> => SPINNING.named("acquire-clh", acquires!("a CLH queue lock"));
    striped => CARD.named(
            "lock-striped",
            "takes one of several mutexes of Rust's standard library at random, adds to the word behind it, and gives it back",
        )
        .params(&[&SPAN, &STRIPES, &INSIDE, &OUTSIDE])
        .uncounted_traffic("the lock and its word move from core to core")
        .source("S. Sistare, Solaris scalability: fine-grained locking, by hashed arrays of locks whose number grows with the CPUs")
        .blocks_in_kernel(true);
}

/// A lock with the word behind it.
struct Stripe<L> {
    lock: L,
    count: AtomicU64,
}

struct Stripes<L> {
    all: Box<[CachePadded<Stripe<L>>]>,
    /// Of so many sections one adds to the word.
    checked: u64,
    /// Sections of a run that did, once their workers have ended it.
    counted: AtomicU64,
    strands: OwnStrands,
}

const fn acquiring<L: Lock>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes(size_of::<CachePadded<Stripe<L>>>() as u64);
    PlainKernel::new(card, (), footprint, |kernel, params, workers| stage_of::<L>(kernel, params, workers, 1, CHECKED))
        .shares_memory()
}

const fn striped(card: &'static Card) -> PlainKernel {
    type Own = Parked<mutexes::Std>;
    let footprint = |_: &PlainKernel, params: &Params| {
        Bytes(params.stripes.saturating_mul(size_of::<CachePadded<Stripe<Own>>>() as u64))
    };
    PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        stage_of::<Own>(kernel, params, workers, params.stripes, 1)
    })
    .shares_memory()
}

fn stage_of<L: Lock>(
    kernel: &PlainKernel,
    params: &Params,
    workers: usize,
    locks: u64,
    checked: u64,
) -> Result<Box<dyn crate::kernel::Stage>, Error> {
    let stripe =
        |_| -> Result<_, Error> { Ok(CachePadded::new(Stripe { lock: L::new(workers)?, count: AtomicU64::new(0) })) };
    let all = (0..locks).map(stripe).collect::<Result<_, Error>>()?;
    let strands = OwnStrands::of(workers);
    let stripes = Arc::new(Stripes { all, checked, counted: AtomicU64::new(0), strands });
    let (name, sections) = (kernel.name(), [params.inside_steps, params.outside_steps]);
    let meeting = if locks == 1 { "one lock" } else { "several locks" };
    stage(meeting, Extent::Span(kernel.span(params)?), move |rank| {
        stripes.strands.enrol();
        Ok(Box::new(Striped::new(name, rank, Arc::clone(&stripes), sections)))
    })
}

struct Striped<L> {
    name: &'static str,
    rank: usize,
    stripes: Arc<Stripes<L>>,
    sections: [u64; 2],
    random: u64,
    state: u64,
    stats: CachePadded<Contention>,
}

impl<L> Striped<L> {
    fn new(name: &'static str, rank: usize, stripes: Arc<Stripes<L>>, sections: [u64; 2]) -> Self {
        let random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * rank as u64 + 1);
        Striped { name, rank, stripes, sections, random, state: rank as u64, stats: CachePadded::default() }
    }
}

impl<L: Lock> Worker for Striped<L> {
    fn prepare(&mut self) {
        // Relaxed: the workers begin their runs only after all have prepared, by other means.
        if self.rank == 0 {
            self.stripes.all.iter().for_each(|stripe| stripe.count.store(0, Ordering::Relaxed));
            self.stripes.counted.store(0, Ordering::Relaxed);
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (mut stats, mut pace, mut done, mut counted) = (WaitStats::default(), Pace::start(), 0, 0);
        let [inside, outside] = self.sections;
        let Stripes { all, checked, strands, .. } = &*self.stripes;
        while !watch.should_stop() {
            for _ in 0..pace.attempts() {
                let stripe = match &**all {
                    [only] => only,
                    all => {
                        // The generator xorshift64 of G. Marsaglia, Journal of Statistical Software 8 (2003).
                        self.random ^= self.random << 13;
                        self.random ^= self.random >> 7;
                        self.random ^= self.random << 17;
                        &all[(self.random % all.len() as u64) as usize]
                    }
                };
                done += 1;
                let counts = done >= (counted + 1) * checked;
                counted += u64::from(counts);
                self.state = stripe.lock.with(self.rank, Some(strands), &mut stats, || {
                    // Not in one step: what is lost without the lock is missing at the end.
                    let count = counts.then(|| stripe.count.load(Ordering::Relaxed));
                    let state = section(inside, self.state);
                    if let Some(count) = count {
                        stripe.count.store(count + 1, Ordering::Relaxed);
                    }
                    state
                });
                self.state = section(outside, self.state);
                // A stretch that began at peace and ends at war would take so many long waits.
                if take(&mut stats.rested) {
                    break;
                }
            }
            pace.adapt();
        }
        self.stripes.counted.fetch_add(counted, Ordering::Relaxed);
        *self.stats = stats.counts();
        self.state = std::hint::black_box(self.state);
        Work::ops(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let found: u64 = self.stripes.all.iter().map(|stripe| stripe.count.load(Ordering::Relaxed)).sum();
        let counted = self.stripes.counted.load(Ordering::Relaxed);
        Error::unless(found == counted, self.name, || format!("{counted} sections counted up to {found}"))
    }

    fn contention(&self) -> Option<Contention> {
        Some(*self.stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::watch;
    use std::time::Duration;

    fn worker<L: Lock>(checked: u64, found: u64, counted: u64) -> Striped<L> {
        let all = [CachePadded::new(Stripe { lock: L::new(1).unwrap(), count: AtomicU64::new(found) })].into();
        let stripes = Stripes { all, checked, counted: AtomicU64::new(counted), strands: OwnStrands::of(1) };
        Striped::new("x", 0, Arc::new(stripes), [0; 2])
    }

    #[test]
    fn a_section_that_was_lost_is_noticed() {
        let mut worker = worker::<Parked<mutexes::Std>>(1, 7, 8);
        assert!(matches!(worker.verify(), Err(Error::Wrong(why)) if why.contains("8 sections counted up to 7")));
        worker.prepare();
        assert_eq!(worker.verify(), Ok(()));
    }

    /// So a lock that does not exclude loses some of the counts.
    #[test]
    fn one_section_in_so_many_counts() {
        for checked in [1, CHECKED] {
            let mut worker = worker::<lock::Mcs>(checked, 0, 0);
            let done = worker.run(&watch(Some(Duration::from_millis(2)))).ops.0;
            let found = worker.stripes.all[0].count.load(Ordering::Relaxed);
            assert!(done > 0 && found == done / checked, "{found} of {done}");
            assert_eq!(worker.contention().unwrap().attempts, done);
            assert_eq!(worker.verify(), Ok(()));
        }
    }
}
