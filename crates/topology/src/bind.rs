//! Seating the calling thread on a strand, and reading back where it sits.
//!
//! This is the only file that asks the operating system to bind. Asking and reading back go separate ways: hwloc or
//! core_affinity seats, and `/proc` shows the outcome. A request that silently failed is worse than none:
//! read back after binding, and compare.

use std::fs;
use std::io;
use std::sync::OnceLock;

use charz_system::Status;
use charz_system::task::Stat;
use hwlocality::bitmap::BitmapIndex;
use hwlocality::cpu::binding::CpuBindingFlags;
use hwlocality::cpu::cpuset::CpuSet;
use hwlocality::errors::HybridError;
use hwlocality::memory::binding::{MemoryBindingFlags, MemoryBindingPolicy};
use hwlocality::memory::nodeset::NodeSet;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::{BuildFlags, TopologyBuilder, TypeFilter};
use hwlocality::{Topology, hwloc_api_version};

use crate::discover::from_the_kernel;
use crate::usable::Present;
use crate::{Error, cpulist};

/// The number of strands that core_affinity can name: it fills glibc's `cpu_set_t`, which has 1024 bits, and ends the
/// process on a larger id.
const CORE_AFFINITY_STRANDS: u32 = 1024;

/// Which library asks the operating system to bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// hwloc, which takes any id.
    #[default]
    Hwloc,
    /// core_affinity, which takes ids below 1024; a second opinion.
    CoreAffinity,
}

impl Backend {
    /// Why it cannot bind threads to these seats, if it cannot: a clause.
    #[must_use]
    pub fn cannot_seat(self, seats: &[Option<u32>]) -> Option<String> {
        let is_named = self == Self::Hwloc || seats.iter().flatten().all(|id| *id < CORE_AFFINITY_STRANDS);
        (!is_named).then(|| format!("core_affinity knows no ids from {CORE_AFFINITY_STRANDS} on; bind through hwloc"))
    }
}

charz_data::words! { Backend { Hwloc = "hwloc", CoreAffinity = "core-affinity" } }

/// Where the operating system says a thread sits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seating {
    /// The strands that the thread may run on, ascending.
    pub allowed: Vec<u32>,
    /// The strand that it ran on when it was asked; `None` where the operating system does not report it.
    pub on: Option<u32>,
}

impl Seating {
    /// Whether the thread sits on this strand and on no other.
    #[must_use]
    pub fn is_only(&self, os_id: u32) -> bool {
        self.allowed == [os_id] && self.on.is_none_or(|on| on == os_id)
    }
}

/// An operating system that seats threads: the seam at which tests put a machine that they do not have.
pub trait Seats: Send + Sync {
    /// Asks that the calling thread run on this strand only. An error is a clause without a subject, here and below.
    fn seat(&self, os_id: u32) -> Result<(), String>;

    /// Where the calling thread sits.
    fn read_back(&self) -> Result<Seating, String>;

    /// Asks that memory which the calling thread touches first from now on come from these NUMA nodes and no other; of
    /// several from each in turn, page by page.
    fn place_memory(&self, nodes: &[u32]) -> Result<(), String> {
        let _ = nodes;
        Err("this way to bind places no memory; bind through hwloc".to_owned())
    }

    /// What is there to seat threads on and to place memory on at this moment.
    fn present(&self) -> Present {
        Present::read()
    }
}

/// Seats threads, through one of the backends or what a test puts in their place.
pub struct Binder {
    seats: Box<dyn Seats>,
}

