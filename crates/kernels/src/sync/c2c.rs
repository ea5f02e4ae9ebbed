//! `c2c-read-write`, `c2c-cas`, `c2c-fetch-add`, `c2c-exchange`: two workers hand a line to each other, as fast as they can.
//!
//! The kernels differ in the operation only. The memory is allocated and touched first by worker 0, so its NUMA node is the
//! line's home; with the two seats the other way round, home is the other node. `--memory node:N` makes a third one the home.

mod lines;
mod mode;

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use charz_data::card::{LineOperation, ROOM};
use charz_data::params::{MEMORY, STEPS};
use charz_data::{Bytes, Card, Family, Metric, Params, Role, Work, WorkerCount};
use crossbeam::utils::CachePadded;

use crate::kernel::{Error, Worker};
use crate::pace::Pace;
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::watch::Watch;
use lines::{Lines, Meeting};
use mode::{Cas, Exchange, FetchAdd, Mode, ReadWrite};

/// Iterations that make one way of the line. The two workers share them. The fewest that a plan takes, a million, are 0.6 ms of the fastest
/// ways, between the strands of a core.
const ITERATIONS_PER_WAY: u64 = 32;

const CARD: Card = Card::new(
    "",
    Family::Sync,
    "",
    Metric::serial_time(
        "one way of a line from one core to the other; 32 iterations make one, and both workers of a run share them",
    ),
)
.uncounted_traffic(
    "attempts before the line has come; home of the line is the NUMA node of the first worker, or the one of --memory",
)
.params(&[&STEPS, &MEMORY])
.source("")
// A worker has every second way, and each takes at least the 4 cycles of a load from the first-level cache (Agner Fog,
// "Instruction tables"), even between the strands of one core.
.max_per_cycle(ROOM / 8.0)
.contends(true)
.workers(WorkerCount::Exactly(2));

kernels! {
    handing::<ReadWrite> => CARD
        .named("c2c-read-write", "waits by loads for a number in the other worker's line and stores the next to its \
            own, which the other waits for")
        .role(Role::LineTransfer(LineOperation::ReadWrite))
        .source("N. Viennot, core-to-core-latency: single writer, single reader on two cache lines");
    handing::<Cas> => CARD
        .named("c2c-cas", "tries to compare-and-swap the number of its turn for the other worker's in one line that \
            both share, until it succeeds")
        .role(Role::LineTransfer(LineOperation::Cas))
        .source("N. Viennot, core-to-core-latency: CAS on a single shared cache line");
    handing::<FetchAdd> => CARD
        .named("c2c-fetch-add", "adds 1 to one line that two workers share, until it finds that the other has added \
            since")
        .role(Role::LineTransfer(LineOperation::FetchAdd))
        .source("T. David, R. Guerraoui and V. Trigonakis, Everything you always wanted to know about synchronization \
            but were afraid to ask, SOSP 2013, section 5: fetch-and-increment");
    handing::<Exchange> => CARD
        .named("c2c-exchange", "swaps its mark into one line that two workers share, until it gets the other's mark \
            out of it")
        .role(Role::LineTransfer(LineOperation::Exchange))
        .source("T. David, R. Guerraoui and V. Trigonakis, Everything you always wanted to know about synchronization \
            but were afraid to ask, SOSP 2013, section 5: swap");
}

const fn handing<M: Mode>(card: &'static Card) -> PlainKernel {
    let footprint = |_: &PlainKernel, _: &Params| Bytes(lines::BYTES);
    PlainKernel::new(card, (), footprint, |kernel, params, _| {
        let (name, iterations) = (kernel.name(), kernel.iterations_up_to(u64::MAX, params)?);
        let rounds = (iterations / ITERATIONS_PER_WAY / 2).max(1);
        let shared = Arc::new(Shared::<M>::default());
        let variant = "one line, 128 bytes apart from others, another one each run";
        stage(variant, Extent::Each(Work::ops(rounds)), move |rank| {
            Ok(Box::new(Hand::new(name, Arc::clone(&shared), rank, rounds)?))
        })
    })
}

