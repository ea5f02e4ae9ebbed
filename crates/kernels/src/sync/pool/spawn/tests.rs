use std::time::{Duration, Instant};

use charz_data::{Growth, Halt};

use super::super::super::mutexes::Std;
use super::super::{AtOnce, Guarded, Parked, Treiber};
use super::*;
use crate::kernel::Kernel;
use crate::tests::{Lap, Look, stage_laps};
use crate::watch::Stop;

/// A run of so many workers, each with time enough and this deadline; what each did, and how the first one grew.
fn run<P: Pool>(
    workers: usize,
    runs: usize,
    deadline: impl Fn(usize) -> Option<Instant> + Sync,
) -> Vec<(Vec<Lap>, Growth)> {
    static RUNTIME: Card = CARD.named("a runtime", "");
    let params = Params { span_ns: 600_000_000_000, inside_steps: 1, outside_steps: 1, ..Params::SMALL };
    let stage = spawning::<P>(&RUNTIME).stage(&params, workers).unwrap();
    let look = |_, run| {
        let watch = Watch::new(&Stop::new()).with_deadline(deadline(run));
        Look { watch, ..Look::whole(stage.span()) }
    };
    let mut workers = stage_laps(stage.as_ref(), workers, runs, look);
    let run = |_| {
        let mut laps: Vec<Lap> = workers.iter_mut().map(|laps| laps.remove(0)).collect();
        assert!(laps.iter().all(|lap| lap.verdict == Ok(())), "{laps:?}");
        let growth: Vec<_> = laps.iter_mut().filter_map(|lap| lap.growth.take()).collect();
        let [growth] = growth.try_into().expect("one worker reports the growth");
        (laps, growth)
    };
    (0..runs).map(run).collect()
}

/// With time enough it grows until too many threads are wanted: each size has its activities, and wants a thread for each but
/// the first, of which all beyond those there are, are counted.
#[track_caller]
fn check_grows<P: Pool>() {
    for (laps, Growth { steps, stopped_by }) in run::<P>(3, 2, |_| None) {
        assert_eq!(stopped_by, Halt::Threads);
        for (step, size) in steps.iter().zip(1..) {
            assert_eq!((step.size, step.activities), (size, (2 << size) - 1));
            assert!(step.would_spawn < step.activities && step.threads <= 3, "{step:?}");
            // Each activity but the first is a take, and each take that finds a thread is followed by a return.
            assert!(step.attempts >= step.activities - 1 && step.failures >= step.would_spawn, "{step:?}");
        }
        let wanted: u64 = steps.iter().map(|step| step.would_spawn).sum();
        assert!(wanted > 1_000_000 && wanted < 3_000_000, "{wanted}");
        let done: u64 = laps.iter().map(|lap| lap.work.ops.0).sum();
        assert_eq!(done, steps.iter().map(|step| step.activities).sum::<u64>());
        let attempts: u64 = laps.iter().filter_map(|lap| lap.contention).map(|stats| stats.attempts).sum();
        assert_eq!(attempts, steps.iter().map(|step| step.attempts).sum::<u64>());
    }
}

/// A stop in the middle ends all, and leaves nothing behind for the next run.
#[track_caller]
fn check_ends<P: Pool>() {
    let moments = [0, 100, 3_000].map(Duration::from_micros);
    for (_, growth) in run::<P>(4, moments.len(), |run| Some(Instant::now() + moments[run])) {
        assert_eq!(growth.stopped_by, Halt::Time);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many steps for an interpreter")]
fn it_grows_and_stops() {
    check_grows::<Guarded<Parked<Std>>>();
    check_grows::<Treiber<AtOnce>>();
}

#[test]
fn it_ends_when_told() {
    check_ends::<Guarded<Parked<Std>>>();
    check_ends::<Treiber<AtOnce>>();
}
