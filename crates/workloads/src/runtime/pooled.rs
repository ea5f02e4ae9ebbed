//! A thread for each activity: out of a pool, or else a new one.
//!
//! It is the runtime of the T3-4 report, section 7. Threads are made while a program runs. A thread that has done its activity returns itself to the pool and sleeps there, or ends if the pool is full. A thread that waits for its parts sleeps and keeps
//! its place, so nearly as many threads exist as activities do. Where no more may be made, a thread does the part itself.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam::utils::CachePadded;

use super::maker::{Maker, Pthread};
use super::parker::Parker;
use super::{Counts, Hand, Runtime, Setting, Tally, patience};
use crate::limit::ThreadLimit;
use crate::sys::fork::{self, Job, Left};
use charz_kernels::kernel::Error;
use charz_kernels::sync::pool::Pool;
use charz_kernels::sync::wait_stats::WaitStats;
use charz_kernels::sys::pthread::thread::Enter;
use charz_kernels::watch::Watch;

/// The longest sleep of a thread, which looks then and sleeps again: nothing depends on it.
const NAP: Duration = Duration::from_secs(1);

pub(crate) struct Pooled<P: Pool, M: Maker = Pthread>(Arc<Shared<P, M>>);

struct Shared<P: Pool, M: Maker> {
    pool: P,
    /// Threads in the pool, where it takes fewer than there may be.
    room: Option<CachePadded<Room>>,
    /// By number: 0 is the worker that waits for the program, the others are threads.
    desks: Box<[CachePadded<Desk<P, M>>]>,
    register: Mutex<Register<M>>,
    /// No more threads are made: a hint, by which a full runtime leaves the register alone.
    full: CachePadded<AtomicBool>,
    over: AtomicBool,
    closing: AtomicBool,
    maker: M,
}

/// How many threads the pool takes, and has.
struct Room {
    most: u64,
    taken: AtomicU32,
}

struct Desk<P: Pool, M: Maker> {
    parker: Parker,
    /// What the thread is to do. One thread gives, and one takes: the lock is never waited for.
    job: Mutex<Option<Job<Pooling<P, M>>>>,
    /// The thread, until it is joined. Held while the thread is made, so one that ends at once finds itself here.
    thread: Mutex<Option<M::Thread>>,
    tally: Tally,
}

/// The threads that exist.
struct Register<M: Maker> {
    limit: ThreadLimit,
    /// Numbers of desks without a thread.
    free: Vec<u32>,
    /// Threads that exist or are being made.
    alive: u32,
    /// Threads that exist, and the most there were.
    living: u32,
    peak: u32,
    created: u64,
    /// The thread that ended last. The next one that ends joins it, so at most one is left when all have ended.
    last: Option<M::Thread>,
}

/// The hand of a thread.
pub(crate) struct Pooling<P: Pool, M: Maker> {
    shared: Arc<Shared<P, M>>,
    number: u32,
}

/// A panic on one of these threads ends the process, so none of the locks can be poisoned by one.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Pool, M: Maker> Runtime for Pooled<P, M> {
    const VARIANT: &'static str = match M::VARIANT {
        Some(maker) => maker,
        None => P::MEETING,
    };

    type Hand = Pooling<P, M>;

    fn new(setting: &Setting) -> Result<Self, Error> {
        let limit = setting.limit.clone();
        let desks = limit.at_most.saturating_add(1);
        let room = (setting.kept < limit.at_most.into())
            .then(|| CachePadded::new(Room { most: setting.kept, taken: AtomicU32::new(0) }));
        let desk = |_| {
            CachePadded::new(Desk {
                parker: Parker::default(),
                job: Mutex::new(None),
                thread: Mutex::new(None),
                tally: Tally::default(),
            })
        };
        let free = (1..desks).rev().collect();
        Ok(Pooled(Arc::new(Shared {
            pool: P::new(desks as usize, desks)?,
            room,
            desks: (0..desks).map(desk).collect(),
            register: Mutex::new(Register { limit, free, alive: 0, living: 0, peak: 0, created: 0, last: None }),
            full: CachePadded::default(),
            over: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            maker: M::new(setting.mask.clone())?,
        })))
    }

    fn run<T: Send>(&self, watch: &Watch, part: T, work: impl Fn(&Pooling<P, M>, T) + Sync) {
        let hand = Pooling { shared: Arc::clone(&self.0), number: 0 };
        let wait = |left: &Left| {
            if !left.settle() {
                hand.desk().parker.park(patience(watch, &self.0.over));
            }
        };
        fork::each(0, [part], work, |job| hand.give(job), wait);
    }

    fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    fn counts(&self) -> Counts {
        let register = locked(&self.0.register);
        Tally::sum(self.0.desks.iter().map(|desk| &desk.tally), register.created, register.peak.into())
    }

    fn limit(&self) -> Option<ThreadLimit> {
        Some(locked(&self.0.register).limit.clone())
    }
}

