//! Threads without a tracer: looked for in `/proc`.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::crew::Crew;
use crate::observe;
use crate::program::{Look, MARK, Task};
use crate::sys::{signals, wait};
use charz_data::Follow;

/// From one look to the next: often at the beginning and after changes, when programs start threads, then more and more seldom.
const OFTEN: Duration = Duration::from_millis(1);
const SELDOM: Duration = Duration::from_millis(8);
/// How long it is looked often.
const LIVELY: Duration = Duration::from_millis(100);
/// From one reading of all counts to the next: four files a thread take about 40 µs.
const COUNTING: Duration = Duration::from_millis(100);

impl Crew {
    /// Programs that are not traced: their ends, their threads. Those that a signal has stopped, each with the signal.
    pub(crate) fn look_at_others(&mut self) -> io::Result<Vec<(usize, i32)>> {
        let mut stopped = Vec::new();
        let now = Instant::now();
        let numbers: Vec<usize> = self.programs.keys().copied().collect();
        for number in numbers {
            let Some(program) = self.programs.get_mut(&number) else { continue };
            if program.following.by == Follow::Ptrace {
                continue;
            }
            if let Some(look) = program.look
                && look.next <= now
            {
                self.search(number, look, now);
            }
            let Some(program) = self.programs.get_mut(&number) else { continue };
            if program.end.is_some() {
                continue;
            }
            let pid = program.pid;
            if !wait::has_ended(pid)? {
                stopped.extend(wait::stop(pid).map(|signal| (number, signal)));
                continue;
            }
            // Until it is reaped, it has the mask with which it ended.
            let allowed = observe::allowed(pid);
            match self.tasks.get_mut(&pid) {
                Some(task) => task.seen.allowed = allowed,
                None => program.allowed = allowed,
            }
            if let Some((status, used)) = wait::child(pid)? {
                program.exited(status, used);
                self.forget(pid);
                // Its other threads have ended with it.
                if let Some(look) = self.programs.get(&number).and_then(|program| program.look) {
                    self.search(number, look, now);
                }
            }
        }
        Ok(stopped)
    }

    /// Finds what is new, and what has gone.
    fn search(&mut self, number: usize, mut look: Look, now: Instant) {
        let count = look.counted + COUNTING <= now;
        let unseated = now.saturating_duration_since(look.last);
        let mut found = HashSet::new();
        // A thread that is created during the search may be missed, and one that it creates inherits its CPUs.
        loop {
            let fresh: Vec<i32> = self.present(number).into_iter().filter(|tid| found.insert(*tid)).collect();
            if fresh.is_empty() {
                break;
            }
            for tid in fresh {
                if !self.tasks.contains_key(&tid) {
                    look.changed = now;
                    self.adopt(number, tid, unseated.as_nanos().try_into().unwrap_or(u64::MAX));
                    if let Some(task) = self.tasks.get_mut(&tid) {
                        task.seen = observe::thread(tid);
                    }
                    if self.killing {
                        signals::send(tid, Signal::KILL);
                    }
                }
            }
        }
        let own = |(tid, task): (&i32, &Task)| (task.program == number).then_some(*tid);
        let known: Vec<i32> = self.tasks.iter().filter_map(own).collect();
        let Some(program) = self.programs.get(&number) else { return };
        let (pid, running) = (program.pid, program.end.is_none());
        for tid in known {
            if !found.contains(&tid) && (tid != pid || !running) {
                self.forget(tid);
            } else if let Some(task) = self.tasks.get_mut(&tid).filter(|_| count) {
                let seen = observe::thread(tid);
                // That of one that has just ended is empty.
                if seen.counts.cpu_ns.is_some() {
                    task.seen = seen;
                }
            }
        }
        if count {
            look.counted = now;
            if let Some(program) = self.programs.get_mut(&number) {
                program.pages = observe::pages(pid);
            }
        }
        let often = now.saturating_duration_since(look.changed) < LIVELY;
        look.last = now;
        look.next = now + if often { OFTEN } else { SELDOM };
        if let Some(program) = self.programs.get_mut(&number) {
            program.look = Some(look);
        }
    }

    /// The threads of all processes of a program: those that are known, and their children.
    fn present(&self, number: usize) -> Vec<i32> {
        let mut processes: Vec<i32> = self.programs.get(&number).map(|program| program.pid).into_iter().collect();
        processes.extend(
            self.tasks
                .iter()
                .filter(|(_, task)| task.program == number)
                .filter_map(|(tid, _)| observe::kin(*tid).map(|(process, _)| process)),
        );
        processes.extend(self.orphans(number));
        let mut threads = Vec::new();
        let mut seen = HashSet::new();
        while let Some(pid) = processes.pop() {
            if !seen.insert(pid) {
                continue;
            }
            for tid in observe::threads(pid) {
                threads.push(tid);
                processes.extend(observe::children(pid, tid));
            }
        }
        threads
    }

    /// Processes of a program that have become this process's children, as their parents have ended. One that has ended itself has
    /// no environment any more.
    fn orphans(&self, number: usize) -> Vec<i32> {
        let Some(program) = self.programs.get(&number) else { return Vec::new() };
        let is_known = |pid: &i32| self.tasks.get(pid).is_some_and(|task| task.program == number);
        let mut orphans = observe::own_children();
        let is_marked = |pid: &i32| observe::variable(*pid, MARK).is_some_and(|mark| mark == program.mark);
        orphans.retain(|pid| *pid != program.pid && (is_known(pid) || is_marked(pid)));
        // Those that have ended are waited for here.
        orphans.retain(|pid| !matches!(wait::child(*pid), Ok(Some((status, _))) if !libc::WIFSTOPPED(status)));
        orphans
    }
}
