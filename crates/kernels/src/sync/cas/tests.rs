use std::cell::RefCell;
use std::time::{Duration, Instant};

use charz_data::{Contention, Params};

use super::*;
use crate::watch::{Stop, Watch};

/// A worker that wins more often has no share that it could be done with early.
#[test]
fn a_worker_that_is_favoured_counts_until_the_time_is_over() {
    let stage = KERNELS[0].stage(&Params::SMALL, 2).unwrap();
    assert!(stage.span().is_some() && !stage.shares_work());
    let span = Duration::from_millis(2);
    let [first, second] = [0, 1].map(|rank| {
        let (begun, watch) = (Instant::now(), Watch::new(&Stop::new()));
        watch.begin(Some(span));
        let done = stage.worker(rank).unwrap().run(&watch).ops.0;
        (done, begun.elapsed())
    });
    assert!(first.0 > 0 && first.1 >= span && second.1 >= span, "{first:?} {second:?}");
}

#[test]
fn a_lost_increment_is_noticed_by_every_worker() {
    let shared = Arc::new(Shared::new(3));
    let mut workers = [0, 1, 2].map(|rank| Counter::new(Arc::clone(&shared), rank));
    for worker in &mut workers {
        worker.prepare();
        let watch = Watch::new(&Stop::new());
        watch.begin(Some(Duration::from_millis(1)));
        worker.run(&watch);
    }
    for planted in [&shared.counter, &shared.added[1]] {
        workers.iter_mut().for_each(|worker| worker.verify().expect("an honest run"));
        planted.fetch_sub(1, Ordering::Relaxed);
        for worker in &mut workers {
            assert!(matches!(worker.verify(), Err(Error::Wrong(_))), "worker {}", worker.rank);
        }
        planted.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_stretch_has_as_many_attempts_as_it_may() {
    let counter = AtomicU64::new(u64::MAX);
    let stats = repeat(3, &mut false, || increment(&counter));
    assert_eq!(stats, Contention { attempts: 3, ..Contention::default() });
    assert_eq!(counter.load(Ordering::Relaxed), 2, "it wraps");
}

/// Also one whose attempts are in two stretches.
#[test]
fn an_increment_waits_once_however_often_it_fails() {
    let outcomes = RefCell::new([true, false, false, false, true, true, false, true].into_iter());
    let mut retries = false;
    let mut stretch = || {
        let stats = repeat(4, &mut retries, || outcomes.borrow_mut().next().unwrap());
        (stats.failures, stats.waits)
    };
    assert_eq!([stretch(), stretch()], [(3, 1), (1, 1)]);
}
