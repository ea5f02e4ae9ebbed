//! Which repetitions do not count, and for what cause. Values are not looked at.

use charz_data::checks::{Check, FEW_FAULTS, V01, V02, V03, V04, V07, V22};
use charz_data::report::{Lap, Run};

/// What a minor fault takes in the kernel, in nanoseconds: about a microsecond on the machines that charz was made on.
const MINOR_FAULT_NS: f64 = 1000.0;

#[derive(Clone, Copy)]
pub(super) struct Conditions {
    /// Whether the kernel has work to repeat: shares of no time say nothing.
    pub(super) timed: bool,
    pub(super) crowded: bool,
    /// Whether the measurement includes waiting, sleeping and faults.
    pub(super) system: bool,
}

pub(super) fn note(run: &mut Run, conditions: Conditions) {
    let any = |holds: fn(&Lap) -> bool| run.laps.iter().any(holds);
    let Conditions { timed, crowded, system } = conditions;
    let causes: [(&Check, bool); 6] = [
        (&V01, any(off_seat)),
        (&V02, any(moved)),
        (&V03, timed && !crowded && !system && any(waited)),
        (&V04, timed && !system && any(stood_still)),
        (&V07, run.throttled_periods.is_some_and(|periods| periods > 0)),
        (&V22, any(waited_for_disk) || (timed && !system && any(faulted))),
    ];
    run.dirty = causes.into_iter().filter(|(_, holds)| *holds).map(|(check, _)| check.code.to_owned()).collect();
}

pub(super) fn off_seat(lap: &Lap) -> bool {
    lap.seat.is_some() && (lap.on_seat == Some(false) || lap.strays.is_some_and(|strays| strays > 0))
}

pub(super) fn moved(lap: &Lap) -> bool {
    lap.seat.is_some() && lap.counts.migrations.is_some_and(|migrations| migrations > 0)
}

/// An involuntary switch by itself says little: every lap of a good part of a second has some, of microseconds. The time
/// that it cost counts; only if the system does not report that time, the switch is used.
fn waited(lap: &Lap) -> bool {
    match lap.counts.run_delay_ns {
        Some(delay) => V03.dirties(share(delay as f64, lap)),
        None => lap.counts.involuntary_switches.is_some_and(|switches| switches > 0),
    }
}

/// The thread neither ran nor waited for its strand. Both are counted over a little more than the lap, so the time
/// that it stood still is a lower bound.
///
/// This holds where workers share strands too: waiting for a turn is run delay.
fn stood_still(lap: &Lap) -> bool {
    let counts = &lap.counts;
    let delay = match (counts.run_delay_ns, counts.involuntary_switches) {
        (Some(delay), _) => delay,
        // Never taken from its strand, it never waited for it.
        (None, Some(0)) => 0,
        (None, _) => return false,
    };
    counts.cpu_ns.is_some_and(|ran| {
        let lost = time(lap) as i128 - i128::from(ran) - i128::from(delay);
        V04.dirties(share(lost as f64, lap))
    })
}

pub(super) fn waited_for_disk(lap: &Lap) -> bool {
    lap.counts.major_faults.is_some_and(|faults| faults > 0)
}

fn faulted(lap: &Lap) -> bool {
    let many = lap.counts.minor_faults.filter(|&faults| faults > FEW_FAULTS);
    many.is_some_and(|faults| V22.dirties(share(faults as f64 * MINOR_FAULT_NS, lap)))
}

fn time(lap: &Lap) -> u64 {
    lap.end_ns.saturating_sub(lap.start_ns)
}

/// A share of the lap's time; of no time nothing can be said but that.
fn share(nanos: f64, lap: &Lap) -> f64 {
    nanos / time(lap).max(1) as f64
}
