//! What follows from several cells together: a sentence each.

mod advice;
mod latency;
#[cfg(test)]
mod tests;
mod threads;

use charz_claims::findings::{self, Claim, Finding, Late, Product, Siblings, Spread};
use charz_data::escape::counted;
use charz_data::{report, units};
use charz_estimate::{Estimate, Estimates};

use crate::estimate::{cited, doubt_of, shown, times};
use crate::{point, verdict};

/// Everything that follows from the cells of a report, by kind, and then in the order of the cells.
pub fn findings(table: &Estimates<'_>) -> Vec<report::Finding> {
    findings::findings(table).iter().map(finding).collect()
}

fn finding(found: &Finding<'_>) -> report::Finding {
    report::Finding {
        kind: found.claim.kind(),
        kernel: found.kernel.to_owned(),
        mapping: found.mapping.map(str::to_owned),
        workers: found.workers,
        value: found.value,
        text: text(found),
        evidence: evidence(found),
    }
}

/// The numbers that it follows from.
fn evidence(found: &Finding<'_>) -> String {
    let all: Vec<String> = found.evidence.iter().map(cited).collect();
    match &found.claim {
        Claim::Lock(_) => all.chunks(2).map(|pair| pair.join(", ")).collect::<Vec<_>>().join("; "),
        Claim::Quota(_) | Claim::Scaling(_) => all.join(", "),
        Claim::BackOff { pools, .. } => list(&all) + &pools.iter().map(advice::gain).collect::<String>(),
        _ => list(&all),
    }
}

fn text(found: &Finding<'_>) -> String {
    let (kernel, mapping) = (found.kernel, found.mapping.unwrap_or_default());
    match &found.claim {
        Claim::Best(own) => {
            let (workers, names) = (threads(own.best.cell.workers), verdict::mapping(own));
            format!("{kernel}{}: {workers}, {names}: {}", point::label(&own.point), shown(&own.best))
        }
        Claim::Cliff(own) => format!("{kernel} {mapping}: {}", threads::cliff(own)),
        Claim::NoCliff(own) => format!("{kernel} {mapping}: {}", threads::no_cliff(own)),
        Claim::Collapse { falls, skipped, failed } => {
            format!("{kernel} {mapping} collapsed {}", threads::collapse(falls, skipped, failed))
        }
        Claim::Late(own) => late(found, own),
        Claim::Quota(cpus) => threads::quota(*cpus, &found.evidence),
        Claim::Scaling(own) => threads::scaling(own),
        Claim::Limited(most, by) => {
            let confirm = "charz doctor lists the limits of this process";
            format!("limit on a resource: {kernel} {mapping}: it had {most} threads at most: {by}; {confirm}")
        }
        Claim::Fastest(own) => advice::fastest(own),
        Claim::Lock(own) => advice::lock(own),
        Claim::Spin(own) => advice::spin(own),
        Claim::BackOff { cap, strands, .. } => {
            let doubt = units::doubt(found.evidence.iter().any(Estimate::is_doubtful));
            let cap = units::nanos(*cap);
            format!(
                "let the back-off of a failed compare-and-swap grow to at least {cap}{doubt}: {strands} cache-line transfers"
            )
        }
        Claim::Shards { own, shared, is_worth_it } => advice::shards(own, shared, *is_worth_it),
        Claim::Padding { next, apart, is_far } => {
            let bytes = if *is_far { 128 } else { 64 };
            let times = times(apart, next);
            let (next, apart) = (shown(next), shown(apart));
            format!(
                "pad what threads write to {bytes} bytes: words 128 bytes apart do {times} times as much as words 64 bytes apart; {apart} beside {next}"
            )
        }
        Claim::Barrier(own) => {
            let under = format!("{mapping}, {}", threads(own.best.cell.workers));
            format!("fastest barrier under {under}: {kernel}, {}", advice::winner(own))
        }
        Claim::WakeUp(own, flag) => {
            let spin = flag.map(|flag| format!("; spinning is faster: {}", shown(&flag))).unwrap_or_default();
            format!("fastest wake-up under {mapping}: {kernel}, {}{spin}", advice::winner(own))
        }
        Claim::NoLatency { curve, ns, times, doubtful } => latency::none(curve, *ns, *times, *doubtful),
        Claim::Levels(own) => latency::levels(own),
        Claim::Reach(own) => latency::reach(own),
        Claim::Ahead(own) => latency::ahead(own),
        Claim::AtOnce(own) => latency::at_once(own),
        Claim::Waits(own) => latency::waits(own),
        Claim::Overlap(own) => latency::overlap(own),
        Claim::Loaded(cell, knee) => latency::loaded(cell, knee),
        Claim::Product(own) => product(own),
        Claim::Siblings(own) => siblings(kernel, own),
        Claim::Efficiency(own) => {
            let doubt = units::doubt(own.number.is_doubtful());
            let rate = match own.written {
                None => format!("{:.2}{doubt} words per cycle", own.per_cycle),
                Some((written, is_own)) => {
                    let whose = if is_own { "its own" } else { "the other's" };
                    let read = own.per_cycle;
                    format!("{written:.2}{doubt} words per cycle written, then {read:.2}{doubt} of {whose} read")
                }
            };
            let each = if own.number.cell.workers > 1 { " per thread" } else { "" };
            let clock = units::count_of(own.hz / 1e9);
            format!("{}: {rate}{each} (the canary's clock of {clock} GHz)", point::name(own.number.cell))
        }
        Claim::Spread(own) => spread(own),
    }
}

