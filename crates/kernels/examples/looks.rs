//! By how much looking at the watch slows a worker down: the chain of integers as the catalog has it, against the same chain
//! with looks a hundred times rarer, in pairs whose order alternates.
//!
//! ```text
//! cargo run --release -p charz-kernels --example looks -- 200
//! ```
//!
//! It prints the median of the ratios of times, looking to hardly looking, the median's 95% interval by order statistics,
//! and the quartiles of the ratios. The watch has a flag, a deadline and a seat to look at.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::error::Error;
use std::time::{Duration, Instant};

use charz_kernels::arith::{ARITH_INT, RARELY_LOOKING};
use charz_kernels::{Layout, PageKind, Params, Stop, Watch, Worker};

/// Steps of a run, about 1 ms: 30 looks, or 1. Short, so many runs are not disturbed at all.
const STEPS: u64 = 30 * 8192;

/// Runs of each kind in a pair, of which the fastest counts: what disturbs a run only ever slows it down.
const RUNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let pairs = std::env::args().nth(1).map_or(Ok(100), |pairs| pairs.parse())?;
    if pairs < 30 {
        return Err("ask for at least 30 pairs: fewer tell nothing on a busy machine".into());
    }
    let params =
        Params { iterations: STEPS, size_bytes: 0, pages: PageKind::Small, layout: Layout::Padded, ..Params::SMALL };
    let stages = [ARITH_INT.stage(&params, 1)?, RARELY_LOOKING.stage(&params, 1)?];
    let [mut looking, mut hardly] = [stages[0].worker(0)?, stages[1].worker(0)?];
    let mut ratios = Vec::with_capacity(pairs);
    for pair in 0..pairs {
        let mut fastest = [f64::INFINITY; 2];
        for run in 0..2 * RUNS {
            let which = (pair + run) % 2;
            let worker = if which == 0 { &mut looking } else { &mut hardly };
            fastest[which] = fastest[which].min(seconds(worker.as_mut())?);
        }
        ratios.push(fastest[0] / fastest[1]);
    }
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((pairs as f64 * share) as usize).min(pairs - 1)];
    // The ranks of the median's interval: n/2 ∓ 1.96 √n / 2, by the normal approximation of the binomial distribution.
    let half = 0.98 / (pairs as f64).sqrt();
    println!(
        "{pairs} pairs: median {:.5}, 95% interval {:.5} to {:.5}, quartiles {:.5} and {:.5}",
        at(0.5),
        at(0.5 - half),
        at(0.5 + half),
        at(0.25),
        at(0.75)
    );
    Ok(())
}

/// The time of one run.
fn seconds(worker: &mut dyn Worker) -> Result<f64, Box<dyn Error>> {
    let never = Instant::now() + Duration::from_secs(3600);
    let watch = Watch::new(&Stop::new()).with_deadline(Some(never)).with_seat(Some(0));
    worker.prepare();
    let start = Instant::now();
    worker.run(&watch);
    let taken = start.elapsed();
    worker.verify()?;
    Ok(taken.as_secs_f64())
}
