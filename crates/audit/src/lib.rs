#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod caches;
mod cores;
mod decode;
mod design;
mod interference;
mod layout;
mod measured;
mod places;
mod relation;
#[cfg(test)]
mod tests;
mod transfers;

use charz_data::Arrange;
use std::collections::BTreeMap;

use charz_data::machine::{Machine, Strand};

pub use layout::{Contradiction, Latencies, Layout, Level, LevelName, Undecided, Why, layout};
pub use relation::{Evidence, Figure, Kind, Name, Reason, Relation, Verdict};

/// What strands run in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// Independent chains of integer operations, bound by throughput.
    Integer,
    /// The same in floating point.
    Float,
    /// One dependent chain of integer operations, bound by latency.
    Chain,
    /// Loads from the first-level cache, bound by its ports.
    Loads,
    /// Passes over a block of so many bytes.
    Cache(u64),
    /// Two strands hand a line to each other.
    Transfer,
    /// A chain of dependent loads from memory.
    Memory,
}

impl Probe {
    /// Its name in evidence.
    pub const fn name(self) -> &'static str {
        match self {
            Probe::Integer => "integer",
            Probe::Float => "float",
            Probe::Chain => "chain",
            Probe::Loads => "loads",
            Probe::Cache(_) => "cache",
            Probe::Transfer => "transfer",
            Probe::Memory => "memory",
        }
    }
}

/// Strands that run a load at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The load, the same on all strands.
    pub probe: Probe,
    /// OS ids, each once; exactly two of [`Probe::Transfer`].
    pub strands: Vec<u32>,
    /// The OS id of the NUMA node of each strand's memory; empty where the first touch decides.
    pub nodes: Vec<u32>,
}

/// Where rounds run.
pub trait Lab {
    /// Runs a round: for each strand its rate, or the nanoseconds of a transfer or load; `None` for a strand whose number was disturbed.
    /// `None` once no more rounds can be run.
    fn measure(&mut self, round: &Round) -> Option<Vec<Option<f64>>>;
}

/// What an audit found.
#[derive(Clone, Debug)]
pub struct Audit {
    /// In the order measured.
    pub relations: Vec<Relation>,
    /// The machine as measured: the claim where nothing contradicts it.
    pub machine: Machine,
    /// Rounds that were run.
    pub rounds: u64,
    /// Whether the lab ended before all was measured.
    pub cut_short: bool,
}

/// The strands of a claim that can be measured, and the lab.
struct Bench<'a> {
    claim: &'a Machine,
    /// Usable strands in logical order; positions in it name them from here on.
    strands: Vec<&'a Strand>,
    lab: &'a mut dyn Lab,
    random: fastrand::Rng,
    rounds: u64,
    over: bool,
}

impl Bench<'_> {
    /// Runs a round of some strands, in the order given.
    fn measure(&mut self, probe: Probe, strands: &[usize]) -> Vec<Option<f64>> {
        self.measure_on(probe, strands, Vec::new())
    }

    fn measure_on(&mut self, probe: Probe, strands: &[usize], nodes: Vec<u32>) -> Vec<Option<f64>> {
        let ids = strands.iter().map(|at| self.strands[*at].os_id).collect();
        let seen = if self.over { None } else { self.lab.measure(&Round { probe, strands: ids, nodes }) };
        match seen {
            Some(values) => {
                self.rounds += 1;
                values.into_iter().map(|value| value.filter(|value| value.is_finite() && *value > 0.0)).collect()
            }
            None => {
                self.over = true;
                vec![None; strands.len()]
            }
        }
    }

    fn id(&self, strand: usize) -> u32 {
        self.strands[strand].os_id
    }

    /// The strands of each claimed core, in logical order; one without a core is its own.
    fn claimed_cores(&self) -> Vec<Vec<usize>> {
        let mut cores: BTreeMap<(Option<u32>, u32), Vec<usize>> = BTreeMap::new();
        for (at, strand) in self.strands.iter().enumerate() {
            let lone = if strand.core.is_none() { strand.os_id } else { 0 };
            cores.entry((strand.core, lone)).or_default().push(at);
        }
        cores.into_values().collect()
    }

    /// `None` where the description has no core of one of them.
    fn claims_one_core(&self, a: usize, b: usize) -> Option<bool> {
        Some(self.strands[a].core? == self.strands[b].core?)
    }
}

/// Holds a claim against measurements. Rounds and their order follow from the seed and from what the lab answers.
pub fn audit(claim: &Machine, seed: u64, lab: &mut dyn Lab) -> Audit {
    let strands: Vec<&Strand> = claim.usable_strands().collect();
    let random = fastrand::Rng::with_seed(seed);
    let mut bench = Bench { claim, strands, lab, random, rounds: 0, over: false };
    let cores = cores::measure(&mut bench);
    let mut relations = cores.relations.clone();
    relations.extend(places::kinds(&bench, &cores.integer));
    relations.extend(caches::measure(&mut bench, &cores));
    relations.extend(transfers::measure(&mut bench, &cores));
    relations.extend(places::nodes(&mut bench, &cores));
    let machine = measured::machine(&bench, &cores);
    Audit { relations, machine, rounds: bench.rounds, cut_short: bench.over }
}

/// The value in the middle, or the lower of the two in the middle; `None` of none.
fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.arrange_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}
