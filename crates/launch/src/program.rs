//! A program while it runs, and its threads.

use std::collections::HashMap;
use std::io::{self, PipeWriter};
use std::mem;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdin, ExitStatus};
use std::time::{Duration, Instant};

use charz_data::Follow;
use charz_data::report::Counts;

use crate::asked::Asked;
use crate::launch::{Ended, Following, MAX_THREADS, Thread};
use crate::observe::{self, Seen};
use crate::reading::Reading;
use crate::seats::{Given, Seats};
use crate::sys::wait::Used;
use crate::sys::{affinity, tether};

/// What the poller knows of a program.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub last: Instant,
    pub next: Instant,
    /// When a thread appeared last.
    pub changed: Instant,
    pub counted: Instant,
}

impl Look {
    pub fn new(now: Instant) -> Self {
        Look { last: now, next: now, changed: now, counted: now }
    }
}

/// A variable by which the poller knows processes of a program whose parents have ended.
pub const MARK: &str = "CHARZ_LAUNCH";

/// How long processes that a program leaves behind may take to end by themselves.
pub const FAREWELL: Duration = Duration::from_millis(100);

/// The system brings up to date what a running thread has used at each tick, and when it stops. One that ran between two ticks, and
/// slept before it stopped, was not seen to run at all, and counts as if it had run for this long: enough for one that works in many
/// short regions, too little for one that wakes up at the end of each.
const UNSEEN_NS: u64 = 20_000;

/// A live thread.
pub struct Task {
    /// The number of its program.
    pub program: usize,
    pub ordinal: usize,
    pub given: Given,
    /// Where it may run: its seat or, as long as it has none of its own, several.
    pub cpus: Vec<u32>,
    /// How often it had moved before it got them.
    moved: u64,
    pub unseated_ns: Option<u64>,
    start: Instant,
    /// The live thread that created it, and that one's ordinal.
    pub creator: Option<(i32, usize)>,
    /// Live threads that it created, since when there is one or none, and the processor time that was seen then.
    pub created: usize,
    since: (Instant, u64),
    /// What it used while it had any, and how much more at most while it had them last.
    beside_ns: u64,
    unseen_ns: u64,
    /// When it was seen to end: before another thread that waits for it goes on.
    pub end: Option<Instant>,
    /// What was seen of it last.
    pub seen: Seen,
    /// What it had used when the program began in it.
    pub before: Counts,
}

impl Task {
    pub fn new(program: usize, ordinal: usize, given: Given, cpus: Vec<u32>) -> Self {
        let (start, seen, before) = (Instant::now(), Seen::default(), Counts::default());
        let (creator, created, since, beside_ns, unseen_ns) = (None, 0, (start, 0), 0, 0);
        let unseated_ns = Some(0);
        Task {
            program,
            ordinal,
            given,
            cpus,
            moved: 0,
            unseated_ns,
            start,
            creator,
            created,
            since,
            beside_ns,
            unseen_ns,
            end: None,
            seen,
            before,
        }
    }

    /// It is stopped, has used this, and has created another thread.
    pub fn create(&mut self, used: u64, now: Instant) {
        if self.created == 0 {
            self.settle(used, now);
            self.since = (now, used);
        }
        self.created += 1;
    }

    /// The last thread that it had created has ended. It was seen to have used this, and to run or not.
    pub fn alone(&mut self, (used, runs): (u64, bool), now: Instant) {
        let (begin, before) = mem::replace(&mut self.since, (now, used));
        let beside = used.saturating_sub(before);
        self.beside_ns += beside;
        self.unseen_ns = if runs { ((now - begin).as_nanos() as u64).saturating_sub(beside) } else { 0 };
    }

    /// It is stopped, and has used this. Processor time beyond the time since it was alone was used before that, and not seen then.
    pub fn settle(&mut self, used: u64, now: Instant) {
        let ((begin, before), most) = (self.since, mem::take(&mut self.unseen_ns));
        let unseen = used.saturating_sub(before).saturating_sub((now - begin).as_nanos() as u64);
        self.beside_ns += unseen.max(UNSEEN_NS).min(most);
    }

