//! What the system lets this process have: memory and threads.

mod oom;

use std::fs;
use std::path::Path;

use charz_kernels::PageKind;
use charz_topology::Machine;
use charz_topology::cgroup::{self, Group};
use rustix::process::{Resource, getrlimit};

use charz_data::units;
pub(crate) use oom::OomKills;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub memory_total_bytes: Option<u64>,
    /// Available memory, the control group's limit included.
    pub memory_available_bytes: Option<u64>,
    /// The most that the blocks of one cell may take; `None` if the system does not report it.
    pub memory_budget_bytes: Option<u64>,
    pub threads: ThreadLimit,
    /// The setting that has the kernel panic when something hogs a processor, if one does.
    pub panics_on_lockup: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLimit {
    pub at_most: usize,
    pub because: String,
}

/// The share of the available memory that one cell's blocks may take, in percent. The other half is for the page cache,
/// other processes, and for being wrong about what is available.
pub const MEMORY_SHARE_PERCENT: u64 = 50;

/// The most threads in any case: beyond it the scheduler, not the machine, is measured.
pub const MOST_THREADS: usize = 4096;

/// Mappings that one thread costs: stack, guard page, signal stack and its guard; one for good measure.
const MAPPINGS_PER_THREAD: u64 = 5;

/// Memory that a thread costs which does little: 16 KiB of the kernel's stack on x86-64, and a few pages of its own, of which the tables
/// take others.
const BYTES_PER_THREAD: u64 = 32 << 10;

/// Address space that such a thread costs: its stack, and as much for what it allocates.
const SPACE_PER_THREAD: u64 = 512 << 10;

/// Threads that are left to other processes in the control group and to charz itself.
const THREADS_LEFT: u64 = 16;

/// Address space that is enough for any command and a usual report, beyond what is mapped at the start: a sweep takes 8 MiB of
/// it, a PNG 16.
const LEAST_SPACE: u64 = 64 << 20;

/// The stack that is enough for any command: the parser of arguments takes the most, 256 to 512 KiB without optimisation.
const LEAST_STACK: u64 = 1 << 20;

/// Which limit is too low for this process, if one is: it would be ended by SIGABRT when an allocation fails or its stack
/// overflows.
pub fn shortage() -> Option<String> {
    let short = |resource, what: &str, option: &str, least: u64| {
        let limit = units::iec(getrlimit(resource).current.filter(|&limit| limit < least)?);
        let (needs, kib) = (units::iec(least), least.div_ceil(1024));
        Some(format!("the limit on {what} is {limit} and charz needs {needs}; raise it with ulimit {option} {kib}"))
    };
    let mapped = mapped_bytes();
    short(Resource::Stack, "the stack", "-s", LEAST_STACK)
        .or_else(|| short(Resource::As, "address space", "-v", mapped + LEAST_SPACE))
}

/// The address space that this process has mapped.
fn mapped_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    meminfo_bytes(&status, "VmSize:").unwrap_or(0)
}

impl Limits {
    pub fn read() -> Self {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let available = [meminfo_bytes(&meminfo, "MemAvailable:"), group_memory_left()].into_iter().flatten().min();
        Limits {
            memory_total_bytes: meminfo_bytes(&meminfo, "MemTotal:"),
            memory_available_bytes: available,
            memory_budget_bytes: available.map(|bytes| bytes / 100 * MEMORY_SHARE_PERCENT),
            threads: thread_limit(),
            panics_on_lockup: ["softlockup_panic", "hung_task_panic"]
                .into_iter()
                .find(|name| number(&Path::new("/proc/sys/kernel").join(name)).is_some_and(|value| value > 0)),
        }
    }

    /// Those of a machine that is not this one: its memory, as far as it is known.
    pub fn of(machine: &Machine) -> Self {
        let memory =
            machine.numa_nodes.iter().map(|node| node.memory_bytes).sum::<Option<u64>>().filter(|bytes| *bytes > 0);
        Limits {
            memory_total_bytes: memory,
            memory_available_bytes: memory,
            memory_budget_bytes: memory.map(|bytes| bytes / 100 * MEMORY_SHARE_PERCENT),
            ..Limits::unlimited()
        }
    }

    /// No limit but the one of reason, for tests.
    pub fn unlimited() -> Self {
        Limits {
            memory_total_bytes: None,
            memory_available_bytes: None,
            memory_budget_bytes: None,
            threads: ThreadLimit { at_most: MOST_THREADS, because: "the program's own cap".into() },
            panics_on_lockup: None,
        }
    }

