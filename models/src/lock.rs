//! The locks: mutual exclusion, order, and that no waiter is left behind, as models; and the bugs that they catch.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::explore;
use crate::primitives::{self, Finally, OwnStrands, Spin, WaitStats};

/// What refuses a lock; none of these does.
type Error = &'static str;

/// The interface of the locks, so the models take any copy of any of them.
trait Lock: Sized + Send + Sync + 'static {
    fn new(workers: usize) -> Result<Self, Error>;
    fn with<R>(
        &self,
        rank: usize,
        strands: Option<&OwnStrands>,
        stats: &mut WaitStats,
        section: impl FnOnce() -> R,
    ) -> R;
}

/// A lock that serves in the order in which workers came.
trait Queue: Lock {
    fn last(&self) -> u32;
}

/// Takes copies of a lock in, each as a module of its own.
macro_rules! copies {
    ($($lock:ident $type:ident: $($name:ident)*;)*) => { $(
        mod $lock { $(
            pub(super) mod $name {
                #[allow(unused_imports, reason = "not every lock is a queue")]
                use super::super::{Error, Finally, Lock, WaitStats, Queue, primitives};

                #[allow(dead_code, unused, clippy::all, reason = "a copy is used as far as the models need it")]
                mod copy {
                    include!(concat!(env!("OUT_DIR"), "/", stringify!($lock), "/", stringify!($name), ".rs"));
                }

                pub(crate) use copy::$type as Copy;
            }
        )* }
    )* };
}

copies! {
    tas Tas: faithful looks_and_then_takes taking_sees_nothing giving_publishes_nothing is_not_given_back;
    backoff TasBackoff: faithful looks_and_then_takes taking_sees_nothing giving_publishes_nothing is_not_given_back;
    ttas Ttas: faithful looks_and_then_takes taking_sees_nothing giving_publishes_nothing is_not_given_back;
    ticket Ticket: faithful draws_a_number_twice being_called_sees_nothing calling_publishes_nothing calls_two;
    mcs Mcs: faithful joining_sees_nothing its_turn_sees_nothing telling_publishes_nothing leaving_publishes_nothing
        waits_after_it_was_told leaves_a_waiter_behind never_hands_over remembers_the_last_next;
    clh Clh: faithful joining_publishes_nothing joining_sees_nothing its_turn_sees_nothing giving_publishes_nothing
        keeps_its_place is_not_given_back;
}

/// What a lock guards: a number that is changed in two steps, which a thread in between would spoil, and relaxed, so
/// the next holder sees a stale one unless the lock orders the one behind the other.
struct Guarded<L> {
    lock: L,
    number: AtomicUsize,
}

impl<L: Lock> Guarded<L> {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Guarded { lock: L::new(workers).expect("none is refused"), number: AtomicUsize::new(0) })
    }

    /// Adds one under the lock.
    fn add(&self, rank: usize) {
        self.look_and_add(rank);
    }

    /// The same, and tells what the number was.
    fn look_and_add(&self, rank: usize) -> usize {
        self.lock.with(rank, None, &mut WaitStats::default(), || {
            let seen = self.number.load(Ordering::Relaxed);
            self.number.store(seen + 1, Ordering::Relaxed);
            seen
        })
    }
}

/// So many workers, each of which takes the lock so many times, keep out of each other's way, and all come to an end.
fn excludes<L: Lock>(workers: usize, rounds: usize) {
    explore(move || {
        let guarded = Guarded::<L>::new(workers);
        let others: Vec<_> = (1..workers)
            .map(|rank| {
                let guarded = Arc::clone(&guarded);
                thread::spawn(move || (0..rounds).for_each(|_| guarded.add(rank)))
            })
            .collect();
        (0..rounds).for_each(|_| guarded.add(0));
        for other in others {
            other.join().expect("a worker panicked");
        }
        assert_eq!(guarded.look_and_add(0), workers * rounds, "two were under the lock at once");
    });
}

