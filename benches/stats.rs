//! How long it takes to judge as many cells as two large reports hold, and to find intervals for them.

mod common;

use charz_stats::{Better, Pair, Rule, Sample, compare, median_interval};
use criterion::{Criterion, criterion_group, criterion_main};
use fastrand::Rng;

const COMPARISONS: usize = 100_000;

/// Pairs of sides with `least` to 10 values each, all within 5 % and rounded to multiples of `step`.
fn synthetic(least: usize, step: f64) -> Vec<[Vec<f64>; 2]> {
    let mut random = Rng::with_seed(1);
    let mut side = || {
        let size = random.usize(least..=10);
        (0..size).map(|_| ((1.0 + 0.05 * random.f64()) / step).round() * step).collect()
    };
    (0..COMPARISONS).map(|_| [side(), side()]).collect()
}

fn stats(criterion: &mut Criterion) {
    let rule = Rule::new(0.01, 0.02).expect("the usual rule");
    for (name, least, step) in [("6-to-10", 6, 1e-15), ("10", 10, 1e-15), ("10-tied", 10, 0.01)] {
        let sides = synthetic(least, step);
        let pairs: Vec<Pair<'_>> = sides.iter().map(|[base, new]| Pair { base, new, better: Better::Higher }).collect();
        criterion.bench_function(&format!("stats/compare-100000-of-{name}"), |bencher| {
            common::measure(bencher, || compare(&pairs, &rule));
        });
    }
    let samples: Vec<Sample> = synthetic(10, 1e-15)
        .into_iter()
        .map(|[values, _]| Sample::new(values).expect("the values are numbers"))
        .collect();
    criterion.bench_function("stats/intervals-100000", |bencher| {
        common::measure(bencher, || samples.iter().filter_map(|sample| median_interval(sample, 0.95)).count());
    });
}

criterion_group! {
    name = benches;
    // One call takes about a second; the default of 100 samples would take minutes.
    config = Criterion::default().sample_size(10);
    targets = stats
}
criterion_main!(benches);
