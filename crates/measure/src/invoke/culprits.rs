//! What used the CPUs beside a measuring process, or took them away: two readings of the system's counts, outside of all timed spans.
//!
//! A reading of a machine with thousands of processes takes milliseconds, so one is made half a second after the one before at the
//! earliest, and takes a hundredth of the time at most. What lies between two readings is said of the run that ended then: runs are
//! shorter than that as a rule, and it is the same disturbance that meets all of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use charz_system::stat::{self, TICK_NS, Ticks};
use charz_system::task::{Used, used_by_all};
use charz_system::{Status, cgroup, file, per_cpu};
use rustix::time::{ClockId, clock_gettime};

use charz_data::report::{Culprit, CulpritKind, Invocation};

/// Ticks are 10 ms: over so long a twentieth of a CPU shows.
const APART: Duration = Duration::from_millis(500);
/// A reading may take one part in so many of the time.
const MOST_COST: u32 = 100;
/// What no process is named for is the rest between the system's count, which looks at a CPU a hundred times in a second, and that of processes,
/// which is exact: it has to be more, in CPUs.
const WORTH_NAMING_UNSEEN: f64 = 0.25;
/// The same for each seat: all CPUs may be looked at together, and a tick of 10 ms is so much of half a second.
const WORTH_NAMING_UNSEEN_OF_A_SEAT: f64 = 0.02;
/// How the names of those begin that no user can stop.
pub(crate) const KERNEL_THREAD: &str = "kernel thread ";
/// The most that are kept of an interval.
const MOST: usize = 5;
/// Over so long interrupts that are many show.
const LOOK_AT_INTERRUPTS: Duration = Duration::from_millis(20);

#[derive(Default)]
pub(super) struct Culprits {
    last: RefCell<Option<Reading>>,
    found: RefCell<Vec<Culprit>>,
}

/// What was used up to a moment.
pub(crate) struct Reading {
    at: Instant,
    cost: Duration,
    processes: BTreeMap<u32, Used>,
    cpus: BTreeMap<u32, Ticks>,
    /// For how long a quota has stopped threads.
    throttled_ns: Option<u64>,
}

impl Culprits {
    /// The first reading, or none where there is one.
    pub(super) fn begin(&self) {
        self.last.borrow_mut().get_or_insert_with(|| Reading::new(Path::new("/proc")));
    }

    /// Names in the invocation what used the seats' CPUs since the last reading, if it is time for the next.
    pub(super) fn end(&self, seats: &[Option<u32>], invocation: &mut Invocation) {
        let mut last = self.last.borrow_mut();
        let Some(before) = last.as_ref() else { return };
        if before.at.elapsed() < APART.max(before.cost * MOST_COST) {
            return;
        }
        let after = Reading::new(Path::new("/proc"));
        if let Some(evidence) = invocation.evidence.as_mut() {
            evidence.culprits = before.culprits(&after, seats, std::process::id(), about);
            evidence.looked_ns = Some(before.until(&after));
            for culprit in evidence.culprits.iter_mut().filter(|culprit| culprit.kind == CulpritKind::Interrupts) {
                culprit.name = busiest_interrupt(seats).unwrap_or_default();
            }
            self.found.replace(evidence.culprits.clone());
        }
        *last = Some(after);
    }

    /// What was found the last time.
    pub(super) fn newest(&self) -> Vec<Culprit> {
        self.found.borrow().clone()
    }
}

/// Which interrupts are many on these CPUs just now.
fn busiest_interrupt(seats: &[Option<u32>]) -> Option<String> {
    let files = ["/proc/interrupts", "/proc/softirqs"];
    let read = || files.map(|file| fs::read_to_string(file).unwrap_or_default());
    let before = read();
    thread::sleep(LOOK_AT_INTERRUPTS);
    let after = read();
    let rises = before
        .iter()
        .zip(&after)
        .filter_map(|(before, after)| per_cpu::busiest(before, after, |cpu| is_seat(seats, cpu)));
    rises.max_by_key(|(_, rise)| *rise).map(|(name, _)| name)
}

/// Whether a thread may sit there; one that floats may be anywhere.
fn is_seat(seats: &[Option<u32>], cpu: u32) -> bool {
    seats.is_empty() || seats.iter().any(|seat| seat.is_none_or(|seat| seat == cpu))
}

/// What each of equal processes used, and its id.
type Uses = Vec<(u64, u32)>;
/// The user of a process, and the CPUs that it may run on; of one that has ended neither.
pub(crate) type About = (Option<u32>, Option<Vec<u32>>);

pub(crate) fn about(pid: u32) -> About {
    let folder = format!("/proc/{pid}");
    let cpus = file::text(format!("{folder}/status")).and_then(|text| Status::new(text).cpus().ok());
    (fs::metadata(&folder).ok().map(|about| about.uid()), cpus)
}

