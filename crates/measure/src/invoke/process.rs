//! The sweeping process's side of an invocation.

use std::env;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use charz_kernels::Stop;
use charz_launch::{Children, adopt_orphans};
use charz_system::{OomKills, cgroup, task};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Resource, getrlimit, pidfd_open};

use super::culprits::Culprits;
use super::{ABOUT, Deadline, GRACE, Invoke, MeasureRequest, STUCK, VERB};
use charz_data::report::{Culprit, Ending, Invocation, Tool, from_json};
use charz_data::units;

/// The longest answer: every lap of the largest cell that can be asked for takes less.
const MAX_ANSWER_BYTES: usize = 1 << 30;
/// The most bytes of a dying process's standard error that a reason includes.
const MAX_COMPLAINT_BYTES: usize = 4096;
/// To say how it was built, a program has to start and no more; on a crowded machine even that takes its time.
const ABOUT_TIME: Duration = Duration::from_secs(10);
/// The environment is padded by up to this much, as the stack is aligned by it.
const MAX_PADDING: u64 = 4096;
/// How many parts the heap of a process of glibc may have (mallopt(3)).
const ARENAS: &str = "MALLOC_ARENA_MAX";
/// How long after SIGKILL a process is waited for without a word, and how long by a user who wants to leave.
const SILENCE: Duration = Duration::from_secs(2);
const PARTING: Duration = Duration::from_secs(1);
/// From one look at it to the next, where the system does not tell of its end.
const LOOK: Duration = Duration::from_millis(1);

/// Measures in processes of this program, or of another build of it.
pub struct Processes<'a> {
    program: PathBuf,
    stop: &'a Stop,
    wake: BorrowedFd<'a>,
    say: &'a dyn Fn(&str),
    culprits: Culprits,
}

impl<'a> Processes<'a> {
    /// `stop` is raised, and `wake` becomes readable, when the user wants to leave. `say` shows the user a sentence.
    pub fn new(stop: &'a Stop, wake: BorrowedFd<'a>, say: &'a dyn Fn(&str)) -> Self {
        // Not its path: the file may be replaced by another build in the middle of a sweep. Without /proc its name must do.
        let program = PathBuf::from("/proc/self/exe");
        let named = || env::args_os().next().unwrap_or_default().into();
        Processes {
            program: if program.exists() { program } else { named() },
            stop,
            wake,
            say,
            culprits: Culprits::default(),
        }
    }
    pub fn with_program(self, program: &Path) -> Self {
        Processes { program: program.to_owned(), ..self }
    }