impl<P: Pool, M: Maker> Drop for Pooled<P, M> {
    fn drop(&mut self) {
        self.0.closing.store(true, Ordering::Release);
        for desk in &self.0.desks {
            desk.parker.unpark();
        }
        for desk in &self.0.desks {
            // Joined without the lock, which a thread that ends takes.
            let thread = locked(&desk.thread).take();
            drop(thread);
        }
        // Those that ended since the pool was full leave one behind, which may still be about to join another.
        while locked(&self.0.register).alive > 0 {
            thread::yield_now();
        }
        let last = locked(&self.0.register).last.take();
        drop(last);
    }
}

impl<P: Pool, M: Maker> Hand for Pooling<P, M> {
    fn each<T: Send, const N: usize>(&self, parts: [T; N], work: impl Fn(&Self, T) + Sync) {
        let wait = |left: &Left| {
            if !left.settle() {
                let slept = self.desk().parker.park(NAP);
                Tally::add(&self.desk().tally.parks, slept.into());
            }
        };
        fork::each(self.number, parts, work, |job| self.give(job), wait);
    }

    fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }
}

impl<P: Pool, M: Maker> Pooling<P, M> {
    fn desk(&self) -> &Desk<P, M> {
        &self.shared.desks[self.number as usize]
    }

    /// Has a thread do the job: one of the pool, else a new one, else this one.
    fn give(&self, job: Job<Self>) {
        let pooled = self.pooled(|pool, hand, stats| pool.take(hand, stats));
        let left = match pooled {
            Some(number) => {
                self.shared.leave_room();
                let desk = &self.shared.desks[number as usize];
                *locked(&desk.job) = Some(job);
                Tally::add(&self.desk().tally.wakes, desk.parker.unpark().into());
                None
            }
            None => self.shared.make(job),
        };
        if let Some(job) = left {
            Tally::add(&self.desk().tally.inlined, 1);
            self.end(job.run(self));
        }
    }

    fn end(&self, ending: fork::Ending<Self>) {
        if let Some(parent) = ending.end() {
            let woken = self.shared.desks[parent as usize].parker.unpark();
            Tally::add(&self.desk().tally.wakes, woken.into());
        }
    }

    /// Uses the pool, and counts that.
    fn pooled<R>(&self, call: impl FnOnce(&P, &mut P::Hand, &mut WaitStats) -> R) -> R {
        let mut stats = WaitStats::default();
        // The pools of this runtime give any thread a hand at any time.
        let mut hand = self.shared.pool.hand(self.number as usize).expect("a pool whose hands are numbers");
        let result = call(&self.shared.pool, &mut hand, &mut stats);
        let tally = &self.desk().tally;
        let counts = stats.counts();
        // A lock that was found taken is tried a second time, asleep.
        let asleep = counts.waits.saturating_sub(counts.failures);
        Tally::add(&tally.attempts, counts.attempts + asleep);
        Tally::add(&tally.failures, counts.failures + asleep);
        result
    }

