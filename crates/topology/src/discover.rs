//! Where a machine's description comes from, and how it is read.
//!
//! hwloc does the reading. Its parsers expect good input: faced with other they assert, hang or read out of bounds. So
//! everything that is not this machine passes a check of our own first ([`synthetic`], [`xml`]), which also has the
//! better sentences; what hwloc still refuses becomes an error as well. Of this machine the kernel has the last word
//! ([`kernel`]). hwloc would print its own complaints to the standard error stream: a program sets `HWLOC_HIDE_ERRORS=2`
//! in the environment before it starts threads, as `charz_launch::prepare_hwloc` does; a library must not change the
//! environment of a running one.

pub(crate) mod describe;
mod devices;
pub(crate) mod export;
mod faults;
mod hwloc;
mod inclusive;
mod kernel;
mod kinds;
mod midr;
mod notation;
mod scale;
mod sense;
pub(crate) mod synthetic;
pub(crate) mod xml;

use std::fmt;
use std::path::{Path, PathBuf};

use charz_system::{cgroup, cpuinfo, file, meminfo, sysfs};
use hwlocality::errors::RawHwlocError;
use hwlocality::topology::builder::{BuildFlags, TopologyBuilder, TypeFilter};
use hwlocality::{Topology, hwloc_api_version};

use crate::error::quote;
use crate::{Error, Machine, NumaNode, cpulist, usable};
use scale::Scale;

/// Why a description of this machine is not believed.
pub(crate) const ELSEWHERE: &str = "the environment makes hwloc describe another machine; unset HWLOC_XMLFILE, \
    HWLOC_SYNTHETIC, HWLOC_FSROOT and HWLOC_THISSYSTEM, or name the other machine as the topology to look at";

/// Where a machine's description comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Source {
    /// The machine that this program runs on.
    #[default]
    ThisMachine,
    /// A file of hwloc XML, as `lstopo --of xml` writes it.
    File(PathBuf),
    /// A synthetic description in hwloc's words, such as `Package:4 Core:16 Group:2 PU:4`.
    Synthetic(String),
}

impl Source {
    /// Distinguishes the three by their form, without looking at the file system: nothing or `this` is this machine, a
    /// text with a colon and no slash is synthetic, and everything else is a file. A file with a colon in its name is
    /// `./a:b`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        match text {
            "this" => Self::ThisMachine,
            _ if text.contains(':') && !text.contains('/') => Self::Synthetic(text.to_owned()),
            _ => Self::File(text.into()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisMachine => f.write_str("this machine"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Synthetic(text) => f.write_str(text),
        }
    }
}

/// Describes a machine. An error if the source is missing, unreadable, or no topology.
pub fn discover(source: &Source) -> Result<Machine, Error> {
    let failed = |reason| Error::Topology { what: what(source), reason };
    match source {
        Source::ThisMachine => this_machine(source),
        Source::File(path) => xml::read(path).and_then(|xml| from_xml(&xml, source.to_string())),
        Source::Synthetic(text) => synthetic::check(text).and_then(|description| {
            let scale = Scale::of(text, &description);
            let text = scale.as_ref().map_or(text, |scale| &scale.twin);
            let topology = load_synthetic(text)?;
            let mut machine = hwloc::machine(&topology, source.to_string(), description.alu_width, scale.as_ref(), &[]);
            if !synthetic::names_memory(text) {
                machine.numa_nodes.iter_mut().for_each(|node| node.memory_bytes = None);
            }
            Ok(machine)
        }),
    }
    .map(|mut machine| {
        // A file may have them from the machine that it was written on.
        let doubts: Vec<String> = sense::doubts(&machine).filter(|doubt| !machine.doubts.contains(doubt)).collect();
        machine.doubts.extend(doubts);
        machine
    })
    .map_err(failed)
}

