use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;

use super::operation::{Cas, Cas128, Fence, FetchAdd, Load, Store, StoreSeqCst, Swap};
use super::*;
use crate::watch::Stop;

const LIES: [Lie; 4] = [Lie::Contended, Lie::FalseShared, Lie::Padded, Lie::Private];

fn repeating<O: Operation>(lie: Lie, workers: usize) -> Repeating<O> {
    let lines = lines(lie.place(workers - 1).0 + 1);
    let shared = Arc::new(Shared { lines, claims: (0..workers).map(|_| Claim::default()).collect() });
    Repeating { name: "test", span: Duration::from_micros(500), lie, shared }
}

/// So many workers make runs together; some of the runs are over before they begin. Every one is right, and every success was
/// an attempt.
#[track_caller]
fn check<O: Operation>() {
    if !O::Word::available() {
        return;
    }
    const WORKERS: usize = 6;
    for lie in LIES {
        let (stage, gate) = (repeating::<O>(lie, WORKERS), Barrier::new(WORKERS));
        let serve = |rank: usize| {
            let mut worker = stage.repeater(rank);
            let lap = |run: usize| {
                gate.wait();
                let stop = Stop::new();
                if (run + rank).is_multiple_of(4) {
                    stop.raise();
                }
                let watch = Watch::new(&stop);
                watch.begin(Some(stage.span));
                let ops = worker.run(&watch).ops.0;
                gate.wait();
                (ops, worker.contention(), worker.verify())
            };
            (0..8).map(lap).collect::<Vec<_>>()
        };
        let serve = &serve;
        let laps: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|rank| scope.spawn(move || serve(rank))).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("a worker panicked")).collect()
        });
        for (ops, stats, verdict) in laps {
            assert_eq!(verdict, Ok(()), "{lie:?}");
            assert_eq!(stats.map_or(ops, |stats| stats.successes()), ops, "{lie:?}");
            assert!(stats.is_none_or(|stats| stats.waits <= stats.failures), "{lie:?}: {stats:?}");
            assert!(stats.is_none_or(|stats| lie == Lie::Contended || stats.failures == 0), "{lie:?}: {stats:?}");
        }
    }
}

#[test]
fn every_operation_takes_place() {
    check::<Load>();
    check::<Store>();
    check::<StoreSeqCst>();
    check::<Fence>();
    check::<FetchAdd>();
    check::<Swap>();
    check::<Cas>();
    check::<Cas128>();
}

/// A word that holds something else after an honest run is noticed by all who have it.
#[track_caller]
fn check_noticed<O: Operation<Word = AtomicU64>>(lie: Lie) {
    let stage = repeating::<O>(lie, 3);
    let mut workers: Vec<_> = (0..3).map(|rank| stage.repeater(rank)).collect();
    for worker in &mut workers {
        let watch = Watch::new(&Stop::new());
        watch.begin(Some(stage.span));
        worker.run(&watch);
    }
    workers.iter_mut().for_each(|worker| worker.verify().expect("an honest run"));
    for planted in [1, u64::MAX] {
        let spoilt = workers[1].word();
        spoilt.fetch_add(planted, Ordering::Relaxed);
        let noticed = workers.iter_mut().map(|worker| matches!(worker.verify(), Err(Error::Wrong(_))));
        assert_eq!(noticed.collect::<Vec<_>>(), [lie == Lie::Contended, true, lie == Lie::Contended], "{lie:?}");
        workers[1].word().fetch_sub(planted, Ordering::Relaxed);
    }
}

#[test]
fn a_lost_or_invented_operation_is_noticed() {
    for lie in LIES {
        check_noticed::<Load>(lie);
        check_noticed::<Store>(lie);
        check_noticed::<FetchAdd>(lie);
        check_noticed::<Swap>(lie);
        check_noticed::<Cas>(lie);
    }
}

proptest! {
    /// Who has a word with whom, and who a line of 64 bytes.
    #[test]
    fn words_lie_as_they_are_called(ranks in prop::array::uniform2(0..40_usize)) {
        let [one, other] = ranks;
        for lie in LIES {
            let stage = repeating::<FetchAdd>(lie, 40);
            let workers = [stage.repeater(one), stage.repeater(other)];
            let [here, there] = [&workers[0], &workers[1]].map(|worker| std::ptr::from_ref(worker.word()) as usize);
            let alone = lie == Lie::Private;
            prop_assert_eq!(here == there, lie == Lie::Contended || (one == other && !alone));
            let lined = here / 64 == there / 64;
            prop_assert_eq!(lined, match lie {
                Lie::Contended => true,
                Lie::FalseShared => one / NEIGHBOURS == other / NEIGHBOURS,
                Lie::Padded => one == other,
                Lie::Private => false,
            });
        }
    }
}
