//! What is started, and what is known of it when it has ended.

use std::ffi::OsString;
use std::io;
use std::mem;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use charz_data::Follow;
use charz_data::report::Counts;
use thiserror::Error;

/// One program to start.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// A path, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without the name of the program.
    pub arguments: Vec<OsString>,
    /// Variables to set, or to unset (`None`), over those of this process.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// CPUs by OS id, one for each thread in order of appearance, the program's first thread first; more threads than seats share
    /// them. `None`: placed by the system, as all threads are where there are no seats. As long as a program has one thread, that
    /// thread may run on all of them, so a program that counts its CPUs finds as many as it has seats.
    pub seats: Vec<Option<u32>>,
    /// Threads by order of appearance, from 0, that get no seat, such as helpers of a runtime. They may run on the seats that no
    /// other thread has, and on all where each has one.
    pub skip: Vec<usize>,
    /// NUMA nodes by OS id of which all memory is to come; of several from each in turn. Empty: as threads touch it.
    pub nodes: Vec<u32>,
    /// Where its standard streams go.
    pub streams: Streams,
    /// Whether a program that nothing follows begins when its crew is waited for first, with the others that were started. Until then ptrace
    /// holds it, so its first program does not get another user's rights.
    pub together: bool,
    /// The file that standard output goes to where it is not inherited, written anew; none: it arrives as the other streams.
    pub output: Option<PathBuf>,
}

/// Where a program's standard streams go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// To where this process has them; the program stays in its process group, so a terminal treats both alike.
    #[default]
    Inherit,
    /// No input; output arrives as [`crate::Event::Output`]. The program has a process group of its own.
    Captured,
    /// As captured, with an input that [`crate::Crew::input`] hands out.
    Conversation,
}

/// How the threads of a program were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Following {
    /// How they were.
    pub by: Follow,
    /// Why that is not what was asked for: a clause.
    pub refused: Option<String>,
    /// Whether a thread that asked on which CPUs it may run was shown all seats, though it was bound to its own. `None`: there was nothing
    /// to show, since its threads have one seat, or may run on all.
    pub shows_seats: Option<bool>,
}

/// A program that was started, in order from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub(crate) usize);

/// A program that has ended, with all that it started.
#[derive(Debug)]
pub struct Ended {
    /// Of the process that was started.
    pub status: ExitStatus,
    /// When the program was let go.
    pub start: Instant,
    /// When its process had ended.
    pub end: Instant,
    /// When the last of all processes that it started had ended, where that was seen; no earlier than `end`.
    pub last: Instant,
    /// In order of appearance, the first [`MAX_THREADS`] of them.
    pub threads: Vec<Thread>,
    /// How many threads there were.
    pub appeared: usize,
    /// How many threads with a seat were on other CPUs at their end.
    pub off_seat: usize,
    /// For how many threads with a seat that was not seen.
    pub unseen: usize,
    /// What all threads were counted together, those that are not listed too. `None` for what was not counted for each of them.
    pub counts: Counts,
    /// Bytes by NUMA node of the memory that the first process had at its end, by OS id, ascending. Empty where there is but one
    /// node, or where it was not seen.
    pub pages: Vec<(u32, u64)>,
    /// Bytes of output that were read.
    pub printed: u64,
    /// For how long at most the program may have waited for its reader: nothing was read then, and a pipe may have been full.
    pub unread: Duration,
    /// Processes that still ran after the end of the first one and had to be ended, by process id.
    pub left: Vec<i32>,
    /// The CPUs on which its first process was allowed to run at its end, of a program that is not followed; empty where that was not seen.
    pub allowed: Vec<u32>,
    /// How often its threads stood still for their follower or for an answer, from its first instruction on.
    pub stops: u64,
    /// How its threads were found.
    pub following: Following,
}

