//! What it costs that workers look at their watch: one look, and the chain of integers with its looks and with hardly any.
//! `--example looks` of the crate sets the last two against each other, in turns.

mod common;

use std::time::{Duration, Instant};

use charz_kernels::arith::{ARITH_INT, RARELY_LOOKING};
use charz_kernels::{Params, Stop, Watch};
use criterion::{Criterion, criterion_group, criterion_main};

/// About a millisecond: 28 looks, or 1.
const PARAMS: Params = Params { iterations: 28 * 8192, ..Params::SMALL };

/// A watch that has everything to look at.
fn watch() -> Watch {
    let never = Instant::now() + Duration::from_secs(3600);
    Watch::new(&Stop::new()).with_deadline(Some(never)).with_seat(Some(0))
}

fn looks(criterion: &mut Criterion) {
    let watch = watch();
    criterion.bench_function("watch/look", |bencher| common::measure(bencher, || watch.should_stop()));
    for (name, kernel) in [("watch/arith-int", ARITH_INT), ("watch/arith-int-rare", RARELY_LOOKING)] {
        let stage = kernel.stage(&PARAMS, 1).expect("the kernel can run here");
        let mut worker = stage.worker(0).expect("there is memory");
        criterion.bench_function(name, |bencher| {
            worker.prepare();
            common::measure(bencher, || worker.run(&watch));
        });
    }
}

criterion_group!(benches, looks);
criterion_main!(benches);
