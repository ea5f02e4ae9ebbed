use charz_data::{Card, Params, Work};

use super::*;
use crate::kernel::Kernel;
use crate::tests::{Lap, Look, check_awake, stage_laps, stopped, watch};

struct Open;

impl Meet for Open {
    const VARIANT: &'static str = "open";

    fn new(_parties: usize) -> Result<Self, Error> {
        Ok(Open)
    }

    fn meet(&self, _: &mut bool, _: bool) {}
}

/// The laps of so many workers in a stage of 100 episodes.
fn run<B: Meet>(workers: usize, watch: impl Fn(usize) -> Watch + Sync) -> Vec<Lap> {
    static CARD: Card = kinds::BLOCKS.named("barrier-test", "");
    let stage = meeting::<B>(&CARD).stage(&Params { samples: 100, ..Params::SMALL }, workers).unwrap();
    let look = |rank, _| Look { watch: watch(rank), ..Look::whole(None) };
    stage_laps(stage.as_ref(), workers, 1, look).into_iter().flatten().collect()
}

/// In each episode all but one wait for the last arrival, none longer than since its own.
#[track_caller]
fn check_times<B: Meet>() {
    for workers in 2..=3 {
        let mut waits = 0;
        for lap in run::<B>(workers, |_| watch(None)) {
            assert_eq!(lap.verdict, Ok(()));
            let joint = lap.samples.unwrap();
            assert!(joint.bins.iter().all(|[own, since_last, _]| own >= since_last));
            waits += joint.count;
        }
        assert_eq!(waits, 100 * (workers as u64 - 1));
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
fn parties_with_a_strand_each_do_not_sleep() {
    let (central, sense) = (own::Central::new(2), own::Sense::new(2));
    check_awake(|| central.wait(true), || central.wait(true));
    check_awake(|| sense.wait(&mut false, true), || sense.wait(&mut false, true));
}

#[test]
fn a_barrier_that_lets_pass_is_found_out() {
    // The workers run one after the other, so the first one meets no other worker.
    let stage = meeting::<Open>(KERNELS[1].card()).stage(&Params { samples: 5, ..Params::SMALL }, 2).unwrap();
    let mut worker = stage.worker(0).unwrap();
    worker.prepare();
    assert_eq!(worker.run(&watch(None)), Work::ops(5));
    assert!(matches!(worker.verify(), Err(Error::Wrong(reason)) if reason.contains("left")));
}

/// The watch of one ends: all end, in the same episode.
#[track_caller]
fn check_leaves<B: Meet>() {
    let laps = run::<B>(3, |rank| if rank == 1 { stopped() } else { watch(None) });
    assert!(laps.iter().all(|lap| lap.work == Work::default()), "{laps:?}");
}

#[test]
fn one_that_leaves_takes_all_along() {
    check_leaves::<own::Central>();
    check_leaves::<own::Sense>();
    check_leaves::<std::sync::Barrier>();
    check_leaves::<crate::sys::pthread::barrier::Barrier>();
}
