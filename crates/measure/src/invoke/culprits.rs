//! Who used the CPUs beside a measuring process: two readings of the system's counts for each process, outside of all timed spans.
//!
//! A reading of a machine with thousands of processes takes milliseconds, so one is made half a second after the one before at the
//! earliest, and takes a hundredth of the time at most. What lies between two readings is said of the run that ended then: runs are
//! shorter than that as a rule, and it is the same disturbance that meets all of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use charz_system::Status;
use charz_system::stat::TICK_NS;
use charz_system::task::Used;

use charz_data::report::{Culprit, Invocation};

/// Ticks are 10 ms: over so long a twentieth of a CPU shows.
const APART: Duration = Duration::from_millis(500);
/// A reading may take one part in so many of the time.
const MOST_COST: u32 = 100;
/// A process that used less of a CPU is not worth naming.
const WORTH_NAMING: f64 = 0.05;
/// The most that are kept of an interval.
const MOST: usize = 5;

#[derive(Default)]
pub(super) struct Culprits(RefCell<Option<Reading>>);

struct Reading {
    at: Instant,
    cost: Duration,
    /// How many there are.
    cpus: u64,
    processes: BTreeMap<u32, Used>,
}

impl Culprits {
    /// The first reading, or none where there is one.
    pub(super) fn begin(&self) {
        self.0.borrow_mut().get_or_insert_with(|| Reading::new(Path::new("/proc")));
    }

    /// Names in the invocation those who used the seats' CPUs since the last reading, if it is time for the next.
    pub(super) fn end(&self, seats: &[Option<u32>], invocation: &mut Invocation) {
        let mut last = self.0.borrow_mut();
        let Some(before) = last.as_ref() else { return };
        if before.at.elapsed() < APART.max(before.cost * MOST_COST) {
            return;
        }
        let after = Reading::new(Path::new("/proc"));
        if let Some(evidence) = invocation.evidence.as_mut() {
            evidence.culprits = before.culprits(&after, seats, std::process::id(), about);
        }
        *last = Some(after);
    }
}

/// The user of a process, and the CPUs that it may run on; of one that has ended neither.
type About = (Option<u32>, Option<Vec<u32>>);

fn about(pid: u32) -> About {
    let folder = format!("/proc/{pid}");
    let cpus = fs::read_to_string(format!("{folder}/status")).ok().and_then(|text| Status::new(text).cpus().ok());
    (fs::metadata(&folder).ok().map(|about| about.uid()), cpus)
}

impl Reading {
    fn new(proc: &Path) -> Self {
        let at = Instant::now();
        let ids = fs::read_dir(proc)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let processes = ids.filter_map(|id: u32| {
            let text = fs::read_to_string(proc.join(id.to_string()).join("stat")).ok()?;
            Some((id, Used::of(&text)?))
        });
        let processes = processes.collect();
        let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        Reading { at, cost: at.elapsed(), cpus, processes }
    }

