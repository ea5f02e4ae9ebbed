//! What a sweep is going to do: every cell, validated, before anything runs.

mod amounts;
mod axes;
mod begun;
mod budget;
mod classes;
mod error;
mod invocations;
mod obstacles;
mod specs;
mod threads;
mod totals;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use charz_kernels::{Card, Family, Kernel, PageKind, Params, WorkerCount, params};
use charz_topology::{Machine, Mapping, Order, memory_homes, pair_mappings, parse_mappings, place};

pub use axes::{Asked, AskedSizes, BlockSizes};
pub use budget::{Budget, LARGER_BUDGET, LARGER_QUICK_BUDGET, QUICK_BUDGET, USUAL_BUDGET, narrowed_until};
pub use error::PlanError;
pub use invocations::{Invocations, MOST_INVOCATIONS};
pub use specs::kernel;
pub use threads::Threads;

use amounts::{AUTO_SPAN, Length};

use crate::limits::Limits;
use crate::predict::Predictor;
use charz_data::report::Point;
use charz_data::units;
use charz_data::{MemoryPolicy, Metric, Program, ProgramValue, Role};

#[derive(Clone)]
pub struct Request {
    /// At least one.
    pub kernels: Vec<&'static dyn Kernel>,
    /// The user's program, if it is among the kernels.
    pub program: Option<Program>,
    /// At least one; `None` takes what fits each kernel.
    pub mappings: Option<Vec<Mapping>>,
    pub threads: Threads,
    /// Steps of a loop per worker and repetition; `None` takes as many as the budget allows.
    pub iterations: Option<u64>,
    /// Pairs of times of a repetition, likewise.
    pub samples: Option<u64>,
    /// How long a repetition lasts that runs by time, likewise.
    pub span: Option<Duration>,
    pub asked: Asked,
    /// The other parameters; its own `iterations`, `samples` and `span` are not looked at.
    pub params: Params,
    /// Repetitions in each invocation, at least 1; `None` takes as many as a fresh process is worth.
    pub repetitions: Option<usize>,
    pub invocations: Invocations,
    /// The relative half width of the interval that is wanted, as a fraction; `None` takes the family's.
    pub precision: Option<f64>,
    /// From it comes the order of the cells; `None` draws one.
    pub seed: Option<u64>,
    /// How many times the strands automatic worker counts, and workers that contend, may be.
    pub oversubscribed: usize,
    /// Whether workers that contend may outnumber strands although the kernel panics on a lockup.
    pub accept_panic: bool,
    pub budget: Budget,
    /// Whether only those cells are measured that decide what is advised.
    pub adaptive: bool,
}

/// The repetitions of the invocations of a coarse look: half as many let a busy machine make six invocations of each cell in that time.
pub const QUICK_REPETITIONS: usize = 5;

pub struct Plan {
    pub params: Params,
    pub program: Option<Program>,
    pub precision: Option<f64>,
    pub repetitions: Option<usize>,
    pub invocations: Invocations,
    pub seed: u64,
    pub budget: Duration,
    /// Whether intervals are narrowed until [`narrowed_until`], since no time was asked for, and not as long as the budget lasts.
    pub is_brief: bool,
    /// How to give it more.
    remedy: &'static str,
    /// Whether only those cells are measured that decide what is advised.
    pub adaptive: bool,
    /// How long the repetitions of an invocation are at least, where the budget allows it.
    length: Option<Length>,
    /// Whether threads that float get more repetitions than others, which a report has room for; else all runs are as long as theirs.
    spreads: bool,
    /// The cells, by kernel, then point, then workers, then mapping. They run in rounds, one invocation of each, in an order that is drawn
    /// anew for each round: a machine that drifts favours none.
    pub cells: Vec<PlannedCell>,
}

#[derive(Clone)]
pub struct PlannedCell {
    pub kernel: &'static dyn Kernel,
    pub point: Point,
    /// The size of a worker's block, where it is not the point's.
    pub block_bytes: Option<u64>,
    /// The level of caches that holds the blocks, by name; `None` where it is not known, or there are none.
    pub level: Option<String>,
    pub mapping: Mapping,
    /// One seat a worker; `None` floats.
    pub seats: Vec<Option<u32>>,
    pub footprint_bytes: u64,
    pub repetitions: usize,
    pub precision: f64,
    pub predicted: Duration,
    /// Why it is not measured.
    pub obstacle: Option<String>,
}

