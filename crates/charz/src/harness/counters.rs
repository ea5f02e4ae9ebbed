//! What the operating system counted for the calling thread and for the machine.
//!
//! Everything here may be missing (no `/proc`, another kernel): then it is `None`, never zero.
#![allow(unsafe_code)] // getrusage has no safe wrapper among our dependencies; see `context_switches`.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use charz_topology::cgroup;

/// What was counted for the calling thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounts {
    /// Times that it gave up its strand by itself.
    pub voluntary_switches: Option<u64>,
    /// Times that its strand was taken from it.
    pub involuntary_switches: Option<u64>,
    /// Moves from strand to strand.
    pub migrations: Option<u64>,
    /// Nanoseconds that it was ready to run and had to wait for its strand.
    pub run_delay_ns: Option<u64>,
}

impl ThreadCounts {
    /// Reads the counts; about 30 µs.
    pub fn read() -> Self {
        let switches = context_switches();
        ThreadCounts {
            voluntary_switches: switches.map(|(voluntary, _)| voluntary),
            involuntary_switches: switches.map(|(_, involuntary)| involuntary),
            migrations: fs::read_to_string("/proc/thread-self/sched").ok().and_then(|text| migrations(&text)),
            run_delay_ns: fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| run_delay(&text)),
        }
    }

    /// What was counted from `earlier` to `self`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        ThreadCounts {
            voluntary_switches: difference(self.voluntary_switches, earlier.voluntary_switches),
            involuntary_switches: difference(self.involuntary_switches, earlier.involuntary_switches),
            migrations: difference(self.migrations, earlier.migrations),
            run_delay_ns: difference(self.run_delay_ns, earlier.run_delay_ns),
        }
    }
}

/// What was counted for the whole machine, or for this process's control group, since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineCounts {
    /// Nanoseconds that the hypervisor ran something else while one of our strands wanted to run, over all strands.
    /// `/proc/stat` counts it in ticks of 10 ms.
    pub steal_ns: Option<u64>,
    /// Periods in which the control group's CPU quota stopped us.
    pub throttled_periods: Option<u64>,
}

impl MachineCounts {
    /// Reads the counts.
    pub fn read() -> Self {
        MachineCounts {
            steal_ns: fs::read_to_string("/proc/stat").ok().and_then(|text| steal(&text)),
            throttled_periods: throttled_periods(),
        }
    }

    /// What was counted from `earlier` to `self`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        MachineCounts {
            steal_ns: difference(self.steal_ns, earlier.steal_ns),
            throttled_periods: difference(self.throttled_periods, earlier.throttled_periods),
        }
    }
}

fn difference(later: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    // Steal has been seen to step back by a tick on some hypervisors.
    Some(later?.saturating_sub(earlier?))
}

#[cfg(target_os = "linux")]
fn context_switches() -> Option<(u64, u64)> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is valid for the write of one `rusage`, which is what the call writes.
    let status = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if status != 0 {
        return None;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let usage = unsafe { usage.assume_init() };
    Some((u64::try_from(usage.ru_nvcsw).ok()?, u64::try_from(usage.ru_nivcsw).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn context_switches() -> Option<(u64, u64)> {
    None
}

/// The line `se.nr_migrations : N` of `/proc/thread-self/sched`.
fn migrations(sched: &str) -> Option<u64> {
    let line = sched.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// The second field of `/proc/thread-self/schedstat` (kernel documentation, `scheduler/sched-stats`).
fn run_delay(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

/// The eighth number of the line `cpu` of `/proc/stat`, in ticks of 1/100 s (`USER_HZ` is 100 on every Linux that Rust
/// supports).
fn steal(stat: &str) -> Option<u64> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: u64 = line.split_whitespace().nth(8)?.parse().ok()?;
    Some(ticks * 10_000_000)
}

/// The files that count for the process's groups. Looked up once: finding the groups takes longer than reading these, and
/// nobody moves a process in the middle of a sweep without a reason to distrust it.
static STAT_FILES: LazyLock<Vec<PathBuf>> =
    LazyLock::new(|| cgroup::groups("cpu").into_iter().map(|group| group.folder.join("cpu.stat")).collect());

/// `nr_throttled`, summed over the process's group and its ancestors: it counts in the group that has the quota.
fn throttled_periods() -> Option<u64> {
    let counts = STAT_FILES.iter().filter_map(|file| nr_throttled(&fs::read_to_string(file).ok()?));
    // No group that counts is not the same as a count of zero.
    counts.reduce(|sum, count| sum + count)
}

fn nr_throttled(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("nr_throttled "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(migrations("cat (1, #threads: 1)\nse.nr_migrations      :       12\n"), Some(12));
        assert_eq!(migrations("se.exec_start : 1\n"), None);
        assert_eq!(run_delay("464010 54871 2\n"), Some(54_871));
        assert_eq!(run_delay("\n"), None);
        assert_eq!(steal("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"), Some(80_000_000));
        assert_eq!(steal("cpu  1 2 3\n"), None);
        assert_eq!(nr_throttled("nr_periods 9\nnr_throttled 3\nthrottled_time 7\n"), Some(3));
        assert_eq!(nr_throttled("usage_usec 9\n"), None);
    }

    #[test]
    fn what_is_missing_stays_missing() {
        let counted = ThreadCounts { migrations: Some(5), run_delay_ns: Some(9), ..ThreadCounts::default() };
        let since = counted.since(ThreadCounts { migrations: Some(3), ..ThreadCounts::default() });
        assert_eq!(since, ThreadCounts { migrations: Some(2), ..ThreadCounts::default() });
    }
}
