//! What `charz exec` says when the program has ended: the answer first, then what deserves a look.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use charz_launch::{Ended, Follow, Thread};
use charz_topology::cpulist;

use charz_data::escape::{counted, plain};
use charz_data::units;

pub struct Passport<'a> {
    pub program: &'a OsStr,
    pub seats: &'a [Option<u32>],
    pub ended: &'a Ended,
    /// The share of the time of the seats that the hypervisor took.
    pub stolen: f64,
    /// The CPUs of a quota on it, and whether it has fewer seats for that.
    pub quota: Option<f64>,
    pub is_limited: bool,
    /// Variables of the user's own by which a runtime binds threads.
    pub own: &'a [String],
    /// The share of its time that the program stood still for who follows it.
    pub stood_still: f64,
}

/// Shares of time below this are the system's usual work.
const NOTABLE: f64 = 0.01;
const NOTABLE_NS: f64 = 1e6;
/// The share of its time from which on a program's number is not its own, as V39 has it.
const COSTLY: f64 = 0.02;
/// The most threads that are named in a line.
const NAMED: usize = 3;
/// A thread may be moved when it gets its seat.
const MOVED_TO_SEAT: u64 = 1;

pub fn print(passport: &Passport) -> String {
    let Passport { program, seats, ended, stolen, quota, is_limited, own, stood_still } = passport;
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
    let cpus = distinct(seats.iter().flatten().copied()).len();
    let of = if cpus > 0 { format!("of {}", counted(cpus, "CPU")) } else { "CPUs".to_owned() };
    // The time before a short program's first instruction counts too. Without ptrace there may be threads that were not seen.
    let most = if ended.following.by == Follow::Ptrace { ended.appeared.max(1) as f64 } else { f64::INFINITY };
    let used = ended.used_cpus().map(|used| format!(", used {:.1} {of}", used.min(most))).unwrap_or_default();
    let mut text = format!(
        "charz: {}: {}; {}{used}\n",
        plain(&name),
        headline(seats, ended),
        units::duration(ended.end.saturating_duration_since(ended.start))
    );
    let lines = [
        moved(ended),
        quota.filter(|_| *is_limited).map(|quota| {
            let threads = counted(seats.len(), "thread");
            format!("{threads} for a CPU quota of {quota:.2}: --threads asks for more")
        }),
        too_few(seats, ended).or_else(|| idle(ended)),
        waited(ended, *quota),
        (*stolen >= NOTABLE)
            .then(|| format!("the hypervisor took {} of the time of these CPUs (steal)", units::percent(*stolen))),
        pages(ended),
        variables(own, seats),
        followed(ended),
        costly(ended, *stood_still),
        shown(ended),
        left(ended),
    ];
    for line in lines.into_iter().flatten() {
        // A String takes any text.
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn distinct(ids: impl Iterator<Item = u32>) -> Vec<u32> {
    ids.collect::<BTreeSet<_>>().into_iter().collect()
}

fn cpus_of(ids: &[u32]) -> String {
    cpulist::cpus(ids)
}

/// Threads, of which the poller does not see those that end before its next look.
fn seen(threads: &str, ended: &Ended) -> String {
    let verb = if ended.appeared == 1 { "was" } else { "were" };
    if ended.following.by == Follow::Poll { format!("{threads} that {verb} seen") } else { threads.to_owned() }
}

/// Whether threads stayed where they were put.
fn headline(seats: &[Option<u32>], ended: &Ended) -> String {
    let ids = distinct(seats.iter().flatten().copied());
    let cpus = cpus_of(&ids);
    if ended.following.by == Follow::None {
        return if ids.is_empty() {
            "not bound, not followed".into()
        } else {
            format!("on {cpus}, threads not followed")
        };
    }
    let threads = seen(&counted(ended.appeared, "thread"), ended);
    if ids.is_empty() {
        return format!("{threads}, not bound");
    }
    let unbound = ended.threads.iter().filter(|thread| thread.seat.is_none());
    let free = cpus_of(&distinct(unbound.clone().flat_map(|thread| thread.allowed.iter().copied())));
    let unbound = unbound.count();
    let floating = if unbound > 0 { format!(", {unbound} ran unbound on {free}") } else { String::new() };
    if ended.off_seat > 0 {
        return format!("{} of {threads} left their seats on {cpus}{floating}", ended.off_seat);
    }
    let all = match ended.appeared {
        1 if ended.following.by == Follow::Poll => seen("the only thread", ended),
        1 => "its only thread".to_owned(),
        _ if unbound > 0 => format!("{} of {threads}", ended.appeared - unbound),
        2 => seen("both threads", ended),
        _ => format!("all {threads}"),
    };
    if ended.unseen > 0 {
        let stayed = ended.appeared - ended.unseen;
        return format!(
            "{stayed} of {threads} ended on their seats on {cpus}, the others where it was not seen{floating}"
        );
    }
    match &distinct(ended.threads.iter().filter_map(|thread| thread.seat))[..] {
        [] => format!("{} ran unbound on {free}", if ended.appeared == 1 { all } else { threads }),
        used => format!("{all} stayed on {}{floating}", cpus_of(used)),
    }
}

/// The program may not know how many threads it was to have, or let one do all the work.
fn too_few(seats: &[Option<u32>], ended: &Ended) -> Option<String> {
    let cpus = distinct(seats.iter().flatten().copied()).len();
    let working = Ended::working([ended]).map_or(ended.appeared, |working| working as usize).min(ended.appeared);
    let threads = match ended.appeared {
        all if working < all => format!("at most {working} of {all} threads at work"),
        all => seen(&counted(all, "thread"), ended),
    };
    (working < cpus && ended.following.by != Follow::None).then(|| {
        format!(
            "{threads} for {cpus} CPUs: give the program its number of threads ($CHARZ_SEATS), or take fewer CPUs with --threads"
        )
    })
}

/// A thread that waits has a CPU of its own, which others could use.
fn idle(ended: &Ended) -> Option<String> {
    let mut cpus: BTreeMap<u32, (u64, Vec<usize>)> = BTreeMap::new();
    for thread in &ended.threads {
        let (used, threads) = cpus.entry(thread.seat?).or_default();
        *used += thread.counts.cpu_ns?;
        threads.push(thread.ordinal);
    }
    let enough = cpus.values().map(|(used, _)| *used).max()? / 100;
    let (cpu, (_, threads)) = cpus.iter().find(|(_, (used, _))| *used < enough.min(10_000_000))?;
    let skip = threads.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let wait = if threads.len() == 1 { "a thread that waits has" } else { "threads that wait have" };
    (threads.len() <= NAMED)
        .then(|| format!("CPU {cpu} had hardly any work: {wait} it; --skip {skip} leaves it to those that work"))
}

fn off_seat(ended: &Ended) -> impl Iterator<Item = &Thread> {
    ended.threads.iter().filter(|thread| thread.on_seat() == Some(false))
}

/// Threads whose affinity was changed, by themselves or by others.
fn moved(ended: &Ended) -> Option<String> {
    let name = |thread: &Thread| {
        let seat = thread.seat.map(|seat| seat.to_string()).unwrap_or_default();
        format!("{} ({}) from CPU {seat} to {}", thread.ordinal, plain(&thread.name), cpulist::shown(&thread.allowed))
    };
    let all: Vec<String> = off_seat(ended).map(name).collect();
    let more = ended.off_seat.saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| format!("affinity was changed: thread {}{more}", all[..all.len().min(NAMED)].join(", ")))
}

/// Time that threads were ready to run and did not, and moves from CPU to CPU.
fn waited(ended: &Ended, quota: Option<f64>) -> Option<String> {
    let counts = ended.counts;
    let mut parts = Vec::new();
    if let (Some(ran), Some(waited)) = (counts.cpu_ns, counts.run_delay_ns) {
        let share = waited as f64 / (ran + waited).max(1) as f64;
        let wall = ended.end.saturating_duration_since(ended.start).as_nanos() as f64;
        if share >= NOTABLE && waited as f64 >= (NOTABLE * wall).max(NOTABLE_NS) {
            let quota = quota.map(|cpus| format!(", under a CPU quota of {cpus:.2}")).unwrap_or_default();
            parts.push(format!("waited for a CPU {} of the time they could run{quota}", units::percent(share)));
        }
    }
    let usual = ended.appeared as u64 * MOVED_TO_SEAT;
    if let Some(moves) = counts.migrations.filter(|moves| *moves > usual) {
        parts.push(format!("moved {} times from CPU to CPU", units::count(moves)));
    }
    (!parts.is_empty()).then(|| format!("threads {}", parts.join(" and ")))
}

fn pages(ended: &Ended) -> Option<String> {
    let all: u64 = ended.pages.iter().map(|(_, bytes)| bytes).sum();
    let part =
        |(node, bytes): &(u32, u64)| format!("{} on node {node}", units::percent(*bytes as f64 / all.max(1) as f64));
    let parts: Vec<String> = ended.pages.iter().map(part).collect();
    (!parts.is_empty()).then(|| format!("memory at its end: {}, {}", units::iec(all), parts.join(", ")))
}

fn variables(own: &[String], seats: &[Option<u32>]) -> Option<String> {
    let bound = seats.iter().any(Option::is_some);
    (bound && !own.is_empty())
        .then(|| format!("{} from your environment may move threads off their seats; unset it", own.join(" and ")))
}

/// How threads were found, if not by ptrace.
fn followed(ended: &Ended) -> Option<String> {
    let why = ended.following.refused.as_ref().map(|why| format!(", since {}", plain(why))).unwrap_or_default();
    match ended.following.by {
        Follow::Ptrace => None,
        Follow::None => (!why.is_empty()).then(|| format!("threads were not followed{why}")),
        Follow::Poll => {
            let longest = ended.threads.iter().filter_map(|thread| thread.unseated_ns).max().unwrap_or(0);
            let unseated = match longest {
                0 => String::new(),
                longest => format!(": unseated for up to {}", units::nanos(longest as f64)),
            };
            let refused = ended.threads.iter().filter(|thread| thread.unseated_ns.is_none()).count();
            let refused = match refused {
                0 => String::new(),
                refused => format!("; {} ended or lost its CPU before it could be seated", counted(refused, "thread")),
            };
            Some(format!("threads were polled{why}{unseated}{refused}"))
        }
    }
}

/// What following took, if that was much.
fn costly(ended: &Ended, share: f64) -> Option<String> {
    let stops = units::count(ended.stops);
    (share >= COSTLY).then(|| {
        format!(
            "stood still {stops} times where threads and processes began and ended, for about {} of its time: --follow none leaves it alone",
            units::percent(share.min(1.0))
        )
    })
}

/// Where it could not be shown its seats: what it saw.
fn shown(ended: &Ended) -> Option<String> {
    (ended.following.shows_seats == Some(false)).then(|| {
        "saw all its CPUs until it had two threads, and each thread its own after that, since the system lets nothing answer for it: give it its \
         number of threads ($CHARZ_SEATS)"
            .to_owned()
    })
}

fn left(ended: &Ended) -> Option<String> {
    let ids = |ids: &[i32]| ids.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    (!ended.left.is_empty()).then(|| {
        format!("processes that it left running were ended: {}; run a daemon in the foreground", ids(&ended.left))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    use super::*;
    use charz_data::report::Counts;
    use charz_launch::Following;

    const SECOND: u64 = 1_000_000_000;

    /// A thread on each seat, of which each was where this says at its end.
    fn ended(places: &[(u32, &[u32])]) -> Ended {
        let start = Instant::now();
        let thread = |(ordinal, (seat, allowed)): (usize, &(u32, &[u32]))| Thread {
            ordinal,
            tid: 100,
            name: "wor\u{1b}[31mker".into(),
            start,
            end: start + Duration::from_secs(10),
            seat: Some(*seat),
            creator: None,
            beside_ns: 0,
            counts: Counts::default(),
            allowed: allowed.to_vec(),
            unseated_ns: Some(0),
        };
        Ended {
            status: ExitStatus::from_raw(0),
            start,
            end: start + Duration::from_secs(10),
            last: start + Duration::from_secs(10),
            threads: places.iter().enumerate().map(thread).collect(),
            appeared: places.len(),
            off_seat: places.iter().filter(|(seat, allowed)| !allowed.is_empty() && *allowed != [*seat]).count(),
            unseen: places.iter().filter(|(_, allowed)| allowed.is_empty()).count(),
            counts: Counts::default(),
            pages: Vec::new(),
            printed: 0,
            unread: Duration::ZERO,
            left: Vec::new(),
            following: Following { by: Follow::Ptrace, refused: None, shows_seats: None },
            stops: 0,
            allowed: Vec::new(),
        }
    }

    fn said(ended: &Ended, seats: &[u32], own: &[String]) -> Vec<String> {
        let seats: Vec<Option<u32>> = seats.iter().copied().map(Some).collect();
        let passport = Passport {
            program: OsStr::new("/bin/solver"),
            seats: &seats,
            ended,
            stolen: 0.0,
            quota: Some(0.5),
            is_limited: false,
            own,
            stood_still: 0.0,
        };
        let text = print(&passport);
        assert!(!text.contains('\u{1b}'), "{text}");
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_good_run_is_one_line() {
        let ended = ended(&[(0, &[0]), (2, &[2])]);
        assert_eq!(said(&ended, &[0, 2], &[]), ["charz: solver: both threads stayed on CPUs 0,2; 10.0 s"]);
    }

    #[test]
    fn who_left_its_seat_is_in_the_headline_and_below() {
        let lines = said(&ended(&[(0, &[0]), (2, &[0, 1])]), &[0, 2], &[]);
        assert!(lines[0].contains("1 of 2 threads left their seats"), "{lines:?}");
        assert!(lines[1].contains("thread 1") && lines[1].contains("from CPU 2 to 0-1"), "{lines:?}");
        // An outsider may have done it.
        assert!(!lines[1].contains("the program"), "{lines:?}");
    }

    #[test]
    fn what_was_not_seen_is_not_claimed() {
        let lines = said(&ended(&[(0, &[0]), (1, &[])]), &[0, 1], &[]);
        assert!(lines[0].contains("1 of 2 threads") && !lines[0].contains("all"), "{lines:?}");
    }

    /// The poller may have missed some that ended soon.
    #[test]
    fn a_summary_of_polled_threads_claims_no_more_than_was_seen() {
        for (seats, threads) in [(&[0, 1][..], 1), (&[0], 2), (&[0], 3)] {
            let mut polled = ended(&vec![(0, &[0][..]); threads]);
            let told = |ended: &Ended| said(ended, seats, &[]).iter().filter(|line| line.contains("seen")).count();
            assert_eq!(told(&polled), 0);
            polled.following.by = Follow::Poll;
            assert!(said(&polled, seats, &[])[0].contains("seen"));
            // Fewer threads than CPUs have a line of their own.
            assert_eq!(told(&polled), seats.len());
        }
    }

    #[test]
    fn fewer_threads_than_cpus_are_told_of() {
        let lines = said(&ended(&[(0, &[0])]), &[0, 5], &[]);
        assert!(lines[1].contains("1 thread for 2 CPUs"), "{lines:?}");
        let mut idle = ended(&[(0, &[0]), (5, &[5])]);
        for (thread, cpu_ns) in idle.threads.iter_mut().zip([SECOND, SECOND / 10_000]) {
            thread.counts.cpu_ns = Some(cpu_ns);
        }
        let lines = said(&idle, &[0, 5], &[]);
        assert!(lines[1].contains("1 of 2 threads at work for 2 CPUs"), "{lines:?}");
    }

    #[test]
    fn a_cpu_that_a_waiting_thread_has_is_named() {
        let mut waits = ended(&[(0, &[0]), (5, &[5]), (0, &[0])]);
        for (thread, cpu_ns) in waits.threads.iter_mut().zip([SECOND, 50_000, SECOND]) {
            thread.counts.cpu_ns = Some(cpu_ns);
        }
        let lines = said(&waits, &[0, 5], &[]);
        assert!(lines[1].contains("CPU 5") && lines[1].contains("--skip 1"), "{lines:?}");
        waits.threads[1].counts.cpu_ns = Some(SECOND);
        assert!(said(&waits, &[0, 5], &[]).iter().all(|line| !line.contains("--skip")));
    }

    #[test]
    fn a_thread_without_a_seat_stayed_on_none() {
        let mut alone = ended(&[(0, &[0, 1])]);
        (alone.threads[0].seat, alone.off_seat, alone.counts.cpu_ns) = (None, 0, Some(SECOND));
        assert_eq!(
            said(&alone, &[0, 1], &[])[0],
            "charz: solver: its only thread ran unbound on CPUs 0-1; 10.0 s, used 0.1 of 2 CPUs"
        );
    }

    #[test]
    fn a_seat_that_was_refused_is_no_time() {
        let mut ended = ended(&[(0, &[0]), (1, &[1])]);
        ended.following.by = Follow::Poll;
        ended.threads[0].unseated_ns = Some(2_000_000);
        ended.threads[1].unseated_ns = None;
        let line = said(&ended, &[0, 1], &[]).pop().unwrap();
        assert!(line.contains("2.00 ms") && line.contains("1 thread"), "{line}");
    }

    #[test]
    fn waiting_counts_against_time_ready_and_time_in_all() {
        let mut ended = ended(&[(0, &[0])]);
        let mut waited = |ran, waited| {
            ended.counts = Counts { cpu_ns: Some(ran), run_delay_ns: Some(waited), ..Counts::default() };
            let lines = said(&ended, &[0], &[]);
            assert!(lines.len() < 2 || lines[1].contains("CPU quota of 0.50"), "{lines:?}");
            lines.len() > 1
        };
        assert!(waited(9 * SECOND, SECOND));
        assert!(!waited(SECOND / 1000, SECOND / 1000), "a program that slept");
        assert!(!waited(10 * SECOND, SECOND / 100));
    }
}
