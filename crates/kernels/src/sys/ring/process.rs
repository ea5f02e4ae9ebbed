//! A participant that is a process of its own, driven by the thread that forked it.
//!
//! Mutexes and condition variables of the GNU and musl libraries touch nothing but the object itself and the calling thread's own number,
//! and make the one system call, so they work in a forked process.

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::kernel::Error;
use crate::sys::process::{Crew, Desk, LIMIT, Process};
use crate::sys::ring::{Link, Lookout, Member, Ring};

const PREPARE: u32 = 0;
const RUN: u32 = 1;

pub struct Remote<L: Link> {
    ring: Arc<Ring<L>>,
    rank: usize,
    process: Process<Ring<L>>,
}

impl<L: Link> Crew for Ring<L> {
    fn desk(&self, rank: usize) -> &Desk {
        &self.accounts[rank].desk
    }

    fn broken(&self) -> &AtomicBool {
        &self.common().broken
    }

    fn end(&self) {
        Ring::end(self);
    }

    fn files(&self) -> Vec<RawFd> {
        Ring::files(self)
    }
}

impl<L: Link> Remote<L> {
    /// The participant with this number, in processes of so many threads each. The first of a process forks it.
    pub fn new(ring: Arc<Ring<L>>, rank: usize, threads: usize) -> Result<Self, Error> {
        let theirs = Arc::clone(&ring);
        let process = Process::join(&ring, rank, threads, move |rank| {
            let mut member = Member::new(Arc::clone(&theirs), rank);
            move |kind| {
                if kind == PREPARE {
                    member.prepare();
                } else {
                    member.run(&mut Away(Instant::now()));
                }
            }
        })?;
        Ok(Remote { ring, rank, process })
    }

    /// Before a run: see [`Member::prepare`].
    pub fn prepare(&mut self) {
        let limit = Instant::now() + LIMIT;
        self.process.order(PREPARE, || Instant::now() > limit);
    }

    /// Has the process [run](Member::run), until `ends` says that the run is to end, and returns its hops.
    pub fn run(&mut self, ends: impl FnMut() -> bool) -> u64 {
        self.process.run(RUN, ends);
        if self.ring.common().broken.load(Ordering::Relaxed) {
            return 0;
        }
        self.ring.accounts[self.rank].hops.load(Ordering::Relaxed)
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
