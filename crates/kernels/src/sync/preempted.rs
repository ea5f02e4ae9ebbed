//! `preempted-*`: sections under a lock whose holder may lose its CPU.
//!
//! A rival keeps each worker's CPU busy, so the system takes the CPU away from workers that hold the lock too, and all others wait until it is
//! given back. Against that a thread can ask not to be preempted in a section, by Solaris' `schedctl` or Linux' time-slice extension.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use charz_data::params::{INSIDE, OUTSIDE, SAMPLES};
use charz_data::{Card, Family, JointHistogram, Metric, Work, WorkerCount};

use super::lock::{Lock, Mcs, Parked, Ticket};
use super::mutexes;
use super::section;
use super::wait_stats::WaitStats;
use crate::kernel::{Axes, Error, Worker};
use crate::leaving::Leaving;
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::pthread::thread::Mask;
use crate::sys::slice::{self, Slice};
use crate::sys::strand;
use crate::watch::Watch;

const PREEMPTED: Card = Card::new("", Family::Sync, "", Metric::SecondTime)
    .times("holding the lock", "from asking for the lock to having it")
    .on_one_strand()
    .params(&[&SAMPLES, &INSIDE, &OUTSIDE])
    .uncounted_traffic(
        "a thread beside each worker that only computes, on the same CPU; sections take 1 µs at least, so a turn of the scheduler often ends \
         inside one",
    )
    .source("The Solaris manual page schedctl_start(3C): a hint not to preempt the holder of a lock; Linux' Documentation/userspace-api/rseq.rst")
    .workers(WorkerCount::AtLeast(2))
    .blocks_in_kernel(true);

kernels! {
    preempted::<Parked<mutexes::Std>>, false => PREEMPTED.named(
            "preempted-std",
            "takes a mutex of Rust's standard library for a section, again and again, beside a thread that keeps its CPU busy",
        );
    preempted::<Ticket>, false => PREEMPTED.named(
            "preempted-ticket",
            "does as preempted-std with a ticket lock, which serves in the order of arrival and cannot pass over who lost its CPU",
        )
        .contends(true);
    preempted::<Mcs>, false => PREEMPTED.named(
            "preempted-mcs",
            "does as preempted-std with an MCS queue lock",
        )
        .contends(true);
    preempted::<Parked<mutexes::Std>>, true => PREEMPTED.named(
            "preempted-std-extended",
            "does as preempted-std with the time-slice extension of Linux 7.0, which asks not to lose the CPU inside a section",
        );
    preempted::<Ticket>, true => PREEMPTED.named(
            "preempted-ticket-extended",
            "does as preempted-ticket with the time-slice extension, as preempted-std-extended",
        )
        .contends(true);
}

/// The least work of a section under a lock whose holder may lose its CPU, in steps of about a nanosecond.
const LEAST_INSIDE: u64 = 1000;

/// Whether sections ask not to lose the CPU is the kernel's data.
const fn preempted<L: Lock>(card: &'static Card, extended: bool) -> PlainKernel<bool> {
    let kernel = PlainKernel::new(card, extended, Pairs::of_samples, |kernel, params, workers| {
        let (name, extended, samples) = (kernel.name(), kernel.data, kernel.samples(params)?);
        let sections = [params.inside_steps.max(LEAST_INSIDE), params.outside_steps];
        let shared = Arc::new(Shared {
            lock: L::new(workers)?,
            word: AtomicU64::new(0),
            done: AtomicU64::new(0),
            leaving: Leaving::default(),
        });
        stage("beside a rival on each CPU", Extent::Each(Work::ops(samples)), move |rank| {
            let (shared, pairs) = (Arc::clone(&shared), Pairs::with_room(if rank == 0 { samples } else { 0 })?);
            Ok(Box::new(Holder {
                name,
                rank,
                samples,
                sections,
                shared,
                pairs,
                state: rank as u64,
                rival: Rival::here()?,
                slice: extended.then(Slice::here).transpose()?,
            }))
        })
    });
    let kernel = kernel.check(|kernel| if kernel.data { slice::check() } else { Ok(()) });
    // Two threads show it; more take their turns as well.
    kernel.axes(Axes { alone: true, ..Axes::NONE })
}

struct Shared<L> {
    lock: L,
    /// What the lock guards: the sections of a run.
    word: AtomicU64,
    /// The same, once their workers have ended it.
    done: AtomicU64,
    leaving: Leaving,
}

