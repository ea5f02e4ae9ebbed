//! One worker wakes others: unlocking a mutex that they wait for, signalling a condition variable, waking a futex, unparking a
//! thread, sending into a channel, setting a flag. What differs is a [`WakePrimitive`]; the rest is here.
//!
//! The first worker wakes. In each round it opens the meeting; the others say that they are about to wait, and wait; it gives
//! them time to fall asleep ([`SETTLE`]), and until the sample is due; it stamps, calls, and stamps. A waiter stamps as soon as
//! it runs, and says that it is there. The first worker takes all of the samples, since it alone has the others' stamps and its
//! own.
//!
//! That a waiter is asleep cannot be seen from outside. It says so as late as it can: under the mutex of a condition
//! variable, which it gives back only by waiting, and otherwise right before its call.
//!
//! The workers wait for each other's word by spinning for some 30 µs, and then by short sleeps; where one was last seen on the
//! other's strand, by short sleeps only, or the other could not run. None of this is timed, but what is timed would be longer
//! for it.
//!
//! A round that was opened is always called, so no waiter is left in a call without a time limit. All other waits end after
//! [`PATIENCE`], and look at the watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use charz_data::{Card, Contention, JointHistogram, Work};
use crossbeam::utils::CachePadded;

use super::schedule::{Call, Sampler};
use super::spin::{Whereabouts, until, until_due};
use crate::kernel::{Error, Worker};
use crate::leaving::Leaving;
use crate::pairs::Pairs;
use crate::plain::{Extent, PlainKernel, stage};
use crate::watch::Watch;

mod wakes;

pub(crate) use wakes::KERNELS;

/// How long the waiters get to fall asleep after the last has said that it is about to, in nanoseconds: several times what
/// the system call and the spinning before it take.
pub(super) const SETTLE: u64 = 10_000;

/// How long a worker sleeps before it looks at its watch.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

trait WakePrimitive: Send + Sync + Sized + 'static {
    /// What the waker holds from the beginning of a round until its call.
    type Held<'a>;
    /// What a waiter has got when it was woken.
    type Got<'a>;

    const VARIANT: &'static str;

    fn new() -> Result<Self, Error>;

    /// A waiter introduces itself, on its own thread.
    fn enrol(&self) {}

    /// The waker begins a round. No waiter waits yet.
    fn open(&self) -> Self::Held<'_>;

    /// The waker makes the waiters' condition true. All wait, and none has been woken.
    fn post(&self, _round: u64) {}

    /// The call that wakes. Returns whether it did, as far as that can be determined.
    fn call(&self, held: Self::Held<'_>, round: u64) -> bool;

    /// A waiter says that it is `ready`, and waits for the round's call, at most [`PATIENCE`], unless the waker is certain to
    /// call; `None` if that was in vain.
    fn wait(&self, round: u64, ready: impl FnOnce()) -> Option<Self::Got<'_>>;
}

const fn hand_off<M: WakePrimitive>(card: &'static Card) -> PlainKernel {
    PlainKernel::new(card, (), Pairs::of_samples, |kernel, params, workers| {
        let (name, samples, period) = (kernel.name(), kernel.samples(params)?, params.period);
        let shared = Arc::new(Shared::<M>::new(workers)?);
        stage(M::VARIANT, Extent::Each(Work::ops(samples)), move |rank| {
            let shared = Arc::clone(&shared);
            let Some(slot) = rank.checked_sub(1) else {
                let sampler = Sampler::new(period, samples, shared.slots.len())?;
                return Ok(Box::new(Waker { name, shared, round: 0, sampler }));
            };
            shared.meeting.enrol();
            Ok(Box::new(Waiter { slot, shared, last: 0 }))
        })
    })
}

/// What a waiter publishes to the waker: on a line of its own.
#[derive(Debug, Default)]
struct WaiterSlot {
    /// The round that it is about to wait for.
    ready: AtomicU64,
    seen: AtomicU64,
    /// The round that it was woken in.
    done: AtomicU64,
    strand: Whereabouts,
}

