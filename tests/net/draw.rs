//! Reports that code draws: machines, what ran on them, and what happened meanwhile. All follow from their names.

use std::collections::HashMap;

use charz_data::machine::{Info, Kind, Machine};
use charz_data::report::{
    Busy, Cell, Contention, Culprit, CulpritKind, Ending, Evidence, Frequency, HardwareCount, HardwareCounts,
    Invocation, JointHistogram, Lap, Nodes, Pages, Report, Run, Unit, fixtures,
};
use charz_data::{Better, COMMAND, Growth, GrowthStep, Halt, Program, ProgramValue, ReportedUnit, Role};
use charz_measure::fixtures::{Setting, request};
use charz_measure::sweep::judge_report;
use fastrand::Rng;

pub struct Drawn {
    pub name: String,
    pub report: Report,
}

/// Names of machines, and their descriptions.
const MACHINES: [(&str, &str); 13] = [
    ("one-cpu", "Package:1 [NUMA(memory=2GB)] L3:1(size=4MiB) L2:1(size=1MiB) L1:1(size=32KiB) Core:1 PU:1"),
    ("guest-2", "Package:1 [NUMA(memory=8GB)] L3:1(size=32MiB) L2:2(size=1MiB) L1:1(size=32KiB) Core:1 PU:1"),
    ("one-core-2", "Package:1 [NUMA(memory=8GB)] L3:1(size=4MiB) L2:1(size=1MiB) L1:1(size=32KiB) Core:1 PU:2"),
    ("laptop-8", "Package:1 [NUMA(memory=16GB)] L3:1(size=8MiB) L2:4(size=1MiB) L1:1(size=32KiB) Core:1 PU:2"),
    ("plain-8", "Package:1 [NUMA(memory=32GB)] L3:1(size=16MiB) L2:8(size=1MiB) L1:1(size=32KiB) Core:1 PU:1"),
    ("hybrid-12", "Package:1 [NUMA(memory=32GB)] L3:1(size=24MiB) L2:12(size=1MiB) L1:1(size=32KiB) Core:1 PU:1"),
    ("chiplets-16", "Package:1 [NUMA(memory=64GB)] L3:2(size=32MiB) L2:8(size=1MiB) L1:1(size=32KiB) Core:1 PU:1"),
    ("nodes-32", "Package:2 [NUMA(memory=64GB)] L3:1(size=32MiB) L2:8(size=1MiB) L1:1(size=32KiB) Core:1 PU:2"),
    ("nodes-64", "Package:2 NUMA:2(memory=64GB) L3:1(size=32MiB) L2:16(size=1MiB) L1:1(size=32KiB) Core:1 PU:1"),
    ("arm-80", "Package:1 [NUMA(memory=128GB)] L2:80(size=1MiB) L1:1(size=64KiB) Core:1 PU:1"),
    ("server-128", "Package:2 [NUMA(memory=256GB)] L3:8(size=32MiB) L2:4(size=1MiB) L1:1(size=32KiB) Core:1 PU:2"),
    ("groups-256", "Package:4 [NUMA(memory=128GB)] L2:8(size=2MiB) L1:1(size=8KiB) Core:1 Group:2 PU:4"),
    ("large-512", "Package:4 [NUMA(memory=512GB)] L3:8(size=32MiB) L2:8(size=1MiB) L1:1(size=32KiB) Core:1 PU:2"),
];

