//! The threads, their pool, and the recursion.

use std::hint::black_box;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use charz_data::{Growth, GrowthStep, Halt};
use crossbeam::utils::CachePadded;

use super::super::WaitStats;
use super::{Error, Pool};
use crate::pace::Pace;
use crate::sync::primitives::Spin;
use crate::sync::section;
use crate::watch::Watch;

/// Sizes beyond every other limit: 2³¹ activities.
const SIZES: usize = 31;

/// Threads wanted beyond those there are, in all sizes together, after which it is enough.
const MOST_WANTED: u64 = 1_000_000;

pub(super) struct Runtime<P> {
    /// Those who have nothing to do, and have had something to do before.
    pool: P,
    /// How many have had something to do, number 0 among them; more than there are once all have.
    made: CachePadded<AtomicU32>,
    over: CachePadded<AtomicBool>,
    desks: Box<[CachePadded<Desk>]>,
}

/// A thread's own task, and the progress of the tasks that it gave to others.
#[derive(Default)]
struct Desk {
    /// The activity that it is to do ([`Task`]), 0 for none.
    task: AtomicU64,
    /// Of its activity of each size, the parts that others have not ended yet. A thread has one activity of a size at a time,
    /// since the parts that it does itself are smaller.
    parts: [AtomicU32; SIZES + 1],
    done: [AtomicU64; SIZES + 1],
    /// What the thread counted in this run, for number 0; written by the thread alone.
    tally: [AtomicU64; 4],
}

/// An activity of this size, a part of one of thread `parent`.
#[derive(Clone, Copy)]
struct Task {
    size: usize,
    parent: u32,
}

impl Task {
    fn encode(self) -> u64 {
        (u64::from(self.parent) << 8) | (self.size as u64 + 1)
    }

    fn decode(code: u64) -> Option<Self> {
        let size = (code & 0xff).checked_sub(1)? as usize;
        Some(Task { size, parent: (code >> 8) as u32 })
    }
}

impl<P: Pool> Runtime<P> {
    pub(super) const EACH: usize = size_of::<CachePadded<Desk>>();

    pub(super) fn new(threads: u32) -> Result<Self, Error> {
        Ok(Runtime {
            pool: P::new(threads as usize, threads)?,
            made: CachePadded::new(AtomicU32::new(1)),
            over: CachePadded::default(),
            desks: (0..threads).map(|_| CachePadded::default()).collect(),
        })
    }

    /// What all threads have counted since the run began.
    fn tally(&self) -> [u64; 4] {
        let sum = |which: usize| self.desks.iter().map(|desk| desk.tally[which].load(Ordering::Relaxed)).sum();
        [0, 1, 2, 3].map(sum)
    }

    fn threads(&self) -> u32 {
        self.made.load(Ordering::Relaxed).min(self.desks.len() as u32)
    }
}

pub(super) struct Thread<P: Pool> {
    pub(super) name: &'static str,
    runtime: Arc<Runtime<P>>,
    rank: u32,
    /// Steps of an activity before it asks for its parts, and after they have ended.
    sections: [u64; 2],
    hand: P::Hand,
    state: u64,
    pub(super) stats: WaitStats,
    pub(super) activities: u64,
    would_spawn: u64,
    /// Whether the last size was completed: then all threads that were made are in the pool.
    at_rest: bool,
    /// Of the last run of number 0.
    pub(super) growth: Option<Growth>,
    pub(super) verdict: Result<(), String>,
}

struct Look<'a> {
    watch: &'a Watch,
    pace: Pace,
    left: u64,
}

impl<'a> Look<'a> {
    fn start(watch: &'a Watch) -> Self {
        Look { watch, pace: Pace::start(), left: 1 }
    }

    #[inline]
    fn step(&mut self, over: &AtomicBool) {
        self.left -= 1;
        if self.left == 0 {
            self.now(over);
        }
    }

    /// Ends the run for all if it is to end.
    fn now(&mut self, over: &AtomicBool) {
        if self.watch.should_stop() {
            over.store(true, Ordering::Relaxed);
        }
        self.pace.adapt();
        self.left = self.pace.attempts();
    }
}