impl PlannedCell {
    /// Its kernel at its point.
    fn group(&self) -> (&str, Point) {
        (&self.kernel.card().name, self.point)
    }

    fn new(
        request: &Request,
        machine: &Machine,
        kernel: &'static dyn Kernel,
        point: Point,
        mapping: Mapping,
        seats: Vec<Option<u32>>,
        block_bytes: Option<u64>,
    ) -> Self {
        let own = point.params_with(&request.amounts(1, AUTO_SPAN), block_bytes);
        let blocks = kernel.card().obeys(&params::SIZE);
        // Workers of a program divide its block, if it does not grow with them.
        let divides = kernel.card().family == Family::Workload && !kernel.card().shares_work;
        let parts = if divides { seats.len() as u64 } else { 1 };
        PlannedCell {
            kernel,
            point,
            block_bytes,
            level: blocks.then(|| axes::level(machine, &seats, charz_kernels::Bytes(own.size_bytes / parts))).flatten(),
            mapping,
            footprint_bytes: kernel.footprint_together(&own, seats.len()).0,
            seats,
            repetitions: 1,
            precision: request.precision.unwrap_or(kernel.card().family.precision()),
            predicted: Duration::ZERO,
            obstacle: None,
        }
    }
}

/// The most workers a strand that may contend: beyond it nothing is learnt, and the machine suffers.
pub const MOST_OVERSUBSCRIBED: usize = 64;
/// The longest that a sweep may take: what is measured over a month is not one machine any more.
pub const MOST_BUDGET: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The share of the budget beyond which its fewest invocations make a plan take fewer numbers of workers: a busy machine takes twice the
/// time.
pub const FEWEST_SHARE: f64 = 0.5;

/// On so many CPUs a sweep measures all configurations, adaptive or not.
pub const FEW_CPUS: usize = 8;
/// An adaptive sweep measures a kernel with no more cells at a point whole.
pub const FEW_CELLS: usize = 8;
/// The share of the configurations of such a kernel that an adaptive sweep measures: a fifth, and more where no model predicts.
const ADAPTIVE_SHARE: f64 = 0.3;

/// Whether a model may predict what more threads do: where they share the work of a machine and do not meet at a line, and where the number
/// is a rate, or the time of a whole program, which turned over is one.
pub(crate) fn is_modelled(card: &Card) -> bool {
    matches!(card.family, Family::Compute | Family::Memory | Family::Workload | Family::Program)
        && matches!(card.metric, Metric::Ops(_) | Metric::Bytes(_) | Metric::Reported(_))
}

/// The largest report, in bytes of plain JSON, of a plan whose numbers of workers were not asked for: 20 MB when it is compressed.
const LARGEST_REPORT: u64 = 100_000_000;

/// What a request means on a machine that it fits: nothing of it can be bad input any more.
pub struct ResolvedRequest<'a> {
    machine: &'a Machine,
    /// A block that the caches do not hold, where these are known.
    memory_bytes: Option<u64>,
    /// The points of each kernel, in the order of the request.
    points: Vec<Vec<Point>>,
    counted: bool,
    /// Numbers of workers, ascending; the first series that the budget allows is taken.
    threads: Vec<Vec<usize>>,
    /// Each mapping with its order, if mappings were asked for.
    orders: Option<Vec<(Mapping, Order)>>,
    /// Orders that are taken otherwise: for kernels of the processor and the memory,
    spread: Vec<(Mapping, Order)>,
    /// for programs,
    programs: Vec<(Mapping, Order)>,
    /// for workers that meet,
    meeting: Vec<(Mapping, Order)>,
    /// and for two of them.
    pairs: Vec<(Mapping, Order)>,
    strands: usize,
}

impl Request {
    /// Whether kernels get base pages since the system has no transparent huge ones.
    pub fn lacks_huge_pages(&self, limits: &Limits) -> bool {
        self.asked.fitting_pages && limits.usual_pages() == PageKind::Small
    }

