//! What `/proc` says about a thread. A file that is missing, or of a thread that has gone, counts nothing; so does a `/proc` of other
//! processes.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io::PipeWriter;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::LazyLock;

use charz_data::report::Counts;
use charz_system::task::{self, Stat};
use charz_system::{Status, file, numa_maps};

use crate::sys::affinity;

/// What is seen of a thread at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub name: String,
    pub counts: Counts,
    pub allowed: Vec<u32>,
}

/// Whether `/proc` numbers processes as this process does. In a PID namespace without a `/proc` of its own it shows other processes
/// under the same numbers.
pub fn has_own_proc() -> bool {
    static OWN: LazyLock<bool> = LazyLock::new(|| {
        fs::read_link("/proc/self").is_ok_and(|id| id.as_os_str() == std::process::id().to_string().as_str())
    });
    *OWN
}

/// A folder of `/proc`, of a process or a thread.
fn folder(id: i32) -> Option<PathBuf> {
    has_own_proc().then(|| PathBuf::from(format!("/proc/{id}")))
}

/// A file of one; empty where there is none.
fn text(id: i32, name: &str) -> String {
    folder(id).and_then(|folder| file::text(folder.join(name))).unwrap_or_default()
}

/// A thread; its id finds its folder without that of its process.
pub fn thread(tid: i32) -> Seen {
    let file = |name: &str| text(tid, &format!("task/{tid}/{name}"));
    // The system says it where `/proc` is not this process's, too.
    seen(allowed(tid), file("status"), &file("stat"), &file("schedstat"), &file("sched"))
}

fn seen(allowed: Vec<u32>, status: String, stat: &str, schedstat: &str, sched: &str) -> Seen {
    let (status, stat, [cpu_ns, run_delay_ns]) = (Status::new(status), Stat::new(stat), task::times_ns(schedstat));
    Seen {
        name: status.name().unwrap_or_default().to_owned(),
        allowed,
        counts: Counts {
            cpu_ns,
            run_delay_ns,
            involuntary_switches: status.involuntary_switches(),
            migrations: task::migrations(sched),
            minor_faults: stat.minor_faults(),
            major_faults: stat.major_faults(),
        },
    }
}

/// The processor time of a thread, and whether it runs, or waits for a CPU only.
pub fn used_ns(tid: i32) -> (u64, bool) {
    let file = |name: &str| text(tid, &format!("task/{tid}/{name}"));
    (task::times_ns(&file("schedstat"))[0].unwrap_or(0), Stat::new(&file("stat")).is_runnable())
}

/// The CPUs on which a thread may run; empty where that cannot be seen.
pub fn allowed(tid: i32) -> Vec<u32> {
    affinity::get(tid).unwrap_or_default()
}

/// How often a thread has moved from CPU to CPU; 0 where that cannot be seen.
pub fn migrations(tid: i32) -> u64 {
    task::migrations(&text(tid, &format!("task/{tid}/sched"))).unwrap_or(0)
}

/// The process of a thread, and that process's parent.
pub fn kin(tid: i32) -> Option<(i32, i32)> {
    let status = Status::new(text(tid, "status"));
    Some((status.process()?, status.parent()?))
}

/// The threads of a process, ascending.
pub fn threads(pid: i32) -> Vec<i32> {
    let Some(Ok(folder)) = folder(pid).map(|folder| fs::read_dir(folder.join("task"))) else { return Vec::new() };
    let mut threads: Vec<i32> = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    threads.sort_unstable();
    threads
}

