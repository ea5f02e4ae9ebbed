use std::thread;

use charz_data::Params;

use super::*;
use crate::watch::Stop;

/// What each worker does of them: fewer where they are interpreted.
const STEPS: u64 = if cfg!(miri) { 150 } else { 20_000 };

/// Never are more units out than there are, and in the end all are back, whoever gives back whose.
#[track_caller]
fn check<C: Counter>(kernel: &CounterKernel<C>) {
    const WORKERS: usize = 8;
    for units in [1, 5, 40, 300] {
        let (counter, out) = ((kernel.make)(units, WORKERS), AtomicU64::new(0));
        let serve = |rank: usize| {
            let (mut held, mut most) = (0_u64, 0);
            for step in 0..STEPS {
                // Bursts of a length that differs from worker to worker, so that they meet in every way.
                if (step / (20 + 7 * rank as u64)).is_multiple_of(2) {
                    if counter.take(rank) {
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
        let serve = &serve;
        let most = thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS).map(|rank| scope.spawn(move || serve(rank))).collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker panicked")).max()
        });
        let most = most.unwrap_or(0);
        assert!(most <= units, "{}: {most} of {units}", &*kernel.card.name);
        assert_eq!(counter.free(), units, "{}", &*kernel.card.name);
        // The limit is met when nobody else is about.
        let taken = (0..).take_while(|&i| counter.take(i % WORKERS)).count() as u64;
        assert_eq!((taken, counter.free()), (units, 0), "{}", &*kernel.card.name);
    }
}

#[test]
fn no_more_than_the_limit_is_ever_out() {
    check(&COUNTER_MUTEX);
    check(&COUNTER_ATOMIC);
    check(&COUNTER_SHARDED);
}

/// A unit that was kept or invented voids the run.
#[track_caller]
fn check_noticed<C: Counter>(kernel: &CounterKernel<C>) {
    let params = Params { span_ns: 200_000, ..Params::SMALL };
    let units = BURST;
    let counter = Arc::new((kernel.make)(units, 1));
    let stage = Counting {
        name: "test",
        variant: kernel.variant,
        units,
        span: params.span(),
        sections: [0, 0],
        counter: Arc::clone(&counter),
    };
    let mut worker = stage.worker(0).unwrap();
    let watch = Watch::new(&Stop::new());
    watch.begin(stage.span());
    assert!(worker.run(&watch).ops.0.is_multiple_of(BURST));
    assert_eq!(worker.verify(), Ok(()));
    assert!(counter.take(0));
    assert!(matches!(worker.verify(), Err(Error::Wrong(_))));
    counter.give(0);
    assert_eq!(worker.verify(), Ok(()));
}

#[test]
fn a_unit_that_is_missing_is_noticed() {
    check_noticed(&COUNTER_MUTEX);
    check_noticed(&COUNTER_ATOMIC);
    check_noticed(&COUNTER_SHARDED);
}
