//! What every kernel that stamps keeps to, beside the laws of the whole catalog.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::joint::Joint;
use crate::kernel::{Kernel, Period, Stop};
use crate::watch::Watch;
use crate::work::Work;

/// Those of them in which workers wait for each other.
const SAMPLING: [&dyn Kernel; 22] = [
    CREATE_PTHREAD,
    CREATE_PTHREAD_DETACHED,
    CREATE_STD,
    CREATE_STD_DETACHED,
    UNLOCK_PTHREAD,
    UNLOCK_STD,
    UNLOCK_PARKING_LOT,
    SIGNAL_PTHREAD,
    SIGNAL_STD,
    SIGNAL_PARKING_LOT,
    BROADCAST_PTHREAD,
    BROADCAST_STD,
    BROADCAST_PARKING_LOT,
    FUTEX_WAKE,
    UNPARK_STD,
    CHANNEL_STD,
    CHANNEL_CROSSBEAM,
    FLAG,
    BARRIER_PTHREAD,
    BARRIER_STD,
    BARRIER_SPIN,
    BARRIER_SENSE,
];

/// What a worker did in a run: its work, whether that was found right, and its samples.
type Lap = (Work, Result<(), Error>, Option<Joint>);

/// Has workers make runs together; in each, worker `i` has the `i`-th watch.
fn runs(
    kernel: &dyn Kernel,
    params: &Params,
    workers: usize,
    watches: &[&(dyn Fn(usize) -> Watch + Sync)],
) -> Vec<Vec<Lap>> {
    let stage = kernel.stage(params, workers).unwrap();
    let gate = Barrier::new(workers);
    thread::scope(|scope| {
        let party = |rank| {
            let (stage, gate) = (&*stage, &gate);
            scope.spawn(move || {
                let mut worker = stage.worker(rank).unwrap();
                let mut lap = |watch: &&(dyn Fn(usize) -> Watch + Sync)| {
                    worker.prepare();
                    gate.wait();
                    let work = worker.run(&watch(rank));
                    gate.wait();
                    let lap = (work, worker.verify(), worker.samples());
                    gate.wait();
                    lap
                };
                watches.iter().map(&mut lap).collect()
            })
        };
        let threads: Vec<_> = (0..workers).map(party).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn whole(_rank: usize) -> Watch {
    Watch::new(&Stop::new())
}

/// How many pairs of times the workers have for each sample.
fn pairs(kernel: &dyn Kernel, workers: usize) -> u64 {
    let name = kernel.card().name;
    match () {
        () if name.starts_with("barrier") => workers as u64,
        () if name.starts_with("broadcast") => workers as u64 - 1,
        () => 1,
    }
}

/// Whichever worker has to leave in the middle of a run, nobody waits for it for ever; and the run after that is a whole one.
#[test]
fn one_that_leaves_leaves_nobody_behind() {
    let params = Params { samples: 40, period: Period::Every(Duration::from_micros(50)), ..Params::SMALL };
    for kernel in SAMPLING {
        let workers = kernel.card().crew.least();
        for leaver in 0..workers {
            let short = move |rank| {
                let deadline = (rank == leaver).then(|| Instant::now() + Duration::from_millis(1));
                whole(rank).with_deadline(deadline)
            };
            let laps = runs(kernel, &params, workers, &[&short, &whole]);
            let name = kernel.card().name;
            assert!(laps.iter().all(|laps| laps[1].0 == Work::ops(40) && laps[1].1.is_ok()), "{name}");
            let count: u64 = laps.iter().filter_map(|laps| laps[1].2.as_ref()).map(Joint::count).sum();
            assert_eq!(count, 40 * pairs(kernel, workers), "{name}");
        }
    }
}

/// Without a schedule, and with more workers than strands where a kernel takes as many.
#[test]
fn every_sample_is_kept_whatever_the_period() {
    for kernel in SAMPLING {
        let crew = kernel.card().crew;
        for (period, workers) in [(Period::Closed, crew.least()), (Period::Fitting, 4)] {
            if !crew.admits(workers) {
                continue;
            }
            let laps = runs(kernel, &Params { samples: 20, period, ..Params::SMALL }, workers, &[&whole]);
            let name = kernel.card().name;
            assert!(laps.iter().all(|laps| laps[0].0 == Work::ops(20) && laps[0].1.is_ok()), "{name}");
            let count: u64 = laps.iter().filter_map(|laps| laps[0].2.as_ref()).map(Joint::count).sum();
            assert_eq!(count, 20 * pairs(kernel, workers), "{name} x{workers}");
        }
    }
}

#[test]
fn no_samples_are_refused() {
    for kernel in SAMPLING {
        let refused = kernel.stage(&Params { samples: 0, ..Params::SMALL }, kernel.card().crew.least()).err();
        assert!(matches!(refused, Some(Error::Unavailable(reason)) if reason.contains("at least 1 sample")));
    }
}
