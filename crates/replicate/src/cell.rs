//! Which cell answers a value of a document, and which cells make sense on a machine.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::distance::Distance;
use charz_data::machine::{Machine, Strand};
use charz_data::{CellSpec, Params};

use super::statistic::Statistic;
use super::why::{Refusal, Requirement, Why};

/// What is known of kernels.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// Whether one runs with this number of workers.
    pub admits: fn(kernel: &str, workers: u64) -> Result<(), Refusal>,
    /// Whether hardware counters can be had; why not, as a clause.
    pub counters: fn() -> Result<(), String>,
    /// The bytes that all workers of one take together; `None` where it is not known.
    pub footprint: fn(kernel: &str, params: &Params, workers: u64) -> Option<u64>,
}

#[cfg(any(test, feature = "fixtures"))]
impl Kernels {
    /// Those that run with any number of workers.
    pub const ANY: Kernels = Kernels { admits: |_, _| Ok(()), counters: || Ok(()), footprint: |_, _, _| None };
}

/// A machine to replicate a document on. Cores, packages and nodes count if a strand of theirs is usable.
#[derive(Clone, Debug)]
pub struct Target {
    /// Usable strands.
    pub strands: u64,
    /// Cores, at least 1, as of the next two.
    pub cores: u64,
    /// The strands of the core that a compact mapping fills first, at least 1: cores of other kinds have others.
    pub core: u64,
    /// Packages.
    pub packages: u64,
    /// NUMA nodes.
    pub nodes: u64,
    /// The most ALU groups of a core that are known to have two usable strands each; 0 where the topology states none.
    pub alu_groups: u64,
    /// The distances at which two usable strands are.
    pub distances: BTreeSet<Distance>,
    /// What is known of kernels.
    pub kernels: Kernels,
}

impl Target {
    /// Counts what the usable strands of a machine make up.
    pub fn new(machine: &Machine, kernels: Kernels) -> Target {
        let usable = || machine.usable_strands();
        // An unknown number is 1.
        let distinct =
            |of: fn(&Strand) -> Option<u32>| usable().filter_map(of).collect::<BTreeSet<_>>().len().max(1) as u64;
        let pairs = usable().enumerate().flat_map(|(at, one)| usable().skip(at + 1).map(move |other| (one, other)));
        let core =
            usable().min_by_key(|strand| (strand.package, strand.numa, strand.core)).and_then(|first| first.core);
        let of_core = usable().filter(|strand| core.is_some() && strand.core == core).count();
        Target {
            strands: usable().count() as u64,
            core: of_core.max(1) as u64,
            cores: distinct(|strand| strand.core),
            packages: distinct(|strand| strand.package),
            nodes: distinct(|strand| strand.numa),
            alu_groups: if machine.alu.is_known() { shared_groups(usable()) } else { 0 },
            distances: pairs.map(|(one, other)| machine.distance(one, other)).collect(),
            kernels,
        }
    }

    /// One package of cores with one strand each.
    #[cfg(any(test, feature = "fixtures"))]
    pub fn flat(strands: u64, kernels: Kernels) -> Target {
        let distances = (strands > 1).then_some(Distance::Numa).into_iter().collect();
        Target { strands, cores: strands, core: 1, packages: 1, nodes: 1, alu_groups: 0, distances, kernels }
    }

    /// The documents went beyond the strands of their machines, and so does a replication of a fixed number of workers, up to twice
    /// the strands.
    pub fn max_workers(&self) -> u64 {
        2 * self.strands.max(1)
    }

    /// Whether such a number can be had of a cell with this number of workers.
    pub(super) fn measures<'a>(&self, spec: &'a CellSpec, of: &Statistic, workers: u64) -> Result<(), Why<'a>> {
        self.runs(spec, workers)?;
        if of.is_counted() { (self.kernels.counters)().map_err(|why| Why::NoCounters(why.into())) } else { Ok(()) }
    }

    /// Whether all kernels of a cell run with this number of workers, where the cell has them.
    pub(super) fn runs<'a>(&self, spec: &'a CellSpec, threads: u64) -> Result<(), Why<'a>> {
        let pair = spec.mapping.strip_prefix("pair:").and_then(|distance| distance.parse().ok());
        if pair.is_some_and(|distance: Distance| !self.distances.contains(&distance)) {
            return Err(Why::NoSuchPair { mapping: &spec.mapping });
        }
        spec.kernels().try_for_each(|kernel| match (self.kernels.admits)(kernel, threads) {
            Ok(()) => Ok(()),
            Err(Refusal::Threads { least, or_more }) => Err(Why::OtherThreads { kernel, least, or_more, threads }),
            Err(Refusal::Needs(words)) => Err(Why::Needs(words)),
        })
    }

    pub(super) fn check(&self, requirement: Option<Requirement>) -> Result<(), Why<'static>> {
        let lacks = |requirement: &Requirement| match requirement {
            Requirement::Packages => self.packages < 2,
            Requirement::Nodes => self.nodes < 2,
            Requirement::AluGroups => self.alu_groups < 2,
            Requirement::ManyStrands => self.strands < MANY,
        };
        let lacking = requirement.filter(lacks);
        lacking.map_or(Ok(()), |requirement| Err(Why::Lacks { requirement, cpus: self.strands }))
    }
}

/// Fewer strands seldom meet at a pool. The smallest machine of a document with such a claim has 48.
pub const MANY: u64 = 16;

/// The most groups of at least two strands that a core has.
fn shared_groups<'a>(strands: impl Iterator<Item = &'a Strand>) -> u64 {
    let mut groups: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for (strand, core) in strands.filter_map(|strand| Some((strand, strand.core?))) {
        *groups.entry(core).or_default().entry(strand.alu).or_default() += 1;
    }
    let shared = |groups: &BTreeMap<u32, u64>| groups.values().filter(|strands| **strands > 1).count() as u64;
    groups.values().map(shared).max().unwrap_or(0)
}
