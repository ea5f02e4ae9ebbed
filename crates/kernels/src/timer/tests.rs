use std::time::Duration;

use charz_data::{Params, Work};

use super::source::sources;
use super::*;
use crate::kernel::{Error, Worker};
use crate::plain::PlainKernel;
use crate::tests::watch;

thread_local! {
    /// What the broken clock shows next.
    static NEXT: std::cell::Cell<u64> = const { std::cell::Cell::new(1 << 40) };
}

sources! {
    /// A clock that goes backwards, a unit of 2 ns a reading.
    Broken: u64, "broken", NEXT.replace(NEXT.get() - 1), |reading| reading, 2.0, Ok(());
    /// A clock that moves by 3 units at each tenth reading.
    Slow: u64, "slow", NEXT.replace(NEXT.get() + 1) / 10, |reading| reading * 3, 2.0, Ok(());
}

static READ_BROKEN: PlainKernel = read::read::<Broken>(const { &read::READ.named("read-broken", "") });
static STEP_BROKEN: PlainKernel = sampled::<Step<Broken>>(const { &read::STEP.named("step-broken", "") });
static STEP_SLOW: PlainKernel = sampled::<Step<Slow>>(const { &read::STEP.named("step-slow", "") });

#[test]
fn a_clock_that_goes_back_voids_the_run() {
    let kernels: [&dyn Kernel; 2] = [&READ_BROKEN, &STEP_BROKEN];
    for kernel in kernels {
        let params = Params { samples: 10, ..Params::SMALL };
        let stage = kernel.stage(&params, 1).unwrap();
        let mut worker = stage.worker(0).unwrap();
        let name = &*kernel.card().name;
        let run = |worker: &mut dyn Worker| {
            worker.prepare();
            worker.run(&watch(Some(Duration::from_millis(1))));
            worker.verify()
        };
        // A busy machine may leave time for a single stretch of readings, which is compared with nothing.
        let verdict = (0..100).map(|_| run(&mut *worker)).find(Result::is_err);
        assert!(matches!(verdict, Some(Err(Error::Wrong(reason))) if reason.starts_with(name)), "{name}");
    }
}

#[test]
fn steps_are_beside_what_the_system_says_of_their_clock() {
    let variant = |name| crate::find(name).unwrap().stage(&Params::SMALL, 1).unwrap().variant().to_owned();
    for name in ["step-monotonic", "step-monotonic-coarse", "step-realtime", "step-cpu"] {
        let variant = variant(name);
        assert!(variant.contains("clock_getres: ") && variant.ends_with('s'), "{name}: {variant}");
    }
    assert_eq!(variant("step-times"), "times", "clock_getres knows no such clock");
}

/// A tick lasts at least 1 ms, and a step is whole ticks.
#[test]
fn times_moves_by_whole_ticks() {
    let stage = crate::find("step-times").unwrap().stage(&Params { samples: 3, ..Params::SMALL }, 1).unwrap();
    let mut worker = stage.worker(0).unwrap();
    worker.prepare();
    assert_eq!(worker.run(&watch(None)), Work::ops(3));
    worker.verify().unwrap();
    let steps = worker.samples().unwrap().second;
    let tick = crate::sys::clocks::nanos_per_tick() as u64;
    assert!(tick >= 1_000_000 && steps.min_ns >= tick && steps.min_ns.is_multiple_of(tick), "{steps:?}");
}

#[test]
fn a_step_is_what_the_clock_moved_in_nanoseconds() {
    let stage = Kernel::stage(&STEP_SLOW, &Params { samples: 10, ..Params::SMALL }, 1).unwrap();
    let mut worker = stage.worker(0).unwrap();
    worker.prepare();
    assert_eq!(worker.run(&watch(None)), Work::ops(10));
    worker.verify().unwrap();
    let joint = worker.samples().unwrap();
    assert_eq!((joint.count, joint.second.min_ns, joint.second.max_ns), (10, 6, 6));
}
