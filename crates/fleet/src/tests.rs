//! Fleets with planted faults: what is concluded of which node, as a table.

use std::collections::BTreeSet;

use charz_data::cpulist;
use charz_data::machine::{Cache, CacheHolds, Core, NumaNode, Package};
use charz_data::report::{Cell, Frequency, Report, Unit, fixtures};
use charz_stats::median;
use fastrand::Rng;

use crate::claim::{Blame, By, Cause, Claim, Class, Component, Doubt, Fleet, Node, State};
use crate::words;
use crate::{Visit, judge};

mod baseline;
mod faults;
mod laws;

/// A machine: sockets, caches of a socket, cores of a cache, CPUs of a core. Each socket is a NUMA node.
pub(super) type Shape = [u32; 4];

pub(super) const SHAPE: Shape = [2, 2, 4, 1];

pub(super) fn normal(random: &mut Rng, deviation: f64) -> f64 {
    ((0..12).map(|_| random.f64()).sum::<f64>() - 6.0) * deviation
}

/// A normal deviate, one in fifty four times as wide: noise in reports has such tails.
pub(super) fn noise(random: &mut Rng, deviation: f64) -> f64 {
    normal(random, deviation) * if random.u32(0..50) == 0 { 4.0 } else { 1.0 }
}

/// Where a thread of a run is, and when the run began.
pub(super) struct Spot {
    pub(super) kernel: &'static str,
    /// Where its memory is.
    pub(super) level: &'static str,
    pub(super) cpu: u32,
    pub(super) second: f64,
}

/// How fast a thread is there, and its clock, as shares of the usual.
pub(super) type Speed<'a> = &'a dyn Fn(&Spot) -> [f64; 2];

const HERTZ: f64 = 3.7e9;
/// Seconds from a run to the next of its configuration, and from one configuration to the next.
const ROUND: f64 = 6.0;
const STEP: f64 = 0.2;