    /// The most threads that a measured program may make beside so many workers.
    pub fn threads_beside(&self, workers: usize) -> ThreadLimit {
        let ThreadLimit { at_most, because } = &self.threads;
        let own = ThreadLimit { at_most: at_most.saturating_sub(workers), because: because.clone() };
        let by_memory = self.memory_budget_bytes.map(|budget| ThreadLimit {
            at_most: usize::try_from(budget / BYTES_PER_THREAD).unwrap_or(usize::MAX),
            because: format!(
                "their stacks may take {}, {MEMORY_SHARE_PERCENT}% of the available memory",
                units::iec(budget)
            ),
        });
        // A thread that gets the last of it leaves none for an allocation, which ends the process.
        let by_space = getrlimit(Resource::As).current.map(|limit| ThreadLimit {
            at_most: usize::try_from(limit.saturating_sub(mapped_bytes() + LEAST_SPACE) / SPACE_PER_THREAD)
                .unwrap_or(usize::MAX),
            because: format!("the limit on address space (ulimit -v) is {}", units::iec(limit)),
        });
        by_memory
            .into_iter()
            .chain(by_space)
            .fold(own, |own, other| if other.at_most < own.at_most { other } else { own })
    }

    /// Why a cell of `workers` workers whose blocks take `bytes` bytes in all cannot run, if it cannot.
    pub fn obstacle(&self, workers: usize, bytes: u64, pages: PageKind) -> Option<String> {
        if workers > self.threads.at_most {
            return Some(format!(
                "{workers} workers are more than the {} that are safe here ({})",
                self.threads.at_most, self.threads.because
            ));
        }
        let take = if workers == 1 { "1 block takes".to_owned() } else { format!("{workers} blocks take") };
        let needed = format!("{take} {} in all", units::iec(bytes));
        match pages {
            PageKind::Small | PageKind::Transparent => {
                let budget = units::iec(self.memory_budget_bytes.filter(|&budget| bytes > budget)?);
                Some(format!("{needed}; the limit is {budget}, {MEMORY_SHARE_PERCENT}% of the available memory"))
            }
            // These come out of a pool of their own, which the available memory does not hold.
            PageKind::Huge2M | PageKind::Huge1G => {
                let free = units::iec(free_huge_bytes(pages).filter(|&free| bytes > free)?);
                Some(format!("{needed} on reserved pages; {free} of them are free"))
            }
        }
    }
}

fn free_huge_bytes(pages: PageKind) -> Option<u64> {
    let bytes = pages.bytes() as u64;
    let path = format!("/sys/kernel/mm/hugepages/hugepages-{}kB/free_hugepages", bytes / 1024);
    number(Path::new(&path))?.checked_mul(bytes)
}

fn thread_limit() -> ThreadLimit {
    let maps_left = number(Path::new("/proc/sys/vm/max_map_count")).map(|most| {
        let now = fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count() as u64);
        (most.saturating_sub(now) / MAPPINGS_PER_THREAD, format!("vm.max_map_count is {most}"))
    });
    let all = |name: &str| {
        let most = number(Path::new(&format!("/proc/sys/kernel/{name}")))?;
        Some((most.saturating_sub(THREADS_LEFT), format!("kernel.{name} is {most}")))
    };
    let groups = cgroup::groups("pids").into_iter().filter_map(|group| {
        let most = number(&group.folder.join("pids.max"))?;
        let left = most.saturating_sub(number(&group.folder.join("pids.current"))?);
        Some((left.saturating_sub(THREADS_LEFT), format!("pids.max of the control group is {most}")))
    });
    // The limit is on all threads of the user, on the whole machine.
    let user = max_user_processes().map(|most| {
        let now = threads_of_user().unwrap_or(0);
        (most.saturating_sub(now + THREADS_LEFT), format!("ulimit -u is {most}, of which {now} are taken"))
    });
    let own = (MOST_THREADS as u64, "the program's own cap".to_owned());
    let limits = [Some(own), maps_left, all("threads-max"), all("pid_max"), user].into_iter().flatten().chain(groups);
    let (at_most, because) = limits.min_by_key(|(most, _)| *most).unwrap_or_default();
    ThreadLimit { at_most: usize::try_from(at_most).unwrap_or(usize::MAX).max(1), because }
}

