//! What follows from several cells together.

use serde::{Deserialize, Serialize};

use crate::words::words;

/// A conclusion from cells. Their numbers are in the same report, so a reader can verify it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What kind of conclusion.
    pub kind: FindingKind,
    /// The kernel that it is about.
    pub kernel: String,
    /// The mapping that it is about; null where it is about several.
    pub mapping: Option<String>,
    /// The number of workers at which it shows; null where it is about all.
    pub workers: Option<u64>,
    /// The resulting number, in the unit that the sentence names; null where there is none.
    pub value: Option<f64>,
    /// The sentence.
    pub text: String,
    /// The cells that it follows from, with their numbers; empty where the sentence names them.
    pub evidence: String,
}

/// Kinds of conclusions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// With how many workers and under which mapping a kernel does best: the fewest workers whose interval reaches the best value. The mapping
    /// is null where several do as well, or where noise may hide another.
    Best,
    /// From this number of workers on each operation takes at least twice as long as with fewer.
    Cliff,
    /// With this number of workers all together do much less than fewer do.
    Collapse,
    /// Which of several kernels that do the same is the fastest.
    Fastest,
    /// What a program on this machine should do.
    Advice,
    /// What a load takes from each level of caches and from memory, where each level ends, and how it grows under load; strands that
    /// hand over a line as fast as those of one core, though they are listed on two.
    Latency,
    /// How many levels of recursion pay in a product of matrices, what the deepest costs, and what a library takes.
    Products,
    /// Words that a core gets from a cache in a cycle of its clock.
    Efficiency,
    /// Why threads do less together than they could: the class of the problem, what shows it, and what would confirm it.
    Scaling,
    /// Where threads ended that were bound nowhere: how often two of them were on one CPU or on one core, and on how few NUMA nodes. The value is
    /// the share of iterations in which two were together.
    Spread,
}

words! { FindingKind {
    Best = "best", Cliff = "cliff", Collapse = "collapse", Fastest = "fastest", Advice = "advice", Latency = "latency", Products = "products", Efficiency = "words",
    Scaling = "scaling", Spread = "spread",
} }
