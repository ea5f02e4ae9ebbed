//! What waiting for locks costs a machine, out of the listings of other programs: the share of all CPUs that was spent on waiting for each
//! lock (S. Sistare, "Lies, Damned Lies, and Stats", 2009): the waits times their mean time, over the elapsed time of all CPUs.

use charz_data::escape::counted;
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
enum Section<'a> {
    None,
    /// Of lockstat(1M): whether its waiters spin, whether it has times, whether it has rates, and the time that was watched.
    Lockstat {
        spins: bool,
        has_times: bool,
        has_rates: bool,
        elapsed_s: f64,
    },
    /// Of `perf lock contention`: its columns of numbers, and the one that follows.
    Perf {
        columns: Vec<&'a str>,
        subject: &'a str,
    },
    /// Of `/proc/lock_stat`: among the places of the waiters, how often they waited at the one that is shown.
    LockStat {
        most: Option<u64>,
    },
}

/// Reads the listing of lockstat (all of its options but `-I` and `-p`), of `perf lock contention`, or `/proc/lock_stat`.
///
/// # Errors
/// The option with which the program printed something else.
pub fn read(text: &str) -> Result<LockWaits, &'static str> {
    let (mut found, mut section) = (LockWaits::default(), Section::None);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_rule = !words.is_empty() && line.trim().chars().all(|mark| "-=.".contains(mark));
        if let Section::LockStat { most } = &mut section
            && is_rule
        {
            // Each class has a rule before those who waited, and one before those who held it.
            *most = if most.is_none() { Some(0) } else { None };
        }
        if line.starts_with("# output:") {
            return Err("perf printed it with -x; run perf lock contention without -x");
        }
        if words.is_empty() || is_rule || line.starts_with('#') {
            continue;
        }
        if let Some((name, elapsed_s)) = lockstat_heading(line) {
            let spins = name.ends_with("spin");
            if !spins {
                found.note(format!("left out: {}, which is no waiting of CPUs", cut(name)));
            }
            section = Section::Lockstat { spins, has_times: true, has_rates: false, elapsed_s };
            continue;
        }
        if let Some((columns, subject)) = perf_heading(line) {
            if !["contended", "total"].iter().all(|needed| columns.contains(needed)) {
                return Err("perf printed it with -F and without what is added up; add contended,wait_total to -F");
            }
            section = Section::Perf { columns, subject };
            continue;
        }
        if words[0] == "lock_stat" || line.contains("class name") {
            found.note(format!("/proc/lock_stat {UNKNOWN_SLEEP}"));
            section = Section::LockStat { most: None };
            continue;
        }
        let wait = match &mut section {
            Section::Lockstat { has_times, has_rates, spins, .. } if ["Count", "ops/s"].contains(&words[0]) => {
                (*has_times, *has_rates) = (words.contains(&"nsec"), words[0] == "ops/s");
                if *spins && !*has_times {
                    let why =
                        if words.contains(&"spin") { "a lockstat before Solaris 10 10/08" } else { "lockstat -b" };
                    found.note(format!("left out: spins without their times ({why})"));
                }
                if words.contains(&"genr") {
                    found.is_apart = true;
                    found.note(
                        "lockstat -g counts a wait for each caller on its stack: the shares do not add up".into(),
                    );
                }
                continue;
            }
            Section::Lockstat { .. } if is_distribution(line, &words) => continue,
            Section::Lockstat { spins, has_times, .. } if !(*spins && *has_times) && is_lockstat(&words) => continue,
            Section::Lockstat { has_rates, elapsed_s, .. } => {
                lockstat(&words, if *has_rates { *elapsed_s } else { 1.0 }, *elapsed_s)
            }
            Section::Perf { columns, subject } => {
                let has_kind = *subject == "type" || (*subject == "address" && line.trim_end().ends_with(')'));
                if !has_kind {
                    found.note(format!("perf lock contention by {subject} {UNKNOWN_SLEEP}"));
                }
                perf(&words, columns, subject)
            }
            Section::LockStat { most } => match lock_stat(line) {
                Some(wait) => {
                    *most = None;
                    Some(wait)
                }
                None => match line.split_once(" [<") {
                    Some((head, place)) => {
                        if let Some(most) = most {
                            found.waited_at(head, place, most);
                        }
                        continue;
                    }
                    None => None,
                },
            },
            Section::None if is_parsable(&words) => {
                return Err("lockstat printed it with -p, which does not tell how long it watched; run it without -p");
            }
            Section::None => None,
        };
        match wait.filter(LockWait::is_possible) {
            Some(wait) => found.waits.push(wait),
            None => {
                found.unknown += 1;
                if found.first_unknown.len() < SHOWN {
                    found.first_unknown.push(cut(line.trim()));
                }
            }
        }
    }
    // A class for which no thread had to wait is no news.
    found.waits.retain(|wait| wait.count > 0.0);
    Ok(found)
}