impl Reading {
    pub(crate) fn new(proc: &Path) -> Self {
        // What it waits for CPUs on a busy machine is no cost.
        let used = || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
        let (at, before) = (Instant::now(), used());
        let processes = used_by_all(proc);
        let stat = stat::read(proc).unwrap_or_default();
        let (cpus, throttled_ns) = (Ticks::of_each(&stat).collect(), cgroup::throttled_ns());
        Reading { at, cost: used().saturating_sub(before), processes, cpus, throttled_ns }
    }

    /// The nanoseconds to a later reading.
    fn until(&self, after: &Reading) -> u64 {
        after.at.duration_since(self.at).as_nanos() as u64
    }

    /// What used the CPUs since an earlier reading, the most first, equal programs of a user as one; this process and what it started are
    /// none, nor is one that stayed on a CPU that is no seat.
    pub(crate) fn culprits(
        &self,
        after: &Reading,
        seats: &[Option<u32>],
        own: u32,
        about: impl Fn(u32) -> About,
    ) -> Vec<Culprit> {
        let time_ns = self.until(after);
        let seated = seats.len().min(after.cpus.len()) as f64;
        let least_unseen = WORTH_NAMING_UNSEEN.max(WORTH_NAMING_UNSEEN_OF_A_SEAT * seated);
        let mut found = self.processes(after, seats, own, about);
        found.extend(self.others(after, seats));
        found.retain(|culprit| {
            let is_unseen = culprit.kind == CulpritKind::Unseen;
            let least = if is_unseen { least_unseen } else { Culprit::LEAST };
            culprit.cpu_ns > 0 && culprit.cpu_ns as f64 >= least * time_ns as f64
        });
        found.sort_by_key(|culprit| std::cmp::Reverse(culprit.cpu_ns));
        found.truncate(MOST);
        found
    }

    /// What is no process: interrupts, the quota, the host, and what is not listed.
    fn others(&self, after: &Reading, seats: &[Option<u32>]) -> Vec<Culprit> {
        let time_ns = self.until(after);
        let on_seats = |of: fn(&Ticks) -> u64| -> u64 {
            let own = after.cpus.iter().filter(|(id, _)| is_seat(seats, **id));
            let rise = |(id, now): (&u32, &Ticks)| self.cpus.get(id).map_or(0, |then| of(now).saturating_sub(of(then)));
            own.map(rise).sum::<u64>() * TICK_NS
        };
        let interrupts = on_seats(|ticks| ticks.irq + ticks.softirq);
        let throttled = after.throttled_ns.zip(self.throttled_ns).map_or(0, |(now, then)| now.saturating_sub(then));
        // The time that a process had before is counted again where its parent takes it over: more is seen than there was, never less.
        let since = |(id, used): (&u32, &Used)| {
            let earlier = self.processes.get(id).filter(|earlier| earlier.begun == used.begun);
            let all = |used: &Used| used.ticks + used.of_children;
            all(used).saturating_sub(earlier.map_or(0, all))
        };
        let seen = after.processes.iter().map(since).sum::<u64>() * TICK_NS;
        let unseen = on_seats(|ticks| ticks.busy()).saturating_sub(seen.saturating_add(interrupts));
        let all = [
            (CulpritKind::Interrupts, "interrupts", interrupts),
            (CulpritKind::Quota, "CPU quota", throttled),
            (CulpritKind::Host, "host", on_seats(|ticks| ticks.steal)),
            (CulpritKind::Unseen, "not visible from here", if seen > 0 { unseen } else { 0 }),
        ];
        let culprit = |(kind, name, cpu_ns): (CulpritKind, &str, u64)| Culprit {
            kind,
            name: name.to_owned(),
            pid: None,
            uid: None,
            others: 0,
            cpu_ns,
            time_ns,
        };
        all.map(culprit).into()
    }

