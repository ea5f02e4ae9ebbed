//! The class of a scaling problem, with the cells that show it and the experiment that would confirm it.
//!
//! The classes are those of S. Sistare, "Solaris Scalability": lock contention, algorithms that take time in proportion to the number of CPUs,
//! hot spots in memory, working sets beyond what caches of translations span, translations that are taken back on all CPUs, and limits on
//! resources. Only what the intervals show is called one.

use std::collections::HashSet;

use super::on_cell;
use super::series::Series;
use crate::number::Number;
use crate::verdict::MARGIN;
use charz_data::card::{Chase, CounterKind, WordOwner};
use charz_data::escape::counted;
use charz_data::report::{Cell, Finding, FindingKind, Point, Unit};
use charz_data::{MemoryPolicy, PageKind, Role};

/// How many times as long an operation takes where it is said to grow, at least.
const GROWS: f64 = 1.5;
/// The share of the growth in threads by which the time of an operation grows at least that is said to be proportional, and that growth at
/// least: over fewer threads the steps of a tree grow as much.
const PROPORTIONAL: f64 = 0.75;
const MANY_TIMES: u64 = 8;

/// A class, and what would confirm it.
struct Class {
    name: &'static str,
    confirm: &'static str,
}

const LOCK: Class = Class {
    name: "lock contention",
    confirm: "charz lockutil adds up a program's waits from lockstat or perf lock contention; fewer, shorter or several locks help",
};
const HOT_LINE: Class = Class {
    name: "hot spot: a cache line that all threads change",
    confirm: "perf c2c names a program's lines; charz sweep --kernel counter-sharded shows what a part for each CPU does",
};
const HOT_NODE: Class = Class {
    name: "hot spot: memory on one NUMA node",
    confirm: "charz numa has the bandwidth of each node; spread the memory, e.g. by numactl --interleave=all",
};
const PROPORTION: Class = Class {
    name: "time in proportion to the threads",
    confirm: "a sweep of it with more numbers of threads has the curve; a tree of threads, or fewer that take part, helps",
};
const BROADCAST: Class = Class {
    name: "translations taken back on all CPUs",
    confirm: "charz watch counts tlb interrupts beside a program; reuse mappings, or take processes in place of threads",
};
const SPAN: Class = Class {
    name: "working set beyond what the TLB spans",
    confirm: "charz sweep --kernel chase-random --pages 4k,thp --size SIZE shows it for a program's size; large pages help",
};
const LIMIT: Class = Class { name: "limit on a resource", confirm: "charz doctor lists the limits of this process" };