impl Ended {
    /// How many threads of these programs worked at the same time at most. A thread works if it used 10 ms, or a hundredth of the
    /// busiest one's processor time. Threads that lived one after the other count as one with the time of all, since a program may do
    /// its work in many short threads. `None` where not all were counted to their ends.
    pub fn working<'a>(programs: impl IntoIterator<Item = &'a Ended>) -> Option<u64> {
        let mut times = Vec::new();
        for ended in programs {
            if ended.following.by != Follow::Ptrace || ended.threads.len() < ended.appeared {
                return None;
            }
            times.extend(work(&ended.threads)?);
        }
        let enough = (times.iter().max()? / 100).clamp(1, 10_000_000);
        Some(times.iter().filter(|time| **time >= enough).count() as u64)
    }

    /// How many CPUs the program used on average, from its start to its end; `None` where it was not counted.
    #[must_use]
    pub fn used_cpus(&self) -> Option<f64> {
        self.counts.cpu_ns.map(|ns| self.per_wall(ns))
    }

    /// How many more it had work for.
    #[must_use]
    pub fn missed_cpus(&self) -> Option<f64> {
        self.counts.run_delay_ns.map(|ns| self.per_wall(ns))
    }

    /// For how long at most none of its threads ran because its output was not read; `None` where they were not counted.
    #[must_use]
    pub fn write_wait(&self) -> Option<Duration> {
        let at_work = Duration::from_nanos(self.counts.cpu_ns?.saturating_add(self.counts.run_delay_ns?));
        let idle = self.end.saturating_duration_since(self.start).saturating_sub(at_work);
        Some(self.unread.min(idle))
    }

    fn per_wall(&self, ns: u64) -> f64 {
        // What it left running is counted, too.
        let end = self.threads.iter().map(|thread| thread.end).fold(self.end, Instant::max);
        ns as f64 / end.saturating_duration_since(self.start).as_nanos().max(1) as f64
    }
}

/// Processor times of threads that may have run at the same time, descending.
type Times = Vec<u64>;

/// Of two groups of threads that lived at the same time.
fn together(mut some: Times, others: Times) -> Times {
    some.extend(others);
    // Few runs, each in order: the stable sort is faster.
    some.sort_by(|a, b| b.cmp(a));
    some
}

/// Of two groups that lived one after the other: the busiest of one counts as one with the busiest of the other, and so on.
fn in_turn(mut some: Times, mut others: Times) -> Times {
    if some.len() < others.len() {
        mem::swap(&mut some, &mut others);
    }
    some.iter_mut().zip(others).for_each(|(time, other)| *time = time.saturating_add(other));
    some
}

/// Whether a thread ended before the next one began. One may create the next and end: a tenth of their lives is no overlap.
fn precedes(one: &Thread, next: &Thread) -> bool {
    let life = |thread: &Thread| thread.end.saturating_duration_since(thread.start);
    one.end.saturating_duration_since(next.start) * 10 <= life(one).min(life(next))
}

/// The times of a program. A thread works beside those that it created with the time that it used while they lived, and before or after
/// them with the rest. Of a pool, short threads may end while the last ones are still made: a thread that overlaps the next counts as
/// one with none that begin before that one has ended.
fn work(threads: &[Thread]) -> Option<Times> {
    // By creator, and first of those without one.
    let mut created = vec![Vec::new(); threads.len() + 1];
    for (at, thread) in threads.iter().enumerate() {
        created[thread.creator.filter(|creator| *creator < at).map_or(0, |creator| creator + 1)].push(at);
    }
    let mut times = vec![Times::new(); threads.len() + 1];
    for at in (0..=threads.len()).rev() {
        // Each overlapped the next: with its times, and those of threads that had ended when it began.
        let mut lanes: Vec<(&Thread, Times, Times)> = Vec::new();
        for child in created[at].iter().copied().map(Some).chain([None]) {
            let next = child.map(|child| &threads[child]);
            let mut ended = Times::new();
            while let Some((_, own, before)) = lanes.pop_if(|(last, ..)| next.is_none_or(|next| precedes(last, next))) {
                ended = in_turn(before, together(own, ended));
            }
            match (child, next) {
                (Some(child), Some(next)) => lanes.push((next, mem::take(&mut times[child + 1]), ended)),
                _ => times[at] = ended,
            }
        }
        if let Some(thread) = at.checked_sub(1).map(|at| &threads[at]) {
            let alone = thread.counts.cpu_ns?.saturating_sub(thread.beside_ns);
            let beside = together(mem::take(&mut times[at]), vec![thread.beside_ns]);
            times[at] = in_turn(beside, vec![alone]);
        }
    }
    times.into_iter().next()
}