    /// Whether the user wants to leave.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.raised()
    }

    /// What used the CPUs by the newest look.
    pub fn culprits(&self) -> Vec<Culprit> {
        self.culprits.newest()
    }

    /// How the program says that it was built.
    pub fn about(&self) -> Result<Tool, String> {
        let about = Deadline { begun: Instant::now(), waited: Duration::ZERO, after: ABOUT_TIME, latest: ABOUT_TIME };
        let talk = self.spawn(&[VERB, ABOUT], 0, false).and_then(|child| self.converse(child, b"", about, false));
        let talk = talk.map_err(|error| format!("cannot be run: {error}"))?;
        match talk.end {
            End::Cancelled => Err("was not asked any more: stopped by the user".into()),
            End::TimedOut => Err("does not answer; name another build of charz".into()),
            End::Answered(status) => from_json(&talk.pipes.answer)
                .ok()
                .filter(|_| status.success())
                .ok_or_else(|| "is no build of charz that can be asked to measure; name another one".to_owned()),
        }
    }

    fn spawn(&self, arguments: &[&str], seed: u64, is_program: bool) -> io::Result<Guarded> {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: ^C is for the sweeping process, which then ends this one.
        command.process_group(0);
        command.env("CHARZ_PADDING", "x".repeat((seed % MAX_PADDING) as usize));
        // The C library's allocator reserves 64 MiB of addresses for each of the first threads. Where addresses are limited these are all that
        // there are, and hwloc does not look whether it got memory. A user's program has what the user gave it.
        let is_limited = !is_program && getrlimit(Resource::As).current.is_some();
        if is_limited && env::var_os(ARENAS).is_none() {
            command.env(ARENAS, "1");
        }
        Ok(Guarded { child: command.spawn()?, killed: None })
    }

    /// Starts a process that is talked to until its owner drops it.
    pub(super) fn start(&self, arguments: &[&str], is_program: bool) -> io::Result<(Guarded, ChildStdin, ChildStdout)> {
        let mut child = self.spawn(arguments, 0, is_program)?;
        let ends = child.child.stdin.take().zip(child.child.stdout.take());
        ends.map(|(input, output)| (child, input, output)).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    fn try_invoke(&self, order: &MeasureRequest, seed: u64) -> io::Result<Invocation> {
        let (kills, begun) = (OomKills::read(), Instant::now());
        let is_program = order.program.is_some();
        // This process adopts what the measuring process leaves behind, and starts nothing else meanwhile.
        let others = is_program.then(Children::now);
        if is_program {
            adopt_orphans();
        }
        let child = self.spawn(&[VERB], seed, is_program)?;
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        let talk = self.converse(child, &line, Deadline::of(order, GRACE / 2, Duration::ZERO), is_program);
        // Killed, or ended by its supervisor, the process has not done so itself.
        if let Some(others) = others {
            others.kill_new();
        }
        let Talk { end, pipes } = talk?;
        Ok(match end {
            End::Cancelled => Invocation::without_runs(Ending::Stopped, "stopped by the user"),
            End::TimedOut => Invocation::without_runs(
                Ending::TimedOut,
                format!("ended by the watchdog after {:.1} s", begun.elapsed().as_secs_f64()),
            ),
            End::Answered(status) if status.code() == Some(STUCK) => Invocation::without_runs(
                Ending::TimedOut,
                format!(
                    "ended by its supervisor after {:.1} s: a worker heeded nothing else",
                    begun.elapsed().as_secs_f64()
                ),
            ),
            End::Answered(status) => match from_json::<Invocation>(&pipes.answer) {
                Ok(mut invocation) if status.success() => {
                    invocation.complete(&order.seats);
                    invocation
                }
                Ok(_) | Err(_) => Invocation::without_runs(Ending::Died, death(status, &pipes.complaint, &kills)),
            },
        })
    }

    /// Sends a line to the child and reads its output until it ends, or ends it at the deadline or when the user stops.
    fn converse(&self, mut child: Guarded, line: &[u8], deadline: Deadline, is_program: bool) -> io::Result<Talk> {
        // Kept open until the answer is complete: the measuring process stops when its standard input is closed.
        let mut stdin = child.child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // A process that dies at once is reported by its exit status, not by the closed pipe.
        let _ = stdin.write_all(line);
        let (Some(stdout), Some(stderr)) = (child.child.stdout.take(), child.child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut pipes = Pipes { stdout, stderr: Some(stderr), answer: Vec::new(), complaint: Vec::new() };
        let mut overdue = None;
        let early = loop {
            if self.stop.raised() {
                break Some(End::Cancelled);
            }
            // The last half of the grace begins when this process sees that time is over: where the whole machine stood still, so did
            // the supervisor, which comes first.
            let last = || (GRACE / 2).checked_sub(overdue.get_or_insert_with(Instant::now).elapsed());
            let Some(left) = deadline.left(|| task::waited(child.child.id())).or_else(last) else {
                break Some(End::TimedOut);
            };
            if pipes.pump(self.wake, left)? {
                break None;
            }
        };
        match early {
            None => {}
            // Killed, it would leave the user's program running. It ends that first, and is killed only if that takes too long.
            Some(End::Cancelled) if is_program => drop(stdin),
            // Nothing less is sure to be heeded where spinning workers outnumber strands.
            Some(_) => child.kill()?,
        }
        let end = match (early, self.end(&mut child, Child::try_wait)?) {
            (_, None) => End::Cancelled,
            (None, Some(status)) => End::Answered(status),
            (Some(end), Some(_)) => end,
        };
        Ok(Talk { end, pipes })
    }

    /// Waits until a child that has closed its output, or was killed, has `ended`, and kills it if it takes too long. `None` if even then it
    /// does not end, and the user wants to leave.
    fn end(
        &self,
        child: &mut Guarded,
        ended: impl Fn(&mut Child) -> io::Result<Option<ExitStatus>>,
    ) -> io::Result<Option<ExitStatus>> {
        let (begun, id) = (Instant::now(), child.child.id());
        let exit = pidfd_open(Pid::from_child(&child.child), PidfdFlags::empty());
        let (mut silent, mut seems_gone) = (true, false);
        loop {
            if let Some(status) = ended(&mut child.child)? {
                return Ok(Some(status));
            }
            let leaves = self.stop.raised();
            match child.killed.map(|killed| killed.elapsed()) {
                None if begun.elapsed() >= GRACE => child.kill()?,
                Some(late) if leaves && late >= PARTING => {
                    (self.say)(&format!("process {id} was killed and has not ended; it ends when it can"));
                    return Ok(None);
                }
                Some(late) if silent && late >= SILENCE => {
                    silent = false;
                    (self.say)(&format!(
                        "waiting for process {id}: it was killed and has not ended, as one that is frozen, waits for a device, or has \
                         much memory to give back; ^C ends the sweep without it"
                    ));
                }
                _ => {}
            }
            // One that a tracer still has.
            if seems_gone {
                thread::sleep(LOOK);
            }
            // Linux before 5.3 has no such handle.
            let time = if exit.is_ok() { SILENCE / 2 } else { LOOK };
            let handle = exit.as_ref().ok().map(|exit| PollFd::new(exit, PollFlags::IN));
            let wake = (!leaves).then(|| PollFd::from_borrowed_fd(self.wake, PollFlags::IN));
            let mut ends: Vec<PollFd<'_>> = handle.into_iter().chain(wake).collect();
            // Interrupted by a signal, it is waited for again.
            let _ = poll(&mut ends, Timespec::try_from(time).ok().as_ref());
            seems_gone = exit.is_ok() && !ends[0].revents().is_empty();
        }
    }
}

impl Invoke for Processes<'_> {
    fn invoke(&self, order: &MeasureRequest, seed: u64) -> Invocation {
        self.culprits.begin();
        let mut invocation = self.try_invoke(order, seed).unwrap_or_else(|error| {
            Invocation::without_runs(Ending::Refused, format!("the system gives no process to measure in: {error}"))
        });
        self.culprits.end(&order.seats, &mut invocation);
        Invocation { seed, ..invocation }
    }

    fn rest(&self, time: Duration) {
        let timeout = Timespec::try_from(time).ok();
        // A signal ends it early, which does no harm.
        let _ = poll(&mut [PollFd::from_borrowed_fd(self.wake, PollFlags::IN)], timeout.as_ref());
    }
}