/// What of this scales badly, and why: of each kernel a class once, since under each mapping it is the same problem.
pub(super) fn classes(all: &[Series<'_>], strands: u64) -> Vec<Finding> {
    let pairs = all.iter().enumerate().flat_map(|(at, one)| all[at + 1..].iter().map(move |other| (one, other)));
    let found = all.iter().filter_map(|series| of_series(series, strands));
    let found = found.chain(all.iter().filter_map(limited));
    let found = found.chain(pairs.filter_map(|(one, other)| of_pair(one, other, strands)));
    let mut seen = HashSet::new();
    found.filter(|(class, found)| seen.insert((*class, found.kernel.clone()))).map(|(_, found)| found).collect()
}

/// A finding with the name of its class.
type Found = (&'static str, Finding);

fn finding(class: &Class, cell: &Cell, times: f64, shown: &str, evidence: String) -> Found {
    let text = format!("{}: {} {}: {shown}; {}", class.name, cell.kernel, cell.mapping, class.confirm);
    (class.name, Finding { evidence, ..on_cell(cell, FindingKind::Scaling, Some(times), text) })
}

/// One thread, or the fewest, beside the most that have a CPU each.
fn of_series(series: &Series<'_>, strands: u64) -> Option<Found> {
    // A thread alone meets no other at a barrier.
    let least = if *series.role() == Role::Barrier { 2 } else { 1 };
    let within = |number: &Number<'_>| number.interval.is_some() && (least..=strands).contains(&number.cell.workers);
    let few = series.numbers().find(within)?;
    let many = series.numbers().filter(within).last().filter(|many| many.cell.workers > few.cell.workers)?;
    let evidence = || format!("{}, {}", few.cited(), many.cited());
    let [n, m] = [&many, &few].map(|number| counted(number.cell.workers as usize, "thread"));
    let class = match series.role() {
        Role::LockPool { .. } | Role::Counter(CounterKind::Mutex) => &LOCK,
        Role::LockFreePool { .. } | Role::Counter(CounterKind::Atomic) | Role::Adding(WordOwner::All) => &HOT_LINE,
        Role::Unmapping if grows(&few, &many, GROWS) => {
            let shown = format!("with {n} it takes {} times as long as with {m}", many.times(&few));
            return Some(finding(&BROADCAST, many.cell, many.value / few.value, &shown, evidence()));
        }
        Role::Barrier if series.counts(Unit::NanosecondsSampled) => {
            let more = many.cell.workers / few.cell.workers;
            let shown = format!("with {n} each takes {} times as long as with {m}", many.times(&few));
            let is_one = more >= MANY_TIMES && grows(&few, &many, PROPORTIONAL * more as f64);
            return is_one.then(|| finding(&PROPORTION, many.cell, many.value / few.value, &shown, evidence()));
        }
        _ => return None,
    };
    // All together do less than one alone, by more than what makes no difference.
    let is_less = many.ends().1 < few.ends().0 * (1.0 - MARGIN) && many.is_surely_below(&few);
    let falls = series.counts(Unit::OpsPerSecond) && few.cell.workers == 1 && is_less;
    let shown = format!("{n} do {} times as much as {m}", many.times(&few));
    falls.then(|| finding(class, many.cell, many.value / few.value, &shown, evidence()))
}

/// Whether a time is surely so many times as long.
fn grows(few: &Number<'_>, many: &Number<'_>, times: f64) -> bool {
    few.is_surely_below(many) && many.ends().0 >= times * few.ends().1
}

fn with<'a>(series: &Series<'a>, threads: u64) -> Option<Number<'a>> {
    series.cells.iter().find(|cell| cell.workers == threads).and_then(|cell| series.number(cell))
}

/// Two of one kernel that differ in the pages or the place of their memory, with as many threads.
fn of_pair(one: &Series<'_>, other: &Series<'_>, strands: u64) -> Option<Found> {
    if one.kernel != other.kernel || one.mapping != other.mapping {
        return None;
    }
    let most = |series: &Series<'_>| series.cells.iter().map(|cell| cell.workers).filter(|n| *n <= strands).max();
    let threads = most(one)?.min(most(other)?);
    let (one_number, other_number) = (with(one, threads)?, with(other, threads)?);
    let [here, there] = [&one_number, &other_number].map(|number| number.cell.point);
    let are_alike = |change: fn(&mut Point)| {
        let [one, other] = [here, there].map(|mut point| {
            change(&mut point);
            point
        });
        one == other
    };
    let n = counted(threads as usize, "thread");
    match one.role() {
        Role::Latency(Chase::Random) if are_alike(|point| point.pages = None) => {
            let is_small = |number: &Number<'_>| number.cell.point.pages == Some(PageKind::Small);
            let (small, large) =
                if is_small(&one_number) { (one_number, other_number) } else { (other_number, one_number) };
            let is_one = is_small(&small) && !is_small(&large) && grows(&large, &small, 1.2);
            let shown = format!("on small pages a load takes {} times as long as on large ones", small.times(&large));
            let evidence = format!("{}, {}", large.cited(), small.cited());
            is_one.then(|| finding(&SPAN, small.cell, small.value / large.value, &shown, evidence))
        }
        Role::MemoryBandwidth(_) if are_alike(|point| point.memory = None) => {
            let is_local = |number: &Number<'_>| matches!(number.cell.point.memory, None | Some(MemoryPolicy::Local));
            let is_on_one = |number: &Number<'_>| matches!(number.cell.point.memory, Some(MemoryPolicy::Node(_)));
            let (node, local) =
                if is_on_one(&one_number) { (one_number, other_number) } else { (other_number, one_number) };
            let is_one = is_on_one(&node) && is_local(&local) && threads > 1 && node.is_surely_below(&local);
            let shown = format!("{n} get {} times as much as from their own nodes", node.times(&local));
            let evidence = format!("{}, {}", local.cited(), node.cited());
            is_one.then(|| finding(&HOT_NODE, node.cell, node.value / local.value, &shown, evidence))
        }
        _ => None,
    }
}