/// Who came first is served first.
fn serves_in_order<Q: Queue>() {
    explore(|| {
        let guarded = Guarded::<Q>::new(3);
        let workers: Vec<_> = guarded.lock.with(0, None, &mut WaitStats::default(), || {
            let join = |rank| {
                let (before, guarded) = (guarded.lock.last(), Arc::clone(&guarded));
                let worker = thread::spawn({
                    let guarded = Arc::clone(&guarded);
                    move || guarded.look_and_add(rank)
                });
                let mut spin = Spin::start();
                while guarded.lock.last() == before {
                    spin.turn(None);
                }
                worker
            };
            [2, 1].map(join).into()
        });
        let served: Vec<_> = workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).collect();
        assert_eq!(served, [0, 1], "who came later was served first");
    });
}

/// Two workers that come back, and three that come once.
fn keeps_its_promises<L: Lock>() {
    excludes::<L>(2, 2);
    excludes::<L>(3, 1);
}

#[test]
fn tas_keeps_its_promises() {
    keeps_its_promises::<tas::faithful::Copy>();
}

#[test]
fn backoff_keeps_its_promises() {
    keeps_its_promises::<backoff::faithful::Copy>();
}

#[test]
fn ttas_keeps_its_promises() {
    keeps_its_promises::<ttas::faithful::Copy>();
}

#[test]
fn ticket_keeps_its_promises() {
    keeps_its_promises::<ticket::faithful::Copy>();
    serves_in_order::<ticket::faithful::Copy>();
}

#[test]
fn mcs_keeps_its_promises() {
    keeps_its_promises::<mcs::faithful::Copy>();
    serves_in_order::<mcs::faithful::Copy>();
}

#[test]
fn clh_keeps_its_promises() {
    keeps_its_promises::<clh::faithful::Copy>();
    serves_in_order::<clh::faithful::Copy>();
}

/// Tests that the same models catch a bug, and catch it as what it is.
macro_rules! caught {
    ($($lock:ident { $($bug:ident: $what:literal)* })*) => { $(
        mod $lock { $(
            #[test]
            #[should_panic(expected = $what)]
            fn $bug() {
                super::super::keeps_its_promises::<super::super::$lock::$bug::Copy>();
            }
        )* }
    )* };
}

/// Two under the lock, or one that does not see what the last did.
mod bugs {
    caught! {
        tas {
            looks_and_then_takes: "two were under the lock"
            taking_sees_nothing: "two were under the lock"
            giving_publishes_nothing: "two were under the lock"
            is_not_given_back: "maximum number of branches"
        }
        backoff {
            looks_and_then_takes: "two were under the lock"
            taking_sees_nothing: "two were under the lock"
            giving_publishes_nothing: "two were under the lock"
            is_not_given_back: "maximum number of branches"
        }
        ttas {
            looks_and_then_takes: "two were under the lock"
            taking_sees_nothing: "two were under the lock"
            giving_publishes_nothing: "two were under the lock"
            is_not_given_back: "maximum number of branches"
        }
        ticket {
            draws_a_number_twice: "two were under the lock"
            being_called_sees_nothing: "two were under the lock"
            calling_publishes_nothing: "two were under the lock"
            calls_two: "maximum number of branches"
        }
        mcs {
            joining_sees_nothing: "two were under the lock"
            its_turn_sees_nothing: "two were under the lock"
            telling_publishes_nothing: "two were under the lock"
            leaving_publishes_nothing: "two were under the lock"
            waits_after_it_was_told: "maximum number of branches"
            leaves_a_waiter_behind: "maximum number of branches"
            never_hands_over: "maximum number of branches"
            remembers_the_last_next: "maximum number of branches"
        }
        clh {
            joining_publishes_nothing: "two were under the lock"
            joining_sees_nothing: "two were under the lock"
            its_turn_sees_nothing: "two were under the lock"
            giving_publishes_nothing: "two were under the lock"
            keeps_its_place: "maximum number of branches"
            is_not_given_back: "maximum number of branches"
        }
    }
}