    /// Lets it run on these CPUs from now on. One that has set its own affinity keeps that.
    pub fn hold(&mut self, tid: i32, cpus: Vec<u32>) {
        if self.cpus != cpus {
            self.moved = observe::migrations(tid);
            let allowed = observe::allowed(tid);
            if allowed.is_empty() || allowed == self.cpus {
                let _ = affinity::set(tid, &cpus);
                // What has ended, or is not looked at again before it does, was where it had to be.
                if self.seen.allowed == self.cpus {
                    self.seen.allowed.clone_from(&cpus);
                }
            }
            self.cpus = cpus;
        }
    }
}

pub struct Program {
    pub pid: i32,
    /// The value of [`MARK`] in the environment of its processes.
    pub mark: String,
    pub following: Following,
    pub seats: Seats,
    /// When it was let go.
    pub start: Option<Instant>,
    pub end: Option<(ExitStatus, Instant)>,
    /// When the last of its threads was seen to end.
    pub last: Option<Instant>,
    /// When those that it left behind are treated next, and how.
    pub leaving: Option<(Instant, Leaving)>,
    pub left: Vec<i32>,
    pub input: Option<ChildStdin>,
    /// Standard output and standard error, until they are closed.
    pub outputs: [Option<OwnedFd>; 2],
    pub reading: Reading,
    pub pages: Vec<(u32, u64)>,
    pub threads: Vec<Thread>,
    pub counts: Option<Counts>,
    pub ended: usize,
    pub off_seat: usize,
    pub unseen: usize,
    /// Of one that is polled.
    pub look: Option<Look>,
    /// When its first process got each signal last, if it is traced.
    pub delivered: HashMap<i32, Instant>,
    /// It leads a process group.
    pub group: bool,
    /// Closed, it kills that group; of a program that is not followed.
    pub tether: Option<PipeWriter>,
    /// Threads that may run on several CPUs until others appear: one beside which there was none, and those that are skipped.
    pub unbound: Vec<i32>,
    /// Threads that are known and have not ended.
    pub live: usize,
    /// What it asks of its CPUs; `None` where it asks the system, or no more.
    pub asked: Option<Asked>,
    /// How often a thread of it stood still for this process.
    pub stops: u64,
    /// Where its first process might run at its end, of one that is not followed.
    pub allowed: Vec<u32>,
    /// It waits where it begins, followed by nothing: ptrace holds it.
    pub held: bool,
    /// What its first process had used when it began, where that was seen.
    pub before: Counts,
}

/// What is done next to processes that outlive the program that started them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// They may be about to end by themselves.
    Terminate,
    Kill,
    /// They wait for a device, and end when they can.
    Forget,
}

impl Program {
    /// Gives a new thread its seat, which the system may refuse if the thread has ended or the CPU has gone.
    pub fn seat(&mut self, number: usize, tid: i32, unseated_ns: u64) -> Task {
        let (ordinal, given) = self.seats.take();
        let mask = self.seats.mask(given);
        let refused = !mask.is_empty() && affinity::set(tid, &mask).is_err();
        // It may have moved until it was found.
        let moved = if unseated_ns == 0 || mask.is_empty() { 0 } else { observe::migrations(tid) };
        let unseated_ns = (!refused).then_some(unseated_ns);
        self.live += 1;
        if given.is_none() {
            self.unbound.push(tid);
        }
        Task { moved, unseated_ns, ..Task::new(number, ordinal, given, mask) }
    }

    /// A thread has ended.
    pub fn note(&mut self, tid: i32, task: Task) {
        let Task { ordinal, given, cpus, moved, unseated_ns, start, creator, beside_ns, end, seen, before, .. } = task;
        let Seen { name, mut counts, allowed } = seen;
        self.last = self.last.max(end);
        if let Some(asked) = &mut self.asked {
            asked.chosen.remove(&tid);
        }
        let end = end.unwrap_or_else(Instant::now);
        let since = |all: Option<u64>, before: Option<u64>| all.map(|all| all.saturating_sub(before.unwrap_or(0)));
        counts.cpu_ns = since(counts.cpu_ns, before.cpu_ns);
        counts.run_delay_ns = since(counts.run_delay_ns, before.run_delay_ns);
        counts.migrations = counts.migrations.map(|all| all.saturating_sub(moved));
        let seat = self.seats.os_id(given).filter(|id| cpus == [*id]);
        self.seats.release(given);
        self.live -= 1;
        self.ended += 1;
        self.counts = Some(self.counts.map_or(counts, |sum| sum.plus(counts)));
        let creator = creator.map(|(_, ordinal)| ordinal);
        let thread = Thread { ordinal, tid, name, start, end, seat, creator, beside_ns, counts, allowed, unseated_ns };
        match thread.on_seat() {
            Some(on_seat) => self.off_seat += usize::from(!on_seat),
            None => self.unseen += usize::from(seat.is_some()),
        }
        if thread.ordinal < MAX_THREADS {
            self.threads.push(thread);
        }
    }