/// The first worker stamps its sections; the others want the lock as often as it does.
struct Holder<L> {
    name: &'static str,
    rank: usize,
    samples: u64,
    sections: [u64; 2],
    shared: Arc<Shared<L>>,
    pairs: Pairs,
    state: u64,
    rival: Rival,
    /// What asks not to lose the CPU in a section, where one does.
    slice: Option<Slice<'static>>,
}

impl<L: Lock> Worker for Holder<L> {
    fn prepare(&mut self) {
        self.pairs.reset();
        if self.rank == 0 {
            self.shared.word.store(0, Ordering::Relaxed);
            self.shared.done.store(0, Ordering::Relaxed);
            self.shared.leaving.reset();
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        self.rival.work(true);
        let ([inside, outside], mut done, mut stats) = (self.sections, 0, WaitStats::default());
        let Shared { lock, word, leaving, .. } = &*self.shared;
        let is_first = self.rank == 0;
        // The watch first: who is to leave at once leaves whatever the others have done.
        while !(done % 16 == 0 && watch.should_stop()) {
            if leaving.has_begun() || (is_first && done == self.samples) {
                break;
            }
            let asked = watch.now();
            // The rival has the strand too.
            let (had, state) = lock.with(self.rank, None, &mut stats, || {
                self.slice.iter().for_each(Slice::ask);
                let had = watch.now();
                let count = word.load(Ordering::Relaxed);
                let state = section(inside, self.state);
                word.store(count + 1, Ordering::Relaxed);
                (had, state)
            });
            let gave = watch.now();
            // Given back when the lock is free, not before.
            self.slice.iter().for_each(Slice::end);
            if is_first {
                self.pairs.0.push((gave.saturating_sub(had), had.saturating_sub(asked)));
            }
            self.state = section(outside, state);
            done += 1;
        }
        self.rival.work(false);
        self.shared.done.fetch_add(done, Ordering::Relaxed);
        if is_first { leaving.first(done) } else { leaving.other() }
    }

    fn verify(&mut self) -> Result<(), Error> {
        let [counted, done] = [&self.shared.word, &self.shared.done].map(|number| number.load(Ordering::Relaxed));
        Error::unless(counted == done, self.name, || format!("{done} sections counted up to {counted}"))
    }

    fn samples(&mut self) -> Option<JointHistogram> {
        (self.rank == 0).then(|| self.pairs.joint())
    }
}

/// A thread that keeps the CPU busy on which it was made, on request, and keeps its maker there; it ends with its maker.
pub(crate) struct Rival {
    orders: Arc<Orders>,
    thread: Option<JoinHandle<()>>,
    /// The CPUs that its maker had before.
    before: Mask,
}

#[derive(Default)]
struct Orders {
    works: AtomicBool,
    over: AtomicBool,
}

impl Rival {
    /// On the CPU of the calling thread, which stays there: a thread that may go elsewhere would leave its rival the CPU.
    pub(crate) fn here() -> Result<Self, Error> {
        let before = Mask::own()?;
        let cpu = strand::current();
        Mask::of(cpu.ok_or_else(|| Error::Unavailable("the system does not say which CPU this is".into()))?).bind()?;
        let orders = Arc::<Orders>::default();
        let theirs = Arc::clone(&orders);
        // A new thread has the CPUs of its maker.
        let work = move || {
            let mut state = 1;
            while !theirs.over.load(Ordering::Relaxed) {
                if theirs.works.load(Ordering::Relaxed) {
                    state = section(LEAST_INSIDE, state);
                } else {
                    thread::park();
                }
            }
            std::hint::black_box(state);
        };
        let made = thread::Builder::new().name("rival".into()).spawn(work);
        let thread =
            made.map_err(|error| Error::Refused(format!("the thread beside a worker was refused: {error}")))?;
        Ok(Rival { orders, thread: Some(thread), before })
    }

    /// Begins or stops to compute.
    pub(crate) fn work(&self, works: bool) {
        self.orders.works.store(works, Ordering::Relaxed);
        self.thread.iter().for_each(|thread| thread.thread().unpark());
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        self.orders.over.store(true, Ordering::Relaxed);
        self.work(false);
        let _ = self.thread.take().map(JoinHandle::join);
        // Refused, its maker stays, and ends soon.
        let _ = self.before.bind();
    }
}
