//! Several programs at once, followed by one thread.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::SigId;
use signal_hook::low_level::{pipe, unregister};

use charz_data::Follow;
use charz_data::report::Counts;

use crate::asked::Asked;
use crate::launch::{Ended, Error, Following, Id, Launch, Streams};
use crate::left::{Left, adopt_orphans};
use crate::observe;
use crate::program::{FAREWELL, Leaving, Look, Program, Task};
use crate::reading::Reading;
use crate::ready::ready;
use crate::seats::Seats;
use crate::spawn::{First, Spawned, spawn};
use crate::sys::signals;

/// How long processes that a program leaves behind may take to end after SIGTERM.
const TERMINATION: Duration = Duration::from_secs(1);
/// Why threads are not looked for.
const OTHER_PROC: &str = "/proc belongs to another PID namespace (mount one here: unshare has --mount-proc)";
/// So many programs at once have wide pipes: a user has 64 MiB in all pipes.
const WIDE: usize = 32;
/// How long killed processes may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Programs that were started together, with all that they start.
///
/// ptrace binds it to the thread that made it, which must have no other children while the crew is there. Dropping it kills all
/// that still runs. So does the end of this process, however it ends, under ptrace; without it, what SIGKILL leaves behind goes on.
pub struct Crew {
    pub(crate) follow: Follow,
    pub(crate) programs: BTreeMap<usize, Program>,
    pub(crate) tasks: HashMap<i32, Task>,
    /// Threads that were seen before their creators were reported.
    pub(crate) early: HashSet<i32>,
    /// Whatever appears is killed.
    pub(crate) killing: bool,
    started: usize,
    pub(crate) events: VecDeque<Event>,
    /// When output was read last.
    pub(crate) read: Instant,
    /// Becomes readable with SIGCHLD.
    pub(crate) changes: UnixStream,
    registered: SigId,
    /// The thread that made it had SIGCHLD blocked, and has it so again afterwards. Its programs always do.
    blocked: bool,
    bound: PhantomData<*const ()>,
}

/// What happened to a crew.
#[derive(Debug)]
pub enum Event {
    /// The program wrote this.
    Output(Id, Stream, Vec<u8>),
    /// The program and all that it started have ended.
    Ended(Id, Box<Ended>),
    /// This stop signal has stopped the program's first process.
    Stopped(Id, i32),
    /// The descriptor that was to wake is readable.
    Woken,
    /// The time is over.
    Deadline,
    /// There is no program that runs.
    Idle,
}

