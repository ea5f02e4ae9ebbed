//! What the system lets this process have: memory and threads.

use charz_kernels::PageKind;
use charz_system::{Status, cgroup, file, meminfo, threads};
use charz_topology::Machine;
use rustix::process::{Resource, getrlimit};

use charz_data::units;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub memory_total_bytes: Option<u64>,
    /// Available memory, the control group's limit included.
    pub memory_available_bytes: Option<u64>,
    /// The most that the blocks of one cell may take; `None` if the system does not report it.
    pub memory_budget_bytes: Option<u64>,
    pub threads: ThreadLimit,
    /// Whether a process that advises them gets transparent huge pages.
    pub transparent_pages: bool,
    /// The setting that has the kernel panic when something hogs a processor, if one does.
    pub panics_on_lockup: Option<&'static str>,
    /// Whether they are those of this machine, so its reserved pages and libraries count.
    pub of_this_machine: bool,
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
    Status::of_process().mapped_bytes().unwrap_or(0)
}

impl Limits {
    pub fn read() -> Self {
        let meminfo = meminfo::read();
        let available = [meminfo::bytes(&meminfo, "MemAvailable"), cgroup::memory_left()].into_iter().flatten().min();
        Limits {
            memory_total_bytes: meminfo::bytes(&meminfo, "MemTotal"),
            memory_available_bytes: available,
            memory_budget_bytes: available.map(|bytes| bytes / 100 * MEMORY_SHARE_PERCENT),
            threads: thread_limit(),
            transparent_pages: file::word("/sys/kernel/mm/transparent_hugepage/enabled")
                .is_some_and(|choices| !choices.contains("[never]")),
            panics_on_lockup: ["softlockup_panic", "hung_task_panic"]
                .into_iter()
                .find(|name| file::number(format!("/proc/sys/kernel/{name}")).is_some_and(|value: u64| value > 0)),
            of_this_machine: true,
        }
    }

    /// The limits of a machine that is not this one: its memory, as far as it is known.
    pub fn of(machine: &Machine) -> Self {
        let known = machine.numa_nodes.iter().filter_map(|node| node.memory_bytes);
        let memory = Some(known.fold(0, u64::saturating_add)).filter(|bytes| *bytes > 0);
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
            transparent_pages: true,
            panics_on_lockup: None,
            of_this_machine: false,
        }
    }

    /// The pages of blocks where none were asked for.
    pub fn usual_pages(&self) -> PageKind {
        if self.transparent_pages { PageKind::Transparent } else { PageKind::Small }
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
                "{workers} threads are more than the {} that are safe here ({})",
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
                let free = self.of_this_machine.then(|| free_huge_bytes(pages)).flatten();
                let free = units::iec(free.filter(|&free| bytes > free)?);
                Some(format!(
                    "{needed} on reserved pages, of which {free} are free; charz doctor shows the command that reserves more"
                ))
            }
        }
    }
}

/// Whether blocks of `bytes` bytes in all, one for each of these homes by [`memory_homes`](charz_topology::memory_homes), fit in the nodes
/// that they are bound to; why not, if not. Of one node, what [`Limits`] know is what it has.
pub fn nodes_hold(machine: &Machine, homes: &[Vec<u32>], bytes: u64, pages: PageKind) -> Result<(), String> {
    if machine.numa_nodes.len() < 2 || matches!(pages, PageKind::Huge2M | PageKind::Huge1G) {
        return Ok(());
    }
    for node in &machine.numa_nodes {
        // Memory that is interleaved goes to the others when a node is full.
        let bound = homes.iter().filter(|home| home.len() == 1 && node.os_id == Some(home[0])).count() as u64;
        let needed = (u128::from(bytes) * u128::from(bound) / homes.len().max(1) as u128) as u64;
        let budget = node.memory_bytes.map(|memory| memory / 100 * MEMORY_SHARE_PERCENT);
        if let (Some(budget), Some(id)) = (budget.filter(|budget| needed > *budget), node.os_id) {
            let (needed, budget) = (units::iec(needed), units::iec(budget));
            return Err(format!(
                "blocks on NUMA node {id} take {needed} in all; the limit is {budget}, {MEMORY_SHARE_PERCENT}% of its memory"
            ));
        }
    }
    Ok(())
}

