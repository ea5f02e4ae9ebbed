//! A process that does the orders of the thread that forked it, and of others for which it has threads.
//!
//! POSIX lets the child of a process with several threads call little. The GNU and musl libraries keep their allocator and `pthread_create`
//! fit for use in it (`fork` of glibc, and of musl since 1.2.2), and so does everything that touches nothing but memory of its own. A lock
//! that another thread held when the process was forked is never given back there.

use std::marker::PhantomData;
use std::ops::Range;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::kernel::Error;
use crate::sys::child::Child;
use crate::sys::futex::{self, Scope};
use crate::sys::pthread::thread::{Attributes, Enter, Mask, create};

/// How often the thread that waits for its process looks at its watch.
const LOOK: Duration = Duration::from_millis(5);

/// How long a process sleeps before it looks again whether there is an order.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a process may take to end a run that is over: a token goes round several thousand processes on a few strands in less.
pub const LIMIT: Duration = Duration::from_secs(5);

/// The stack of a further thread: orders touch little of it.
const STACK: usize = 256 << 10;

/// The number of the last order to a process, and of the last that it did; in memory that both have. The low bits are the
/// kind of the order.
#[derive(Debug, Default)]
pub struct Desk {
    order: AtomicU32,
    done: AtomicU32,
    /// The number of the thread that does the orders, where it is not its process's first; 0 before, and [`GONE`] after.
    thread: AtomicU32,
}

const KIND_BITS: u32 = 2;

/// More than any thread's number: Linux has 2²² at most.
const GONE: u32 = u32::MAX;

/// What the processes of a run share.
pub trait Crew {
    fn desk(&self, rank: usize) -> &Desk;

    /// Whether a process ended or hung, and with it the run. Where processes have several threads, in memory that they share.
    fn broken(&self) -> &AtomicBool;

    /// Has all processes end their run.
    fn end(&self);

    /// The files that the processes use, in ascending order.
    fn files(&self) -> Vec<RawFd> {
        Vec::new()
    }
}

/// A worker's process, or its thread of another worker's. A process sits on the strands of the thread that forked it, and dies with it.
pub struct Process<C: Crew> {
    crew: Arc<C>,
    rank: usize,
    /// The workers for which the process has further threads.
    others: Range<usize>,
    /// The process, where this worker forked it.
    child: Option<Child>,
    order: u32,
    stays: PhantomData<*const ()>,
}

impl<C: Crew> Process<C> {
    /// Forks worker `rank`'s process, which calls `start`, and then what that returns with the kind of each order. What they do there
    /// waits for no other thread of this process.
    pub fn fork<F: FnMut(u32)>(crew: Arc<C>, rank: usize, start: impl FnOnce() -> F) -> Result<Self, Error> {
        let files = crew.files();
        let serve = || serve(crew.desk(rank), start());
        // SAFETY: the C library's allocator and `pthread_create` are fit for use there, as are words in shared memory.
        // SAFETY: a process that waits for a lock that is never given back is killed, and so is every other before its memory goes.
        let child = unsafe { Child::fork(&files, serve) }.map_err(|error| {
            Error::Refused(format!("cannot fork a process: {error}; allow more or ask for fewer workers"))
        })?;
        Ok(Process { crew, rank, others: 0..0, child: Some(child), order: 0, stays: PhantomData })
    }

    /// Whether there is still a thread that does the orders.
    fn runs(&mut self) -> bool {
        match &mut self.child {
            Some(child) => child.runs(),
            None => self.crew.desk(self.rank).thread.load(Ordering::Acquire) != GONE,
        }
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
        let crew = Arc::clone(&self.crew);
        let desk = crew.desk(self.rank);
        let last = self.order;
        self.order = ((last >> KIND_BITS).wrapping_add(1) << KIND_BITS) | kind;
        let broken = crew.broken();
        if overdue() || broken.load(Ordering::Acquire) || !self.runs() {
            broken.store(true, Ordering::Release);
        } else {
            desk.order.store(self.order, Ordering::Release);
            futex::wake(&desk.order, 1, Scope::Machine);
        }
        while desk.done.load(Ordering::Acquire) != self.order {
            if broken.load(Ordering::Acquire) {
                return self.child.iter_mut().for_each(Child::kill);
            }
            futex::wait(&desk.done, last, Scope::Machine, LOOK);
            if overdue() || !self.runs() {
                broken.store(true, Ordering::Release);
                crew.end();
            }
        }
    }
}

