use charz_data::{Contention, Params};

use super::*;
use crate::tests::watch;

#[test]
fn iterations_are_shared_and_every_worker_gets_some() {
    let increments = |iterations, workers| {
        let params = Params { iterations, ..Params::SMALL };
        KERNELS[0].stage(&params, workers).map(|stage| stage.work().ops.0)
    };
    assert_eq!(increments(8_000, 1), Ok(1_000));
    assert_eq!(increments(8_000, 10), Ok(100));
    assert_eq!(increments(1, 4096), Ok(1));
    assert_eq!(increments(u64::MAX, 1), Ok(u64::MAX / 8));
}

#[test]
fn a_lost_increment_is_noticed_by_every_worker() {
    let shared = Arc::new(Shared::new(3));
    let mut workers = [0, 1, 2].map(|rank| Counter::new(Arc::clone(&shared), rank, 1000));
    for worker in &mut workers {
        worker.prepare();
        worker.run(&watch(None));
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
fn a_stretch_keeps_to_both_of_its_limits() {
    let counter = AtomicU64::new(u64::MAX);
    assert_eq!(increment(&counter, 5, 3), Contention { attempts: 3, ..Contention::default() });
    assert_eq!(increment(&counter, 2, 3), Contention { attempts: 2, ..Contention::default() });
    assert_eq!(counter.load(Ordering::Relaxed), 4, "it wraps");
}
