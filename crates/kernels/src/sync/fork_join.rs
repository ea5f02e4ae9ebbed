//! `fork-join` and `fork-join-spin`: a parallel region without work, as a runtime such as OpenMP's begins and ends it for each loop.
//!
//! The first worker wakes all others, which sleep on one word of memory, and sleeps on another until the last of them is through.
//! The word counts regions; the others say that they are about to sleep as late as they can, and get [`SETTLE`] to do so. Where they spin, as
//! the threads of runtimes do for a while, none sleeps: what lies between the two is the price of parking.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use charz_data::params::{PERIOD, SAMPLES};
use charz_data::{Card, Contention, Family, JointHistogram, Metric, Work, WorkerCount};
use crossbeam::utils::CachePadded;

use super::handoff::{PATIENCE, SETTLE};
use super::schedule::{Call, Sampler};
use super::spin::{OwnStrands, keep, until, until_due};
use crate::kernel::{Error, Worker};
use crate::leaving::Leaving;
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::futex::{self, Scope};
use crate::watch::Watch;

const SLEEPING: Card = Card::new("", Family::Sync, "", Metric::SecondTime)
    .times("from the call that wakes to its return", "from the call until the first worker runs again")
    .on_one_strand()
    .params(&[&SAMPLES, &PERIOD])
    .source(
        "J. M. Bull, Measuring Synchronisation and Scheduling Overheads in OpenMP (EWOMP 1999): parallel; K. Milfeld et al., \
         multi-core measurements at TACC, section 4; G. Tene, How NOT to Measure Latency (2013): the schedule",
    )
    .workers(WorkerCount::AtLeast(2))
    .blocks_in_kernel(true);

kernels! {
    fork_join, false => SLEEPING
        .named(
            "fork-join",
            "the first worker wakes all others, each of which reports at once, and sleeps until the last has reported",
        )
        .uncounted_traffic(
            "no worker spins, as runtimes do for a while, so this is what a region costs after a pause. The others get 10 µs to fall asleep \
             after they have said that they are about to. A sleep lasts 50 ms at most: setting and \
             cancelling its timer is part of the second time, 0.1 µs on Sapphire Rapids",
        );
    fork_join, true => SLEEPING
        .named("fork-join-spin", "does as fork-join with workers that spin instead of sleeping")
        .uncounted_traffic("the word that begins a region and the one that counts who is through move from core to core")
        .contends(true)
        .blocks_in_kernel(false);
}

const fn fork_join(card: &'static Card, spins: bool) -> PlainKernel<bool> {
    PlainKernel::new(card, spins, Pairs::of_samples, |kernel, params, workers| {
        let (name, samples, period) = (kernel.name(), kernel.samples(params)?, params.period);
        let (others, strands) = (workers as u32 - 1, OwnStrands::of(workers));
        let region = Arc::new(Region { others, spins: kernel.data, strands, ..Region::default() });
        let variant = if kernel.data { "spinning" } else { "futex, private" };
        stage(variant, Extent::Each(Work::ops(samples)), move |rank| {
            let region = Arc::clone(&region);
            region.strands.enrol();
            if rank > 0 {
                return Ok(Box::new(Helper { region }));
            }
            Ok(Box::new(Leader { name, region, sampler: Sampler::new(period, samples, 1)? }))
        })
    })
}

#[derive(Debug, Default)]
struct Region {
    others: u32,
    /// Whether workers wait without sleeping.
    spins: bool,
    strands: OwnStrands,
    /// How many regions were begun, over all runs: what the others sleep on.
    begun: CachePadded<AtomicU32>,
    /// How many of the others are about to sleep.
    ready: CachePadded<AtomicU32>,
    /// How many of the others are not through: what the first worker sleeps on.
    left: CachePadded<AtomicU32>,
    leaving: CachePadded<Leaving>,
}

impl Region {
    /// Whether a worker is to leave: its watch ends, or another has left.
    fn ends(&self, watch: &Watch) -> bool {
        watch.should_stop() || self.leaving.has_begun()
    }

    /// After a worker has left: one that looked before and sleeps only now wakes up by itself.
    fn wake(&self) {
        futex::wake(&self.begun, u32::MAX, Scope::Process);
        futex::wake(&self.left, 1, Scope::Process);
    }

    /// Waits for others that do not sleep, or are about to. Workers that outnumber strands have to nap.
    fn wait(&self, watch: &Watch, there: impl FnMut() -> bool) -> bool {
        let ends = || self.ends(watch);
        if self.spins && self.strands.each() { keep(ends, there) } else { until(ends, || false, there) }
    }

