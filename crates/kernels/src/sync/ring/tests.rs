use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use charz_data::Params;

use super::*;
use crate::sys::ring::LAPS;
use crate::watch::Stop;

const RINGS: [&dyn Kernel; 8] = [
    &RING_MUTEX,
    &RING_MUTEX_ADAPTIVE,
    &RING_MUTEX_PROCESSES,
    &RING_COND,
    &RING_COND_PROCESSES,
    &RING_FUTEX,
    &RING_FUTEX_PROCESSES,
    &RING_FLAG,
];

struct Run {
    hops: Vec<u64>,
    laps: u64,
    verdicts: Vec<Result<(), Error>>,
}

/// Runs of one ring under these watches, one for each worker and run.
fn runs(kernel: &dyn Kernel, workers: usize, runs: usize, watch: &(dyn Fn(usize, usize) -> Watch + Sync)) -> Vec<Run> {
    let stage = kernel.stage(&Params { span_ns: 5_000_000, ..Params::SMALL }, workers).unwrap();
    let gate = Barrier::new(workers);
    let serve = |rank: usize| {
        let mut worker = stage.worker(rank).unwrap();
        let lap = |run| {
            worker.prepare();
            gate.wait();
            let watch = watch(rank, run);
            watch.begin(stage.span());
            let hops = worker.run(&watch).ops.0;
            gate.wait();
            let laps = worker.samples().map_or(0, |samples| samples.count);
            // Others may verify still when this one prepares its next run.
            (hops, laps, worker.verify())
        };
        (0..runs).map(lap).collect::<Vec<_>>()
    };
    let serve = &serve;
    let told: Vec<Vec<_>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|rank| scope.spawn(move || serve(rank))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a worker panicked")).collect()
    });
    let run = |run: usize| Run {
        hops: told.iter().map(|worker| worker[run].0).collect(),
        laps: told.iter().map(|worker| worker[run].1).sum(),
        verdicts: told.iter().map(|worker| worker[run].2.clone()).collect(),
    };
    (0..runs).map(run).collect()
}

/// A token that goes round makes as many hops at each worker, give or take the lap in which the ring ended; each lap but the
/// first is noted.
#[test]
fn the_token_goes_round() {
    for kernel in RINGS {
        let name = &*kernel.card().name;
        for workers in [2, 3, 16] {
            for run in runs(kernel, workers, 2, &|_, _| Watch::new(&Stop::new())) {
                assert!(run.verdicts.iter().all(Result::is_ok), "{name} x{workers}: {:?}", run.verdicts);
                let (least, most) = (run.hops.iter().min().unwrap(), run.hops.iter().max().unwrap());
                assert!(most - least <= 1, "{name} x{workers}: {:?}", run.hops);
                assert!(run.laps.abs_diff(run.hops[0].min(LAPS as u64)) <= 1, "{name} x{workers}: {} laps", run.laps);
            }
        }
    }
}

/// Whichever of the workers is the one whose time is up, all leave, and the ring can be used again.
#[test]
fn one_that_leaves_takes_all_with_it() {
    for kernel in RINGS {
        let name = &*kernel.card().name;
        for leaver in 0..3 {
            let watch = |rank: usize, run: usize| {
                let soon = Instant::now() + Duration::from_micros(300);
                Watch::new(&Stop::new()).with_deadline((run == 0 && rank == leaver).then_some(soon))
            };
            let told = runs(kernel, 3, 2, &watch);
            assert!(told[1].verdicts.iter().all(Result::is_ok), "{name}: {:?}", told[1].verdicts);
        }
    }
}

/// A gate that closes after the preparation leaves locks taken.
#[test]
fn a_preparation_without_a_run_is_undone() {
    for kernel in RINGS {
        let stage = kernel.stage(&Params::SMALL, 2).unwrap();
        // Processes are killed with what they held: nobody comes after them.
        let crews = if kernel.card().name.ends_with("-processes") { 1 } else { 2 };
        for _ in 0..crews {
            let mut workers = [stage.worker(0).unwrap(), stage.worker(1).unwrap()];
            workers.iter_mut().for_each(|worker| worker.prepare());
        }
    }
}

#[test]
fn nobody_stands_in_a_ring_alone() {
    for kernel in RINGS {
        for workers in [0, 1] {
            assert!(matches!(kernel.stage(&Params::SMALL, workers), Err(Error::Unavailable(_))));
        }
    }
}
