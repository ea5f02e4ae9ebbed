//! A process that does the orders of the thread that forked it.
//!
//! POSIX lets the child of a process with several threads call little. The GNU and musl libraries keep their allocator fit for use in it
//! (`fork` of glibc, and of musl since 1.2.2), and so does everything that touches nothing but memory of its own. A lock that another
//! thread held when the process was forked is never given back there.

use std::marker::PhantomData;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::kernel::Error;
use crate::sys::child::Child;
use crate::sys::futex::{self, Scope};

/// How often the thread that waits for its process looks at its watch.
const LOOK: Duration = Duration::from_millis(5);

/// How long a process sleeps before it looks again whether there is an order.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a process may take to end a run that is over: a token goes round several thousand processes on a few strands in less.
pub const LIMIT: Duration = Duration::from_secs(5);

/// The number of the last order to a process, and of the last that it did; in memory that both have. The low bits are the
/// kind of the order.
#[derive(Debug, Default)]
pub struct Desk {
    order: AtomicU32,
    done: AtomicU32,
}

const KIND_BITS: u32 = 2;

/// What the processes of a run share.
pub trait Crew {
    fn desk(&self, rank: usize) -> &Desk;

    /// Whether a process ended or hung, and with it the run.
    fn broken(&self) -> &AtomicBool;

    /// Has all processes end their run.
    fn end(&self);

    /// The files that the processes use, in ascending order.
    fn files(&self) -> Vec<RawFd> {
        Vec::new()
    }
}

/// A worker's process. It sits on the strands of the thread that forked it, and dies with it.
pub struct Process<C> {
    crew: Arc<C>,
    rank: usize,
    child: Child,
    order: u32,
    stays: PhantomData<*const ()>,
}

impl<C: Crew> Process<C> {
    /// Forks worker `rank`'s process, which calls `start`, and then what that returns with the kind of each order. What they do there
    /// waits for no other thread of this process.
    pub fn fork<F: FnMut(u32)>(crew: Arc<C>, rank: usize, start: impl FnOnce() -> F) -> Result<Self, Error> {
        let files = crew.files();
        let serve = || {
            let desk = crew.desk(rank);
            let mut serve = start();
            let mut done = 0;
            loop {
                let order = next(&desk.order, done);
                serve(order % (1 << KIND_BITS));
                done = order;
                desk.done.store(order, Ordering::Release);
                futex::wake(&desk.done, 1, Scope::Machine);
            }
        };
        // SAFETY: the C library's allocator is fit for use there, as are words in shared memory; a process that waits for a lock that is
        // never given back is killed, and so is every other before its memory goes.
        let child = unsafe { Child::fork(&files, serve) }.map_err(|error| {
            Error::Refused(format!("cannot fork a process: {error}; allow more or ask for fewer workers"))
        })?;
        Ok(Process { crew, rank, child, order: 0, stays: PhantomData })
    }

    /// Has the process run until `ends` says that the run is to end, which ends the runs of the others too.
    pub fn run(&mut self, kind: u32, mut ends: impl FnMut() -> bool) {
        let (crew, mut limit) = (Arc::clone(&self.crew), None);
        self.order(kind, || {
            if limit.is_none() && ends() {
                crew.end();
                limit = Some(Instant::now() + LIMIT);
            }
            limit.is_some_and(|limit| Instant::now() > limit)
        });
    }

    /// Gives an order, and waits until it is done, or `overdue`, which is asked now and then, gives up on the process.
    pub fn order(&mut self, kind: u32, mut overdue: impl FnMut() -> bool) {
        let desk = self.crew.desk(self.rank);
        let last = self.order;
        self.order = ((last >> KIND_BITS).wrapping_add(1) << KIND_BITS) | kind;
        let broken = self.crew.broken();
        if overdue() || broken.load(Ordering::Acquire) || !self.child.runs() {
            broken.store(true, Ordering::Release);
        } else {
            desk.order.store(self.order, Ordering::Release);
            futex::wake(&desk.order, 1, Scope::Machine);
        }
        while desk.done.load(Ordering::Acquire) != self.order {
            if broken.load(Ordering::Acquire) {
                return self.child.kill();
            }
            futex::wait(&desk.done, last, Scope::Machine, LOOK);
            if overdue() || !self.child.runs() {
                broken.store(true, Ordering::Release);
                self.crew.end();
            }
        }
    }
}

/// Waits for another order than the last.
fn next(word: &AtomicU32, last: u32) -> u32 {
    loop {
        let seen = word.load(Ordering::Acquire);
        if seen != last {
            return seen;
        }
        futex::wait(word, seen, Scope::Machine, PATIENCE);
    }
}
