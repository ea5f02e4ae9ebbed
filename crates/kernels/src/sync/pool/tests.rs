use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};
use std::time::Duration;
use std::{iter, thread};

use super::super::mutexes::{ParkingLot, Pthread, Std};
use super::kernel::{Shared, Taker};
use super::*;
use crate::kernel::Worker;
use crate::tests::{Lap, Look, check_awake, laps, watch};

const SPAN: Duration = Duration::from_millis(if cfg!(miri) { 100 } else { 20 });

const MANY: u32 = if cfg!(miri) { 3 } else { 8 };

fn shared<P: Pool>(workers: usize, items: u32) -> Arc<Shared<P>> {
    Arc::new(Shared::new("a pool", workers, items).expect("none is refused"))
}

fn taker<P: Pool>(shared: &Arc<Shared<P>>, rank: usize) -> Box<dyn Worker> {
    Box::new(Taker::new(Arc::clone(shared), rank, [3, 5]).expect("its first hand"))
}

/// More workers than strands, more workers than items, and one by itself: nothing is lost, and nothing fixtures.
#[track_caller]
fn check_conserves<P: Pool>() {
    for (workers, items) in [(1, 1), (MANY, MANY), (MANY, 2)] {
        let workers = workers as usize;
        let shared = shared::<P>(workers, items);
        // Every other run is cut short.
        let look = |_, run| Look::whole(Some(if run % 2 == 0 { SPAN } else { SPAN / 50 }));
        let laps = laps(workers, if cfg!(miri) { 2 } else { 4 }, |rank| taker(&shared, rank), look);
        // An interpreter may need all of the time to begin.
        assert!(cfg!(miri) || laps.iter().flatten().any(|lap| lap.work.ops.0 > 0));
        for Lap { work, contention, verdict, .. } in laps.into_iter().flatten() {
            verdict.expect("nothing is lost");
            let stats = contention.expect("takes are counted");
            assert!(stats.attempts >= 2 * work.ops.0, "{work:?} {stats:?}");
            assert!(stats.waits <= 2 * work.ops.0 + 1, "{work:?} {stats:?}");
            assert!(stats.failures == 0 || stats.waits > 0, "{stats:?}");
        }
    }
}

/// What was tampered with between two runs is noticed by every worker, and told once put right again.
#[track_caller]
fn check_notices<P: Pool>() {
    let shared = shared::<P>(2, 2);
    let mut workers = [0, 1].map(|rank| taker(&shared, rank));
    let mut run = |tamper: &dyn Fn()| -> Vec<Result<(), Error>> {
        for worker in &mut workers {
            worker.prepare();
            worker.run(&watch(Some(SPAN / 50)));
        }
        tamper();
        workers.iter_mut().map(|worker| worker.verify()).collect()
    };
    let uses = &shared.uses[1];
    let change = |by: u64| uses.store(uses.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    let told = |verdicts: Vec<Result<(), Error>>, part: &str| {
        for verdict in verdicts {
            assert!(matches!(&verdict, Err(Error::Wrong(told)) if told.contains(part)), "{part}: {verdict:?}");
        }
    };
    assert_eq!(run(&|| ()), [Ok(()), Ok(())]);
    told(run(&|| change(1)), "items were held");
    assert_eq!(run(&|| change(u64::MAX)), [Ok(()), Ok(())]);
}

/// Who waits for a lock does not sleep while the lock is held for 0.1 s, on a machine with a strand for each.
#[track_caller]
fn check_waits_awake<L: Lock>() {
    let (pool, gate) = (Guarded::<L>::new(2, 1).expect("none is refused"), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let none_yet = || {
                gate.wait();
                gate.wait();
                None
            };
            pool.fill(iter::from_fn(none_yet));
        });
        gate.wait();
        let waits = || assert_eq!(pool.take(&mut pool.hand(1).expect("its first"), &mut WaitStats::default()), None);
        check_awake(waits, || _ = gate.wait());
    });
}

#[test]
fn workers_with_a_strand_each_do_not_sleep() {
    // Two workers have no strand each on a machine with one.
    if primitives::strands() > 1 {
        check_waits_awake::<lock::Tas>();
        check_waits_awake::<lock::TasBackoff>();
        check_waits_awake::<lock::Ttas>();
        check_waits_awake::<lock::Ticket>();
        check_waits_awake::<lock::Mcs>();
        check_waits_awake::<lock::Clh>();
    }
}

/// Has each pool checked in a test of its own.
macro_rules! pools_of {
    ($($name:ident: $pool:ty;)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn conserves() {
                check_conserves::<$pool>();
            }

            #[test]
            fn notices() {
                check_notices::<$pool>();
            }
        }
    )* };
}

pools_of! {
    tas: Guarded<lock::Tas>;
    tas_backoff: Guarded<lock::TasBackoff>;
    ttas: Guarded<lock::Ttas>;
    ticket: Guarded<lock::Ticket>;
    mcs: Guarded<lock::Mcs>;
    clh: Guarded<lock::Clh>;
    treiber: Treiber<AtOnce>;
    treiber_backoff: Treiber<Backoff>;
    std_mutex: Guarded<Parked<Std>>;
}

// What is not ours is not for the interpreter to judge, and it does not know all that they are made of.
#[cfg(not(miri))]
pools_of! {
    parking: Guarded<Parked<ParkingLot>>;
    pthread: Guarded<Parked<Pthread<false>>>;
    pthread_adaptive: Guarded<Parked<Pthread<true>>>;
    array_queue: Array;
    seg_queue: Segments;
    deque: Deque;
}