/// Where captured output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl Crew {
    /// A crew without programs.
    pub fn new(follow: Follow) -> io::Result<Self> {
        let (changes, sender) = UnixStream::pair()?;
        changes.set_nonblocking(true)?;
        let registered = pipe::register(libc::SIGCHLD, sender)?;
        Ok(Crew {
            follow,
            programs: BTreeMap::new(),
            tasks: HashMap::new(),
            early: HashSet::new(),
            killing: false,
            started: 0,
            events: VecDeque::new(),
            read: Instant::now(),
            changes,
            registered,
            blocked: signals::block(libc::SIGCHLD, false),
            bound: PhantomData,
        })
    }

    /// Starts a program. Under ptrace it stops before its first instruction until [`Self::next`] is called, so several begin
    /// together.
    pub fn start(&mut self, launch: &Launch) -> Result<Id, Error> {
        let pinned = launch.seats.iter().any(Option::is_some);
        let anywhere = if pinned { observe::own_allowed() } else { Vec::new() };
        let mut seats = Seats::new(launch.seats.clone(), launch.skip.clone(), anywhere);
        let (by, mut refused) = match self.follow {
            Follow::Poll if !observe::has_own_proc() => (Follow::None, Some(OTHER_PROC.to_owned())),
            by => (by, None),
        };
        let (ordinal, given) = if by == Follow::None { (0, None) } else { seats.take() };
        if self.programs.is_empty() {
            self.killing = false;
        }
        if by == Follow::Poll {
            adopt_orphans();
        }
        let mark = mark();
        let leads = launch.streams != Streams::Inherit;
        if by == Follow::None && leads {
            adopt_orphans();
        }
        let (alone, seat) = (seats.alone(given), if by == Follow::None { Vec::new() } else { seats.mask(given) });
        let first = First { seat: seat.clone(), alone: alone.clone() };
        let Spawned { mut child, traced, listener, shows, start, tether } =
            spawn(launch, first, by, &mark, self.blocked)?;
        let pid = child.id() as i32;
        let held = by == Follow::None && launch.together && traced.is_ok();
        let mut by = by;
        if let Err(error) = traced
            && by == Follow::Ptrace
        {
            by = Follow::Poll;
            refused = Some(format!("ptrace is refused ({error})"));
            if !observe::has_own_proc() {
                by = Follow::None;
                refused = refused.map(|ptrace| format!("{ptrace} and {OTHER_PROC}"));
            }
        }
        let number = self.started;
        self.started += 1;
        let shows_seats = (by != Follow::None && seat != alone).then_some(shows);
        if by != Follow::None {
            self.tasks.insert(pid, Task::new(number, ordinal, given, if shows { seat } else { alone.clone() }));
        }
        if by == Follow::Poll {
            adopt_orphans();
        }
        let outputs = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        let reading = Reading::of(&outputs, self.programs.len() < WIDE);
        self.read = Instant::now();
        let program = Program {
            pid,
            mark,
            following: Following { by, refused, shows_seats },
            seats,
            start: (by != Follow::Ptrace && !held).then_some(start),
            end: None,
            last: None,
            leaving: None,
            left: Vec::new(),
            input: child.stdin.take(),
            delivered: HashMap::new(),
            group: leads,
            tether,
            outputs,
            reading,
            pages: Vec::new(),
            threads: Vec::new(),
            counts: None,
            ended: 0,
            off_seat: 0,
            unseen: 0,
            look: (by == Follow::Poll).then(|| Look::new(start)),
            unbound: if shows { Vec::new() } else { vec![pid] },
            live: usize::from(by != Follow::None),
            asked: listener.map(|listener| Asked::new(listener, shows, alone)),
            stops: 0,
            held,
            allowed: Vec::new(),
            before: Counts::default(),
        };
        self.programs.insert(number, program);
        Ok(Id(number))
    }

    /// The process id of a program that has not ended.
    #[must_use]
    pub fn pid(&self, id: Id) -> Option<i32> {
        self.programs.get(&id.0).filter(|program| program.end.is_none()).map(|program| program.pid)
    }

    /// How the threads of a program that has not ended are found.
    #[must_use]
    pub fn following(&self, id: Id) -> Option<&Following> {
        self.programs.get(&id.0).map(|program| &program.following)
    }

    /// When the first process of a program got this signal last; known under ptrace only.
    #[must_use]
    pub fn delivered(&self, id: Id, signal: i32) -> Option<Instant> {
        self.programs.get(&id.0)?.delivered.get(&signal).copied()
    }

    /// The input of a program in a conversation, once; closing it is the end of the input.
    pub fn input(&mut self, id: Id) -> Option<ChildStdin> {
        self.programs.get_mut(&id.0)?.input.take()
    }

    /// What a program will leave running that is not followed and has not ended, once; where the program has a process group of its own.
    /// It has so much time to end by SIGTERM. What is not asked for is killed at the program's end.
    pub fn left(&mut self, id: Id, patience: Duration) -> Option<Left> {
        let program = self.programs.get_mut(&id.0).filter(|program| program.following.by == Follow::None)?;
        Some(Left::new(program.pid, &program.mark, patience, program.tether.take()?))
    }

    /// Waits until something happens, at most until a time, or until a descriptor is readable.
    pub fn next(&mut self, until: Option<Instant>, wake: Option<BorrowedFd<'_>>) -> io::Result<Event> {
        loop {
            self.look()?;
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            if self.programs.is_empty() {
                return Ok(Event::Idle);
            }
            let now = Instant::now();
            if until.is_some_and(|until| until <= now) {
                return Ok(Event::Deadline);
            }
            let alarm = self.programs.values().filter_map(Program::alarm).chain(until).min();
            if self.sleep(alarm.map(|alarm| alarm.saturating_duration_since(now)), wake)? {
                return Ok(Event::Woken);
            }
        }
    }

    /// Kills all programs, with all that they started. Their ends are still to be waited for.
    pub fn kill_all(&mut self) {
        self.killing = true;
        for program in self.programs.values().filter(|program| program.end.is_none()) {
            if program.group {
                let _ = Pid::from_raw(program.pid).map(|group| kill_process_group(group, Signal::KILL));
            }
            signals::send(program.pid, Signal::KILL);
        }
        // A thread's id stands for its process.
        self.tasks.keys().for_each(|tid| signals::send(*tid, Signal::KILL));
    }

    /// Takes note of all that has changed, without waiting.
    fn look(&mut self) -> io::Result<()> {
        let mut stopped = self.look_at_traced()?;
        stopped.extend(self.look_at_others()?);
        self.events.extend(stopped.into_iter().map(|(number, signal)| Event::Stopped(Id(number), signal)));
        let now = Instant::now();
        let numbers: Vec<usize> = self.programs.keys().copied().collect();
        for number in numbers {
            let Some(program) = self.programs.get_mut(&number).filter(|program| program.end.is_some()) else {
                continue;
            };
            // What is not followed is not known before that.
            let remains = program.remains();
            if program.live > 0 || remains.is_some() {
                self.hurry(number, now, remains.unwrap_or_default());
            } else if let Some(mut program) = self.programs.remove(&number) {
                drain(Id(number), &mut program, &mut self.events)?;
                if program.following.by == Follow::None {
                    mem::take(&mut program.outputs).into_iter().flatten().for_each(read_on);
                }
                self.events.push_back(Event::Ended(Id(number), Box::new(program.finish()?)));
            }
        }
        Ok(())
    }

    /// A new thread of a program, which ran unseated for at most so long.
    pub(crate) fn adopt(&mut self, number: usize, tid: i32, unseated_ns: u64) {
        let Some(program) = self.programs.get_mut(&number) else { return };
        self.tasks.insert(tid, program.seat(number, tid, unseated_ns));
        let Program { unbound, seats, .. } = program;
        unbound.retain(|tid| {
            let Some(task) = self.tasks.get_mut(tid) else { return false };
            task.hold(*tid, seats.mask(task.given));
            task.given.is_none()
        });
    }

    /// A process has become another program, which may run on all seats until a thread appears beside it, as it did when it began.
    /// A program that waits for it, such as a shell, is no company.
    pub(crate) fn begin(&mut self, pid: i32) {
        let (mut above, mut last) = (HashSet::from([pid]), pid);
        while let Some((_, parent)) = observe::kin(last)
            && self.tasks.contains_key(&parent)
            && above.insert(parent)
        {
            last = parent;
        }
        let Some(number) = self.tasks.get(&pid).map(|task| task.program) else { return };
        let is_alone = self.tasks.iter().all(|(tid, task)| task.program != number || above.contains(tid));
        if is_alone
            && let (Some(program), Some(task)) = (self.programs.get_mut(&number), self.tasks.get_mut(&pid))
            && program.has_all_alone()
        {
            task.hold(pid, program.seats.alone(task.given));
            program.unbound.push(pid);
        }
    }

    /// A thread that has ended.
    pub(crate) fn forget(&mut self, tid: i32) {
        self.part(tid);
        if let Some(task) = self.tasks.remove(&tid)
            && let Some(program) = self.programs.get_mut(&task.program)
        {
            program.note(tid, task);
        }
    }

    /// Ends what a program left behind.
    fn hurry(&mut self, number: usize, now: Instant, remains: Vec<i32>) {
        let Some(program) = self.programs.get_mut(&number).filter(|program| program.end.is_some()) else { return };
        let (time, next) = *program.leaving.get_or_insert((now + FAREWELL, Leaving::Terminate));
        if now < time {
            return;
        }
        let with = match next {
            Leaving::Terminate => Signal::TERM,
            Leaving::Kill => Signal::KILL,
            Leaving::Forget => return self.forget_all(number),
        };
        if with == Signal::KILL && program.tether.is_some() {
            let _ = Pid::from_raw(program.pid).map(|group| kill_process_group(group, Signal::KILL));
        }
        program.leaving = Some(match next {
            Leaving::Terminate => (now + TERMINATION, Leaving::Kill),
            _ => (now + PATIENCE, Leaving::Forget),
        });
        let tids = self.tasks.iter().filter(|(_, task)| task.program == number).map(|(tid, _)| *tid);
        // A thread's id stands for its process where nothing more is known.
        let known = tids.map(|tid| observe::kin(tid).map_or(tid, |(process, _)| process));
        let mut processes: Vec<i32> =
            known.chain(remains).chain(program.tether.iter().flat_map(observe::readers)).collect();
        processes.sort_unstable();
        processes.dedup();
        processes.iter().for_each(|pid| signals::send(*pid, with));
        program.left.extend(processes);
    }

    /// Threads of a program that cannot be ended are waited for no longer.
    fn forget_all(&mut self, number: usize) {
        if let Some(program) = self.programs.get_mut(&number) {
            program.tether = None;
        }
        let own = |(tid, task): (&i32, &Task)| (task.program == number).then_some(*tid);
        let tids: Vec<i32> = self.tasks.iter().filter_map(own).collect();
        tids.into_iter().for_each(|tid| self.forget(tid));
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.kill_all();
        // One that waits for a device cannot be killed; it ends when it can.
        let until = Instant::now() + PATIENCE;
        while !matches!(self.next(Some(until), None), Ok(Event::Idle | Event::Deadline) | Err(_)) {}
        unregister(self.registered);
        if self.blocked {
            signals::block(libc::SIGCHLD, true);
        }
    }
}

