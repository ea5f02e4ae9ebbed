//! What `/proc` says about a thread. A file that is missing, or of a thread that has gone, counts nothing; so does a `/proc` of other
//! processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use charz_data::cpulist;
use charz_data::report::Counts;

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
    folder(id).and_then(|folder| fs::read_to_string(folder.join(name)).ok()).unwrap_or_default()
}

/// A thread; its id finds its folder without that of its process.
pub fn thread(tid: i32) -> Seen {
    let file = |name: &str| text(tid, &format!("task/{tid}/{name}"));
    parse(&file("status"), &file("stat"), &file("schedstat"), &file("sched"))
}

fn parse(status: &str, stat: &str, schedstat: &str, sched: &str) -> Seen {
    let field = |name: &str| value(status, name).unwrap_or_default();
    // The name is in parentheses and may have any character.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    // proc(5) counts from 1, with the id and the name before these.
    let stat = |number: usize| fields.get(number - 3)?.parse().ok();
    let mut times = schedstat.split_whitespace().map(|number| number.parse().ok());
    Seen {
        name: field("Name:").to_owned(),
        allowed: cpulist::parse(field("Cpus_allowed_list:")).unwrap_or_default(),
        counts: Counts {
            cpu_ns: times.next().flatten(),
            run_delay_ns: times.next().flatten(),
            involuntary_switches: field("nonvoluntary_ctxt_switches:").parse().ok(),
            migrations: value(sched, "se.nr_migrations")
                .and_then(|text| text.trim_start_matches(':').trim().parse().ok()),
            minor_faults: stat(10),
            major_faults: stat(12),
        },
    }
}

fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The process of a thread, and that process's parent.
pub fn kin(tid: i32) -> Option<(i32, i32)> {
    let status = text(tid, "status");
    Some((value(&status, "Tgid:")?.parse().ok()?, value(&status, "PPid:")?.parse().ok()?))
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

/// Whether a process began with this variable in its environment.
pub fn has_variable(pid: i32, name: &str, value: &str) -> bool {
    let environment = folder(pid).and_then(|folder| fs::read(folder.join("environ")).ok()).unwrap_or_default();
    let entry = format!("{name}={value}");
    environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
}

/// The CPUs on which this process's thread may run.
pub fn own_allowed() -> Vec<u32> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    value(&status, "Cpus_allowed_list:").and_then(|list| cpulist::parse(list).ok()).unwrap_or_default()
}

/// Bytes of a process's memory by NUMA node, ascending; empty on a machine with one node, where walking all pages finds nothing
/// new.
pub fn pages(pid: i32) -> Vec<(u32, u64)> {
    let online = fs::read_to_string("/sys/devices/system/node/online").unwrap_or_default();
    if cpulist::parse(online.trim()).map_or(0, |nodes| nodes.len()) < 2 {
        return Vec::new();
    }
    sum_pages(&text(pid, "numa_maps"))
}

/// Lines of numa(7): an address, a policy, and words among which are `N0=pages` and `kernelpagesize_kB=4`.
fn sum_pages(text: &str) -> Vec<(u32, u64)> {
    let mut bytes = BTreeMap::new();
    for line in text.lines() {
        let words = || line.split_whitespace().filter_map(|word| word.split_once('='));
        let size = words().find(|(name, _)| *name == "kernelpagesize_kB").and_then(|(_, size)| size.parse().ok());
        let kib: u64 = size.unwrap_or(4);
        for (name, pages) in words() {
            let node: Option<u32> = name.strip_prefix('N').and_then(|node| node.parse().ok());
            if let (Some(node), Ok(pages)) = (node, pages.parse::<u64>()) {
                let sum: &mut u64 = bytes.entry(node).or_default();
                *sum = sum.saturating_add(pages.saturating_mul(kib).saturating_mul(1024));
            }
        }
    }
    bytes.into_iter().collect()
}

/// The sum of two threads' counts, where both were counted.
pub fn sum(a: Counts, b: Counts) -> Counts {
    let add = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    Counts {
        cpu_ns: add(a.cpu_ns, b.cpu_ns),
        run_delay_ns: add(a.run_delay_ns, b.run_delay_ns),
        involuntary_switches: add(a.involuntary_switches, b.involuntary_switches),
        migrations: add(a.migrations, b.migrations),
        minor_faults: add(a.minor_faults, b.minor_faults),
        major_faults: add(a.major_faults, b.major_faults),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_anything_in_it_does_not_move_the_fields() {
        let stat = "7 (a) R (b) S 1 2 3 4 5 6 70 8 90 10";
        let seen =
            parse("Name:\ta) R (b\nCpus_allowed_list:\t0-2,9\n", stat, "5 6 7", "se.nr_migrations    :     12\n");
        assert_eq!((seen.counts.minor_faults, seen.counts.major_faults), (Some(70), Some(90)));
        assert_eq!(
            (seen.counts.cpu_ns, seen.counts.run_delay_ns, seen.counts.migrations),
            (Some(5), Some(6), Some(12))
        );
        assert_eq!((seen.name.as_str(), &seen.allowed[..]), ("a) R (b", &[0, 1, 2, 9][..]));
        assert_eq!(parse("", "", "", ""), Seen::default());
    }

    #[test]
    fn huge_pages_count_by_their_size() {
        let text = "7f0 default anon=3 dirty=3 N0=1 N2=2 kernelpagesize_kB=4\n8f0 bind:0 huge anon=2 N2=2 kernelpagesize_kB=2048\nx\n";
        assert_eq!(sum_pages(text), [(0, 4096), (2, 2 * 4096 + 2 * (2 << 20))]);
    }

    #[test]
    fn this_thread_is_seen() {
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        let seen = thread(tid);
        assert_eq!(seen.allowed, own_allowed());
        assert!(seen.counts.minor_faults.is_some() && !seen.name.is_empty());
        assert_eq!(kin(tid).unwrap().0, std::process::id() as i32);
    }
}
