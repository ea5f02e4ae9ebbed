//! What the loops compute: the steps, as the language defines them, and how many chains of them run at once.

/// Inputs of each worker, as in the T3-4 report.
pub(crate) const INPUTS: usize = 128;

/// Integer chains at once: a step takes the time of 4 multiplications, one per cycle on most processors, and a chain 16 cycles,
/// so 4 chains leave no gap; two more are there for longer latencies.
pub(crate) const INT_CHAINS: usize = 6;

/// Floating-point chains at once: a step takes 2 cycles with two units for each operation, and a chain 24 to 32.
pub(crate) const FLOAT_CHAINS: usize = 12;

/// One step on integers, as the language defines it.
pub(crate) fn step_int(r: u64, x: u64) -> u64 {
    let r = r.wrapping_add(x).wrapping_mul(x).wrapping_sub(x).wrapping_mul(x);
    r.wrapping_add(x).wrapping_mul(x).wrapping_sub(x).wrapping_mul(x)
}

/// One step on doubles, as the language defines it: each operation is rounded by itself.
pub(crate) fn step_float(r: f64, x: f64) -> f64 {
    ((((r + x) * x - x) * x + x) * x - x) * x
}