impl<P: Pool> Thread<P> {
    pub(super) fn new(
        name: &'static str,
        runtime: Arc<Runtime<P>>,
        rank: u32,
        sections: [u64; 2],
    ) -> Result<Self, Error> {
        Ok(Thread {
            name,
            hand: runtime.pool.hand(rank as usize)?,
            runtime,
            rank,
            sections,
            state: 0,
            stats: WaitStats::default(),
            activities: 0,
            would_spawn: 0,
            at_rest: true,
            growth: None,
            verdict: Ok(()),
        })
    }

    /// Whether this is the thread that asks for all sizes.
    pub(super) fn asks(&self) -> bool {
        self.rank == 0
    }

    /// Before a run, while no worker runs: number 0 resets the shared state, including what a stop has left behind.
    pub(super) fn reset(&mut self) {
        (self.activities, self.would_spawn) = (0, 0);
        if self.asks() {
            while self.draw(&mut WaitStats::default()).is_some() {}
            self.runtime.made.store(1, Ordering::Relaxed);
            self.runtime.over.store(false, Ordering::Relaxed);
            for desk in &self.runtime.desks {
                desk.task.store(0, Ordering::Relaxed);
                desk.parts.iter().for_each(|parts| parts.store(0, Ordering::Relaxed));
                desk.done.iter().chain(&desk.tally).for_each(|count| count.store(0, Ordering::Relaxed));
            }
        }
        self.stats = WaitStats::default();
    }

    /// Asks for one size after the other until there is a reason to stop; what each of them took, and what was wrong.
    pub(super) fn grow(&mut self, watch: &Watch) -> (Growth, Result<(), String>) {
        let mut look = Look::start(watch);
        let (mut steps, mut stopped_by, mut verdict) = (Vec::new(), Halt::Sizes, Ok(()));
        for size in 1..=SIZES {
            look.now(&self.runtime.over);
            self.at_rest = true;
            if self.is_over() {
                stopped_by = Halt::Time;
                break;
            }
            let (before, start) = (self.runtime.tally(), watch.now());
            let done = self.activity(size, &mut look);
            let nanos = watch.now().saturating_sub(start);
            if self.is_over() {
                (stopped_by, self.at_rest) = (Halt::Time, false);
                break;
            }
            self.publish();
            let after = self.runtime.tally();
            let [activities, would_spawn, attempts, failures] = [0, 1, 2, 3].map(|which| after[which] - before[which]);
            let expected = (2 << size) - 1;
            if (done, activities) != (expected, expected) {
                verdict = Err(format!(
                    "size {size} has {expected} activities, of which {activities} were done and {done} told"
                ));
            }
            let threads = u64::from(self.runtime.threads());
            steps.push(GrowthStep {
                size: size as u64,
                time_ns: nanos,
                activities,
                threads,
                would_spawn,
                attempts,
                failures,
            });
            if after[1] > MOST_WANTED {
                stopped_by = Halt::Threads;
                break;
            }
        }
        self.runtime.over.store(true, Ordering::Relaxed);
        black_box(self.state);
        (Growth { steps, stopped_by }, verdict)
    }

    pub(super) fn obey(&mut self, watch: &Watch) {
        let mut look = Look::start(watch);
        look.now(&self.runtime.over);
        while let Some(task) = self.wait_for_task(&mut look) {
            let done = self.activity(task.size, &mut look);
            if self.is_over() {
                break;
            }
            // The thread is in the pool, and its counts can be read, before the thread that gave it the task continues.
            self.runtime.pool.give(&mut self.hand, self.rank, &mut self.stats);
            self.publish();
            let desk = &self.runtime.desks[task.parent as usize];
            desk.done[task.size + 1].fetch_add(done, Ordering::Relaxed);
            desk.parts[task.size + 1].fetch_sub(1, Ordering::Release);
        }
        black_box(self.state);
    }

    fn is_over(&self) -> bool {
        self.runtime.over.load(Ordering::Relaxed)
    }

    fn desk(&self) -> &Desk {
        &self.runtime.desks[self.rank as usize]
    }

