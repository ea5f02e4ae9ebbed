//! The floor of the harness: a whole cell of the kernel that does nothing, from its threads' creation to their end.

mod common;

use std::sync::Arc;
use std::time::Duration;

use charz_kernels::{Params, Stop};
use charz_measure::harness::clock::{Clock, OsClock};
use charz_measure::harness::{Bench, Cell, measure};
use charz_topology::{Backend, Binder, Mapping, Source, discover, place};
use charz_workloads::find;
use criterion::{Criterion, criterion_group, criterion_main};

fn floor(criterion: &mut Criterion) {
    let machine = discover(&Source::ThisMachine).expect("this machine can be described");
    let strands = machine.usable_strands().count();
    let order =
        "round-robin".parse::<Mapping>().and_then(|mapping| mapping.order(&machine)).expect("there are strands");
    let binder = Binder::new(Backend::Hwloc);
    let (clock, stop): (Arc<dyn Clock>, _) = (Arc::new(OsClock::default()), Stop::new());
    let bench = Bench {
        binder: &binder,
        clock: &clock,
        stop: &stop,
        strands,
        spins: true,
        time_box: Duration::from_secs(60),
        enough: Duration::MAX,
        counters: None,
    };
    let params = Params { iterations: 1, ..Params::SMALL };
    let kernel = find("noop").expect("it is in the catalog");
    for workers in [1, 2] {
        let seats = place(&order, workers).seats;
        let cell = Cell { kernel, params, seats: &seats, nodes: &[], homes: &[], repetitions: 3, separate_laps: false };
        criterion.bench_function(&format!("noop/{workers}"), |bencher| {
            common::measure(bencher, || measure(&cell, bench).expect("nothing can go wrong with nothing"));
        });
    }
}

criterion_group!(benches, floor);
criterion_main!(benches);
