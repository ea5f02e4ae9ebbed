//! `/proc/PID/status`.

use std::fs;

use charz_data::cpulist;

use crate::{Error, meminfo};

/// The file `/proc/PID/status` of a process or thread: a name and a value per line. All is missing where there is no such file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status(String);

impl Status {
    /// The file of this process.
    pub const OWN: &str = "/proc/self/status";

    /// This process's, which is that of its first thread.
    #[must_use]
    pub fn of_process() -> Self {
        Status::new(fs::read_to_string(Status::OWN).unwrap_or_default())
    }

    /// The calling thread's.
    #[must_use]
    pub fn of_thread() -> Self {
        Status::new(fs::read_to_string("/proc/thread-self/status").unwrap_or_default())
    }

    /// The content of such a file.
    #[must_use]
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
    #[must_use]
    pub fn ignores(&self, signal: i32) -> bool {
        let mask = self.value("SigIgn").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }

    /// The name of the thread, which may hold anything but line ends.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.value("Name")
    }

    /// The id of the process that the thread belongs to.
    #[must_use]
    pub fn process(&self) -> Option<i32> {
        self.value("Tgid")?.parse().ok()
    }

    /// The id of that process's parent.
    #[must_use]
    pub fn parent(&self) -> Option<i32> {
        self.value("PPid")?.parse().ok()
    }

    /// The real and the effective user id.
    #[must_use]
    pub fn users(&self) -> Option<[u32; 2]> {
        let mut ids = self.value("Uid")?.split_whitespace().map(|id| id.parse().ok());
        Some([ids.next()??, ids.next()??])
    }

    /// How many threads the process has.
    #[must_use]
    pub fn threads(&self) -> Option<u64> {
        self.value("Threads")?.parse().ok()
    }

    /// The address space that the process has mapped, in bytes.
    #[must_use]
    pub fn mapped_bytes(&self) -> Option<u64> {
        meminfo::bytes(&self.0, "VmSize")
    }

    /// How often the thread lost its CPU though it wanted to run on.
    #[must_use]
    pub fn involuntary_switches(&self) -> Option<u64> {
        self.value("nonvoluntary_ctxt_switches")?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_file_is_read() {
        let status = Status::new(include_str!("../tests/systems/status"));
        assert_eq!(status.name(), Some("a) b:"));
        assert_eq!((status.process(), status.parent(), status.threads()), (Some(1234), Some(1), Some(7)));
        assert_eq!((status.users(), status.mapped_bytes()), (Some([1000, 0]), Some(8_300 << 10)));
        assert_eq!(status.cpus(), Ok(vec![0, 1, 1500]), "of any width");
        assert_eq!(status.nodes(), Ok(vec![0, 1]));
        assert_eq!([1, 2, 3, 13, 64].map(|signal| status.ignores(signal)), [true, false, false, true, false]);
        assert_eq!(status.involuntary_switches(), Some(42));
    }

    #[test]
    fn what_is_missing_or_no_list_is_named() {
        let why = |text: &str| Status::new(text).cpus().unwrap_err().to_string();
        assert_eq!(why("Name:\tx\nCpus_allowed:\t3\n"), "/proc/self/status: has no Cpus_allowed_list");
        assert_eq!(
            why("Cpus_allowed_list:\t\n"),
            "/proc/self/status: \"\" is not a strand id; write ids and ranges such as 0-3,8"
        );
        let nothing = Status::default();
        assert_eq!((nothing.name(), nothing.users(), nothing.mapped_bytes()), (None, None, None));
        assert!(nothing.nodes().is_err() && !nothing.ignores(1));
    }

    #[test]
    fn this_thread_may_run_somewhere() {
        assert!(Status::of_process().cpus().is_ok_and(|cpus| !cpus.is_empty()));
        assert_eq!(Status::of_thread().process(), i32::try_from(std::process::id()).ok());
    }
}
