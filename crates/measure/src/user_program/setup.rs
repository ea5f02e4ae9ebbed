//! `--setup`: what is run before each run of a program.

use std::time::{Duration, Instant};

use charz_data::report::Ending;
use charz_data::units;
use charz_launch::{Children, Crew, Follow, Launch, Left, Streams, runtimes};

use super::output::Output;
use super::run::{Replica, Site, refused};
use crate::harness::{Failure, LEAST_DEADLINE};

/// How long what a set-up leaves running may take to end after SIGTERM: half of the time after which a supervisor ends this process.
const FAREWELL: Duration = Duration::from_millis(500);

/// The longest that a set-up may take before a run that may take so long.
pub(super) fn longest(time_box: Duration) -> Duration {
    time_box.saturating_add(LEAST_DEADLINE)
}

impl Site<'_> {
    /// Runs `--setup`, anywhere on the machine, with the variables of runtimes as the user has them. What it leaves running serves the runs
    /// that follow, and ends when it is dropped.
    pub(super) fn set_up(&self) -> Result<Option<Left>, Failure> {
        let Some(words) = &self.setup else { return Ok(None) };
        // Dropped after the crew: what still runs of the set-up itself has no farewell.
        let mut serving;
        let limit = longest(self.order.time_box);
        let until = Instant::now() + limit;
        let mut crew = Crew::new(Follow::None).map_err(|error| Failure::new(Ending::Refused, error.to_string()))?;
        let seats = self.order.seats;
        let count = (runtimes::SEATS.into(), Some(seats.len().to_string().into()));
        let launch =
            Launch { streams: Streams::Captured, output: None, ..self.unseated(words, seats, None, vec![count]) };
        // This process starts nothing else before the program, which has ended when this is dropped.
        let others = Children::now();
        let id = crew.start(&launch).map_err(|error| refused(&launch, &error))?;
        serving = crew.left(id, FAREWELL).map(|left| left.with_all_but(others));
        let mut copies = [Replica { id, output: Output::new(self.readers), ended: None, ignored: None }];
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
        serving.iter_mut().for_each(Left::look);
        Ok(serving)
    }
}
