//! Whether a request would make the plan that a report was begun with.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::escape::quoted;
use charz_data::report::{Point, Report};
use charz_data::{PARAMS, Param, Params, Program, ReportedUnit};
use charz_kernels::params;

use super::amounts::AUTO_SPAN;
use super::{FEW_CPUS, Plan, PlannedCell, Request, ResolvedRequest};
use crate::limits::Limits;
use charz_model::Topology;

/// What of a plan is compared: values by the flag that asks for them.
type Aspects = BTreeMap<&'static str, BTreeSet<String>>;

/// A configuration, and what of it a flag asks for.
struct Spot {
    kernel: String,
    point: Point,
    mapping: String,
    threads: usize,
}

impl Request {
    /// The flags by which the plan of a report differs from that which this request makes on a machine: as the report was begun, and as this
    /// request has them. `None` where they do not differ.
    ///
    /// What a sweep fits to its budget is compared only where it was asked for.
    #[must_use]
    pub fn differs(&self, fitted: &ResolvedRequest<'_>, limits: &Limits, report: &Report) -> Option<[Vec<String>; 2]> {
        let request = &self.settled(limits);
        let asks_class = request.asked.list(&params::CLASS).is_some();
        let spot = |kernel: &str, point: Point, mapping: &str, threads: usize| Spot {
            kernel: kernel.to_owned(),
            point: if asks_class { point } else { Point { class: None, ..point } },
            mapping: mapping.to_owned(),
            threads,
        };
        let begun = report.cells.iter().map(|cell| spot(&cell.kernel, cell.point, &cell.mapping, cell.seats.len()));
        let begun = aspects(begun, request.of_report(report));
        let planned = |cells: Vec<PlannedCell>| {
            let spots = cells
                .iter()
                .map(|cell| spot(&cell.kernel.card().name, cell.point, &cell.mapping.to_string(), cell.seats.len()));
            aspects(spots, request.of_plan(fitted))
        };
        // The first is that which a budget without an end allows.
        let mut all = fitted.series(request).map(planned);
        let closest = all.next()?;
        if closest == begun || all.any(|other| other == begun) {
            return None;
        }
        let flags = begun.keys().chain(closest.keys()).copied().collect::<BTreeSet<_>>();
        let mut differing: Vec<&str> = flags.into_iter().filter(|flag| begun.get(flag) != closest.get(flag)).collect();
        if differing.len() > 1 {
            differing.retain(|flag| *flag != CONFIGURATIONS);
        }
        // Of another kernel nearly everything differs.
        differing.sort_by_key(|flag| !FIRST.contains(flag));
        differing.truncate(MOST_SAID);
        let (was, is) =
            differing.into_iter().map(|flag| (said(flag, begun.get(flag)), said(flag, closest.get(flag)))).unzip();
        Some([was, is])
    }

    /// What of a plan is not of its configurations, as a report has it.
    fn of_report(&self, report: &Report) -> Aspects {
        let plan = &report.plan;
        let mut aspects = self.of_params(&plan.params);
        of_program(plan.program.as_ref(), &mut aspects);
        // A first run has named it.
        if self.is_unnamed() {
            ["unit", "direction"].into_iter().for_each(|flag| drop(aspects.remove(flag)));
        }
        let (least, most) = (plan.min_invocations as usize, plan.max_invocations as usize);
        of_runs(plan.precision, plan.repetitions.map(|count| count as usize), [least, most], &mut aspects);
        set(&mut aspects, "adaptive", plan.adaptive);
        set(&mut aspects, "counters", plan.counters);
        if self.seed.is_some() {
            insert(&mut aspects, "seed", plan.seed.to_string());
        }
        aspects
    }

    /// The same as this request makes it.
    fn of_plan(&self, fitted: &ResolvedRequest<'_>) -> Aspects {
        let mut aspects = self.of_params(&self.amounts(1, AUTO_SPAN));
        of_program(self.program.as_ref(), &mut aspects);
        if self.is_unnamed() {
            ["unit", "direction"].into_iter().for_each(|flag| drop(aspects.remove(flag)));
        }
        let runs = &self.invocations;
        of_runs(self.precision, self.repetitions, [runs.least, runs.most], &mut aspects);
        set(&mut aspects, "adaptive", Plan::adapts(self, fitted.machine));
        set(&mut aspects, "counters", runs.counted > 0);
        if let Some(seed) = self.seed {
            insert(&mut aspects, "seed", seed.to_string());
        }
        aspects
    }

    /// Whether a first run names the unit of the program.
    fn is_unnamed(&self) -> bool {
        self.program.as_ref().is_some_and(|program| program.unit.symbol == ReportedUnit::UNNAMED)
    }

