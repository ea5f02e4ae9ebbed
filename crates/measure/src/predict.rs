//! How long a cell will take: a pilot run of each kernel, scaled.
//!
//! The prediction feeds `--dry-run`, the choice of iterations, the budget and the ETA. It never enters a
//! result.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use charz_kernels::{Card, Class, Family, Kernel, Metric, Params, Role, params};

use crate::harness::counters::Usage;
use crate::invoke::{Invoke, MeasureRequest};
use crate::user_program::stops;
use charz_data::COMMAND;
use charz_data::machine::Machine;
use charz_data::report::{Cell, Ending, Invocation, Run};
use charz_data::{MemoryPolicy, Mix, Program, ProgramValue};
use charz_system::cgroup;

#[derive(Clone, Debug)]
pub struct Predictor {
    strands: usize,
    /// The NUMA node of each strand by its OS id; empty where no nodes are known, and all memory counts as one.
    nodes: HashMap<u32, u32>,
    /// The strands of each node.
    node_sizes: HashMap<u32, usize>,
    /// What a process costs that measures nothing.
    process: Duration,
    rates: HashMap<&'static str, Rate>,
    /// What a run of the user's program takes.
    program: Option<ProgramTime>,
    /// The runs of the user's program, each with its order: a cell that is no more than that has been measured.
    runs: Vec<(MeasureRequest, Invocation)>,
    /// Whether nothing is to follow that program.
    untraced: bool,
    /// Whether there was no time for a pilot of each kernel.
    hurried: bool,
    /// Whether others take CPU time from what is measured: programs, as far as they were seen, or a quota.
    shared: bool,
}

/// The time of a program as Amdahl's law has it: a part that all threads share, and one that they do not (G. Amdahl, "Validity of the
/// single processor approach to achieving large scale computing capabilities", AFIPS 1967).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ProgramTime {
    serial: Duration,
    parallel: Duration,
    /// What is taken beside the runs: by each process before its first answer and after its last, where one process has all
    /// repetitions, else by `--setup` before each run.
    around: Duration,
    per_run: bool,
    /// Copies that share strands take turns, and a program of more threads than strands has no more work.
    in_copies: bool,
}

impl ProgramTime {
    /// From its times with one thread, if it was run so, and with `strands`. Without the former it is taken to share all of its work:
    /// fewer threads take no longer than that.
    fn of(alone: Option<Duration>, all: Duration, strands: usize, in_copies: bool) -> Self {
        let most = u32::try_from(strands).unwrap_or(u32::MAX).max(1);
        let alone = if in_copies { all } else { alone.unwrap_or(all * most) };
        let parallel = match most {
            1 => Duration::ZERO,
            most => alone.saturating_sub(all).mul_f64(f64::from(most) / f64::from(most - 1)),
        };
        ProgramTime { serial: alone.max(all).saturating_sub(parallel), parallel, in_copies, ..ProgramTime::default() }
    }

    /// What one of these runs of a program took, and what was taken around them, or around each, of all the time.
    fn parts(program: &Program, runs: &[Run], took: Duration) -> (Duration, Duration) {
        // Answers by the protocol are repetitions of one process, which prepares once.
        let is_protocol = program.value == ProgramValue::Protocol;
        let runs = if is_protocol || program.setup.is_some() { runs } else { &[] };
        let timed = Duration::from_nanos(runs.iter().map(|run| run.interval_ns).sum());
        match u32::try_from(runs.len()) {
            Ok(0) | Err(_) => (took, Duration::ZERO),
            Ok(count) => (timed / count, took.saturating_sub(timed) / if is_protocol { 1 } else { count }),
        }
    }

