//! `interrupted`: what interrupts take from the thread that another thread interrupts.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, JointHistogram, Metric, Work, WorkerCount};

use crate::kernel::{Axes, Error, Kernel, Worker};
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, stage};
use crate::sys::membarrier;
use crate::watch::Watch;

/// Gaps between two readings of the clock that are at least as long are interrupts: a reading takes a sixth of it, and the shortest handler
/// of an interrupt more.
const GAP_NS: u64 = 150;
/// Gaps that are less apart are one interrupt: a hypervisor takes the CPU away more than once for it.
const TOGETHER_NS: u64 = 5000;
/// From the end of a call that interrupts to the next.
const PAUSE_NS: u64 = 20_000;
/// Readings of the clock between two looks at the watch.
const LOOKS: u32 = 100;

static CARD: Card = Card::new(
    "interrupted",
    Family::Timer,
    "runs beside a thread that interrupts its CPU, and looks how long each interrupt takes",
    Metric::SecondTime,
)
.times("from the end of an interrupt to the next", "that an interrupt takes from the thread")
.uncounted_traffic(
    "the system's membarrier sends them, 20 µs apart; gaps of 150 ns and more between readings count, those less than 5 µs apart as one, \
     also of other interrupts",
)
.params(&[&SAMPLES])
.source("Sun, chip-multithreading guide, 2.1: interrupts belong away from computing threads; Linux manual page membarrier(2)")
.workers(WorkerCount::Exactly(2))
.blocks_in_kernel(true);

pub(crate) static KERNELS: &[&dyn Kernel] = &[const { &kernel() }];

const fn kernel() -> PlainKernel {
    let kernel = PlainKernel::new(&CARD, (), Pairs::of_samples, |kernel, params, _| {
        let samples = kernel.samples(params)?;
        membarrier::register()?;
        let shared = Arc::<Shared>::default();
        stage("membarrier", Extent::Each(Work::ops(samples)), move |rank| {
            let (shared, pairs) = (Arc::clone(&shared), Pairs::with_room(if rank == 0 { samples } else { 0 })?);
            Ok(Box::new(Side { rank, samples, shared, pairs, failed: None }))
        })
    });
    kernel.check(|_| membarrier::register()).axes(Axes { alone: true, ..Axes::NONE })
}

#[derive(Default)]
struct Shared {
    /// Samples of the run, once the first worker has left it.
    taken: AtomicU64,
    over: AtomicBool,
}

/// The first worker is interrupted, by the second.
struct Side {
    rank: usize,
    samples: u64,
    shared: Arc<Shared>,
    pairs: Pairs,
    failed: Option<Error>,
}

impl Side {
    fn suffer(&mut self, watch: &Watch) {
        // The end of the last interrupt, and the one that may have another gap to come: its begin, its end, and what it took.
        let (mut since, mut open, mut last) = (None, None::<(u64, u64, u64)>, watch.now());
        while !watch.should_stop() {
            for _ in 0..LOOKS {
                let now = watch.now();
                let gap = now.saturating_sub(last);
                match &mut open {
                    Some((begin, end, took)) if last.saturating_sub(*end) >= TOGETHER_NS => {
                        // What went before the first began with the run.
                        self.pairs.0.extend(since.replace(*end).map(|since| (begin.saturating_sub(since), *took)));
                        if self.pairs.0.len() as u64 == self.samples {
                            return;
                        }
                        open = (gap >= GAP_NS).then_some((last, now, gap));
                    }
                    Some((_, end, took)) if gap >= GAP_NS => (*end, *took) = (now, *took + gap),
                    None if gap >= GAP_NS => open = Some((last, now, gap)),
                    _ => {}
                }
                last = now;
            }
        }
    }

    fn interrupt(&mut self, watch: &Watch) {
        while !self.shared.over.load(Ordering::Relaxed) && !watch.should_stop() && self.failed.is_none() {
            self.failed = membarrier::interrupt().err();
            let until = watch.now() + PAUSE_NS;
            while watch.now() < until {
                spin_loop();
            }
        }
    }
}

impl Worker for Side {
    fn prepare(&mut self) {
        self.pairs.reset();
        self.failed = None;
        if self.rank == 0 {
            self.shared.taken.store(0, Ordering::Relaxed);
            self.shared.over.store(false, Ordering::Relaxed);
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let is_first = self.rank == 0;
        if is_first {
            self.suffer(watch);
            self.shared.taken.store(self.pairs.0.len() as u64, Ordering::Relaxed);
        } else {
            self.interrupt(watch);
        }
        if self.failed.is_some() {
            // Counts as a whole one, so it is verified.
            return Work::ops(self.samples);
        }
        // How many samples there are, the first worker says when it leaves; one that leaves before has seen its watch end.
        let was_over = self.shared.over.swap(true, Ordering::AcqRel);
        Work::ops(if is_first || was_over { self.shared.taken.load(Ordering::Relaxed) } else { 0 })
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        (self.rank == 0).then(|| self.pairs.joint())
    }
}