struct Shared<M> {
    meeting: M,
    /// The round that is open, 0 before the first one of a run. Rounds are counted from 1 over all runs, so stores left from
    /// an aborted round match no other.
    open: CachePadded<AtomicU64>,
    /// Where the waker opened it.
    strand: CachePadded<Whereabouts>,
    leaving: CachePadded<Leaving>,
    slots: Box<[CachePadded<WaiterSlot>]>,
}

impl<M: WakePrimitive> Shared<M> {
    fn new(workers: usize) -> Result<Self, Error> {
        Ok(Shared {
            meeting: M::new()?,
            open: CachePadded::default(),
            strand: CachePadded::default(),
            leaving: CachePadded::default(),
            slots: (1..workers).map(|_| CachePadded::default()).collect(),
        })
    }
}

struct Waker<M> {
    name: &'static str,
    shared: Arc<Shared<M>>,
    round: u64,
    sampler: Sampler,
}

impl<M: WakePrimitive> Worker for Waker<M> {
    fn prepare(&mut self) {
        self.sampler.reset();
        self.shared.leaving.reset();
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let (shared, round) = (&*self.shared, &mut self.round);
        let taken = self.sampler.take(watch, |due, seen| {
            *round += 1;
            shared.sample(watch, *round, due, seen)
        });
        shared.open.store(0, Ordering::Relaxed);
        shared.leaving.first(taken)
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

impl<M: WakePrimitive> Shared<M> {
    /// Opens a round, calls, and collects what the waiters stamped; `None` when the run is to end.
    fn sample(&self, watch: &Watch, round: u64, due: Option<u64>, seen: &mut Vec<u64>) -> Option<Call> {
        let held = self.meeting.open();
        self.strand.tell();
        self.open.store(round, Ordering::Release);
        let ready = self.all(watch, |slot| slot.ready.load(Ordering::Acquire) == round);
        let settled = watch.now().saturating_add(SETTLE);
        let ready = ready && until_due(watch, || self.ends(watch), due.map_or(settled, |due| due.max(settled)));
        self.meeting.post(round);
        let called = watch.now();
        let woke = self.meeting.call(held, round);
        let returned = watch.now();
        if !(ready && self.all(watch, |slot| slot.done.load(Ordering::Acquire) == round)) {
            return None;
        }
        seen.extend(self.slots.iter().map(|slot| slot.seen.load(Ordering::Relaxed)));
        Some(Call { called, returned, ended: watch.now(), real: woke })
    }

    /// Whether a worker is to leave: its watch ends, or another has left.
    fn ends(&self, watch: &Watch) -> bool {
        watch.should_stop() || self.leaving.has_begun()
    }

    /// Waits until all waiters have come so far.
    fn all(&self, watch: &Watch, come: impl Fn(&WaiterSlot) -> bool) -> bool {
        self.slots.iter().all(|slot| until(|| self.ends(watch), || slot.strand.near(), || come(slot)))
    }
}

struct Waiter<M> {
    slot: usize,
    shared: Arc<Shared<M>>,
    last: u64,
}

impl<M: WakePrimitive> Worker for Waiter<M> {
    fn run(&mut self, watch: &Watch) -> Work {
        while !self.shared.ends(watch) && self.round(watch) {}
        self.shared.leaving.other()
    }
}

impl<M: WakePrimitive> Waiter<M> {
    /// Waits for the next round and for its call. Whether there was one.
    fn round(&mut self, watch: &Watch) -> bool {
        let (shared, mut round) = (&*self.shared, 0);
        let next = || {
            round = shared.open.load(Ordering::Acquire);
            round != 0 && round != self.last
        };
        let opened = until(|| shared.ends(watch), || shared.strand.near(), next);
        if !opened {
            return false;
        }
        let slot = &shared.slots[self.slot];
        slot.strand.tell();
        let got = loop {
            if let Some(got) = shared.meeting.wait(round, || slot.ready.store(round, Ordering::Release)) {
                break got;
            }
            if shared.ends(watch) {
                return false;
            }
        };
        let seen = watch.now();
        drop(got);
        slot.strand.tell();
        slot.seen.store(seen, Ordering::Relaxed);
        slot.done.store(round, Ordering::Release);
        self.last = round;
        true
    }
}