    fn with(self, threads: usize, strands: usize) -> Duration {
        let share = self.parallel.div_f64(threads.clamp(1, strands) as f64);
        let turns = if self.in_copies { threads.div_ceil(strands) } else { 1 };
        (self.serial + share) * u32::try_from(turns).unwrap_or(u32::MAX)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    /// For a unit: a step of the loop, a byte that is passed over, a nanosecond of the time that is given.
    timed: f64,
    /// For a byte of the block, each time that it is made around the timed spans: allocating, touching, freeing.
    around: f64,
}

/// How often an invocation makes a worker's block: once, or anew before each repetition where the system's handling of it is what is
/// timed.
fn makings(kernel: &dyn Kernel, repetitions: u64) -> f64 {
    if matches!(kernel.card().metric, Metric::TimePerGib(_)) { (repetitions + 1) as f64 } else { 1.0 }
}

impl Rate {
    /// One process with several repetitions, of which the least disturbed is used. `None` for a kernel that cannot run.
    fn measure(
        kernel: &'static dyn Kernel,
        order: &MeasureRequest,
        base: Duration,
        invoke: &dyn Invoke,
    ) -> Option<Self> {
        let start = Instant::now();
        let invocation = invoke.invoke(order, 0);
        let wall = start.elapsed().saturating_sub(base).as_nanos() as f64;
        let laps = || invocation.runs.iter().flat_map(|run| &run.laps);
        let timed = laps().map(|lap| {
            let timed = lap.end_ns.saturating_sub(lap.start_ns);
            // Waiting for a strand is caused by other programs, not by the kernel. A lap that waited for half of its time
            // or more is used as it is.
            let waited = lap.waited_ns().unwrap_or(0);
            (if waited < timed / 2 { timed - waited } else { timed }) as f64
        });
        let timed = timed.min_by(f64::total_cmp)?;
        let params = &order.params;
        let units = units(kernel, params);
        let all: u64 = laps().map(|lap| lap.end_ns.saturating_sub(lap.start_ns)).sum();
        // Only memory takes time in proportion; the rest of the wall time is the process's.
        let bytes = bytes_made(kernel, params) * makings(kernel, order.repetitions);
        let around = if bytes > 0.0 { (wall - all as f64).max(0.0) / bytes } else { 0.0 };
        Some(Rate { timed: timed / units, around })
    }
}

/// So many CPUs are in use by the services of an idle machine.
const OTHERS: f64 = 0.1;
/// Repetitions of a pilot: another process rarely disturbs three spans of 1 ms in a row.
const PILOTS: u64 = 3;
const PILOT_ITERATIONS: u64 = 200_000;
/// Pairs of times of a pilot: threads that are woken take some ten microseconds each.
const PILOT_SAMPLES: u64 = 50;
/// How long a repetition of a pilot lasts that runs by time.
const PILOT_SPAN: Duration = Duration::from_millis(1);
/// Block of a pilot: past the private caches of today's cores, and about 1 ms.
const PILOT_BYTES: u64 = 16 << 20;
/// A program whose first run takes no longer is run a second time, with one thread.
const QUICK: Duration = Duration::from_secs(2);
/// Order of the matrices of a pilot: a few milliseconds.
const PILOT_ORDER: u64 = 256;
/// What a repetition costs beside its timed span, with any kernel: gates and readings.
const REPETITION: Duration = Duration::from_micros(200);
/// What a worker costs: its thread, its seat.
const WORKER: Duration = Duration::from_micros(100);
/// Workers of a NUMA node from which on a memory kernel gains no more bandwidth: a share of its strands, as on the SPARC T3-4, where 24
/// workers take all that a package of 128 strands has, and at least four. Too low only overestimates the time.
const MEMORY_BOUND_SHARE: f64 = 0.2;
const MEMORY_BOUND_AT: f64 = 4.0;
/// How many times as long it takes to wake all workers where some of them wait for a strand: about this on two strands.
const TURNS: f64 = 4.0;
/// What an operation on a line costs more when another worker fights for it: about this much on two cores of Zen 4, and far
/// more on large machines. There such a run ends at its deadline, so a prediction must not use that factor.
const CONTENDED: f64 = 2.0;

impl Predictor {
    /// Runs each kernel small, with as few workers as it takes, with the pages and the layout of `like`: a single one floats, several take the
    /// first seats of `like`. A kernel that cannot run gets no rate; after `most` nor does any other, and amounts are to be small.
    pub fn pilot(kernels: &[&'static dyn Kernel], like: &MeasureRequest, most: Duration, invoke: &dyn Invoke) -> Self {
        let (begun, before) = (Instant::now(), Usage::read());
        let small = MeasureRequest {
            params: Params {
                iterations: PILOT_ITERATIONS,
                size_bytes: like.params.size_bytes.min(PILOT_BYTES),
                samples: PILOT_SAMPLES,
                span_ns: PILOT_SPAN.as_nanos() as u64,
                class: Class::S,
                order: PILOT_ORDER,
                depth: 1,
                // A mix takes several threads, as do processes of several.
                mix: Mix::ALONE,
                per_process: 1,
                ..like.params
            },
            repetitions: PILOTS,
            ..like.clone()
        };
        let pilot = |kernel: &str, workers: usize| MeasureRequest {
            kernel: kernel.into(),
            // Workers that meet and share a strand would take as long as the scheduler likes.
            seats: like.seats.get(..workers).filter(|_| workers > 1).map_or(vec![None; workers], <[_]>::to_vec),
            nodes: vec![None; workers],
            ..small.clone()
        };
        // The second process finds everything in the caches of the disk, as all later ones will.
        let base = (0..2).map(|_| {
            let start = Instant::now();
            invoke.invoke(&pilot("noop", 1), 0);
            start.elapsed()
        });
        let process = base.min().unwrap_or_default();
        // A program has a pilot of its own.
        let (mut rates, mut hurried) = (HashMap::new(), false);
        for kernel in kernels.iter().filter(|kernel| kernel.card().role != Role::Program) {
            let card = kernel.card();
            if begun.elapsed() >= most {
                hurried = true;
                break;
            }
            let rate = Rate::measure(*kernel, &pilot(&card.name, card.workers.min()), process, invoke);
            rates.extend(rate.map(|rate| (&*card.name, rate)));
        }
        let strands = usize::try_from(like.strands).unwrap_or(usize::MAX).max(1);
        let used = before.zip(Usage::read()).map(|(before, now)| now.since(before));
        // Where the system does not tell, the machine may be anybody's.
        let shared = cgroup::quota().is_some() || used.is_none_or(|used| used.by_others() > OTHERS);
        Predictor { process, rates, hurried, shared, ..Predictor::with_rates(strands, []) }
    }

    /// With the time of the program of this order, which is run once on all its seats and, where that is quick, on the first. Also the former run.
    pub fn with_program(mut self, order: &MeasureRequest, invoke: &dyn Invoke) -> (Self, Option<Invocation>) {
        let Some(program) = &order.program else { return (self, None) };
        let (strands, process) = (order.seats.len(), self.process);
        let mut run = |workers: usize, share: u64, untraced: bool| {
            let (seats, nodes) = (order.seats[..workers].to_vec(), vec![None; workers]);
            let (time_box_ns, deadline_ns) = (order.time_box_ns / share, order.deadline_ns / share);
            let order = MeasureRequest {
                kernel: COMMAND.into(),
                seats,
                nodes,
                time_box_ns,
                deadline_ns,
                untraced,
                ..order.clone()
            };
            let begun = Instant::now();
            let invocation = invoke.invoke(&order, 0);
            // With less time than its cell has, the end of that time says nothing of the cell.
            if share == 1 || invocation.ending != Ending::TimedOut {
                self.runs.push((order, invocation.clone()));
            }
            let took = begun.elapsed().saturating_sub(process);
            let (each, around) = ProgramTime::parts(program, &invocation.runs, took);
            (took, each, around, invocation)
        };
        let first = run(strands, 1, order.untraced);
        let is_free = program.follow.is_none() && stops::share(&first.3, program.in_copies()) > stops::LITTLE;
        let untraced = order.untraced || is_free;
        // One that nothing follows is what the others are.
        let (took, all, around, invocation) = if is_free { run(strands, 1, untraced) } else { first };
        let once_more = invocation.ending == Ending::Done && !program.in_copies() && strands > 1 && took <= QUICK;
        // Whatever keeps it from running with one thread shows in its cells; it may take many times as long.
        let alone = once_more.then(|| run(1, 4, untraced)).filter(|(.., invocation)| invocation.ending == Ending::Done);
        let time = ProgramTime::of(alone.map(|(_, each, ..)| each), all, strands, program.in_copies());
        let per_run = program.value != ProgramValue::Protocol;
        (Predictor { program: Some(ProgramTime { around, per_run, ..time }), untraced, ..self }, Some(invocation))
    }

    /// The run of the user's program that was what an invocation of this cell is, if there was one.
    pub fn run_of(&self, cell: &Cell) -> Option<&Invocation> {
        self.runs_of(cell).next_back()
    }

    /// The runs that the user's program had in this configuration: the first one, and where that stood still for charz for too long another one
    /// that nothing followed.
    pub fn runs_of<'a>(&'a self, cell: &Cell) -> impl DoubleEndedIterator<Item = &'a Invocation> + use<'a> {
        let same = |order: &MeasureRequest| {
            (&order.kernel, &order.mapping, &order.seats) == (&cell.kernel, &cell.mapping, &cell.seats)
        };
        let local = cell.point.memory.unwrap_or_default() == MemoryPolicy::Local;
        let of_it: Vec<bool> = self.runs.iter().map(|(order, _)| local && same(order)).collect();
        self.runs.iter().zip(of_it).filter(|(_, is_of_it)| *is_of_it).map(|((_, invocation), _)| invocation)
    }

