//! The table of comparisons.

use super::program::{Chain, Pages, Program};

pub struct Row {
    /// What it is called, for choosing it.
    pub name: String,
    pub ours: Program,
    pub peer: Program,
    /// The ratio of rates, ours to the peer's, to be reached.
    pub target: f64,
    pub unit: &'static str,
}

fn row(unit: &'static str, name: impl Into<String>, ours: Program, peer: Program, target: f64) -> Row {
    Row { name: name.into(), ours, peer, target, unit }
}

/// The share of a bare loop's speed that a kernel around the same calls has to reach.
const OF_LOOP: f64 = 0.97;
/// The share of a bare probe's speed that a kernel has to reach where the system does most of the work.
const OF_PROBE: f64 = 0.95;

/// The share of a bare loop's speed that a kernel has to reach that also loads what the clock says, which shows on a fast one.
const OF_READING: f64 = 0.9;

/// The share of a bare pointer chase's speed that ours has to reach.
const OF_CHASE: f64 = 0.97;

/// The share of the critical path's speed that an arithmetic chain has to reach.
const OF_PATH: f64 = 0.98;

/// The share of a bare loop of loads that a pass has to reach which also adds up a part, to show that it was made.
const OF_LOADS: f64 = 0.98;

/// As many locks as the bare loops take.
const LOCKS: &str = "--iterations 100000000";

/// As long as the bare loops over a clock take.
const READINGS: &str = "--span 20";

/// As many samples as the bare probes take, each when the one before is over.
const CLOSED: &str = "--samples 5000 --period closed";
const MEDIAN: &str = "median of 5000";

/// About as long as the bare rings take.
const SPAN: &str = "--span 200";
const OF_TWO: &str = "--span 200 --per-process 2";

/// As much memory as the bare operations on pages take, on small pages and on huge ones.
const ON_SMALL: &str = "--size 256 --pages 4k";
const ON_HUGE: &str = "--size 256 --pages thp";

pub fn all() -> Vec<Row> {
    alone().into_iter().chain(levels()).collect()
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
        PASSES.into_iter().map(move |(what, name, test)| {
            let (ours, peer) = (Program::level(name, workers, kib), Program::likwid_level(test, workers, kib));
            row("GB/s", format!("level-{level}-{workers}-{what}"), ours, peer, 1.0)
        })
    })
}

/// Runs per turn of a program that takes a few milliseconds.
const SPAWNS: usize = 20;

/// Mapping a synthetic machine of 65,536 strands.
#[rustfmt::skip]
const LARGE_MAP: &[&str] = &[
    "map", "--mapping", "round-robin", "--threads", "65536", "--format", "json",
    "--topology", "Package:64 Core:128 Group:2 PU:4",
];

fn bare(program: &'static str, words: &str, estimator: &'static str) -> Program {
    Program::Bare(program, words.to_owned(), estimator)
}

/// A chase over so many KiB on pages of a kind.
fn chase(name: &str, kib: u64, pages: &str) -> Row {
    let peer = bare("probe", &format!("chase {kib} {pages}"), "best of 20");
    row("Mload/s", name, Program::chase(kib, pages), peer, OF_CHASE)
}

/// A kernel that reads a clock of the system against the bare loop.
fn clock(kernel: &'static str, word: &str) -> Row {
    let peer = bare("probe", &format!("clock {word} 1000000"), "best of 5");
    row("Mop/s", kernel, Program::call(kernel, READINGS), peer, OF_READING)
}

/// A kernel of pages against the bare calls, on as much memory and in the same parts.
fn handled(name: &str, kernel: &'static str, options: &str, words: &str) -> Row {
    row("MB/s", name, Program::meeting(kernel, 1, options), bare("memory", words, "median of 5"), OF_PROBE)
}

/// A kernel of copies against a loop of memcpy, of as many bytes.
fn copies(name: &str, kernel: &'static str, words: &str) -> Row {
    let bytes: u64 =
        words.split(' ').nth(1).and_then(|bytes| bytes.parse().ok()).expect("the bytes are the second word");
    let options = format!("--span 3 --pages thp --size-bytes {}", 2 * bytes);
    row("MB/s", name, Program::call(kernel, &options), bare("memory", words, "best of 5"), OF_PROBE)
}

