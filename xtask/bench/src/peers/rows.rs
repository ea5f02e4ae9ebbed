//! The table of comparisons.

use std::borrow::Cow;

use super::program::{Chain, Pages, Program};

/// One comparison.
#[derive(Clone)]
pub struct Row {
    /// What it is called, for choosing it.
    pub name: Cow<'static, str>,
    /// Ours.
    pub ours: Program,
    /// What it is compared with.
    pub peer: Program,
    /// The ratio of rates, ours to the peer's, to be reached.
    pub target: f64,
    /// The unit of the rates.
    pub unit: &'static str,
}

use Pages::{Small, Transparent};

const fn kernel(name: &'static str, workers: usize, pages: Pages) -> Program {
    Program::Kernel { name, workers, pages }
}

const fn likwid(test: &'static str, workers: usize, pages: Pages) -> Program {
    Program::Likwid { test, workers, pages }
}

const fn gbs(name: &'static str, ours: Program, peer: Program, target: f64) -> Row {
    Row { name: Cow::Borrowed(name), ours, peer, target, unit: "GB/s" }
}

const fn gops(name: &'static str, ours: Program, peer: Program, target: f64) -> Row {
    Row { name: Cow::Borrowed(name), ours, peer, target, unit: "Gop/s" }
}

const fn mops(name: &'static str, ours: Program, peer: Program, target: f64) -> Row {
    Row { name: Cow::Borrowed(name), ours, peer, target, unit: "Mop/s" }
}

/// A kernel of pages against the bare calls, on as much memory and in the same parts.
const fn handled(
    name: &'static str,
    kernel: &'static str,
    flags: &'static [&'static str],
    bare: &'static [&'static str],
) -> Row {
    Row {
        name: Cow::Borrowed(name),
        ours: meeting(kernel, 1, flags),
        peer: Program::Memory(bare),
        target: OF_PROBE,
        unit: "MB/s",
    }
}

/// A chase over so many KiB on pages of a kind.
const fn chase(name: &'static str, kib: &'static str, pages: &'static str) -> Row {
    let (ours, peer) = (Program::Chase { kib, pages }, Program::ProbeChase { kib, pages });
    Row { name: Cow::Borrowed(name), ours, peer, target: OF_CHASE, unit: "Mload/s" }
}

