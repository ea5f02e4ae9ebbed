//! `ring-mutex` and the other rings: workers pass a token round a circle, so one of them runs at a time.
//!
//! The kernel measures the time from one worker to the next: the release of a lock and the wakeup of the worker that waits for
//! it. More workers than strands cause no storm, since all but one sleep, except where they spin.

use std::sync::Arc;

use charz_data::card::ROOM;
use charz_data::params::{PER_PROCESS, Param, SPAN};
use charz_data::{Bytes, Card, Family, JointHistogram, Metric, Params, Role, Work, WorkerCount};

use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::ring::cascade::{Cascade, Condition, Mutex, ParkingLot, Standard};
use crate::sys::ring::file::{Fcntl, File, Flock, Lockf};
use crate::sys::ring::process::Remote;
use crate::sys::ring::word::{Flag, Futex};
use crate::sys::ring::{Link, Lookout, Member, Ring};
use crate::watch::Watch;

const LIBMICRO: &str = "B. Smaalders, P. Harman: libMicro (Sun Microsystems, 2005), cascade_mutex, cascade_cond: the order of \
                        the locks";
const FUTEX: &str = "H. Franke, R. Russell, M. Kirkwood: Fuss, futexes and furwocks, Ottawa Linux Symposium (2002); the ring \
                     after libMicro's cascade_mutex";
const FLAGS: &str = "J. Mellor-Crummey, M. Scott: Algorithms for scalable synchronization on shared-memory multiprocessors, \
                     TOCS 9 (1991): flags that one writes and one spins on; the ring after libMicro's cascade_mutex";

/// Beside what is counted, where participants sleep.
const SLEEP: &str = "each worker notes how long a lap takes, hop times workers, the first worker for all: the first 262,144 of a \
                     run; the first time of a pair is the lap divided by the workers, the second the lap";
/// The same where they sleep on a word.
const WORDS: &str = "each worker notes how long a lap takes, hop times workers, the first worker for all: the first 262,144 of a \
                     run; the first time of a pair is the lap divided by the workers, the second the lap. A sleep lasts 50 ms at \
                     most: setting and cancelling its timer is part of a hop, 0.1 µs on Sapphire Rapids";
/// The same for processes.
const APART: &str = "as over threads, by the system's clock; a thread on each worker's seat looks every 5 ms whether the run is \
                     over, and starts and ends its process, which is part of the interval";

/// What rings of processes obey.
const AMONG_PROCESSES: &[&Param] = &[&SPAN, &PER_PROCESS];

const CASCADE: Card = Card::new(
    "",
    Family::Sync,
    "",
    Metric::serial_time("one hop of the ring: from one worker's being let go to the next one's"),
)
.role(Role::Ring)
.times("a hop", "a lap")
.uncounted_traffic(SLEEP)
.params(&[&SPAN])
.source(LIBMICRO)
// A worker's own part of a hop is two locks and two unlocks, each an atomic exchange of at least the 4 cycles of a load from
// the first-level cache (Agner Fog, "Instruction tables"), and it makes one hop of each lap of two or more.
.max_per_cycle(ROOM / 32.0)
.workers(WorkerCount::AtLeast(2))
.blocks_in_kernel(true);

// Each lock and unlock is a call of the system, of at least 30 cycles (SYSCALL and SYSRET: Agner Fog, "Instruction tables").
const FILES: Card = CASCADE
    .source("libMicro (Sun Microsystems, 2005): cascade_flock, cascade_fcntl, cascade_lockf")
    .max_per_cycle(ROOM / 240.0);

// A load and a store.
const WORD: Card = CASCADE.source(FUTEX).uncounted_traffic(WORDS).max_per_cycle(ROOM / 8.0);

