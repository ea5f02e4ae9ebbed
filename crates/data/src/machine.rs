//! A machine: its parts, which of them contain which, and what this process may use of it.
//!
//! Indices such as [`Strand::package`] are machine-wide logical indices: positions in the lists of [`Machine`], counted
//! from zero in hwloc's logical order. Only the fields named `os_id` hold numbers of the operating system.

use std::fmt;

use serde::{Deserialize, Serialize};

/// This machine, one from a file, or a synthetic one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Where the description comes from: `this machine`, a file's path, or a synthetic description.
    pub source: String,
    /// The product's name.
    pub name: Option<String>,
    /// All strands (hardware threads) in hwloc's logical order.
    pub strands: Vec<Strand>,
    /// All cores in logical order.
    pub cores: Vec<Core>,
    /// All packages (sockets) in logical order.
    pub packages: Vec<Package>,
    /// All NUMA nodes in logical order, also those without strands.
    pub numa_nodes: Vec<NumaNode>,
    /// The distances between NUMA nodes that the firmware claims: one row per node of a strand, one column per node of memory,
    /// in logical order; 10 is a node's distance from itself, and 20 twice the latency. Empty where nothing is claimed.
    pub numa_distances: Vec<Vec<u64>>,
    /// All caches, outer ones before those inside them.
    pub caches: Vec<Cache>,
    /// Dies and groups between machine and core, outer ones before those inside them.
    pub groups: Vec<Group>,
    /// The kinds of core of a hybrid machine; one or none on others.
    pub kinds: Vec<Kind>,
    /// GPUs, network ports, disks and accelerators by kind, then by PCI address; those that only software makes are left out. Empty where
    /// the description has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Device>,
    /// How it is known which strands of a core share its execution units.
    pub alu: AluSource,
    /// Operating-system ids of strands that the description knows but does not list: offline, or not allowed.
    /// Ascending.
    pub absent: Vec<u32>,
    /// How much of it this process may use.
    pub usable: Usable,
    /// Contradictions between this description and another source, one sentence each.
    pub doubts: Vec<String>,
}

/// One hardware thread and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Strand {
    /// The operating system's id, by which a thread is seated.
    pub os_id: u32,
    /// Logical index of its package.
    pub package: Option<u32>,
    /// Logical index of its NUMA node: of several local ones the closest, and the lowest among equally close ones.
    pub numa: Option<u32>,
    /// Logical index of its core; `None` where the description has no cores: the strand then counts as its own core.
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
    /// Whether this process may run on it; on another machine, whether its description allows it.
    pub usable: bool,
}

/// A physical processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Package {
    /// The operating system's id, where it has one.
    pub os_id: Option<u32>,
    /// The processor's name.
    pub model: Option<String>,
    /// How many strands it has.
    pub strands: u32,
}

/// A core: what its strands execute on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Core {
    /// The operating system's id, where it has one; often unique within its package only.
    pub os_id: Option<u32>,
    /// How many strands it has.
    pub strands: u32,
}

/// A NUMA node: memory, and the strands it is local to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumaNode {
    /// The operating system's id, where it has one.
    pub os_id: Option<u32>,
    /// The kind of memory where it is not main memory, such as `MCDRAM` or `GPUMemory`.
    pub subtype: Option<String>,
    /// `None` where it is not known.
    pub memory_bytes: Option<u64>,
    /// Bytes of the memory-side cache before it; `None` where the description has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_side_cache_bytes: Option<u64>,
    /// How fast it is said to be; `None` where nothing is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<MemoryTier>,
    /// How many strands it is local to; zero for memory of its own, such as a GPU's.
    pub strands: u32,
    /// Whether this process may put memory on it; on another machine, whether its description allows it.
    pub usable: bool,
}

/// How fast the memory of a NUMA node is, as the firmware states it, and what the kernel makes of that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryTier {
    /// The kernel's tier, where nodes are in several: the smaller the faster.
    pub rank: Option<u32>,
    /// Bytes per second that the CPUs nearest to it read, or move.
    pub bytes_per_second: Option<u64>,
    /// Nanoseconds that one of these waits for a read.
    pub latency_ns: Option<u32>,
    /// Its share of pages under the kernel's weighted interleaving, 1 to 255.
    pub weight: Option<u32>,
}

/// A cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cache {
    /// 1 for the caches next to the core.
    pub level: u32,
    /// What it holds.
    pub holds: CacheHolds,
    /// Rank among the caches of its level that hold the same, machine-wide.
    pub index: u32,
    /// Bytes that it holds, where known.
    pub size_bytes: Option<u64>,
    /// Bytes of a line, where known.
    pub line_bytes: Option<u32>,
    /// How many ways a set has; `None` where it is not known, or the cache is fully associative.
    pub ways: Option<u32>,
    /// Whether it holds what the caches before it hold, as the processor states; `None` where it states nothing.
    pub inclusive: Option<bool>,
    /// How many strands share it.
    pub strands: u32,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CacheHolds {
    /// Data and instructions.
    Unified,
    /// Data.
    Data,
    /// Instructions.
    Instruction,
}

