//! `/proc/PID/status`.

use charz_data::cpulist;
use rustix::process::getpid;
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::{Error, file, meminfo};

/// The CPUs that are online and that the first thread of this process may run on, ascending, by the system call; `None` where the kernel
/// knows ids beyond those of a [`CpuSet`].
pub fn runnable_cpus() -> Option<Vec<u32>> {
    let set = sched_getaffinity(Some(getpid())).ok()?;
    let cpus = (0..CpuSet::MAX_CPU).filter(|id| set.is_set(*id));
    cpus.map(|id| u32::try_from(id).ok()).collect()
}

/// The file `/proc/PID/status` of a process or thread: a name and a value per line. All is missing where there is no such file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status(String);

impl Status {
    /// The file of this process.
    pub const OWN: &str = "/proc/self/status";

    /// The file of this process, which describes its first thread.
    pub fn of_process() -> Self {
        Status::new(file::text(Status::OWN).unwrap_or_default())
    }

    /// The file of the calling thread.
    pub fn of_thread() -> Self {
        Status::new(file::text("/proc/thread-self/status").unwrap_or_default())
    }

    /// The content of such a file.
    pub fn new(text: impl Into<String>) -> Self {
        Status(text.into())
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    }

    fn list(&self, name: &str) -> Result<Vec<u32>, Error> {
        let list = self.value(name).ok_or_else(|| Error::new(Status::OWN, format!("has no {name}")))?;
        cpulist::parse(list).map_err(|why| Error::new(Status::OWN, why))
    }

    /// The CPUs that the thread may run on, ascending: its affinity mask, which the cpuset limits too.
    pub fn cpus(&self) -> Result<Vec<u32>, Error> {
        self.list("Cpus_allowed_list")
    }

    /// The NUMA nodes that the thread may put memory on, ascending.
    pub fn nodes(&self) -> Result<Vec<u32>, Error> {
        self.list("Mems_allowed_list")
    }

    /// Whether the process ignores the signal: no program that it starts gets it either, unless that says otherwise.
    pub fn ignores(&self, signal: i32) -> bool {
        let mask = self.value("SigIgn").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }

    /// The name of the thread, which may hold anything but line ends.
    pub fn name(&self) -> Option<&str> {
        self.value("Name")
    }

    /// The id of the process that the thread belongs to.
    pub fn process(&self) -> Option<i32> {
        self.value("Tgid")?.parse().ok()
    }

    /// The id of that process's parent.
    pub fn parent(&self) -> Option<i32> {
        self.value("PPid")?.parse().ok()
    }

    /// The real and the effective user id.
    pub fn users(&self) -> Option<[u32; 2]> {
        let mut ids = self.value("Uid")?.split_whitespace().map(|id| id.parse().ok());
        Some([ids.next()??, ids.next()??])
    }

    /// How many threads the process has.
    pub fn threads(&self) -> Option<u64> {
        self.value("Threads")?.parse().ok()
    }

    /// The address space that the process has mapped, in bytes.
    pub fn mapped_bytes(&self) -> Option<u64> {
        meminfo::bytes(&self.0, "VmSize")
    }

    /// How often the thread lost its CPU though it wanted to run on.
    pub fn involuntary_switches(&self) -> Option<u64> {
        self.value("nonvoluntary_ctxt_switches")?.parse().ok()
    }
}
