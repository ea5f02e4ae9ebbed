//! `charz audit`: runs the rounds of an audit on this machine.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use charz_kernels::{Kernel, Params};
use charz_system::file::{self, word};
use charz_topology::{Backend, Machine, machine_xml};

use super::sweep::{ClockKind, MeasuringContext};
use crate::exit::{Error, Exit};
use crate::view::audit::{Affinity, Format, Page, doubt};
use crate::view::present;
use crate::view::progress::note;
use charz_audit::{self as audit, Evidence, Figure, Kind, Lab, Probe, Reason, Relation, Round, Verdict};
use charz_claims::card::{OffNominal, SAME_CLOCK};
use charz_data::escape::counted;
use charz_data::report::{Invocation, Lap, Run};
use charz_data::units;
use charz_data::{Arrange, PageKind};
use charz_measure::atomic_file;
use charz_measure::harness::clock::{self, Stamps};
use charz_measure::invoke::{Invoke, MeasureRequest, Processes, unit};
use charz_measure::limits::Limits;
use charz_measure::moment::rfc3339;
use charz_measure::plan::BlockSizes;

pub struct Options {
    /// `None` follows from the number of strands.
    pub budget: Option<Duration>,
    pub write: Option<PathBuf>,
    pub force: bool,
    pub seed: Option<u64>,
    pub wait: bool,
    pub verbose: bool,
    pub format: &'static Format,
}

/// The budget of a machine of up to [`SMALL`] strands, and of a larger one.
const BUDGET: Duration = Duration::from_secs(60);
const LARGE_BUDGET: Duration = Duration::from_secs(300);
const SMALL: usize = 64;

pub(super) fn run(options: &Options, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = options.write.as_deref();
    // What cannot be written in the end is refused before minutes are spent.
    if let Some(file) = file {
        if file.parent().is_some_and(|folder| !(folder.as_os_str().is_empty() || folder.is_dir())) {
            return Err(Error::bad_input(format!("--write: the folder of {file:?} does not exist; create it first")));
        }
        match file.symlink_metadata() {
            Ok(found) if found.is_dir() => {
                return Err(Error::bad_input(format!("--write: {file:?} is a folder; name a file")));
            }
            Ok(_) if !options.force => {
                return Err(Error::bad_input(format!(
                    "--write: {file:?} exists; name another file, or replace it with --force"
                )));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot_write(file, error)),
            _ => {}
        }
        atomic_file::temporary(file, 0o600).map_err(|error| cannot_write(file, error))?;
    }
    let context = MeasuringContext::set(ClockKind::Auto, Backend::Hwloc, options.wait, false)?;
    let machine = &context.machine;
    let strands = machine.usable_strands().count();
    let budget = options.budget.unwrap_or(if strands > SMALL { LARGE_BUDGET } else { BUDGET });
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    let most = units::duration(budget);
    note(&format!("auditing {}, at most {most}; ^C keeps what is known", counted(strands, "CPU")));
    let mut lab = ThisMachine::new(&context, budget, seed);
    let mut audit = audit::audit(machine, seed, &mut lab);
    audit.relations.extend([lab.clock_relation(), lab.counter_relation()]);
    let affinity = lab.affinity();
    let contradicted = audit.relations.iter().any(|relation| relation.verdict == Verdict::Contradicted);
    audit.machine.doubts.extend(audit.relations.iter().filter_map(doubt));
    let host = word("/proc/sys/kernel/hostname").unwrap_or_else(|| "this machine".to_owned());
    let moment = rfc3339(SystemTime::now());
    let of = format!("{host}, {} UTC", moment.get(..16).unwrap_or_default().replace('T', " "));
    let page = Page { machine, audit: &audit, affinity, seed, of, verbose: options.verbose };
    let told = present(options.format, &page, out);
    if let Some(file) = file {
        write(file, &audit.machine, options.force)?;
        note(&format!("the machine as measured is in {file:?}; charz map --topology reads it"));
    }
    told?;
    Ok(match context.signals.received() {
        Some((exit, _)) => exit,
        None if contradicted => Exit::Regression,
        None => Exit::Done,
    })
}

