//! What all benches by the clock share: one way to measure, and the slowdown that `cargo xtask bench-gate` plants to see
//! whether it would notice.

use std::hint::{black_box, spin_loop};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use criterion::Bencher;

/// The slowdown to plant, in percent.
static PLANT: LazyLock<u32> =
    LazyLock::new(|| std::env::var("CHARZ_BENCH_PLANT").ok().and_then(|percent| percent.parse().ok()).unwrap_or(0));

/// Measures `body`, over and over.
pub fn measure<R>(bencher: &mut Bencher<'_>, mut body: impl FnMut() -> R) {
    bencher.iter_custom(|iterations| {
        let start = Instant::now();
        for _ in 0..iterations {
            black_box(body());
        }
        finish(start)
    });
}

/// The time since `start`, after waiting for the planted share of it.
fn finish(start: Instant) -> Duration {
    let honest = start.elapsed();
    let until = honest + honest * *PLANT / 100;
    let mut elapsed = honest;
    while elapsed < until {
        spin_loop();
        elapsed = start.elapsed();
    }
    elapsed
}