    fn processes(
        &self,
        after: &Reading,
        seats: &[Option<u32>],
        own: u32,
        about: impl Fn(u32) -> About,
    ) -> Vec<Culprit> {
        let time_ns = self.until(after);
        let is_own = |id: u32| {
            let parent = |id: &u32| after.processes.get(id).map(|used| used.parent).filter(|parent| *parent > 1);
            std::iter::successors(Some(id), parent).take(64).any(|id| id == own)
        };
        let is_seated = !seats.is_empty() && seats.iter().all(Option::is_some);
        let is_bound_elsewhere = |cpus: &[u32]| is_seated && !cpus.iter().any(|cpu| seats.contains(&Some(*cpu)));
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
        let most = time_ns.saturating_mul(after.cpus.len().max(1) as u64) / TICK_NS;
        let mut found: BTreeMap<(String, Option<u32>), Uses> = BTreeMap::new();
        for (&id, used) in after.processes.iter().filter(|(id, _)| !is_own(**id)) {
            // Children that have ended are named after who waited for them.
            let children =
                since(id, used, |used| used.of_children).saturating_sub(known.get(&id).copied().unwrap_or(0));
            // The first process waits for everybody's orphans.
            let children = if id == 1 || children > most { 0 } else { children };
            let own_ticks = since(id, used, |used| used.ticks);
            let cpu_ns = (own_ticks + children) * TICK_NS;
            if cpu_ns == 0 || (children == 0 && is_elsewhere(id, used)) {
                continue;
            }
            let (uid, cpus) = about(id);
            if cpus.is_some_and(|cpus| is_bound_elsewhere(&cpus)) {
                continue;
            }
            let name = match used.is_of_kernel {
                true => format!("{KERNEL_THREAD}{}", used.name),
                false if children > own_ticks => format!("{}{}", used.name, Culprit::WITH_CHILDREN),
                false => used.name.clone(),
            };
            found.entry((name, uid)).or_default().push((cpu_ns, id));
        }
        let culprit = |(name, uid): (String, Option<u32>), all: Uses| Culprit {
            kind: CulpritKind::Process,
            name,
            pid: all.iter().max().map(|(_, id)| *id),
            uid,
            others: all.len() as u64 - 1,
            cpu_ns: all.iter().map(|(cpu_ns, _)| cpu_ns).sum(),
            time_ns,
        };
        found.into_iter().map(|(who, all)| culprit(who, all)).collect()
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
        let cpus = [0, 1, 7].map(|id| (id, Ticks::default())).into();
        Reading { at, cost: Duration::ZERO, cpus, processes: processes.into_iter().collect(), throttled_ns: None }
    }

    #[test]
    fn interrupts_the_quota_the_host_and_what_is_hidden_are_named() {
        let begun = Instant::now();
        let before = Reading { throttled_ns: Some(7), ..reading(begun, vec![(10, used("charz", 1, 5, 0, 0))]) };
        let mut after = reading(begun + Duration::from_secs(1), vec![(10, used("charz", 1, 25, 30, 0))]);
        let found = |after: &Reading, seats: &[Option<u32>]| {
            let all = before.culprits(after, seats, 10, |_| (None, None));
            all.into_iter().map(|culprit| (culprit.kind, culprit.cpu_ns / TICK_NS)).collect::<Vec<_>>()
        };
        // Its own time, and nothing else.
        after.cpus.insert(0, Ticks { user: 50, ..Ticks::default() });
        assert_eq!(found(&after, &[Some(0)]), []);
        let on_seat = Ticks { user: 85, softirq: 10, irq: 1, steal: 6, ..Ticks::default() };
        after.cpus.insert(0, on_seat);
        // What happens elsewhere meets no thread that is bound.
        after.cpus.insert(7, Ticks { irq: 90, steal: 90, user: 90, ..Ticks::default() });
        after.throttled_ns = Some(7 + 20 * TICK_NS);
        let expected = [
            (CulpritKind::Unseen, 85 - 50),
            (CulpritKind::Quota, 20),
            (CulpritKind::Interrupts, 11),
            (CulpritKind::Host, 6),
        ];
        assert_eq!(found(&after, &[Some(0)]), expected);
        assert_eq!(found(&after, &[None])[0], (CulpritKind::Unseen, 85 + 90 - 50));
        // A tick on each of many seats is an accident.
        after.cpus.extend((8..100).map(|id| (id, Ticks::default())));
        let all = |many: u32| (0..many).map(Some).collect::<Vec<_>>();
        let names_unseen =
            |seats: &[Option<u32>]| found(&after, seats).iter().any(|(kind, _)| *kind == CulpritKind::Unseen);
        assert_eq!([16, 100].map(|many| names_unseen(&all(many))), [true, false]);
    }

    #[test]
    fn the_hog_and_the_fork_loop_are_named_first() {
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
            [("sh and its children", 71), ("hog", 60), ("make and its children", 30)]
                .map(|(name, ticks)| (name.to_owned(), ticks))
        );
        assert!(named(&[None]).iter().any(|(name, _)| name == "elsewhere"), "a floating thread may be anywhere");
    }

    /// Many that use little each are the most together.
    #[test]
    fn equal_programs_of_a_user_are_one() {
        let begun = Instant::now();
        let all = |ticks: [u64; 2]| {
            let hogs = (20..32).map(|id| (id, used("sh", 1, ticks[0] + u64::from(id == 25), 0, 0)));
            hogs.chain([(40, used("python3", 1, ticks[1], 0, 0))]).collect()
        };
        let (before, after) = (reading(begun, all([0, 0])), reading(begun + Duration::from_secs(2), all([7, 60])));
        let found = before.culprits(&after, &[Some(0)], 10, |id| (Some(if id == 31 { 7 } else { 8 }), None));
        let shown = found.iter().map(|one| (one.name.as_str(), one.others, one.cpu_ns / TICK_NS));
        // Each used too little by itself, as that of another user did.
        assert_eq!(shown.collect::<Vec<_>>(), [("sh", 10, 77), ("python3", 0, 60)]);
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
