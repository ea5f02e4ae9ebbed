//! Programs that ask which CPUs they may use: a thread that asks is shown all seats of its program, though it is bound to its own.

use std::collections::HashSet;

use crate::sys::notify::{Affinity, Listener, Question};

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

    /// `is_own`: whether it is asked of a thread that is known to be the program's.
    pub fn answer(&mut self, question: &Question, is_own: impl FnOnce(i32) -> bool) {
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
