//! How long it takes to order the strands of a machine, for each mapper and three sizes of machine.

mod common;
#[allow(dead_code, reason = "each bench uses its part")]
mod machines;

use std::hint::black_box;

use charz_topology::{MAPPERS, Mapping, place};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn mappers(criterion: &mut Criterion) {
    for strands in [512, 4096, 65_536] {
        let machine = machines::machine(strands);
        let mut group = criterion.benchmark_group("order");
        // Those with a parameter do next to nothing of their own, or start a program.
        for card in MAPPERS.iter().filter(|card| card.parameter.is_none()) {
            let mapping: Mapping = card.name.parse().expect("the table's own name");
            group.bench_function(BenchmarkId::new(card.name, strands), |bencher| {
                common::measure(bencher, || mapping.order(black_box(&machine)).expect("the machine has strands"));
            });
        }
        group.finish();
        let order = MAPPERS[0].name.parse::<Mapping>().and_then(|mapping| mapping.order(&machine)).expect("as above");
        criterion.bench_function(&format!("place/{strands}"), |bencher| {
            common::measure(bencher, || place(black_box(&order), 3 * strands as usize));
        });
    }
}

criterion_group!(benches, mappers);
criterion_main!(benches);
