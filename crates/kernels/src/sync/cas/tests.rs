use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use charz_data::{Contention, Layout, PageKind, Params, Work};

use super::*;
use crate::watch::Stop;

/// A stage with this many increments for each of its workers.
fn counting(increments: u64, workers: usize) -> Counting {
    Counting { increments, shared: Arc::new(Shared::new(workers)) }
}

#[test]
fn iterations_are_shared_and_nobody_goes_without() {
    let increments = |iterations, workers| {
        let params = Params {
            iterations,
            size_bytes: 0,
            pages: PageKind::default(),
            layout: Layout::default(),
            ..Params::SMALL
        };
        CAS_COUNTER.stage(&params, workers).map(|stage| stage.work().ops.0)
    };
    assert_eq!(increments(8_000, 1), Ok(1_000));
    assert_eq!(increments(8_000, 10), Ok(100));
    assert_eq!(increments(1, 4096), Ok(1));
    assert_eq!(increments(u64::MAX, 1), Ok(u64::MAX / 8));
    assert!(increments(0, 1).is_err());
}

/// What one worker did in one run, and whether it had to do all of it.
struct Lap {
    work: Work,
    whole: bool,
    stats: Option<Contention>,
    verdict: Result<(), Error>,
}

/// More workers than strands, each with several runs of which some are cut short: nothing is lost and nothing invented.
#[test]
fn increments_are_conserved_under_contention() {
    const WORKERS: usize = 8;
    const RUNS: u32 = 20;
    let stage = counting(20_000, WORKERS);
    let gate = Barrier::new(WORKERS);
    // Nothing is asserted before all have ended: who panicked at the gate would leave the others waiting.
    let serve = &|rank: usize| {
        let mut worker = stage.counter(rank);
        let lap = |run| {
            let whole = run % 5 != 4;
            let deadline = (!whole).then(|| Instant::now() + Duration::from_micros(100 * rank as u64));
            let watch = Watch::new(&Stop::new()).with_deadline(deadline);
            worker.prepare();
            gate.wait();
            let work = worker.run(&watch);
            gate.wait();
            Lap { work, whole, stats: worker.contention(), verdict: worker.verify() }
        };
        (0..RUNS).map(lap).collect::<Vec<_>>()
    };
    let laps: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|rank| scope.spawn(move || serve(rank))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker panicked")).collect()
    });
    for lap in &laps {
        assert_eq!(lap.verdict, Ok(()));
        assert_eq!(lap.stats.map(|stats| stats.successes()), Some(lap.work.ops.0));
        assert!(if lap.whole { lap.work == stage.work() } else { lap.work.ops <= stage.work().ops });
    }
    let done: u64 = laps.iter().map(|lap| lap.work.ops.0).sum();
    assert_eq!(stage.shared.counter.load(Ordering::Relaxed), done);
}

#[test]
fn a_lost_increment_is_noticed_by_every_worker() {
    let stage = counting(1000, 3);
    let mut workers: Vec<_> = (0..3).map(|rank| stage.counter(rank)).collect();
    for worker in &mut workers {
        worker.prepare();
        worker.run(&Watch::new(&Stop::new()));
    }
    for planted in [&stage.shared.counter, &stage.shared.added[1]] {
        workers.iter_mut().for_each(|worker| worker.verify().expect("an honest run"));
        planted.fetch_sub(1, Ordering::Relaxed);
        for worker in &mut workers {
            assert!(matches!(worker.verify(), Err(Error::Wrong(_))), "worker {}", worker.rank);
        }
        planted.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_stretch_keeps_to_both_of_its_limits() {
    let counter = AtomicU64::new(u64::MAX);
    assert_eq!(increment(&counter, 5, 3), Contention { attempts: 3, failures: 0, waits: 0 });
    assert_eq!(increment(&counter, 2, 3), Contention { attempts: 2, failures: 0, waits: 0 });
    assert_eq!(counter.load(Ordering::Relaxed), 4, "it wraps");
}
