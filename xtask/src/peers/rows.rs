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

/// The share of the critical path's speed that an arithmetic chain has to reach.
const OF_PATH: f64 = 0.98;

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
    Row { name: "topo", ours: Program::Topo, peer: Program::Lscpu, target: 1.0, unit: "1/s" },
    Row { name: "map-65536", ours: Program::LargeMap, peer: Program::Twice, target: 1.0, unit: "1/s" },
];
