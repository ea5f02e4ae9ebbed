use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use charz_data::{Contention, Growth, Halt, Work};

use super::super::super::mutexes::Std;
use super::super::{AtOnce, Guarded, Parked, Treiber};
use super::*;
use crate::watch::Stop;

/// A run of so many workers, and what came of it.
fn run<P: Pool>(
    stage: &Spawned<P>,
    workers: usize,
    watch: &(dyn Fn() -> Watch + Sync),
) -> Vec<(Work, Growth, Contention)> {
    let gate = &Barrier::new(workers);
    let serve = &|rank: usize| {
        let mut worker = stage.worker(rank).expect("none is refused");
        worker.prepare();
        gate.wait();
        let watch = watch();
        watch.begin(stage.span());
        let work = worker.run(&watch);
        gate.wait();
        let verdict = worker.verify();
        gate.wait();
        let growth = worker.growth();
        assert_eq!(growth.is_some(), rank == 0);
        (
            verdict,
            work,
            growth.unwrap_or(Growth { steps: Vec::new(), stopped_by: Halt::Time }),
            worker.contention().unwrap(),
        )
    };
    let laps: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|rank| scope.spawn(move || serve(rank))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a worker panicked")).collect()
    });
    laps.into_iter().map(|(verdict, work, growth, stats)| verdict.map(|()| (work, growth, stats)).unwrap()).collect()
}

fn stage<P: Pool>(threads: u32, span: Duration) -> Spawned<P> {
    Spawned {
        name: "a runtime",
        span,
        inside_steps: 1,
        outside_steps: 1,
        runtime: Arc::new(Runtime::new(threads).unwrap()),
    }
}

/// With time enough it grows until too many threads are wanted: each size has its activities, and wants a thread for each but
/// the first, of which all beyond those there are, are counted.
#[track_caller]
fn check_grows<P: Pool>() {
    let stage = stage::<P>(3, Duration::from_secs(600));
    for _ in 0..2 {
        let laps = run(&stage, 3, &|| Watch::new(&Stop::new()));
        let Growth { steps, stopped_by } = &laps[0].1;
        assert_eq!(*stopped_by, Halt::Threads);
        for (step, size) in steps.iter().zip(1..) {
            assert_eq!((step.size, step.activities), (size, (2 << size) - 1));
            assert!(step.would_spawn < step.activities && step.threads <= 3, "{step:?}");
            // Each activity but the first is a take, and each take that finds somebody is followed by a return.
            assert!(step.attempts >= step.activities - 1 && step.failures >= step.would_spawn, "{step:?}");
        }
        let wanted: u64 = steps.iter().map(|step| step.would_spawn).sum();
        assert!(wanted > 1_000_000 && wanted < 3_000_000, "{wanted}");
        let done: u64 = laps.iter().map(|(work, ..)| work.ops.0).sum();
        assert_eq!(done, steps.iter().map(|step| step.activities).sum::<u64>());
        let stats = laps.iter().fold(Contention::default(), |mut sum, (.., stats)| {
            sum += *stats;
            sum
        });
        assert_eq!(stats.attempts, steps.iter().map(|step| step.attempts).sum::<u64>());
    }
}

/// A stop in the middle ends all, and leaves nothing behind for the next run.
#[track_caller]
fn check_ends<P: Pool>() {
    let stage = stage::<P>(4, Duration::from_secs(600));
    for moment in [0, 100, 3_000] {
        let watch = || Watch::new(&Stop::new()).with_deadline(Some(Instant::now() + Duration::from_micros(moment)));
        let laps = run(&stage, 4, &watch);
        assert_eq!(laps[0].1.stopped_by, Halt::Time);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn it_grows_and_stops() {
    check_grows::<Guarded<Parked<Std>>>();
    check_grows::<Treiber<AtOnce>>();
}

#[test]
fn it_ends_when_told() {
    check_ends::<Guarded<Parked<Std>>>();
    check_ends::<Treiber<AtOnce>>();
}
