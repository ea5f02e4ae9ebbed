//! `context-switch`: two threads on one strand that run by turns.
//!
//! Each worker has two threads of its own, bound to the strand that it is on itself. One writes a word of memory and wakes the
//! other; then it sleeps until the word is written back, which gives the strand to the other. The worker sleeps meanwhile but for looks
//! at its watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use charz_data::params::SPAN;
use charz_data::{Bytes, Card, Family, Metric, Work};

use crate::kernel::{Error, Worker};
use crate::plain::{Extent, PlainKernel, kernels, stage};
use crate::sys::futex::{self, Scope};
use crate::sys::pthread::thread::Mask;
use crate::sys::strand;
use crate::watch::Watch;

/// How long the worker sleeps between two looks at its watch: each takes the strand from the others twice.
const LOOK: Duration = Duration::from_millis(1);
const STACK: usize = 64 << 10;

kernels! {
    switching => Card::new(
        "context-switch",
        Family::Sync,
        "has two threads on the strand of each worker, each of which wakes the other and sleeps until it is woken",
        Metric::op_time("one thread's turn: a system call that wakes, one that sleeps, and the switch of the strand"),
    )
    .uncounted_traffic("the system calls are not subtracted. The worker itself looks at its watch every millisecond, on the same strand")
    .params(&[&SPAN])
    .source("L. McVoy, C. Staelin: lmbench, portable tools for performance analysis (USENIX 1996), section 6.6: lat_ctx; here by a \
             futex and not a pipe")
    .blocks_in_kernel(true);
}

const fn switching(card: &'static Card) -> PlainKernel {
    PlainKernel::new(
        card,
        (),
        |_, _| Bytes(2 * STACK as u64),
        |kernel, params, _| {
            let name = kernel.name();
            stage("futex, private", Extent::Span(params.span()), move |_| {
                Ok(Box::new(Driver { name, pair: None, turns: [0; 2] }))
            })
        },
    )
}

/// Before the first turn.
const NONE: u32 = 2;

#[derive(Debug)]
struct Table {
    /// Whose turn it is.
    turn: AtomicU32,
    over: AtomicBool,
}

impl Table {
    /// Takes turns until it is over, and returns how many it took.
    fn play(&self, side: u32) -> u64 {
        let mut turns = 0;
        loop {
            let mut turn = self.turn.load(Ordering::Acquire);
            while turn != side {
                if self.over.load(Ordering::Acquire) {
                    return turns;
                }
                futex::wait(&self.turn, turn, Scope::Process, Duration::MAX);
                turn = self.turn.load(Ordering::Acquire);
            }
            if self.over.load(Ordering::Acquire) {
                return turns;
            }
            turns += 1;
            self.turn.store(1 - side, Ordering::Release);
            futex::wake(&self.turn, 1, Scope::Process);
        }
    }
}

/// Two threads that take turns. Dropping it ends them.
#[derive(Debug)]
struct Pair {
    table: Arc<Table>,
    threads: Vec<JoinHandle<Result<u64, Error>>>,
}

impl Pair {
    fn on(strand: u32) -> Result<Self, Error> {
        let table = Arc::new(Table { turn: AtomicU32::new(NONE), over: AtomicBool::new(false) });
        let mut pair = Pair { table, threads: Vec::new() };
        for side in 0..2 {
            let table = Arc::clone(&pair.table);
            let play = move || {
                Mask::of(strand).bind()?;
                let turns = table.play(side);
                Error::unless(strand::current().is_none_or(|on| on == strand), "context-switch", || {
                    format!("a thread was not on strand {strand}")
                })?;
                Ok(turns)
            };
            let refused = |error| Error::Refused(format!("a thread cannot be made: {error}; ask for fewer workers"));
            pair.threads.push(thread::Builder::new().stack_size(STACK).spawn(play).map_err(refused)?);
        }
        Ok(pair)
    }

    fn start(&self) {
        self.table.turn.store(0, Ordering::Release);
        futex::wake(&self.table.turn, u32::MAX, Scope::Process);
    }

    /// Ends the threads, and returns the turns of each.
    fn end(&mut self) -> Result<[u64; 2], Error> {
        self.table.over.store(true, Ordering::Release);
        // A thread that was about to sleep finds another word.
        self.table.turn.store(NONE + 1, Ordering::Release);
        futex::wake(&self.table.turn, u32::MAX, Scope::Process);
        let mut turns = self.threads.drain(..).map(|thread| thread.join().expect("it does not panic"));
        let mut next = || turns.next().unwrap_or(Ok(0));
        let both = [next(), next()];
        let [one, other] = both;
        Ok([one?, other?])
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

struct Driver {
    name: &'static str,
    /// Made anew before each run; an error if it could not be, or what was wrong with its run.
    pair: Option<Result<Pair, Error>>,
    turns: [u64; 2],
}

impl Worker for Driver {
    fn prepare(&mut self) {
        self.turns = [0; 2];
        let strand = strand::current();
        let unknown = || Error::Unavailable(format!("{} needs a system that says where a thread is", self.name));
        self.pair = Some(strand.ok_or_else(unknown).and_then(Pair::on));
    }

    fn run(&mut self, watch: &Watch) -> Work {
        let Some(Ok(pair)) = &mut self.pair else { return Work::default() };
        if !watch.should_stop() {
            pair.start();
        }
        while !watch.should_stop() {
            thread::sleep(LOOK);
        }
        match pair.end() {
            Ok(turns) => self.turns = turns,
            Err(error) => self.pair = Some(Err(error)),
        }
        Work::ops(self.turns.iter().sum())
    }

    fn verify(&mut self) -> Result<(), Error> {
        if let Some(Err(error)) = &self.pair {
            return Err(error.clone());
        }
        let [one, other] = self.turns;
        Error::unless(one.abs_diff(other) <= 1, self.name, || {
            format!("the threads took {one} and {other} turns, and not as many each")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tests::check_noticed;

    #[test]
    fn turns_that_were_not_taken_by_turns_are_noticed() {
        let mut driver = Driver { name: "context-switch", pair: None, turns: [0; 2] };
        // On a busy machine the threads may not run at all within a short span.
        let took_turns = [5, 50, 500, 5000].map(Duration::from_millis).into_iter().any(|span| {
            check_noticed(&mut driver, Some(span), |driver| driver.turns[0] += 2);
            driver.turns[1] > 0
        });
        assert!(took_turns);
    }

    /// A pair that never ran ends as well, and so does one of which a thread was refused.
    #[test]
    fn no_thread_is_left_behind() {
        let mine = || {
            let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
            tasks.filter(|task| fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "pair\n")).count()
        };
        thread::Builder::new()
            .name("pair".into())
            .spawn(move || {
                // New threads have the name of their maker.
                let pair = Pair::on(strand::current().unwrap()).unwrap();
                assert!(mine() >= 3);
                drop(pair);
                assert_eq!(mine(), 1);
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