fn write(file: &Path, machine: &Machine, force: bool) -> Result<(), Error> {
    let text = machine_xml(machine)?;
    let fill = |out: &mut dyn Write| out.write_all(text.as_bytes());
    let written = if force { atomic_file::replace(file, fill) } else { atomic_file::create(file, fill) };
    written.map_err(|error| cannot_write(file, error))
}

fn cannot_write(file: &Path, error: io::Error) -> Error {
    Error::ended(Exit::of_path(&error), format!("--write: cannot write {file:?}")).caused_by(error)
}

/// How long a repetition of a loop lasts.
const SPAN: Duration = Duration::from_millis(6);
/// Repetitions of a round: the one in the middle of those that are clean counts.
const REPETITIONS: u64 = 3;
/// Repetitions of a transfer, of which the fastest counts.
const TRANSFERS: u64 = 15;
/// Iterations of a transfer: 20,000 ways of the line, about 1 ms.
const TRANSFER_ITERATIONS: u64 = 256 * 20_000;
/// Iterations of a pilot of arithmetic, of well under a millisecond.
const PILOT_ITERATIONS: u64 = 20_000;
/// So many undisturbed blocks of a lap stand for all of it, even if its worker had to wait for its strand.
const BLOCKS: usize = 9;
/// The least of a block past all caches.
const MEMORY: u64 = 64 << 20;
/// How long a process may take that measures a round, beside the making of its block, which takes some nanoseconds a byte at most.
const DEADLINE: Duration = Duration::from_secs(5);
const NANOS_PER_BYTE: u64 = 5;
/// A budget holds no round that would begin so close to its end.
const LAST: Duration = Duration::from_millis(200);

/// A block that no cache holds, as far as the memory has one for each node.
fn past_caches(machine: &Machine, memory: Option<u64>) -> u64 {
    let wanted = BlockSizes::of(machine).memory(MEMORY).max(MEMORY);
    let most = memory.map_or(u64::MAX, |memory| memory / machine.numa_nodes.len().max(1) as u64).max(MEMORY);
    if wanted > most && machine.numa_nodes.len() > 1 {
        let (wanted, most) = (units::iec(wanted), units::iec(most));
        note(&format!(
            "blocks of memory take {most} instead of {wanted}, as the free memory allows: caches may hold much of them"
        ));
    }
    wanted.min(most)
}

/// The lab of an audit of the machine that charz runs on.
struct ThisMachine<'a> {
    context: &'a MeasuringContext,
    processes: Processes<'a>,
    budget: Duration,
    seed: u64,
    rounds: u64,
    /// A block past all caches.
    memory: u64,
    pages: PageKind,
    /// The iterations of each arithmetic kernel that take [`SPAN`].
    iterations: Vec<(&'static str, u64)>,
    /// The lowest and the highest clock of the cores in rounds of a dependent chain.
    clocks: Option<[f64; 2]>,
    noted: Instant,
}

impl<'a> ThisMachine<'a> {
    fn new(context: &'a MeasuringContext, budget: Duration, seed: u64) -> Self {
        let (processes, noted) = (context.processes(), Instant::now());
        let (rounds, iterations) = (0, Vec::new());
        let limits = Limits::read();
        let (memory, pages) = (past_caches(&context.machine, limits.memory_budget_bytes), limits.usual_pages());
        ThisMachine { context, processes, budget, seed, rounds, memory, pages, iterations, clocks: None, noted }
    }

    fn is_over(&self) -> bool {
        self.context.signals.stop().raised() || self.context.left(self.budget) < LAST
    }