    /// The same with the pages that its kernels get.
    fn settled(&self, limits: &Limits) -> Request {
        let pages = if self.lacks_huge_pages(limits) { PageKind::Small } else { self.params.pages };
        Request { params: Params { pages, ..self.params }, ..self.clone() }
    }

    /// Finds out what the request means on a machine, before anything runs.
    pub fn fit<'a>(&self, machine: &'a Machine, limits: &Limits) -> Result<ResolvedRequest<'a>, PlanError> {
        for policy in self.asked.list(&params::MEMORY).into_iter().flatten().map(|value| value.memory) {
            if !matches!(policy, MemoryPolicy::Node(_)) {
                continue;
            }
            memory_homes(policy, machine, &[]).map_err(PlanError::Memory)?;
        }
        let strands = machine.usable_strands().count();
        let threads = self.threads.resolve(machine, self.oversubscribed, limits)?;
        let (ladder, own) = (BlockSizes::of(machine), self.settled(limits).params);
        let points: Vec<Vec<Point>> =
            self.kernels.iter().map(|kernel| axes::points(*kernel, &self.asked, &own, &ladder)).collect();
        // What was not asked for may be too large, and is skipped then.
        let lists = matches!(&self.asked.sizes, Some(AskedSizes::List(_)));
        let block = |(kernel, points): (&&dyn Kernel, &Vec<Point>)| {
            points.iter().map(|point| kernel.footprint(&point.params(&own)).0).max()
        };
        let is_asked = |kernel: &dyn Kernel| lists && kernel.card().obeys(&params::SIZE);
        let sized = self.kernels.iter().zip(&points).filter(|(kernel, _)| is_asked(**kernel));
        let block = sized.filter_map(block).max().unwrap_or(0);
        if let Some(memory) = limits.memory_total_bytes.filter(|&memory| block > memory) {
            return Err(PlanError::Size { needed: units::iec(block), memory: units::iec(memory) });
        }
        let order = |mapping: Mapping| Ok((mapping.clone(), mapping.order(machine)?));
        let orders = |mappings: Vec<Mapping>| mappings.into_iter().map(order).collect::<Result<Vec<_>, PlanError>>();
        let mut pairs = pair_mappings(machine);
        pairs.extend(parse_mappings(FLOATING)?);
        Ok(ResolvedRequest {
            machine,
            memory_bytes: machine.last_cache_bytes().map(|_| ladder.memory(self.params.size_bytes)),
            points,
            counted: self.threads != Threads::Auto,
            threads,
            orders: self.mappings.clone().map(orders).transpose()?,
            spread: orders(parse_mappings(SPREAD)?)?,
            programs: orders(parse_mappings(PROGRAMS)?)?,
            meeting: orders(parse_mappings(MEETING)?)?,
            pairs: orders(pairs)?,
            strands,
        })
    }
}

/// Whole nanoseconds; the largest number for a longer time.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl ResolvedRequest<'_> {
    fn orders(&self, card: &Card) -> &[(Mapping, Order)] {
        match (&self.orders, card.family, card.workers) {
            (Some(asked), ..) => asked,
            (None, _, WorkerCount::Exactly(2)) => &self.pairs,
            (None, Family::Workload, _) => &self.programs,
            (None, ..) if spreads(card) => &self.spread,
            (None, ..) => &self.meeting,
        }
    }

    /// The numbers of workers of a series that a kernel can take; one that can take none of those that were asked for gets its fewest.
    fn threads(&self, kernel: &dyn Kernel, series: &[usize]) -> Vec<usize> {
        let (card, crew) = (kernel.card(), kernel.card().workers);
        if !self.counted && kernel.axes().alone {
            return vec![crew.min()];
        }
        let few = !self.counted && matches!(card.family, Family::Memory | Family::Timer) && !spreads(card);
        let wanted = |workers: &usize| crew.allows(*workers) && (!few || *workers == 1 || *workers == self.strands);
        let fitting: Vec<usize> = series.iter().copied().filter(wanted).collect();
        if fitting.is_empty() { vec![crew.min()] } else { fitting }
    }
}

