//! The class of a scaling problem, with the cells that show it and the experiment that would confirm it.
//!
//! The classes are those of S. Sistare, "Solaris Scalability": lock contention, algorithms that take time in proportion to the number of CPUs,
//! hot spots in memory, working sets beyond what caches of translations span, caches that threads share and overflow together, translations
//! that are taken back on all CPUs, and limits on resources. Only what the intervals show is called one.

use charz_estimate::{Estimate, MARGIN};
use charz_words::estimate::{cited, times};
use std::collections::{BTreeMap, HashSet};

use super::latency::clock;
use super::on_cell;
use super::series::Series;
use charz_data::card::{Chase, CounterKind, WordOwner};
use charz_data::escape::counted;
use charz_data::machine::{Cache, Machine};
use charz_data::report::{Cell, Finding, FindingKind, Point, Report, Unit};
use charz_data::{MemoryPolicy, PageKind, Role, units};

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
const THRASHING: Class = Class {
    name: "thrashing of a shared cache",
    confirm: "charz sweep --kernel chase-random --threads N --size SIZE is fast where all N blocks fit; smaller blocks, or fewer threads \
              per cache, help",
};
const LIMIT: Class = Class { name: "limit on a resource", confirm: "charz doctor lists the limits of this process" };

/// What of this scales badly, and why: of each kernel a class once, since under each mapping it is the same problem.
pub(super) fn classes(all: &[Series<'_>], report: &Report, strands: u64) -> Vec<Finding> {
    let pairs = all.iter().enumerate().flat_map(|(at, one)| all[at + 1..].iter().map(move |other| (one, other)));
    let found = all.iter().filter_map(|series| of_series(series, strands));
    let found = found.chain(all.iter().filter_map(|series| thrashing(series, report)));
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
    let within = |number: &Estimate<'_>| number.interval.is_some() && (least..=strands).contains(&number.cell.workers);
    let few = series.numbers().find(within)?;
    let many = series.numbers().filter(within).last().filter(|many| many.cell.workers > few.cell.workers)?;
    let evidence = || format!("{}, {}", cited(&few), cited(&many));
    let [n, m] = [&many, &few].map(|number| counted(number.cell.workers as usize, "thread"));
    let class = match series.role() {
        Role::LockPool { .. } | Role::Counter(CounterKind::Mutex) => &LOCK,
        Role::LockFreePool { .. } | Role::Counter(CounterKind::Atomic) | Role::Adding(WordOwner::All) => &HOT_LINE,
        Role::Unmapping if grows(&few, &many, GROWS) => {
            let shown = format!("with {n} it takes {} times as long as with {m}", times(&many, &few));
            return Some(finding(&BROADCAST, many.cell, many.value / few.value, &shown, evidence()));
        }
        Role::Barrier if series.counts(Unit::NanosecondsSampled) => {
            let more = many.cell.workers / few.cell.workers;
            let shown = format!("with {n} each takes {} times as long as with {m}", times(&many, &few));
            let is_one = more >= MANY_TIMES && grows(&few, &many, PROPORTIONAL * more as f64);
            return is_one.then(|| finding(&PROPORTION, many.cell, many.value / few.value, &shown, evidence()));
        }
        _ => return None,
    };
    // All together do less than one alone, by more than what makes no difference.
    let is_less = many.ends().1 < few.ends().0 * (1.0 - MARGIN) && many.is_surely_below(&few);
    let falls = series.counts(Unit::OpsPerSecond) && few.cell.workers == 1 && is_less;
    let shown = format!("{n} do {} times as much as {m}", times(&many, &few));
    falls.then(|| finding(class, many.cell, many.value / few.value, &shown, evidence()))
}

/// Whether a time is surely so many times as long.
fn grows(few: &Estimate<'_>, many: &Estimate<'_>, times: f64) -> bool {
    few.is_surely_below(many) && many.ends().0 >= times * few.ends().1
}

/// Blocks that fit into a cache with few of the threads that share it, and not with many.
///
/// Only dependent loads at random show it: a thread has one of them under way, so threads hardly compete for bandwidth. The rate per thread
/// of streams and of several chains falls with more threads though all blocks fit, a stride is read ahead, and the threads of
/// `cmt-working-set` divide the size.
fn thrashing(series: &Series<'_>, report: &Report) -> Option<Found> {
    if *series.role() != Role::Latency(Chase::Random) || !series.counts(Unit::NanosecondsPerStep) {
        return None;
    }
    let numbers = || series.numbers().filter(|number| number.interval.is_some() && number.cell.has_own_cpus());
    let block = |cell: &Cell| cell.params(&report.plan.params).size_bytes;
    let overfull_by = |cell: &Cell, times: u64| overfull(cell, block(cell).saturating_mul(times), &report.machine);
    let overfull = |cell: &Cell| overfull_by(cell, 1);
    let many = numbers().last()?;
    let (cache, blocks) = overfull(many.cell).into_iter().max_by_key(|(cache, blocks)| (cache.level, *blocks))?;
    let is_over = |found: Vec<(&Cache, u64)>| found.iter().any(|(other, _)| other.level == cache.level);
    let fits = |cell: &Cell| !is_over(overfull(cell)) && is_over(overfull_by(cell, 2));
    // With as many as fit, or half of them: what grows before has another reason.
    let few = numbers().filter(|few| block(few.cell) == block(many.cell) && fits(few.cell)).last()?;
    // The time follows the clock, which may fall with more threads.
    let slower = clock(few.cell).zip(clock(many.cell)).map_or(1.0, |(few, many)| few / many);
    let [n, m] = [&many, &few].map(|number| counted(number.cell.workers as usize, "thread"));
    let shown = format!(
        "with {n} a load takes {} times as long as with {m}: {blocks} blocks of {} share an L{} of {}",
        times(&many, &few),
        units::iec(block(many.cell)),
        cache.level,
        units::iec(cache.size_bytes?)
    );
    let is_one = blocks > 1 && grows(&few, &many, GROWS * slower.max(1.0));
    let evidence = format!("{}, {}", cited(&few), cited(&many));
    is_one.then(|| finding(&THRASHING, many.cell, many.value / few.value, &shown, evidence))
}

/// The caches that are smaller than the blocks of the cell's threads under them, with how many these are.
fn overfull<'a>(cell: &Cell, block: u64, machine: &'a Machine) -> Vec<(&'a Cache, u64)> {
    let mut blocks = BTreeMap::<u32, (&Cache, u64)>::new();
    let seats: HashSet<u32> = cell.seats.iter().copied().flatten().collect();
    let seated = machine.strands.iter().filter(|strand| seats.contains(&strand.os_id));
    for (index, cache) in seated.flat_map(|strand| machine.data_caches(strand)) {
        blocks.entry(index).or_insert((cache, 0)).1 += 1;
    }
    let is_less =
        |(cache, blocks): &(&Cache, u64)| cache.size_bytes.is_some_and(|size| blocks.saturating_mul(block) > size);
    blocks.into_values().filter(is_less).collect()
}