/// The processes that a thread has created and that still are its children.
pub fn children(pid: i32, tid: i32) -> Vec<i32> {
    text(pid, &format!("task/{tid}/children")).split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// The children of this process.
pub fn own_children() -> Vec<i32> {
    let own = std::process::id() as i32;
    threads(own).into_iter().flat_map(|tid| children(own, tid)).collect()
}

/// A variable of the environment that a process began with.
pub fn variable(pid: i32, name: &str) -> Option<String> {
    let environment = folder(pid).and_then(|folder| fs::read(folder.join("environ")).ok())?;
    let value = |variable: &[u8]| Some(variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec());
    environment.split(|byte| *byte == 0).find_map(value).and_then(|value| String::from_utf8(value).ok())
}

/// The other processes that have the end open from which a pipe is read, as far as this process may look at them. One that has both ends is
/// a copy of this process that is about to become a program.
pub fn readers(pipe: &PipeWriter) -> Vec<i32> {
    let files = |pid: i32| folder(pid).map(|folder| folder.join("fd"));
    let number = pipe.as_raw_fd().to_string();
    let pipe = files(std::process::id() as i32).and_then(|files| fs::read_link(files.join(number)).ok());
    let Some((pipe, processes)) = pipe.zip(fs::read_dir("/proc").ok()) else { return Vec::new() };
    let is_of_pipe = |file: &DirEntry| fs::read_link(file.path()).is_ok_and(|name| name == pipe);
    // The mode of such a link is that of the open file.
    let writes = |file: DirEntry| file.metadata().is_ok_and(|link| link.permissions().mode() & 0o200 != 0);
    let only_reads = |pid: &i32| {
        let Some(Ok(files)) = files(*pid).map(fs::read_dir) else { return false };
        let ends: Vec<bool> = files.flatten().filter(is_of_pipe).map(writes).collect();
        ends.contains(&false) && !ends.contains(&true)
    };
    processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(only_reads).collect()
}

/// The CPUs on which the calling thread may run, ascending; empty where the system does not say. In contrast to the list in `/proc` it
/// has none that are offline.
pub fn own_allowed() -> Vec<u32> {
    allowed(0)
}

/// Bytes of a process's memory by NUMA node, ascending; empty on a machine with one node, where walking all pages finds nothing
/// new.
pub fn pages(pid: i32) -> Vec<(u32, u64)> {
    if file::list(file::ONLINE_NODES).map_or(0, |nodes| nodes.len()) < 2 {
        return Vec::new();
    }
    sum_pages(&text(pid, "numa_maps"))
}

fn sum_pages(text: &str) -> Vec<(u32, u64)> {
    let mut sums = BTreeMap::new();
    for (node, bytes) in numa_maps::mappings(text).filter_map(|mapping| mapping.bytes_by_node()).flatten() {
        let sum: &mut u64 = sums.entry(node).or_default();
        *sum = sum.saturating_add(bytes);
    }
    sums.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn files_of_a_thread_that_has_gone_count_nothing() {
        assert_eq!(seen(Vec::new(), String::new(), "", "", ""), Seen::default());
        let stat = "7 (a) R (b) S 1 2 3 4 5 6 70 8 90 10";
        let Counts { cpu_ns, run_delay_ns, migrations, minor_faults, major_faults, .. } =
            seen(Vec::new(), String::new(), stat, "5 6 7", "se.nr_migrations    :     12\n").counts;
        assert_eq!([cpu_ns, run_delay_ns, migrations, minor_faults, major_faults], [5, 6, 12, 70, 90].map(Some));
    }

    #[test]
    fn huge_pages_count_by_their_size() {
        let text = "7f0 default anon=3 dirty=3 N0=1 N2=2 kernelpagesize_kB=4\n8f0 bind:0 huge anon=2 N2=2 kernelpagesize_kB=2048\nx\n";
        assert_eq!(sum_pages(text), [(0, 4096), (2, 2 * 4096 + 2 * (2 << 20))]);
    }

    #[test]
    fn a_pipe_is_read_by_those_that_have_only_that_end() {
        let (end, pipe) = std::io::pipe().unwrap();
        let mut child = Command::new("cat").stdin(end.try_clone().unwrap()).spawn().unwrap();
        assert_eq!(readers(&pipe), [child.id() as i32]);
        drop(pipe);
        assert!(child.wait().unwrap().success());
    }

    /// Its name is cut inside of a character, as the kernel cuts long ones.
    #[test]
    fn this_thread_is_seen() {
        rustix::thread::set_name(c"fourteen bytes\xc3").unwrap();
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        let seen = thread(tid);
        assert_eq!(seen.allowed, own_allowed());
        assert!(seen.counts.minor_faults.is_some() && !seen.name.is_empty());
        assert_eq!(kin(tid).unwrap().0, std::process::id() as i32);
    }
}
