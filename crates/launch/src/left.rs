//! What outlives a program that is not followed, or the process that started it.

use std::collections::HashSet;
use std::io::PipeWriter;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpid, kill_process_group, set_child_subreaper, test_kill_process_group,
    waitpgid,
};

use crate::observe;
use crate::program::{MARK, Program};
use crate::sys::{signals, tether, wait};

/// From one look at what is to end to the next.
const LOOK: Duration = Duration::from_millis(2);
/// How long killed processes may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// From now on, processes whose parents have ended become children of this process, which finds them there.
pub fn adopt_orphans() {
    // Without it those are missed that lose their parents before they are found.
    let _ = set_child_subreaper(Some(getpid()));
}

/// The children that this process had at one moment.
#[derive(Debug)]
pub struct Children(HashSet<i32>);

impl Children {
    /// Those of now.
    #[must_use]
    pub fn now() -> Self {
        Children(observe::own_children().into_iter().collect())
    }

    /// Those that it got since: what it started, and what it [adopts](adopt_orphans).
    fn since(&self) -> Vec<i32> {
        let mut children = observe::own_children();
        children.retain(|pid| !self.0.contains(pid));
        children
    }

    /// Kills those that it got since, and what these leave behind.
    pub fn kill_new(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            let new = self.since();
            new.iter().for_each(|pid| signals::send(*pid, Signal::KILL));
            if new.is_empty() || Instant::now() >= until {
                break;
            }
            thread::sleep(LOOK);
            new.iter().for_each(|pid| drop(wait::child(*pid)));
        }
    }
}

/// What a program leaves running that is not followed: the rest of its process group, and processes that left the group and lost their
/// parents, as far as this process [adopts](adopt_orphans) them. Dropping it ends all of that.
///
/// The system kills the group at the end of this process too, however that ends.
#[derive(Debug)]
pub struct Left {
    /// `None` once it was seen to be empty: the system may give its number again.
    group: Option<Pid>,
    mark: String,
    /// Set where all other children are the program's too.
    others: Option<Children>,
    patience: Duration,
    /// Closed, it kills the group.
    _tether: PipeWriter,
}

impl Left {
    pub(crate) fn new(group: i32, mark: &str, patience: Duration, tether: PipeWriter) -> Self {
        Left { group: Pid::from_raw(group), mark: mark.to_owned(), others: None, patience, _tether: tether }
    }

    /// Takes all children but these for the program's, also those without its mark: a daemon may clear its environment, or write its title
    /// over it. For a process that starts nothing else until it is dropped, or has ended it by then.
    #[must_use]
    pub fn with_all_but(mut self, others: Children) -> Self {
        self.others = Some(others);
        self
    }

    /// Children that are the program's. One that has ended has no mark.
    fn children(&self) -> Vec<i32> {
        match &self.others {
            Some(others) => others.since(),
            None => adopted(&self.mark),
        }
    }

    /// Takes note of it where nothing of the group is left: to be called when the program has ended.
    pub fn look(&mut self) {
        // Those of it that were adopted and have ended.
        while self.group.is_some_and(|group| matches!(waitpgid(group, WaitOptions::NOHANG), Ok(Some(_)))) {}
        self.group = self.group.filter(|group| test_kill_process_group(*group).is_ok());
    }

    fn signal_group(&self, with: Signal) {
        let _ = self.group.map(|group| kill_process_group(group, with));
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        let (begun, mut told) = (Instant::now(), HashSet::new());
        self.signal_group(Signal::TERM);
        loop {
            let late = begun.elapsed() >= self.patience;
            if late {
                self.signal_group(Signal::KILL);
            }
            // Before its children are listed: the last of it to end may leave one.
            self.look();
            let children = self.children();
            for pid in &children {
                if told.insert(*pid) || late {
                    signals::send(*pid, if late { Signal::KILL } else { Signal::TERM });
                }
            }
            // Waited for, they count as this process's own.
            told.iter().for_each(|pid| drop(wait::child(*pid)));
            if self.group.is_none() && children.is_empty() || begun.elapsed() >= self.patience + PATIENCE {
                break;
            }
            thread::sleep(LOOK);
        }
    }
}

impl Program {
    /// What is known of the processes that it left running, of one that is not followed, has ended, and nothing else stands for: those of its
    /// group, and those with its mark. `None` where there are no others either, which hold the tether: a process has no mark while it
    /// becomes another program, and may have cleared its environment. When the last of all is seen to have ended, that is the program's end.
    pub fn remains(&mut self) -> Option<Vec<i32>> {
        self.tether.as_ref()?;
        while let Some(used) = wait::one_of_group(self.pid) {
            self.lost(used);
        }
        let known = of_program(self.pid, &self.mark);
        let are_there = !known.is_empty() || self.held_tether().is_some();
        if are_there || self.leaving.is_some() {
            self.last = Some(Instant::now());
        }
        are_there.then_some(known)
    }

    /// The tether, if the program's first process has ended and another one holds it.
    pub fn held_tether(&self) -> Option<&PipeWriter> {
        self.tether.as_ref().filter(|tether| self.end.is_some() && tether::is_held(tether))
    }
}

/// The processes of a program that has ended, as far as this process [adopts](adopt_orphans) them: those of its group, and those with its mark.
fn of_program(group: i32, mark: &str) -> Vec<i32> {
    let mut children = observe::own_children();
    let is_of_group = |pid: i32| Pid::from_raw(pid).is_some_and(|pid| getpgid(Some(pid)).ok() == Pid::from_raw(group));
    children.retain(|pid| is_of_group(*pid) || observe::variable(*pid, MARK).is_some_and(|own| own == mark));
    children
}

/// The children of this process with this mark. One that has ended has no environment any more.
fn adopted(mark: &str) -> Vec<i32> {
    let mut children = observe::own_children();
    children.retain(|pid| observe::variable(*pid, MARK).is_some_and(|own| own == mark));
    children
}
