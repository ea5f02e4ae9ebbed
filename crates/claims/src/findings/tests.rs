//! Laws of the rules. What each rule says is recorded in `charz-words`.

use super::pools::{HARDLY, enough_outside};
use super::*;
use charz_data::params::Params;
use charz_data::report::{Point, fixtures::cell};

/// By mean value analysis (M. Reiser and S. Lavenberg, Journal of the ACM 27 (1980)) of a lock that loses nothing under contention.
#[test]
fn threads_wait_at_the_limit_and_hardly_far_beyond_it() {
    for threads in [2, 8, 64] {
        let [one, several] = [1, threads].map(|threads| cell("pool-std", threads, Unit::OpsPerSecond, 1e9));
        let [one, several] = [&one, &several].map(|cell| Estimate::of(cell).unwrap());
        let [limit, ..] = enough_outside(&one, &several).unwrap();
        // A section takes a nanosecond.
        let kept = |outside: f64| {
            let (mut waiting, mut rate) = (0.0, 0.0);
            for threads in 1..=threads {
                rate = threads as f64 / (1.0 + waiting + outside);
                waiting = rate * (1.0 + waiting);
            }
            rate * (1.0 + outside) / threads as f64
        };
        assert!(kept(limit) < 0.92 && kept(HARDLY * limit) > 0.94, "{threads} threads");
    }
}

#[test]
fn the_time_of_a_product_is_that_of_the_operations_of_the_definition() {
    let product = cell("matmul-mutex", 1, Unit::OpsPerSecond, 2e3 * 1024_f64.powi(3) / 70.0);
    let product = product.at(Point { order: Some(1024), ..Point::default() });
    assert!((millis(&product, &Params::SMALL).unwrap() - 70.0).abs() < 1e-9);
    let nanos = cell("matmul-mutex", 1, Unit::Nanoseconds, 1.0);
    assert_eq!(millis(&nanos, &Params::SMALL), None, "a report that another program wrote");
}

#[test]
fn each_run_has_one_load() {
    let mut loaded = cell("loaded-read", 2, Unit::NanosecondsPerStep, 90.0);
    for (number, invocation) in loaded.invocations.iter_mut().enumerate() {
        // One of them has most of the iterations, and nothing was moved in them.
        let (times, bytes) = if number == 0 { (100, 0) } else { (1, 1_000_000) };
        invocation.runs[0].laps.iter_mut().for_each(|lap| lap.bytes = bytes);
        invocation.runs = vec![invocation.runs[0].clone(); times];
    }
    assert!(bandwidth(&loaded).unwrap() > 0.0);
}