    /// Whether nothing is to follow the user's program, as far as it does not say how: its first run stood still for charz for too long.
    pub fn is_untraced(&self) -> bool {
        self.untraced
    }

    /// The runs of the user's program that had the order of its very first run, each with it.
    pub fn first_runs(&self) -> impl Iterator<Item = (&MeasureRequest, &Invocation)> {
        let first = self.runs.first().map(|(order, _)| &order.seats);
        self.runs.iter().filter(move |(order, _)| Some(&order.seats) == first).map(|(order, run)| (order, run))
    }

    /// The same, with programs followed as they are by this one and by another, if both follow them, else by neither: numbers of programs that
    /// are followed in different ways are not comparable.
    #[must_use]
    pub fn following_as(self, other: &Self) -> Self {
        Predictor { untraced: self.untraced || other.untraced, ..self }
    }

    /// Whether too little is known of how long kernels take for more than small amounts.
    pub fn is_hurried(&self) -> bool {
        self.hurried
    }

    /// Whether other programs were at work while the pilots ran, or a quota may stop what is measured.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The same rates beside other programs.
    #[cfg(test)]
    pub(crate) fn beside_others(self) -> Self {
        Predictor { shared: true, ..self }
    }

    /// The same rates on a machine of which so many strands can be used.
    pub fn on(self, machine: &Machine, strands: usize) -> Self {
        let nodes = machine.usable_strands().filter_map(|strand| Some((strand.os_id, strand.numa?)));
        let nodes: HashMap<u32, u32> = nodes.collect();
        let mut node_sizes = HashMap::new();
        nodes.values().for_each(|node| *node_sizes.entry(*node).or_default() += 1);
        Predictor { strands: strands.max(1), nodes, node_sizes, ..self }
    }

