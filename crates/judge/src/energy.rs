//! What a cell took of energy.

use charz_data::report::{Cell, Energy, Invocation, Lap, Run, Unit};

/// Counts are renewed about every millisecond: a shorter repetition holds one more or less than its own by more than a twentieth.
const SHORTEST_NS: f64 = 20e6;

/// Over the clean repetitions of all invocations with a value; `None` where their energy was not counted, or they are too short. A run of
/// copies of a program is one of each.
pub(super) fn energy(cell: &Cell, in_copies: bool) -> Option<Energy> {
    let valued = cell.invocations.iter().filter(|invocation| invocation.value.is_some());
    let runs: Vec<(&Run, &[u64])> =
        valued.flat_map(Invocation::clean_runs).filter_map(|run| Some((run, run.energy_uj.as_deref()?))).collect();
    let packages = runs.first()?.1.len();
    let time_ns: f64 = runs.iter().map(|(run, _)| run.interval_ns as f64).sum();
    if time_ns < SHORTEST_NS * runs.len() as f64 || runs.iter().any(|(_, energy)| energy.len() != packages) {
        return None;
    }
    let joules = |package: usize| runs.iter().map(|(_, energy)| energy[package] as f64 / 1e6).sum::<f64>();
    let work = |of: fn(&Lap) -> u64| runs.iter().flat_map(|(run, _)| &run.laps).map(|lap| of(lap) as f64).sum::<f64>();
    let work = match cell.unit {
        Unit::OpsPerSecond | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep => work(|lap| lap.ops),
        Unit::BytesPerSecond | Unit::MillisecondsPerGib => work(|lap| lap.bytes),
        Unit::Reported(_) => runs.len() as f64 * if in_copies { cell.workers as f64 } else { 1.0 },
        Unit::Nanoseconds | Unit::NanosecondsSampled => 0.0,
    };
    let watts: Vec<f64> = (0..packages).map(|package| joules(package) / (time_ns / 1e9)).collect();
    let all: f64 = (0..packages).map(joules).sum();
    Some(Energy { watts, joules: Some(all / work).filter(|joules| joules.is_finite()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::fixtures::cell;

    /// Runs of 50 ms each, in which two packages took 5 J and 1 J.
    fn counted(unit: Unit) -> Cell {
        let mut cell = cell("test", 2, unit, 1e9);
        let runs = cell.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
        for run in runs {
            (run.interval_ns, run.energy_uj) = (50_000_000, Some([5_000_000, 1_000_000].into()));
            run.laps.iter_mut().for_each(|lap| (lap.ops, lap.bytes) = (1_000, 4_000));
        }
        cell
    }

    #[test]
    fn joules_are_over_work_and_watts_over_time() {
        let seconds = Unit::Reported(charz_data::ReportedUnit::SECONDS);
        for (unit, in_copies, joules) in [
            (Unit::OpsPerSecond, false, Some(6.0 / 2_000.0)),
            (Unit::BytesPerSecond, false, Some(6.0 / 8_000.0)),
            (Unit::Nanoseconds, false, None),
            (seconds, false, Some(6.0)),
            (seconds, true, Some(6.0 / 2.0)),
        ] {
            let found = energy(&counted(unit), in_copies).unwrap();
            assert_eq!(found.joules.is_some(), joules.is_some(), "{unit:?}");
            assert!((found.joules.unwrap_or(0.0) - joules.unwrap_or(0.0)).abs() < 1e-12, "{found:?}");
            assert!((found.watts[0] - 100.0).abs() < 1e-9 && (found.watts[1] - 20.0).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn what_is_disturbed_too_short_or_not_counted_has_none() {
        let mut dirty = counted(Unit::OpsPerSecond);
        for run in dirty.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs) {
            run.dirty.push("V01".into());
        }
        let mut short = counted(Unit::OpsPerSecond);
        let runs = short.invocations.iter_mut().flat_map(|invocation| &mut invocation.runs);
        runs.for_each(|run| run.interval_ns = 15_000_000);
        let uncounted = cell("test", 2, Unit::OpsPerSecond, 1e9);
        for cell in [dirty, short, uncounted] {
            assert_eq!(energy(&cell, false), None);
        }
    }
}
