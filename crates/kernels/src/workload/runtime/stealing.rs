//! A fixed number of threads with a deque each, from which the others steal.
//!
//! N. S. Arora, R. D. Blumofe and C. G. Plaxton, Thread scheduling for multiprogrammed multiprocessors, SPAA 1998; the deques are those of
//! D. Chase and Y. Lev, SPAA 2005, as the crate crossbeam-deque has them. A thread does the first of its activities itself, offers the
//! others, and does whatever it finds while it waits for them.

use std::cell::Cell;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam::deque::{Injector, Steal, Stealer, Worker};
use crossbeam::utils::CachePadded;

use super::parker::Parker;
use super::{Counts, Hand, Runtime, STACK, Setting, Tally, patience};
use crate::kernel::Error;
use crate::sys::fork::{self, Job, Left};
use crate::sys::futex::{self, Scope};
use crate::sys::pthread::thread::{self as pthread, Attributes, Enter};
use crate::watch::Watch;

/// Searches that find nothing, with a pause in between, before a thread yields its strand: some microseconds, about what a sleep costs.
const PAUSES: u32 = 64;
/// Searches with a yield in between, before it sleeps.
const YIELDS: u32 = 16;
/// The longest sleep of a thread, which searches then and sleeps again: nothing depends on it.
const NAP: Duration = Duration::from_secs(1);

/// The worker that waits for a program: it is none of the threads.
const OUTSIDE: u32 = u32::MAX;

pub(in crate::workload) struct Stealing {
    shared: Arc<Shared>,
    /// Dropping them joins.
    threads: Vec<pthread::Thread>,
}

struct Shared {
    injector: Injector<Job<Thief>>,
    stealers: Box<[Stealer<Job<Thief>>]>,
    tallies: Box<[CachePadded<Tally>]>,
    sleep: CachePadded<Sleep>,
    outside: Parker,
    over: AtomicBool,
    closing: AtomicBool,
}

/// Where threads sleep that find nothing to do.
#[derive(Default)]
struct Sleep {
    /// How many sleep or are about to.
    sleepers: AtomicU32,
    /// Changes when there may be something to do: a thread that has seen the number before its last search sleeps on it.
    events: AtomicU32,
}

/// The hand of a thread.
pub(in crate::workload) struct Thief {
    shared: Arc<Shared>,
    own: Worker<Job<Thief>>,
    number: u32,
}

impl Runtime for Stealing {
    const VARIANT: &'static str = "work stealing";

    type Hand = Thief;

    fn new(setting: &Setting) -> Result<Self, Error> {
        let owners: Vec<Worker<Job<Thief>>> = (0..setting.threads).map(|_| Worker::new_lifo()).collect();
        let shared = Arc::new(Shared {
            injector: Injector::new(),
            stealers: owners.iter().map(Worker::stealer).collect(),
            tallies: owners.iter().map(|_| CachePadded::default()).collect(),
            sleep: CachePadded::default(),
            outside: Parker::default(),
            over: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        });
        let attributes = Attributes::new(STACK, false, Some(&setting.mask))?;
        let mut runtime = Stealing { shared, threads: Vec::new() };
        for (own, number) in owners.into_iter().zip(0..) {
            let thief = Thief { shared: Arc::clone(&runtime.shared), own, number };
            runtime.threads.push(pthread::create(&attributes, Arc::new(Entry(Mutex::new(Some(thief)))))?);
        }
        Ok(runtime)
    }

    fn run<T: Send>(&self, watch: &Watch, part: T, work: impl Fn(&Thief, T) + Sync) {
        let give = |job| {
            self.shared.injector.push(job);
            self.shared.sleep.wake(1);
        };
        let wait = |left: &Left| {
            if !left.settle() {
                self.shared.outside.park(patience(watch, &self.shared.over));
            }
        };
        fork::each(OUTSIDE, [part], work, give, wait);
    }

    fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }

    fn counts(&self) -> Counts {
        let threads = self.threads.len() as u64;
        Tally::sum(self.shared.tallies.iter().map(|tally| &**tally), threads, threads)
    }
}

impl Drop for Stealing {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        self.shared.sleep.wake(u32::MAX);
        self.threads.clear();
    }
}

impl Sleep {
    /// Wakes so many of those who sleep, after something was put where they search. Returns how many were woken.
    fn wake(&self, most: u32) -> u64 {
        // Either this thread sees the sleeper, or the sleeper's last search sees what this thread has put there.
        fence(Ordering::SeqCst);
        self.wake_seen(most)
    }