fn with<'a>(series: &Series<'a>, threads: u64) -> Option<Estimate<'a>> {
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
            let is_small = |number: &Estimate<'_>| number.cell.point.pages == Some(PageKind::Small);
            let (small, large) =
                if is_small(&one_number) { (one_number, other_number) } else { (other_number, one_number) };
            let is_one = is_small(&small) && !is_small(&large) && grows(&large, &small, 1.2);
            let shown = format!("on small pages a load takes {} times as long as on large ones", times(&small, &large));
            let evidence = format!("{}, {}", cited(&large), cited(&small));
            is_one.then(|| finding(&SPAN, small.cell, small.value / large.value, &shown, evidence))
        }
        Role::MemoryBandwidth(_) if are_alike(|point| point.memory = None) => {
            let is_local = |number: &Estimate<'_>| matches!(number.cell.point.memory, None | Some(MemoryPolicy::Local));
            let is_on_one = |number: &Estimate<'_>| matches!(number.cell.point.memory, Some(MemoryPolicy::Node(_)));
            let (node, local) =
                if is_on_one(&one_number) { (one_number, other_number) } else { (other_number, one_number) };
            let is_one = is_on_one(&node) && is_local(&local) && threads > 1 && node.is_surely_below(&local);
            let shown = format!("{n} get {} times as much as from their own nodes", times(&node, &local));
            let evidence = format!("{}, {}", cited(&local), cited(&node));
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
        cell(kernel, workers, value).in_order()
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
    fn blocks_that_fit_a_shared_cache_alone_and_not_together_thrash_it() {
        const MACHINE: &str = "Package:1 L3:1(size=32MiB) Core:4 L2:1(size=1MiB) L1d:1(size=32KiB) PU:2";
        let machine = charz_estimate::fixtures::report(MACHINE).machine;
        let found = |cells: Vec<Cell>| {
            let report = Report { machine: machine.clone(), ..fixtures::report(cells) };
            let found = findings(&report).into_iter().filter(|finding| finding.kind == FindingKind::Scaling);
            found.map(|finding| finding.text).collect::<Vec<_>>()
        };
        let of = |kernel: &str, size: u64, cells: &[(&[u32], f64)]| {
            let unit = if kernel == "chase-random" { Unit::NanosecondsPerStep } else { Unit::BytesPerSecond };
            let cell = |(seats, value): &(&[u32], f64)| {
                fixtures::cell(kernel, seats.len() as u64, unit, *value).seated(seats).sized(size)
            };
            cells.iter().map(cell).collect::<Vec<_>>()
        };
        let chase = |size: u64, cells: &[(&[u32], f64)]| of("chase-random", size, cells);
        let (four, all): (&[u32], &[u32]) = (&[0, 2, 4, 6], &[0, 1, 2, 3, 4, 5, 6, 7]);
        let thrashes = found(chase(8 << 20, &[(&[0], 18.0), (four, 20.0), (all, 80.0)]));
        assert!(thrashes.len() == 1 && thrashes[0].starts_with("thrashing of a shared cache"), "{thrashes:?}");
        charz_estimate::fixtures::assert_words(
            &thrashes[0],
            &["8 threads", "with 4 threads", "8 blocks of 8 MiB", "L3 of 32 MiB"],
        );
        let thrashes = found(chase(768 << 10, &[(&[0], 4.0), (&[0, 1], 9.0)]));
        charz_estimate::fixtures::assert_words(&thrashes[0], &["2 blocks of 768 KiB", "L2 of 1 MiB"]);
        let clocked = |hz| chase(8 << 20, &[(all, 32.0)]).into_iter().map(move |cell| cell.clocked(hz));
        let one = || chase(8 << 20, &[(four, 20.0)]).into_iter().map(|cell| cell.clocked(4e9));
        assert_eq!([2.5e9, 4e9].map(|hz| found(one().chain(clocked(hz)).collect()).len()), [0, 1], "the clock fell");
        let floating = fixtures::cell("chase-random", 8, Unit::NanosecondsPerStep, 80.0).sized(8 << 20);
        for (why, cells) in [
            ("a core's threads do not overflow its L2", chase(128 << 10, &[(&[0], 4.0), (&[0, 1], 9.0)])),
            ("a block alone is too large", chase(64 << 20, &[(&[0], 90.0), (all, 180.0)])),
            ("they grow before the cache is full", chase(8 << 20, &[(&[0], 20.0), (four, 60.0), (all, 80.0)])),
            ("by less than half", chase(8 << 20, &[(four, 20.0), (all, 30.0)])),
            ("nothing near as many as fit", chase(8 << 20, &[(&[0], 20.0), (all, 80.0)])),
            ("more threads than CPUs", chase(8 << 20, &[(four, 20.0), (&[0, 1, 2, 3, 4, 5, 6, 7, 0], 80.0)])),
            ("seats are not known", [chase(8 << 20, &[(four, 20.0)]), vec![floating]].concat()),
            ("streams share bandwidth", of("level-read", 8 << 20, &[(four, 40e9), (all, 50e9)])),
            ("memory's bandwidth", of("mem-read", 64 << 20, &[(&[0], 10e9), (all, 12e9)])),
        ] {
            assert_eq!(found(cells), [""; 0], "{why}");
        }
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