impl<C: Crew + Send + Sync + 'static> Process<C> {
    /// The place of worker `rank` where each process serves as many workers as this, one after the other: the first of them forks it.
    /// `start` is as in [`Process::fork`], for each of the ranks.
    pub fn join<F: FnMut(u32)>(
        crew: &Arc<C>,
        rank: usize,
        threads: usize,
        start: impl Fn(usize) -> F + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let first = rank - rank % threads;
        if rank != first {
            return Self::seat(Arc::clone(crew), rank);
        }
        let others = first + 1..first + threads;
        let hired = Arc::new(Hired { crew: Arc::clone(crew), next: AtomicU32::new(first as u32 + 1), start });
        let forked = Self::fork(Arc::clone(crew), rank, || {
            let attributes = Attributes::new(STACK, true, None);
            for _ in others.clone() {
                if attributes.as_ref().map(|attributes| create(attributes, Arc::clone(&hired)).is_err()) != Ok(false) {
                    crew.broken().store(true, Ordering::Release);
                }
            }
            (hired.start)(rank)
        });
        let mut process = forked.inspect_err(|_| crew.broken().store(true, Ordering::Release))?;
        process.others = others;
        Ok(process)
    }

    /// The thread that another worker's process has for this one, put on the strands of the calling thread.
    fn seat(crew: Arc<C>, rank: usize) -> Result<Self, Error> {
        // Forks of one process take turns.
        let limit = Instant::now() + LIMIT + LOOK * (2 * rank as u32);
        let thread = loop {
            match crew.desk(rank).thread.load(Ordering::Acquire) {
                thread if thread == GONE || crew.broken().load(Ordering::Acquire) || Instant::now() > limit => {
                    let reason = "a process was not forked, or has no thread for each of its workers; allow more processes and threads, or ask \
                                  for fewer workers";
                    return Err(Error::Refused(reason.into()));
                }
                0 => futex::wait(&crew.desk(rank).thread, 0, Scope::Machine, LOOK),
                thread => break thread,
            };
        };
        Mask::own()?.bind_thread(thread as i32)?;
        Ok(Process { crew, rank, others: 0..0, child: None, order: 0, stays: PhantomData })
    }
}

impl<C: Crew> Drop for Process<C> {
    /// All workers have ended their last run by then, or the run is void.
    fn drop(&mut self) {
        self.others.clone().for_each(|rank| self.crew.desk(rank).thread.store(GONE, Ordering::Release));
    }
}

/// What a further thread of a process does.
struct Hired<C, S> {
    crew: Arc<C>,
    next: AtomicU32,
    start: S,
}

impl<C: Crew + Send + Sync + 'static, F: FnMut(u32), S: Fn(usize) -> F + Send + Sync + 'static> Enter for Hired<C, S> {
    fn enter(&self) {
        let rank = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        let desk = self.crew.desk(rank);
        let serving = (self.start)(rank);
        // SAFETY: it takes nothing, and touches no memory.
        desk.thread.store(unsafe { libc::gettid() } as u32, Ordering::Release);
        futex::wake(&desk.thread, 1, Scope::Machine);
        serve(desk, serving)
    }
}

/// Does the orders on a desk, for ever.
fn serve(desk: &Desk, mut serving: impl FnMut(u32)) -> ! {
    let mut done = 0;
    loop {
        let order = next(&desk.order, done);
        serving(order % (1 << KIND_BITS));
        done = order;
        desk.done.store(order, Ordering::Release);
        futex::wake(&desk.done, 1, Scope::Machine);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::child::asked_id;
    use crate::sys::shared::Shared;

    #[derive(Default)]
    struct Place {
        desk: Desk,
        process: AtomicU32,
        strands: AtomicU32,
    }

    struct Office(Shared<Place>, Shared<AtomicBool>);

    impl Crew for Office {
        fn desk(&self, rank: usize) -> &Desk {
            &self.0[rank].desk
        }

        fn broken(&self) -> &AtomicBool {
            &self.1[0]
        }

        fn end(&self) {}
    }

    #[test]
    fn workers_share_processes_as_asked_and_each_thread_sits_where_its_worker_does() {
        let office = Arc::new(Office(
            Shared::new(6, Place::default).unwrap(),
            Shared::new(1, || AtomicBool::new(false)).unwrap(),
        ));
        let strands: Vec<u32> = Mask::own().unwrap().strands().collect();
        let gate = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for rank in 0..6 {
                let (office, strands, gate) = (Arc::clone(&office), &strands, &gate);
                scope.spawn(move || {
                    Mask::of(strands[rank % strands.len()]).bind().unwrap();
                    let theirs = Arc::clone(&office);
                    let process = Process::join(&office, rank, 3, move |rank| {
                        let theirs = Arc::clone(&theirs);
                        move |_| {
                            theirs.0[rank].process.store(asked_id(), Ordering::Release);
                            let strand = crate::sys::strand::current().unwrap_or(u32::MAX);
                            theirs.0[rank].strands.store(strand, Ordering::Release);
                        }
                    });
                    // One that was refused leaves no other waiting.
                    gate.wait();
                    let served = process.map(|mut process| {
                        (0..3).for_each(|_| process.order(0, || false));
                        process
                    });
                    gate.wait();
                    served.map(drop).unwrap();
                });
            }
        });
        let read =
            |of: fn(&Place) -> &AtomicU32| office.0.iter().map(|place| of(place).load(Ordering::Acquire)).collect();
        let (processes, seen): (Vec<u32>, Vec<u32>) = (read(|place| &place.process), read(|place| &place.strands));
        assert!(!office.1[0].load(Ordering::Acquire) && !processes.contains(&std::process::id()), "{processes:?}");
        assert!(processes[..3].iter().all(|id| *id == processes[0]), "{processes:?}");
        assert!(processes[3..].iter().all(|id| *id == processes[3] && *id != processes[0]), "{processes:?}");
        assert_eq!(seen, (0..6).map(|rank| strands[rank % strands.len()]).collect::<Vec<_>>());
    }
}