    /// Those that used a part of a CPU worth naming since an earlier reading, the most first; this process and what it started are none, nor is
    /// one that stayed on a CPU that is no seat.
    fn culprits(&self, after: &Reading, seats: &[Option<u32>], own: u32, about: impl Fn(u32) -> About) -> Vec<Culprit> {
        let time_ns = after.at.duration_since(self.at).as_nanos() as u64;
        let is_own = |id: u32| {
            let parent = |id: &u32| after.processes.get(id).map(|used| used.parent).filter(|parent| *parent > 1);
            std::iter::successors(Some(id), parent).take(64).any(|id| id == own)
        };
        let is_seated = !seats.is_empty() && seats.iter().all(Option::is_some);
        let is_bound_elsewhere =
            |id: u32| is_seated && about(id).1.is_some_and(|cpus| !cpus.iter().any(|cpu| seats.contains(&Some(*cpu))));
        let earlier = |id: u32, used: &Used| self.processes.get(&id).filter(|earlier| earlier.begun == used.begun);
        // Of one that began meanwhile all counts, and of one that was there what came since.
        let since =
            |id: u32, used: &Used, of: fn(&Used) -> u64| of(used).saturating_sub(earlier(id, used).map_or(0, of));
        let is_elsewhere = |id: u32, used: &Used| {
            let is_no_seat = |cpu: Option<u32>| cpu.is_some() && !seats.contains(&cpu);
            let before = earlier(id, used).map_or(used.cpu, |earlier| earlier.cpu);
            is_seated && used.threads == 1 && is_no_seat(used.cpu) && is_no_seat(before)
        };
        // A child that ends brings its parent all of its time, also that of before.
        let mut known: BTreeMap<u32, u64> = BTreeMap::new();
        for (id, used) in
            self.processes.iter().filter(|(id, used)| after.processes.get(id).is_none_or(|now| now.begun != used.begun))
        {
            let ancestors =
                std::iter::successors(Some(used.parent), |id| self.processes.get(id).map(|used| used.parent));
            if let Some(alive) =
                ancestors.take(64).find(|parent| *parent != *id && after.processes.contains_key(parent))
            {
                *known.entry(alive).or_default() += used.ticks + used.of_children;
            }
        }
        // What is more is of a time before the readings.
        let most = time_ns.saturating_mul(after.cpus) / TICK_NS;
        let mut found: Vec<Culprit> = Vec::new();
        for (&id, used) in after.processes.iter().filter(|(id, _)| !is_own(**id)) {
            // Children that have ended are named after who waited for them.
            let children =
                since(id, used, |used| used.of_children).saturating_sub(known.get(&id).copied().unwrap_or(0));
            // The first process waits for everybody's orphans.
            let children = if id == 1 || children > most { 0 } else { children };
            let own_ticks = since(id, used, |used| used.ticks);
            let cpu_ns = (own_ticks + children) * TICK_NS;
            let is_small = (cpu_ns as f64) < WORTH_NAMING * time_ns as f64;
            if is_small || (children == 0 && is_elsewhere(id, used)) || is_bound_elsewhere(id) {
                continue;
            }
            let name = match used.is_of_kernel {
                true => format!("kernel thread {}", used.name),
                false if children > own_ticks => format!("{} and its children", used.name),
                false => used.name.clone(),
            };
            found.push(Culprit { name, pid: id, uid: about(id).0, cpu_ns, time_ns });
        }
        found.sort_by_key(|culprit| std::cmp::Reverse(culprit.cpu_ns));
        found.truncate(MOST);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(name: &str, parent: u32, ticks: u64, of_children: u64, cpu: u32) -> Used {
        Used {
            name: name.into(),
            parent,
            begun: 1,
            ticks,
            of_children,
            cpu: Some(cpu),
            threads: 1,
            is_of_kernel: false,
        }
    }

    fn reading(at: Instant, processes: Vec<(u32, Used)>) -> Reading {
        Reading { at, cost: Duration::ZERO, cpus: 2, processes: processes.into_iter().collect() }
    }

    #[test]
    fn the_hog_and_the_fork_loop_are_named_and_nobody_else() {
        let begun = Instant::now();
        let before = reading(
            begun,
            vec![
                (10, used("charz", 1, 0, 0, 0)),
                (11, used("hog", 1, 500, 0, 1)),
                (12, used("elsewhere", 1, 0, 0, 7)),
                (13, used("make", 1, 0, 0, 0)),
                (14, used("sh", 13, 0, 100, 0)),
                (16, Used { threads: 9, ..used("bound", 1, 0, 0, 7) }),
                (15, used("idle", 1, 900, 0, 0)),
            ],
        );
        let after = reading(
            begun + Duration::from_secs(1),
            vec![
                (10, used("charz", 1, 90, 90, 0)),
                (20, used("charz", 10, 95, 0, 1)),
                (11, used("hog", 1, 560, 0, 1)),
                (12, used("elsewhere", 1, 99, 0, 7)),
                (13, used("make", 1, 0, 30, 0)),
                (14, used("sh", 13, 1, 170, 0)),
                (16, Used { threads: 9, ..used("bound", 1, 80, 0, 7) }),
                (15, used("idle", 1, 902, 0, 0)),
            ],
        );
        let seats = [Some(0), Some(1)];
        let named = |seats: &[Option<u32>]| {
            let found = before.culprits(&after, seats, 10, |id| (Some(1000), (id == 16).then(|| vec![7])));
            found.into_iter().map(|culprit| (culprit.name, culprit.cpu_ns / TICK_NS)).collect::<Vec<_>>()
        };
        assert_eq!(
            named(&seats),
            [("sh and its children".to_owned(), 71), ("hog".to_owned(), 60), ("make and its children".to_owned(), 30)]
        );
        assert!(named(&[None]).iter().any(|(name, _)| name == "elsewhere"), "a floating thread may be anywhere");
    }

    #[test]
    fn a_process_with_a_used_id_began_with_nothing() {
        let begun = Instant::now();
        let before = reading(begun, vec![(11, used("old", 1, 900, 0, 0))]);
        let new = Used { begun: 2, ..used("new", 1, 30, 0, 0) };
        let found =
            before.culprits(&reading(begun + Duration::from_secs(1), vec![(11, new)]), &[Some(0)], 1, |_| (None, None));
        assert_eq!((found[0].name.as_str(), found[0].cpu_ns, found[0].uid), ("new", 30 * TICK_NS, None));
    }

    #[test]
    fn the_end_of_a_long_child_is_no_use_of_this_moment() {
        let begun = Instant::now();
        let shell = |of_children| (11, used("sh", 5, 0, of_children, 0));
        let before = reading(begun, vec![shell(0), (12, used("long", 11, 90, 0, 0))]);
        let after = reading(begun + Duration::from_secs(1), vec![shell(95), (1, used("init", 0, 0, 999, 0))]);
        let found = before.culprits(&after, &[Some(0)], 99, |_| (None, None));
        assert_eq!(found.iter().map(|culprit| culprit.cpu_ns / TICK_NS).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn this_system_is_read() {
        let reading = Reading::new(Path::new("/proc"));
        assert!(reading.processes.contains_key(&std::process::id()));
    }
}
