//! How long it takes to describe a machine.

mod common;

use charz_topology::{Source, discover};
use criterion::{Criterion, criterion_group, criterion_main};

fn discovery(criterion: &mut Criterion) {
    let t3_4 = Source::Synthetic("Package:4 Core:16 Group:2 PU:4".to_owned());
    for (name, source) in [("this machine", Source::ThisMachine), ("synthetic 512", t3_4)] {
        criterion.bench_function(&format!("discover/{name}"), |bencher| {
            common::measure(bencher, || discover(&source).expect("the source is right"));
        });
    }
}

criterion_group!(benches, discovery);
criterion_main!(benches);
