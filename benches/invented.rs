//! Plans and reports that nobody ran, for the benches that need some.

use std::time::Duration;

use charz::limits::Limits;
use charz::plan::{Invocations, Plan, Request};
use charz::predict::Predictor;
use charz::sweep::{Context, new_report};
use charz_data::report::{Cell, Counts, Ending, Invocation, Lap, Outcome, Report, Run, Status, Summary, Timer};
use charz_kernels::{Family, Kernel, Layout, PageKind, Params};
use charz_topology::{Machine, parse_mappings};

/// Every kernel of the processor and the memory that can run here, under three mappings, with 1 to 1024 workers. A report of all
/// kernels on the T3-4 would have 3 GB, and nobody asks for one.
pub fn request() -> Request {
    let measures_alone = |kernel: &&dyn Kernel| kernel.card().family != Family::Sync && kernel.check().is_ok();
    Request {
        asked: charz::plan::Asked::default(),
        kernels: charz_kernels::kernels().filter(measures_alone).collect(),
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
        oversubscribe: 1,
        accept_panic: false,
        budget: charz::plan::Budget::Of(Duration::from_secs(100)),
    }
}

/// The plan for [`request`] on a machine.
pub fn plan(request: &Request, machine: &Machine, limits: &Limits) -> Plan {
    let rates = request.kernels.iter().map(|kernel| (&*kernel.card().name, 1.0, 1.0));
    let predictor = Predictor::with_rates(machine.strands.len(), rates);
    let fitted = request.fit(machine, limits).expect("the mappings fit the machine");
    Plan::new(request, fitted, limits, &predictor)
}

/// A report on the T3-4 in which every cell of up to `most` workers has its invocations.
pub fn report(most: u64) -> Report {
    let (machine, limits) = (crate::machines::t3_4(), Limits::unlimited());
    let plan = plan(&request(), &machine, &limits);
    let timer = Timer { overhead_ns: 20, resolution_ns: 10, worst_gap_ns: 1000, skew_ns: Some(100) };
    let context =
        Context { command: "charz sweep", machine: &machine, limits: &limits, clock: "os", binder: "hwloc", timer };
    let mut report = new_report(&plan, &context);
    report.cells.retain(|cell| cell.workers <= most);
    for cell in &mut report.cells {
        let lap = |(rank, seat): (u64, &Option<u32>)| Lap {
            rank,
            seat: *seat,
            strand: *seat,
            start_ns: 1_000_000 + rank,
            end_ns: 501_000_000 + rank,
            ops: 800_000_000,
            bytes: 4_000_000_000,
            on_seat: Some(true),
            checks: 5000,
            strays: Some(0),
            counts: Counts { run_delay_ns: Some(rank), migrations: Some(0), ..Counts::default() },
            contention: None,
        };
        let run = Run {
            interval_ns: 500_000_000 + cell.workers - 1,
            start_skew_ns: cell.workers - 1,
            steal_ns: Some(0),
            throttled_periods: None,
            pressure_ns: Some(0),
            dirty: Vec::new(),
            laps: (0..).zip(&cell.seats).map(lap).collect(),
            samples: None,
            growth: None,
        };
        let runs = vec![run; 2];
        let invocation =
            Invocation { ending: Ending::Done, reason: None, runs, ..Invocation::without_runs(Ending::Done, "") };
        let value = invocation.estimate(cell.unit, cell.estimator);
        cell.invocations = vec![Invocation { value, ..invocation }; 6];
    }
    report
}

/// A report of so many `ok` cells with one worker, each with six invocations of so many repetitions.
pub fn cells(count: usize, repetitions: usize) -> Report {
    let mut report = report(1);
    let mut cell = report.cells[0].clone();
    let run = cell.invocations[0].runs[0].clone();
    for (at, invocation) in (0..).zip(&mut cell.invocations) {
        let mut run = run.clone();
        run.laps[0].ops += at * 100_000;
        invocation.runs = vec![run; repetitions];
        invocation.value = invocation.estimate(cell.unit, cell.estimator);
    }
    let values: Vec<f64> = cell.invocations.iter().filter_map(|invocation| invocation.value).collect();
    let (worst, best) = (values[0], values[values.len() - 1]);
    let middle = Some(f64::midpoint(values[2], values[3]));
    cell.outcome = Outcome { status: Status::Ok, reason: None };
    cell.summary = Some(Summary {
        value: middle,
        raw: middle,
        interval: None,
        invocations: values.len() as u64,
        clean_runs: (values.len() * repetitions) as u64,
        dirty_runs: 0,
        spread: Some(0.0),
        best,
        worst,
        best_of_three: worst,
        start_skew_ns: 0,
    });
    let named = |number| Cell { kernel: format!("kernel-{number}"), ..cell.clone() };
    report.cells = (0..count).map(named).collect();
    report
}