fn free_huge_bytes(pages: PageKind) -> Option<u64> {
    let bytes = pages.bytes() as u64;
    let path = format!("/sys/kernel/mm/hugepages/hugepages-{}kB/free_hugepages", bytes / 1024);
    file::number::<u64>(path)?.checked_mul(bytes)
}

fn thread_limit() -> ThreadLimit {
    let maps_left = threads::max_map_count().map(|most| {
        (most.saturating_sub(threads::mappings()) / MAPPINGS_PER_THREAD, format!("vm.max_map_count is {most}"))
    });
    let all = |name: &str, most: Option<u64>| {
        Some((most?.saturating_sub(THREADS_LEFT), format!("kernel.{name} is {}", most?)))
    };
    let groups = cgroup::tasks().into_iter().filter_map(|tasks| {
        let left = tasks.max.saturating_sub(tasks.current?);
        Some((left.saturating_sub(THREADS_LEFT), format!("pids.max of the control group is {}", tasks.max)))
    });
    let user = threads::max_of_user().and_then(|most| left_to_user(most, threads::all(), threads::of_user));
    let own = (MOST_THREADS as u64, "the program's own cap".to_owned());
    let (threads_max, pid_max) = (all("threads-max", threads::threads_max()), all("pid_max", threads::pid_max()));
    let limits = [Some(own), maps_left, threads_max, pid_max, user].into_iter().flatten().chain(groups);
    let (at_most, because) = limits.min_by_key(|(most, _)| *most).unwrap_or_default();
    ThreadLimit { at_most: usize::try_from(at_most).unwrap_or(usize::MAX).max(1), because }
}

/// What `ulimit -u` leaves, which is on all threads of the user, on the whole machine. Where all threads of the machine would leave more
/// than the cap, no limit, and the files of all processes are not read for it.
fn left_to_user(most: u64, all: Option<u64>, of_user: impl FnOnce() -> Option<u64>) -> Option<(u64, String)> {
    let left = |taken: u64| most.saturating_sub(taken.saturating_add(THREADS_LEFT));
    if all.is_some_and(|all| left(all) >= MOST_THREADS as u64) {
        return None;
    }
    let now = of_user().unwrap_or(0);
    Some((left(now), format!("ulimit -u is {most}, of which {now} are taken and {THREADS_LEFT} left to others")))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn processes_are_looked_through_only_where_their_threads_may_matter() {
        assert_eq!(left_to_user(100_000, Some(1000), || panic!("read")), None);
        for all in [None, Some(1000)] {
            let (left, because) = left_to_user(5000, all, || Some(500)).unwrap();
            assert!(left == 4500 - THREADS_LEFT && because.contains("500 are taken"), "{because}");
        }
    }

    #[test]
    fn the_obstacle_names_both_figures() {
        let limits = Limits { memory_budget_bytes: Some(3 << 20), of_this_machine: true, ..Limits::unlimited() };
        let reason = limits.obstacle(4, 4 << 20, PageKind::Small).unwrap();
        assert!(reason.contains("4 MiB") && reason.contains("3 MiB"), "{reason}");
        assert_eq!(limits.obstacle(3, 3 << 20, PageKind::Small), None);
        // No machine has reserved an exbibyte.
        assert!(limits.obstacle(1, 1 << 60, PageKind::Huge2M).is_none_or(|reason| reason.contains("reserved")));
        assert_eq!(Limits::unlimited().obstacle(1, 1 << 60, PageKind::Huge2M), None, "of another machine");
    }
}