impl ResolvedRequest<'_> {
    fn cells(&self, request: &Request, series: &[usize]) -> Vec<PlannedCell> {
        let mut cells = Vec::new();
        for (&kernel, points) in request.kernels.iter().zip(&self.points) {
            let spots =
                points.iter().flat_map(|point| self.threads(kernel, series).into_iter().map(move |n| (*point, n)));
            for (point, workers) in spots {
                let mut strands = HashSet::new();
                for (mapping, order) in self.orders(kernel.card()) {
                    let seats = place(order, workers).seats;
                    let mut taken = seats.clone();
                    taken.sort_unstable();
                    // Unless mappings were asked for, those that differ are of interest.
                    if strands.insert(taken) || self.orders.is_some() {
                        let own = self.block(request, kernel, &point, &seats);
                        cells.push(PlannedCell::new(request, self.machine, kernel, point, mapping.clone(), seats, own));
                    }
                }
            }
        }
        cells
    }
}

/// Whether it is of interest how a kernel's work spreads over the machine: that of the processor, and of the memory as the
/// default sweep has it. The many others of the memory are about what a thread and what all of them get.
fn spreads(card: &Card) -> bool {
    match card.family {
        Family::Compute | Family::Program | Family::Workload | Family::Floor => true,
        Family::Memory => card.by_default,
        Family::Sync | Family::Timer => false,
    }
}

const SPREAD: &str = "round-robin,dumb,auto";
/// With and without a seat for each thread: where a program runs for seconds, a third order takes too long.
pub const PROGRAMS: &str = "round-robin,auto";
const MEETING: &str = "round-robin";
/// The mapping that is measured beside pairs of strands.
const FLOATING: &str = "auto";

impl Plan {
    /// # Panics
    /// If the request has no series of numbers of workers.
    pub fn new(request: &Request, fitted: &ResolvedRequest<'_>, limits: &Limits, predictor: &Predictor) -> Self {
        let request = &request.settled(limits);
        let (closest, fewer) = fitted.threads.split_first().expect("a request has numbers of workers");
        let cells = fitted.cells(request, closest);
        let mut plan = Plan::of_cells(request, cells, fitted.machine, limits, predictor);
        if plan.report_bytes() > LARGEST_REPORT {
            plan.spreads = false;
            plan.fit_amounts(request, predictor);
        }
        let (all, most) = (plan.cells.clone(), request.budget.most().mul_f64(FEWEST_SHARE));
        for series in fewer {
            if plan.adaptive || (plan.predicted() <= most && plan.report_bytes() <= LARGEST_REPORT) {
                break;
            }
            plan.cells = all.iter().filter(|cell| cell.is_of(series)).cloned().collect();
            plan.fit_amounts(request, predictor);
        }
        plan
    }

    /// Finds out what keeps these cells from running, and how much of each fits into the budget.
    fn of_cells(
        request: &Request,
        cells: Vec<PlannedCell>,
        machine: &Machine,
        limits: &Limits,
        predictor: &Predictor,
    ) -> Self {
        let strands = machine.usable_strands().count();
        let mut plan = Plan {
            params: request.amounts(1, AUTO_SPAN),
            program: request.program.clone(),
            precision: request.precision,
            repetitions: request.repetitions,
            invocations: request.invocations,
            seed: request.seed.unwrap_or_else(|| fastrand::u64(..)),
            budget: request.budget.least(),
            is_brief: request.budget == Budget::Fitting,
            remedy: request.budget.remedy(),
            adaptive: Plan::adapts(request, machine),
            length: None,
            spreads: true,
            cells,
        };
        plan.fit_classes(request, limits, predictor);
        plan.find_obstacles(limits, request, machine, strands);
        plan.predict(predictor);
        plan.fit_amounts(request, predictor);
        plan
    }

    pub fn predicted(&self) -> Duration {
        self.sum(self.runnable())
    }

