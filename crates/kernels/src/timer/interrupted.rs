//! `interrupted`: what interrupts take from the thread that another thread interrupts.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use charz_data::params::SAMPLES;
use charz_data::{Card, Family, JointHistogram, Metric, Work, WorkerCount};

use crate::kernel::{Axes, Error, Kernel, Worker};
use crate::leaving::Leaving;
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, stage};
use crate::sys::membarrier;
use crate::sys::pthread::thread::Mask;
use crate::watch::Watch;

/// Gaps between two readings of the clock that are at least as long, and as so many readings, are no readings.
const GAP_NS: u64 = 150;
const GAP_READINGS: u64 = 6;
/// Gaps that are less apart are one interrupt: a hypervisor takes the CPU away more than once for it.
const TOGETHER_NS: u64 = 5000;
/// From the end of a call that interrupts to the next: longer, so an interrupt has ended before the next is sent.
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
    "the system's membarrier sends them, 20 µs apart; gaps between readings count, of 150 ns and of six readings at least, those less than \
     5 µs apart as one, where one was sent since the last",
)
.params(&[&SAMPLES])
.source("Sun, chip-multithreading guide, 2.1.1.7: processor sets without interrupts; Linux manual page membarrier(2)")
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
            let mask = Mask::own()?;
            let mut strands = mask.strands();
            let bound = strands.next().filter(|_| strands.next().is_none());
            shared.bound[rank].store(bound.unwrap_or(u32::MAX), Ordering::Relaxed);
            Ok(Box::new(Side { rank, samples, shared, pairs, failed: None }))
        })
    });
    let check = |kernel: &PlainKernel| match Mask::own()?.strands().nth(1) {
        Some(_) => membarrier::register(),
        None => Err(kernel.unavailable("needs two CPUs, and this process may use one")),
    };
    kernel.check(check).axes(Axes { alone: true, ..Axes::NONE })
}

#[derive(Default)]
struct Shared {
    leaving: Leaving,
    /// Interrupts of all runs.
    sent: AtomicU64,
    /// The one CPU that each thread may use, and no CPU's id if it may use several.
    bound: [AtomicU32; 2],
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
        let Shared { sent, leaving, .. } = &*self.shared;
        let reading = |_| {
            let before = watch.now();
            watch.now().saturating_sub(before)
        };
        let least = GAP_NS.max(GAP_READINGS * (0..LOOKS).map(reading).min().unwrap_or(0));
        // The end of the last interrupt, and the one that may have another gap to come: its begin, its end, and what it took.
        let (mut since, mut open) = (None, None::<(u64, u64, u64)>);
        let mut seen = sent.load(Ordering::Relaxed);
        while !watch.should_stop() && !leaving.has_begun() {
            // What has nothing to do with the readings is no gap between them.
            let mut last = watch.now();
            for _ in 0..LOOKS {
                let now = watch.now();
                let gap = now.saturating_sub(last);
                let closed = open.take_if(|(_, end, _)| last.saturating_sub(*end) >= TOGETHER_NS);
                match &mut open {
                    Some((_, end, took)) if gap >= least => (*end, *took) = (now, *took + gap),
                    None if gap >= least => open = Some((last, now, gap)),
                    _ => {}
                }
                last = now;
                if let Some((begin, end, took)) = closed {
                    let before = std::mem::replace(&mut seen, sent.load(Ordering::Relaxed));
                    // What went before the first began with the run.
                    let apart = since.replace(end).map(|since| begin.saturating_sub(since));
                    // None since the last is another interrupt, several are a turn of the scheduler.
                    if seen - before == 1 {
                        self.pairs.0.extend(apart.map(|apart| (apart, took)));
                    }
                    if self.pairs.0.len() as u64 == self.samples {
                        return;
                    }
                    last = watch.now();
                }
            }
        }
    }

    fn interrupt(&mut self, watch: &Watch) {
        while !self.shared.leaving.has_begun() && !watch.should_stop() && self.failed.is_none() {
            self.shared.sent.fetch_add(1, Ordering::Relaxed);
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
            self.shared.leaving.reset();
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let is_first = self.rank == 0;
        let [first, second] = self.shared.bound.each_ref().map(|bound| bound.load(Ordering::Relaxed));
        if first == second && first != u32::MAX {
            let why =
                "both threads are on one CPU, which neither can interrupt; a mapping with a CPU for each measures it";
            self.failed = Some(Error::Unavailable(why.into()));
        } else if is_first {
            self.suffer(watch);
        } else {
            self.interrupt(watch);
        }
        let leaving = &self.shared.leaving;
        let work = if is_first { leaving.first(self.pairs.0.len() as u64) } else { leaving.other() };
        // One that failed counts as a whole one, so it is verified.
        if self.failed.is_some() { Work::ops(self.samples) } else { work }
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        (self.rank == 0).then(|| self.pairs.joint())
    }
}
