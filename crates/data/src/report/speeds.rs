//! How fast each worker of an invocation was beside the others, however many they are.

use super::cell::{Cell, Invocation, Status};
use super::lap::Lap;
use super::run::Run;

/// The speed of the fastest worker in [`Invocation::speeds`].
pub const FULL: u16 = 10_000;

/// The rank of the time that stands for a worker's, from the fastest on: a quarter. What disturbs a worker only ever lengthens its time.
const QUARTER: usize = 4;

/// What a unit of work took the worker of a lap, in nanoseconds; `None` of several workers, and without work.
fn pace(lap: &Lap) -> Option<f64> {
    if lap.group.is_some() {
        return None;
    }
    let work = lap.ops.max(lap.bytes);
    let all = || (work > 0).then(|| lap.time_ns() as f64 / work as f64);
    let blocks = lap.blocks.as_ref().and_then(|blocks| blocks.times.get(blocks.times.len() / QUARTER).copied());
    blocks.or_else(all).filter(|pace| pace.is_finite() && *pace > 0.0)
}

/// The speed of each worker by rank, in units of work a nanosecond; `None` where that of one is not known.
fn of_runs<'a>(runs: impl Iterator<Item = &'a Run>, workers: usize) -> Option<Vec<f64>> {
    let mut paces = vec![Vec::new(); workers];
    for lap in runs.flat_map(|run| &run.laps) {
        paces.get_mut(lap.rank as usize)?.push(pace(lap)?);
    }
    let middle = |mut paces: Vec<f64>| {
        paces.sort_unstable_by(f64::total_cmp);
        paces.get(paces.len() / QUARTER).map(|pace| pace.recip())
    };
    paces.into_iter().map(middle).collect()
}

/// The same in parts of [`FULL`], for [`Invocation::speeds`]; empty where it is not known.
pub fn packed(runs: &[Run], workers: usize) -> Vec<u16> {
    let speeds = of_runs(runs.iter(), workers).unwrap_or_default();
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    speeds.into_iter().map(|speed| (speed / fastest * f64::from(FULL)).round().max(1.0) as u16).collect()
}

impl Invocation {
    /// How fast each of so many workers was beside the others, by rank, in a unit that all of them share; `None` where laps of several
    /// workers do not tell, and without a repetition that counts.
    pub fn worker_speeds(&self, workers: usize) -> Option<Vec<f64>> {
        if self.speeds.len() == workers {
            return Some(self.speeds.iter().map(|speed| f64::from(*speed)).collect());
        }
        of_runs(self.clean_runs(), workers)
    }
}

impl Cell {
    /// How fast each worker was in each invocation with a value: one element an invocation, which has one a worker. Empty where the cell is
    /// not `ok`, or workers share CPUs or have none of their own.
    pub fn worker_speeds(&self) -> Vec<Vec<f64>> {
        let counts = self.status == Status::Ok && self.seats.iter().all(Option::is_some) && self.has_own_cpus();
        let measured = self.invocations.iter().filter(|invocation| counts && invocation.value.is_some());
        measured.filter_map(|invocation| invocation.worker_speeds(self.seats.len())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: &[u64]) -> Run {
        let lap = |(rank, time): (usize, &u64)| Lap { rank: rank as u64, ops: 1000, end_ns: *time, ..Lap::default() };
        Run { laps: times.iter().enumerate().map(lap).collect(), ..Run::default() }
    }

    #[test]
    fn a_slow_worker_among_many_is_kept_by_its_rank() {
        let times: Vec<u64> = (0..64).map(|rank| if rank == 37 { 1250 } else { 1000 }).collect();
        let speeds = packed(&[run(&times), run(&times)], 64);
        assert_eq!((speeds[37], speeds.iter().filter(|speed| **speed == FULL).count()), (8000, 63));
        let invocation = Invocation { speeds, ..Invocation::without_runs(super::super::Ending::Done, "") };
        assert_eq!(invocation.worker_speeds(64).unwrap()[37], 8000.0);
        assert_eq!(invocation.worker_speeds(63), None, "they are of another number of workers");
    }

    #[test]
    fn what_disturbs_some_repetitions_slows_nobody() {
        let runs: Vec<Run> = (0..8).map(|at| run(&[1000, if at % 2 == 0 { 9000 } else { 1000 }])).collect();
        assert_eq!(packed(&runs, 2), [FULL, FULL]);
    }

    #[test]
    fn laps_of_several_workers_tell_of_none() {
        let laps = Lap::grouped((0..32).map(|rank| Lap { rank, ops: 5, end_ns: 10, ..Lap::default() }).collect());
        assert!(packed(&[Run { laps, ..Run::default() }], 32).is_empty());
        assert!(packed(&[], 2).is_empty() && packed(&[run(&[0, 10])], 2).is_empty());
    }
}