    /// The parameters of all configurations, but for the amounts that the budget decides.
    fn of_params(&self, values: &Params) -> Aspects {
        let is_asked = |param: &Param| match param {
            param if *param == params::STEPS => self.iterations.is_some(),
            param if *param == params::SAMPLES => self.samples.is_some(),
            param if *param == params::SPAN => self.span.is_some(),
            _ => true,
        };
        let asked = PARAMS.iter().filter(|param| is_asked(param));
        asked.map(|param| (param.name, BTreeSet::from([(param.show)(values)]))).collect()
    }
}

impl Plan {
    /// Whether a sweep of a machine measures only what decides the advice: of few CPUs all is measured sooner than anything is predicted, and
    /// of several kinds of core no model predicts.
    pub(super) fn adapts(request: &Request, machine: &charz_topology::Machine) -> bool {
        request.adaptive && machine.usable_strands().count() > FEW_CPUS && !Topology::of(machine).has_kinds()
    }
}

impl PlannedCell {
    /// Whether it belongs to a series of numbers of workers. That with the fewest workers always does: powers of 8 are no part of the powers
    /// of 4.
    pub(super) fn is_of(&self, series: &[usize]) -> bool {
        series.contains(&self.seats.len()) || self.seats.len() == self.kernel.card().workers.min()
    }
}

impl ResolvedRequest<'_> {
    /// The configurations of each series of numbers of workers, that with the most first.
    pub(super) fn series<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = Vec<PlannedCell>> + 'a {
        let all = self.threads.first().map(|closest| self.cells(request, closest)).unwrap_or_default();
        self.threads
            .iter()
            .enumerate()
            .map(move |(at, series)| all.iter().filter(|cell| at == 0 || cell.is_of(series)).cloned().collect())
    }
}

fn aspects(spots: impl Iterator<Item = Spot>, mut aspects: Aspects) -> Aspects {
    for Spot { kernel, point, mapping, threads } in spots {
        for param in point.varied() {
            let value = point.tell(param, param.show).unwrap_or_default();
            insert(&mut aspects, param.name, value);
        }
        // Each flag by itself may have the same values for other configurations.
        insert(&mut aspects, CONFIGURATIONS, format!("{kernel} {point:?} {mapping} {threads}"));
        insert(&mut aspects, "kernel", kernel);
        insert(&mut aspects, "mapping", mapping);
        insert(&mut aspects, "threads", format!("{threads}"));
    }
    aspects
}

/// Flags that are named before all others, and how many are.
const FIRST: [&str; 2] = ["command", "kernel"];
const MOST_SAID: usize = 2;

/// What no single flag says.
const CONFIGURATIONS: &str = "";

fn of_program(program: Option<&Program>, aspects: &mut Aspects) {
    let Some(program) = program.map(Program::recorded) else { return };
    let Program { command, setup, value, unit, output, verify, timeout_ns, ignored_failures, follow } = program;
    insert(aspects, "command", command);
    insert(aspects, "value", value.to_string());
    insert(aspects, "unit", unit.symbol.as_str().to_owned());
    insert(aspects, "direction", unit.better.name().to_owned());
    let others = [
        ("setup", setup),
        ("program-output", output),
        ("verify", verify),
        ("run-timeout", timeout_ns.map(|time| format!("{time}ns"))),
        ("ignore-failure", ignored_failures.map(|codes| codes_said(&codes))),
        ("follow", follow.map(|follow| follow.name().to_owned())),
    ];
    others
        .into_iter()
        .filter_map(|(flag, value)| Some((flag, value?)))
        .for_each(|(flag, value)| insert(aspects, flag, value));
}

/// As [`Program::ignored_failures`] is typed.
fn codes_said(codes: &[u8]) -> String {
    if codes.is_empty() { "all".to_owned() } else { codes.iter().map(u8::to_string).collect::<Vec<_>>().join(",") }
}

fn of_runs(precision: Option<f64>, repetitions: Option<usize>, [least, most]: [usize; 2], aspects: &mut Aspects) {
    insert(aspects, "runs", if least == most { least.to_string() } else { format!("{least}-{most}") });
    precision.into_iter().for_each(|value| insert(aspects, "precision", format!("{}%", value * 100.0)));
    repetitions.into_iter().for_each(|count| insert(aspects, "iterations", count.to_string()));
}

fn insert(aspects: &mut Aspects, flag: &'static str, value: String) {
    aspects.entry(flag).or_default().insert(value);
}

fn set(aspects: &mut Aspects, flag: &'static str, is_set: bool) {
    if is_set {
        aspects.entry(flag).or_default();
    }
}

/// A flag with its values, as it is typed.
fn said(flag: &str, values: Option<&BTreeSet<String>>) -> String {
    match values {
        _ if flag == CONFIGURATIONS => "other configurations".to_owned(),
        None => format!("no --{flag}"),
        Some(values) if values.is_empty() => format!("--{flag}"),
        Some(values) => {
            let mut values: Vec<&str> = values.iter().map(String::as_str).collect();
            values.sort_by_key(|value| value.parse::<u64>().ok());
            format!("--{flag} {}", quoted(&values.join(",")))
        }
    }
}
