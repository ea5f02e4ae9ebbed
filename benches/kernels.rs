//! Each kernel of the catalog by itself, one worker, small enough to take about a millisecond at most.

mod alone;
mod common;

use charz_kernels::{Params, Stop, Watch};
use criterion::{Criterion, criterion_group, criterion_main};

/// 4096 steps; 1 MiB, which stays in the second-level cache of many cores and so away from what neighbours do to memory.
const PARAMS: Params = Params { iterations: 4096, size_bytes: 1 << 20, ..Params::SMALL };

fn kernels(criterion: &mut Criterion) {
    for kernel in alone::alone() {
        criterion.bench_function(&kernel.card().name, |bencher| {
            let stage = kernel.stage(&PARAMS, 1).expect("the kernel can run here");
            let mut worker = stage.worker(0).expect("there is memory");
            let watch = Watch::new(&Stop::new());
            worker.prepare();
            common::measure(bencher, || worker.run(&watch));
            worker.prepare();
            worker.run(&watch);
            worker.verify().expect("the answer is right");
        });
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