    fn sample(&self, watch: &Watch, due: Option<u64>, seen: &mut Vec<u64>) -> Option<Call> {
        let ends = || self.ends(watch);
        if !self.wait(watch, || self.ready.load(Ordering::Acquire) == self.others) {
            return None;
        }
        self.ready.store(0, Ordering::Relaxed);
        self.left.store(self.others, Ordering::Relaxed);
        let settled = if self.spins { 0 } else { watch.now().saturating_add(SETTLE) };
        let in_time = until_due(watch, ends, due.map_or(settled, |due| due.max(settled)));
        let called = watch.now();
        // Release: who sees it, sees how many are left.
        self.begun.fetch_add(1, Ordering::Release);
        let woken = if self.spins { 1 } else { futex::wake(&self.begun, u32::MAX, Scope::Process) };
        let returned = watch.now();
        if self.spins && !self.wait(watch, || self.left.load(Ordering::Acquire) == 0) {
            return None;
        }
        loop {
            match self.left.load(Ordering::Acquire) {
                0 => break,
                left => _ = futex::wait(&self.left, left, Scope::Process, PATIENCE),
            }
            if ends() {
                return None;
            }
        }
        let ended = watch.now();
        seen.push(ended);
        in_time.then_some(Call { called, returned, ended, real: woken > 0 })
    }

    /// Takes part in a region after `begun` of them. Whether there was one.
    fn take_part(&self, watch: &Watch, begun: u32) -> bool {
        self.ready.fetch_add(1, Ordering::Release);
        let has_begun = || self.begun.load(Ordering::Acquire) != begun;
        if self.spins && !self.wait(watch, has_begun) {
            return false;
        }
        while !has_begun() {
            futex::wait(&self.begun, begun, Scope::Process, PATIENCE);
            if self.ends(watch) {
                return false;
            }
        }
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 && !self.spins {
            futex::wake(&self.left, 1, Scope::Process);
        }
        true
    }
}

struct Leader {
    name: &'static str,
    region: Arc<Region>,
    sampler: Sampler,
}

impl Worker for Leader {
    fn prepare(&mut self) {
        self.sampler.reset();
        self.region.leaving.reset();
        self.region.ready.store(0, Ordering::Relaxed);
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let taken = self.sampler.take(watch, |due, seen| self.region.sample(watch, due, seen));
        let work = self.region.leaving.first(taken);
        self.region.wake();
        work
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.sampler.verify(self.name)
    }

    fn contention(&self) -> Option<Contention> {
        Some(self.sampler.kept())
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        Some(self.sampler.joint())
    }
}

struct Helper {
    region: Arc<Region>,
}

impl Worker for Helper {
    fn run(&mut self, watch: &Watch) -> Work {
        let mut begun = self.region.begun.load(Ordering::Acquire);
        while !self.region.ends(watch) && self.region.take_part(watch, begun) {
            begun = begun.wrapping_add(1);
        }
        let work = self.region.leaving.other();
        self.region.wake();
        work
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::tests::{check_awake, watch};

    /// The first worker is back only when all others were there, each once in each region.
    #[test]
    fn a_region_ends_when_all_have_been_through() {
        check_regions(Region { others: 3, ..Region::default() });
        check_regions(Region { others: 3, spins: true, strands: OwnStrands::of(4), ..Region::default() });
    }

    #[test]
    fn workers_with_a_strand_each_do_not_sleep() {
        let region = Region { others: 1, spins: true, ..Region::default() };
        check_awake(
            || assert!(region.take_part(&watch(None), 0)),
            || _ = region.sample(&watch(None), None, &mut Vec::new()).expect("no watch ends it"),
        );
    }

    fn check_regions(region: Region) {
        let through: [AtomicU32; 3] = Default::default();
        thread::scope(|scope| {
            for mine in &through {
                scope.spawn(|| {
                    for begun in 0..50 {
                        mine.fetch_add(1, Ordering::Relaxed);
                        assert!(region.take_part(&watch(None), begun));
                    }
                });
            }
            for round in 1..=50 {
                let mut seen = Vec::new();
                let call = region.sample(&watch(None), None, &mut seen).expect("no watch ends it");
                assert!(call.called <= call.returned && seen == [call.ended] && call.returned <= call.ended);
                assert!(through.iter().all(|times| times.load(Ordering::Relaxed) >= round));
            }
        });
    }
}
