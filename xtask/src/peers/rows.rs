//! The table of comparisons.

use super::program::{Chain, Pages, Program};

/// One comparison.
#[derive(Clone, Copy)]
pub struct Row {
    /// What it is called, for choosing it.
    pub name: &'static str,
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
    Row { name, ours, peer, target, unit: "GB/s" }
}

const fn gops(name: &'static str, ours: Program, peer: Program, target: f64) -> Row {
    Row { name, ours, peer, target, unit: "Gop/s" }
}

const fn mops(name: &'static str, ours: Program, peer: Program, target: f64) -> Row {
    Row { name, ours, peer, target, unit: "Mop/s" }
}

const fn meeting(name: &'static str, workers: usize, flags: &'static [&'static str]) -> Program {
    Program::Meeting { name, workers, flags }
}

/// The share of a bare loop's speed that a kernel around the same calls has to reach.
const OF_LOOP: f64 = 0.97;
/// The share of a bare probe's speed that a kernel has to reach whose workers sleep and are woken.
const OF_PROBE: f64 = 0.95;

/// The share of the critical path's speed that an arithmetic chain has to reach.
const OF_PATH: f64 = 0.98;

/// As many locks as the bare loops take.
const LOCKS: &[&str] = &["--iterations", "100000000"];

/// As many samples as the bare probes take, each when the one before is over.
const CLOSED: &[&str] = &["--samples", "5000", "--period", "closed"];
/// About as long as the bare rings take.
const SPAN: &[&str] = &["--span", "200"];

/// Every comparison.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
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
    mops("lock-std", meeting("lock-std", 1, LOCKS), Program::Bare("std"), OF_LOOP),
    mops("lock-parking-lot", meeting("lock-parking-lot", 1, LOCKS), Program::Bare("parking-lot"), OF_LOOP),
    mops("lock-pthread", meeting("lock-pthread", 1, LOCKS), Program::Probe(&["lock", "3000000"]), OF_LOOP),
    mops("create-pthread", meeting("create-pthread", 2, CLOSED), Program::Probe(&["create", "5000", "65536"]), OF_PROBE),
    mops("unlock-pthread", meeting("unlock-pthread", 2, CLOSED), Program::Probe(&["unlock", "5000"]), OF_PROBE),
    mops("ring-mutex-2", meeting("ring-mutex", 2, SPAN), Program::Probe(&["ring", "2", "10000"]), OF_PROBE),
    mops("ring-mutex-3", meeting("ring-mutex", 3, SPAN), Program::Probe(&["ring", "3", "10000"]), OF_PROBE),
    Row { name: "topo", ours: Program::Topo, peer: Program::Lscpu, target: 1.0, unit: "1/s" },
    Row { name: "map-65536", ours: Program::LargeMap, peer: Program::Twice, target: 1.0, unit: "1/s" },
];