/// Those that are one of a kind.
#[rustfmt::skip]
fn alone() -> Vec<Row> {
    use Pages::{Small, Transparent};
    let (kernel, likwid, meeting, call) = (Program::kernel, Program::likwid, Program::meeting, Program::call);
    let probe = |words: &str, estimator| bare("probe", words, estimator);
    let gbs = |name: &str, ours, peer, target| row("GB/s", name, ours, peer, target);
    let gops = |name: &str, ours, peer, target| row("Gop/s", name, ours, peer, target);
    let mops = |name: &str, ours, peer, target| row("Mop/s", name, ours, peer, target);
    vec![
        gops("peak-float-1", Program::peak(1), Program::likwid_peak(1), 1.2),
        gops("peak-float-2", Program::peak(2), Program::likwid_peak(2), 1.2),
        gops("arith-int", Program::arithmetic(Chain::Int), Program::CriticalPath(Chain::Int), OF_PATH),
        gops("arith-float", Program::arithmetic(Chain::Float), Program::CriticalPath(Chain::Float), OF_PATH),
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
        chase("chase-l1", 16, "thp"),
        chase("chase-l2", 256, "thp"),
        chase("chase-l3", 4096, "thp"),
        chase("chase-memory", 262144, "thp"),
        chase("chase-memory-4k", 262144, "4k"),
        mops("lock-std", call("lock-std", LOCKS), bare("bare", "std", "best of 5"), OF_LOOP),
        mops("lock-parking-lot", call("lock-parking-lot", LOCKS), bare("bare", "parking-lot", "best of 5"), OF_LOOP),
        mops("lock-pthread", call("lock-pthread", LOCKS), probe("lock 3000000", "best of 5"), OF_LOOP),
        clock("read-monotonic", "monotonic"),
        clock("read-realtime", "realtime"),
        clock("read-monotonic-raw", "monotonic-raw"),
        clock("read-monotonic-coarse", "monotonic-coarse"),
        mops("create-pthread", meeting("create-pthread", 2, CLOSED), probe("create 5000 65536", MEDIAN), OF_PROBE),
        mops("unlock-pthread", meeting("unlock-pthread", 2, CLOSED), probe("unlock 5000", MEDIAN), OF_PROBE),
        mops("ring-mutex-2", meeting("ring-mutex", 2, SPAN), probe("ring 1 2 10000", "one run"), OF_PROBE),
        mops("ring-mutex-3", meeting("ring-mutex", 3, SPAN), probe("ring 1 3 10000", "one run"), OF_PROBE),
        mops("ring-mutex-processes-2", meeting("ring-mutex-processes", 2, SPAN), probe("ring 2 1 10000", "one run"), OF_PROBE),
        mops("ring-mutex-processes-2x2", meeting("ring-mutex-processes", 4, OF_TWO), probe("ring 2 2 10000", "one run"), OF_PROBE),
        copies("copy-aligned-64", "copy-aligned", "copy 64 0 0"),
        copies("copy-aligned-4096", "copy-aligned", "copy 4096 0 0"),
        copies("copy-from-odd-4096", "copy-from-odd", "copy 4096 1 0"),
        copies("copy-to-odd-4096", "copy-to-odd", "copy 4096 0 1"),
        copies("copy-both-odd-32768", "copy-both-odd", "copy 32768 1 1"),
        gbs("level-l1-1-load", Program::level("level-read", 1, 16), bare("memory", "load 16", "best of 5"), OF_LOADS),
        handled("pages-touch-4k", "pages-touch", ON_SMALL, "touch 4k 256 1"),
        handled("pages-touch-thp", "pages-touch", ON_HUGE, "touch thp 256 2"),
        handled("pages-lock-4k", "pages-lock", ON_SMALL, "lock 4k 256 2"),
        handled("pages-lock-thp", "pages-lock", ON_HUGE, "lock thp 256 16"),
        handled("pages-release-4k", "pages-release", ON_SMALL, "release 4k 256 2"),
        handled("pages-release-thp", "pages-release", ON_HUGE, "release thp 256 16"),
        mops("alloc-system", meeting("alloc-system", 1, SPAN), bare("memory", "alloc 4000000", "median of 5"), OF_PROBE),
        row("1/s", "topo", Program::Runs("charz", &["topo"], SPAWNS), Program::Runs("lscpu", &[], SPAWNS), 1.0),
        row("1/s", "map-65536", Program::Runs("charz", LARGE_MAP, 1), Program::Twice, 1.0),
    ]
}