/// The machine in a text of hwloc XML that was checked.
pub(crate) fn from_xml(xml: &str, source: String) -> Result<Machine, String> {
    let refused = "hwloc refuses it, although it is well-formed; try to load it with lstopo";
    let topology = load(BuildFlags::INCLUDE_DISALLOWED, |builder| builder.from_xml(xml).map_err(|_| refused.into()))?;
    let mut machine = hwloc::machine(&topology, source, None, None, &xml::nodes_without_cpus(xml));
    let nodes: Vec<usize> = topology.allowed_nodeset().iter_set().map(usize::from).collect();
    usable::keep(&mut machine, &kinds::ids(topology.allowed_cpuset()), &nodes);
    for (id, bytes) in xml::memory_side_caches(xml) {
        machine
            .numa_nodes
            .iter_mut()
            .filter(|node| node.os_id == Some(id))
            .for_each(|node| node.memory_side_cache_bytes = Some(bytes));
    }
    devices::enter(&mut machine, xml::devices(xml));
    // One node has nothing to be compared with.
    if machine.numa_nodes.len() > 1 {
        let tiers = xml::tiers(xml);
        machine.numa_nodes.iter_mut().for_each(|node| node.tier = node.os_id.and_then(|id| tiers.get(&id).copied()));
    }
    if !xml::names_memory(xml) {
        machine.doubts.push("the file names no NUMA node: one was made of the whole machine".to_owned());
    }
    Ok(machine)
}

/// This machine with all its strands, each with the mark whether this process may use it.
fn this_machine(source: &Source) -> Result<Machine, String> {
    // Read first: hwloc may move the calling thread around while it looks.
    let affinity = usable::affinity();
    let listing = sysfs::read(Path::new(sysfs::SYSTEM));
    let nodes = || listing.nodes.iter().flatten();
    let (online, bare): (Vec<u32>, Vec<u32>) = (
        nodes().map(|(id, _)| *id).collect(),
        nodes().filter(|(_, node)| node.cpus.as_ref().is_some_and(Vec::is_empty)).map(|(id, _)| *id).collect(),
    );
    let with_cpus: Vec<u32> = online.iter().copied().filter(|node| !bare.contains(node)).collect();
    let topology = load(flags(hwloc_api_version(), !bare.is_empty()), from_the_kernel)?;
    if !topology.is_this_system() {
        return Err(ELSEWHERE.to_owned());
    }
    let mut machine = hwloc::machine(&topology, source.to_string(), None, None, &bare);
    match is_unreadable() {
        true => kernel::build(&mut machine, &listing),
        false => kernel::correct(&mut machine, &listing),
    }
    machine.doubts.extend(sense::crossing(&machine));
    for node in &mut machine.numa_nodes {
        node.memory_side_cache_bytes = node.os_id.and_then(file::memory_side_cache);
    }
    // One node has nothing to be compared with.
    if machine.numa_nodes.len() > 1 {
        let ids: Vec<u32> = machine.numa_nodes.iter().filter_map(|node| node.os_id).collect();
        let tiers = charz_system::tiers::read(Path::new("/"), &ids);
        machine.numa_nodes.iter_mut().for_each(|node| node.tier = node.os_id.and_then(|id| tiers.get(&id).copied()));
    }
    kinds::name(&mut machine, &kinds::INTEL.map(|(name, path)| (name, file::list(path).unwrap_or_default())));
    midr::name(&mut machine, &cpuinfo::read());
    inclusive::mark(&mut machine);
    devices::enter(&mut machine, charz_system::devices::read(Path::new("/")));
    // hwloc takes a group's path for one below the mount, and in a container finds no file there.
    let allowed = cgroup::cpuset().unwrap_or_else(|| kinds::ids(topology.allowed_cpuset()));
    usable::mark(&mut machine, &allowed, affinity);
    match Path::new(sysfs::SYSTEM).join("cpu").is_dir() {
        true => machine.doubts.extend(faults::doubts(&listing)),
        false => {
            machine.doubts.push("there is no /sys to read: caches, cores and NUMA nodes are not known".to_owned());
        }
    }
    let limit = cgroup::memory_limit();
    machine.doubts.extend(memory_doubt(&machine.numa_nodes, [&online, &with_cpus], &meminfo::read(), limit));
    Ok(machine)
}

/// How this machine is read by a hwloc with this version of its interface: it refuses flags that it does not know.
fn flags(version: usize, has_bare_nodes: bool) -> BuildFlags {
    // From memory attributes hwloc has the kinds of memory. Where each node has CPUs, there is but one.
    let is_spared = version >= 0x2_08_00 && !has_bare_nodes;
    let spared = if is_spared { BuildFlags::IGNORE_MEMORY_ATTRIBUTES } else { BuildFlags::empty() };
    BuildFlags::INCLUDE_DISALLOWED | spared
}

