//! What evidence costs, and what it does to the numbers: the harness with everything that it reads against the same worker
//! with two stamps and nothing else, in turns on one strand.
//!
//! `cargo bench -p charz-measure --bench passport` prints, for each kernel, the median over the pairs of the ratio of the timed spans
//! (bias) and of the whole wall times (cost), with their quartiles. The figures of a pair that was disturbed cancel out: the
//! ratio is of the fastest repetitions, and the median is over many pairs.

#![expect(clippy::print_stdout, reason = "a bench tells its figures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use charz_kernels::{Kernel, PageKind, Params, Stop, Watch};
use charz_measure::harness::clock::{Clock, OsClock};
use charz_measure::harness::{Bench, Cell, measure};
use charz_topology::{Backend, Binder, Source, discover};
use charz_workloads::find;

const PAIRS: usize = 40;
const REPETITIONS: usize = 3;

/// Wall time of it all, and the fastest timed span, in nanoseconds.
type Taken = (f64, f64);

fn with_evidence(kernel: &'static dyn Kernel, params: Params, seat: u32, bench: Bench<'_>) -> Taken {
    let begun = Instant::now();
    let cell = Cell {
        kernel,
        params,
        seats: &[Some(seat)],
        nodes: &[Some(0)],
        homes: &[],
        repetitions: REPETITIONS,
        separate_laps: false,
    };
    let measurement = measure(&cell, bench).expect("the kernel runs here");
    let wall = begun.elapsed().as_nanos() as f64;
    let spans = measurement.runs.iter().map(|run| (run.laps[0].end_ns - run.laps[0].start_ns) as f64);
    (wall, spans.fold(f64::INFINITY, f64::min))
}

fn bare(kernel: &'static dyn Kernel, params: Params, seat: u32, bench: Bench<'_>) -> Taken {
    let begun = Instant::now();
    let stage = kernel.stage(&params, 1).expect("the kernel runs here");
    let fastest = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            bench.binder.seat(seat).expect("the seat is free");
            let mut worker = stage.worker(0).expect("there is memory");
            let mut fastest = f64::INFINITY;
            for _ in 0..REPETITIONS {
                worker.prepare();
                let watch = Watch::new(bench.stop);
                let start = bench.clock.now();
                worker.run(&watch);
                let end = bench.clock.now();
                worker.verify().expect("the answer is right");
                fastest = fastest.min((end - start) as f64);
            }
            fastest
        });
        thread.join().expect("no worker panics")
    });
    (begun.elapsed().as_nanos() as f64, fastest)
}

/// The quartiles: a quarter, the middle, three quarters.
fn quartiles(mut ratios: Vec<f64>) -> [f64; 3] {
    ratios.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| ratios[(ratios.len() - 1) * quarter / 4])
}

fn main() {
    // Without it this is a test run: built, and not measured.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let machine = discover(&Source::ThisMachine).expect("this machine can be described");
    let seat = machine.usable_strands().last().expect("there is a strand").os_id;
    let binder = Binder::new(Backend::Hwloc);
    let (clock, stop): (Arc<dyn Clock>, _) = (Arc::new(OsClock::default()), Stop::new());
    let bench = Bench {
        binder: &binder,
        clock: &clock,
        stop: &stop,
        strands: 2,
        spins: true,
        time_box: Duration::from_secs(60),
        enough: Duration::MAX,
        counters: None,
    };
    for (name, iterations) in [("arith-int", 10_000_000), ("mem-read", 1)] {
        let kernel = find(name).expect("the catalog has it");
        let params = Params { iterations, size_bytes: 256 << 20, pages: PageKind::Transparent, ..Params::SMALL };
        let pairs: Vec<(Taken, Taken)> = (0..PAIRS)
            .map(|pair| {
                // Each goes first as often as the other.
                if pair % 2 == 0 {
                    let on = with_evidence(kernel, params, seat, bench);
                    (on, bare(kernel, params, seat, bench))
                } else {
                    let off = bare(kernel, params, seat, bench);
                    (with_evidence(kernel, params, seat, bench), off)
                }
            })
            .collect();
        let spans = pairs.iter().map(|(on, off)| on.1 / off.1).collect();
        let walls = pairs.iter().map(|(on, off)| (on.0 - off.0) / off.0).collect();
        let [low, bias, high] = quartiles(spans);
        let [least, cost, most] = quartiles(walls);
        println!(
            "{name}: timed span with evidence / without {bias:.5} (quartiles {low:.5} to {high:.5}); \
             wall time {:+.2}% (quartiles {:+.2}% to {:+.2}%), {PAIRS} pairs of {REPETITIONS} repetitions of {:.1} ms",
            100.0 * cost,
            100.0 * least,
            100.0 * most,
            pairs[0].1.1 / 1e6,
        );
    }
}
