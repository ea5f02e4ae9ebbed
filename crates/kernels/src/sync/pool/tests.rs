use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use charz_data::{Contention, Work};

use super::super::mutexes::{ParkingLot, Pthread, Std};
use super::kernel::{Pooled, Shared};
use super::*;
use crate::kernel::Stage;
use crate::watch::{Stop, Watch};

const SPAN: Duration = Duration::from_millis(if cfg!(miri) { 100 } else { 20 });

const MANY: u32 = if cfg!(miri) { 3 } else { 8 };

fn pooled<P: Pool>(workers: usize, items: u32) -> Pooled<P> {
    let shared = Shared::new("a pool", workers, items).expect("none is refused");
    Pooled { span: SPAN, inside_steps: 3, outside_steps: 5, shared: Arc::new(shared) }
}

/// Has workers make `runs` runs of which every other one is cut short; what each did in the whole ones, and met there.
fn serve<P: Pool>(pooled: &Pooled<P>, workers: usize, runs: usize) -> Vec<(Work, Contention)> {
    let gate = &Barrier::new(workers);
    let serve = &|rank: usize| {
        let mut worker = pooled.worker(rank).expect("its first hand");
        let mut laps = Vec::new();
        for run in 0..runs {
            let stop = Stop::new();
            let watch = Watch::new(&stop);
            worker.prepare();
            gate.wait();
            watch.begin(if run % 2 == 0 { Some(SPAN) } else { Some(SPAN / 50) });
            let work = worker.run(&watch);
            gate.wait();
            laps.push((work, worker.contention().unwrap_or_default(), worker.verify()));
            gate.wait();
        }
        laps
    };
    // Nothing is asserted before all have ended: who panicked at the gate would leave the others waiting.
    let laps: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|rank| scope.spawn(move || serve(rank))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker panicked")).collect()
    });
    laps.into_iter().map(|(work, stats, verdict)| verdict.map(|()| (work, stats)).expect("nothing is lost")).collect()
}

/// More workers than strands, more workers than items, and one by itself: nothing is lost, and nothing invented.
#[track_caller]
fn check_conserves<P: Pool>() {
    for (workers, items) in [(1, 1), (MANY, MANY), (MANY, 2)] {
        let workers = workers as usize;
        let pooled = pooled::<P>(workers, items);
        let laps = serve(&pooled, workers, if cfg!(miri) { 2 } else { 4 });
        // An interpreter may need all of the time to begin.
        assert!(cfg!(miri) || laps.iter().any(|(work, _)| work.ops.0 > 0));
        for (work, stats) in laps {
            assert!(stats.attempts >= 2 * work.ops.0, "{work:?} {stats:?}");
            assert!(stats.waits <= 2 * work.ops.0 + 1, "{work:?} {stats:?}");
            assert!(stats.failures == 0 || stats.waits > 0, "{stats:?}");
        }
    }
}

/// What was tampered with between two runs is noticed by every worker, and told once put right again.
#[track_caller]
fn check_notices<P: Pool>() {
    let pooled = pooled::<P>(2, 2);
    let mut workers: Vec<_> = (0..2).map(|rank| pooled.worker(rank).expect("its first hand")).collect();
    let mut run = |tamper: &dyn Fn()| -> Vec<Result<(), Error>> {
        for worker in &mut workers {
            worker.prepare();
            let watch = Watch::new(&Stop::new());
            watch.begin(Some(SPAN / 50));
            worker.run(&watch);
        }
        tamper();
        workers.iter_mut().map(|worker| worker.verify()).collect()
    };
    let uses = &pooled.shared.uses[1];
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