/// What no other program of any crew has.
fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Reads what has arrived, up to a buffer of it; a stream at its end is closed.
pub fn read(id: Id, program: &mut Program, stream: Stream) -> io::Result<Option<Event>> {
    let end = &mut program.outputs[stream as usize];
    let Some(open) = end else { return Ok(None) };
    let mut bytes = Vec::with_capacity(1 << 16);
    match rustix::io::read(open.as_fd(), spare_capacity(&mut bytes)) {
        Ok(0) => *end = None,
        Ok(count) => {
            program.reading.bytes += count as u64;
            return Ok(Some(Event::Output(id, stream, bytes)));
        }
        Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(None)
}

/// Reads what a program that has ended has left in its pipes, which others may keep open.
fn drain(id: Id, program: &mut Program, events: &mut VecDeque<Event>) -> io::Result<()> {
    for stream in [Stream::Out, Stream::Err] {
        while let Some(open) = &program.outputs[stream as usize] {
            if ready(open, PollFlags::IN).is_empty() {
                break;
            }
            events.extend(read(id, program, stream)?);
        }
    }
    Ok(())
}

/// Reads what a program writes that is left running: a closed pipe would end it at its next line, and a full one would stop it.
fn read_on(end: OwnedFd) {
    let kept = end.try_clone();
    let reader = thread::Builder::new().name("output".into());
    if reader.spawn(|| io::copy(&mut File::from(end), &mut io::sink())).is_err() {
        // Unread is better than closed.
        mem::forget(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::MAX_THREADS;
    use crate::sys::affinity;

    fn polled(seat: Option<u32>) -> Crew {
        let mut crew = Crew::new(Follow::Poll).unwrap();
        let (program, arguments, seats) = ("sleep".into(), vec!["1000".into()], vec![seat]);
        crew.start(&Launch { program, arguments, seats, streams: Streams::Captured, ..Launch::default() }).unwrap();
        crew
    }

    #[test]
    fn where_a_thread_was_before_it_was_found_counts_no_moves() {
        let (cpus, tid) = (observe::own_allowed(), rustix::thread::gettid().as_raw_nonzero().get());
        let mut crew = polled(Some(cpus[0]));
        cpus.iter().cycle().take(10).for_each(|cpu| affinity::set(0, &[*cpu]).unwrap());
        crew.adopt(0, tid, 1);
        crew.tasks.get_mut(&tid).unwrap().seen = observe::thread(tid);
        crew.forget(tid);
        affinity::set(0, &cpus).unwrap();
        assert_eq!(crew.programs[&0].threads[0].counts.migrations.unwrap_or(0), 0);
    }

    #[test]
    fn of_many_threads_the_first_to_appear_are_kept() {
        let mut crew = polled(None);
        // No threads have these ids.
        let tids = (0..=MAX_THREADS as i32).map(|number| i32::MAX - number);
        tids.clone().for_each(|tid| crew.adopt(0, tid, 0));
        tids.rev().for_each(|tid| crew.forget(tid));
        // The first one of all goes on.
        assert!(crew.programs[&0].threads.iter().rev().map(|thread| thread.ordinal).eq(1..MAX_THREADS));
    }
}
