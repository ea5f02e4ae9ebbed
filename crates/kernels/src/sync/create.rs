//! `create-*`: how long it takes to make a thread, and until it runs.
//!
//! One worker makes threads, one after the other. Each new thread first stores the time, and ends; its maker joins it or, if it
//! is detached, sleeps until the time is there. Neither the join nor the sleep is timed.
//!
//! A thread of the standard library inherits the strands of its maker, so on a seat the two share a strand. A thread of the C
//! library can be bound when it is made: a second worker lends its seat, and sleeps meanwhile.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use charz_data::{Card, Contention, JointHistogram, Work};

use crate::clock::Clock;
use crate::kernel::{Error, Worker};
use crate::leaving::{Lender, Lent};
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, stage};
use crate::sys::futex::{self, Scope};
use crate::sys::pthread::thread::Mask;
use crate::watch::Watch;

use super::handoff::PATIENCE;
use super::schedule::{Call, Sampler};
use super::spin::until_due;

pub(crate) mod first;
pub(crate) mod hold;
mod methods;
pub(crate) mod rate;

pub(crate) use methods::KERNELS;

/// Bytes of stack that a new thread gets: little, since it does little, and at least what the C library asks for, which is 128 KiB on
/// aarch64.
const STACK: usize = if libc::PTHREAD_STACK_MIN > 64 << 10 { libc::PTHREAD_STACK_MIN } else { 64 << 10 };

trait Method: Sized + 'static {
    /// What has to be dropped for a thread to be gone, or to have been let go.
    type Thread;

    const VARIANT: &'static str;

    /// Makes threads on the strands of a lender, or on those of the calling thread.
    fn new(lent: Option<&Mask>) -> Result<Self, Error>;

    /// The call: makes a thread that calls [`Child::enter`].
    fn make(&self, child: Arc<Child>) -> Result<Self::Thread, Error>;
}

struct Child {
    clock: Arc<dyn Clock>,
    stamp: AtomicU64,
    /// 1 once the stamp is there.
    here: AtomicU32,
}

impl Child {
    fn new(clock: &Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Child { clock: Arc::clone(clock), stamp: AtomicU64::new(0), here: AtomicU32::new(0) })
    }

    fn run(&self) {
        self.stamp.store(self.clock.now(), Ordering::Relaxed);
        self.here.store(1, Ordering::Release);
        // A system call even if the maker does not sleep: the thread has stamped, and has nothing else to do.
        futex::wake(&self.here, 1, Scope::Process);
    }

    /// Sleeps until the thread has run, and returns its stamp; `None` when the run is to end.
    fn stamped(&self, watch: &Watch) -> Option<u64> {
        while self.here.load(Ordering::Acquire) == 0 {
            futex::wait(&self.here, 0, Scope::Process, PATIENCE);
            if watch.should_stop() {
                break;
            }
        }
        (self.here.load(Ordering::Acquire) == 1).then(|| self.stamp.load(Ordering::Relaxed))
    }
}

const fn making<M: Method>(card: &'static Card) -> PlainKernel {
    PlainKernel::new(card, (), Pairs::of_samples, |kernel, params, _| {
        let (name, samples, period) = (kernel.name(), kernel.samples(params)?, params.period);
        let shared = Arc::<Lent>::default();
        stage(M::VARIANT, Extent::Each(Work::ops(samples)), move |rank| {
            let shared = Arc::clone(&shared);
            if rank > 0 {
                return Ok(Box::new(Lender::new(shared)?));
            }
            let sampler = Sampler::new(period, samples, 1)?;
            Ok(Box::new(Parent::<M> { name, shared, sampler, refused: None, method: PhantomData }))
        })
    })
}

struct Parent<M> {
    name: &'static str,
    shared: Arc<Lent>,
    sampler: Sampler,
    /// Why the system made no thread in the last run.
    refused: Option<Error>,
    method: PhantomData<fn() -> M>,
}

impl<M: Method> Worker for Parent<M> {
    fn prepare(&mut self) {
        self.sampler.reset();
        self.refused = None;
        self.shared.leaving.reset();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let made = self.make_all(watch);
        // A run in which the system refuses a thread counts as a whole one, so it is verified: `verify` returns the error.
        let taken = made.unwrap_or_else(|error| {
            self.refused = Some(error);
            self.sampler.samples()
        });
        self.shared.leaving.first(taken)
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.refused.take().map_or_else(|| self.sampler.verify(self.name), Err)
    }

    fn contention(&self) -> Option<Contention> {
        Some(self.sampler.kept())
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        Some(self.sampler.joint())
    }
}

impl<M: Method> Parent<M> {
    fn make_all(&mut self, watch: &Watch) -> Result<u64, Error> {
        let method = M::new(self.shared.mask()?.as_ref())?;
        let over = || watch.should_stop() || self.shared.leaving.has_begun();
        let mut refused = None;
        let taken = self.sampler.take(watch, |due, seen| {
            if due.is_some_and(|due| !until_due(watch, over, due)) {
                return None;
            }
            let child = Child::new(watch.clock());
            let given = Arc::clone(&child);
            let called = watch.now();
            let thread = method.make(given);
            let returned = watch.now();
            match thread {
                // A thread to be joined is gone then; one that is detached ends on its own.
                Ok(thread) => drop(thread),
                Err(error) => {
                    refused = Some(error);
                    return None;
                }
            }
            seen.push(child.stamped(watch)?);
            Some(Call { called, returned, ended: watch.now(), real: true })
        });
        refused.map_or(Ok(taken), Err)
    }
}

#[cfg(test)]
mod tests;
