use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use charz_data::report::{Ending, Evidence, Invocation, Lap, Run, packed_speeds};
use charz_data::{JointHistogram, units};
use charz_kernels::Stage;

use super::counters::{MachineCounts, Usage};
use super::fingerprint::Fingerprint;
use super::frequency::Frequencies;
use super::gate::{Decision, Gate};
use super::pages::{self, PlacedRegion};
use super::seen::Seen;
use super::wakes;
use super::worker::{Outcome, Stamped, WorkerContext};
use super::{Bench, Cell, Failure, blocks};

/// The stack of a worker: kernels keep their data in blocks, so half of the standard library's default is plenty, and
/// thousands of workers stay within small limits of address space (`ulimit -v`).
const STACK_BYTES: usize = 1024 * 1024;

/// A repetition may be the first, which differs from the others.
pub const LEAST_REPETITIONS: usize = 2;

/// The most repetitions that can be asked for: every lap is kept.
pub const MOST_REPETITIONS: u64 = 10_000;

/// Runs a cell on its own threads and joins all of them, even if a worker fails.
pub fn measure(cell: &Cell<'_>, bench: Bench<'_>) -> Result<Invocation, Failure> {
    if bench.stop.raised() {
        return Err(Failure::stopped());
    }
    cell.kernel.check()?;
    let workers = cell.seats.len();
    let stage = cell.kernel.stage(&cell.params, workers)?;
    let each_has_a_strand = workers <= bench.strands;
    let gate = Gate::new(workers + 1, if each_has_a_strand && bench.spins { workers } else { 0 });
    let [enough, uncounted, short] = [const { AtomicBool::new(false) }; 3];
    let plots = Mutex::new(Vec::new());
    let no_counters = OnceLock::new();
    // On a shared strand a canary would measure the scheduler, and an empty kernel has no use for it.
    let frequencies = (each_has_a_strand && !cell.kernel.card().params.is_empty()).then(Frequencies::default);
    let before = Fingerprint::read(cell.seats);
    let mut watched = Watched { repetitions: cell.repetitions, ..Watched::default() };
    let outcomes = thread::scope(|scope| {
        let mut handles = Vec::with_capacity(workers);
        for rank in 0..workers {
            let (stage, gate, enough, uncounted, short, plots, frequencies, no_counters) =
                (stage.as_ref(), &gate, &enough, &uncounted, &short, &plots, frequencies.as_ref(), &no_counters);
            let post = WorkerContext {
                rank,
                cell,
                stage,
                bench,
                gate,
                enough,
                uncounted,
                short,
                plots,
                frequencies,
                no_counters,
            };
            let builder = thread::Builder::new().name(format!("worker-{rank}")).stack_size(STACK_BYTES);
            match builder.spawn_scoped(scope, move || post.serve()) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    gate.close();
                    let reason = format!("the system gave {rank} of {workers} threads and refused the next: {error}");
                    watched.failure = Some(Failure::new(Ending::Refused, reason));
                    break;
                }
            }
        }
        if watched.failure.is_none() {
            watched.watch(cell, bench, &gate, [&enough, &uncounted], &plots);
        }
        handles
            .into_iter()
            .map(|handle| {
                handle.join().unwrap_or_else(|_| Outcome {
                    laps: Vec::new(),
                    failure: Some(Failure::new(Ending::Died, "a worker panicked outside of its kernel")),
                })
            })
            .collect()
    });
    watched.evidence.no_counters = no_counters.into_inner();
    watched.evidence.changes = before.changes(&Fingerprint::read(cell.seats));
    watched.evidence.changes.extend(bench.clock.set_by_ns().map(|set| {
        let (by, way) = (Duration::from_nanos(set.unsigned_abs()), if set < 0 { "back" } else { "forward" });
        format!("{}: CLOCK_REALTIME was set {way} by {}", Evidence::CLOCK_SOURCE, units::duration(by))
    }));
    watched.evidence.frequency = frequencies.and_then(|frequencies| frequencies.summary(workers));
    let mut invocation = conclude(stage.as_ref(), bench, watched, outcomes)?;
    if !cell.separate_laps {
        if Lap::group_size(workers) > 1 {
            invocation.speeds = packed_speeds(&invocation.runs, workers);
        }
        invocation.runs.iter_mut().for_each(|run| run.laps = Lap::grouped(std::mem::take(&mut run.laps)));
    }
    Ok(invocation)
}

