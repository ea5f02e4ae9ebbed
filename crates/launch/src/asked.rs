//! Programs that ask which CPUs they may use: a thread that asks is shown all seats of its program, though it is bound to its own.

use std::collections::HashSet;

use crate::sys::affinity;
use crate::sys::notify::{Listener, Question};

/// What a program asks, and what it is shown.
#[derive(Debug)]
pub struct Asked {
    pub listener: Listener,
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

    /// `seat`: the CPUs of a thread that is known to be the program's.
    pub fn answer<'a>(&mut self, question: &Question, seat: impl FnOnce(i32) -> Option<&'a [u32]>) {
        let of = question.of;
        if question.sets {
            // What is set again as it was shown, as hwloc and Open MPI do that try CPUs out, was not chosen.
            let is_again = self.shows && question.cpus().is_some_and(|cpus| cpus == self.seats);
            if is_again && seat(of).is_some_and(|cpus| affinity::set(of, cpus).is_ok()) {
                self.chosen.remove(&of);
                return self.listener.agree(question);
            }
            self.chosen.insert(of);
        } else if self.shows && !self.chosen.contains(&of) && (of == question.tid || seat(of).is_some()) {
            return self.listener.show(question, &self.seats);
        }
        self.listener.pass(question);
    }
}
