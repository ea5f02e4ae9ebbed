//! How long it takes to save a report, which a sweep does after each cell, and to read it.

mod common;
#[allow(dead_code, reason = "each bench uses its part")]
mod invented;
#[allow(dead_code, reason = "each bench uses its part")]
mod machines;

use charz::report::{read, save};
use criterion::{Criterion, criterion_group, criterion_main};

fn report(criterion: &mut Criterion) {
    let report = invented::report(1024);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("report.json");
    criterion.bench_function("report/save", |bencher| {
        common::measure(bencher, || save(&file, &report).expect("the disk takes it"));
    });
    save(&file, &report).expect("the disk takes it");
    criterion.bench_function("report/read", |bencher| {
        common::measure(bencher, || read(&file).expect("it is a report"));
    });
}

criterion_group!(benches, report);
criterion_main!(benches);
