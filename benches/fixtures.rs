//! Reports that nothing measured, for the benches that need large ones.

use charz_data::report::{Report, Unit, fixtures};

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
