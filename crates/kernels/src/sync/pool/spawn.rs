//! `pool-spawn-…`: a runtime that takes a thread from a pool for every activity, and makes one where the pool is empty; on a
//! recursion whose activities double from one size to the next.
//!
//! It is the runtime of the T3-4 report, section 7, whose measurement of a fast Fourier transform had to be broken off: each
//! activity waits for its two parts, so nearly as many threads are wanted as there are activities. Here the kernel's workers
//! are the threads. One that has had nothing to do yet counts as one that is to be made; when all are taken, a further thread
//! is only counted, and the worker that wanted it does the activity itself. So the growth shows, at the cost of a bounded
//! number of threads.

mod runtime;

use std::sync::Arc;

use charz_data::card::ROOM;
use charz_data::params::{INSIDE, OUTSIDE, SPAN};
use charz_data::{Bytes, Card, Contention, Family, Growth, Metric, Params, Role, Work, WorkerCount};

use super::kernel::span;
use super::{Error, Pool};
use crate::kernel::Worker;
use crate::plain::{Extent, PlainKernel, stage};
use crate::watch::Watch;

use runtime::{Runtime, Thread};

pub(super) const CARD: Card = Card::new("", Family::Sync, "", Metric::ops("one activity of the recursion"))
    .role(Role::ThreadPool)
    .uncounted_traffic(
        "takes and returns of threads; threads that there would be; workers that wait for their parts, or for a task",
    )
    .params(&[&SPAN, &INSIDE, &OUTSIDE])
    .source("The T3-4 report (arXiv 1106.2992), section 7: a runtime with a pool of threads, fast Fourier transform")
    // A call and a return for each, of which no processor does more than one a cycle.
    .max_per_cycle(ROOM)
    .contends(true)
    .workers(WorkerCount::AtLeast(2))
    // Those who wait for a task nap.
    .blocks_in_kernel(true);

/// The kernel about a runtime with one kind of pool.
pub(super) const fn spawning<P: Pool>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes((size_of::<Thread<P>>() + Runtime::<P>::EACH) as u64);
    PlainKernel::new(card, (), footprint, |kernel, params, workers| {
        let (name, span) = (kernel.name(), span(kernel, params)?);
        let threads = u32::try_from(workers)
            .map_err(|_| kernel.unavailable(format_args!("takes 2 to 2³² workers, not {workers}")))?;
        let (runtime, steps) = (Arc::new(Runtime::<P>::new(threads)?), [params.inside_steps, params.outside_steps]);
        stage(P::MEETING, Extent::Span(span), move |rank| {
            Ok(Box::new(Thread::new(name, Arc::clone(&runtime), rank as u32, steps)?))
        })
    })
}

/// Number 0 starts one size after the other; the others do the tasks that they are given.
impl<P: Pool> Worker for Thread<P> {
    fn prepare(&mut self) {
        self.reset();
        (self.growth, self.verdict) = (None, Ok(()));
    }

    fn run(&mut self, watch: &Watch) -> Work {
        if self.asks() {
            let (growth, verdict) = self.grow(watch);
            (self.growth, self.verdict) = (Some(growth), verdict);
        } else {
            self.obey(watch);
        }
        Work::ops(self.activities)
    }

    /// To be called when all workers have ended their runs; number 0 checks.
    fn verify(&mut self) -> Result<(), Error> {
        let verdict = std::mem::replace(&mut self.verdict, Ok(()));
        let verdict = verdict.and_then(|()| if self.asks() { self.find_all() } else { Ok(()) });
        verdict.map_err(|what| Error::void(self.name, what))
    }

    fn contention(&self) -> Option<Contention> {
        Some(self.stats.counts())
    }

    fn growth(&mut self) -> Option<Growth> {
        self.growth.take()
    }
}

#[cfg(test)]
mod tests;
