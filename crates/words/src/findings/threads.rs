//! What more threads do.

use charz_claims::findings::{Class, Cliff, Fall, NoCliff, Scaling};
use charz_data::escape::counted;
use charz_data::units;
use charz_estimate::Estimate;

use super::{list, threads};
use crate::estimate::{shown, times};

pub(super) fn cliff(own: &Cliff<'_>) -> String {
    let workers = own.after.cell.workers;
    let place = match workers - own.strands {
        0 => ", as many as CPUs".to_owned(),
        1 => ", one more than CPUs".to_owned(),
        more => format!(", {more} more than CPUs"),
    };
    let at = match own.missing {
        0 => format!("at {workers} threads{place}"),
        missing => {
            let (inside, missing) = (own.inside, counted(missing, "configuration"));
            format!("between {inside} and {workers} threads{place}, without a number of {missing} between")
        }
    };
    format!("oversubscription cliff {at}: {} per hop before, {} after", shown(&own.before), shown(&own.after))
}

pub(super) fn no_cliff(own: &NoCliff<'_>) -> String {
    let verdict = match own.may_be {
        true => "an oversubscription cliff is not shown",
        false => "no oversubscription cliff",
    };
    let (low, high) = (shown(&own.fastest), shown(&own.slowest));
    format!("{verdict} up to {} threads on {} CPUs: {low} to {high} per hop", own.most, own.strands)
}

pub(super) fn collapse(falls: &[Fall<'_>], skipped: &[u64], failed: &[u64]) -> String {
    let fall = |fall: &Fall<'_>| {
        let found = fall.number.map_or("it did not end in its time".to_owned(), |number| shown(&number));
        let [now, then] = [fall.workers, fall.before.cell.workers].map(threads);
        format!("at {now}: {found}, where {then} did {}", shown(&fall.before))
    };
    let beyond = |workers: &[u64], word: &str| {
        let workers: Vec<String> = workers.iter().map(u64::to_string).collect();
        if workers.is_empty() { String::new() } else { format!("; with {} threads it was {word}", list(&workers)) }
    };
    let falls: Vec<String> = falls.iter().map(fall).collect();
    falls.join("; again ") + &beyond(skipped, "skipped") + &beyond(failed, "given up")
}

pub(super) fn quota(cpus: f64, numbers: &[Estimate<'_>]) -> String {
    let Some((fewest, more)) = numbers.split_first() else { return String::new() };
    let times = |(at, number): (usize, &Estimate<'_>)| {
        let verb = if at == 0 { " do" } else { "" };
        format!("{}{verb} {} times", threads(number.cell.workers), times(number, fewest))
    };
    let all: Vec<String> = more.iter().enumerate().map(times).collect();
    format!("under the CPU quota of {cpus:.2}, {} the work of {}", list(&all), threads(fewest.cell.workers))
}

/// `lock contention: pool-std rr: 4 threads do 0.20 (0.19 to 0.21) times as much as 1 thread; …`, with what would confirm it.
pub(super) fn scaling(own: &Scaling<'_>) -> String {
    let Scaling { class, base, number } = own;
    let (times, [n, m]) = (times(number, base), [number, base].map(|one| threads(one.cell.workers)));
    let (name, shown, confirm) = match *class {
        Class::Lock => (
            "lock contention",
            format!("{n} do {times} times as much as {m}"),
            "charz lockutil adds up a program's waits from lockstat or perf lock contention; fewer, shorter or several locks help",
        ),
        Class::HotLine => (
            "hot spot: a cache line that all threads change",
            format!("{n} do {times} times as much as {m}"),
            "perf c2c names a program's lines; charz sweep --kernel counter-sharded shows what a part for each CPU does",
        ),
        Class::HotNode => (
            "hot spot: memory on one NUMA node",
            format!("{n} get {times} times as much as from their own nodes"),
            "charz numa has the bandwidth of each node; spread the memory, e.g. by numactl --interleave=all",
        ),
        Class::Proportion => (
            "time in proportion to the threads",
            format!("with {n} each takes {times} times as long as with {m}"),
            "a sweep of it with more numbers of threads has the curve; a tree of threads, or fewer that take part, helps",
        ),
        Class::Broadcast => (
            "translations taken back on all CPUs",
            format!("with {n} it takes {times} times as long as with {m}"),
            "charz watch counts tlb interrupts beside a program; reuse mappings, or take processes in place of threads",
        ),
        Class::Span => (
            "working set beyond what the TLB spans",
            format!("on small pages a load takes {times} times as long as on large ones"),
            "charz sweep --kernel chase-random --pages 4k,thp --size SIZE shows it for a program's size; large pages help",
        ),
        Class::Thrashing { blocks, block, level, bytes } => {
            let (block, bytes) = (units::iec(block), units::iec(bytes));
            (
                "thrashing of a shared cache",
                format!(
                    "with {n} a load takes {times} times as long as with {m}: {blocks} blocks of {block} share an L{level} of {bytes}"
                ),
                "charz sweep --kernel chase-random --threads N --size SIZE is fast where all N blocks fit; smaller blocks, or fewer threads \
                 per cache, help",
            )
        }
    };
    format!("{name}: {} {}: {shown}; {confirm}", number.cell.kernel, number.cell.mapping)
}