/// What the calling thread saw between the gates.
#[derive(Default)]
struct Watched {
    /// How many are made.
    repetitions: usize,
    evidence: Evidence,
    machine: Vec<MachineCounts>,
    failure: Option<Failure>,
}

impl Watched {
    fn watch(
        &mut self,
        cell: &Cell<'_>,
        bench: Bench<'_>,
        gate: &Gate,
        [enough, uncounted]: [&AtomicBool; 2],
        plots: &Mutex<Vec<PlacedRegion>>,
    ) {
        if gate.arrive() == Decision::NoGo {
            return;
        }
        let plots = plots.lock().unwrap_or_else(PoisonError::into_inner);
        (self.evidence.pages, self.evidence.nodes) = (pages::look_up(&plots), pages::look_up_nodes(&plots));
        drop(plots);
        if gate.arrive() == Decision::NoGo {
            return;
        }
        // A floating worker may be anywhere.
        let seats: Option<BTreeSet<u32>> = cell.seats.iter().copied().collect();
        let seats: Vec<u32> = seats.into_iter().flatten().collect();
        let (begun, since, seen) = (Usage::read(), Instant::now(), Seen::begin(cell.seats));
        for round in 1..=cell.repetitions {
            if bench.stop.raised() {
                gate.close();
                return;
            }
            let (before, start) = (MachineCounts::read(&seats), Instant::now());
            if gate.arrive() == Decision::NoGo || gate.arrive() == Decision::NoGo {
                return;
            }
            let took = start.elapsed();
            self.machine.push(MachineCounts::read(&seats).since(before));
            self.evidence.busy = Usage::read().zip(begun).map(|(now, begun)| now.since(begun));
            let last = round == cell.repetitions || round >= LEAST_REPETITIONS && since.elapsed() >= bench.enough;
            self.repetitions = if last { round } else { cell.repetitions };
            let is_looked = last && since.elapsed() < bench.enough && wakes::looks_beside(cell.kernel.card(), took);
            if last {
                self.evidence.seen = seen.since();
                self.evidence.wake_ups = wakes::quiet(cell.kernel.card());
            }
            // Relaxed: the workers read it after the gate, which orders it before.
            enough.store(last && !is_looked, Ordering::Relaxed);
            uncounted.store(is_looked, Ordering::Relaxed);
            if gate.arrive() == Decision::NoGo {
                return;
            }
            if is_looked && gate.arrive() == Decision::Go {
                self.evidence.wake_ups = wakes::beside(gate);
                enough.store(true, Ordering::Relaxed);
                if gate.arrive() == Decision::Go {
                    let _ = gate.arrive();
                }
            }
            if last {
                return;
            }
        }
    }
}

fn conclude(
    stage: &dyn Stage,
    bench: Bench<'_>,
    watched: Watched,
    outcomes: Vec<Outcome>,
) -> Result<Invocation, Failure> {
    let failures = outcomes.iter().filter_map(|outcome| outcome.failure.clone());
    if let Some(failure) = watched.failure.into_iter().chain(failures).next() {
        return Err(failure);
    }
    // A stop in the middle of a run leaves some workers with a lap more than others: only whole runs count.
    let whole = outcomes.iter().map(|outcome| outcome.laps.len()).min().unwrap_or(0);
    if whole == 0 && bench.stop.raised() {
        return Err(Failure::stopped());
    }
    let mut laps: Vec<_> = outcomes.into_iter().map(|outcome| outcome.laps.into_iter()).collect();
    let machine = watched.machine.into_iter().take(whole);
    let runs: Vec<Run> =
        machine.map(|machine| run(laps.iter_mut().filter_map(Iterator::next).collect(), machine)).collect();
    let stopped = whole < watched.repetitions;
    Ok(Invocation {
        ending: if stopped { Ending::Stopped } else { Ending::Done },
        reason: stopped.then(|| format!("stopped after {} whole repetitions", runs.len())),
        variant: Some(stage.variant().to_owned()),
        evidence: Some(watched.evidence),
        runs,
        ..Invocation::without_runs(Ending::Done, "")
    })
}

