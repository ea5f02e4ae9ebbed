use std::thread;
use std::time::Duration;

use super::*;
use crate::tests::{together, watch};

/// What each worker does of them: a few milliseconds, or minutes where each wait for the mutex is one for a busy CPU; fewer where they are
/// interpreted.
const STEPS: u64 = if cfg!(miri) { 150 } else { 3_000 };

/// At no time are more units out than there are, and in the end all are back, whichever worker returned them.
#[track_caller]
fn check<C: Limited>() {
    const WORKERS: usize = 8;
    for units in [1, 5, 40, 300] {
        let (counter, out) = (C::with_units(units, WORKERS), AtomicU64::new(0));
        let serve = |rank: usize| {
            let (mut held, mut most) = (0_u64, 0);
            for step in 0..STEPS {
                // The length of a burst differs between workers, so the bursts overlap in every way.
                if (step / (20 + 7 * rank as u64)).is_multiple_of(2) {
                    if counter.take(rank, &mut 0) {
                        held += 1;
                        most = most.max(out.fetch_add(1, Ordering::Relaxed) + 1);
                    }
                } else if held > 0 {
                    held -= 1;
                    out.fetch_sub(1, Ordering::Relaxed);
                    counter.give(rank + step as usize % 2);
                }
            }
            out.fetch_sub(held, Ordering::Relaxed);
            (0..held).for_each(|_| counter.give(rank));
            most
        };
        let most = together(WORKERS, serve).into_iter().max().unwrap_or(0);
        assert!(most <= units, "{}: {most} of {units}", C::VARIANT);
        assert_eq!(counter.free(), units, "{}", C::VARIANT);
        // A single thread reaches the limit exactly.
        let taken = (0..).take_while(|&i| counter.take(i % WORKERS, &mut 0)).count() as u64;
        assert_eq!((taken, counter.free()), (units, 0), "{}", C::VARIANT);
    }
}

#[test]
fn no_more_than_the_limit_is_ever_out() {
    check::<CachePadded<Mutex<u64>>>();
    check::<Global>();
    check::<Sharded>();
}

/// A take that finds the mutex taken is a wait; one that comes late is tried again against a longer hold.
#[test]
fn a_mutex_that_is_taken_is_waited_for() {
    let counter = &CachePadded::new(Mutex::new(9));
    let mut waits = 0;
    assert!(counter.take(0, &mut waits) && waits == 0);
    let waits_for = |held: Duration| {
        let holds = counter.lock();
        thread::scope(|scope| {
            let taker = scope.spawn(|| {
                let mut waits = 0;
                counter.take(1, &mut waits);
                waits
            });
            thread::sleep(held);
            drop(holds);
            taker.join().unwrap()
        })
    };
    assert!((0..8).any(|power| waits_for(Duration::from_millis(4_u64.pow(power))) == 1));
}

/// A unit that was kept or made up voids the run.
#[track_caller]
fn check_noticed<C: Limited>() {
    let counter = Arc::new(C::with_units(BURST, 1));
    let mut worker = Taker::new("test", Arc::clone(&counter), BURST, 0, [0, 0]);
    let watch = watch(Some(Duration::from_micros(200)));
    assert!(worker.run(&watch).ops.0.is_multiple_of(BURST));
    assert_eq!(worker.verify(), Ok(()));
    assert!(counter.take(0, &mut 0));
    assert!(matches!(worker.verify(), Err(Error::Wrong(_))));
    counter.give(0);
    assert_eq!(worker.verify(), Ok(()));
}

#[test]
fn a_unit_that_is_missing_is_noticed() {
    check_noticed::<CachePadded<Mutex<u64>>>();
    check_noticed::<Global>();
    check_noticed::<Sharded>();
}