/// The kernels of `--preset node` that parts and nodes are compared by, as each is measured on a machine.
pub(super) fn report(random: &mut Rng, shape: Shape, host: usize, visit: usize, speed: Speed<'_>) -> Report {
    let [sockets, caches, cores, smt] = shape;
    let all = sockets * caches * cores * smt;
    let hour = [0.007, 0.02].map(|deviation| normal(random, deviation));
    let mut cells = Vec::new();
    for (kernel, level, unit, threads) in [
        ("arith-int", "", Unit::OpsPerSecond, all),
        ("arith-float", "", Unit::OpsPerSecond, all),
        ("mem-read", "memory", Unit::BytesPerSecond, all),
        ("mem-write-data", "memory", Unit::BytesPerSecond, all),
        ("chase-random", "L3", Unit::NanosecondsPerStep, all),
        ("chase-random", "memory", Unit::NanosecondsPerStep, all),
        ("chase-random", "memory", Unit::NanosecondsPerStep, 1),
    ] {
        let of = usize::from(level == "memory" && unit == Unit::BytesPerSecond);
        let deviation = [0.002, 0.01][of];
        let usual = (hour[of] + noise(random, deviation)).exp();
        let seats: Vec<u32> = (0..threads).collect();
        let usual_value = if unit.more_is_better() { 1e9 * f64::from(threads) } else { 90.0 };
        let mut cell = fixtures::cell(kernel, u64::from(threads), unit, usual_value).seated(&seats);
        if !level.is_empty() {
            (cell.level, cell.point.size_bytes) =
                (Some(level.into()), Some(if level == "L3" { 8 << 20 } else { 64 << 20 }));
        }
        let at = cells.len() as f64 * STEP;
        let mut values = Vec::new();
        for (round, run) in cell.invocations.iter_mut().enumerate() {
            let second = round as f64 * ROUND + at;
            run.started_ns = (second * 1e9) as u64;
            let (mut sum, mut clocks) = (0.0, Vec::new());
            for lap in run.runs.iter_mut().flat_map(|run| &mut run.laps) {
                let cpu = lap.seat.unwrap();
                let [own, clock] = speed(&Spot { kernel, level, cpu, second });
                // The first core is slower everywhere, as one that serves interrupts.
                let first = if cpu == 0 { 0.95 } else { 1.0 };
                let own = own * first * noise(random, deviation).exp();
                lap.end_ns = (lap.end_ns as f64 / own) as u64;
                sum += if unit.more_is_better() { own } else { own.recip() };
                clocks.push(HERTZ * clock * noise(random, 0.001).exp());
            }
            let scale = if unit.more_is_better() { 1e9 * usual } else { 90.0 / usual / f64::from(threads) };
            values.push(sum * scale);
            let [low, high] = [f64::min, f64::max].map(|of| clocks.iter().copied().reduce(of).unwrap());
            let frequency = Frequency { before_hz: low, after_hz: low, highest_hz: high, drift: 0.0 };
            run.evidence.get_or_insert_default().frequency = Some(frequency);
            run.value = values.last().copied();
        }
        for number in [&mut cell.capacity, &mut cell.delivered].into_iter().flatten() {
            number.value = median(values.iter().copied()).unwrap();
        }
        cells.push(cell);
    }
    let near = (0..sockets * caches)
        .flat_map(|cache| [[0, 1], [0, 2], [1, 3]].map(|pair| pair.map(|core| cache * cores + core)));
    for [one, other] in near.filter(|_| cores > 3) {
        let spot = Spot { kernel: "c2c-cas", level: "", cpu: one * 1000 + other, second: 0.0 };
        let ns = 25.0 / speed(&spot)[0] * normal(random, 0.01).exp();
        let cell = fixtures::cell("c2c-cas", 2, Unit::NanosecondsPerOp, ns).seated(&[one, other]);
        cells.push(cell.under(&["list", &cpulist::print(&[one, other])].join(":")));
    }
    let mut report = fixtures::report(cells).on(all);
    report.machine.packages = vec![Package { os_id: None, model: None, strands: all / sockets }; sockets as usize];
    report.machine.cores = vec![Core { os_id: None, strands: smt }; (all / smt) as usize];
    let node = report.machine.numa_nodes.first().cloned();
    report.machine.numa_nodes = node.map_or_else(Vec::new, |node: NumaNode| vec![node; sockets as usize]);
    let cache = |index| Cache {
        level: 3,
        holds: CacheHolds::Unified,
        index,
        size_bytes: None,
        line_bytes: None,
        ways: None,
        inclusive: None,
        strands: cores * smt,
    };
    report.machine.caches = (0..sockets * caches).map(cache).collect();
    for strand in &mut report.machine.strands {
        // The second CPU of each core comes after the first of all.
        let core = strand.os_id % (all / smt);
        let (cache, socket) = (core / cores, core / cores / caches);
        (strand.core, strand.package, strand.caches) = (Some(core), Some(socket), vec![cache]);
        strand.numa = Some(socket);
    }
    report.id = format!("{host}-{visit}");
    report.started = format!("2026-01-{:02}T00:00:00Z", visit + 1);
    report.host.name = Some(format!("n{host}"));
    report.host.frequency_governor = Some("performance".into());
    report.host.virtual_machine = Some(false);
    report
}

pub(super) fn visits_of(reports: &[Report]) -> Vec<Visit> {
    reports.iter().map(|report| Visit::of(report, "file")).collect()
}

pub(super) fn judged(reports: &[Report]) -> Fleet {
    judge(&visits_of(reports), Vec::new())
}

pub(super) fn node<'a>(fleet: &'a Fleet, host: &str) -> &'a Node {
    fleet.nodes.iter().find(|node| node.host == host).unwrap()
}

/// So many nodes at so many visits, each with its speeds, and altered.
pub(super) fn drawn(
    seed: u64,
    shape: Shape,
    [nodes, visits]: [usize; 2],
    speed: impl Fn(usize, usize, &Spot) -> [f64; 2],
    alter: impl Fn(usize, usize, &mut Report),
) -> Vec<Report> {
    let mut random = Rng::with_seed(seed);
    let all = (0..nodes).flat_map(|host| (0..visits).map(move |visit| (host, visit)));
    let one = |(host, visit)| {
        let mut report = report(&mut random, shape, host, visit, &|spot| speed(host, visit, spot));
        alter(host, visit, &mut report);
        report
    };
    all.map(one).collect()
}

pub(super) fn well(nodes: usize, alter: impl Fn(usize, &mut Report)) -> Vec<Report> {
    drawn(1, SHAPE, [nodes, 1], |_, _, _| [1.0; 2], |host, _, report| alter(host, report))
}

pub(super) fn of<'a>(report: &'a mut Report, kernels: &'a str) -> impl Iterator<Item = &'a mut Cell> {
    report.cells.iter_mut().filter(move |cell| cell.kernel.starts_with(kernels))
}