    /// The kernel of a probe, and its parameters.
    fn load(&mut self, probe: Probe, first: u32) -> Option<(&'static dyn Kernel, Params)> {
        let small = Params { span_ns: SPAN.as_nanos() as u64, pages: self.pages, ..Params::SMALL };
        let (name, params) = match probe {
            Probe::Integer => ("arith-int-ilp", small),
            Probe::Float => ("arith-float-ilp", small),
            Probe::Chain => ("arith-int", small),
            Probe::Loads => ("level-read", Params { size_bytes: self.first_level() / 2, ..small }),
            Probe::Cache(bytes) => ("level-read", Params { size_bytes: bytes, ..small }),
            Probe::Transfer => ("c2c-cas", Params { iterations: TRANSFER_ITERATIONS, ..small }),
            Probe::Memory => ("chase-random", Params { size_bytes: self.memory, ..small }),
        };
        let kernel = charz_workloads::find(name)?;
        let params = match probe {
            Probe::Integer | Probe::Float | Probe::Chain => {
                Params { iterations: self.iterations_of(name, kernel, first), ..params }
            }
            _ => params,
        };
        Some((kernel, params))
    }

    fn first_level(&self) -> u64 {
        let machine = &self.context.machine;
        let sizes = machine.usable_strands().filter_map(|strand| machine.cache_sizes(strand).first().copied());
        sizes.min().unwrap_or(16 << 10)
    }

    /// The iterations of a kernel that take [`SPAN`] on this strand.
    fn iterations_of(&mut self, name: &'static str, kernel: &dyn Kernel, strand: u32) -> u64 {
        if let Some((_, known)) = self.iterations.iter().find(|(known, _)| *known == name) {
            return *known;
        }
        let order = MeasureRequest {
            kernel: kernel.card().name.to_string(),
            seats: vec![Some(strand)],
            nodes: vec![None],
            repetitions: TRANSFERS,
            ..self.context.order(&Params { iterations: PILOT_ITERATIONS, ..Params::SMALL })
        };
        let runs = self.processes.invoke(&order, self.seed).runs;
        // The fastest: what disturbs makes it slower only.
        let fastest = runs.iter().map(|run| run.interval_ns.max(1)).min().unwrap_or(SPAN.as_nanos() as u64);
        let fitting = u128::from(PILOT_ITERATIONS) * SPAN.as_nanos() / u128::from(fastest);
        let fitting = u64::try_from(fitting).unwrap_or(PILOT_ITERATIONS).clamp(PILOT_ITERATIONS, 1 << 32);
        self.iterations.push((name, fitting));
        fitting
    }

    fn invoke(&mut self, round: &Round) -> Option<(&'static dyn Kernel, Invocation)> {
        let (kernel, params) = self.load(round.probe, *round.strands.first()?)?;
        self.rounds += 1;
        let time = DEADLINE.as_nanos() as u64 + NANOS_PER_BYTE * params.size_bytes;
        let order = MeasureRequest {
            kernel: kernel.card().name.to_string(),
            seats: round.strands.iter().copied().map(Some).collect(),
            nodes: vec![None; round.strands.len()],
            homes: round.nodes.iter().map(|node| vec![*node]).collect(),
            repetitions: if round.probe == Probe::Transfer { TRANSFERS } else { REPETITIONS },
            separate_laps: true,
            time_box_ns: time,
            deadline_ns: time,
            ..self.context.order(&params)
        };
        Some((kernel, self.processes.invoke(&order, self.seed.wrapping_add(self.rounds))))
    }

    fn note_clock(&mut self, invocation: &Invocation) {
        let frequency = invocation.evidence.as_ref().and_then(|evidence| evidence.frequency);
        if let Some(seen) = frequency {
            let [low, high] = self.clocks.unwrap_or([f64::INFINITY, 0.0]);
            self.clocks = Some([low.min(seen.before_hz.min(seen.after_hz)), high.max(seen.highest_hz)]);
        }
    }

