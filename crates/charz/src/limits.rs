//! What the system lets this process have: memory and threads.

use std::fs;
use std::path::Path;

use crate::render::human;

/// What a sweep may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Installed memory.
    pub memory_total_bytes: Option<u64>,
    /// Available memory, the control group's limit included.
    pub memory_available_bytes: Option<u64>,
    /// The most that the blocks of one cell may take; `None` where the system does not tell.
    pub memory_budget_bytes: Option<u64>,
    /// The most threads.
    pub threads: ThreadLimit,
}

/// The most threads, and which limit says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLimit {
    /// The number.
    pub at_most: usize,
    /// The limit's name and value.
    pub because: String,
}

/// The share of the available memory that one cell's blocks may take, in percent. The other half is for the page cache,
/// other processes, and for being wrong about what is available.
pub const MEMORY_SHARE_PERCENT: u64 = 50;

/// The most threads in any case: beyond it the scheduler, not the machine, is measured.
const MOST_THREADS: usize = 4096;

/// Mappings that one thread costs: stack, guard page, signal stack and its guard; one for good measure.
const MAPPINGS_PER_THREAD: u64 = 5;

/// Threads that are left to everybody else in the control group and to ourselves.
const THREADS_LEFT: u64 = 16;

impl Limits {
    /// Reads the limits of this process.
    pub fn read() -> Self {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let groups = Groups::read();
        let available = [meminfo_bytes(&meminfo, "MemAvailable:"), groups.memory_left()].into_iter().flatten().min();
        Limits {
            memory_total_bytes: meminfo_bytes(&meminfo, "MemTotal:"),
            memory_available_bytes: available,
            memory_budget_bytes: available.map(|bytes| bytes / 100 * MEMORY_SHARE_PERCENT),
            threads: thread_limit(&groups),
        }
    }

    /// No limit but the one of reason, for tests and for machines that are not this one.
    pub fn unlimited() -> Self {
        Limits {
            memory_total_bytes: None,
            memory_available_bytes: None,
            memory_budget_bytes: None,
            threads: ThreadLimit { at_most: MOST_THREADS, because: "the program's own cap".into() },
        }
    }

    /// Why `workers` workers cannot have `bytes` bytes in all, if they cannot.
    pub fn memory_obstacle(&self, workers: usize, bytes: u64) -> Option<String> {
        let budget = self.memory_budget_bytes?;
        (bytes > budget).then(|| {
            format!(
                "{workers} workers need {} in all; the limit is {}, {MEMORY_SHARE_PERCENT}% of the available memory",
                human::iec(bytes),
                human::iec(budget)
            )
        })
    }
}

fn thread_limit(groups: &Groups) -> ThreadLimit {
    let number = |path: &str| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
    let maps_left = number("/proc/sys/vm/max_map_count").map(|most| {
        let now = fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count() as u64);
        (most.saturating_sub(now) / MAPPINGS_PER_THREAD, format!("vm.max_map_count is {most}"))
    });
    let system = |path: &str, name: &str| {
        number(path).map(|most| (most.saturating_sub(THREADS_LEFT), format!("{name} is {most}")))
    };
    let group = groups
        .threads_left()
        .map(|(left, most)| (left.saturating_sub(THREADS_LEFT), format!("pids.max of the control group is {most}")));
    let user = max_user_processes().map(|most| (most.saturating_sub(THREADS_LEFT), format!("ulimit -u is {most}")));
    let own = (MOST_THREADS as u64, "the program's own cap".to_owned());
    let limits = [
        Some(own),
        maps_left,
        system("/proc/sys/kernel/threads-max", "kernel.threads-max"),
        system("/proc/sys/kernel/pid_max", "kernel.pid_max"),
        group,
        user,
    ];
    let (at_most, because) = limits.into_iter().flatten().min_by_key(|(most, _)| *most).unwrap_or_default();
    ThreadLimit { at_most: usize::try_from(at_most).unwrap_or(usize::MAX).max(1), because }
}

