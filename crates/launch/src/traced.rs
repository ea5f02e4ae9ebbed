//! Threads under ptrace(2): each stops at its birth and at its end.

use std::io;
use std::mem;
use std::time::Instant;

use rustix::process::Signal;

use crate::crew::Crew;
use crate::observe;
use crate::program::Task;
use crate::sys::wait::Used;
use crate::sys::{signals, trace, wait};
use charz_data::Follow;

/// Why the system reports a thread.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// It has ended, with a status.
    Gone,
    /// It has created a thread or a process.
    Birth,
    /// It has become another program.
    Exec,
    /// It is about to end.
    End,
    /// This stop signal has stopped it, until SIGCONT.
    Halt(i32),
    /// It stops at its birth, or goes on after SIGCONT.
    Pause,
    /// It is about to get this signal.
    Signal(i32),
}

/// The status of waitpid(2) as ptrace(2) explains it.
fn change(status: i32) -> Change {
    if !libc::WIFSTOPPED(status) {
        return Change::Gone;
    }
    match (status >> 16, libc::WSTOPSIG(status)) {
        (libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK, _) => Change::Birth,
        (libc::PTRACE_EVENT_EXEC, _) => Change::Exec,
        (libc::PTRACE_EVENT_EXIT, _) => Change::End,
        (libc::PTRACE_EVENT_STOP, signal @ (libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)) => {
            Change::Halt(signal)
        }
        (libc::PTRACE_EVENT_STOP, _) => Change::Pause,
        (_, signal) => Change::Signal(signal),
    }
}

/// Threads whose states are read when one of them becomes another program: some 10 µs each.
const MOST_LOOKED_AT: usize = 64;

impl Crew {
    /// Lets every stopped thread go on, after what is to be done with it. Programs that a signal has stopped, each with the signal.
    pub(crate) fn look_at_traced(&mut self) -> io::Result<Vec<(usize, i32)>> {
        let mut stopped = Vec::new();
        if !self.programs.values().any(|program| program.following.by == Follow::Ptrace || program.held) {
            return Ok(stopped);
        }
        while let Some((tid, status, used)) = wait::any()? {
            stopped.extend(self.treat(tid, status, used));
        }
        Ok(stopped)
    }

