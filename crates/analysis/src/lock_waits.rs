//! What waiting for locks costs a machine, out of the listings of other programs: the share of all CPUs that was spent on waiting for each
//! lock (S. Sistare, "Lies, Damned Lies, and Stats", 2009): the waits times their mean time, over the elapsed time of all CPUs.

use charz_data::report::{Invocation, Report};

/// The waits for one lock at one place of the code.
#[derive(Clone, Debug, PartialEq)]
pub struct LockWait {
    /// The lock's name or address; of perf the kind of lock where it prints no more.
    pub lock: String,
    /// Where it was asked for.
    pub caller: String,
    /// How often.
    pub count: f64,
    /// The time of all waits together, in seconds.
    pub waited_s: f64,
    /// The time that was watched, where it is in the listing.
    pub elapsed_s: Option<f64>,
    /// Whether waiters sleep, which takes no CPU.
    pub sleeps: bool,
}

/// What a listing says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockWaits {
    pub waits: Vec<LockWait>,
    /// How many lines could not be read.
    pub unknown: usize,
    /// The first of them.
    pub first_unknown: Vec<String>,
    /// What to know of the shares, a clause each: parts of the listing that are left out, and what it does not say.
    pub notes: Vec<String>,
    /// Whether the waits are of different times, and their shares do not add up.
    pub is_apart: bool,
}

/// How many unknown lines are shown.
const SHOWN: usize = 3;

impl LockWait {
    fn is_possible(&self) -> bool {
        [self.count, self.waited_s, self.elapsed_s.unwrap_or(1.0)].iter().all(|one| one.is_finite() && *one >= 0.0)
    }

    /// The share of the machine's CPUs; `elapsed_s` is for listings that do not tell the time.
    pub fn share(&self, cpus: usize, elapsed_s: Option<f64>) -> Option<f64> {
        let elapsed = self.elapsed_s.or(elapsed_s)?;
        Some(self.waited_s / (elapsed * cpus as f64))
    }
}

/// What the lines of a listing are.
enum Section {
    None,
    /// Of lockstat(1M): whether its waiters spin, whether it has times, and the time that was watched.
    Lockstat {
        spins: bool,
        has_times: bool,
        elapsed_s: f64,
    },
    /// Of `perf lock contention`.
    Perf,
    /// Of `/proc/lock_stat`: whether the places that follow are those of the waiters.
    LockStat {
        waiters: bool,
    },
}

/// Reads the listing of lockstat (all of its options but `-I`), of `perf lock contention`, or `/proc/lock_stat`.
pub fn read(text: &str) -> LockWaits {
    let (mut found, mut section) = (LockWaits::default(), Section::None);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_rule = !words.is_empty() && line.trim().chars().all(|mark| "-=.".contains(mark));
        if let Section::LockStat { waiters } = &mut section
            && is_rule
        {
            // Each class has a rule before those who waited, and one before those who held it.
            *waiters = !*waiters;
        }
        if words.is_empty() || is_rule || line.starts_with('#') {
            continue;
        }
        if let Some((name, elapsed_s)) = lockstat_heading(line) {
            let spins = name.ends_with("spin");
            if !spins {
                found.notes.push(format!("left out: {name}, which is no waiting of CPUs"));
            }
            section = Section::Lockstat { spins, has_times: true, elapsed_s };
            continue;
        }
        if line.contains("contended") && line.contains("total wait") {
            section = Section::Perf;
            continue;
        }
        if words[0] == "lock_stat" || line.contains("class name") {
            if !matches!(section, Section::LockStat { .. }) {
                found.notes.push("/proc/lock_stat does not say whose waiters sleep: a share is that at most".into());
            }
            section = Section::LockStat { waiters: false };
            continue;
        }
        let wait = match &mut section {
            Section::Lockstat { has_times, spins, .. } if words[0] == "Count" => {
                *has_times = words.contains(&"nsec");
                if *spins && !*has_times {
                    found.notes.push("left out: spins without their times (a lockstat before Solaris 10 10/08)".into());
                }
                continue;
            }
            Section::Lockstat { spins, has_times, elapsed_s } => match lockstat(&words, *elapsed_s) {
                Some(_) if !*spins || !*has_times => continue,
                wait => wait,
            },
            Section::Perf => perf(&words),
            Section::LockStat { waiters } => match lock_stat(line) {
                Some(wait) => {
                    *waiters = false;
                    Some(wait)
                }
                None if line.contains("[<") => {
                    if let Some(last) = found.waits.last_mut().filter(|last| *waiters && last.caller == "-") {
                        last.caller = words.last().copied().unwrap_or_default().to_owned();
                    }
                    continue;
                }
                None => None,
            },
            Section::None => None,
        };
        match wait.filter(LockWait::is_possible) {
            Some(wait) => found.waits.push(wait),
            None => {
                found.unknown += 1;
                if found.first_unknown.len() < SHOWN {
                    found.first_unknown.push(line.trim().to_owned());
                }
            }
        }
    }
    // A class for which no thread had to wait is no news.
    found.waits.retain(|wait| wait.count > 0.0);
    found
}