    /// Of a processor like today's, without a pilot: a step takes 2 ns, a pair of times 20 µs, a byte of memory 0.1 ns, and 0.5 ns to
    /// be touched.
    pub fn assumed(kernels: &[&'static dyn Kernel]) -> Self {
        let rate = |kernel: &&'static dyn Kernel| {
            let card = kernel.card();
            let timed = match card {
                _ if card.obeys(&params::SPAN) => 1.0,
                _ if card.obeys(&params::SAMPLES) => 20_000.0,
                _ if card.obeys(&params::STEPS) => 2.0,
                _ if card.obeys(&params::SIZE) => 0.1,
                _ => 1.0,
            };
            (&*card.name, timed, 0.5)
        };
        Predictor { process: Duration::from_millis(10), ..Predictor::with_rates(1, kernels.iter().map(rate)) }
    }

    /// A predictor with known rates: name, nanoseconds per unit within and around the timed span.
    pub fn with_rates(strands: usize, rates: impl IntoIterator<Item = (&'static str, f64, f64)>) -> Self {
        let rates = rates.into_iter().map(|(name, timed, around)| (name, Rate { timed, around })).collect();
        let (strands, process) = (strands.max(1), Duration::ZERO);
        let (nodes, node_sizes) = (HashMap::new(), HashMap::new());
        Predictor {
            strands,
            nodes,
            node_sizes,
            process,
            rates,
            program: None,
            runs: Vec::new(),
            untraced: false,
            hurried: false,
            shared: false,
        }
    }

    pub fn invocation(
        &self,
        kernel: &dyn Kernel,
        params: &Params,
        seats: &[Option<u32>],
        repetitions: usize,
    ) -> Duration {
        let workers = seats.len();
        if let Some(program) = self.program.filter(|_| kernel.card().role == Role::Program) {
            let runs = u32::try_from(repetitions).unwrap_or(u32::MAX);
            let around = program.around * if program.per_run { runs } else { 1 };
            return self.process + around + (program.with(workers, self.strands) + REPETITION) * runs;
        }
        let rate = self.rates.get(&*kernel.card().name).copied().unwrap_or_default();
        // Strands are shared when there are too few of them; so is the memory of a node.
        let crowd = (workers as f64 / self.strands as f64).max(1.0);
        let largest = || self.node_sizes.values().copied().max().unwrap_or(self.strands);
        let bound = || (largest() as f64 * MEMORY_BOUND_SHARE).max(MEMORY_BOUND_AT);
        let (card, least) = (kernel.card(), kernel.card().workers.min());
        let sharing = match card.family {
            // The time is given.
            _ if card.obeys(&params::SPAN) => 1.0,
            // Each sample waits for all workers.
            _ if card.obeys(&params::SAMPLES) => {
                let turns = if workers > self.strands { TURNS } else { 1.0 };
                workers as f64 / least as f64 * turns
            }
            Family::Memory => (self.on_busiest_node(seats) as f64 / bound()).max(crowd),
            // Workers share the iterations, and take turns at the line: how many they are matters little.
            Family::Sync if workers > least => CONTENDED,
            Family::Sync => 1.0,
            // The problem grows with the workers that share it.
            Family::Workload if card.shares_work => crowd,
            // Workers share the problem.
            Family::Workload => crowd / workers as f64,
            Family::Compute | Family::Timer | Family::Program | Family::Floor => crowd,
        };
        let nanos = |amount: f64| Duration::from_nanos(amount.min(u64::MAX as f64) as u64);
        // What touches memory spends more time in page faults than the memory takes.
        let blocks = nanos(bytes_made(kernel, params) * crowd * rate.around * makings(kernel, repetitions as u64));
        let around = blocks + self.process + WORKER * u32::try_from(workers).unwrap_or(u32::MAX);
        let timed = nanos(units(kernel, params) * sharing * rate.timed) + REPETITION;
        // Kernels that run in a warm process run for a given time, with however many workers.
        let runs = 1 + card.runs_before(params, workers).count();
        around + timed * u32::try_from(repetitions.saturating_mul(runs)).unwrap_or(u32::MAX)
    }

    /// How many of these workers are on the node with the most of them; those that float spread over all nodes.
    fn on_busiest_node(&self, seats: &[Option<u32>]) -> usize {
        let mut workers: HashMap<u32, usize> = HashMap::new();
        for node in seats.iter().flatten().filter_map(|seat| self.nodes.get(seat)) {
            *workers.entry(*node).or_default() += 1;
        }
        let floating = seats.len() - workers.values().sum::<usize>();
        workers.into_values().max().unwrap_or(0) + floating.div_ceil(self.node_sizes.len().max(1))
    }

    /// The steps with which a worker's repetition of the fastest of these kernels takes about `span`, at least 1; of kernels
    /// that have no steps nothing is asked.
    pub fn iterations(&self, kernels: &[&'static dyn Kernel], span: Duration) -> u64 {
        kernels.iter().filter_map(|kernel| self.steps(kernel.card(), span)).max().unwrap_or(1)
    }

    /// The steps with which a worker's repetition of a kernel takes about `span`, at least 1; `None` of a kernel that has no steps, or of which
    /// no rate is known.
    pub fn steps(&self, card: &Card, span: Duration) -> Option<u64> {
        let rate = self.rates.get(&*card.name).filter(|rate| card.obeys(&params::STEPS) && rate.timed > 0.0)?;
        Some(((span.as_nanos() as f64 / rate.timed) as u64).max(1))
    }
}

/// The memory that a worker makes around the timed spans: its block, or its problem.
fn bytes_made(kernel: &dyn Kernel, params: &Params) -> f64 {
    match kernel.operations(params) {
        Some(_) => kernel.footprint(params).0 as f64,
        None if kernel.card().obeys(&params::SIZE) => params.size_bytes as f64,
        None => 0.0,
    }
}

fn units(kernel: &dyn Kernel, params: &Params) -> f64 {
    let card = kernel.card();
    if let Some(operations) = kernel.operations(params) {
        operations
    } else if card.obeys(&params::SPAN) {
        params.span_ns as f64
    } else if card.obeys(&params::SAMPLES) {
        params.samples as f64
    } else if card.obeys(&params::STEPS) {
        params.iterations as f64
    } else if card.obeys(&params::SIZE) {
        params.size_bytes as f64
    } else if card.obeys(&params::ORDER) {
        (params.order as f64).powi(3)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests;