struct Talk {
    end: End,
    pipes: Pipes,
}

enum End {
    Answered(ExitStatus),
    Cancelled,
    TimedOut,
}

/// A child that is killed when its owner is dropped.
pub(super) struct Guarded {
    child: Child,
    killed: Option<Instant>,
}

impl Guarded {
    /// Waits so long for its end, and leaves the rest to the owner's.
    pub(super) fn ends_within(&mut self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(LOOK);
        }
    }

    fn kill(&mut self) -> io::Result<()> {
        self.killed.get_or_insert_with(Instant::now);
        self.child.kill()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // After a wait this does nothing. One that does not end is not waited for.
        let _ = self.kill();
        while self.killed.is_some_and(|killed| killed.elapsed() < PARTING) && matches!(self.child.try_wait(), Ok(None))
        {
            thread::sleep(LOOK);
        }
    }
}

struct Pipes {
    stdout: ChildStdout,
    /// `None` once it is closed: a closed pipe is always ready to be read.
    stderr: Option<ChildStderr>,
    answer: Vec<u8>,
    complaint: Vec<u8>,
}

impl Pipes {
    /// Waits for something to read, for a signal, or for the end of `patience`, and reads it. Whether the answer is whole.
    fn pump(&mut self, wake: BorrowedFd<'_>, patience: Duration) -> io::Result<bool> {
        let ends = [Some(self.stdout.as_fd()), Some(wake), self.stderr.as_ref().map(AsFd::as_fd)];
        let ends = ends.into_iter().flatten().map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN));
        let mut ready: Vec<PollFd<'_>> = ends.collect();
        let timeout = Timespec::try_from(patience).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        match poll(&mut ready, Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let [out, _, err] = [0, 1, 2].map(|end| ready.get(end).is_some_and(|end| !end.revents().is_empty()));
        let mut buffer = [0; 65536];
        if let Some(stderr) = self.stderr.as_mut().filter(|_| err) {
            let count = stderr.read(&mut buffer)?;
            if count == 0 {
                self.stderr = None;
            }
            let room = MAX_COMPLAINT_BYTES.saturating_sub(self.complaint.len());
            self.complaint.extend_from_slice(&buffer[..count.min(room)]);
        }
        if out {
            let count = self.stdout.read(&mut buffer)?;
            if count == 0 {
                return Ok(true);
            }
            if self.answer.len() + count > MAX_ANSWER_BYTES {
                return Err(io::Error::other("the measuring process does not stop talking"));
            }
            self.answer.extend_from_slice(&buffer[..count]);
        }
        Ok(false)
    }
}

fn death(status: ExitStatus, complaint: &[u8], kills: &OomKills) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let last = complaint.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("note:"));
    let said = last.map(|line| format!(": {line}")).unwrap_or_default();
    match status.signal() {
        Some(libc::SIGKILL) if kills.grew() => {
            let limit = cgroup::memory_limit()
                .map_or(String::new(), |bytes| format!(", whose control group may take {}", units::iec(bytes)));
            format!("oom: the memory killer ended the measuring process{limit}; ask for less memory or allow more")
        }
        Some(signal) => format!("signal {signal} ended the measuring process{said}"),
        None => {
            let code = status.code().unwrap_or(-1);
            format!("the measuring process ended with exit code {code} and no answer that can be read{said}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_killed_process_that_does_not_end_is_named_and_left_where_the_user_leaves() {
        let (stop, (woken, waker)) = (Stop::new(), UnixStream::pair().unwrap());
        let (said, named) = (Cell::new(0), Cell::new(true));
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let id = child.id().to_string();
        let say = |line: &str| {
            said.set(said.get() + 1);
            named.set(named.get() && line.contains(&id));
            // Told what is waited for, the user leaves.
            stop.raise();
            (&waker).write_all(b"x").unwrap();
        };
        let processes = Processes::new(&stop, woken.as_fd(), &say);
        let mut child = Guarded { child, killed: None };
        child.kill().unwrap();
        assert_eq!(processes.end(&mut child, |_| Ok(None)).unwrap(), None);
        assert_eq!((said.get(), named.get()), (2, true));
        // As it ends after all, that is how it ended.
        assert_eq!(processes.end(&mut child, Child::try_wait).unwrap().and_then(|status| status.signal()), Some(9));
    }
}