/// `Adaptive mutex spin: 1713116 events in 30.214 seconds (56700 events/sec)`.
fn lockstat_heading(line: &str) -> Option<(&str, f64)> {
    let (name, rest) = line.split_once(": ")?;
    let (count, rest) = rest.split_once(" events in ")?;
    count.parse::<u64>().ok()?;
    let elapsed: f64 = rest.split_whitespace().next()?.parse().ok()?;
    (elapsed > 0.0).then_some((name.trim(), elapsed))
}

/// `1170899  68%  68% 0.00 11444141 pcf  page_create_wait`.
fn lockstat(words: &[&str], elapsed_s: f64) -> Option<LockWait> {
    let [count, own, sum, _, mean, lock, caller @ ..] = words else { return None };
    let is_row = own.ends_with('%') && sum.ends_with('%') && !caller.is_empty();
    let (count, mean): (f64, f64) = (count.parse().ok()?, mean.parse().ok()?);
    is_row.then(|| LockWait {
        lock: (*lock).to_owned(),
        caller: caller.join(" "),
        count,
        waited_s: count * mean / 1e9,
        elapsed_s: Some(elapsed_s),
        sleeps: false,
    })
}

/// `238  1.41 ms  29.20 us  5.94 us  spinlock  update_blocked_averages+0x4c`.
fn perf(words: &[&str]) -> Option<LockWait> {
    const KINDS_THAT_SLEEP: [&str; 5] = ["mutex", "rwsem", "pcpu-sem", "rtmutex", "semaphore"];
    let [count, total, total_unit, _, _, _, _, lock, caller @ ..] = words else { return None };
    let seconds = match *total_unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let kind = lock.split(':').next().unwrap_or(lock);
    Some(LockWait {
        lock: (*lock).to_owned(),
        caller: if caller.is_empty() { "-".into() } else { caller.join(" ") },
        count: count.parse().ok()?,
        waited_s: total.parse::<f64>().ok()? * seconds,
        elapsed_s: None,
        sleeps: KINDS_THAT_SLEEP.contains(&kind),
    })
}

/// `&mm->mmap_sem-W:  46  84  0.26  939.10  16371.53  194.90  …`: bounces, contentions, and times of waiting in microseconds.
fn lock_stat(line: &str) -> Option<LockWait> {
    let (name, rest) = line.rsplit_once(": ").or_else(|| line.rsplit_once(":\t"))?;
    let numbers: Option<Vec<f64>> = rest.split_whitespace().map(|word| word.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= 5)?;
    Some(LockWait {
        lock: name.trim().to_owned(),
        caller: "-".into(),
        count: numbers[1],
        waited_s: numbers[4] / 1e6,
        elapsed_s: None,
        sleeps: false,
    })
}