    /// When something is to be done about it next.
    pub fn alarm(&self) -> Option<Instant> {
        let looks = self.look.map(|look| look.next);
        let leaves = self.leaving.map(|(time, _)| time);
        looks.into_iter().chain(leaves).min()
    }

    /// Its first process has ended, and has used so much with those that it waited for.
    pub fn exited(&mut self, status: i32, used: Used) {
        // Before its end is noted: what holds the tether no more has ended by then.
        let is_held = self.tether.as_ref().is_some_and(tether::is_held);
        let now = Instant::now();
        self.end = Some((ExitStatus::from_raw(status), now));
        self.leaving = is_held.then_some((now + FAREWELL, Leaving::Terminate));
        if self.following.by == Follow::None {
            let mut counts = used.counts();
            counts.cpu_ns = counts.cpu_ns.map(|all| all.saturating_sub(self.before.cpu_ns.unwrap_or(0)));
            self.counts = Some(counts);
        }
    }

    /// A process that it had left behind has ended.
    pub fn lost(&mut self, used: Used) {
        self.counts = Some(self.counts.map_or(used.counts(), |sum| sum.plus(used.counts())));
    }

    /// Whether it has all CPUs of its seats until others appear beside its only thread, since it cannot be shown more than it may use.
    pub fn has_all_alone(&self) -> bool {
        !self.asked.as_ref().is_some_and(|asked| asked.shows)
    }

    /// What is known of it; an error if it has not ended.
    pub fn finish(mut self) -> io::Result<Ended> {
        let (status, end) = self.end.ok_or(io::ErrorKind::WouldBlock)?;
        self.threads.sort_by_key(|thread| thread.ordinal);
        self.left.sort_unstable();
        self.left.dedup();
        Ok(Ended {
            status,
            start: self.start.unwrap_or(end),
            end,
            last: self.last.map_or(end, |last| last.max(end)),
            threads: self.threads,
            appeared: self.ended,
            off_seat: self.off_seat,
            unseen: self.unseen,
            counts: self.counts.unwrap_or_default(),
            printed: self.reading.bytes,
            unread: self.reading.unread,
            pages: self.pages,
            left: self.left,
            stops: self.stops,
            allowed: self.allowed,
            following: self.following,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a thread that runs has used is seen late.
    #[test]
    fn a_thread_that_only_wakes_up_does_not_work_beside_those_that_it_created() {
        let (start, ms) = (Instant::now(), |ms: u64| ms * 1_000_000);
        // It has created a thread that lives for 60 ms, is seen then, and stops 20 ms later.
        let beside = |seen, used| {
            let mut task = Task { start, ..Task::new(0, 0, None, Vec::new()) };
            task.create(ms(5), start);
            task.created = 0;
            task.alone(seen, start + Duration::from_millis(60));
            task.settle(used, start + Duration::from_millis(80));
            task.beside_ns
        };
        assert_eq!(beside((ms(5), false), ms(25)), 0, "it waited");
        assert_eq!(beside((ms(5), true), ms(20)), UNSEEN_NS, "it woke up");
        assert_eq!(beside((ms(15), true), ms(83)), ms(58), "it was seen late");
        assert_eq!(beside((ms(62), true), ms(85)), ms(60), "it ran throughout");
    }

    /// The end of a thread is seen before it is reaped, and another thread may appear in between.
    #[test]
    fn a_thread_that_ended_where_it_had_to_be_has_not_left_its_seat() {
        // No thread has this id.
        let gone = i32::MAX;
        let ended = |allowed: &[u32]| {
            let mut task = Task::new(0, 0, Some(0), vec![0, 1]);
            task.seen.allowed = allowed.to_vec();
            task.hold(gone, vec![0]);
            task.seen.allowed
        };
        assert_eq!(ended(&[0, 1]), [0]);
        assert_eq!(ended(&[1]), [1], "it had left");
        assert_eq!(ended(&[]), [0; 0], "it was not seen");
    }
}
