//! `lock-*`: a mutex that nobody else wants is taken and given back.

use std::hint::black_box;
use std::marker::PhantomData;

use charz_data::card::ROOM;
use charz_data::params::ITERATIONS;
use charz_data::{Bytes, Card, Family, Metric, Params, Work, WorkerCount};

use super::mutexes::{Mutex, ParkingLot, Pthread, Std};
use crate::kernel::{Error, Kernel, Stage, Worker};
use crate::kernel_of::{KernelOf, StageBuilder};
use crate::pace::Pace;
use crate::watch::Watch;

pub(crate) static KERNELS: &[&dyn Kernel] = &[LOCK_PTHREAD, LOCK_PTHREAD_ADAPTIVE, LOCK_STD, LOCK_PARKING_LOT];

/// Iterations that make one pair: a pair takes about 5 ns.
const ITERATIONS_PER_PAIR: u64 = 4;

const CARD: Card = Card::new(
    "",
    Family::Sync,
    "",
    Metric::serial_time("one lock and its unlock, which nobody else wants; 4 iterations make one"),
)
.uncounted_traffic("nothing but the loop's counting: the line of the mutex stays in the core")
.params(&[&ITERATIONS])
.source("T3-4 report (arXiv:1106.2992), section 6: uncontended lock and unlock")
// Each pair exchanges the mutex's word at least once, which takes 8 cycles or more (Agner Fog, "Instruction tables").
.max_per_cycle(ROOM / 8.0)
.workers(WorkerCount::Exactly(1));

pub static LOCK_PTHREAD: &dyn Kernel = &Lock::<Pthread<false>>::new(
    const { &CARD.named("lock-pthread", "locks and unlocks a PTHREAD_MUTEX_DEFAULT of its own, again and again") },
);

pub static LOCK_PTHREAD_ADAPTIVE: &dyn Kernel = &Lock::<Pthread<true>>::new(
    const {
        &CARD
            .named("lock-pthread-adaptive", "locks and unlocks a PTHREAD_MUTEX_ADAPTIVE_NP of its own, again and again")
    },
);

pub static LOCK_STD: &dyn Kernel = &Lock::<Std>::new(
    const { &CARD.named("lock-std", "locks and unlocks a std::sync::Mutex of its own, again and again") },
);

pub static LOCK_PARKING_LOT: &dyn Kernel = &Lock::<ParkingLot>::new(
    const { &CARD.named("lock-parking-lot", "locks and unlocks a parking_lot::Mutex of its own, again and again") },
);

type Lock<M> = KernelOf<Locking<M>>;

struct Locking<M> {
    name: &'static str,
    /// Of a full run.
    pairs: u64,
    mutex: PhantomData<fn() -> M>,
}

impl<M: Mutex> StageBuilder for Locking<M> {
    fn footprint(_: &Params) -> Bytes {
        Bytes(size_of::<M>() as u64)
    }

    fn build(card: &'static Card, params: &Params, _workers: usize) -> Result<Self, Error> {
        let (name, iterations) = (&*card.name, params.iterations);
        if iterations == 0 {
            return Err(Error::Unavailable(format!("{name} takes at least 1 iteration, not 0 iterations")));
        }
        Ok(Locking { name, pairs: (iterations / ITERATIONS_PER_PAIR).max(1), mutex: PhantomData })
    }
}

impl<M: Mutex> Stage for Locking<M> {
    fn variant(&self) -> &'static str {
        "lock, unlock"
    }

    fn work(&self) -> Work {
        Work::ops(self.pairs)
    }

    fn worker(&self, _rank: usize) -> Result<Box<dyn Worker>, Error> {
        Ok(Box::new(Locker { name: self.name, pairs: self.pairs, mutex: M::new()? }))
    }
}

struct Locker<M> {
    name: &'static str,
    pairs: u64,
    mutex: M,
}

impl<M: Mutex> Worker for Locker<M> {
    fn run(&mut self, watch: &Watch) -> Work {
        let (mut done, mut pace) = (0, Pace::start());
        while done < self.pairs && !watch.should_stop() {
            let pairs = pace.attempts().min(self.pairs - done);
            block(&self.mutex, pairs);
            done += pairs;
            pace.adapt();
        }
        Work::ops(done)
    }

    fn verify(&mut self) -> Result<(), Error> {
        if self.mutex.free() {
            return Ok(());
        }
        Err(Error::Wrong(format!("{}: the mutex is still locked: the result of this run is void", self.name)))
    }
}

/// What is timed. Where the mutex comes from is hidden, so that no compiler concludes that it is free.
#[inline(never)]
fn block<M: Mutex>(mutex: &M, pairs: u64) {
    for _ in 0..pairs {
        drop(black_box(mutex).lock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Stop;

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
        let stage = Locking::<Stuck> { name: "lock-stuck", pairs: 10, mutex: PhantomData };
        let mut worker = stage.worker(0).unwrap();
        assert_eq!(worker.run(&Watch::new(&Stop::new())), Work::ops(10));
        assert!(matches!(worker.verify(), Err(Error::Wrong(reason)) if reason.contains("lock-stuck")));
    }

    #[test]
    fn no_iterations_are_refused() {
        let params = Params { iterations: 0, ..Params::SMALL };
        for kernel in [LOCK_PTHREAD, LOCK_STD] {
            assert!(kernel.stage(&params, 1).is_err());
        }
    }
}
