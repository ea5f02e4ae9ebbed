//! Requests, and what a sweep of them runs with on a machine that is not there, for tests.

use std::collections::HashMap;
use std::time::Duration;

use charz_data::report::{Report, Timer, Tool};
use charz_kernels::{Layout, PageKind, Params, Stop};
use charz_topology::{Machine, Present, Source, discover, parse_mappings};

use crate::harness::fingerprint::Fingerprint;
use crate::invoke::{Invoke, MeasureRequest};
use crate::limits::Limits;
use crate::plan::{Asked, Budget, Invocations, Plan, Request};
use crate::predict::Predictor;
use crate::sweep::{Adaptive, Context, Recorder, Sweep, new_report};

pub const HOUR: Duration = Duration::from_secs(3600);

pub fn request(kernels: &[&str], mappings: &str, threads: &str) -> Request {
    Request {
        kernels: kernels.iter().map(|name| charz_workloads::find(name).unwrap()).collect(),
        program: None,
        mappings: Some(parse_mappings(mappings).unwrap()),
        threads: threads.parse().unwrap(),
        iterations: None,
        samples: None,
        span: None,
        asked: Asked::default(),
        params: Params {
            iterations: 1,
            size_bytes: 1 << 20,
            pages: PageKind::Small,
            layout: Layout::Padded,
            ..Params::SMALL
        },
        repetitions: Some(3),
        invocations: Invocations { least: 1, most: 1, counted: 0 },
        precision: None,
        seed: Some(1),
        oversubscribed: 1,
        accept_panic: false,
        budget: Budget::Of(Duration::from_secs(100)),
        adaptive: false,
    }
}

/// On 512 strands each step takes 10 ns.
pub fn predictor(kernels: &[&'static str]) -> Predictor {
    Predictor::with_rates(512, kernels.iter().map(|name| (*name, 10.0, 0.0)))
}

/// What a sweep of a request runs with on a synthetic machine.
pub struct Setting {
    pub machine: Machine,
    pub predictor: Predictor,
    pub order: MeasureRequest,
    pub plan: Plan,
    /// The report before its first cell.
    pub blank: Report,
}

impl Setting {
    pub fn new(synthetic: &str, request: &Request, rates: &[(&'static str, f64, f64)]) -> Self {
        let machine = discover(&Source::Synthetic(synthetic.into())).unwrap();
        let predictor = Predictor::with_rates(machine.strands.len(), rates.iter().copied());
        let limits = Limits::unlimited();
        let plan = Plan::new(request, &request.fit(&machine, &limits).unwrap(), &limits, &predictor);
        Setting::of(machine, plan, predictor, &limits)
    }

    pub fn of(machine: Machine, plan: Plan, predictor: Predictor, limits: &Limits) -> Self {
        let strands = machine.strands.len();
        let (command, clock, binder) = ("charz sweep", "os", "hwloc");
        let timer = Timer { overhead_ns: 20, resolution_ns: 1, worst_gap_ns: 100, skew_ns: Some(10) };
        let tool = tool();
        let context =
            Context { tool: &tool, command, machine: &machine, limits, clock, binder, timer, issue_width: Some(4) };
        let mut blank = new_report(&plan, &context);
        blank.host.virtual_machine = Some(false);
        let order = MeasureRequest { strands: strands as u64, ..MeasureRequest::new(&plan.params) };
        Setting { machine, predictor, order, plan, blank }
    }

    pub fn sweep<'a>(
        &'a self,
        report: &'a mut Report,
        recorder: &'a mut dyn Recorder,
        invoke: &'a dyn Invoke,
        stop: &'a Stop,
        budget: Duration,
    ) -> Sweep<'a> {
        Sweep {
            report,
            recorder,
            invoke,
            order: self.order.clone(),
            machine: &self.machine,
            stop,
            predictor: &self.predictor,
            limits: &Limits::unlimited,
            present: &Present::default,
            fingerprint: &|_| Fingerprint::default(),
            firsts: HashMap::new(),
            budget,
            is_brief: false,
            adaptive: Adaptive::default(),
        }
    }
}

fn tool() -> Tool {
    let text = String::new;
    let (version, profile) = (env!("CARGO_PKG_VERSION").into(), "release".into());
    Tool {
        version,
        profile,
        commit: text(),
        rustc: text(),
        target: text(),
        rustflags: text(),
        kernels: text(),
        hwloc: text(),
    }
}
