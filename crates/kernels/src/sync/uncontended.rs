//! `lock-*`: an uncontended mutex is taken and released.

use std::hint::black_box;

use charz_data::card::ROOM;
use charz_data::params::STEPS;
use charz_data::{Bytes, Card, Family, Metric, Params, Work, WorkerCount};

use super::mutexes::{Mutex, ParkingLot, Pthread, Std};
use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::watch::Watch;

/// Iterations that make one pair: a pair takes about 5 ns.
const ITERATIONS_PER_PAIR: u64 = 4;

const CARD: Card = Card::new(
    "",
    Family::Sync,
    "",
    Metric::serial_time("one lock and its unlock, without contention; 4 iterations make one"),
)
.uncounted_traffic("nothing but the loop's counting: the line of the mutex stays in the core")
.params(&[&STEPS])
.source("T3-4 report (arXiv:1106.2992), section 6: uncontended lock and unlock")
// Each pair exchanges the mutex's word at least once, which takes 8 cycles or more (Agner Fog, "Instruction tables").
.max_per_cycle(ROOM / 8.0)
.workers(WorkerCount::Exactly(1));

kernels! {
    locking::<Pthread<false>> => CARD
        .named("lock-pthread", "locks and unlocks a PTHREAD_MUTEX_DEFAULT of its own, again and again");
    locking::<Pthread<true>> => CARD
        .named("lock-pthread-adaptive", "locks and unlocks a PTHREAD_MUTEX_ADAPTIVE_NP of its own, again and again");
    locking::<Std> => CARD.named("lock-std", "locks and unlocks a std::sync::Mutex of its own, again and again");
    locking::<ParkingLot> => CARD
        .named("lock-parking-lot", "locks and unlocks a parking_lot::Mutex of its own, again and again");
}

const fn locking<M: Mutex>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes(size_of::<M>() as u64);
    PlainKernel::new(card, (), footprint, |kernel, params, _| {
        let name = kernel.name();
        let pairs = (kernel.iterations_up_to(u64::MAX, params)? / ITERATIONS_PER_PAIR).max(1);
        stage("lock, unlock", Extent::Each(Work::ops(pairs)), move |_| {
            Ok(Box::new(Locker { name, pairs, mutex: M::new()? }))
        })
    })
}

struct Locker<M> {
    name: &'static str,
    pairs: u64,
    mutex: M,
}

impl<M: Mutex> Worker for Locker<M> {
    fn run(&mut self, watch: &Watch) -> Work {
        let (mut done, mut pace) = (0, Pace::start());
        while !watch.should_stop_after(done) && done < self.pairs {
            let pairs = pace.attempts().min(self.pairs - done);
            block(&self.mutex, pairs);
            done += pairs;
            pace.adapt();
        }
        Work::ops(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        Error::unless(self.mutex.free(), self.name, || "the mutex is still locked".into())
    }
}

/// The timed loop. The origin of the mutex is hidden, so no compiler concludes that it is free.
#[inline(never)]
fn block<M: Mutex>(mutex: &M, pairs: u64) {
    for _ in 0..pairs {
        drop(black_box(mutex).lock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::tests::watch;

    struct Stuck;

    impl Mutex for Stuck {
        type Guard<'a> = u8;

        fn new() -> Result<Self, Error> {
            Ok(Stuck)
        }

        fn lock(&self) -> u8 {
            0
        }

        fn try_lock(&self) -> Option<u8> {
            None
        }
    }

    #[test]
    fn a_mutex_that_was_not_given_back_voids_the_run() {
        let params = Params { iterations: 10 * ITERATIONS_PER_PAIR, ..Params::SMALL };
        let stage = locking::<Stuck>(const { &CARD.named("lock-stuck", "") }).stage(&params, 1).unwrap();
        let mut worker = stage.worker(0).unwrap();
        assert_eq!(worker.run(&watch(None)), Work::ops(10));
        assert!(matches!(worker.verify(), Err(Error::Wrong(reason)) if reason.contains("lock-stuck")));
    }
}