/// A program with more threads than these is counted in whole, but not thread by thread.
pub const MAX_THREADS: usize = 4096;

/// One thread of a program, or of a process that it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// In order of appearance, from 0.
    pub ordinal: usize,
    /// The system's number of it.
    pub tid: i32,
    /// The name that the thread had at its end.
    pub name: String,
    /// When it appeared.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// The CPU that it got; `None` also of one beside which there was none, with several seats.
    pub seat: Option<u32>,
    /// The thread that created it or, if that one ended first, that one's creator, by ordinal; under ptrace only.
    pub creator: Option<usize>,
    /// Processor time that it used while threads lived that it created; under ptrace only.
    pub beside_ns: u64,
    /// From its start to its end, migrations from when it got its seat; when polled, the last that was seen.
    pub counts: Counts,
    /// The CPUs on which it was allowed to run at its end; empty where that was not seen.
    pub allowed: Vec<u32>,
    /// For how long at most it ran before it got its seat; 0 under ptrace. `None`: the system refused the seat, as it does of a CPU
    /// that has gone or a thread that has ended.
    pub unseated_ns: Option<u64>,
}

impl Thread {
    /// Whether the thread was still on its seat at its end; `None` for one without a seat, or whose end was not seen.
    #[must_use]
    pub fn on_seat(&self) -> Option<bool> {
        self.seat.filter(|_| !self.allowed.is_empty()).map(|seat| self.allowed == [seat])
    }
}