kernels! {
    ring::<Cascade<Mutex<false>>>, Among::Threads("pthread_mutex, default") => CASCADE
        .named("ring-mutex", "passes a token around a ring of threads, by two mutexes of the C library for each, in \
            the order of libMicro's cascade_mutex");
    ring::<Cascade<Mutex<true>>>, Among::Threads("pthread_mutex, adaptive") => CASCADE
        .named("ring-mutex-adaptive", "does as ring-mutex with mutexes whose waiters spin for a while before they \
            sleep");
    ring::<Cascade<Mutex<false>>>, Among::Processes("pthread_mutex, process-shared") => CASCADE
        .named("ring-mutex-processes", "does as ring-mutex among processes, by mutexes in memory that they share")
        .params(AMONG_PROCESSES)
        .uncounted_traffic(APART);
    ring::<Cascade<Mutex<true>>>, Among::Processes("pthread_mutex, adaptive, process-shared") => CASCADE
        .named("ring-mutex-adaptive-processes", "does as ring-mutex-processes with mutexes whose waiters spin for a while \
            before they sleep")
        .params(AMONG_PROCESSES)
        .uncounted_traffic(APART);
    ring::<Cascade<Mutex<false>>>, Among::Shared("pthread_mutex, process-shared") => CASCADE
        .named("ring-mutex-shared", "does as ring-mutex with mutexes that processes could share");
    ring::<Cascade<ParkingLot>>, Among::Threads("parking_lot") => CASCADE
        .named("ring-parking-lot", "does as ring-mutex with mutexes of parking_lot")
        .source("The crate parking_lot, RawMutex; the order of the locks: libMicro's cascade_mutex");
    ring::<Cascade<Standard>>, Among::Threads("std::sync::Mutex") => CASCADE
        .named("ring-std", "does as ring-mutex with mutexes of Rust's standard library")
        .source("std::sync::Mutex; the order of the locks: libMicro's cascade_mutex");
    ring::<Cascade<File<Flock>>>, Among::Threads("flock") => FILES
        .named("ring-flock", "does as ring-mutex with files that flock locks");
    ring::<Cascade<File<Flock>>>, Among::Processes("flock") => FILES
        .named("ring-flock-processes", "does as ring-flock among processes")
        .params(AMONG_PROCESSES)
        .uncounted_traffic(APART);
    ring::<Cascade<File<Fcntl>>>, Among::Threads("fcntl, F_OFD_SETLKW") => FILES
        .named("ring-fcntl", "does as ring-mutex with files that fcntl locks, by opening");
    ring::<Cascade<File<Lockf>>>, Among::Processes("lockf") => FILES
        .named("ring-lockf-processes", "does as ring-flock-processes with lockf, by process, so each is one thread")
        .uncounted_traffic(APART);
    ring::<Cascade<Condition>>, Among::Threads("pthread_cond") => CASCADE
        .named("ring-cond", "passes a token around a ring of threads, by two condition variables of the C library for \
            each, in the order of libMicro's cascade_cond");
    ring::<Cascade<Condition>>, Among::Processes("pthread_cond, process-shared") => CASCADE
        .named("ring-cond-processes", "does as ring-cond among processes, by condition variables in memory that they \
            share")
        .params(AMONG_PROCESSES)
        .uncounted_traffic(APART);
    ring::<Cascade<Condition>>, Among::Shared("pthread_cond, process-shared") => CASCADE
        .named("ring-cond-shared", "does as ring-cond with condition variables that processes could share");
    ring::<Futex>, Among::Threads("futex, private") => WORD
        .named("ring-futex", "passes a token around a ring of threads, each asleep on a word of its own until the one \
            before it writes there and wakes it");
    ring::<Futex>, Among::Processes("futex, shared") => WORD
        .named("ring-futex-processes", "does as ring-futex among processes, by words in memory that they share")
        .params(AMONG_PROCESSES)
        .uncounted_traffic(APART);
    ring::<Flag>, Among::Threads("store-release, load-acquire") => WORD
        .named("ring-flag", "passes a token around a ring of threads, each spinning on a flag of its own until the one \
            before it writes there")
        .uncounted_traffic(SLEEP)
        .source(FLAGS)
        .contends(true)
        .blocks_in_kernel(false);
}

/// The members of the ring, and what releases the next one: the variant.
#[derive(Clone, Copy)]
enum Among {
    Threads(&'static str),
    /// With what processes would share.
    Shared(&'static str),
    /// Each worker drives a process that takes its place, or a thread of one.
    Processes(&'static str),
}

const fn ring<L: Link>(card: &'static Card, among: Among) -> PlainKernel<Among> {
    let footprint = |_: &PlainKernel<Among>, _: &Params| Bytes(Ring::<L>::BYTES as u64);
    PlainKernel::new(card, among, footprint, |kernel, params, workers| {
        let (variant, shared, processes) = match kernel.data {
            Among::Threads(variant) => (variant, false, false),
            Among::Shared(variant) => (variant, true, false),
            Among::Processes(variant) => (variant, true, true),
        };
        let ring = Arc::new(Ring::<L>::new(workers, shared)?);
        let threads = per_process(kernel, params) as usize;
        stage(variant, Extent::Span(params.span()), move |rank| {
            let member = Arc::clone(&ring);
            let place = match processes {
                false => Place::Here(Member::new(member, rank)),
                true => Place::Apart(Remote::new(member, rank, threads)?),
            };
            Ok(Box::new(Participant { ring: Arc::clone(&ring), first: rank == 0, workers, place }))
        })
    })
    .fits(|kernel, params, workers| match per_process(kernel, params) {
        0 => Err(kernel.unavailable("takes at least 1 thread in a process, not 0")),
        threads if (workers as u64).is_multiple_of(threads) => Ok(()),
        threads => Err(kernel
            .unavailable(format_args!("takes multiples of {threads} threads, {threads} a process, not {workers}"))),
    })
}

/// Threads of each process; one where the kernel knows no others.
fn per_process(kernel: &PlainKernel<Among>, params: &Params) -> u64 {
    if kernel.card.obeys(&PER_PROCESS) { params.per_process } else { 1 }
}

enum Place<L: Link> {
    Here(Member<L>),
    Apart(Remote<L>),
}

struct Participant<L: Link> {
    ring: Arc<Ring<L>>,
    first: bool,
    workers: usize,
    place: Place<L>,
}

impl<L: Link> Worker for Participant<L> {
    fn prepare(&mut self) {
        match &mut self.place {
            Place::Here(member) => member.prepare(),
            Place::Apart(remote) => remote.prepare(),
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        Work::ops(match &mut self.place {
            Place::Here(member) => member.run(&mut Watching { watch, pace: Pace::start(), left: 1 }),
            Place::Apart(remote) => remote.run(|| watch.should_stop()),
        })
    }

    fn verify(&mut self) -> Result<(), Error> {
        self.ring.verify()
    }

    /// The first worker records each lap: its time per hop, and its whole time.
    fn samples(&mut self) -> Option<JointHistogram> {
        let workers = self.workers as u64;
        self.first.then(|| self.ring.laps().map(|lap| (lap / workers, lap)).collect())
    }
}

/// A worker's watch, looked at every 20 to 100 µs, and at most once a lap.
struct Watching<'a> {
    watch: &'a Watch,
    pace: Pace,
    /// Hops until the next look.
    left: u64,
}

impl Lookout for Watching<'_> {
    #[inline]
    fn passed(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.pace.adapt();
        self.left = self.pace.attempts();
        self.watch.should_stop()
    }

    fn waited(&mut self) -> bool {
        self.watch.should_stop()
    }

    fn now(&mut self) -> u64 {
        self.watch.now()
    }
}

#[cfg(test)]
mod tests;