impl Binder {
    /// A binder for this machine.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        match backend {
            Backend::Hwloc => Self::through(Hwloc::default()),
            Backend::CoreAffinity => Self::through(CoreAffinity),
        }
    }

    /// A binder for any machine that can seat threads.
    #[must_use]
    pub fn through(seats: impl Seats + 'static) -> Self {
        Self { seats: Box::new(seats) }
    }

    /// Asks that the calling thread run on this strand only. An error where the backend cannot name the strand or the operating
    /// system refuses.
    pub fn seat(&self, os_id: u32) -> Result<(), Error> {
        self.seats.seat(os_id).map_err(|reason| Error::Seat { os_id, reason })
    }

    /// Asks that memory which the calling thread touches first from now on, to its end, come from these NUMA nodes and no
    /// other: OS ids, of which there is at least one; of several from each in turn, page by page. Whether it does is for
    /// the caller to look up in `/proc/self/numa_maps`.
    pub fn place_memory(&self, nodes: &[u32]) -> Result<(), Error> {
        let refused = |reason| Error::PlaceMemory { nodes: cpulist::print(nodes), reason };
        self.seats.place_memory(nodes).map_err(refused)
    }

    /// Where the operating system says the calling thread sits.
    pub fn read_back(&self) -> Result<Seating, Error> {
        self.seats.read_back().map_err(|reason| Error::ReadBack { reason })
    }

    /// Which of these CPUs and NUMA nodes, by OS ids, are not there at this moment; see [`Present::gone`].
    #[must_use]
    pub fn gone(&self, cpus: &[u32], nodes: &[u32]) -> Option<String> {
        self.seats.present().gone(cpus, nodes)
    }
}

/// Seating needs nothing of this machine but the strand, so hwloc gets that one alone: looking for all of them takes a
/// millisecond where there are two, in each process that measures. Whatever needs more has them looked for, once.
#[derive(Default)]
struct Hwloc(OnceLock<Result<Topology, String>>);

/// The smallest topology that can bind: hwloc looks at no strand but those that `describe` names.
///
/// An error where hwloc cannot load it, or was told by the environment that it is of another machine: it would then report success
/// and bind nothing.
fn smallest(
    flags: BuildFlags,
    describe: impl FnOnce(TopologyBuilder) -> Result<TopologyBuilder, String>,
) -> Result<Topology, String> {
    let builder = describe(Topology::builder())?;
    let build = || -> Result<Topology, Box<dyn std::error::Error>> {
        Ok(builder.with_flags(flags)?.with_common_type_filter(TypeFilter::KeepNone)?.build()?)
    };
    let topology = build().map_err(|error| format!("hwloc cannot describe this machine: {error}"))?;
    if topology.is_this_system() { Ok(topology) } else { Err(crate::discover::ELSEWHERE.to_owned()) }
}

impl Hwloc {
    fn machine(&self) -> Result<&Topology, String> {
        // Without the x86 component hwloc changes no binding while it looks.
        let whole = || smallest(BuildFlags::INCLUDE_DISALLOWED, from_the_kernel);
        self.0.get_or_init(whole).as_ref().map_err(Clone::clone)
    }
}

impl Seats for Hwloc {
    fn seat(&self, os_id: u32) -> Result<(), String> {
        if os_id > cpulist::MAX_ID {
            return Err(format!("the largest id possible is {}", cpulist::MAX_ID));
        }
        let alone = smallest(BuildFlags::ASSUME_THIS_SYSTEM, |builder| {
            let strand = format!("pu:1(indexes={os_id})");
            builder.from_synthetic(&strand).map_err(|error| format!("hwloc refuses {strand}: {error}"))
        })?;
        let strand = CpuSet::from_range(os_id as usize..=os_id as usize);
        let refused = |error| Present::read().gone(&[os_id], &[]).unwrap_or_else(|| in_words(error));
        alone.bind_cpu(&strand, CpuBindingFlags::THREAD).map_err(refused)
    }

    fn place_memory(&self, nodes: &[u32]) -> Result<(), String> {
        let machine = self.machine()?;
        let known: Vec<u32> = ids(machine.nodeset().iter_set());
        if let Some(node) = nodes.iter().find(|node| !known.contains(node)) {
            return Err(format!("there is no node {node}; there are {}", cpulist::print(&known)));
        }
        let set: NodeSet = nodes.iter().filter_map(|&id| BitmapIndex::try_from(id as usize).ok()).collect();
        let policy = if nodes.len() > 1 { MemoryBindingPolicy::Interleave } else { MemoryBindingPolicy::Bind };
        // Without `STRICT` the kernel would take memory from elsewhere when a node is full, and say nothing.
        let flags = MemoryBindingFlags::THREAD | MemoryBindingFlags::STRICT;
        machine.bind_memory(&set, policy, flags).map_err(|error| {
            let hint = "a container without CAP_SYS_NICE may not set policies of memory: run charz outside of it";
            Present::read().gone(&[], nodes).unwrap_or_else(|| format!("{}; {hint}", in_words(error)))
        })
    }

