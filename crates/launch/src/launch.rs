//! What is started, and what is known of it when it has ended.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;
use std::time::Instant;

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

/// How the threads of a program are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// By ptrace(2): each new thread stops before its first instruction and gets its seat, and stops at its end to be counted. Where
    /// the system refuses, by polling.
    #[default]
    Ptrace,
    /// By looking into `/proc` every 1 to 8 ms: for programs that do not work under a tracer, such as debuggers, sanitizers and
    /// those with another user's rights.
    Poll,
    /// Not at all: all threads may run on all seats, and nothing is counted.
    None,
}

/// How the threads of a program were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Following {
    /// How they were.
    pub by: Follow,
    /// Why that is not what was asked for: a clause.
    pub refused: Option<String>,
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
    /// Processes that still ran after the end of the first one and had to be ended, by process id.
    pub left: Vec<i32>,
    /// How its threads were found.
    pub following: Following,
}

impl Ended {
    /// How many threads of these programs worked at the same time at most. A thread works beside those that it created with the time
    /// that it used while they lived, and before or after them with the rest. Threads of one creator that lived one after the other
    /// count as one with the processor time of all, since a program may do its work in many short threads: as 1 from 10 ms or a
    /// hundredth of the busiest one's on, and as less below that. `None` where not all were counted to their ends.
    pub fn working<'a>(programs: impl IntoIterator<Item = &'a Ended>) -> Option<u64> {
        let programs: Vec<&Ended> = programs.into_iter().collect();
        if programs.iter().any(|ended| ended.following.by != Follow::Ptrace || ended.threads.len() < ended.appeared) {
            return None;
        }
        let works = |enough| programs.iter().map(move |ended| work(&ended.threads, enough));
        let busiest =
            works(f64::INFINITY).map(|work| Some(work?.1)).collect::<Option<Vec<u64>>>()?.into_iter().max()?;
        works((busiest / 100).clamp(1, 10_000_000) as f64)
            .map(|work| Some(work?.0))
            .sum::<Option<f64>>()
            .map(|sum| sum as u64)
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

    fn per_wall(&self, ns: u64) -> f64 {
        // What it left running is counted, too.
        let end = self.threads.iter().map(|thread| thread.end).fold(self.end, Instant::max);
        ns as f64 / end.saturating_duration_since(self.start).as_nanos().max(1) as f64
    }
}

/// How many of a program's threads worked at the same time at most, of which each did that used `enough`, and the busiest one's
/// processor time. A thread in whose time the next one of its creator appeared is continued by none: many short ones end while the last
/// of them are still made.
fn work(threads: &[Thread], enough: f64) -> Option<(f64, u64)> {
    let share = |time: u64| (time as f64 / enough).min(1.0);
    // By creator, and last of those without one: the start of the next of its threads, how many of the later ones worked and the
    // busiest one's time, and the same of those that continue each other.
    let mut created = vec![(None::<Instant>, (0.0, 0), (0.0_f64, 0)); threads.len() + 1];
    let together =
        |(sum, busiest): (f64, u64), (most, time): (f64, u64)| (sum + share(time).max(most), busiest.max(time));
    let mut beside_most = 0;
    for (at, thread) in threads.iter().enumerate().rev() {
        let (_, later, row) = created[at];
        let (below, longest) = together(later, row);
        let (all, beside) = (thread.counts.cpu_ns?, thread.beside_ns);
        beside_most = beside_most.max(beside);
        let time = all.saturating_sub(beside).saturating_add(longest);
        let working = share(beside) + share(time).max(below);
        let (next, later, row) = &mut created[thread.creator.filter(|creator| *creator < at).unwrap_or(threads.len())];
        if next.replace(thread.start).is_some_and(|next| next >= thread.end) {
            *row = (row.0.max(working), row.1.saturating_add(time));
        } else {
            *later = together(*later, *row);
            *row = (working, time);
        }
    }
    let (_, later, row) = created[threads.len()];
    let (working, longest) = together(later, row);
    Some((working, longest.max(beside_most)))
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
    /// The system starts no process.
    #[error("the system refuses a process: {0}")]
    Process(io::Error),
}