fn run(mut stamped: Vec<Stamped>, machine: MachineCounts) -> Run {
    blocks::note(&mut stamped);
    let starts = stamped.iter().map(|worker| worker.lap.start_ns);
    let (first, last) = (starts.clone().min().unwrap_or(0), starts.max().unwrap_or(0));
    let end = stamped.iter().map(|worker| worker.lap.end_ns).max().unwrap_or(0);
    let interval_ns = end.saturating_sub(first);
    let mut samples = stamped.iter().filter_map(|worker| worker.samples.as_ref()).peekable();
    Run {
        interval_ns,
        start_skew_ns: last - first,
        steal_ns: machine.steal_ns,
        throttled_periods: machine.throttled_periods,
        pressure_ns: machine.pressure_ns.map(|pressure| {
            // The thread that reads is woken by the last worker, and may itself be the one that waits for a processor then:
            // what it took beyond the interval may all have been pressure.
            let beyond = machine.time_ns.map_or(0, |time| time.saturating_sub(interval_ns));
            pressure.saturating_sub(beyond)
        }),
        energy_uj: machine.energy_of(interval_ns),
        dirty: Vec::new(),
        samples: samples.peek().is_some().then(|| Box::new(JointHistogram::sum(samples))),
        // One worker reports it for all.
        growth: stamped.iter().find_map(|worker| worker.growth.clone()).map(Box::new),
        laps: stamped.into_iter().map(|worker| worker.lap).collect(),
        reported: None,
        printed_unit: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::Unit;

    fn lap(rank: u64, start_ns: u64, end_ns: u64) -> Stamped {
        let lap = Lap { rank, start_ns, end_ns, ops: 100, ..Lap::default() };
        Stamped { lap, blocks: Vec::new(), samples: None, growth: None }
    }

    #[test]
    fn pressure_that_may_have_been_outside_of_the_interval_is_left_out() {
        let of = |pressure_ns, time_ns| {
            let machine = MachineCounts { pressure_ns, time_ns, ..MachineCounts::default() };
            run(vec![lap(0, 100, 1100)], machine).pressure_ns
        };
        assert_eq!(of(Some(700), Some(1500)), Some(200));
        assert_eq!(of(Some(400), Some(1500)), Some(0));
        assert_eq!(of(Some(700), Some(1000)), Some(700));
        assert_eq!(of(None, Some(1500)), None, "unknown is not none");
    }

    #[test]
    fn energy_that_was_counted_for_longer_is_not_the_runs() {
        let of = |time_ns| {
            let machine = MachineCounts { energy_uj: Some([2100, 10_500].into()), time_ns, ..MachineCounts::default() };
            run(vec![lap(0, 100, 1100)], machine).energy_uj
        };
        assert_eq!(of(Some(1050)), Some([2000, 10_000].into()));
        assert_eq!(of(Some(1000)), Some([2100, 10_500].into()));
        assert_eq!((of(Some(1100)), of(None)), (None, None));
    }

    #[test]
    fn the_interval_is_first_start_to_last_end() {
        let run = run(vec![lap(0, 50, 150), lap(1, 10, 90), lap(2, 30, 210)], MachineCounts::default());
        assert_eq!((run.interval_ns, run.start_skew_ns, run.samples.as_ref()), (200, 40, None));
        assert_eq!(run.value(Unit::OpsPerSecond), 300.0 / 200e-9);
        assert_eq!(run.value(Unit::Nanoseconds), 200.0);
    }
}
