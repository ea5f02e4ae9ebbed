//! How long a cell will take: a pilot run of each kernel, scaled.
//!
//! The prediction feeds `--dry-run`, the choice of iterations, the budget and the ETA. It never enters a result.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use charz_kernels::{Bytes, Family, Kernel, Knob, Params};

use crate::harness::{self, Bench};

/// Scales pilots to cells.
#[derive(Clone, Debug)]
pub struct Predictor {
    strands: usize,
    rates: HashMap<&'static str, Rate>,
}

/// Nanoseconds per unit of one worker: a step of the loop, or a byte of the block.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    timed: f64,
    /// Spent once a cell around the timed spans: allocating, touching, freeing.
    around: f64,
}

impl Rate {
    fn measure(kernel: &'static dyn Kernel, params: Params, bench: Bench<'_>) -> Option<Self> {
        let cell = harness::Cell { kernel, params, seats: &[None], repetitions: 1 };
        let start = Instant::now();
        let measurement = harness::measure(&cell, bench).ok()?;
        let wall = start.elapsed().as_nanos() as f64;
        let lap = measurement.runs.first()?.laps.first()?;
        let timed = lap.end.saturating_sub(lap.start);
        // Waiting for a strand is the neighbours' doing, and no property of the kernel; what waited longer tells nothing.
        let waited = lap.counts.run_delay_ns.unwrap_or(0);
        let timed = if waited < timed / 2 { timed - waited } else { timed } as f64;
        let units = units(kernel, &params);
        // Only blocks take time in proportion; the rest of the wall time is the thread's, which `WORKER` covers.
        let blocks = kernel.card().knobs.contains(&Knob::Size);
        Some(Rate { timed: timed / units, around: if blocks { (wall - timed).max(0.0) / units } else { 0.0 } })
    }
}

/// Pilots of a kernel: another process rarely disturbs three spans of 1 ms in a row.
const PILOTS: usize = 3;
/// Steps of a pilot: about 1 ms.
const PILOT_ITERATIONS: u64 = 200_000;
/// Block of a pilot: past the private caches of today's cores, and about 1 ms.
const PILOT_BYTES: u64 = 16 << 20;
/// What a repetition costs beside its timed span, whatever the kernel: gates and readings.
const REPETITION: Duration = Duration::from_micros(200);
/// What a worker costs: its thread, its seat.
const WORKER: Duration = Duration::from_micros(100);
/// Workers from which on a memory kernel gains no more bandwidth: what one channel-bound package gives about four of its
/// strands. Too low only overestimates the time.
const MEMORY_BOUND_AT: usize = 4;

impl Predictor {
    /// Runs each kernel small, on a floating worker, with the pages and the layout of `params`. A kernel that cannot run
    /// gets no rate.
    pub fn pilot(kernels: &[&'static dyn Kernel], params: &Params, bench: Bench<'_>) -> Self {
        let small = Params { iterations: PILOT_ITERATIONS, size: Bytes(params.size.0.min(PILOT_BYTES)), ..*params };
        let rates = kernels.iter().filter_map(|kernel| {
            // The least disturbed pilot tells most.
            let rates = (0..PILOTS).filter_map(|_| Rate::measure(*kernel, small, bench));
            Some((kernel.card().name, rates.min_by(|a, b| a.timed.total_cmp(&b.timed))?))
        });
        Predictor { strands: bench.strands.max(1), rates: rates.collect() }
    }

    /// A predictor with known rates: name, nanoseconds per unit within and around the timed span.
    pub fn with_rates(strands: usize, rates: impl IntoIterator<Item = (&'static str, f64, f64)>) -> Self {
        let rates = rates.into_iter().map(|(name, timed, around)| (name, Rate { timed, around })).collect();
        Predictor { strands: strands.max(1), rates }
    }

    /// The time of one cell.
    pub fn cell(&self, kernel: &dyn Kernel, params: &Params, workers: usize, repetitions: usize) -> Duration {
        let rate = self.rates.get(kernel.card().name).copied().unwrap_or_default();
        // Strands are shared when there are too few of them; so is the memory.
        let crowd = (workers as f64 / self.strands as f64).max(1.0);
        let sharing = match kernel.card().family {
            Family::Memory => crowd * (workers.min(self.strands) as f64 / MEMORY_BOUND_AT as f64).max(1.0),
            Family::Compute | Family::Floor => crowd,
        };
        let nanos = units(kernel, params) * sharing * (rate.timed * repetitions as f64 + rate.around);
        let own = Duration::from_nanos(nanos.min(u64::MAX as f64) as u64);
        own + REPETITION * repetitions as u32 + WORKER * workers as u32
    }
}

/// What a kernel's time is proportional to.
fn units(kernel: &dyn Kernel, params: &Params) -> f64 {
    let knobs = kernel.card().knobs;
    if knobs.contains(&Knob::Iterations) {
        params.iterations as f64
    } else if knobs.contains(&Knob::Size) {
        params.size.0 as f64
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_kernels::{Layout, PagePolicy};

    fn cell(predictor: &Predictor, name: &str, workers: usize) -> f64 {
        let params = Params {
            iterations: 1_000_000_000,
            size: Bytes(1_000_000_000),
            pages: PagePolicy::Small,
            layout: Layout::Padded,
        };
        predictor.cell(charz_kernels::find(name).unwrap(), &params, workers, 3).as_secs_f64()
    }

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} s instead of {expected} s");
    }

    #[test]
    fn strands_and_memory_are_shared() {
        let predictor = Predictor::with_rates(8, [("arith-int", 2.0, 0.0), ("mem-read", 1.0, 4.0)]);
        check(cell(&predictor, "arith-int", 1), 6.0);
        check(cell(&predictor, "arith-int", 8), 6.0);
        check(cell(&predictor, "arith-int", 16), 12.0);
        // 3 passes of 1 s and 4 s to build the block.
        check(cell(&predictor, "mem-read", 4), 7.0);
        check(cell(&predictor, "mem-read", 8), 14.0);
        check(cell(&predictor, "mem-read", 16), 28.0);
    }
}
