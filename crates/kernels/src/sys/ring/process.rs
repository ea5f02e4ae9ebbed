//! A participant that is a process of its own, driven by the thread that forked it.
//!
//! POSIX lets the child of a process with several threads call little, and neither mutexes nor condition variables are on
//! the list. Those of the GNU and musl libraries touch nothing but the object itself and the calling thread's own number,
//! and make the one system call: they hold no lock that another thread may have held when the process was forked.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::kernel::Error;
use crate::sys::child::Child;
use crate::sys::futex::{self, Scope};
use crate::sys::ring::{Link, Lookout, Member, PATIENCE, Ring};

/// How often the thread that waits for its process looks at its watch.
const LOOK: Duration = Duration::from_millis(5);

/// How long a process may take to end a run that is over, and to prepare one: a token goes round several thousand processes on a
/// few strands in less.
const LIMIT: Duration = Duration::from_secs(5);

pub struct Remote<L: Link> {
    ring: Arc<Ring<L>>,
    rank: usize,
    child: Child,
    /// The number of the last order. An odd one is to prepare a run, an even one is to run.
    order: u32,
    /// The process dies with the thread that forked it.
    stays: PhantomData<*const ()>,
}

impl<L: Link> Remote<L> {
    /// Forks the participant with this number. It sits on the strands of the calling thread.
    pub fn new(ring: Arc<Ring<L>>, rank: usize) -> Result<Self, Error> {
        // SAFETY: what a member does, by the ring's contract, neither allocates nor waits for anything but the ring; and the
        // process is killed, or ends, before it gives back what it was made with.
        let child = unsafe { Child::fork(|| serve(&ring, rank)) }.map_err(|error| {
            Error::Refused(format!("cannot fork a process: {error}; allow more or ask for fewer workers"))
        })?;
        Ok(Remote { ring, rank, child, order: 0, stays: PhantomData })
    }

    /// Before a run: see [`Member::prepare`].
    pub fn prepare(&mut self) {
        let limit = Instant::now() + LIMIT;
        self.order(|| Instant::now() > limit);
    }

    /// Has the process [run](Member::run), until `ends` says that the run is to end, and returns its hops.
    pub fn run(&mut self, mut ends: impl FnMut() -> bool) -> u64 {
        let ring = Arc::clone(&self.ring);
        let mut limit = None;
        self.order(|| {
            if limit.is_none() && ends() {
                ring.end();
                limit = Some(Instant::now() + LIMIT);
            }
            limit.is_some_and(|limit| Instant::now() > limit)
        });
        if self.ring.common().broken.load(Ordering::Relaxed) {
            return 0;
        }
        self.ring.accounts[self.rank].hops.load(Ordering::Relaxed)
    }

    /// Gives the next order, and waits until it is done, or `overdue`, which is asked now and then, gives up on the process.
    fn order(&mut self, mut overdue: impl FnMut() -> bool) {
        let account = &self.ring.accounts[self.rank];
        self.order = self.order.wrapping_add(1);
        let broken = &self.ring.common().broken;
        if overdue() || broken.load(Ordering::Relaxed) || !self.child.runs() {
            broken.store(true, Ordering::Relaxed);
        } else {
            account.order.store(self.order, Ordering::Release);
            futex::wake(&account.order, 1, Scope::Machine);
        }
        while account.done.load(Ordering::Acquire) != self.order {
            if broken.load(Ordering::Relaxed) {
                return self.child.kill();
            }
            futex::wait(&account.done, self.order.wrapping_sub(1), Scope::Machine, LOOK);
            if overdue() || !self.child.runs() {
                self.ring.end();
                broken.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// What the process does: one order after the other, until it is killed.
fn serve<L: Link>(ring: &Arc<Ring<L>>, rank: usize) {
    let account = &ring.accounts[rank];
    let mut member = Member::new(Arc::clone(ring), rank);
    for order in 1_u32.. {
        next(&account.order, order);
        if order % 2 == 1 {
            member.prepare();
        } else {
            member.run(&mut Away(Instant::now()));
        }
        account.done.store(order, Ordering::Release);
        futex::wake(&account.done, 1, Scope::Machine);
    }
}

fn next(word: &AtomicU32, wanted: u32) {
    loop {
        let seen = word.load(Ordering::Acquire);
        if seen == wanted {
            return;
        }
        futex::wait(word, seen, Scope::Machine, PATIENCE);
    }
}

/// The thread that drives the process says when the run is over. The process has the system's clock only.
struct Away(Instant);

impl Lookout for Away {
    fn passed(&mut self) -> bool {
        false
    }

    fn waited(&mut self) -> bool {
        false
    }

    fn now(&mut self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}