/// A GPU, a network port, a disk or another accelerator: a function of a PCI device with all that the system has of it, or a device on
/// another bus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Device {
    /// The system's names of it, such as `eth0` and `mlx5_0`, or `card0` and `renderD128`; of a GPU also `gpu0`, by its rank among
    /// the GPUs.
    pub names: Vec<String>,
    /// What it is.
    pub kind: DeviceKind,
    /// Its maker and model, where they are known.
    pub model: Option<String>,
    /// Its PCI address: `0000:3b:00.0`.
    pub pci: Option<String>,
    /// The domain and the bus of the PCI root that it hangs on: `0000:3a`.
    pub pci_root: Option<String>,
    /// Logical index of the package that has all CPUs local to it, where one has.
    pub package: Option<u32>,
    /// Logical index of its NUMA node; `None` where it is not known, or several are as near.
    pub numa: Option<u32>,
    /// The CPUs local to it, by OS ids, as a list. Empty where its node has none; all CPUs where the place is not known.
    pub cpus: String,
}

/// What a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A processor for graphics that computes too.
    Gpu,
    /// An accelerator that is no GPU.
    Accelerator,
    /// A port of an InfiniBand network.
    InfiniBand,
    /// Any other port of a network.
    Nic,
    /// A disk, or a controller of disks.
    Disk,
    /// What draws a screen and no more.
    Display,
}

/// A part between machine and core that has no level of its own here: a die, or what hwloc calls a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// What it is: `die`, `group`, or the group's own subtype.
    pub what: String,
    /// How many strands it has.
    pub strands: u32,
}

/// A kind of core on a hybrid machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Kind {
    /// Rank by computing power, 0 the slowest; `None` where nothing ranks the kinds.
    pub speed_rank: Option<u32>,
    /// How the rank is known.
    pub how_known: String,
    /// Attributes of the kind, such as `CoreType` or `FrequencyMaxMHz`, in its order.
    pub infos: Vec<Info>,
    /// How many strands there are of it.
    pub strands: u32,
}

/// A named text out of the description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Info {
    /// Its key, such as `FrequencyMaxMHz`.
    pub name: String,
    /// The text, as found: not escaped.
    pub value: String,
}

/// How it is known which strands of a core share execution units.
///
/// On the SPARC T3 a core of eight strands has two integer pipelines: strands 0-3 share one, strands 4-7 the other. Operating
/// systems do not report it and hwloc has no object for it, but a Group below a Core says exactly this, and can be written
/// down: `Core:16 Group:2 PU:4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AluSource {
    /// The topology has groups of strands below its cores.
    Stated,
    /// Each core was measured: strands of a group slow each other down in integer arithmetic.
    Measured,
    /// The topology has none; all strands of a core are taken to share all of its units.
    Assumed,
}

/// What this process may use of the machine. Lists are as in [`cpulist`](crate::cpulist), and `None` on another machine, but for the
/// `cpuset` of a description that allows a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usable {
    /// How many strands it may run on: those in the cpuset and in the affinity mask.
    pub strands: u32,
    /// The strands that the administrator's cpuset allows.
    pub cpuset: Option<String>,
    /// The strands in the affinity mask that the process was started with.
    pub affinity: Option<String>,
    /// The NUMA nodes that the administrator's cpuset allows memory on.
    pub memory: Option<String>,
    /// The CPU bandwidth quota: 1.5 is the full time of one and a half strands; `None` without a limit.
    pub quota_cpus: Option<f64>,
}

impl Usable {
    /// Everything: for a machine that is not this one.
    pub fn everything(strands: usize) -> Self {
        let strands = u32::try_from(strands).unwrap_or(u32::MAX);
        Self { strands, cpuset: None, affinity: None, memory: None, quota_cpus: None }
    }
}

impl Machine {
    /// The strands that this process may use, in logical order.
    pub fn usable_strands(&self) -> impl Iterator<Item = &Strand> + Clone {
        self.strands.iter().filter(|strand| strand.usable)
    }

    /// Whether its cores are of several kinds.
    pub fn is_hybrid(&self) -> bool {
        self.kinds.len() > 1
    }

    /// A CPU quota, where it is smaller than the strands that this process may use.
    pub fn quota(&self) -> Option<f64> {
        self.usable.quota_cpus.filter(|cpus| *cpus < self.usable_strands().count() as f64)
    }