/// What ran: a name, kernels, mappings, and the numbers of threads as parts of the machine's CPUs.
const SWEEPS: [(&str, &[&str], &str, &[f64]); 10] = [
    ("default", &["arith-int", "arith-float", "mem-read", "mem-write-data"], "round-robin,auto", &[0.0, 0.5, 1.0]),
    ("mappings", &["arith-int"], "dumb,round-robin,one-per-core,auto", &[0.5, 1.0]),
    ("memory", &["mem-read", "mem-copy", "chase-random"], "dumb,round-robin", &[0.0, 0.25, 0.5, 1.0]),
    ("locks", &["lock-std", "cas-counter", "pool-std"], "round-robin", &[0.0, 0.5, 1.0]),
    ("waits", &["signal-std", "flag", "channel-std"], "dumb,round-robin", &[0.0]),
    ("lines", &["c2c-read-write"], "dumb", &[0.0]),
    ("program", &[COMMAND], "dumb,round-robin,auto", &[0.0, 0.5, 1.0]),
    ("caches", &["cache-read", "chase-random"], "dumb", &[0.0, 1.0]),
    ("curve", &["arith-int", "mem-read"], "round-robin", &[0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ("divided", &["fft-mutex", "fft-rayon"], "auto", &[0.5, 1.0]),
];

/// What happened: a name, and what it made of a report that nothing disturbed.
type Event = (&'static str, fn(&mut Report, &mut Rng));

const EVENTS: [Event; 17] = [
    ("quiet", |_, _| {}),
    ("noisy", |report, rng| spread(report, rng, 0.06)),
    ("wild", |report, rng| spread(report, rng, 0.5)),
    ("two-speeds", |report, rng| {
        each_run(report, |run| {
            if rng.u8(..5) < 2 {
                slow(run, 1.4)
            }
        });
    }),
    ("few-runs", |report, _| report.cells.iter_mut().for_each(|cell| cell.invocations.truncate(3))),
    ("busy", busy),
    ("shared", |report, rng| {
        busy(report, rng);
        each_lap(report, |lap| {
            let waited = (lap.end_ns - lap.start_ns) / 3;
            lap.wait(waited);
        });
    }),
    ("quota", |report, _| {
        let cpus = report.machine.strands.len() as f64;
        report.machine.usable.quota_cpus = Some((0.4 * cpus).max(0.5));
        report.host.cpu_quota = report.machine.usable.quota_cpus.map(|cpus| cpus.to_string());
        each_iteration(report, |run| run.throttled_periods = Some(3));
    }),
    ("moved", |report, rng| {
        report.host.virtual_machine = Some(true);
        each_run(report, |run| {
            let far = rng.bool();
            if let Some(evidence) = &mut run.evidence {
                evidence.apart_ns = Some(if far { 160.0 } else { 55.0 });
            }
            if far {
                slow(run, 1.2);
            }
        });
    }),
    ("stolen", |report, _| {
        report.host.virtual_machine = Some(true);
        each_iteration(report, |run| run.steal_ns = Some(run.span().0 / 8));
    }),
    ("clock", |report, _| {
        let mut at = 0;
        each_run(report, |run| {
            at += 1;
            let slower = 1.0 + 0.04 * f64::from(at % 4);
            slow(run, slower);
            if let Some(clock) = run.evidence.as_mut().and_then(|evidence| evidence.frequency.as_mut()) {
                (clock.before_hz, clock.after_hz) = (clock.before_hz / slower, clock.after_hz / slower);
                clock.highest_hz /= slower;
            }
        });
    }),
    ("failed", |report, rng| {
        for cell in &mut report.cells {
            let (fails, ending) = (rng.u8(..3), if rng.bool() { Ending::Died } else { Ending::TimedOut });
            for run in cell.invocations.iter_mut().step_by(if fails == 0 { 1 } else { 3 * usize::from(fails) }) {
                (run.ending, run.reason, run.evidence, run.runs) =
                    (ending, Some("killed by signal 11 (SIGSEGV)".into()), None, Vec::new());
            }
        }
    }),
    ("incomplete", |report, rng| {
        report.cells.iter_mut().for_each(|cell| cell.invocations.truncate(rng.usize(..5)));
        (report.complete, report.stopped_by) = (false, Some("budget".into()));
    }),
    ("too-large", |report, _| {
        for cell in report.cells.iter_mut().rev().step_by(2) {
            cell.invocations.clear();
            cell.skipped = Some("its 96.0 GiB exceed the 64.0 GiB that are available".into());
        }
    }),
    ("unseen", |report, _| {
        each_lap(report, |lap| {
            lap.counts = Default::default();
            (lap.strays, lap.on_seat) = (None, None);
        });
        each_run(report, |run| run.evidence = Some(Evidence::default()));
    }),
    ("counted", |report, _| {
        report.plan.counters = true;
        for cell in &mut report.cells {
            cell.counted = cell.invocations.iter().take(3).cloned().collect();
            for lap in cell.counted.iter_mut().flat_map(|run| &mut run.runs).flat_map(|run| &mut run.laps) {
                let time = lap.end_ns - lap.start_ns;
                let count = |count| Some(HardwareCount { count, enabled_ns: time, running_ns: time });
                let counts = HardwareCounts {
                    cycles: count(3 * time),
                    instructions: count(5 * time),
                    branches: count(time),
                    branch_misses: count(time / 500),
                    ..HardwareCounts::default()
                };
                lap.hardware = Some(Box::new(counts));
            }
            cell.counted.iter_mut().zip(1..).for_each(|(run, at)| run.started_ns += 7 * at);
        }
    }),
    ("unoptimised", |report, _| report.tool.profile = "debug opt-level=0".into()),
];

/// Every machine with every sweep, each time with another event.
pub fn drawn() -> Vec<Drawn> {
    let of = |at: usize| {
        let (machine, round) = (at % MACHINES.len(), at / MACHINES.len());
        let (sweep, event) = ((3 * machine + round) % SWEEPS.len(), (5 * machine + 7 * round) % EVENTS.len());
        draw(MACHINES[machine].0, SWEEPS[sweep].0, EVENTS[event].0)
    };
    (0..156).map(of).collect()
}

/// The most cells of a kernel.
const MOST_OF_A_KERNEL: usize = 24;

/// The report of a machine, a sweep and an event.
pub fn draw(machine: &str, sweep: &str, event: &str) -> Drawn {
    let name = format!("{machine}-{sweep}-{event}");
    let seed = name.bytes().fold(1_u64, |hash, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
    let mut rng = Rng::with_seed(seed);
    let mut report = undisturbed(machine, sweep, &mut rng);
    let (_, happen) = EVENTS.iter().find(|(name, _)| *name == event).unwrap();
    happen(&mut report, &mut rng);
    report.id = format!("{seed:032x}");
    report.complete_cells();
    judge_report(&mut report);
    Drawn { name, report }
}

fn undisturbed(machine: &str, sweep: &str, rng: &mut Rng) -> Report {
    let (_, description) = MACHINES.iter().find(|(name, _)| *name == machine).unwrap();
    let (_, kernels, mappings, parts) = SWEEPS.iter().find(|(name, ..)| *name == sweep).unwrap();
    let program = ReportedUnit::new("MB/s", Better::Higher).unwrap();
    let program = Program::new("./bench {threads}", ProgramValue::Last, program);
    let is_program = kernels.contains(&COMMAND);
    let cpus = charz_topology::discover(&charz_topology::Source::Synthetic((*description).into())).unwrap();
    let cpus = cpus.strands.len() as f64;
    let mut threads: Vec<usize> = parts.iter().map(|part| ((part * cpus) as usize).max(1)).collect();
    if ["waits", "lines"].contains(&sweep) {
        threads = vec![2.min(cpus as usize)];
    }
    threads.dedup();
    let threads = threads.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let names: Vec<&str> = kernels.iter().map(|kernel| if is_program { "arith-int" } else { kernel }).collect();
    let mut wanted = request(&names, mappings, &threads);
    if is_program {
        (wanted.kernels, wanted.program) = (vec![charz_measure::user_program::find(COMMAND).unwrap()], Some(program));
    }
    wanted.params.size_bytes = if sweep == "caches" { 128 << 10 } else { 256 << 20 };
    let rates: Vec<(&'static str, f64, f64)> = names
        .iter()
        .map(|name| {
            let kernel = charz_workloads::find(name).unwrap();
            let own: &'static str = charz_workloads::kernels()
                .find(|own| own.card().name == kernel.card().name)
                .map(|own| &*own.card().name)
                .unwrap();
            (own, 1.0, 0.1)
        })
        .collect();
    let setting = Setting::new(description, &wanted, &rates);
    let mut report = setting.blank;
    let frame = fixtures::report(Vec::new());
    (report.host, report.timer) = (frame.host, frame.timer);
    (report.host.virtual_machine, report.host.name) = (Some(machine.starts_with("guest")), Some(machine.to_owned()));
    (report.started, report.wall_ns, report.complete) = ("2026-01-31T12:00:00Z".into(), 15_000_000_000, true);
    report.plan.min_invocations = 6;
    if machine.starts_with("hybrid") {
        hybrid(&mut report.machine);
    }
    for kernel in kernels.iter() {
        let all = report.cells.iter().filter(|cell| cell.kernel == *kernel).count();
        // Each size and kind of pages is a cell: some of them are a curve, too.
        let (step, mut at) = (all.div_ceil(MOST_OF_A_KERNEL), 0);
        report.cells.retain(|cell| {
            at += usize::from(cell.kernel == *kernel);
            cell.kernel != *kernel || at % step == 0
        });
    }
    let machine = report.machine.clone();
    for (at, cell) in report.cells.iter_mut().enumerate() {
        if cell.skipped.is_some() {
            continue;
        }
        let role =
            report.cards.iter().find(|card| *card.name == *cell.kernel).map(|card| (card.role.clone(), card.contends));
        let (role, contends) = role.unwrap();
        let value = value(cell, &machine, &role, contends);
        let start = at as u64 * 1_000_000_000;
        cell.invocations = (0..if cell.seats.len() > 64 { 6 } else { 8 })
            .map(|run| invocation(cell, value, start + run * 50_000_000, rng))
            .collect();
    }
    for cell in &mut report.floor {
        cell.invocations = (0..6).map(|run| invocation(cell, 2_000.0, 1 + run, rng)).collect();
    }
    report
}

/// Half of its cores are small.
fn hybrid(machine: &mut Machine) {
    let strands = machine.strands.len() / 2;
    let kind = |rank, name: &str| Kind {
        speed_rank: Some(rank),
        how_known: "the system ranks them".into(),
        infos: vec![Info { name: "CoreType".into(), value: name.into() }],
        strands: strands as u32,
    };
    machine.kinds = vec![kind(0, "IntelAtom"), kind(1, "IntelCore")];
    machine.strands.iter_mut().enumerate().for_each(|(at, strand)| strand.kind = Some(u32::from(at < strands)));
}

/// What a machine gives that nothing disturbs: strands of a core share it, and those of a node its memory; what is contended gets slower.
fn value(cell: &Cell, machine: &Machine, role: &Role, contends: bool) -> f64 {
    let workers = cell.seats.len() as f64;
    let is_memory = matches!(cell.unit, Unit::BytesPerSecond) || cell.level.as_deref() == Some("memory");
    let mut on_core: HashMap<Option<u32>, f64> = HashMap::new();
    let mut on_node: HashMap<Option<u32>, f64> = HashMap::new();
    for seat in cell.seats.iter().flatten() {
        let Some(strand) = machine.strands.iter().find(|strand| strand.os_id == *seat) else { continue };
        let power = if strand.kind == Some(0) { 0.55 } else { 1.0 };
        *on_core.entry(strand.core).or_default() += power;
        *on_node.entry(strand.numa).or_default() += power;
    }
    let of_core = |threads: f64| if threads > 1.0 { 1.0 + 0.12 * (threads - 1.0) } else { threads };
    let mut all: HashMap<Option<u32>, f64> = HashMap::new();
    machine.strands.iter().for_each(|strand| *all.entry(strand.core).or_default() += 1.0);
    let sum = |of: &HashMap<Option<u32>, f64>| of.values().map(|threads| of_core(*threads)).sum::<f64>();
    // The scheduler puts some threads together.
    let cores = if on_core.is_empty() { 0.9 * workers.min(sum(&all)) } else { sum(&on_core) };
    let nodes: f64 = if on_node.is_empty() {
        0.9 * workers.min(6.0)
    } else {
        on_node.values().map(|threads| threads.min(6.0)).sum()
    };
    let times = match () {
        () if contends => 1.0 / (1.0 + 0.35 * (workers - 1.0)),
        () if is_memory => nodes.min(cores),
        () => cores,
    };
    // Some kernels of a family do more than others.
    let own = 1.0 + 0.1 * f64::from(cell.kernel.bytes().fold(0_u8, |sum, byte| sum.wrapping_add(byte)) % 7);
    match cell.unit {
        Unit::OpsPerSecond => 1e9 * own * times,
        Unit::BytesPerSecond => 11e9 * own * times,
        Unit::Reported(_) => 480.0 * own * times,
        Unit::NanosecondsPerStep => {
            if is_memory {
                92.0 * own * (workers / times).max(1.0)
            } else {
                3.9 * own
            }
        }
        Unit::MillisecondsPerGib => 300.0 * own / times,
        _ if *role == Role::Floor => 2_000.0,
        _ => 75.0 * own / times,
    }
}

/// A run of two iterations of about 20 ms, within 0.4% of a value.
fn invocation(cell: &Cell, value: f64, started_ns: u64, rng: &mut Rng) -> Invocation {
    let workers = cell.seats.len() as u64;
    let is_bytes = matches!(cell.unit, Unit::BytesPerSecond | Unit::MillisecondsPerGib);
    let mut iteration = || {
        let value = value * (0.998 + 0.004 * rng.f64());
        let ns = 2e7 * (0.999 + 0.002 * rng.f64());
        let work = match cell.unit {
            Unit::OpsPerSecond | Unit::BytesPerSecond => value * ns / 1e9 / workers as f64,
            Unit::NanosecondsPerOp => ns / value / workers as f64,
            Unit::NanosecondsPerStep => ns / value,
            Unit::MillisecondsPerGib => (ns / 1e6 / value) * f64::from(1 << 30) / workers as f64,
            _ => 0.0,
        };
        let ns = if matches!(cell.unit, Unit::Nanoseconds | Unit::NanosecondsSampled) { value } else { ns };
        let lap = |(rank, seat): (u64, &Option<u32>)| Lap {
            ops: if is_bytes { 0 } else { work as u64 },
            bytes: if is_bytes { work as u64 } else { 0 },
            contention: matches!(cell.unit, Unit::NanosecondsPerOp).then(|| Contention {
                attempts: 2 * work as u64,
                waits: work as u64 / 3,
                ..Contention::default()
            }),
            ..Lap::undisturbed(rank, *seat, ns as u64)
        };
        let laps = Lap::grouped((0..).zip(&cell.seats).map(lap).collect());
        let mut pairs = || (0..40).map(|_| (200 + rng.u64(..100), value as u64 + rng.u64(..30))).collect::<Vec<_>>();
        let samples =
            (cell.unit == Unit::NanosecondsSampled).then(|| Box::new(pairs().into_iter().collect::<JointHistogram>()));
        let reported = matches!(cell.unit, Unit::Reported(_)).then_some(value);
        let growth = cell.kernel.starts_with("fft-").then(|| {
            let step = |size: u64| GrowthStep {
                size,
                time_ns: (value * size as f64) as u64,
                activities: 1 << size,
                threads: 1 << size.min(6),
                ..GrowthStep::default()
            };
            Box::new(Growth::new((1..=12).map(step).collect(), Halt::Time))
        });
        Run { samples, reported, growth, ..Run::undisturbed(laps) }
    };
    let runs: Vec<Run> = (0..if workers > 64 { 1 } else { 2 }).map(|_| iteration()).collect();
    let (hz, bytes) = (3e9, cell.footprint_bytes);
    let evidence = Evidence {
        pages: (bytes > 0).then(|| Pages { base_page_bytes: 4096, base_bytes: bytes, ..Pages::default() }),
        nodes: (bytes > 0).then(|| Nodes { local_bytes: bytes, bytes, balancing: Some(false), ..Nodes::default() }),
        frequency: Some(Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 }),
        busy: Some(Busy {
            time_ns: 40_000_000,
            all_ns: 40_000_000 * workers,
            own_ns: 40_000_000 * workers,
            tick_ns: None,
        }),
        ..Evidence::default()
    };
    let seed = rng.u64(..);
    Invocation { started_ns, seed, evidence: Some(evidence), runs, ..fixtures::barren(Ending::Done) }
}

pub fn each_run(report: &mut Report, mut change: impl FnMut(&mut Invocation)) {
    report.cells.iter_mut().flat_map(|cell| &mut cell.invocations).for_each(&mut change);
}

fn each_iteration(report: &mut Report, change: impl FnMut(&mut Run)) {
    report.cells.iter_mut().flat_map(|cell| &mut cell.invocations).flat_map(|run| &mut run.runs).for_each(change);
}

fn each_lap(report: &mut Report, mut change: impl FnMut(&mut Lap)) {
    each_iteration(report, |run| run.laps.iter_mut().for_each(&mut change));
}

/// A run that took so many times as long.
pub fn slow(run: &mut Invocation, times: f64) {
    for run in &mut run.runs {
        for lap in &mut run.laps {
            let was = lap.end_ns - lap.start_ns;
            lap.end_ns = lap.start_ns + (was as f64 * times) as u64;
            lap.counts.cpu_ns = lap.counts.cpu_ns.map(|ran| ran + lap.end_ns - lap.start_ns - was);
            if let Some(group) = &mut lap.group {
                group.time_ns = group.workers * (lap.end_ns - lap.start_ns);
                (group.first_end_ns, group.last_start_ns) = (lap.end_ns, lap.start_ns);
            }
        }
        run.reported = run.reported.map(|value| value / times);
    }
}

fn spread(report: &mut Report, rng: &mut Rng, by: f64) {
    each_run(report, |run| {
        let times = 1.0 + by * rng.f64();
        slow(run, times);
    });
}

/// Another program, in most runs.
fn busy(report: &mut Report, rng: &mut Rng) {
    each_run(report, |run| {
        let Some(evidence) = &mut run.evidence else { return };
        if let Some(busy) = &mut evidence.busy {
            busy.all_ns += busy.time_ns * u64::from(rng.u8(..4) > 0);
        }
        let culprit = Culprit {
            kind: CulpritKind::Process,
            name: "make".into(),
            pid: Some(4242),
            uid: Some(1000),
            others: 2,
            cpu_ns: 300_000_000,
            time_ns: 500_000_000,
        };
        (evidence.culprits, evidence.looked_ns) = (vec![culprit], Some(500_000_000));
    });
}