/// The soft limit in the line `Max processes` of `/proc/self/limits`.
fn max_user_processes() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max processes"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A line of `/proc/meminfo`, which counts in KiB.
fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The process's place in the control groups, either version.
struct Groups {
    text: String,
}

impl Groups {
    fn read() -> Self {
        Groups { text: fs::read_to_string("/proc/self/cgroup").unwrap_or_default() }
    }

    /// The smallest remainder from the process's own group up to the root: a limit of any parent binds too.
    fn memory_left(&self) -> Option<u64> {
        let v2 = self.folders("").into_iter().filter_map(|folder| left(&folder, "memory.max", "memory.current"));
        let v1 = self
            .folders("memory")
            .into_iter()
            .filter_map(|folder| left(&folder, "memory.limit_in_bytes", "memory.usage_in_bytes"));
        v2.chain(v1).min()
    }

    /// What is left of `pids.max`, and its value.
    fn threads_left(&self) -> Option<(u64, u64)> {
        let folders = self.folders("").into_iter().chain(self.folders("pids"));
        folders
            .filter_map(|folder| Some((left(&folder, "pids.max", "pids.current")?, number_in(&folder, "pids.max")?)))
            .min()
    }

    /// The folders of a controller's hierarchy (version 2 where the name is empty), from the process's group to the root.
    fn folders(&self, controller: &str) -> Vec<String> {
        let Some((mount, path)) = self.text.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (names, path) = (fields.next()?, fields.next()?);
            names.split(',').any(|name| name == controller).then(|| {
                let mount = if names.is_empty() { String::new() } else { format!("/{names}") };
                (format!("/sys/fs/cgroup{mount}"), path)
            })
        }) else {
            return Vec::new();
        };
        Path::new(path).ancestors().map(|folder| format!("{mount}{}", folder.display())).collect()
    }
}

/// What is left of a limit. Version 1 says "none" by a number near 2⁶³, version 2 by `max`, which is no number.
fn left(folder: &str, limit: &str, usage: &str) -> Option<u64> {
    let most = number_in(folder, limit).filter(|&most| most < 1 << 60)?;
    Some(most.saturating_sub(number_in(folder, usage)?))
}

fn number_in(folder: &str, file: &str) -> Option<u64> {
    fs::read_to_string(format!("{folder}/{file}")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_counts_in_kib() {
        let text = "MemTotal:       24684084 kB\nMemAvailable:   1024 kB\nHugePages_Total:       0\n";
        assert_eq!(meminfo_bytes(text, "MemAvailable:"), Some(1 << 20));
        assert_eq!(meminfo_bytes(text, "MemFree:"), None);
        assert_eq!(meminfo_bytes(text, "HugePages_Total:"), None);
    }

    #[test]
    fn groups_are_walked_to_the_root() {
        let groups = Groups { text: "5:memory:/a/b\n3:cpu,pids:/\n0::/c\n".into() };
        assert_eq!(
            groups.folders("memory"),
            ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory/"]
        );
        assert_eq!(groups.folders("pids"), ["/sys/fs/cgroup/cpu,pids/"]);
        assert_eq!(groups.folders(""), ["/sys/fs/cgroup/c", "/sys/fs/cgroup/"]);
        assert_eq!(groups.folders("cpuset"), [""; 0]);
    }

    #[test]
    fn a_limit_of_a_control_group_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        write("memory.max", "max\n");
        write("memory.current", "100\n");
        assert_eq!(left(path, "memory.max", "memory.current"), None);
        write("memory.max", "1000\n");
        assert_eq!(left(path, "memory.max", "memory.current"), Some(900));
        write("memory.current", "1001\n");
        assert_eq!(left(path, "memory.max", "memory.current"), Some(0));
        write("memory.max", "9223372036854771712\n");
        assert_eq!(left(path, "memory.max", "memory.current"), None);
    }
}