    /// How many threads can run at once: usable strands, or the quota's CPUs if these are fewer.
    pub fn worth(&self) -> usize {
        self.quota().map_or(self.usable_strands().count(), |cpus| cpus.ceil() as usize).max(1)
    }

    /// The size of the largest data cache of the strands that this process may use; `None` where there is none, or one of the outermost level
    /// has no size.
    pub fn last_cache_bytes(&self) -> Option<u64> {
        let caches = || self.usable_strands().flat_map(|strand| self.data_caches(strand)).map(|(_, cache)| cache);
        let last = caches().map(|cache| cache.level).max()?;
        let is_known = caches().all(|cache| cache.level < last || cache.size_bytes.is_some());
        caches().filter_map(|cache| cache.size_bytes).max().filter(|_| is_known)
    }

    /// The same with the memory-side caches, which lie before the memory and not around the strands.
    pub fn largest_cache_bytes(&self) -> Option<u64> {
        let beside = self.numa_nodes.iter().filter_map(|node| node.memory_side_cache_bytes).max();
        self.last_cache_bytes().map(|last| last.max(beside.unwrap_or(0)))
    }

    /// How many packages there are for mapping: a machine without packages counts as one.
    pub fn package_count(&self) -> usize {
        self.packages.len().max(1)
    }

    /// A strand's package: the only one where the machine has none.
    pub fn package_of(&self, strand: &Strand) -> Option<u32> {
        strand.package.or(self.packages.is_empty().then_some(0))
    }

    /// How fast a strand's kind is; zero where the kinds are not ranked.
    pub fn speed_rank(&self, strand: &Strand) -> u32 {
        let kind = strand.kind.and_then(|kind| self.kinds.get(kind as usize));
        kind.and_then(|kind| kind.speed_rank).unwrap_or(0)
    }

    /// A strand's caches for data with their indices, from the innermost outwards.
    pub fn data_caches<'a>(&'a self, strand: &'a Strand) -> impl DoubleEndedIterator<Item = (u32, &'a Cache)> {
        let caches = strand.caches.iter().filter_map(|index| Some((*index, self.caches.get(*index as usize)?)));
        caches.filter(|(_, cache)| cache.holds != CacheHolds::Instruction)
    }

    /// The sizes of a strand's caches for data, from the innermost outwards, up to the first that is not known.
    pub fn cache_sizes(&self, strand: &Strand) -> Vec<u64> {
        self.data_caches(strand).map_while(|(_, cache)| cache.size_bytes).collect()
    }

    /// The levels of the same caches, from the innermost outwards.
    pub fn cache_levels(&self, strand: &Strand) -> Vec<u32> {
        self.data_caches(strand).map_while(|(_, cache)| cache.size_bytes.map(|_| cache.level)).collect()
    }

    /// Counts for each part the strands that lie in it.
    pub fn count_strands(&mut self) {
        fn count<T>(parts: &mut [T], field: fn(&mut T) -> &mut u32, found: impl Iterator<Item = u32>) {
            parts.iter_mut().for_each(|part| *field(part) = 0);
            found.for_each(|index| *field(&mut parts[index as usize]) += 1);
        }
        let all = || self.strands.iter();
        count(&mut self.packages, |part| &mut part.strands, all().filter_map(|strand| strand.package));
        count(&mut self.cores, |part| &mut part.strands, all().filter_map(|strand| strand.core));
        count(
            &mut self.numa_nodes,
            |part| &mut part.strands,
            all().flat_map(|strand| strand.numa_nodes.iter().copied()),
        );
        count(&mut self.caches, |part| &mut part.strands, all().flat_map(|strand| strand.caches.iter().copied()));
        count(&mut self.groups, |part| &mut part.strands, all().flat_map(|strand| strand.groups.iter().copied()));
        count(&mut self.kinds, |part| &mut part.strands, all().filter_map(|strand| strand.kind));
    }
}

impl Cache {
    /// The field's term for whether it is inclusive, from the second level on: before the first there is none to include.
    pub fn inclusion(&self) -> Option<&'static str> {
        self.inclusive.filter(|_| self.level > 1).map(|yes| if yes { "inclusive" } else { "non-inclusive" })
    }
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

impl AluSource {
    /// Whether the groups are those of the hardware, by a statement or by measurement.
    pub fn is_known(self) -> bool {
        self != AluSource::Assumed
    }
}

impl fmt::Display for AluSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured: strands that slow each other down in integer arithmetic",
            Self::Stated => "stated: the topology groups strands below the core",
            Self::Assumed => "assumed: one group per core, since the topology has no groups below the core",
        })
    }
}
