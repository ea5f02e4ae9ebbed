//! How long it takes to lay out the cells of a sweep.

mod common;
#[allow(dead_code, reason = "each bench uses its part")]
mod invented;
#[allow(dead_code, reason = "each bench uses its part")]
mod machines;

use charz::limits::Limits;
use criterion::{Criterion, criterion_group, criterion_main};

fn plan(criterion: &mut Criterion) {
    let (request, machine, limits) = (invented::request(), machines::t3_4(), Limits::unlimited());
    criterion.bench_function("plan/512", |bencher| {
        common::measure(bencher, || invented::plan(&request, &machine, &limits));
    });
}

criterion_group!(benches, plan);
criterion_main!(benches);