    fn treat(&mut self, tid: i32, status: i32, used: Used) -> Option<(usize, i32)> {
        let (change, mut stopped) = (change(status), None);
        let of = self.tasks.get(&tid).filter(|_| change != Change::Gone).map(|task| task.program);
        if let Some(program) = of.and_then(|number| self.programs.get_mut(&number)) {
            program.stops += 1;
        }
        // A thread that SIGKILL ends meanwhile takes no more requests, and is reported again.
        let done = match change {
            Change::Gone => {
                self.gone(tid, status, used);
                return None;
            }
            Change::Birth => self.birth(tid),
            Change::Exec => self.exec(tid),
            Change::End => {
                self.end(tid);
                trace::resume(tid, 0)
            }
            Change::Halt(signal) => {
                self.welcome(tid);
                stopped = self.program_of(tid).map(|program| (program, signal));
                trace::listen(tid)
            }
            Change::Pause => {
                self.welcome(tid);
                trace::resume(tid, 0)
            }
            Change::Signal(number) => {
                if let Some(program) = self.program_of(tid).and_then(|program| self.programs.get_mut(&program)) {
                    program.delivered.insert(number, Instant::now());
                }
                trace::resume(tid, number)
            }
        };
        debug_assert!(done.is_ok() || done.is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH)));
        stopped
    }

    /// The program whose first process this is.
    fn program_of(&self, pid: i32) -> Option<usize> {
        self.programs.iter().find(|(_, program)| program.pid == pid).map(|(number, _)| *number)
    }

    fn gone(&mut self, tid: i32, status: i32, used: Used) {
        self.forget(tid);
        if let Some(program) = self.program_of(tid).and_then(|number| self.programs.get_mut(&number)) {
            program.exited(status, used);
        }
    }

    /// Gives the new thread its seat before its creator goes on: seats are taken in the order of creation, whichever of them is
    /// reported first.
    fn birth(&mut self, tid: i32) -> io::Result<()> {
        if let (Ok(new), Some(task)) = (trace::message(tid), self.tasks.get(&tid)) {
            let (creator, number) = ((tid, task.ordinal), new);
            if !self.early.remove(&new) {
                self.adopt(task.program, new, 0);
            }
            // One that was reported before its creator may have ended.
            if let Some(new) = self.tasks.get_mut(&new).filter(|new| new.end.is_none()) {
                new.creator = Some(creator);
                if let Some(asked) = self.programs.get_mut(&new.program).and_then(|program| program.asked.as_mut())
                    && asked.chosen.contains(&tid)
                {
                    asked.chosen.insert(number);
                }
                let (used, now) = (observe::used_ns(tid).0, Instant::now());
                self.tasks.entry(tid).and_modify(|task| task.create(used, now));
            }
        }
        trace::resume(tid, 0)
    }

    /// Gives a thread that stops before its creator is reported its seat: it has not run yet.
    fn welcome(&mut self, tid: i32) {
        if !self.tasks.contains_key(&tid)
            && let Some(number) = self.guess(tid)
        {
            self.early.insert(tid);
            self.adopt(number, tid, 0);
        }
        if self.killing {
            signals::send(tid, Signal::KILL);
        }
    }

    /// The program of a thread that is reported before its creator: that of its process, or of its parent.
    fn guess(&self, tid: i32) -> Option<usize> {
        let known = |tid| self.tasks.get(&tid).map(|task| task.program);
        let kin = || observe::kin(tid).and_then(|(process, parent)| known(process).or_else(|| known(parent)));
        kin().or_else(|| self.programs.keys().next().copied())
    }

    /// A thread that is not the first of its process takes the first one's id, and all others have ended.
    fn exec(&mut self, tid: i32) -> io::Result<()> {
        if let Ok(former) = trace::message(tid)
            && former != tid
            && self.tasks.contains_key(&former)
        {
            self.forget(tid);
            if let Some(task) = self.tasks.remove(&former) {
                self.heirs(former).for_each(|heir| heir.creator = Some((tid, task.ordinal)));
                self.tasks.insert(tid, task);
            }
        }
        let own = self.program_of(tid).and_then(|number| self.programs.get_mut(&number));
        if let Some(program) = own.filter(|program| program.start.is_none()) {
            // From the fork on it was charz that ran.
            program.before = observe::thread(tid).counts;
            if mem::take(&mut program.held) {
                program.start = Some(Instant::now());
                return trace::let_go(tid);
            }
            trace::follow_ends(tid)?;
            if let Some(task) = self.tasks.get_mut(&tid) {
                task.before = program.before;
            }
            (program.start, program.stops) = (Some(Instant::now()), 0);
        } else {
            self.seat_again(tid);
        }
        self.begin(tid);
        trace::resume(tid, 0)
    }

    /// Gives a process that has become another program a seat beside those that work.
    fn seat_again(&mut self, tid: i32) {
        let Some((number, given)) = self.tasks.get(&tid).map(|task| (task.program, task.given)) else { return };
        let Some(count) = self.programs.get(&number).map(|program| program.seats.len()) else { return };
        if given.is_none() || count < 2 || self.tasks.len() > MOST_LOOKED_AT {
            return;
        }
        let parent = observe::kin(tid).map_or(0, |(_, parent)| parent);
        let mut busy = vec![0; count];
        for (other, task) in self.tasks.iter().filter(|(other, task)| task.program == number && **other != tid) {
            // What has started it will wait.
            if let Some(seat) = task.given.filter(|_| *other != parent && observe::used_ns(*other).1) {
                busy[seat] += 1;
            }
        }
        if let (Some(program), Some(task)) = (self.programs.get_mut(&number), self.tasks.get_mut(&tid)) {
            task.given = program.seats.again(given, &busy);
            task.hold(tid, program.seats.mask(task.given));
        }
    }

    /// Counts a thread that is about to end.
    fn end(&mut self, tid: i32) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        task.seen = observe::thread(tid);
        let number = task.program;
        self.part(tid);
        if let Some(program) = self.programs.get_mut(&number).filter(|program| program.pid == tid) {
            program.pages = observe::pages(tid);
        }
    }

    /// Live threads that a thread created.
    fn heirs(&mut self, tid: i32) -> impl Iterator<Item = &mut Task> {
        let is_of =
            move |task: &&mut Task| task.end.is_none() && task.creator.is_some_and(|(creator, _)| creator == tid);
        self.tasks.values_mut().filter(is_of)
    }

    /// A thread ends: those that it created are its creator's from now on.
    pub(crate) fn part(&mut self, tid: i32) {
        let Some(task) = self.tasks.get_mut(&tid).filter(|task| task.end.is_none()) else { return };
        let (now, used) = (Instant::now(), task.seen.counts.cpu_ns.unwrap_or(0));
        task.end = Some(now);
        let (creator, created) = (task.creator, task.created);
        if created > 0 {
            task.alone((used, false), now);
            self.heirs(tid).for_each(|heir| heir.creator = creator);
        } else {
            task.settle(used, now);
        }
        if let Some((tid, _)) = creator
            && let Some(task) = self.tasks.get_mut(&tid)
        {
            task.created = (task.created + created).saturating_sub(1);
            if task.created == 0 {
                task.alone(observe::used_ns(tid), now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_signal_is_told_from_a_birth() {
        let stop = |event: i32, signal: i32| event << 16 | signal << 8 | 0x7f;
        assert_eq!(change(stop(libc::PTRACE_EVENT_STOP, libc::SIGTRAP)), Change::Pause);
        assert_eq!(change(stop(libc::PTRACE_EVENT_STOP, libc::SIGTSTP)), Change::Halt(libc::SIGTSTP));
        assert_eq!(change(stop(0, libc::SIGSTOP)), Change::Signal(libc::SIGSTOP));
        assert_eq!(change(stop(0, libc::SIGTRAP)), Change::Signal(libc::SIGTRAP));
        assert_eq!(change(3 << 8), Change::Gone);
        assert_eq!(change(libc::SIGKILL), Change::Gone);
    }
}