    /// The measured clock against what the system claims.
    fn clock_relation(&self) -> Relation {
        let strands = || self.context.machine.usable_strands().map(|strand| strand.os_id);
        let range = claimed_range(Path::new("/sys/devices/system/cpu"), strands());
        let nominal = clock::claimed_hz();
        let mut figures = Vec::new();
        let mut figure =
            |name: &'static str, value: Option<f64>| figures.extend(value.map(|hz| Figure::new(name, hz, "Hz")));
        figure("lowest", self.clocks.map(|[low, _]| low));
        figure("highest", self.clocks.map(|[_, high]| high));
        figure("claimed_min", range.map(|[min, _]| min));
        figure("claimed_max", range.map(|[_, max]| max));
        figure("nominal", nominal);
        let (measured, reason) = match (self.clocks, range, nominal) {
            (None, ..) => (None, Some(Reason::NoClock)),
            (Some([_, high]), Some([min, max]), _) => {
                let within = high >= min * (1.0 - SAME_CLOCK) && high <= max * (1.0 + SAME_CLOCK);
                (within.then_some(true), (!within).then_some(Reason::OutsideRange))
            }
            (Some([_, high]), None, Some(nominal)) => match OffNominal::of(high, nominal) {
                None => (Some(true), None),
                Some(off) => (None, Some(Reason::OffNominal(charz_words::card::off_nominal(off)))),
            },
            (Some(_), None, None) => (None, Some(Reason::NoClaimedClock)),
        };
        let verdict = if measured.is_some() { Verdict::Confirmed } else { Verdict::Inconclusive };
        let evidence = Evidence { claimed: Some(true), measured, figures, reason, ..Evidence::default() };
        Relation { kind: Kind::Clock, a: Some(strands().next().unwrap_or(0)), b: None, verdict, evidence }
    }

    /// What offsets of time-stamp counters say of packages, as in the TACC report on multi-core systems: nothing where they agree.
    fn counter_relation(&self) -> Relation {
        let counter = matches!(self.context.order(&Params::SMALL).stamps, Stamps::Tsc { .. });
        let bound = self.context.timer.skew_ns.filter(|_| counter);
        let reason = bound.map_or(Reason::NoCounters, Reason::CountersAgree);
        let figures = bound.map(|bound| Figure::new("largest_offset", bound as f64, "ns")).into_iter().collect();
        let evidence = Evidence { figures, reason: Some(reason), ..Evidence::default() };
        Relation { kind: Kind::Tsc, a: None, b: None, verdict: Verdict::Inconclusive, evidence }
    }

    /// How often the system moves threads that are free to move, and how often those that are bound: half as many as strands.
    fn affinity(&mut self) -> Option<Affinity> {
        let strands: Vec<u32> = self.context.machine.usable_strands().map(|strand| strand.os_id).collect();
        let workers = strands.len().div_ceil(2);
        let mut migrations = |seats: Vec<Option<u32>>| {
            if self.is_over() {
                return None;
            }
            let (kernel, params) = self.load(Probe::Chain, strands[0])?;
            let order = MeasureRequest {
                kernel: kernel.card().name.to_string(),
                nodes: vec![None; seats.len()],
                seats,
                repetitions: 4 * REPETITIONS,
                deadline_ns: DEADLINE.as_nanos() as u64,
                time_box_ns: DEADLINE.as_nanos() as u64,
                ..self.context.order(&params)
            };
            let runs = self.processes.invoke(&order, self.seed).runs;
            let laps = runs.iter().flat_map(|run| &run.laps);
            laps.map(|lap| lap.counts.migrations).sum::<Option<u64>>().filter(|_| !runs.is_empty())
        };
        let free = migrations(vec![None; workers])?;
        let bound = migrations(strands.iter().take(workers).copied().map(Some).collect())?;
        Some(Affinity { workers: workers as u64, free, bound })
    }
}