/// Why a program was not started, as a clause.
#[derive(Debug, Error)]
pub enum Error {
    /// It has no such program.
    #[error("there is no such program")]
    NotFound,
    /// There is a script whose first line, or a program whose header, names an interpreter or a loader that is missing.
    #[error("the interpreter that it names is missing")]
    NoInterpreter,
    /// There is one that cannot be run.
    #[error("it cannot be executed: {0}")]
    NotExecutable(io::Error),
    /// The system does not let it run on these CPUs, by OS ids.
    #[error("the system refuses CPU {seat}: {1}", seat = charz_data::cpulist::print(.0))]
    Seat(Vec<u32>, #[source] io::Error),
    /// The system gives it no memory of these NUMA nodes, by OS ids.
    #[error("the system refuses memory of NUMA node {list}: {1}", list = charz_data::cpulist::print(.0))]
    Memory(Vec<u32>, #[source] io::Error),
    /// A file that is none, or that the system does not let it write.
    #[error("its output cannot go to {0:?}: {1}")]
    Output(PathBuf, #[source] io::Error),
    /// The system starts no process.
    #[error("the system refuses a process: {0}")]
    Process(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    /// A thread: its creator, when it lived, what it used, and what of that beside threads that it created, in microseconds.
    type Row = (Option<usize>, Range<u64>, u64, u64);

    fn working(rows: &[Row]) -> Option<u64> {
        let begin = Instant::now();
        let thread = |(ordinal, (creator, life, used, beside)): (usize, &Row)| Thread {
            ordinal,
            tid: 0,
            name: String::new(),
            start: begin + Duration::from_micros(life.start),
            end: begin + Duration::from_micros(life.end),
            seat: None,
            creator: *creator,
            beside_ns: beside * 1000,
            counts: Counts { cpu_ns: Some(used * 1000), ..Counts::default() },
            allowed: Vec::new(),
            unseated_ns: None,
        };
        let threads: Vec<Thread> = rows.iter().enumerate().map(thread).collect();
        Ended::working([&Ended {
            status: ExitStatus::default(),
            start: begin,
            end: begin,
            last: begin,
            appeared: threads.len(),
            threads,
            off_seat: 0,
            unseen: 0,
            counts: Counts::default(),
            pages: Vec::new(),
            printed: 0,
            unread: Duration::ZERO,
            left: Vec::new(),
            stops: 0,
            allowed: Vec::new(),
            following: Following { by: Follow::Ptrace, refused: None, shows_seats: None },
        }])
    }

    /// Threads of the first one that appear so long after each other, live so long and use so much.
    fn every(gap: u64, life: u64, used: u64, count: u64) -> Vec<Row> {
        (0..count).map(|at| (Some(0), at * gap..at * gap + life, used, 0)).collect()
    }

    /// Threads of the first one in regions that follow each other. They appear in reverse order in every other region.
    fn regions(count: u64, used: &[u64]) -> Vec<Row> {
        let life = used.iter().max().unwrap() + 10;
        let region = |region: u64| {
            let start = 1000 + region * 2 * life;
            let row = |used: &u64| (Some(0), start..start + life, *used, 0);
            let mut rows: Vec<Row> = used.iter().map(row).collect();
            if region % 2 == 1 {
                rows.reverse();
            }
            rows
        };
        (0..count).flat_map(region).collect()
    }

    #[test]
    fn threads_work_at_the_same_time_as_far_as_their_lives_overlap() {
        let first = |used, beside| vec![(None, 0..9_000_000, used, beside)];
        let beside = |used| vec![(Some(0), 1..9_000_000, used, 0)];
        let process = |at: u64| {
            let start = at * 10_000;
            let worker = (Some(1 + at as usize * 3), start + 10..start + 8_000, 5_000, 0);
            vec![(Some(0), start..start + 9_000, 100, 0), worker.clone(), worker]
        };
        let cases: [(&str, u64, [Vec<Row>; 3]); _] = [
            ("fork and join", 2, [first(100, 0), regions(20, &[3_000; 2]), vec![]]),
            ("short ones", 2, [first(100, 0), regions(200, &[300; 2]), vec![]]),
            ("very short ones", 4, [first(100, 0), regions(500, &[20; 4]), vec![]]),
            ("a worker and a sleeper", 1, [first(100, 0), regions(5, &[20_000, 0]), vec![]]),
            ("the first works in regions", 2, [first(59_000, 57_000), regions(20, &[3_000]), vec![]]),
            ("regions beside a sleeper", 2, [first(100, 0), beside(0), regions(20, &[3_000; 2])]),
            ("regions beside a worker", 3, [first(100, 0), beside(50_000), regions(20, &[3_000; 2])]),
            ("the first works, then others", 4, [first(60_000, 100), regions(1, &[60_000; 4]), vec![]]),
            ("only the first works", 1, [first(200_000, 100_000), beside(0), vec![]]),
            ("the first ends first", 2, [vec![(None, 0..90_000, 90_000, 80_000)], beside(80_000), vec![]]),
            ("one lost its creator", 2, [first(90_000, 80_000), vec![(None, 10..90_000, 80_000, 0)], vec![]]),
            ("idle helpers", 1, [first(1_000_000, 990_000), every(10, 900_000, 3_000, 12), vec![]]),
            ("a pool", 4, [first(100, 0), every(1_000, 100_000, 90_000, 4), vec![]]),
            ("a pool whose threads end early", 8, [first(100, 0), every(1_000, 1_500, 1_500, 8), vec![]]),
            ("one after the other", 1, [first(100, 0), every(10_000, 9_000, 8_000, 4), vec![]]),
            ("each creates the next and ends", 1, [first(100, 0), every(60_000, 60_900, 60_000, 4), vec![]]),
            (
                "each creates the next and works",
                4,
                [
                    first(100, 0),
                    (0..3).map(|at| (Some(at), 1..90_000, 60_000, 60_000)).collect(),
                    vec![(Some(3), 1..90_000, 60_000, 0)],
                ],
            ),
            (
                "two processes",
                4,
                [
                    first(100, 0),
                    (0..2).map(|at| (Some(0), 10 + at..90_000, 100, 0)).collect(),
                    (0..4).map(|at| (Some(1 + at % 2), 20..80_000, 60_000, 0)).collect(),
                ],
            ),
            ("short processes in turn", 2, [first(100, 0), (0..300).flat_map(process).collect(), vec![]]),
        ];
        for (case, expected, rows) in cases {
            assert_eq!(working(&rows.concat()), Some(expected), "{case}");
        }
    }
}
