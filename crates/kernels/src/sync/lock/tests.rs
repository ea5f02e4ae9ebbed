use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::super::mutexes::{ParkingLot, Pthread, Std};
use super::*;
use crate::tests::together;

/// Sections that each worker does under a lock.
const SECTIONS: u64 = if cfg!(miri) { 20 } else { 2000 };

/// Eight workers change what only one may change at a time, and what they count adds up.
#[track_caller]
fn check_excludes<L: Lock>() {
    const WORKERS: usize = 8;
    let (lock, shared) = (L::new(WORKERS).unwrap(), AtomicU64::new(0));
    let serve = |rank| {
        let mut stats = WaitStats::default();
        for _ in 0..SECTIONS {
            lock.with(rank, None, &mut stats, || {
                // Two steps that anybody in between would spoil, as would who does not see the last.
                let seen = shared.load(Ordering::Relaxed);
                shared.store(seen + 1, Ordering::Relaxed);
            });
        }
        stats
    };
    let all_stats = together(WORKERS, serve);
    assert_eq!(shared.load(Ordering::Relaxed), WORKERS as u64 * SECTIONS);
    for stats in all_stats {
        assert_eq!(stats.attempts - stats.failures, SECTIONS);
        assert!(stats.waits <= SECTIONS && (stats.failures == 0 || stats.waits > 0), "{stats:?}");
    }
}

/// A worker by itself never waits, and one that panics leaves the lock free.
#[track_caller]
fn check_alone<L: Lock>() {
    let (lock, mut stats) = (L::new(2).unwrap(), WaitStats::default());
    for rank in [0, 1, 1, 0] {
        assert_eq!(lock.with(rank, None, &mut stats, || rank), rank);
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| lock.with(0, None, &mut stats, || panic!("on purpose"))));
    assert!(panicked.is_err());
    lock.with(1, None, &mut stats, || ());
    assert_eq!(stats, WaitStats { attempts: 6, ..WaitStats::default() });
}

/// Workers that arrive one after the other, while another worker holds the lock, are served in the order of arrival.
#[track_caller]
fn check_order<Q: Queue>() {
    const WORKERS: usize = 6;
    let (lock, served) = (Q::new(WORKERS).unwrap(), std::sync::Mutex::new(Vec::new()));
    let come = |rank| {
        let mut stats = WaitStats::default();
        lock.with(rank, None, &mut stats, || served.lock().unwrap().push(rank));
        stats
    };
    let all_stats: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = lock.with(0, None, &mut WaitStats::default(), || {
            let join = |rank| {
                let before = lock.last();
                let worker = scope.spawn(move || come(rank));
                while lock.last() == before {
                    thread::yield_now();
                }
                worker
            };
            // Downwards, which no lock serves by accident.
            (1..WORKERS).rev().map(join).collect()
        });
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(served.into_inner().unwrap(), [5, 4, 3, 2, 1]);
    assert!(all_stats.iter().all(|stats| (stats.attempts, stats.failures, stats.waits) == (1, 0, 1)), "{all_stats:?}");
}

/// Has each lock checked in a test of its own.
macro_rules! locks {
    ($($name:ident: $lock:ty;)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn excludes() {
                check_excludes::<$lock>();
            }

            #[test]
            fn is_free_when_no_worker_holds_it() {
                check_alone::<$lock>();
            }
        }
    )* };
}

locks! {
    tas: Tas;
    tas_backoff: TasBackoff;
    ttas: Ttas;
    ticket: Ticket;
    mcs: Mcs;
    clh: Clh;
    std_mutex: Parked<Std>;
    parking_lot_mutex: Parked<ParkingLot>;
}

// The interpreter has no mutexes of the C library's adaptive kind.
#[cfg(not(miri))]
locks! {
    pthread: Parked<Pthread<false>>;
    pthread_adaptive: Parked<Pthread<true>>;
}

#[test]
fn queues_serve_in_order() {
    check_order::<Ticket>();
    check_order::<Mcs>();
    check_order::<Clh>();
}

#[test]
fn numbers_of_tickets_wrap() {
    let lock = Ticket::near_the_end();
    let mut stats = WaitStats::default();
    (0..4).for_each(|_| lock.with(0, None, &mut stats, || ()));
    assert_eq!(stats.waits, 0);
}
