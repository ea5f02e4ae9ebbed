#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod baseline;
mod classes;
mod error;
pub mod formats;
mod judge;
mod loads;
mod norms;
mod page;
mod parts;
#[cfg(test)]
mod tests;
mod visit;
mod whole;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;

pub use error::Error;
pub use judge::judge;
pub use visit::{Visit, compact};

/// The share of a group that makes a setting, or a kernel that was measured, the usual one.
pub(crate) const USUAL: f64 = 0.6;

/// The settings that are sizes: a node that has less of one has lost a part.
pub(crate) const SIZES: [&str; 4] = ["CPUs", "cores", "sockets", "NUMA nodes"];

/// What the reports of many nodes say together.
#[derive(Clone, Debug, Serialize)]
pub struct Fleet {
    /// Each node once, slow ones first.
    pub nodes: Vec<Node>,
    /// Nodes that are alike.
    pub groups: Vec<Group>,
    /// Files that are no report, with the reason.
    pub unreadable: Vec<Unreadable>,
}

/// A node, by the name of its host.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// Its name.
    pub host: String,
    /// What it is.
    pub state: State,
    /// Why it is not `ok`, what is missing, and what disturbed it: sentences without their full stops.
    pub why: Vec<String>,
    /// What is slow, the slowest first.
    pub blame: Vec<Blame>,
    /// In which settings it differs from most nodes like it.
    pub differs: BTreeMap<String, Differs>,
    /// The place of its group among [`Fleet::groups`].
    pub group: usize,
    /// How many reports of it there are that began an hour apart.
    pub visits: usize,
    /// By how much its newest visit is faster than the median of its group, by kernel, as a fraction, under the load where that is least; kernels
    /// that no other node has are left out.
    pub effects: BTreeMap<String, f64>,
    /// By kernel that was to be measured: whether its newest visit has a reliable result at the kernel's most threads. By others it was not
    /// compared.
    pub reliable: BTreeMap<String, bool>,
    /// The median share of the capacity that it delivered while it was measured.
    pub delivered: Option<f64>,
    /// The line that takes it out of Slurm's partitions; of slow nodes only. charz does not run it.
    pub drain: Option<String>,
}

/// What is said of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It, or a part of it, is slower than its like.
    Slow,
    /// It may be: the reasons say what would settle it.
    Unclear,
    /// There is no reliable number of it.
    Unmeasured,
    /// Nothing is slower than its like.
    Ok,
}

// The worst first.
charz_data::words! { State { Slow = "slow", Unclear = "unclear", Unmeasured = "unmeasured", Ok = "ok" } }

/// A part of a node that is slower than its like, or the node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blame {
    /// `core`, `l3` (or another shared cache), `numa_node`, `package`, `pair` of CPUs, or `node`.
    pub component: String,
    /// The CPUs of the part by their OS ids; of a node all of them.
    pub ids: Vec<u32>,
    /// The kernels that show it, or `delivered`.
    pub quantity: String,
    /// By how much it is faster, as a fraction: below 0 it is slower.
    pub effect: f64,
    /// Where the effect lies, with 95% confidence.
    pub interval: [f64; 2],
    /// The setting that is the cause.
    #[serde(skip)]
    pub(crate) cause: Option<String>,
}

/// A setting of a node, and that of most nodes like it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Differs {
    /// The node's own.
    pub here: String,
    /// Most others'.
    pub others: String,
}

/// Nodes that may be held against each other: of one kind of machine.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Their hardware.
    pub name: String,
    /// Their names.
    pub nodes: Vec<String>,
    /// How many reports of them there are.
    pub visits: usize,
}

/// A file that is no report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Its name.
    pub file: String,
    /// What is wrong with it, in words.
    pub why: String,
}

impl Node {
    /// Whether more is to be said of it than that it is well.
    pub(crate) fn is_told(&self) -> bool {
        // Which kernels a node that is well was not compared by is one sentence; the headline has it for all of them.
        let in_headline = usize::from(self.reliable.values().any(|is_reliable| !is_reliable));
        self.state != State::Ok || !self.differs.is_empty() || self.why.len() > in_headline
    }
}

impl Fleet {
    /// How many nodes are in this state.
    pub fn count(&self, state: State) -> usize {
        self.nodes.iter().filter(|node| node.state == state).count()
    }
}
