//! The gate of the harness: what it promises, as models, and its bugs that they catch.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::explore;

/// What the gate is built on here; in charz-measure `harness/sync.rs`.
mod sync {
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::yield_now;
}

/// The interface of the gate, so the models take any copy of it.
trait Barrier: Send + Sync + 'static {
    fn new(parties: usize, spinners: usize) -> Self;
    /// Whether all have arrived.
    fn arrive(&self) -> bool;
    fn spin_release(&self, round: usize);
    fn close(&self);
}

/// Takes copies of the gate in, each as a module with a type `Gate`.
macro_rules! copies {
    ($($name:ident)*) => { $(
        mod $name {
            use super::sync;

            #[allow(dead_code, unused_variables, clippy::all, reason = "a copy is used as far as the models need it")]
            mod copy {
                include!(concat!(env!("OUT_DIR"), "/gate/", stringify!($name), ".rs"));
            }

            pub(super) use copy::Gate;

            impl super::Barrier for Gate {
                fn new(parties: usize, spinners: usize) -> Self {
                    Gate::new(parties, spinners)
                }

                fn arrive(&self) -> bool {
                    Gate::arrive(self) == copy::Decision::Go
                }

                fn spin_release(&self, round: usize) {
                    Gate::spin_release(self, round);
                }

                fn close(&self) {
                    Gate::close(self);
                }
            }
        }
    )* };
}

copies! {
    faithful
    closes_without_the_lock closes_silently closing_wakes_one forgets_that_it_is_closed
    calls_back_who_has_passed the_last_wakes_one the_last_passes_alone lets_the_first_pass cannot_be_used_again
    rushes_once rushes_behind_a_closed_gate rushing_publishes_nothing rushing_sees_nothing
}

/// A gate, and for each party a place that it marks before the parties meet and that all look at behind it.
///
/// The marks are relaxed: a reader sees a stale one, unless the gate orders the look behind the mark.
struct Meeting<B> {
    gate: B,
    marks: Vec<AtomicUsize>,
}

impl<B: Barrier> Meeting<B> {
    /// A gate, and so many threads that do something with it.
    fn new(gate: B, threads: usize) -> Self {
        Meeting { gate, marks: (0..threads).map(|_| AtomicUsize::new(0)).collect() }
    }

    fn mark(&self, party: usize, round: usize) {
        self.marks[party].store(round, Ordering::Relaxed);
    }

    /// Looks whether all are in this round, or ahead by the one mark that nothing keeps them from.
    fn look(&self, round: usize) {
        for mark in &self.marks {
            let mark = mark.load(Ordering::Relaxed);
            assert!((round..=round + 1).contains(&mark), "a party passed early");
        }
    }

    /// Runs each party on a thread of its own, the last one on this thread, and gives the last marks.
    fn run(self, part: impl Fn(&Self, usize) + Copy + Send + 'static) -> Vec<usize> {
        let last = self.marks.len() - 1;
        let meeting = Arc::new(self);
        let others: Vec<_> = (0..last)
            .map(|party| {
                let meeting = Arc::clone(&meeting);
                thread::spawn(move || part(&meeting, party))
            })
            .collect();
        part(&meeting, last);
        for other in others {
            other.join().expect("a party panicked");
        }
        meeting.marks.iter().map(|mark| mark.load(Ordering::Relaxed)).collect()
    }
}

/// No thread passes before the last has arrived, all do then, and the gate can be used again.
fn all_meet<B: Barrier>() {
    let part = |meeting: &Meeting<B>, party| {
        for round in 1..=2 {
            meeting.mark(party, round);
            assert!(meeting.gate.arrive(), "the gate is open");
            meeting.look(round);
        }
    };
    explore(move || {
        Meeting::new(B::new(3, 0), 3).run(part);
    });
}

/// What is done before a spin_release is seen behind it, in each round.
fn all_rush<B: Barrier>() {
    let part = |meeting: &Meeting<B>, party| {
        for round in 1..=2 {
            assert!(meeting.gate.arrive(), "the gate is open");
            meeting.mark(party, round);
            meeting.gate.spin_release(round);
            meeting.look(round);
        }
    };
    explore(move || {
        Meeting::new(B::new(2, 2), 2).run(part);
    });
}

/// Closing wakes all who sleep and keeps out all who come later.
fn closing_ends_all<B: Barrier>() {
    let part = |meeting: &Meeting<B>, party| {
        if party == 2 {
            meeting.gate.close();
        }
        assert!(!meeting.gate.arrive(), "the gate is closed");
    };
    explore(move || {
        Meeting::new(B::new(3, 3), 3).run(part);
    });
}

/// Where closing meets the last arrival, all are told the same.
fn all_are_told_the_same<B: Barrier>() {
    let part = |meeting: &Meeting<B>, party| match party {
        2 => meeting.gate.close(),
        _ => meeting.mark(party, 1 + usize::from(meeting.gate.arrive())),
    };
    explore(move || {
        let told = Meeting::new(B::new(2, 0), 3).run(part);
        assert!(told[0] == told[1], "some passed, some did not");
    });
}

/// A spin_release ends where a party closes the gate instead of coming.
fn closing_ends_a_rush<B: Barrier>() {
    let part = |meeting: &Meeting<B>, party| match party {
        0 => meeting.gate.spin_release(1),
        _ => meeting.gate.close(),
    };
    explore(move || {
        Meeting::new(B::new(2, 2), 2).run(part);
    });
}

#[test]
fn the_gate_keeps_its_promises() {
    all_meet::<faithful::Gate>();
    all_rush::<faithful::Gate>();
    closing_ends_all::<faithful::Gate>();
    all_are_told_the_same::<faithful::Gate>();
    closing_ends_a_rush::<faithful::Gate>();
}

/// Tests that a model catches a bug, and catches it as what it is.
macro_rules! caught {
    ($($bug:ident by $model:ident: $what:literal)*) => { $(
        #[test]
        #[should_panic(expected = $what)]
        fn $bug() {
            $model::<$bug::Gate>();
        }
    )* };
}

caught! {
    closes_without_the_lock by closing_ends_all: "deadlock"
    closes_silently by closing_ends_all: "deadlock"
    closing_wakes_one by closing_ends_all: "deadlock"
    forgets_that_it_is_closed by closing_ends_all: "the gate is closed"
    calls_back_who_has_passed by all_are_told_the_same: "some passed, some did not"
    the_last_wakes_one by all_meet: "deadlock"
    the_last_passes_alone by all_meet: "deadlock"
    lets_the_first_pass by all_meet: "a party passed early"
    cannot_be_used_again by all_meet: "deadlock"
    rushes_once by all_rush: "a party passed early"
    rushes_behind_a_closed_gate by closing_ends_a_rush: "maximum number of branches"
    rushing_publishes_nothing by all_rush: "a party passed early"
    rushing_sees_nothing by all_rush: "a party passed early"
}