/// What is said of a listing without the kinds of its locks.
const UNKNOWN_SLEEP: &str = "does not say whose waiters sleep: a share is that at most";

/// The most characters of a line that are shown.
const LONGEST: usize = 120;

fn cut(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

impl LockWaits {
    /// Once, though lockstat -h has a heading above every lock.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// `&mm->mmap_sem  96` and `<ffffffff811502a7>] khugepaged_scan_mm_slot+0x57/0x280`: a place belongs to the rows of its class, of which
    /// writers and readers have one each.
    fn waited_at(&mut self, head: &str, place: &str, most: &mut u64) -> Option<()> {
        let (class, count) = head.trim().rsplit_once(char::is_whitespace)?;
        let count: u64 = count.parse().ok()?;
        if count > *most {
            *most = count;
            let class = class.trim();
            let is_of = |lock: &str| lock.strip_prefix(class).is_some_and(|rest| ["", "-W", "-R"].contains(&rest));
            for wait in self.waits.iter_mut().rev().take(2).filter(|wait| is_of(&wait.lock)) {
                wait.caller = place.split_once(']')?.1.trim().to_owned();
            }
        }
        Some(())
    }
}

/// `Adaptive mutex spin: 1713116 events in 30.214 seconds (56700 events/sec)`.
fn lockstat_heading(line: &str) -> Option<(&str, f64)> {
    let (name, rest) = line.split_once(": ")?;
    let (count, rest) = rest.split_once(" events in ")?;
    count.parse::<u64>().ok()?;
    let elapsed: f64 = rest.split_whitespace().next()?.parse().ok()?;
    (elapsed > 0.0).then_some((name.trim(), elapsed))
}

/// `1170899  68%  68% 0.00 11444141 pcf  page_create_wait`; of -g the third word is a rule.
fn is_lockstat(words: &[&str]) -> bool {
    words.len() >= 6 && words[1].ends_with('%') && (words[2].ends_with('%') || words[2] == "----")
}

fn lockstat(words: &[&str], times: f64, elapsed_s: f64) -> Option<LockWait> {
    let [count, _, _, _, mean, lock, caller @ ..] = words else { return None };
    let (count, mean): (f64, f64) = (count.parse::<f64>().ok()? * times, mean.parse().ok()?);
    (is_lockstat(words) && !caller.is_empty()).then(|| LockWait {
        lock: (*lock).to_owned(),
        caller: caller.join(" "),
        count,
        waited_s: count * mean / 1e9,
        elapsed_s: Some(elapsed_s),
        sleeps: false,
    })
}

/// What lockstat -h and -s print below a lock: a heading, `1024 |@@@@  12  mutex_enter+0x4`, and the rest of the stack.
fn is_distribution(line: &str, words: &[&str]) -> bool {
    let is_bar = words[0].parse::<u64>().is_ok() && words.get(1).is_some_and(|bar| bar.starts_with('|'));
    is_bar || line.contains("Time Distribution") || (words.len() == 1 && line.starts_with(' '))
}

/// `0 557331 0x60033047000 timeout_common+0x4 0.000000 49298156274`.
fn is_parsable(words: &[&str]) -> bool {
    let [event, count, _, _, holders, ..] = words else { return false };
    event.parse::<u8>().is_ok()
        && count.parse::<u64>().is_ok()
        && holders.contains('.')
        && holders.parse::<f64>().is_ok()
}

/// `contended   total wait     max wait     avg wait         type   caller`: the first words of the columns of numbers, in any order, and of the
/// one that follows them.
fn perf_heading(line: &str) -> Option<(Vec<&str>, &str)> {
    let (mut columns, mut rest) = (Vec::new(), line.trim());
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        let after = match word {
            "contended" => Some(after),
            "total" | "max" | "min" | "avg" => after.strip_prefix("wait"),
            _ => None,
        };
        let Some(after) = after else { break };
        columns.push(word);
        rest = after.trim_start();
    }
    let subject = rest.split_whitespace().next()?;
    (!columns.is_empty() && ["type", "pid", "address", "cgroup"].contains(&subject)).then_some((columns, subject))
}

