//! Locks taken and given back in the plainest loop that can be written: what the kernels that measure the same are held
//! against. `bare std 3000000` prints the seconds that one pair took, the least of five tries.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what this program is for")]

use std::hint::black_box;
use std::time::Instant;

/// Runs `once` so often, five times, and prints the least seconds of one.
fn report(iterations: u64, mut once: impl FnMut()) {
    let tries = (0..5).map(|_| {
        let start = Instant::now();
        for _ in 0..iterations {
            once();
        }
        start.elapsed().as_secs_f64() / iterations as f64
    });
    println!("{:.12}", tries.fold(f64::INFINITY, f64::min));
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let iterations = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(3_000_000);
    match words.first().map(String::as_str) {
        Some("std") => {
            let mutex = black_box(std::sync::Mutex::new(0_u64));
            report(iterations, || drop(black_box(&mutex).lock()));
        }
        Some("parking-lot") => {
            let mutex = black_box(parking_lot::Mutex::new(0_u64));
            report(iterations, || drop(black_box(&mutex).lock()));
        }
        other => {
            eprintln!("bare: there is no {other:?}; choose std or parking-lot");
            std::process::exit(2);
        }
    }
}
