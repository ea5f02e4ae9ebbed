//! Where a report comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Its version.
    pub version: String,
    /// The commit that it was built from, or `unknown`.
    pub commit: String,
    /// The compiler.
    pub rustc: String,
    /// The target triple.
    pub target: String,
    /// The build profile and its optimisation level.
    pub profile: String,
    /// Flags given to the compiler beside the profile's.
    pub rustflags: String,
    /// A hash of the kernels' source code, 16 hexadecimal digits: with the compiler, its flags and the profile it says whether
    /// two programs run the same loops.
    pub kernels: String,
    /// The version of hwloc that read the machine.
    pub hwloc: String,
}

impl Tool {
    /// Whether it was built with optimisation, without which its numbers are nobody's.
    pub fn optimised(&self) -> bool {
        !self.profile.starts_with("debug")
    }
}

/// The system that was measured. Everything that could not be read is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The host's name.
    pub name: Option<String>,
    /// The kernel's name and release.
    pub kernel: Option<String>,
    /// The processor's model.
    pub processor: Option<String>,
    /// The version of its microcode.
    #[serde(default)]
    pub microcode: Option<String>,
    /// The version of the machine's firmware.
    #[serde(default)]
    pub firmware: Option<String>,
    /// The clock of the processor in hertz, as the system claims it: its nominal frequency where it has one.
    #[serde(default)]
    pub claimed_hz: Option<f64>,
    /// Whether a hypervisor runs below the system.
    pub virtual_machine: Option<bool>,
    /// What the kernel keeps time by.
    pub clock_source: Option<String>,
    /// The policy of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// The frequency governor of the first strand.
    pub frequency_governor: Option<String>,
    /// By how many nanoseconds the system may let a thread wait longer than it asked for, so that several are woken at once.
    #[serde(default)]
    pub timer_slack_ns: Option<u64>,
    /// Processor quota of the control group, in strands' worth; null if there is none.
    pub cpu_quota: Option<String>,
    /// What was disturbing measurements when the sweep began, a sentence each; `charz doctor` tells more.
    #[serde(default)]
    pub disturbances: Vec<String>,
    /// Memory.
    pub memory: Memory,
}

/// Memory, by `/proc/meminfo` and the control group. hwloc's own figure is not used: it is wrong on some guests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Installed.
    pub total_bytes: Option<u64>,
    /// Available when the sweep began, the control group's limit included.
    pub available_bytes: Option<u64>,
    /// The most that the blocks of one cell may take in all.
    pub budget_bytes: Option<u64>,
}

/// The strands of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Packages.
    pub packages: u64,
    /// NUMA nodes.
    pub numa_nodes: u64,
    /// Cores.
    pub cores: u64,
    /// How the sharing of arithmetic units is known, in words.
    pub alu_evidence: String,
    /// One entry a strand, in logical order.
    pub strands: Vec<Strand>,
    /// One entry a NUMA node, in logical order; empty in reports from before they were kept.
    #[serde(default)]
    pub nodes: Vec<NumaNode>,
    /// One entry for all caches that are alike, outer ones before those inside them; empty in reports from before they were
    /// kept.
    #[serde(default)]
    pub caches: Vec<Caches>,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNode {
    /// The operating system's number.
    pub os_id: Option<u32>,
    /// Its memory; null where it is not known.
    pub memory_bytes: Option<u64>,
    /// Whether this process was allowed to put memory on it.
    pub usable: bool,
    /// What the firmware claims of the distance of each node's memory, in logical order: 10 is its own, 20 twice the latency.
    /// Empty where nothing is claimed.
    pub distances: Vec<u64>,
}

/// Caches that are alike, as the operating system claims them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caches {
    /// 1 for those next to a core.
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub holds: String,
    /// The size of each; null where it is not known.
    pub size_bytes: Option<u64>,
    /// The line's size; null where it is not known.
    pub line_bytes: Option<u32>,
    /// The ways of a set; null where they are not known, or the cache is fully associative.
    pub ways: Option<u32>,
    /// How many strands share one.
    pub strands: u64,
    /// How many there are.
    pub count: u64,
}

/// One strand. Indices are logical and machine-wide unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Strand {
    /// The operating system's number.
    pub os_id: u32,
    /// Its package.
    pub package: Option<u32>,
    /// Its (nearest) NUMA node.
    pub numa: Option<u32>,
    /// Its core.
    pub core: Option<u32>,
    /// The outermost cache for data that holds it, by a number of that cache's own; null where none is known.
    #[serde(default)]
    pub cache: Option<u32>,
    /// What each cache for data that holds it can hold, in bytes, from the innermost outwards, as the operating system claims; empty
    /// where it claims nothing.
    #[serde(default)]
    pub cache_bytes: Vec<u64>,
    /// Its ALU group within the core.
    pub alu: u32,
    /// Its slot within the ALU group.
    pub slot: u32,
    /// Its kind of core, on a hybrid machine.
    pub kind: Option<u32>,
    /// Whether this process was allowed to use it.
    pub usable: bool,
}
