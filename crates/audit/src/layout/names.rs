//! What groups of CPUs probably are, by how far a line goes in them and how many there are.

use std::fmt;

use super::{Layout, Level};

/// What a level probably is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelName {
    /// Hardware threads of one core.
    Core,
    /// A cache of this level.
    Cache(u32),
    /// A part of a package.
    Die,
    /// A socket.
    Package,
    /// A NUMA node; only by a claim, since latencies of lines do not show memory.
    Node,
    /// None of these by its place among the others: its rank from the innermost, from 1.
    Other(u32),
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelName::Core => f.write_str("core"),
            LevelName::Cache(level) => write!(f, "l{level}"),
            LevelName::Die => f.write_str("die"),
            LevelName::Package => f.write_str("package"),
            LevelName::Node => f.write_str("numa"),
            LevelName::Other(rank) => write!(f, "level {rank}"),
        }
    }
}

/// A line stays in one core for less than this many nanoseconds one way, and in one last-level cache of a few cores for less than that:
/// of 23 machines from 2009 to 2021 the slowest core takes 14 ns and the fastest pair of two cores 16 ns, the slowest cache of a few cores 28 ns
/// and the fastest package 36 ns.
const CORE: f64 = 15.0;
const CACHE: f64 = 32.0;
/// Around several last-level caches, a line stays in one die for less than this; in a package of dies it takes more.
const DIE: f64 = 100.0;
/// The most threads of a core, and the most cores that usually share a cache below the last level.
const THREADS: usize = 8;
const FEW: usize = 4;

pub(super) fn give(layout: &mut Layout) {
    let mut taken: Vec<LevelName> = Vec::new();
    let (mut threads, mut has_cache) = (1, false);
    for (rank, level) in (1..).zip(&mut layout.levels) {
        let name = likely(level, threads, has_cache);
        // No two have one name, and none is inside one that it contains.
        let fits = taken.last().is_none_or(|inner| *inner < name);
        level.name = if fits { name } else { LevelName::Other(rank) };
        taken.push(level.name);
        if level.name == LevelName::Core {
            threads = largest(level);
        }
        has_cache |= level.name == LevelName::Cache(3);
    }
    layout.undecided.iter_mut().for_each(|open| open.level.name = likely(&open.level, threads, has_cache));
}

fn largest(level: &Level) -> usize {
    level.groups.iter().map(Vec::len).max().unwrap_or(1)
}

fn likely(level: &Level, threads: usize, has_cache: bool) -> LevelName {
    let size = largest(level);
    match level.within {
        within if within < CORE && size <= THREADS => LevelName::Core,
        within if within < CACHE => LevelName::Cache(3),
        within if within < DIE && has_cache => LevelName::Die,
        _ if size <= FEW * threads => LevelName::Cache(2),
        _ => LevelName::Package,
    }
}
