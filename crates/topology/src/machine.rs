//! A machine as plain, owned data: what there is, which parts contain which, and what this process may use of it.
//!
//! Indices such as [`Strand::package`] are machine-wide logical indices: positions in the lists of [`Machine`], counted
//! from zero in hwloc's logical order. Only the fields named `os_id` hold numbers of the operating system.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AluSource, Usable};

/// One machine, whether this one, one out of a file, or one that never existed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Where the description comes from, in words: `this machine`, a file's path, or a synthetic description.
    pub source: String,
    /// The product's name, where the description has one.
    pub name: Option<String>,
    /// All strands (hardware threads) in hwloc's logical order.
    pub strands: Vec<Strand>,
    /// All cores in logical order; empty where the description has none.
    pub cores: Vec<Core>,
    /// All packages (sockets) in logical order; empty where the description has none.
    pub packages: Vec<Package>,
    /// All NUMA nodes in logical order, also those without strands.
    pub numa_nodes: Vec<NumaNode>,
    /// What the firmware claims of the distances between NUMA nodes: a row for each node of a strand, a column for each node
    /// of memory, in logical order; 10 is a node's distance from itself, and 20 twice the latency. Empty where nobody claims.
    #[serde(default)]
    pub numa_distances: Vec<Vec<u64>>,
    /// All caches, outer ones before those inside them.
    pub caches: Vec<Cache>,
    /// What else lies between machine and core: dies and groups, outer ones before those inside them.
    pub groups: Vec<Group>,
    /// The kinds of core of a hybrid machine; one or none on others.
    pub kinds: Vec<Kind>,
    /// How it is known which strands of a core share its execution units.
    pub alu: AluSource,
    /// Operating-system ids of strands that the description knows but does not list: offline, or not allowed.
    /// Ascending.
    pub absent: Vec<u32>,
    /// What this process may use of the machine.
    pub usable: Usable,
    /// Figures of this description that something else contradicts, a sentence each.
    pub doubts: Vec<String>,
}

/// One hardware thread and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Strand {
    /// The operating system's id, by which a thread is seated.
    pub os_id: u32,
    /// Logical index of its package.
    pub package: Option<u32>,
    /// Logical index of its NUMA node: of several local ones the closest, and the lowest among equally close ones.
    pub numa: Option<u32>,
    /// Logical index of its core; `None` where the description has no cores: the strand then stands for its own core.
    pub core: Option<u32>,
    /// Rank within its core of the group of strands that share one set of execution units.
    pub alu: u32,
    /// Rank within that group.
    pub slot: u32,
    /// Rank within its core, over all groups.
    pub strand_in_core: u32,
    /// Index into [`Machine::kinds`].
    pub kind: Option<u32>,
    /// Logical indices of all its local NUMA nodes, ascending.
    pub numa_nodes: Vec<u32>,
    /// Indices into [`Machine::caches`], from the innermost outwards.
    pub caches: Vec<u32>,
    /// Indices into [`Machine::groups`], from the outermost inwards.
    pub groups: Vec<u32>,
    /// Whether this process may run on it. Always true on a machine that is not this one.
    pub usable: bool,
}

/// A physical processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Package {
    /// The operating system's id, where it has one.
    pub os_id: Option<u32>,
    /// The processor's model name.
    pub model: Option<String>,
    /// How many strands it holds.
    pub strands: u32,
}

/// A core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Core {
    /// The operating system's id, where it has one; often unique within its package only.
    pub os_id: Option<u32>,
    /// How many strands it holds.
    pub strands: u32,
}

/// A NUMA node: memory, and the strands it is local to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNode {
    /// The operating system's id, where it has one.
    pub os_id: Option<u32>,
    /// What kind of memory, where it is not plain main memory, such as `MCDRAM` or `GPUMemory`.
    pub subtype: Option<String>,
    /// The memory in bytes; `None` where it is not known.
    pub memory_bytes: Option<u64>,
    /// How many strands it is local to; zero for memory of its own, such as a GPU's.
    pub strands: u32,
    /// Whether this process may put memory on it. Always true on a machine that is not this one.
    #[serde(default = "yes")]
    pub usable: bool,
}

/// What a description from before there were nodes that are not usable says of them.
fn yes() -> bool {
    true
}

/// A cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1 for the caches next to the core.
    pub level: u32,
    /// What it holds.
    pub holds: CacheHolds,
    /// Rank among the caches of its level that hold the same, machine-wide.
    pub index: u32,
    /// The size in bytes; `None` where it is not known.
    pub size_bytes: Option<u64>,
    /// The line size in bytes; `None` where it is not known.
    pub line_bytes: Option<u32>,
    /// How many ways a set has; `None` where it is not known, or the cache is fully associative.
    pub ways: Option<u32>,
    /// How many strands share it.
    pub strands: u32,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheHolds {
    /// Data and instructions.
    Unified,
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
}

/// A part between machine and core that has no level of its own here: a die, or what hwloc calls a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What it is: `die`, `group`, or the group's own subtype.
    pub what: String,
    /// How many strands it holds.
    pub strands: u32,
}

/// A kind of core on a hybrid machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kind {
    /// Rank by computing power, 0 the slowest; `None` where nothing ranks the kinds.
    pub speed_rank: Option<u32>,
    /// How the rank is known.
    pub how_known: String,
    /// What the description says about the kind, such as `CoreType` or `FrequencyMaxMHz`, in its order.
    pub infos: Vec<Info>,
    /// How many strands are of this kind.
    pub strands: u32,
}

/// A named text out of the description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Info {
    /// The name.
    pub name: String,
    /// The text, as found: not escaped.
    pub value: String,
}

impl fmt::Display for Cache {
    /// The cache's short name with its index: `L1d:0`, `L1i:3`, `L2:1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.holds {
            CacheHolds::Unified => "",
            CacheHolds::Data => "d",
            CacheHolds::Instruction => "i",
        };
        write!(f, "L{}{letter}:{}", self.level, self.index)
    }
}

impl Machine {
    /// The strands that this process may use, in logical order.
    pub fn usable_strands(&self) -> impl Iterator<Item = &Strand> + Clone {
        self.strands.iter().filter(|strand| strand.usable)
    }

    /// How many packages the machine has for mapping: a machine without packages counts as one.
    #[must_use]
    pub fn package_count(&self) -> usize {
        self.packages.len().max(1)
    }

    /// How fast a strand's kind is; zero where the kinds are not ranked.
    pub(crate) fn speed_rank(&self, strand: &Strand) -> u32 {
        let kind = strand.kind.and_then(|kind| self.kinds.get(kind as usize));
        kind.and_then(|kind| kind.speed_rank).unwrap_or(0)
    }
}
