//! The command line that measures again what a report holds, as far as its plan tells.
//!
//! A plan says what came out and not what was typed. So each flag is typed with what the plan has, unless leaving it out comes to the
//! same, or kernels differ in a way that only leaving it out can come to.

mod axes;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use charz_kernels::{Family, Kernel, Param, WorkerCount, params};
use charz_topology::{Mapping, cpulist};

use crate::numa;
use charz::plan;
use charz_data::report::{Cell, MemoryHome, Plan, Report, Status};

/// What a kernel of a report came to.
struct Own<'a> {
    kernel: Option<&'static dyn Kernel>,
    cells: Vec<&'a Cell>,
}

/// Flags with their values.
type Flags = Vec<(&'static str, String)>;

/// The longest command line, in bytes.
const LONGEST: usize = 8000;
/// The most mappings that are typed.
const MOST_MAPPINGS: usize = 64;
/// What `--invocations` says when it is not typed.
const USUAL_INVOCATIONS: (u64, u64) = (6, 30);

/// The command line.
pub(super) fn command(report: &Report) -> String {
    let (verb, flags) = pairs(report).or_else(|| nodes(report)).unwrap_or_else(|| ("sweep", sweep(report)));
    let mut words: Vec<String> = vec!["charz".into(), verb.into()];
    for (flag, value) in flags {
        words.push(flag.to_owned());
        words.extend(Some(value).filter(|value| !value.is_empty()));
    }
    // What no shell may hold has no place in a command line, and neither has what nobody would type.
    let line = shlex::try_join(words.iter().map(String::as_str)).ok().filter(|line| line.len() <= LONGEST);
    line.unwrap_or_else(|| format!("charz {verb}"))
}

/// The cells of each kernel, in the order of the plan.
fn by_kernel(report: &Report) -> Vec<(&str, Own<'_>)> {
    let mut cells: HashMap<&str, Vec<&Cell>> = HashMap::new();
    for cell in &report.cells {
        cells.entry(cell.kernel.as_str()).or_default().push(cell);
    }
    let is_head = report.cells.is_empty();
    let kernels = report.plan.kernels.iter().filter_map(|name| {
        let cells = cells.remove(name.as_str()).or_else(|| is_head.then(Vec::new))?;
        Some((name.as_str(), Own { kernel: charz_kernels::find(name), cells }))
    });
    kernels.collect()
}

/// A report of `charz c2c`.
fn pairs(report: &Report) -> Option<(&'static str, Flags)> {
    const PREFIX: &str = super::cells::PAIRS;
    let plan = &report.plan;
    let modes: Option<Vec<&str>> = plan.kernels.iter().map(|kernel| kernel.strip_prefix(PREFIX)).collect();
    let modes = modes.filter(|modes| !modes.is_empty() && !report.cells.is_empty())?;
    let mut seated = BTreeSet::new();
    for cell in &report.cells {
        let [Some(home), Some(other)] = cell.seats[..] else { return None };
        if !cell.mapping.starts_with("list:") {
            return None;
        }
        seated.extend([home, other]);
    }
    let usable: BTreeSet<u32> = report.machine.usable_strands().map(|strand| strand.os_id).collect();
    let mut flags = vec![("--mode", modes.join(","))];
    // One pair of many may be what was asked for, or what fitted.
    if seated != usable && seated.len() > 1 {
        flags.push(("--strands", cpulist::print(&seated.into_iter().collect::<Vec<u32>>())));
    }
    flags.extend(how_well(report));
    flags.extend(tools(plan));
    Some(("c2c", flags))
}

/// A report of `charz numa`.
fn nodes(report: &Report) -> Option<(&'static str, Flags)> {
    let plan = &report.plan;
    let [bandwidth, _] = numa::BANDWIDTH;
    let between =
        |cell: &Cell| matches!(cell.point.memory, Some(MemoryHome::Node(_))) && cell.mapping.starts_with("list:");
    let kernels: BTreeSet<&str> = plan.kernels.iter().map(String::as_str).collect();
    let is_one = kernels == BTreeSet::from([numa::LATENCY, bandwidth]) && report.cells.iter().all(between);
    if !is_one || report.cells.is_empty() {
        return None;
    }
    let mut flags = vec![("--size", size(plan.size_bytes)), ("--pages", plan.pages.clone())];
    flags.extend(how_well(report));
    Some(("numa", flags))
}

fn sweep(report: &Report) -> Flags {
    let plan = &report.plan;
    let own = by_kernel(report);
    let obeyed = |param: &Param| own.iter().filter_map(|(_, own)| own.kernel).any(|kernel| kernel.card().obeys(param));
    let mut flags = kernels(&own);
    flags.extend(mappings(&own));
    flags.extend(threads(plan, &own));
    flags.extend(axes::flags(plan, &own));
    let mut say = |wanted: bool, flag: &'static str, value: String| flags.extend(wanted.then_some((flag, value)));
    say(obeyed(&params::ITERATIONS), "--iterations", plan.iterations.to_string());
    say(obeyed(&params::SAMPLES), "--samples", plan.samples.to_string());
    say(obeyed(&params::SPAN), "--span", time(plan.span_ns));
    say(obeyed(&params::INSIDE) && plan.critical > 0, "--critical", plan.critical.to_string());
    say(obeyed(&params::INSIDE) && plan.parallel > 0, "--parallel", plan.parallel.to_string());
    say(obeyed(&params::PERIOD) && plan.period != "fitting", "--period", period(&plan.period));
    say(obeyed(&params::TIMEOUT), "--timeout", time(plan.timeout_ns));
    say(obeyed(&params::LAYOUT) && plan.layout != "padded", "--layout", plan.layout.clone());
    say(plan.repetitions.is_some(), "--repetitions", plan.repetitions.unwrap_or_default().to_string());
    let times = oversubscribed(report, &own);
    say(times > 1, "--oversubscribe", times.to_string());
    flags.extend(how_well(report));
    flags.extend(tools(plan));
    flags
}

/// By families as far as all of their kernels are there, the others by name.
fn kernels(own: &[(&str, Own<'_>)]) -> Flags {
    let named: BTreeSet<&str> = own.iter().map(|(name, _)| *name).collect();
    let is_whole = |family: &Family| {
        let mut cards = charz_kernels::kernels().map(Kernel::card).filter(|card| card.family == *family).peekable();
        *family != Family::Floor && cards.peek().is_some() && cards.all(|card| named.contains(&*card.name))
    };
    let families: Vec<Family> = Family::ALL.into_iter().filter(is_whole).collect();
    let other = |(name, own): &&(&str, Own<'_>)| {
        own.kernel.is_none_or(|kernel| !families.contains(&kernel.card().family)) && !name.is_empty()
    };
    let others: Vec<&str> = own.iter().filter(other).map(|(name, _)| *name).collect();
    let families: Vec<&str> = families.iter().map(|family| family.name()).collect();
    let lists = [("--family", families), ("--kernel", others)];
    lists.into_iter().filter(|(_, names)| !names.is_empty()).map(|(flag, names)| (flag, names.join(","))).collect()
}

/// Mappings, where all kernels have the same; where they differ, each has those that fit it.
fn mappings(own: &[(&str, Own<'_>)]) -> Flags {
    let of = |own: &Own<'_>| own.cells.iter().map(|cell| cell.mapping.clone()).collect::<BTreeSet<String>>();
    let Some((_, first)) = own.first() else { return Vec::new() };
    let all = of(first);
    if all.len() > MOST_MAPPINGS || own.iter().any(|(_, own)| of(own) != all) {
        return Vec::new();
    }
    // In their order.
    let mut seen = BTreeSet::new();
    let ordered = first.cells.iter().map(|cell| &cell.mapping).filter(|mapping| seen.insert(mapping.as_str()));
    let mut flags: Flags = ordered.map(|mapping| ("--mapping", mapping.clone())).collect();
    let stacked = |mapping: &String| mapping.parse::<Mapping>().is_ok_and(|mapping| mapping.repeated().is_some());
    flags.extend(all.iter().any(stacked).then(|| ("--allow-stack", String::new())));
    flags
}

/// Numbers of workers, unless each kernel has those that fit it.
fn threads(plan: &Plan, own: &[(&str, Own<'_>)]) -> Flags {
    let is_list = own.iter().all(|(_, own)| {
        let crew = own.kernel.map_or(WorkerCount::Any, |kernel| kernel.card().workers);
        let admitted = plan
            .threads
            .iter()
            .copied()
            .filter(|&workers| usize::try_from(workers).is_ok_and(|workers| crew.allows(workers)));
        let mut expected: BTreeSet<u64> = admitted.collect();
        if expected.is_empty() {
            expected.insert(crew.min() as u64);
        }
        expected == own.cells.iter().map(|cell| cell.workers).collect()
    });
    let words: Vec<String> = plan.threads.iter().map(u64::to_string).collect();
    if is_list && !words.is_empty() { vec![("--threads", words.join(","))] } else { Vec::new() }
}

/// How many times the strands workers that contend were allowed to be.
fn oversubscribed(report: &Report, own: &[(&str, Own<'_>)]) -> u64 {
    let strands = report.machine.usable_strands().count().max(1) as u64;
    let contending = own.iter().filter(|(_, own)| own.kernel.is_some_and(|kernel| kernel.card().contends));
    let run = contending.flat_map(|(_, own)| &own.cells).filter(|cell| cell.outcome.status != Status::Skipped);
    run.map(|cell| cell.workers.div_ceil(strands)).max().unwrap_or(1)
}

/// Invocations, precision, budget, seed.
fn how_well(report: &Report) -> Flags {
    let plan = &report.plan;
    let mut flags = Vec::new();
    let (least, most) = (plan.least_invocations, plan.most_invocations);
    if (least, most) != USUAL_INVOCATIONS {
        flags.push(("--invocations", if least == most { least.to_string() } else { format!("{least}-{most}") }));
    }
    flags.extend(precision(report).map(|share| ("--precision", format!("{}%", (share * 1e11).round() / 1e9))));
    flags.push(("--budget", time(plan.budget_ns)));
    flags.push(("--seed", plan.seed.to_string()));
    flags
}

/// The width that all cells want, unless each wants what its family does.
fn precision(report: &Report) -> Option<f64> {
    let first = report.cells.first()?.precision;
    let families: BTreeMap<&str, Option<Family>> = report
        .cells
        .iter()
        .map(|cell| (cell.kernel.as_str(), charz_kernels::find(&cell.kernel).map(|kernel| kernel.card().family)))
        .collect();
    let usual = |cell: &Cell| {
        let family = families.get(cell.kernel.as_str()).copied().flatten();
        family.is_none_or(|family| plan::precision(family) == cell.precision)
    };
    let same = report.cells.iter().all(|cell| cell.precision == first);
    (same && (0.0..=1.0).contains(&first) && !report.cells.iter().all(usual)).then_some(first)
}

/// The clock and what binds.
fn tools(plan: &Plan) -> Flags {
    let clock = ["os", "tsc"].contains(&plan.clock.as_str()).then(|| ("--clock", plan.clock.clone()));
    let binder = (plan.binder == "core-affinity").then(|| ("--binder", plan.binder.clone()));
    clock.into_iter().chain(binder).collect()
}

/// As `--size` reads it, exactly.
fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units.into_iter().find(|(_, power)| bytes > 0 && bytes.is_multiple_of(1 << power));
    whole.map_or_else(|| format!("{bytes}B"), |(unit, power)| format!("{}{unit}", bytes >> power))
}

/// As flags with times read them, exactly.
fn time(nanos: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)];
    let whole = units.into_iter().find(|(_, unit)| nanos > 0 && nanos.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{nanos}ns"), |(name, unit)| format!("{}{name}", nanos / unit))
}

/// As `--period` reads it.
fn period(word: &str) -> String {
    match word.parse() {
        Ok(charz_kernels::Period::EveryNs(every)) => time(every),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_exact() {
        for (bytes, text) in [(256 << 20, "256MiB"), (3 << 30, "3GiB"), (5792, "5792B"), (0, "0B"), (48 << 10, "48KiB")]
        {
            assert_eq!(size(bytes), text);
        }
        for (nanos, text) in [(120_000_000_000, "120s"), (1_500_000, "1500us"), (1, "1ns"), (50_000_000, "50ms")] {
            assert_eq!(time(nanos), text);
        }
        assert_eq!(period(&charz_kernels::Period::EveryNs(50_000).to_string()), "50us");
        assert_eq!(period("closed"), "closed");
    }
}