/// Its speed by such kernels, by so much.
pub(super) fn scaled(report: &mut Report, kernels: &str, factor: f64) {
    for cell in of(report, kernels) {
        let factor = if cell.unit.more_is_better() { factor } else { factor.recip() };
        [&mut cell.capacity, &mut cell.delivered].into_iter().flatten().for_each(|number| number.value *= factor);
    }
}

pub(super) fn suspect(report: &mut Report, kernels: &str) {
    of(report, kernels).for_each(|cell| *cell = cell.clone().suspect());
}

pub(super) fn lacks(report: &mut Report, kernels: &str) {
    report.cells.retain(|cell| !cell.kernel.starts_with(kernels));
    report.cards.retain(|card| !card.name.starts_with(kernels));
}

pub(super) fn delivers(report: &mut Report, share: f64) {
    for cell in &mut report.cells {
        let share = if cell.unit.more_is_better() { share } else { share.recip() };
        cell.delivered = cell.capacity;
        cell.delivered.iter_mut().for_each(|number| number.value *= share);
    }
}

/// Of its first cores alone, where the rest are kept from it.
pub(super) fn first(report: &mut Report, cpus: usize) {
    report.machine.strands[cpus..].iter_mut().for_each(|strand| strand.usable = false);
    let all = report.machine.strands.len();
    for cell in report.cells.iter_mut().filter(|cell| cell.seats.len() == all) {
        cell.seats.truncate(cpus);
        cell.workers = cpus as u64;
        cell.invocations.iter_mut().flat_map(|one| &mut one.runs).for_each(|run| run.laps.truncate(cpus));
    }
    let is_there = |seat: &Option<u32>| seat.is_none_or(|seat| (seat as usize) < cpus);
    report.cells.retain(|cell| cell.seats.iter().all(is_there));
}

/// The claims of a node as codes.
pub(super) fn codes(node: &Node) -> Vec<String> {
    node.claims.iter().map(code).collect()
}

/// A claim as a code: `slow Core 5 -8 arith-float,arith-int`.
pub(super) fn code(claim: &Claim) -> String {
    match claim {
        Claim::Slow(blame) => format!("slow {}", blamed(blame)),
        Claim::NoLonger(blame) => format!("no longer {}", blamed(blame)),
        Claim::Doubt(blame, Doubt::Class(class)) => format!("class {} {}", blamed(blame), settings(class)),
        Claim::Doubt(blame, doubt) => {
            let name = format!("{doubt:?}");
            format!("{} {}", name.split([' ', '(']).next().unwrap(), blamed(blame))
        }
        claim => format!("{claim:?}").replace('"', ""),
    }
}

fn blamed(blame: &Blame) -> String {
    let by = match &blame.by {
        By::Kernels(all) => all.iter().map(words::quantity).collect::<Vec<_>>().join(","),
        by => format!("{by:?}"),
    };
    let cpus = if blame.part == Component::Node { String::new() } else { cpulist::print(&blame.cpus) + " " };
    let clock = blame.clock.map_or(String::new(), |clock| {
        let since = clock.since_s.map_or(String::new(), |since| format!(" from {since:.0}"));
        format!(" clock {:.2}{since}", clock.hz / clock.usual_hz)
    });
    let cause = match &blame.cause {
        Some(Cause::Class(class)) => format!(" class {}", settings(class)),
        Some(Cause::Setting(setting, value)) => format!(" {setting:?} {}", words::value(value)),
        Some(Cause::Quota(quota)) => format!(" quota {}", quota.quota),
        None => String::new(),
    };
    format!("{:?} {cpus}{:+.0} {by}{clock}{cause}", blame.part, 100.0 * blame.effect)
}

fn settings(class: &Class) -> String {
    let value = |values: &BTreeSet<_>| values.iter().map(words::value).collect::<Vec<_>>().join("|");
    class
        .settings
        .iter()
        .map(|(setting, [here, _])| format!("{setting:?}={}", value(here)))
        .collect::<Vec<_>>()
        .join(",")
}

/// How many of the nodes are what, the worst first.
pub(super) fn states(fleet: &Fleet) -> [usize; 4] {
    State::ALL.map(|state| fleet.count(state))
}

/// All that differ, at once.
pub(super) fn compare(found: Vec<(String, Vec<String>, Vec<String>)>) {
    let other = found.into_iter().filter(|(_, found, expected)| found != expected);
    let other: Vec<String> =
        other.map(|(name, found, expected)| format!("{name}: {found:#?}, not {expected:?}")).collect();
    assert!(other.is_empty(), "{}", other.join("\n"));
}

pub(super) fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}