const fn meeting(name: &'static str, workers: usize, flags: &'static [&'static str]) -> Program {
    Program::Meeting { name, workers, flags }
}

/// The share of a bare loop's speed that a kernel around the same calls has to reach.
const OF_LOOP: f64 = 0.97;
/// The share of a bare probe's speed that a kernel has to reach where the system does most of the work.
const OF_PROBE: f64 = 0.95;

/// The share of a bare pointer chase's speed that ours has to reach.
const OF_CHASE: f64 = 0.97;

/// The share of the critical path's speed that an arithmetic chain has to reach.
const OF_PATH: f64 = 0.98;

/// As many locks as the bare loops take.
const LOCKS: &[&str] = &["--iterations", "100000000"];

/// As many samples as the bare probes take, each when the one before is over.
const CLOSED: &[&str] = &["--samples", "5000", "--period", "closed"];
/// About as long as the bare rings take.
const SPAN: &[&str] = &["--span", "200"];

/// As much memory as the bare operations on pages take, on small pages and on huge ones.
const ON_SMALL: &[&str] = &["--size", "256", "--pages", "4k"];
const ON_HUGE: &[&str] = &["--size", "256", "--pages", "thp"];

/// Every comparison.
pub fn all() -> Vec<Row> {
    ROWS.iter().cloned().chain(levels()).collect()
}

/// Passes over a block, by ours and by likwid-bench's test.
const PASSES: [(&str, &str, &str); 6] = [
    ("read", "level-read", "load_avx"),
    ("write", "level-write", "store_avx"),
    ("write-nt", "level-write-nt", "store_mem_avx"),
    ("copy", "level-copy", "copy_avx"),
    // The same operation, and the one that goes by the name: it multiplies two arrays, and so has one more to read.
    ("triad-stream", "level-triad", "stream_avx"),
    ("triad", "level-triad", "triad_avx"),
];

/// KiB of each worker's block, well inside of a level of caches of most machines, or far beyond all.
const LEVELS: [(&str, u64); 4] = [("l1", 16), ("l2", 512), ("l3", 4096), ("memory", 256 << 10)];

/// Each pass in each level, by one worker and by two.
fn levels() -> impl Iterator<Item = Row> {
    let places = LEVELS.into_iter().flat_map(|level| [1, 2].map(|workers| (level, workers)));
    places.flat_map(|((level, kib), workers)| {
        PASSES.into_iter().map(move |(what, name, test)| Row {
            name: format!("level-{level}-{workers}-{what}").into(),
            ours: Program::Level { name, workers, kib },
            peer: Program::LikwidLevel { test, workers, kib },
            target: 1.0,
            unit: "GB/s",
        })
    })
}

/// Those that are one of a kind.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    gops("peak-float-1", Program::Peak { workers: 1 }, Program::LikwidPeak { workers: 1 }, 1.2),
    gops("peak-float-2", Program::Peak { workers: 2 }, Program::LikwidPeak { workers: 2 }, 1.2),
    gops("arith-int", Program::Arithmetic(Chain::Int), Program::CriticalPath(Chain::Int), OF_PATH),
    gops("arith-float", Program::Arithmetic(Chain::Float), Program::CriticalPath(Chain::Float), OF_PATH),
    gbs("mem-read-1-4k", kernel("mem-read", 1, Small), likwid("load_avx", 1, Small), 1.0),
    gbs("mem-read-2-4k", kernel("mem-read", 2, Small), likwid("load_avx", 2, Small), 1.0),
    gbs("mem-read-1-thp", kernel("mem-read", 1, Transparent), likwid("load_avx", 1, Transparent), 1.0),
    gbs("mem-read-2-thp", kernel("mem-read", 2, Transparent), likwid("load_avx", 2, Transparent), 1.0),
    gbs("mem-read-streams-1-4k", kernel("mem-read-streams", 1, Small), likwid("load_avx", 1, Small), 1.25),
    gbs("mem-read-streams-2-4k", kernel("mem-read-streams", 2, Small), likwid("load_avx", 2, Small), 1.25),
    gbs("mem-write-memset-1-4k", kernel("mem-write", 1, Small), kernel("mem-memset", 1, Small), 1.0),
    gbs("mem-write-memset-1-thp", kernel("mem-write", 1, Transparent), kernel("mem-memset", 1, Transparent), 1.0),
    gbs("mem-write-store-1-4k", kernel("mem-write", 1, Small), likwid("store_avx", 1, Small), 1.0),
    gbs("mem-write-store-2-4k", kernel("mem-write", 2, Small), likwid("store_avx", 2, Small), 1.0),
    gbs("mem-write-nt-1-4k", kernel("mem-write-nt", 1, Small), likwid("store_mem_avx", 1, Small), 1.0),
    gbs("mem-write-nt-2-4k", kernel("mem-write-nt", 2, Small), likwid("store_mem_avx", 2, Small), 1.0),
    gbs("mem-triad-1-4k", kernel("mem-triad", 1, Small), likwid("stream_mem_avx", 1, Small), 1.0),
    gbs("mem-triad-2-4k", kernel("mem-triad", 2, Small), likwid("stream_mem_avx", 2, Small), 1.0),
    gbs("mem-copy-1-thp", kernel("mem-copy", 1, Transparent), likwid("copy_mem_avx", 1, Transparent), 1.0),
    gbs("mem-copy-2-thp", kernel("mem-copy", 2, Transparent), likwid("copy_mem_avx", 2, Transparent), 1.0),
    gbs("mem-triad-1-thp", kernel("mem-triad", 1, Transparent), likwid("triad_mem_avx", 1, Transparent), 1.0),
    gbs("mem-triad-2-thp", kernel("mem-triad", 2, Transparent), likwid("triad_mem_avx", 2, Transparent), 1.0),
    chase("chase-l1", "16", "thp"),
    chase("chase-l2", "256", "thp"),
    chase("chase-l3", "4096", "thp"),
    chase("chase-memory", "262144", "thp"),
    chase("chase-memory-4k", "262144", "4k"),
    mops("lock-std", meeting("lock-std", 1, LOCKS), Program::Bare("std"), OF_LOOP),
    mops("lock-parking-lot", meeting("lock-parking-lot", 1, LOCKS), Program::Bare("parking-lot"), OF_LOOP),
    mops("lock-pthread", meeting("lock-pthread", 1, LOCKS), Program::Probe(&["lock", "3000000"]), OF_LOOP),
    mops("create-pthread", meeting("create-pthread", 2, CLOSED), Program::Probe(&["create", "5000", "65536"]), OF_PROBE),
    mops("unlock-pthread", meeting("unlock-pthread", 2, CLOSED), Program::Probe(&["unlock", "5000"]), OF_PROBE),
    mops("ring-mutex-2", meeting("ring-mutex", 2, SPAN), Program::Probe(&["ring", "2", "10000"]), OF_PROBE),
    mops("ring-mutex-3", meeting("ring-mutex", 3, SPAN), Program::Probe(&["ring", "3", "10000"]), OF_PROBE),
    handled("pages-touch-4k", "pages-touch", ON_SMALL, &["touch", "4k", "256", "1"]),
    handled("pages-touch-thp", "pages-touch", ON_HUGE, &["touch", "thp", "256", "2"]),
    handled("pages-lock-4k", "pages-lock", ON_SMALL, &["lock", "4k", "256", "2"]),
    handled("pages-lock-thp", "pages-lock", ON_HUGE, &["lock", "thp", "256", "16"]),
    handled("pages-release-4k", "pages-release", ON_SMALL, &["release", "4k", "256", "2"]),
    handled("pages-release-thp", "pages-release", ON_HUGE, &["release", "thp", "256", "16"]),
    mops("alloc-system", meeting("alloc-system", 1, SPAN), Program::Memory(&["alloc", "4000000"]), OF_PROBE),
    Row { name: Cow::Borrowed("topo"), ours: Program::Topo, peer: Program::Lscpu, target: 1.0, unit: "1/s" },
    Row { name: Cow::Borrowed("map-65536"), ours: Program::LargeMap, peer: Program::Twice, target: 1.0, unit: "1/s" },
];