impl Lab for ThisMachine<'_> {
    fn measure(&mut self, round: &Round) -> Option<Vec<Option<f64>>> {
        /// How often progress is reported.
        const EVERY: Duration = Duration::from_secs(10);
        if self.is_over() {
            return None;
        }
        if self.noted.elapsed() > EVERY {
            self.noted = Instant::now();
            let left = units::duration(self.context.left(self.budget));
            note(&format!("{} rounds, now {}; at most {left} left", self.rounds, round.probe.name()));
        }
        let Some((kernel, invocation)) = self.invoke(round) else { return Some(vec![None; round.strands.len()]) };
        if self.context.signals.stop().raised() {
            return None;
        }
        if round.probe == Probe::Chain {
            self.note_clock(&invocation);
        }
        let runs = &invocation.runs;
        Some(match round.probe {
            Probe::Transfer => {
                let clean = runs.iter().filter(|run| run.laps.iter().all(is_clean));
                let fastest = clean.map(|run| run.value(unit(kernel, None))).min_by(f64::total_cmp);
                vec![fastest; round.strands.len()]
            }
            Probe::Memory => (0..round.strands.len()).map(|rank| of_laps(runs, rank, time)).collect(),
            _ => (0..round.strands.len()).map(|rank| of_laps(runs, rank, time).map(|nanos| 1e9 / nanos)).collect(),
        })
    }
}

/// The middle of what a worker's repetitions show, those left out that show nothing.
fn of_laps(runs: &[Run], rank: usize, of: fn(&Lap) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = runs.iter().filter_map(|run| of(run.laps.get(rank)?)).collect();
    values.arrange_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// Nanoseconds of an operation or byte: of the middle block while all workers were at work; of a clean lap without blocks, of all of it.
fn time(lap: &Lap) -> Option<f64> {
    if lap.off_seat() || lap.moved() {
        return None;
    }
    let blocks = lap.blocks.as_ref().filter(|blocks| blocks.times.len() >= BLOCKS);
    if let Some(blocks) = blocks {
        return blocks.times.get(blocks.times.len() / 2).copied();
    }
    let work = if lap.bytes > 0 { lap.bytes } else { lap.ops };
    (is_clean(lap) && work > 0).then(|| lap.time_ns() as f64 / work as f64)
}

/// Whether a worker was on its seat all the time, and was not disturbed.
fn is_clean(lap: &Lap) -> bool {
    !(lap.off_seat() || lap.moved() || lap.waited() || lap.stood_still() || lap.faulted())
}

/// The lowest and the highest clock of all of these strands that cpufreq claims, in Hz: a big core's is not that of a little one.
fn claimed_range(cpus: &Path, strands: impl Iterator<Item = u32>) -> Option<[f64; 2]> {
    let ranges = strands.filter_map(|strand| {
        let hz = |name: &str| Some(file::number::<f64>(cpus.join(format!("cpu{strand}/cpufreq/{name}")))? * 1e3);
        Some([hz("cpuinfo_min_freq")?, hz("cpuinfo_max_freq")?])
    });
    ranges.reduce(|[min, max], [low, high]| [min.min(low), max.max(high)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_topology::{Source, discover};

    #[test]
    fn the_range_of_clocks_is_that_of_little_and_big_cores() {
        let folder = tempfile::tempdir().unwrap();
        for (strand, [min, max]) in [[600_000, 1_800_000], [800_000, 2_400_000]].iter().enumerate() {
            let place = folder.path().join(format!("cpu{strand}/cpufreq"));
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join("cpuinfo_min_freq"), format!("{min}\n")).unwrap();
            std::fs::write(place.join("cpuinfo_max_freq"), format!("{max}\n")).unwrap();
        }
        assert_eq!(claimed_range(folder.path(), 0..3), Some([6e8, 2.4e9]));
        assert_eq!(claimed_range(folder.path(), 2..3), None);
    }

    #[test]
    fn a_block_of_memory_is_past_the_last_cache_of_the_machine() {
        for (cache, memory, expected) in [("2MiB", None, 64), ("96MiB", None, 384), ("96MiB", Some(512), 256)] {
            let description = format!("Package:2 [NUMA(memory=256GB)] L3:2(size={cache}) Core:8 PU:1");
            let machine = discover(&Source::Synthetic(description)).unwrap();
            assert_eq!(past_caches(&machine, memory.map(|mib: u64| mib << 20)), expected << 20, "{cache}");
        }
    }
}