fn late(found: &Finding<'_>, own: &Late) -> String {
    let [beside, quiet] = own.p99_ns.map(units::nanos);
    let (kernel, mapping, workers) =
        (found.kernel, found.mapping.unwrap_or_default(), found.workers.unwrap_or_default());
    let (times, median) = (units::ratio(own.p99_ns[0] / own.p99_ns[1]), units::nanos(own.beside.p50_ns));
    let free = match own.free {
        0 => "which leaves no CPU free".to_owned(),
        free => format!("though {} free", if free == 1 { "1 CPU was".to_owned() } else { format!("{free} CPUs were") }),
    };
    format!(
        "other threads wake up late beside {kernel} {mapping} x{workers}, {free}: p99 {beside}, {times} times the {quiet} of the quiet \
         machine; median {median}, max {}",
        units::nanos(own.beside.max_ns as f64)
    )
}

/// `2 threads`.
fn threads(workers: u64) -> String {
    counted(workers as usize, "thread")
}

/// `a`, `a and b`, `a, b and c`.
fn list<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match &words[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        few => few.concat(),
    }
}

fn kernels(numbers: &[Estimate<'_>]) -> String {
    list(&numbers.iter().map(|number| number.cell.kernel.as_str()).collect::<Vec<_>>())
}

fn product(own: &Product<'_>) -> String {
    let Product { best, order, depth, .. } = own;
    let cell = best.cell;
    let ties = match own.alike {
        0 => String::new(),
        others => format!(" (not significantly faster than {})", counted(others, "other depth")),
    };
    let cost = match &own.deepest {
        None => ", the deepest that was measured".to_owned(),
        Some((other, deepest)) if best.meets(deepest) => format!("; depth {other} is not significantly slower"),
        Some((other, deepest)) => format!("; depth {other} takes {} times as long", times(best, deepest)),
    };
    let beside = own.peer.map(|peer| {
        let share = units::percent(best.value / peer.value);
        format!("; {share}{} of the rate of {}", doubt_of(best, &peer), peer.cell.kernel)
    });
    let (time, doubt) = (units::nanos(own.millis * 1e6), units::doubt(best.is_doubtful()));
    let head = format!("{} {}, {}, order {order}", cell.kernel, cell.mapping, threads(cell.workers));
    format!("{head}: depth {depth} is the fastest, {time}{doubt}{ties}{cost}{}", beside.unwrap_or_default())
}

fn siblings(kernel: &str, own: &Siblings<'_>) -> String {
    let [one, other] = own.strands;
    let others = match own.others {
        0 => String::new(),
        1 => ", and so does 1 other pair".to_owned(),
        others => format!(", and so do {others} other pairs"),
    };
    let why = match own.is_guest {
        true => "the hypervisor may hide that they share one",
        false => "the list of cores may be wrong",
    };
    format!(
        "{kernel}: CPUs {one} and {other} hand over a line in {} ({} cycles), as fast as CPUs of one core, though the system \
         lists them on two{others}: {why}",
        shown(&own.number),
        units::count_of(own.cycles)
    )
}

fn spread(own: &Spread<'_>) -> String {
    let workers = own.cell.workers;
    let of_all = |count: usize| match count {
        0 => "in none".to_owned(),
        _ => format!("in {count} ({})", units::percent(count as f64 / own.seen as f64)),
    };
    let core = match own.cores < own.strands && workers <= own.cores as u64 {
        true => format!(", on one core of {} {}", own.cores, of_all(own.on_one_core)),
        false => String::new(),
    };
    let node = match own.nodes {
        ..2 => String::new(),
        nodes => {
            let (busiest, even) = (own.on_busiest_node as f64 / own.seen as f64, workers.div_ceil(nodes as u64));
            format!("; the NUMA node with most threads had {busiest:.1} in the mean ({even} where they are even)")
        }
    };
    let (name, seen) = (format!("{} {}", own.cell.kernel, own.cell.mapping), counted(own.seen, "iteration"));
    let cpu = of_all(own.on_one_cpu);
    format!("{name}: of {seen} with {workers} threads, two threads ended on one CPU {cpu}{core}{node}")
}
