//! How long it takes to lay out the cells of a sweep.

mod common;
#[allow(dead_code, reason = "each bench uses its part")]
mod machines;

use std::time::Duration;

use charz_kernels::{Family, Kernel, Layout, PageKind, Params};
use charz_measure::limits::Limits;
use charz_measure::plan::{Invocations, Plan, Request};
use charz_measure::predict::Predictor;
use charz_topology::{Machine, parse_mappings};
use criterion::{Criterion, criterion_group, criterion_main};

fn bench(criterion: &mut Criterion) {
    let (request, machine, limits) = (request(), machines::t3_4(), Limits::unlimited());
    criterion.bench_function("plan/512", |bencher| {
        common::measure(bencher, || plan(&request, &machine, &limits));
    });
}

/// Every kernel of the processor and the memory that can run here, under three mappings, with 1 to 1024 workers. A report of all
/// kernels on the T3-4 would have 3 GB, and none is wanted.
fn request() -> Request {
    let measures_alone = |kernel: &&dyn Kernel| kernel.card().family != Family::Sync && kernel.check().is_ok();
    Request {
        asked: charz_measure::plan::Asked::default(),
        kernels: charz_workloads::kernels().filter(measures_alone).collect(),
        program: None,
        mappings: Some(parse_mappings("round-robin,dumb,auto").expect("the mappers are in the table")),
        threads: "auto".parse().expect("the word is known"),
        iterations: None,
        samples: None,
        span: None,
        params: Params {
            iterations: 1,
            size_bytes: 1 << 20,
            pages: PageKind::Small,
            layout: Layout::Padded,
            ..Params::SMALL
        },
        repetitions: Some(3),
        invocations: Invocations::default(),
        precision: None,
        seed: Some(1),
        oversubscribed: 1,
        accept_panic: false,
        adaptive: false,
        budget: charz_measure::plan::Budget::Of(Duration::from_secs(100)),
    }
}

/// The plan for [`request`] on a machine.
fn plan(request: &Request, machine: &Machine, limits: &Limits) -> Plan {
    let rates = request.kernels.iter().map(|kernel| (&*kernel.card().name, 1.0, 1.0));
    let predictor = Predictor::with_rates(machine.strands.len(), rates);
    let fitted = request.fit(machine, limits).expect("the mappings fit the machine");
    Plan::new(request, &fitted, limits, &predictor)
}

criterion_group!(benches, bench);
criterion_main!(benches);