fn max_user_processes() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max processes"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The threads of all processes of the user that this process belongs to.
fn threads_of_user() -> Option<u64> {
    let own = field(&fs::read_to_string("/proc/self/status").ok()?, "Uid:")?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let status = processes.filter_map(|process| fs::read_to_string(process.path().join("status")).ok());
    let threads = |status: String| field(&status, "Threads:").filter(|_| field(&status, "Uid:") == Some(own));
    Some(status.filter_map(threads).sum())
}

/// The first number of a line of a `status`.
fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// A line of `/proc/meminfo`, which counts in KiB.
pub(crate) fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The smallest limit on the memory of the process's own group and of those above it.
pub fn group_memory() -> Option<u64> {
    cgroup::groups("memory").iter().filter_map(memory_limit).min()
}

/// The smallest remainder from the process's own group up to the root: a limit of any parent binds too.
fn group_memory_left() -> Option<u64> {
    cgroup::groups("memory").iter().filter_map(memory_left).min()
}

/// Version 1 says "no limit" by a number near 2⁶³, version 2 by `max`, which is no number.
fn memory_limit(group: &Group) -> Option<u64> {
    let file = if group.unified { "memory.max" } else { "memory.limit_in_bytes" };
    number(&group.folder.join(file)).filter(|&most| most < 1 << 60)
}

/// What is left of a group's memory before the system ends its processes, or slows them down (`memory.high`). The inactive page
/// cache counts as usage, but the kernel reclaims it on demand.
fn memory_left(group: &Group) -> Option<u64> {
    let (usage, cache) = match group.unified {
        true => ("memory.current", "inactive_file "),
        false => ("memory.usage_in_bytes", "total_inactive_file "),
    };
    let high = number(&group.folder.join("memory.high")).filter(|_| group.unified);
    let most = memory_limit(group).into_iter().chain(high).min()?;
    let used = number(&group.folder.join(usage))?;
    let stat = fs::read_to_string(group.folder.join("memory.stat")).unwrap_or_default();
    let cache = stat.lines().find_map(|line| line.strip_prefix(cache)?.trim().parse().ok()).unwrap_or(0);
    Some(most.saturating_sub(used.saturating_sub(cache)))
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
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
    fn a_limit_of_a_control_group_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        let left = |unified| memory_left(&Group { folder: folder.path().to_owned(), unified });
        write("memory.max", "max\n");
        write("memory.current", "100\n");
        assert_eq!(left(true), None);
        write("memory.max", "1000\n");
        assert_eq!(left(true), Some(900));
        write("memory.stat", "anon 10\ninactive_file 60\n");
        assert_eq!(left(true), Some(960), "page cache can be dropped");
        write("memory.current", "1100\n");
        assert_eq!(left(true), Some(0));
        write("memory.high", "1500\n");
        assert_eq!(left(true), Some(0));
        write("memory.max", "max\n");
        assert_eq!(left(true), Some(460), "beyond it allocations are slowed down");
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("memory.usage_in_bytes", "5\n");
        assert_eq!(left(false), None);
    }

    #[test]
    fn threads_beside_workers_are_what_threads_and_memory_leave() {
        let of = |budget, workers| {
            let limits = Limits { memory_budget_bytes: budget, ..Limits::unlimited() };
            limits.threads_beside(workers)
        };
        assert_eq!(of(None, 96).at_most, MOST_THREADS - 96);
        assert_eq!(of(Some(1 << 40), 0).at_most, MOST_THREADS);
        assert_eq!(of(None, 2 * MOST_THREADS).at_most, 0);
        let little = of(Some(3 << 20), 2);
        assert!(little.at_most == 96 && little.because.contains("3 MiB"), "{little:?}");
    }

    #[test]
    fn the_threads_of_a_user_are_at_least_those_of_this_process() {
        let beside = std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_millis(100)));
        assert!(threads_of_user().is_some_and(|threads| threads >= 2));
        beside.join().unwrap();
        assert_eq!(field("Name:\tcharz\nUid:\t1000\t0\t0\t0\nThreads:\t7\n", "Uid:"), Some(1000));
    }

    #[test]
    fn the_obstacle_names_both_figures() {
        let limits = Limits { memory_budget_bytes: Some(3 << 20), ..Limits::unlimited() };
        let reason = limits.obstacle(4, 4 << 20, PageKind::Small).unwrap();
        assert!(reason.contains("4 MiB") && reason.contains("3 MiB"), "{reason}");
        assert_eq!(limits.obstacle(3, 3 << 20, PageKind::Small), None);
        // No machine has reserved an exbibyte.
        assert!(limits.obstacle(1, 1 << 60, PageKind::Huge2M).is_none_or(|reason| reason.contains("reserved")));
    }
}