    /// What the fewest invocations of these cells take.
    fn sum<'a>(&self, cells: impl Iterator<Item = &'a PlannedCell>) -> Duration {
        let sizes = self.adaptive_groups();
        let expected = |cell: &PlannedCell| match self.may_be_open(cell, &sizes) {
            true => cell.predicted.mul_f64(ADAPTIVE_SHARE),
            false => cell.predicted,
        };
        cells.map(expected).sum::<Duration>() * u32::try_from(self.invocations.fewest()).unwrap_or(u32::MAX)
    }

    /// Of each cell, whether it is measured only if the advice needs it, and predicted otherwise.
    pub fn is_open(&self) -> Vec<bool> {
        let sizes = self.adaptive_groups();
        self.cells.iter().map(|cell| self.may_be_open(cell, &sizes)).collect()
    }

    /// How many cells each kernel has at a point.
    fn adaptive_groups(&self) -> HashMap<(&str, Point), usize> {
        let mut sizes = HashMap::new();
        self.runnable().for_each(|cell| *sizes.entry(cell.group()).or_default() += 1);
        sizes
    }

    fn may_be_open(&self, cell: &PlannedCell, sizes: &HashMap<(&str, Point), usize>) -> bool {
        let is_in_many = || sizes.get(&cell.group()).is_some_and(|size| *size > FEW_CELLS);
        self.adaptive && cell.obstacle.is_none() && is_modelled(cell.kernel.card()) && is_in_many()
    }

    /// Numbers of workers, ascending.
    pub fn threads(&self) -> Vec<usize> {
        self.cells.iter().map(|cell| cell.seats.len()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub fn runnable(&self) -> impl Iterator<Item = &PlannedCell> {
        self.cells.iter().filter(|cell| cell.obstacle.is_none())
    }

    fn predict(&mut self, predictor: &Predictor) {
        for cell in &mut self.cells {
            let answers = cell.kernel.card().role == Role::Program
                && self.program.as_ref().is_some_and(|program| program.value == ProgramValue::Protocol);
            let usual = || if answers { ANSWERS } else { repetitions(cell.kernel.card(), cell.seats.len()) };
            // The best of more is better, so of those there are as many in every sweep.
            let may_be_more = match cell.kernel.card().family {
                Family::Sync => true,
                Family::Memory => matches!(cell.level.as_deref(), Some("L1" | "L2")),
                _ => false,
            };
            let length = self.length.filter(|_| may_be_more && cell.kernel.card().obeys(&params::SPAN));
            let long = length
                .map_or(0, |length| length.all.as_nanos().div_ceil(self.params.span().as_nanos().max(1)) as usize);
            // The scheduler takes milliseconds to spread threads that float, of which a program of seconds knows nothing.
            let floats = cell.kernel.card().family == Family::Compute
                && cell.seats.len() > 1
                && cell.seats.iter().any(Option::is_none);
            let times = self.length.filter(|_| floats).map_or(1, Length::to_spread);
            cell.repetitions = self.repetitions.unwrap_or_else(|| (usual() * times).max(long));
            let own = cell.point.params_with(&self.params, cell.block_bytes);
            cell.predicted = predictor.invocation(cell.kernel, &own, &cell.seats, cell.repetitions);
        }
    }
}

/// Repetitions in an invocation. Ten take at least as long as what a fresh process takes around them: some 10 ms, and the touching
/// of its blocks, which is some ten passes. T. Kalibera and R. Jones ("Rigorous benchmarking in reasonable time", ISMM 2013,
/// section 5) take the square root of that ratio, times the deviation within processes over that between them: on a busy machine
/// the former is the larger. Many workers have as many laps in fewer repetitions, and threads that take longer to start. Fixed by the
/// kernel and their number, so the best of them is the best of as many in every sweep.
pub(crate) fn repetitions(card: &Card, workers: usize) -> usize {
    match card.family {
        // Each repetition makes its memory anew, which takes several times what is timed.
        Family::Memory if card.blocks_in_kernel => 2,
        Family::Memory => 5,
        Family::Compute | Family::Floor => (40 / workers).clamp(3, 10),
        // A run is a fresh process already; what measures itself answers at the price of its set-up.
        Family::Program => 1,
        // Where workers wait for each other, two outlast the start of a process.
        Family::Sync | Family::Timer => 2,
        // The first differs from the second, which takes longer than the start of a process anyway.
        Family::Workload => 2,
    }
}

/// Repetitions of a program that answers by the line protocol, in one process.
const ANSWERS: usize = 5;

#[cfg(test)]
pub mod tests;
