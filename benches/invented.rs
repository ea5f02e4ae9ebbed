//! Plans and reports that nobody ran, for the benches that need some.

use std::time::Duration;

use charz::limits::Limits;
use charz::plan::{Plan, Request};
use charz::predict::Predictor;
use charz::report::{Counts, Lap, Report, Run};
use charz::sweep::{Context, new_report};
use charz_kernels::{Bytes, KERNELS, Layout, PagePolicy, Params};
use charz_topology::{Machine, parse_mappings};

/// Every kernel that can run here, under three mappings, with 1 to 1024 workers.
pub fn request() -> Request {
    Request {
        kernels: KERNELS.iter().copied().filter(|kernel| kernel.check().is_ok()).collect(),
        mappings: parse_mappings("round-robin,dumb,auto").expect("the mappers are in the table"),
        threads: "auto".parse().expect("the word is known"),
        iterations: None,
        params: Params { iterations: 1, size: Bytes(1 << 20), pages: PagePolicy::Small, layout: Layout::Padded },
        repetitions: 3,
        budget: Duration::from_secs(100),
    }
}

/// The plan for [`request`] on a machine.
pub fn plan(request: &Request, machine: &Machine, limits: &Limits) -> Plan {
    let rates = request.kernels.iter().map(|kernel| (kernel.card().name, 1.0, 1.0));
    let predictor = Predictor::with_rates(machine.strands.len(), rates);
    Plan::new(request, machine, limits, &predictor).expect("the mappings fit the machine")
}

/// A report on the T3-4 in which every cell of up to `most` workers has its runs.
pub fn report(most: u64) -> Report {
    let (machine, limits) = (crate::machines::t3_4(), Limits::unlimited());
    let plan = plan(&request(), &machine, &limits);
    let context = Context { machine: &machine, limits: &limits, clock: "os", binder: "hwloc" };
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
            bytes: 0,
            on_seat: Some(true),
            counts: Counts { involuntary_switches: Some(0), migrations: Some(0), run_delay_ns: Some(rank) },
        };
        let run = Run {
            interval_ns: 500_000_000 + cell.workers - 1,
            start_skew_ns: cell.workers - 1,
            steal_ns: Some(0),
            throttled_periods: None,
            laps: (0..).zip(&cell.seats).map(lap).collect(),
        };
        cell.runs = vec![run; 3];
    }
    report
}