/// Lets hwloc read this machine from the kernel's files only, as far as there are any.
///
/// They hold all that the x86 component would ask each processor for but whether caches are inclusive, on each in turn: it would bind the calling thread, and each
/// question costs a guest a trap into its hypervisor. Without them hwloc would say so on standard error, and then count the strands
/// another way. hwloc has that component on x86 only, and refuses to leave out one that it does not have.
pub(crate) fn from_the_kernel(builder: TopologyBuilder) -> Result<TopologyBuilder, String> {
    let x86 = cfg!(any(target_arch = "x86", target_arch = "x86_64")).then_some("x86");
    let linux = is_unreadable().then_some("linux");
    x86.into_iter()
        .chain(linux)
        .try_fold(builder, |builder, part| builder.without_component(part))
        .map_err(|error| format!("hwloc refuses: {error}"))
}

/// Whether hwloc would complain that it finds none of the files that it begins with, and give up: those of the first CPU.
fn is_unreadable() -> bool {
    let first = file::list(file::ONLINE_CPUS).and_then(|online| online.first().copied()).unwrap_or(0);
    let topology = Path::new(sysfs::SYSTEM).join(format!("cpu/cpu{first}/topology"));
    !["package_cpus", "core_cpus", "core_siblings", "thread_siblings"].iter().any(|name| topology.join(name).exists())
}

/// How far the nodes' sum may lie from the machine's memory, as a fraction: the kernel keeps some to itself.
const TOLERANCE: f64 = 0.05;

/// On guests whose memory was added after the start, the kernel's files on the nodes, and so hwloc, miss a part of it, while
/// `/proc/meminfo` has all. Which node is wrong is then unknown, and the machine has a doubt. It is another where nodes are online that
/// hwloc left out: those of the memory of NVIDIA's GPUs, and those that have the CPUs of another. `online` has the nodes, then those of
/// them that have CPUs. A container whose `/proc/meminfo` shows its `limit`, as lxcfs makes it, gives no reason to doubt.
pub fn memory_doubt(nodes: &[NumaNode], online: [&[u32]; 2], meminfo: &str, limit: Option<u64>) -> Option<String> {
    let sum = nodes.iter().try_fold(0u64, |sum, node| sum.checked_add(node.memory_bytes?))?;
    let total = meminfo::bytes(meminfo, "MemTotal")?;
    let differ = |one: u64, other: u64| one.abs_diff(other) as f64 > TOLERANCE * other as f64;
    if !differ(sum, total) || (sum > total && limit.is_some_and(|limit| !differ(limit, total))) {
        return None;
    }
    let is_listed = |id: &u32| nodes.iter().any(|node| node.os_id == Some(*id));
    let [left_out, with_cpus] =
        online.map(|online| online.iter().copied().filter(|id| !is_listed(id)).collect::<Vec<u32>>());
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let (list, doubled) = (cpulist::print(&left_out), cpulist::print(&with_cpus));
    Some(if left_out.is_empty() {
        format!("the sizes of the NUMA nodes ({:.1} GiB) do not add up to MemTotal ({:.1} GiB)", gib(sum), gib(total))
    } else if with_cpus.is_empty() {
        format!(
            "NUMA nodes that hwloc left out: {list}; HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES=1 in the environment keeps those of GPUs"
        )
    } else {
        format!("NUMA nodes that hwloc left out, as their CPUs are those of other nodes: {doubled}")
    })
}

/// Lets hwloc load what `describe` sets as the source.
///
/// The filters keep caches of all kinds, and by hwloc's own default those groups that bring structure.
fn load(
    flags: BuildFlags,
    describe: impl FnOnce(TopologyBuilder) -> Result<TopologyBuilder, String>,
) -> Result<Topology, String> {
    let builder = describe(TopologyBuilder::new())?;
    let build = || -> Result<Topology, Box<dyn std::error::Error>> {
        Ok(builder.with_flags(flags)?.with_cpu_icache_type_filter(TypeFilter::KeepAll)?.build()?)
    };
    build().map_err(|error| {
        let errno = error.downcast_ref::<RawHwlocError>().and_then(|raw| raw.errno);
        format!("hwloc cannot load it: {}", errno.map_or_else(|| error.to_string(), |errno| errno.to_string()))
    })
}