/// The waits of a charz report: each configuration whose threads wait for a lock, over the time of its iterations that count.
pub fn of_report(report: &Report) -> LockWaits {
    let strands = report.machine.usable_strands().count() as u64;
    let waits = report.cells.iter().filter_map(|cell| {
        let share = cell.contention?.wait_share.filter(|_| cell.value().is_some())?;
        let runs = || cell.invocations.iter().flat_map(Invocation::clean_runs);
        let waits = runs().flat_map(|run| &run.laps).filter_map(|lap| lap.contention).map(|met| met.waits);
        let elapsed_s = runs().map(|run| run.interval_ns).sum::<u64>() as f64 / 1e9;
        Some(LockWait {
            lock: cell.kernel.clone(),
            caller: format!("{} x{}{}", cell.mapping, cell.workers, crate::point::label(&cell.point)),
            count: waits.sum::<u64>() as f64,
            waited_s: share * cell.workers.min(strands) as f64 * elapsed_s,
            elapsed_s: Some(elapsed_s),
            sleeps: false,
        })
    });
    LockWaits { waits: waits.collect(), is_apart: true, ..LockWaits::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(text: &str, cpus: usize, elapsed_s: Option<f64>) -> Vec<String> {
        read(text).waits.iter().map(|wait| format!("{:.3}", wait.share(cpus, elapsed_s).unwrap())).collect()
    }

    /// The two listings of the blog on Solaris' scalability, with its own results.
    #[test]
    fn published_listings_give_their_published_shares() {
        let first = "Adaptive mutex spin: 9181733 events in 10.135 seconds (905943 events/sec)\n\
            Count indv cuml rcnt     nsec Lock                   Caller\n\
            -------------------------------------------------------------------------\n\
            557331   6%   6% 0.00    88454 0x60033047000          timeout_common+0x4\n...\n";
        assert_eq!(shares(first, 256, None), ["0.019"]);
        let second = "Adaptive mutex spin: 1713116 events in 30.214 seconds (56700 events/sec)\n\n\
            Count indv cuml rcnt     nsec Hottest Lock           Caller\n\
            1170899  68%  68% 0.00 11444141 pcf                  page_create_wait\n\
            202679  12%  80% 0.00   332996 pcf+0x380             page_free\n\
            86959   5%  85% 0.00  8840242 pcf                    page_reclaim\n\
            64565   4%  89% 0.00    25301 0x604ec13c650          ufs_lockfs_begin_getpage\n";
        assert_eq!(shares(second, 512, None), ["0.866", "0.004", "0.050", "0.000"]);
        assert_eq!(read(second).unknown, 0);
    }

    #[test]
    fn what_is_no_waiting_of_cpus_is_left_out_and_said() {
        let text = "Adaptive mutex hold: 10 events in 1.0 seconds (10 events/sec)\n\
            Count indv cuml rcnt     nsec Lock                   Caller\n\
            10   6%   6% 0.00    88454 held                      there\n\
            Spin lock spin: 10 events in 2.0 seconds (5 events/sec)\n\
            Count indv cuml rcnt     nsec Lock                   Caller\n\
            10   6%   6% 0.00 100000000 spun                     there+0x4\n\
            Thread lock spin: 10 events in 2.0 seconds (5 events/sec)\n\
            Count indv cuml rcnt     spin Lock                   Caller\n\
            10   6%   6% 0.00       17 old                       there\n\
            what is this\n";
        let found = read(text);
        assert_eq!(found.waits.iter().map(|wait| wait.lock.as_str()).collect::<Vec<_>>(), ["spun"]);
        assert_eq!(shares(text, 1, None), ["0.500"]);
        assert_eq!((found.notes.len(), found.unknown, found.first_unknown[0].as_str()), (2, 1, "what is this"));
    }

    #[test]
    fn perf_and_lock_stat_are_read_with_the_time_that_is_told() {
        let perf = " contended   total wait     max wait     avg wait         type   caller\n\n\
              238      1.41 s      29.20 us      5.94 us     spinlock   update_blocked_averages+0x4c\n\
               13    412.00 us     90.00 us     31.69 us      rwsem:W   do_mmap+0x1 (mm)\n";
        let found = read(perf);
        assert_eq!(shares(perf, 2, Some(10.0))[0], "0.070", "1.41 s of 20 s, as 0.0705 is printed");
        assert_eq!((found.waits[0].sleeps, found.waits[1].sleeps, found.unknown), (false, true, 0));
        assert_eq!(found.waits[1].caller, "do_mmap+0x1 (mm)");
        assert_eq!(found.waits[0].share(2, None), None, "perf does not tell how long it watched");
        let lock_stat = "lock_stat version 0.4\n-----\n   class name    con-bounces    contentions   waittime-min\n-----\n\n\
               &mm->mmap_sem-W:            46             84           0.26         939.10       5000000.0         194.90  1 1 1 1 1 1\n\
               ---------------\n\
               &mm->mmap_sem              1          [<ffffffff811502a7>] khugepaged_scan_mm_slot+0x57/0x280\n\
               &mm->mmap_sem             96          [<ffffffff815351c4>] other+0x1\n\
               ---------------\n\
               &mm->mmap_sem              1          [<ffffffff811502a7>] holder+0x57/0x280\n\
               &quiet:     0    0    0.0   0.0   0.0  0.0 1 1 1 1 1 1\n";
        let found = read(lock_stat);
        assert_eq!((found.waits.len(), found.unknown), (1, 0), "{found:?}");
        assert_eq!(
            (found.waits[0].lock.as_str(), found.waits[0].caller.as_str()),
            ("&mm->mmap_sem-W", "khugepaged_scan_mm_slot+0x57/0x280")
        );
        assert_eq!(shares(lock_stat, 1, Some(10.0)), ["0.500"]);
    }

    #[test]
    fn garbage_is_counted_and_kills_nothing() {
        let odd =
            "Spin lock spin: 1 events in 2.0 seconds (1 events/sec)\nNaN 6% 6% 0.00 1 a b\n-1 6% 6% 0.00 1e999 a b\n";
        assert_eq!((read(odd).waits.len(), read(odd).unknown), (0, 2));
        let found = read("a\n\u{1b}[2J: x\nCount\n1 2 3\n: 5 events in 0 seconds\n");
        assert_eq!((found.waits.len(), found.unknown), (0, 5));
        assert_eq!(read(""), LockWaits::default());
    }
}
