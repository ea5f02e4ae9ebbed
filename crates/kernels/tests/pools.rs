//! Every pool under stress: no item is lost, no worker gets an item that another has, and all stop when the flag is raised.
//!
//! By default this takes about a second. `CHARZ_STRESS_SECONDS` says how long each of the tests is to take instead:
//!
//! ```text
//! CHARZ_STRESS_SECONDS=60 cargo test --release -p charz-kernels --test pools -- --nocapture --test-threads 1
//! ```

#![allow(clippy::print_stdout, reason = "the figures of a long run are for the person who asked for it")]
#![allow(clippy::disallowed_methods)] // A test may panic.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use charz_kernels::{Contention, Error, Kernel, Params, Stage, Stop, Watch, Work, kernels};

/// The kernels of which an operation is one item taken and given back, or one lock taken and given back.
fn pools() -> Vec<&'static dyn Kernel> {
    kernels().filter(|kernel| kernel.card().name.starts_with("pool-")).collect()
}

/// How long a test takes that has a second by default.
fn time() -> Duration {
    let seconds = std::env::var("CHARZ_STRESS_SECONDS").ok();
    Duration::from_secs(seconds.map_or(1, |seconds| seconds.parse().expect("a whole number of seconds")))
}

fn strands() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// What all workers did in a run, what they met, and when the last one ended.
struct Lap {
    work: Work,
    met: Contention,
    verdict: Result<(), Error>,
    end: Instant,
}

/// One run of all workers, during which `meanwhile` happens.
fn run(stage: &dyn Stage, workers: usize, stop: &Stop, meanwhile: impl FnOnce()) -> Lap {
    let gate = &Barrier::new(workers + 1);
    let serve = |rank| {
        let mut worker = stage.worker(rank).expect("the stage is new");
        worker.prepare();
        gate.wait();
        let watch = Watch::new(stop);
        watch.begin(stage.span());
        let work = worker.run(&watch);
        let end = Instant::now();
        gate.wait();
        Lap { work, met: worker.contention().unwrap_or_default(), verdict: worker.verify(), end }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|rank| scope.spawn(move || serve(rank))).collect();
        gate.wait();
        meanwhile();
        gate.wait();
        let laps = threads.into_iter().map(|thread| thread.join().expect("a worker panicked"));
        let sum = |mut sum: Lap, lap: Lap| {
            sum.met += lap.met;
            let verdict = sum.verdict.and(lap.verdict);
            Lap { work: sum.work + lap.work, verdict, end: sum.end.max(lap.end), met: sum.met }
        };
        laps.reduce(sum).expect("there is a worker")
    })
}

/// Items are conserved, and each is in one hand at a time: the kernels check it after every run, and count the uses of an item
/// in two steps that a second hand would spoil.
#[test]
fn nothing_is_lost_under_stress() {
    let (pools, factors) = (pools(), [1, 4, 64]);
    let span = time() / (pools.len() * factors.len()) as u32;
    for kernel in pools {
        for workers in factors.map(|factor| factor * strands()) {
            let name = &*kernel.card().name;
            let params = Params { span_ns: span.as_nanos() as u64, ..Params::SMALL };
            let stage = kernel.stage(&params, workers).expect("it runs here");
            let lap = run(stage.as_ref(), workers, &Stop::new(), || ());
            assert_eq!(lap.verdict, Ok(()), "{name} x{workers}");
            println!("{name} x{workers}: {} operations, {:?}", lap.work.ops.0, lap.met);
        }
    }
}

/// At any moment of a run of many workers, a stop ends all of them: no worker waits for another that has left.
#[test]
fn a_stop_ends_all() {
    let (pools, workers, begin, time) = (pools(), 64 * strands(), Instant::now(), time());
    let params = Params { span_ns: 3_600_000_000_000, ..Params::SMALL };
    let mut worst = vec![Duration::ZERO; pools.len()];
    let mut moment = 1;
    // Each of them once at least, and then as often as there is time.
    for round in 0.. {
        for (kernel, worst) in pools.iter().zip(&mut worst) {
            let stage = kernel.stage(&params, workers).expect("it runs here");
            let (stop, mut raised) = (Stop::new(), Instant::now());
            // A moment of the first 4 ms, without a pattern that the workers could share.
            moment = moment * 48_271 % 0x7fff_ffff;
            let lap = run(stage.as_ref(), workers, &stop, || {
                thread::sleep(Duration::from_nanos(moment % 4_000_000));
                raised = Instant::now();
                stop.raise();
            });
            assert_eq!(lap.verdict, Ok(()), "{}", &*kernel.card().name);
            *worst = (*worst).max(lap.end.saturating_duration_since(raised));
        }
        if begin.elapsed() >= time {
            println!("{} stops of {workers} workers each:", round + 1);
            break;
        }
    }
    for (kernel, worst) in pools.iter().zip(worst) {
        println!("{}: the last worker ended {worst:?} after the stop, at worst", &*kernel.card().name);
    }
}
