//! Reports that nothing measured, for the benches that need large ones.

use charz_data::report::{Point, Report, Unit, fixtures};

/// A sweep of twelve kernels with 1 to `most` workers under three mappings, on as many strands.
pub fn report(most: u32) -> Report {
    let workers = || (0..).map(|power| 1 << power).take_while(|&workers| workers <= most);
    let kernels = || (0..12).map(|number| format!("kernel-{number}"));
    let cell = |kernel: &str, workers: u32, mapping: &str| {
        let seats: Vec<u32> = (0..workers).collect();
        fixtures::cell(kernel, workers.into(), Unit::OpsPerSecond, 1e9).under(mapping).seated(&seats)
    };
    let of = |kernel: String| {
        ["rr", "dumb", "auto"]
            .map(|mapping| workers().map(|workers| cell(&kernel, workers, mapping)).collect::<Vec<_>>())
    };
    fixtures::report(kernels().flat_map(of).flatten().collect())
}

/// A report of so many cells with one worker, each of whose invocations has so many repetitions.
pub fn cells(count: usize, repetitions: usize) -> Report {
    let mut cell = fixtures::cell("mem-read", 1, Unit::BytesPerSecond, 1e9);
    for invocation in &mut cell.invocations {
        invocation.runs = vec![invocation.runs[0].clone(); repetitions];
    }
    let of_size = |number| cell.clone().at(Point { size_bytes: Some(64 * number), ..Point::default() });
    fixtures::report((1..=count as u64).map(of_size).collect())
}