    /// The same without the fence, which takes longer than all else here: a thread that is just falling asleep may be missed. Enough for
    /// what this thread does itself if no other takes it.
    #[inline]
    fn wake_seen(&self, most: u32) -> u64 {
        if self.sleepers.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        self.events.fetch_add(1, Ordering::Release);
        futex::wake(&self.events, most, Scope::Process) as u64
    }

    /// Sleeps unless `search` finds something; returns that, or `None` after a sleep.
    fn sleep<R>(&self, search: impl FnOnce() -> Option<R>) -> Option<R> {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        let seen = self.events.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        let found = search();
        if found.is_none() {
            futex::wait(&self.events, seen, Scope::Process, NAP);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        found
    }
}

impl Hand for Thief {
    #[inline]
    fn each<T: Send, const N: usize>(&self, parts: [T; N], work: impl Fn(&Self, T) + Sync) {
        let first = Cell::new(None);
        let mut turns = 0;
        let give = |job| match first.take() {
            None => first.set(Some(job)),
            earlier => {
                first.set(earlier);
                self.own.push(job);
                self.woke(self.shared.sleep.wake_seen(1));
            }
        };
        let wait = |left: &Left| {
            if let Some(job) = first.take().or_else(|| self.find(&mut turns, || left.settle())) {
                turns = 0;
                self.end(job.run(self));
            }
        };
        fork::each(self.number, parts, work, give, wait);
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Relaxed)
    }
}

impl Thief {
    fn tally(&self) -> &Tally {
        &self.shared.tallies[self.number as usize]
    }

    fn woke(&self, threads: u64) {
        if threads > 0 {
            Tally::add(&self.tally().wakes, threads);
        }
    }

    #[inline]
    fn end(&self, ending: fork::Ending<Self>) {
        match ending.end() {
            // The waiting thread is this one, or there are other activities to wait for.
            None => {}
            Some(OUTSIDE) => self.woke(self.shared.outside.unpark().into()),
            // The parent may be among those who sleep.
            Some(_) => self.woke(self.shared.sleep.wake(u32::MAX)),
        }
    }

    /// Something to do, or `None` after a pause, a yield or a sleep, the longer the more `turns` there were.
    #[inline]
    fn find(&self, turns: &mut u32, done: impl Fn() -> bool) -> Option<Job<Self>> {
        let found = self.search();
        if found.is_some() || done() {
            return found;
        }
        *turns += 1;
        if *turns < PAUSES {
            hint::spin_loop();
            return None;
        }
        if *turns < PAUSES + YIELDS {
            thread::yield_now();
            return None;
        }
        // A thread that is done does not sleep either.
        let found = self.shared.sleep.sleep(|| match self.search() {
            Some(job) => Some(Some(job)),
            None => done().then_some(None),
        });
        if found.is_none() {
            Tally::add(&self.tally().parks, 1);
        }
        found.flatten()
    }

    /// Its own newest activity, else the oldest of another.
    #[inline]
    fn search(&self) -> Option<Job<Self>> {
        self.own.pop().or_else(|| self.steal())
    }

    fn steal(&self) -> Option<Job<Self>> {
        let (before, after) = self.shared.stealers.split_at(self.number as usize);
        let others = after[1..].iter().chain(before);
        self.tried(|| self.shared.injector.steal())
            .or_else(|| others.into_iter().find_map(|other| self.tried(|| other.steal())))
    }

    /// Tries until no other thread is in the way.
    fn tried(&self, steal: impl Fn() -> Steal<Job<Self>>) -> Option<Job<Self>> {
        loop {
            let failed = match steal() {
                Steal::Empty => return None,
                Steal::Retry => 1,
                Steal::Success(job) => {
                    Tally::add(&self.tally().attempts, 1);
                    return Some(job);
                }
            };
            Tally::add(&self.tally().attempts, failed);
            Tally::add(&self.tally().failures, failed);
        }
    }

    fn serve(&self) {
        let closing = || self.shared.closing.load(Ordering::Relaxed);
        let mut turns = 0;
        while !closing() {
            if let Some(job) = self.find(&mut turns, closing) {
                turns = 0;
                self.end(job.run(self));
            }
        }
    }
}

/// A thread's hand, until it comes for it.
struct Entry(Mutex<Option<Thief>>);

impl Enter for Entry {
    fn enter(&self) {
        let thief = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thief) = thief {
            thief.serve();
        }
    }
}
