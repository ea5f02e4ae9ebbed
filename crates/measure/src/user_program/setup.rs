//! `--setup`: what is run before each run of a program.

use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use charz_data::report::Ending;
use charz_data::units;
use charz_launch::{Crew, Follow, Launch, Streams, runtimes};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::output::Output;
use super::run::{Replica, Site, refused};
use crate::harness::{Failure, LEAST_DEADLINE};

/// How long what a set-up leaves running may take to end after SIGTERM: half of the time after which a supervisor ends this process.
const FAREWELL: Duration = Duration::from_millis(500);

/// The longest that a set-up may take before a run that may take so long.
pub(super) fn longest(time_box: Duration) -> Duration {
    time_box.saturating_add(LEAST_DEADLINE)
}

/// What a set-up leaves running, which is ended when the runs that it serves have ended.
pub(super) struct Serving(());

/// Its process group; 0 where there is none. A process has one set-up at a time.
static GROUP: AtomicI32 = AtomicI32::new(0);

fn group() -> Option<Pid> {
    Pid::from_raw(GROUP.load(Ordering::Acquire))
}

/// Kills it, for a process that ends before it has been ended in order.
pub(crate) fn kill_serving() {
    let _ = group().map(|group| kill_process_group(group, Signal::KILL));
}

impl Drop for Serving {
    fn drop(&mut self) {
        let Some(group) = group() else { return };
        let until = Instant::now() + FAREWELL;
        // An error: there is nothing left of it.
        let mut left = kill_process_group(group, Signal::TERM);
        while left.is_ok() && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
            left = test_kill_process_group(group);
        }
        if left.is_ok() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        GROUP.store(0, Ordering::Release);
    }
}

impl Site<'_> {
    /// Runs `--setup`, anywhere on the machine, with the variables of runtimes as the user has them. What it leaves running serves the runs
    /// that follow.
    pub(super) fn set_up(&self) -> Result<Serving, Failure> {
        let serving = Serving(());
        let Some(words) = &self.setup else { return Ok(serving) };
        let limit = longest(self.order.time_box);
        let until = Instant::now() + limit;
        let mut crew = Crew::new(Follow::None).map_err(|error| Failure::new(Ending::Refused, error.to_string()))?;
        let seats = self.order.seats;
        let count = (runtimes::SEATS.into(), Some(seats.len().to_string().into()));
        let launch = Launch { streams: Streams::Captured, ..self.unseated(words, seats, None, vec![count]) };
        let id = crew.start(&launch).map_err(|error| refused(&launch, &error))?;
        GROUP.store(crew.pid(id).unwrap_or(0), Ordering::Release);
        let mut copies = [Replica { id, output: Output::new(self.readers), ended: None }];
        self.wait(&mut crew, &mut copies, until, "--setup").map_err(|failure| match failure.ending {
            Ending::TimedOut => {
                let time = units::duration(limit);
                Failure::new(
                    Ending::TimedOut,
                    format!("--setup did not end in {time}; a longer --run-timeout gives it more"),
                )
            }
            _ => failure,
        })?;
        // The system may give a number again that no process has.
        if group().is_some_and(|group| test_kill_process_group(group).is_err()) {
            GROUP.store(0, Ordering::Release);
        }
        Ok(serving)
    }
}
