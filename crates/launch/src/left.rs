//! What outlives a program that is not followed, or the process that started it.

use std::collections::HashSet;
use std::io::PipeWriter;
use std::thread;
use std::time::{Duration, Instant};

use charz_data::Follow;

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpid, kill_process_group, set_child_subreaper, test_kill_process_group,
    waitpgid,
};

use crate::observe;
use crate::program::{MARK, Program};
use crate::sys::{signals, wait};

/// From one look at what is to end to the next.
const LOOK: Duration = Duration::from_millis(2);
/// How long killed processes may take to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// From now on, processes whose parents have ended become children of this process, which finds them there.
pub fn adopt_orphans() {
    // Without it those are missed that lose their parents before they are found.
    let _ = set_child_subreaper(Some(getpid()));
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
    patience: Duration,
    /// Closed, it kills the group.
    _tether: PipeWriter,
}

impl Left {
    pub(crate) fn new(group: i32, mark: &str, patience: Duration, tether: PipeWriter) -> Self {
        Left { group: Pid::from_raw(group), mark: mark.to_owned(), patience, _tether: tether }
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
            let adopted = adopted(|mark| mark == self.mark);
            for pid in &adopted {
                if told.insert(*pid) || late {
                    signals::send(*pid, if late { Signal::KILL } else { Signal::TERM });
                }
            }
            told.iter().for_each(|pid| drop(wait::child(*pid)));
            self.look();
            if self.group.is_none() && adopted.is_empty() || begun.elapsed() >= self.patience + PATIENCE {
                break;
            }
            thread::sleep(LOOK);
        }
    }
}

/// Kills what the crews of another process have left running, one with this number that has ended: as far as this process
/// [adopts](adopt_orphans) it.
pub fn kill_left_by(process: u32) {
    let (until, prefix) = (Instant::now() + PATIENCE, format!("{process}."));
    loop {
        let left = adopted(|mark| mark.starts_with(&prefix));
        left.iter().for_each(|pid| signals::send(*pid, Signal::KILL));
        if left.is_empty() || Instant::now() >= until {
            break;
        }
        thread::sleep(LOOK);
        left.iter().for_each(|pid| drop(wait::child(*pid)));
    }
}

impl Program {
    /// The processes that it left running, of one that is not followed, has ended, and nothing else stands for: those of its group, and
    /// those with its mark. When the last of them is seen to have ended, that is its end.
    pub fn remains(&mut self) -> Vec<i32> {
        if self.following.by != Follow::None || self.tether.is_none() {
            return Vec::new();
        }
        while let Some(used) = wait::one_of_group(self.pid) {
            self.lost(used);
        }
        let remains = of_program(self.pid, &self.mark);
        if !remains.is_empty() || self.leaving.is_some() {
            self.last = Some(Instant::now());
        }
        remains
    }
}

/// The processes of a program that has ended, as far as this process [adopts](adopt_orphans) them: those of its group, and those with its mark.
fn of_program(group: i32, mark: &str) -> Vec<i32> {
    let mut children = observe::own_children();
    let is_of_group = |pid: i32| Pid::from_raw(pid).is_some_and(|pid| getpgid(Some(pid)).ok() == Pid::from_raw(group));
    children.retain(|pid| is_of_group(*pid) || observe::variable(*pid, MARK).is_some_and(|own| own == mark));
    children
}

/// The children of this process that a crew has started, by the mark of their program. One that has ended has no environment any more.
fn adopted(is_of: impl Fn(&str) -> bool) -> Vec<i32> {
    let mut children = observe::own_children();
    children.retain(|pid| observe::variable(*pid, MARK).is_some_and(|mark| is_of(&mark)));
    children
}
