use std::thread;

use charz_data::{Card, Params, Work};

use super::*;
use crate::kernel::Kernel;
use crate::watch::Stop;

/// Lets everybody pass at once.
struct Open;

impl Meet for Open {
    type Own = ();

    const VARIANT: &'static str = "open";

    fn new(_parties: usize) -> Result<Self, Error> {
        Ok(Open)
    }

    fn own(&self) {}

    fn meet(&self, _own: &mut ()) {}
}

/// Has as many workers as watches run a stage of 100 episodes, and calls `then` with each when all have.
fn run<B: Meet, T: Send>(watches: &[Stop], then: impl Fn(&mut dyn Worker, Work) -> T + Sync) -> Vec<T> {
    static CARD: Card = kinds::BLOCKS.named("barrier-test", "");
    let params = Params { samples: 100, ..Params::SMALL };
    let stage = Barrier::<B>::new(&CARD).stage(&params, watches.len()).unwrap();
    let gate = std::sync::Barrier::new(watches.len());
    thread::scope(|scope| {
        let party = |(rank, stop)| {
            let (stage, gate, then) = (&*stage, &gate, &then);
            scope.spawn(move || {
                let mut worker = stage.worker(rank).unwrap();
                worker.prepare();
                gate.wait();
                let work = worker.run(&Watch::new(stop));
                gate.wait();
                then(&mut *worker, work)
            })
        };
        let threads: Vec<_> = watches.iter().enumerate().map(party).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// In each episode somebody arrives last, and its two times are the same; nobody leaves sooner after itself than after the last.
#[track_caller]
fn check_times<B: Meet>() {
    for workers in 2..=3 {
        let joints = run::<B, _>(&vec![Stop::new(); workers], |worker, _| {
            worker.verify().unwrap();
            worker.samples().unwrap()
        });
        let mut last = 0;
        for joint in joints {
            assert_eq!(joint.count, 100);
            assert!(joint.bins.iter().all(|[own, since_last, _]| own >= since_last));
            last += joint.count - joint.second_shorter;
        }
        assert!(last >= 100, "{last} times somebody was the last to arrive");
    }
}

#[test]
fn times_are_counted_from_the_last() {
    check_times::<own::Central>();
    check_times::<own::Sense>();
    check_times::<std::sync::Barrier>();
    check_times::<crate::sys::pthread::barrier::Barrier>();
}

#[test]
fn a_barrier_that_lets_pass_is_found_out() {
    let void =
        |worker: &mut dyn Worker, _| matches!(worker.verify(), Err(Error::Wrong(reason)) if reason.contains("left"));
    // One by one: the first to run meets nobody.
    let stage = Barrier::<Open>::new(KERNELS[1].card()).stage(&Params { samples: 5, ..Params::SMALL }, 2).unwrap();
    let mut worker = stage.worker(0).unwrap();
    worker.prepare();
    let work = worker.run(&Watch::new(&Stop::new()));
    assert_eq!(work, Work::ops(5));
    assert!(void(&mut *worker, work));
}

/// The watch of one ends: all end, in the same episode.
#[track_caller]
fn check_leaves<B: Meet>() {
    let raised = Stop::new();
    raised.raise();
    let done = run::<B, _>(&[Stop::new(), raised, Stop::new()], |_, work| work);
    assert_eq!(done, [Work::default(); 3]);
}

#[test]
fn one_that_leaves_takes_all_along() {
    check_leaves::<own::Central>();
    check_leaves::<own::Sense>();
    check_leaves::<std::sync::Barrier>();
    check_leaves::<crate::sys::pthread::barrier::Barrier>();
}