struct Shared<M> {
    lines: OnceLock<Lines>,
    /// What each says of its last run, written once a run.
    accounts: [CachePadded<Account>; 2],
    mode: PhantomData<M>,
}

impl<M> Default for Shared<M> {
    fn default() -> Self {
        Shared { lines: OnceLock::new(), accounts: Default::default(), mode: PhantomData }
    }
}

#[derive(Debug, Default)]
struct Account {
    turns: AtomicU64,
    mode: AtomicU64,
}

struct Hand<M> {
    rank: usize,
    name: &'static str,
    /// Turns of a full run.
    rounds: u64,
    /// The number of the run, the same for both: each prepares each.
    run: u64,
    shared: Arc<Shared<M>>,
}

impl<M: Mode> Hand<M> {
    fn new(name: &'static str, shared: Arc<Shared<M>>, rank: usize, rounds: u64) -> Result<Self, Error> {
        if rank == 0 && shared.lines.get().is_none() {
            // There is one worker 0, so no other worker has set it meanwhile.
            let _ = shared.lines.set(Lines::map()?);
        }
        Ok(Hand { rank, name, rounds, run: 0, shared })
    }
}

impl<M: Mode> Worker for Hand<M> {
    fn prepare(&mut self) {
        self.run += 1;
        if self.rank == 0
            && let Some(lines) = self.shared.lines.get()
        {
            lines.of_run(self.run).reset(M::START);
        }
    }

    fn run(&mut self, watch: &Watch) -> Work {
        // Without worker 0 there is nothing to hand over.
        let Some(lines) = self.shared.lines.get() else { return Work::default() };
        let meeting = lines.of_run(self.run);
        let (mut side, mut turns, mut pace) = (M::new(self.rank), 0, Pace::up_to(M::MOST));
        while turns < self.rounds && !watch.should_stop() && !meeting.is_over() {
            let more = stretch(&mut side, meeting, self.rounds - turns, pace.attempts());
            turns += more;
            if more == 0 {
                // No answer for the time of many transfers: the other worker may be waiting for this very strand.
                thread::yield_now();
            }
            pace.adapt();
        }
        if turns < self.rounds {
            meeting.leave();
        }
        let account = &self.shared.accounts[self.rank];
        // Relaxed: the reader has waited for this worker to end, by other means.
        account.turns.store(turns, Ordering::Relaxed);
        account.mode.store(side.account(), Ordering::Relaxed);
        Work::ops(turns)
    }

    fn verify(&mut self) -> Result<(), Error> {
        let accounts = self.shared.accounts.each_ref();
        let turns = accounts.map(|account| account.turns.load(Ordering::Relaxed));
        let modes = accounts.map(|account| account.mode.load(Ordering::Relaxed));
        let words = self.shared.lines.get().map_or([0; 2], |lines| lines.of_run(self.run).words());
        let right = turns == [self.rounds; 2] && M::agree(words, modes);
        Error::unless(right, self.name, || {
            let ([first, second], rounds) = (turns, self.rounds);
            format!(
                "{first} and {second} hand-overs instead of {rounds} each, and {words:?} in the lines where the workers \
                 wrote {modes:?}"
            )
        })
    }
}

/// Has so many turns, or makes so many attempts. Returns the turns.
#[inline(never)]
fn stretch<M: Mode>(side: &mut M, meeting: Meeting<'_>, wanted: u64, attempts: u64) -> u64 {
    // A copy stays in registers.
    let (mut own, mut turns, mut left) = (*side, 0, attempts);
    // Waiting is a loop of its own: a turn that is counted in it takes a way 10% longer.
    'all: while turns < wanted && left > 0 {
        left -= 1;
        while !own.attempt(meeting) {
            if left == 0 {
                break 'all;
            }
            left -= 1;
        }
        turns += 1;
    }
    *side = own;
    turns
}

#[cfg(test)]
mod tests;