/// `238  1.41 ms  29.20 us  5.94 us  spinlock  update_blocked_averages+0x4c`.
fn perf(words: &[&str], columns: &[&str], subject: &str) -> Option<LockWait> {
    const KINDS_THAT_SLEEP: [&str; 9] =
        ["mutex", "rwsem", "pcpu-sem", "percpu-rwsem", "rtmutex", "rt-mutex", "rt=mutex", "rwlock-rt", "semaphore"];
    let (mut count, mut waited_s, mut words) = (None, None, words.iter());
    for column in columns {
        let number: f64 = words.next()?.parse().ok()?;
        if *column == "contended" {
            count = Some(number);
            continue;
        }
        let seconds = match *words.next()? {
            "ns" => 1e-9,
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        if *column == "total" {
            waited_s = Some(number * seconds);
        }
    }
    let lock = *words.next()?;
    let caller = words.copied().collect::<Vec<_>>().join(" ");
    let kind = match subject == "address" {
        // `mmap_lock (rwsem)`.
        true => caller.rsplit_once('(').map_or("", |(_, kind)| kind.trim_end_matches(')')),
        false => lock.split(':').next().unwrap_or(lock),
    };
    Some(LockWait {
        lock: lock.to_owned(),
        sleeps: KINDS_THAT_SLEEP.contains(&kind),
        caller: if caller.is_empty() { "-".into() } else { caller },
        count: count?,
        waited_s: waited_s?,
        elapsed_s: None,
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
///
/// # Errors
/// Why it has none, as the end of a sentence.
pub fn of_report(report: &Report) -> Result<LockWaits, String> {
    let strands = report.machine.usable_strands().count() as u64;
    let results = || report.cells.iter().filter(|cell| cell.value().is_some());
    let shared = || results().filter_map(|cell| cell.contention);
    let waits: Vec<LockWait> = results()
        .filter_map(|cell| {
            let share = cell.contention?.wait_share?;
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
        })
        .collect();
    let untimed = shared().filter(|sharing| sharing.wait_share.is_none() && sharing.waited > 0.0).count();
    let untimed = (untimed > 0).then(|| {
        format!(
            "the waits of {} are counted, but none was timed; a larger --budget may time some",
            counted(untimed, "configuration")
        )
    });
    match untimed {
        untimed if !waits.is_empty() => {
            Ok(LockWaits { waits, notes: untimed.into_iter().collect(), is_apart: true, ..LockWaits::default() })
        }
        Some(untimed) => Err(untimed),
        None if results().next().is_none() => Err("there is no result in it".into()),
        None if shared().next().is_none() => Err("there is no result of a lock kernel in it".into()),
        None => Err("no thread waited for a lock in it".into()),
    }
}

#[cfg(test)]
mod tests {
    use charz_data::Sharing;
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{cell, report};

    use super::*;

    fn shares(text: &str, cpus: usize, elapsed_s: Option<f64>) -> Vec<String> {
        read(text).unwrap().waits.iter().map(|wait| format!("{:.3}", wait.share(cpus, elapsed_s).unwrap())).collect()
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
        assert_eq!(read(second).unwrap().unknown, 0);
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
        let found = read(text).unwrap();
        assert_eq!(found.waits.iter().map(|wait| wait.lock.as_str()).collect::<Vec<_>>(), ["spun"]);
        assert_eq!(shares(text, 1, None), ["0.500"]);
        assert_eq!((found.notes.len(), found.unknown, found.first_unknown[0].as_str()), (2, 1, "what is this"));
    }

    #[test]
    fn perf_and_lock_stat_are_read_with_the_time_that_is_told() {
        let perf = " contended   total wait     max wait     avg wait         type   caller\n\n\
              238      1.41 s      29.20 us      5.94 us     spinlock   update_blocked_averages+0x4c\n\
               13    412.00 us     90.00 us     31.69 us      rwsem:W   do_mmap+0x1 (mm)\n";
        let found = read(perf).unwrap();
        assert_eq!(shares(perf, 2, Some(10.0))[0], "0.070", "1.41 s of 20 s, as 0.0705 is printed");
        assert_eq!((found.waits[0].sleeps, found.waits[1].sleeps, found.unknown), (false, true, 0));
        assert_eq!(found.waits[1].caller, "do_mmap+0x1 (mm)");
        assert_eq!(found.waits[0].share(2, None), None, "perf does not tell how long it watched");
        let lock_stat = "lock_stat version 0.4\n-----\n   class name    con-bounces    contentions   waittime-min\n-----\n\n\
               &mm->mmap_sem-W:            46             84           0.26         939.10       5000000.0         194.90  1 1 1 1 1 1\n\
               &mm->mmap_sem-R:            46              0           0.00           0.00             0.0           0.00  1 1 1 1 1 1\n\
               ---------------\n\
               &mm->mmap_sem              1          [<ffffffff811502a7>] khugepaged_scan_mm_slot+0x57/0x280\n\
               &mm->mmap_sem             96          [<ffffffff815351c4>] other+0x1 [kvm]\n\
               ---------------\n\
               &mm->mmap_sem              1          [<ffffffff811502a7>] holder+0x57/0x280\n\
               &quiet:     0    0    0.0   0.0   0.0  0.0 1 1 1 1 1 1\n";
        let found = read(lock_stat).unwrap();
        assert_eq!((found.waits.len(), found.unknown), (1, 0), "{found:?}");
        assert_eq!(
            (found.waits[0].lock.as_str(), found.waits[0].caller.as_str()),
            ("&mm->mmap_sem-W", "other+0x1 [kvm]")
        );
        assert_eq!(shares(lock_stat, 1, Some(10.0)), ["0.500"]);
    }

    #[test]
    fn the_columns_of_perf_are_those_of_its_heading() {
        let shares = |heading: &str, row: &str| shares(&format!("{heading}\n\n{row}\n"), 1, Some(10.0));
        let swapped = " contended     max wait   total wait     avg wait         type   caller";
        assert_eq!(shares(swapped, "2300  5.01 ms  9.00 s  3.91 ms  spinlock  x"), ["0.900"]);
        assert_eq!(shares("total wait  contended  type  caller", "9.00 s  2300  spinlock  x"), ["0.900"]);
        assert!(read("contended  avg wait  type  caller\n").is_err_and(|why| why.contains("-F")));
        assert!(read("# output: contended, total wait, type, caller\n").is_err_and(|why| why.contains("-x")));
    }

    #[test]
    fn waiters_of_perf_sleep_by_the_kind_of_their_lock() {
        let kinds = ["spinlock", "rwlock:R", "rt=mutex", "rwlock-rt:W", "pcpu-sem:R", "semaphore"];
        let rows: String = kinds.iter().map(|kind| format!("1  1.00 s  {kind}  f+0x1 (mm)\n")).collect();
        let sleeps = |text: &str| read(text).unwrap().waits.iter().map(|wait| wait.sleeps).collect::<Vec<_>>();
        assert_eq!(
            sleeps(&format!("contended  total wait  type  caller\n{rows}")),
            [false, false, true, true, true, true]
        );
        let heading = "contended  total wait  address  symbol\n";
        let by_address = ["mmap_lock (rwsem)", "(percpu-rwsem)", "rq (spinlock)"];
        let rows: String = by_address.iter().map(|rest| format!("1  1.00 s  ffff9b1c42a0d1a8   {rest}\n")).collect();
        assert_eq!(sleeps(&format!("{heading}{rows}")), [true, true, false]);
        assert_eq!(read(&format!("{heading}{rows}")).unwrap().notes.len(), 0);
        for unknown in
            [format!("{heading}1  1.00 s  ffff9b1c  rq\n"), "contended  total wait  pid  comm\n1 1 s 7 sh\n".into()]
        {
            assert!(read(&unknown).unwrap().notes[0].contains("sleep"), "{unknown}");
        }
    }

    /// As lockstat.c of illumos prints them.
    #[test]
    fn every_option_of_lockstat_is_read_or_named() {
        let begun = "Adaptive mutex spin: 1000 events in 10.000 seconds (100 events/sec)\n";
        let rates = format!(
            "{begun}ops/s indv cuml rcnt     nsec Lock                   Caller\n  100  68%  68% 0.00 10000000 pcf  f\n"
        );
        assert_eq!((shares(&rates, 1, None), read(&rates).unwrap().unknown), (vec!["1.000".to_owned()], 0));
        let callers =
            format!("{begun}Count genr cuml rcnt     nsec Lock  Caller\n 1000  68% ---- 0.00 1000000 pcf  f\n");
        let found = read(&callers).unwrap();
        assert_eq!((shares(&callers, 1, None), found.is_apart, found.unknown), (vec!["0.100".to_owned()], true, 0));
        assert!(found.notes[0].contains("-g"), "{found:?}");
        let one = "-----\nCount indv cuml rcnt     nsec Lock   Caller\n 1000  68%  68% 0.00 1000000 pcf  f\n\n      \
            nsec ------ Time Distribution ------ count     Stack\n      1024 |@@@@@      12    f+0x4\n      2048 |  1\n     g\n";
        let found = read(&format!("{begun}{one}{one}")).unwrap();
        assert_eq!((found.waits.len(), found.unknown), (2, 0), "{found:?}");
        let untimed = "-----\nCount indv cuml rcnt          Lock   Caller\n 1000  68%  68% 0.00          pcf  f\n";
        let found = read(&format!("{begun}{untimed}{untimed}")).unwrap();
        assert_eq!((found.waits.len(), found.unknown, found.notes.len()), (0, 0, 1), "{found:?}");
        assert!(found.notes[0].contains("-b"), "{found:?}");
        assert!(read("0 557331 0x60033047000 f+0x4 0.000000 49298156274\n").is_err_and(|why| why.contains("-p")));
    }

    #[test]
    fn a_report_without_timed_waits_says_what_it_has() {
        let sharing = |waited| Sharing {
            attempts_per_success: 1.0,
            waited,
            wait_share: None,
            fairness: 1.0,
            most_to_least: None,
        };
        let cell = || cell("lock-mutex", 2, Unit::OpsPerSecond, 1.0);
        for (cells, word) in [
            (vec![], "no result"),
            (vec![cell()], "kernel"),
            (vec![cell().contention(sharing(0.0))], "no thread"),
            (vec![cell().contention(sharing(0.0077)), cell()], "none was timed"),
        ] {
            assert!(of_report(&report(cells)).is_err_and(|why| why.contains(word)), "{word}");
        }
    }

    #[test]
    fn garbage_is_counted_and_kills_nothing() {
        let odd =
            "Spin lock spin: 1 events in 2.0 seconds (1 events/sec)\nNaN 6% 6% 0.00 1 a b\n-1 6% 6% 0.00 1e999 a b\n";
        let found = read(odd).unwrap();
        assert_eq!((found.waits.len(), found.unknown), (0, 2));
        let found = read("a\n\u{1b}[2J: x\nCount\n1 2 3\n: 5 events in 0 seconds\n").unwrap();
        assert_eq!((found.waits.len(), found.unknown), (0, 5));
        assert_eq!(read(""), Ok(LockWaits::default()));
        let long = "é".repeat(1 << 20);
        assert_eq!(read(&long).unwrap().first_unknown[0].chars().count(), LONGEST + 1);
    }
}
