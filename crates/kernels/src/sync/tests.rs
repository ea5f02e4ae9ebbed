//! What every kernel that stamps keeps to, beside the laws of the whole catalog.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use charz_data::{JointHistogram, Params, Period, Work};

use super::*;
use crate::kernel::Kernel;
use crate::watch::{Stop, Watch};

/// Those of them in which workers wait for each other.
fn sampling() -> impl Iterator<Item = &'static dyn Kernel> {
    [create::KERNELS, handoff::KERNELS, barrier::KERNELS].into_iter().flatten().copied()
}

/// What a worker did in a run: its work, whether that was found right, and its samples.
type Lap = (Work, Result<(), Error>, Option<JointHistogram>);

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
    let name = &*kernel.card().name;
    match () {
        () if name.starts_with("barrier") => workers as u64,
        () if name.starts_with("broadcast") => workers as u64 - 1,
        () => 1,
    }
}

/// Whichever worker has to leave in the middle of a run, nobody waits for it for ever; and the run after that is a whole one.
#[test]
fn one_that_leaves_leaves_nobody_behind() {
    let params = Params { samples: 40, period: Period::EveryNs(50_000), ..Params::SMALL };
    for kernel in sampling() {
        let workers = kernel.card().workers.min();
        for leaver in 0..workers {
            let short = move |rank| {
                let deadline = (rank == leaver).then(|| Instant::now() + Duration::from_millis(1));
                whole(rank).with_deadline(deadline)
            };
            let laps = runs(kernel, &params, workers, &[&short, &whole]);
            let name = &*kernel.card().name;
            assert!(laps.iter().all(|laps| laps[1].0 == Work::ops(40) && laps[1].1.is_ok()), "{name}");
            let count: u64 = laps.iter().filter_map(|laps| laps[1].2.as_ref()).map(|samples| samples.count).sum();
            assert_eq!(count, 40 * pairs(kernel, workers), "{name}");
        }
    }
}

/// Without a schedule, and with more workers than strands where a kernel takes as many.
#[test]
fn every_sample_is_kept_whatever_the_period() {
    for kernel in sampling() {
        let crew = kernel.card().workers;
        for (period, workers) in [(Period::Closed, crew.min()), (Period::Fitting, 4)] {
            if !crew.allows(workers) {
                continue;
            }
            let laps = runs(kernel, &Params { samples: 20, period, ..Params::SMALL }, workers, &[&whole]);
            let name = &*kernel.card().name;
            assert!(laps.iter().all(|laps| laps[0].0 == Work::ops(20) && laps[0].1.is_ok()), "{name}");
            let count: u64 = laps.iter().filter_map(|laps| laps[0].2.as_ref()).map(|samples| samples.count).sum();
            assert_eq!(count, 20 * pairs(kernel, workers), "{name} x{workers}");
        }
    }
}

#[test]
fn no_samples_are_refused() {
    for kernel in sampling() {
        let refused = kernel.stage(&Params { samples: 0, ..Params::SMALL }, kernel.card().workers.min()).err();
        assert!(matches!(refused, Some(Error::Unavailable(reason)) if reason.contains("at least 1 sample")));
    }
}