/// A program that would have more threads than it may have.
fn limited(series: &Series<'_>) -> Option<Found> {
    let limit = |cell: &&&Cell| {
        let runs = cell.invocations.iter().flat_map(|run| &run.runs);
        let grown = runs.filter_map(|run| run.growth.as_ref());
        grown.flat_map(|growth| growth.steps.iter().map(move |step| (growth, step))).any(|(_, step)| step.inlined > 0)
    };
    let cell = series.cells.iter().find(limit)?;
    let because = cell.invocations.iter().flat_map(|run| &run.runs).find_map(|run| run.growth.as_ref())?;
    let shown = format!("it had {} threads at most: {}", because.most_threads, because.limited_by);
    Some(finding(&LIMIT, cell, because.most_threads as f64, &shown, String::new()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::cell;
    use super::*;
    use crate::findings::findings;
    use charz_data::report::fixtures;

    fn of(cells: Vec<Cell>) -> Vec<String> {
        let report = fixtures::report(cells).on(4);
        let found = findings(&report).into_iter().filter(|finding| finding.kind == FindingKind::Scaling);
        found.map(|finding| finding.text).collect()
    }

    fn seated(kernel: &str, workers: u64, value: f64) -> Cell {
        cell(kernel, workers, value).seated(&(0..workers as u32).collect::<Vec<_>>())
    }

    #[test]
    fn what_does_less_together_than_alone_has_its_class() {
        let found = of(vec![seated("pool-std", 1, 1e8), seated("pool-std", 4, 2e7)]);
        assert!(found[0].starts_with("lock contention: pool-std ") && found[0].contains("0.2"), "{found:?}");
        let found = of(vec![seated("counter-atomic", 1, 1e8), seated("counter-atomic", 4, 5e7)]);
        assert!(found[0].starts_with("hot spot: a cache line"), "{found:?}");
        for [one, four] in [[1e8, 3.9e8], [1e8, 0.99e8]] {
            let found = of(vec![seated("pool-std", 1, one), seated("pool-std", 4, four)]);
            assert!(found.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn small_pages_and_one_node_show_beside_their_rivals() {
        let under = |pages, value| {
            let mut cell = fixtures::cell("chase-random", 1, Unit::NanosecondsPerStep, value).seated(&[0]);
            cell.point.pages = Some(pages);
            cell.point.size_bytes = Some(1 << 26);
            cell
        };
        let found = of(vec![under(PageKind::Small, 150.0), under(PageKind::Huge2M, 90.0)]);
        assert!(found.len() == 1 && found[0].starts_with("working set beyond"), "{found:?}");
        assert!(of(vec![under(PageKind::Small, 91.0), under(PageKind::Huge2M, 90.0)]).is_empty());
        let on = |memory, value| {
            let mut cell = fixtures::cell("mem-read", 4, Unit::BytesPerSecond, value).seated(&[0, 1, 2, 3]);
            cell.point.memory = memory;
            cell
        };
        let found = of(vec![on(None, 80e9), on(Some(MemoryPolicy::Node(0)), 40e9)]);
        assert!(found.len() == 1 && found[0].starts_with("hot spot: memory on one NUMA node"), "{found:?}");
        let larger = |memory, value| {
            let mut cell = on(memory, value);
            cell.point.size_bytes = Some(1 << 20);
            cell
        };
        assert!(of(vec![larger(None, 80e9), on(Some(MemoryPolicy::Node(0)), 40e9)]).is_empty(), "another size");
        assert!(of(vec![on(Some(MemoryPolicy::Interleaved), 80e9), on(Some(MemoryPolicy::Node(0)), 40e9)]).is_empty());
    }

    #[test]
    fn a_tree_that_grows_by_steps_takes_no_time_in_proportion() {
        let barrier = |threads: u64, ns| {
            let mut cell = fixtures::cell("barrier-std", threads, Unit::NanosecondsSampled, ns);
            cell.seats = (0..threads as u32).map(Some).collect();
            cell
        };
        let of = |cells: Vec<Cell>| {
            let found = findings(&fixtures::report(cells).on(16));
            found.into_iter().filter(|finding| finding.kind == FindingKind::Scaling).count()
        };
        assert_eq!(of(vec![barrier(2, 100.0), barrier(16, 800.0)]), 1);
        assert_eq!(of(vec![barrier(2, 100.0), barrier(16, 400.0)]), 0, "a step more whenever threads double");
        assert_eq!(of(vec![barrier(2, 100.0), barrier(4, 200.0)]), 0);
    }
}
