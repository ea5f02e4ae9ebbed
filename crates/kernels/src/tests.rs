//! What the tests of many kernels share.
#![allow(clippy::disallowed_methods)] // A test may panic.

use std::sync::{Barrier, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use charz_data::{Contention, Growth, JointHistogram, Params, Work};

use crate::kernel::{Error, Stage, Worker};
use crate::sys::pthread::thread::Mask;
use crate::watch::{Stop, Watch};

/// The results of `each` on so many threads, one per worker, on the strands in turn: on a busy machine workers that float may stay on one
/// strand for a minute. Tests take turns here: spinning workers of several would wait for each other's time slices, which doubles the time
/// of them all on two strands.
pub fn together<T: Send>(workers: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
    on_strands(workers, &each)
}

/// It is compiled once for each type of result: dozens of tests have closures of their own.
fn on_strands<T: Send>(workers: usize, each: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let strands: Vec<u32> = Mask::own().map(|mask| mask.strands().collect()).unwrap_or_default();
    let strands = &strands;
    let on_its_strand = move |rank: usize| {
        if let Some(&strand) = strands.iter().cycle().nth(rank) {
            Mask::of(strand).bind().expect("it may use this strand");
        }
        each(rank)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|rank| scope.spawn(move || on_its_strand(rank))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a worker panicked")).collect()
    })
}

/// A worker that `waits` for 0.1 s until another `comes` never sleeps meanwhile.
#[track_caller]
pub fn check_awake(waits: impl FnOnce() + Send, comes: impl FnOnce()) {
    let sleeps = || {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux has it");
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.and_then(|count| count.trim().parse::<u64>().ok()).expect("it is a number")
    };
    let slept = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let before = sleeps();
            waits();
            sleeps() - before
        });
        thread::sleep(Duration::from_millis(100));
        comes();
        waiting.join().expect("a worker panicked")
    });
    // An emulator sleeps some 30 times while it translates; naps of 0.1 ms would be hundreds.
    assert!(slept < 100, "{slept} times");
}

/// A watch over a run that has begun and lasts this time, or ends by itself.
pub fn watch(span: Option<Duration>) -> Watch {
    let watch = Watch::new(&Stop::new());
    watch.begin(span);
    watch
}

/// A watch over a run that is over before it begins.
pub fn stopped() -> Watch {
    let stop = Stop::new();
    stop.raise();
    Watch::new(&stop)
}

/// The verdict on a run of one worker that `plant` has spoilt.
pub fn verdict<W: Worker>(worker: &mut W, span: Option<Duration>, plant: impl FnOnce(&mut W)) -> Result<(), Error> {
    worker.prepare();
    worker.run(&watch(span));
    plant(worker);
    worker.verify()
}

/// Honest runs of a worker pass, and one that was spoilt does not.
#[track_caller]
pub fn check_noticed<W: Worker>(worker: &mut W, span: Option<Duration>, plant: impl FnOnce(&mut W)) {
    for _ in 0..2 {
        verdict(worker, span, |_| ()).expect("an honest run");
    }
    let error = verdict(worker, span, plant).expect_err("a planted error");
    assert!(matches!(error, Error::Wrong(_)), "{error}");
}

/// How a run is watched.
pub struct Look {
    pub watch: Watch,
    pub span: Option<Duration>,
    /// Whether it runs to its end and is verified.
    pub whole: bool,
}

impl Look {
    pub fn whole(span: Option<Duration>) -> Look {
        Look { watch: Watch::new(&Stop::new()), span, whole: true }
    }
}

/// What a worker did in a run.
#[derive(Debug)]
pub struct Lap {
    pub work: Work,
    /// How often it looked at its watch.
    pub polls: u64,
    pub deadline_passed: bool,
    pub verdict: Result<(), Error>,
    pub contention: Option<Contention>,
    pub samples: Option<JointHistogram>,
    pub growth: Option<Growth>,
}

/// Has workers make so many runs together, each run of each worker under a watch of its own: the laps of each worker.
///
/// Nothing is asserted before all have ended: a worker that panicked at the gate would leave the others waiting.
pub fn laps(
    workers: usize,
    runs: usize,
    worker: impl Fn(usize) -> Box<dyn Worker> + Sync,
    look: impl Fn(usize, usize) -> Look + Sync,
) -> Vec<Vec<Lap>> {
    let gate = Barrier::new(workers);
    together(workers, |rank| {
        let mut worker = worker(rank);
        let lap = |run| {
            worker.prepare();
            gate.wait();
            let Look { watch, span, whole } = look(rank, run);
            watch.begin(span);
            let work = worker.run(&watch);
            gate.wait();
            let verdict = if whole { worker.verify() } else { Ok(()) };
            let (contention, samples, growth) = (worker.contention(), worker.samples(), worker.growth());
            // No worker prepares the next run while another still verifies this one.
            gate.wait();
            let (polls, deadline_passed) = (watch.polls(), watch.deadline_passed());
            Lap { work, polls, deadline_passed, verdict, contention, samples, growth }
        };
        (0..runs).map(lap).collect()
    })
}

/// The same for the workers of a stage.
pub fn stage_laps(
    stage: &dyn Stage,
    workers: usize,
    runs: usize,
    look: impl Fn(usize, usize) -> Look + Sync,
) -> Vec<Vec<Lap>> {
    laps(workers, runs, |rank| stage.worker(rank).expect("the stage is new"), look)
}

/// Whether this user may lock memory: tests run side by side and share one limit, so far more is tried than any of them locks.
pub static MAY_LOCK: LazyLock<bool> = LazyLock::new(|| {
    let params = Params { size_bytes: 256 << 20, ..Params::SMALL };
    let stage = crate::find("pages-lock").expect("it is built in").stage(&params, 1).expect("it has a size");
    stage.worker(0).is_ok()
});

/// [`MAY_LOCK`], and says what is skipped.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
pub fn may_lock() -> bool {
    if !*MAY_LOCK {
        println!("skipped: kernels that lock memory: this user may not lock enough of it (ulimit -l)");
    }
    *MAY_LOCK
}