    /// What a thread does as long as it exists.
    fn serve(&self) {
        loop {
            let job = locked(&self.desk().job).take();
            if let Some(job) = job {
                let ending = job.run(self);
                // The thread is in the pool before its parent goes on, which finds it there.
                let kept = self.shared.enter_room();
                if kept {
                    self.pooled(|pool, hand, stats| pool.give(hand, self.number, stats));
                }
                self.end(ending);
                if !kept {
                    return;
                }
            } else if self.shared.closing.load(Ordering::Acquire) {
                return;
            } else {
                let slept = self.desk().parker.park(NAP);
                Tally::add(&self.desk().tally.parks, slept.into());
            }
        }
    }
}

impl<P: Pool, M: Maker> Shared<P, M> {
    /// Whether the pool takes another thread, for which a place is kept then.
    fn enter_room(&self) -> bool {
        let Some(room) = &self.room else { return true };
        let more = |taken: u32| (u64::from(taken) < room.most).then_some(taken + 1);
        room.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn leave_room(&self) {
        if let Some(room) = &self.room {
            room.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Makes a thread for the job; `None` if it has it, or the job if no thread may be made.
    fn make(self: &Arc<Self>, job: Job<Pooling<P, M>>) -> Option<Job<Pooling<P, M>>> {
        if self.full.load(Ordering::Relaxed) {
            return Some(job);
        }
        let Some(number) = locked(&self.register).add(&self.full) else { return Some(job) };
        let desk = &self.desks[number as usize];
        *locked(&desk.job) = Some(job);
        let mut thread = locked(&desk.thread);
        let entry = Arc::new(Entry(Pooling { shared: Arc::clone(self), number }));
        match self.maker.make(entry) {
            Ok(made) => {
                *thread = Some(made);
                locked(&self.register).made();
                None
            }
            Err(error) => {
                // Taken before the number is free: another thread may be made at the desk then.
                let job = locked(&desk.job).take();
                locked(&self.register).refuse(number, &error, &self.full);
                job
            }
        }
    }

    /// The end of a thread that is not in the pool.
    fn leave(&self, number: u32) {
        // There is none if the runtime is being dropped, and waits for the thread.
        let own = locked(&self.desks[number as usize].thread).take();
        let last = locked(&self.register).remove(number, own, &self.full);
        drop(last);
    }
}

impl<M: Maker> Register<M> {
    /// A desk for a new thread.
    fn add(&mut self, full: &AtomicBool) -> Option<u32> {
        let number = self.free.pop_if(|_| self.alive < self.limit.at_most)?;
        self.alive += 1;
        full.store(self.alive >= self.limit.at_most, Ordering::Relaxed);
        Some(number)
    }

    fn made(&mut self) {
        self.created += 1;
        self.living += 1;
        self.peak = self.peak.max(self.living);
    }

    /// The system made no thread for this desk. It is not asked again in this run, since each refusal takes time.
    fn refuse(&mut self, number: u32, error: &Error, full: &AtomicBool) {
        self.free.push(number);
        self.alive -= 1;
        // Others may have taken what was left when the limit was read.
        let (refused, ThreadLimit { at_most, because }) = (error.to_string(), &mut self.limit);
        if !because.starts_with(&refused) {
            *because = format!("{refused}, below the lowest limit known, {at_most}: {because}");
        }
        *at_most = self.alive;
        full.store(true, Ordering::Relaxed);
    }

    /// A thread ends: what ended before it, to be joined.
    fn remove(&mut self, number: u32, own: Option<M::Thread>, full: &AtomicBool) -> Option<M::Thread> {
        self.free.push(number);
        self.alive -= 1;
        self.living -= 1;
        full.store(self.alive >= self.limit.at_most, Ordering::Relaxed);
        own.and_then(|own| self.last.replace(own))
    }
}

/// The first thing that a thread does is all that it does.
struct Entry<P: Pool, M: Maker>(Pooling<P, M>);

impl<P: Pool, M: Maker> Enter for Entry<P, M> {
    fn enter(&self) {
        self.0.serve();
        self.0.shared.leave(self.0.number);
    }
}