/// Loads a synthetic description that was checked.
fn load_synthetic(text: &str) -> Result<Topology, String> {
    let refused = "hwloc refuses it; write levels from the outside in, such as Package:4 Core:16 PU:8";
    let text = synthetic::in_bytes(text);
    load(BuildFlags::empty(), |builder| builder.from_synthetic(&text).map_err(|_| refused.into()))
}

fn what(source: &Source) -> String {
    match source {
        Source::ThisMachine => "this machine".to_owned(),
        Source::File(path) => format!("the file {}", quote(&path.to_string_lossy())),
        Source::Synthetic(text) => format!("the synthetic description {}", quote(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::{BuildFlags, Source, flags, memory_doubt};
    use crate::NumaNode;

    #[track_caller]
    fn check(text: &str, expected: Source) {
        assert_eq!(Source::of(text), expected);
    }

    #[test]
    fn text_names_a_source_by_its_form() {
        check("", Source::File("".into()));
        check("this", Source::ThisMachine);
        for text in ["Package:4 Core:16 Group:2 PU:4", "pu:1", "foo:2", "pack:2 core", "(memory=1GB) pu:2", "x:"] {
            check(text, Source::Synthetic(text.to_owned()));
        }
        for text in ["machine.xml", "core", "2 4", "./odd:1.xml", "/tmp/pack:2 pu:2"] {
            check(text, Source::File(text.into()));
        }
    }

    #[test]
    fn an_older_hwloc_gets_no_flag_that_it_does_not_know() {
        // Those of hwloc 2.4 are the lowest four.
        let newer = |version| flags(version, false).bits() >> 4;
        assert_eq!((newer(0x2_04_00), newer(0x2_05_00), newer(0x2_07_00)), (0, 0, 0));
        assert!(newer(0x2_08_00) != 0 && flags(0x2_04_00, false).contains(BuildFlags::INCLUDE_DISALLOWED));
        assert!(!flags(0x2_10_00, true).contains(BuildFlags::IGNORE_MEMORY_ATTRIBUTES));
    }

    #[track_caller]
    fn check_memory(gib: &[Option<u64>], meminfo: &str, doubted: bool) {
        let node = |(id, gib): (u32, &Option<u64>)| NumaNode {
            os_id: Some(id),
            subtype: None,
            memory_bytes: gib.map(|gib| gib << 30),
            memory_side_cache_bytes: None,
            tier: None,
            strands: 1,
            usable: true,
        };
        let nodes: Vec<_> = (0..).zip(gib).map(node).collect();
        assert_eq!(memory_doubt(&nodes, [&[0], &[0]], meminfo, None).is_some(), doubted);
        for with_cpus in [&[0][..], &[0, 252, 253]] {
            let doubt = memory_doubt(&nodes, [&[0, 252, 253], with_cpus], meminfo, None);
            let is_of_gpus = |doubt: &String| doubt.contains("GPU") == (with_cpus.len() == 1);
            assert!(
                doubt.is_some() == doubted && doubt.is_none_or(|doubt| doubt.contains("252-253") && is_of_gpus(&doubt))
            );
        }
        // What a container may use hides no node that is smaller.
        let is_larger = gib.iter().flatten().sum::<u64>() > 8;
        let limited = memory_doubt(&nodes, [&[0], &[0]], meminfo, Some(8 << 30));
        assert_eq!(limited.is_some(), doubted && !is_larger);
    }

    #[test]
    fn only_a_contradiction_is_doubted() {
        let eight = "MemTotal:        8388608 kB\nMemFree:  1 kB\n";
        check_memory(&[Some(4), Some(4)], eight, false);
        check_memory(&[Some(4)], eight, true);
        check_memory(&[Some(8), Some(8)], eight, true);
        check_memory(&[Some(4), None], eight, false);
        check_memory(&[Some(4)], "", false);
    }
}
