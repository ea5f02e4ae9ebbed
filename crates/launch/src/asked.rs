//! Programs that ask which CPUs they may use: whoever asks is shown all seats of its program, though it is bound to its own.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::crew::Crew;
use crate::sys::notify::{Affinity, Listener, Question};

/// What a program asks, and what it is shown.
#[derive(Debug)]
pub struct Asked {
    listener: Listener,
    /// Whether more can be shown than the system would.
    pub shows: bool,
    /// All seats, by OS id.
    seats: Vec<u32>,
    /// Threads that have set their own CPUs: they are shown these.
    pub chosen: HashSet<i32>,
}

impl Asked {
    pub fn new(listener: Listener, shows: bool, seats: Vec<u32>) -> Self {
        Asked { listener, shows, seats, chosen: HashSet::new() }
    }

    pub fn end(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// `is_own`: whether it is asked of a thread that is known to be the program's.
    fn answer(&mut self, question: &Question, is_own: impl FnOnce(i32) -> bool) {
        match question.of {
            Affinity::Get(of, ..) => {
                let of = if of == 0 { question.tid } else { of };
                match self.shows && !self.chosen.contains(&of) && (of == question.tid || is_own(of)) {
                    true => self.listener.show(question, &self.seats),
                    false => self.listener.pass(question),
                }
            }
            Affinity::Set(of) => {
                self.chosen.insert(if of == 0 { question.tid } else { of });
                self.listener.pass(question);
            }
        }
    }
}

impl Crew {
    /// Answers a program whose listener is readable. One that can ask no more has no listener any more.
    pub(crate) fn answer(&mut self, number: usize) -> io::Result<()> {
        let Some(program) = self.programs.get_mut(&number) else { return Ok(()) };
        let Some(asked) = &mut program.asked else { return Ok(()) };
        let mut ends = [PollFd::new(&asked.listener, PollFlags::IN)];
        // All that asked have gone, and what was readable with them.
        let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_open = poll(&mut ends, Some(&nothing)).is_ok() && !ends[0].revents().contains(PollFlags::HUP);
        let is_asked = ends[0].revents().contains(PollFlags::IN);
        if !is_open {
            program.asked = None;
            return Ok(());
        }
        if is_asked && let Some(question) = asked.listener.ask()? {
            asked.answer(&question, |of| self.tasks.get(&of).is_some_and(|task| task.program == number));
            program.stops += 1;
        }
        Ok(())
    }
}
