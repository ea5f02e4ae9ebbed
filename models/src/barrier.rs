//! The barriers that spin: no party leaves before all have arrived, as models; and the bugs that they catch.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::explore;
use crate::primitives;

/// The interface of the barriers, so the models take any copy of either.
trait Barrier: Send + Sync + 'static {
    fn new(parties: u32) -> Self;
    /// `own` is what a party keeps for itself, false at first.
    fn meet(&self, own: &mut bool);
}

/// Takes copies of the two in, each as a module with both.
macro_rules! copies {
    ($($name:ident)*) => { $(
        mod $name {
            use super::primitives;

            #[allow(dead_code, unused, clippy::all, reason = "a copy is used as far as the models need it")]
            mod copy {
                include!(concat!(env!("OUT_DIR"), "/barrier/", stringify!($name), ".rs"));
            }

            #[allow(unused_imports, reason = "a bug is in one of the two")]
            pub(super) use copy::{Central, Sense};

            impl super::Barrier for Central {
                fn new(parties: u32) -> Self {
                    Central::new(parties)
                }

                fn meet(&self, _own: &mut bool) {
                    self.wait(false);
                }
            }

            impl super::Barrier for Sense {
                fn new(parties: u32) -> Self {
                    Sense::new(parties)
                }

                fn meet(&self, own: &mut bool) {
                    self.wait(own, false);
                }
            }
        }
    )* };
}

copies! {
    faithful
    central_lets_the_first_pass central_arriving_publishes_nothing central_arriving_sees_nothing
    central_arrives_in_two_steps central_cannot_be_used_again central_changing_publishes_nothing
    central_leaving_sees_nothing central_lets_pass_and_then_counts central_looks_too_late
    sense_arriving_publishes_nothing sense_arriving_sees_nothing sense_is_not_turned sense_cannot_be_used_again
    sense_turning_publishes_nothing sense_leaving_sees_nothing sense_lets_pass_and_then_counts
}

/// So many parties meet so often. Before each episode a party marks its place, relaxed, so one who reads it behind the
/// barrier sees a stale mark unless the barrier orders the one behind the other.
fn all_meet<B: Barrier>(parties: usize, episodes: usize) {
    explore(move || {
        let barrier = Arc::new((B::new(parties as u32), (0..parties).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>()));
        let part = move |meeting: &(B, Vec<AtomicUsize>), party: usize| {
            let (barrier, marks) = meeting;
            let mut own = false;
            for episode in 1..=episodes {
                marks[party].store(episode, Ordering::Relaxed);
                barrier.meet(&mut own);
                for mark in marks {
                    let mark = mark.load(Ordering::Relaxed);
                    // A party that is ahead has met the others, and waits for this party in the next episode.
                    assert!((episode..=episode + 1).contains(&mark), "a party left before all had arrived");
                }
            }
        };
        let others: Vec<_> = (1..parties)
            .map(|party| {
                let barrier = Arc::clone(&barrier);
                thread::spawn(move || part(&barrier, party))
            })
            .collect();
        part(&barrier, 0);
        for other in others {
            other.join().expect("a party panicked");
        }
    });
}

/// Two parties that come back twice, so the second sense is used up as well, and three that come back once.
fn keeps_its_promises<B: Barrier>() {
    all_meet::<B>(2, 3);
    all_meet::<B>(3, 2);
}

#[test]
fn central_keeps_its_promises() {
    keeps_its_promises::<faithful::Central>();
}

#[test]
fn sense_keeps_its_promises() {
    keeps_its_promises::<faithful::Sense>();
}

/// Tests that the same models catch a bug, and catch it as what it is.
macro_rules! caught {
    ($($type:ident { $($bug:ident: $what:literal)* })*) => { $( $(
        #[test]
        #[should_panic(expected = $what)]
        fn $bug() {
            super::keeps_its_promises::<super::$bug::$type>();
        }
    )* )* };
}

mod bugs {
    caught! {
        Central {
            central_lets_the_first_pass: "before all had arrived"
            central_arriving_publishes_nothing: "before all had arrived"
            central_arriving_sees_nothing: "before all had arrived"
            central_arrives_in_two_steps: "maximum number of branches"
            central_cannot_be_used_again: "maximum number of branches"
            central_changing_publishes_nothing: "before all had arrived"
            central_leaving_sees_nothing: "before all had arrived"
            central_lets_pass_and_then_counts: "maximum number of branches"
            central_looks_too_late: "maximum number of branches"
        }
        Sense {
            sense_arriving_publishes_nothing: "before all had arrived"
            sense_arriving_sees_nothing: "before all had arrived"
            sense_is_not_turned: "before all had arrived"
            sense_cannot_be_used_again: "maximum number of branches"
            sense_turning_publishes_nothing: "before all had arrived"
            sense_leaving_sees_nothing: "before all had arrived"
            sense_lets_pass_and_then_counts: "maximum number of branches"
        }
    }
}