    fn draw(&mut self, stats: &mut WaitStats) -> Option<u32> {
        self.runtime.pool.take(&mut self.hand, stats)
    }

    fn publish(&self) {
        let counts = [self.activities, self.would_spawn, self.stats.attempts, self.stats.failures];
        self.desk().tally.iter().zip(counts).for_each(|(told, count)| told.store(count, Ordering::Relaxed));
    }

    /// An activity, with its two parts and theirs: how many that makes.
    fn activity(&mut self, size: usize, look: &mut Look<'_>) -> u64 {
        if take(&mut self.stats.rested) {
            look.now(&self.runtime.over);
        } else {
            look.step(&self.runtime.over);
        }
        self.activities += 1;
        self.state = section(self.sections[0], self.state);
        let mut done = 1;
        if size > 0 && !self.is_over() {
            for _ in 0..2 {
                match self.find_thread() {
                    Some(rank) => self.hand_over(rank, size),
                    None => done += self.activity(size - 1, look),
                }
            }
            done += self.wait_for_parts(size, look);
        }
        self.state = section(self.sections[1], self.state);
        done
    }

    /// A thread out of the pool, or else one that is made; `None` where there would have to be more than there are.
    fn find_thread(&mut self) -> Option<u32> {
        let waits = self.stats.waits;
        if let Some(rank) = self.runtime.pool.take(&mut self.hand, &mut self.stats) {
            return Some(rank);
        }
        self.stats.failures += 1;
        self.stats.waits = waits + 1;
        let most = self.runtime.desks.len() as u32;
        // The load comes first, so `made` does not grow with each attempt that makes no thread.
        if self.runtime.made.load(Ordering::Relaxed) < most {
            let made = self.runtime.made.fetch_add(1, Ordering::Relaxed);
            if made < most {
                return Some(made);
            }
        }
        self.would_spawn += 1;
        None
    }

    /// Has a thread do a part of the activity of this size.
    fn hand_over(&self, rank: u32, size: usize) {
        self.desk().parts[size].fetch_add(1, Ordering::Relaxed);
        let task = Task { size: size - 1, parent: self.rank };
        self.runtime.desks[rank as usize].task.store(task.encode(), Ordering::Release);
    }

    /// Waits for those parts of the activity of this size that others do: how many activities they came to.
    fn wait_for_parts(&self, size: usize, look: &mut Look<'_>) -> u64 {
        let mut spin = Spin::start();
        while self.desk().parts[size].load(Ordering::Acquire) > 0 && !self.is_over() {
            self.turn(&mut spin, look);
        }
        self.desk().done[size].swap(0, Ordering::Relaxed)
    }

    /// Waits for something to do; `None` when all leave.
    fn wait_for_task(&self, look: &mut Look<'_>) -> Option<Task> {
        let mut spin = Spin::start();
        while !self.is_over() {
            if let Some(task) = Task::decode(self.desk().task.load(Ordering::Acquire)) {
                self.desk().task.store(0, Ordering::Relaxed);
                return Some(task);
            }
            self.turn(&mut spin, look);
        }
        None
    }

    fn turn(&self, spin: &mut Spin, look: &mut Look<'_>) {
        spin.turn();
        if spin.rested() {
            look.now(&self.runtime.over);
        }
    }

    /// Whether each thread that was made is in the pool, once, if nothing was broken off.
    pub(super) fn find_all(&mut self) -> Result<(), String> {
        let mut found = vec![false; self.runtime.desks.len()];
        while let Some(rank) = self.draw(&mut WaitStats::default()) {
            match found.get_mut(rank as usize) {
                Some(twice @ false) => *twice = true,
                _ => return Err(format!("thread {rank} came out of the pool twice, or there is none")),
            }
        }
        let made = self.runtime.threads() as usize;
        let all = !found[0] && found[1..made].iter().all(|found| *found) && !found[made..].contains(&true);
        if self.at_rest && !all {
            return Err(format!(
                "of {} threads that were made beside the first, others came out of the pool",
                made - 1
            ));
        }
        Ok(())
    }
}
