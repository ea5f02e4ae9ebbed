//! What waiting for locks costs a machine, out of the listings of other programs: the share of all CPUs that was spent on waiting for each
//! lock (S. Sistare, "Lies, Damned Lies, and Stats", 2009): the waits times their mean time, over the elapsed time of all CPUs.

use charz_data::escape::counted;
use charz_data::report::{Invocation, Report};
use charz_data::{Role, Sharing};

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
    /// Whether waiters sleep, which takes no CPU; `None` where they may spin before, and for how long is not known.
    pub sleeps: Option<bool>,
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
    /// Of `perf lock contention`, until the next heading: stacks of the owners, and how its BPF program went.
    LeftOut,
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
        if words.contains(&"tot.Time[ms]") {
            return Err(
                "mutrace printed it, which times how long mutexes are held, and no waits; run perf lock contention",
            );
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
        if line.starts_with("=== ") {
            if line.contains("owner stack trace") {
                found.note("left out: the same waits by the stack of the owner".into());
            }
            section = Section::LeftOut;
            continue;
        }
        if words[0] == "lock_stat" || line.contains("class name") {
            found.note(format!("/proc/lock_stat {UNKNOWN_SLEEP}"));
            found.note(
                "/proc/lock_stat does not divide the time of a lock by caller: the most frequent one is shown".into(),
            );
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
            // The stack of the caller, with -v.
            Section::Perf { .. } if words[0].starts_with("0x") => continue,
            Section::LeftOut => continue,
            Section::Perf { columns, subject } => {
                let has_kind = *subject == "type" || (*subject == "address" && line.trim_end().ends_with(')'));
                if !has_kind {
                    found.note(format!("perf lock contention by {subject} {UNKNOWN_SLEEP}"));
                }
                perf(&words, columns, subject, has_kind)
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
            let place = place.split_once(']')?.1.trim();
            let is_of =
                |wait: &LockWait| wait.lock.strip_prefix(class).is_some_and(|rest| ["", "-W", "-R"].contains(&rest));
            let all: f64 = self.waits.iter().rev().take(2).filter(|wait| is_of(wait)).map(|wait| wait.count).sum();
            for wait in self.waits.iter_mut().rev().take(2).filter(|wait| is_of(wait)) {
                wait.caller = format!("{place} ({count} of {all} waits)");
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
        sleeps: Some(false),
    })
}

/// What lockstat -h and -s print below a lock: a heading, `1024 |@@@@  12  mutex_enter+0x4`, and the rest of the stack.
fn is_distribution(line: &str, words: &[&str]) -> bool {
    let is_bar = words[0].parse::<u64>().is_ok() && words.get(1).is_some_and(|bar| bar.starts_with('|'));
    is_bar || line.contains("Time Distribution") || (words.len() == 1 && line.starts_with(' '))
}

/// `0 557331 0x60033047000 timeout_common+0x4 0.000000 49298156274`: a lock is no number, as in the tables of other programs.
fn is_parsable(words: &[&str]) -> bool {
    let [event, count, lock, _, holders, ..] = words else { return false };
    event.parse::<u8>().is_ok()
        && count.parse::<u64>().is_ok()
        && lock.parse::<f64>().is_err()
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
fn perf(words: &[&str], columns: &[&str], subject: &str, has_kind: bool) -> Option<LockWait> {
    const KINDS_THAT_SLEEP: [&str; 5] = ["rwsem", "pcpu-sem", "percpu-rwsem", "rwlock-rt", "semaphore"];
    // Mutexes and rtmutexes spin while the owner runs, within what perf times (kernel/locking of Linux 5.19 and later), and of a kind that
    // perf has no name for nothing is known.
    const KINDS_THAT_SPIN: [&str; 2] = ["spinlock", "rwlock"];
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
        sleeps: match KINDS_THAT_SLEEP.contains(&kind) {
            sleeps if has_kind && (sleeps || KINDS_THAT_SPIN.contains(&kind)) => Some(sleeps),
            _ => None,
        },
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
        sleeps: None,
    })
}

/// The waits of a charz report: each configuration whose threads wait for a lock, over the time of its iterations that count.
///
/// # Errors
/// Why it has none, as the end of a sentence.
pub fn of_report(report: &Report) -> Result<LockWaits, String> {
    let strands = report.machine.worth() as u64;
    let results = || report.cells.iter().filter(|cell| cell.value().is_some());
    // Other kernels count waits too: for no lock, or without their times.
    let locked = || results().filter(|cell| matches!(report.role(&cell.kernel), Role::LockPool { .. }));
    let shared = || locked().filter_map(|cell| cell.contention);
    let waits: Vec<LockWait> = locked()
        .filter_map(|cell| {
            let share = cell.contention?.wait_share?.min(1.0);
            let blocks = report.card(&cell.kernel).is_some_and(|card| card.blocks_in_kernel);
            let runs = || cell.invocations.iter().flat_map(Invocation::clean_runs);
            let waits = runs().flat_map(|run| &run.laps).filter_map(|lap| lap.contention).map(|met| met.waits as f64);
            let elapsed_s = runs().map(|run| run.interval_ns as f64).sum::<f64>() / 1e9;
            Some(LockWait {
                lock: cell.kernel.clone(),
                caller: format!("{} x{}{}", cell.mapping, cell.workers, charz_words::point::label(&cell.point)),
                count: waits.sum(),
                waited_s: share * cell.workers.min(strands) as f64 * elapsed_s,
                elapsed_s: Some(elapsed_s),
                sleeps: if blocks { None } else { Some(false) },
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
    let is_all = |sharing: &Sharing| sharing.wait_share.is_some_and(|share| share >= 1.0);
    let capped = shared().filter(is_all).count();
    let capped = (capped > 0).then(|| {
        format!(
            "the share of {} is cut to all of the time: the waits that were timed are longer than the others",
            counted(capped, "configuration")
        )
    });
    match untimed {
        untimed if !waits.is_empty() => {
            let notes = untimed.into_iter().chain(capped).collect();
            Ok(LockWaits { waits, notes, is_apart: true, ..LockWaits::default() })
        }
        Some(untimed) => Err(untimed),
        None if results().next().is_none() => Err("there is no result in it".into()),
        None if shared().next().is_none() => Err("there is no result of a lock kernel in it".into()),
        None => Err("no thread waited for a lock in it".into()),
    }
}

#[cfg(test)]
mod tests;