    fn read_back(&self) -> Result<Seating, String> {
        proc_seating().or_else(|| self.hwloc_seating()).ok_or_else(|| "neither /proc nor hwloc reports it".to_owned())
    }
}

impl Hwloc {
    fn hwloc_seating(&self) -> Option<Seating> {
        let machine = self.machine().ok()?;
        let allowed = machine.cpu_binding(CpuBindingFlags::THREAD).ok()?;
        // hwloc reports "not bound" as an endless set.
        allowed.weight()?;
        let on = machine.last_cpu_location(CpuBindingFlags::THREAD).ok().map(|set| ids(set.iter_set()));
        Some(Seating { allowed: ids(allowed.iter_set()), on: on.and_then(|on| on.first().copied()) })
    }
}

/// What hwloc or the operating system says, without the names of either's functions.
fn in_words(error: HybridError<impl std::error::Error>) -> String {
    match error {
        HybridError::Rust(error) => format!("hwloc refuses: {error}"),
        HybridError::Hwloc(raw) => match raw.errno {
            Some(errno) => format!("the operating system refuses: {}", io::Error::from_raw_os_error(errno.0)),
            None => "the operating system refuses and does not say why".to_owned(),
        },
    }
}

/// The ids in a set that is not endless, as far as they are possible ids.
fn ids(set: impl Iterator<Item = BitmapIndex>) -> Vec<u32> {
    set.filter_map(|id| u32::try_from(usize::from(id)).ok()).collect()
}

struct CoreAffinity;

impl Seats for CoreAffinity {
    fn seat(&self, os_id: u32) -> Result<(), String> {
        Backend::CoreAffinity.cannot_seat(&[Some(os_id)]).map_or(Ok(()), Err)?;
        let core = core_affinity::CoreId { id: os_id as usize };
        let reason = "the operating system refuses; core_affinity does not report why, hwloc would";
        core_affinity::set_for_current(core).then_some(()).ok_or_else(|| reason.to_owned())
    }

    fn read_back(&self) -> Result<Seating, String> {
        let listed = || {
            let cores = core_affinity::get_core_ids()?;
            let allowed = cores.iter().filter_map(|core| u32::try_from(core.id).ok()).collect();
            Some(Seating { allowed, on: None })
        };
        proc_seating().or_else(listed).ok_or_else(|| "neither /proc nor core_affinity reports it".to_owned())
    }
}

/// Where `/proc` says the calling thread sits.
fn proc_seating() -> Option<Seating> {
    let allowed = Status::of_thread().cpus().ok()?;
    let on = fs::read_to_string("/proc/thread-self/stat").ok().and_then(|stat| Stat::new(&stat).cpu());
    Some(Seating { allowed, on })
}

/// The version of the hwloc library that is in use, such as `2.9.0`.
#[must_use]
pub fn hwloc_version() -> String {
    // hwloc reports the version of its interface by a function, and its own only within a topology.
    let smallest = Topology::builder().from_synthetic("pu:1").ok().and_then(|builder| builder.build().ok());
    let own = smallest.and_then(|topology| {
        let root = topology.objects_with_type(ObjectType::Machine).next()?;
        root.info("hwlocVersion").map(|version| version.to_string_lossy().into_owned())
    });
    own.unwrap_or_else(|| {
        let version = hwloc_api_version();
        format!("{}.{}.{}", version >> 16, version >> 8 & 0xff, version & 0xff)
    })
}

#[cfg(test)]
mod tests {
    use super::Hwloc;

    #[test]
    fn the_machine_is_read_with_flags_that_hwloc_2_4_knows() {
        assert_eq!(Hwloc::default().machine().unwrap().build_flags().bits() >> 4, 0);
    }
}
