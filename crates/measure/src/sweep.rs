//! Runs a plan in rounds: one invocation of every cell of the most urgent [`Turn`], in an order drawn anew for each round, each
//! kept on the disk before the next begins.
//!
//! Rounds put the invocations of a cell far apart in time, so their spread includes what changes on the machine meanwhile,
//! and a drift of the machine favours no cell.

mod adaptive;
mod away;
mod host;
mod issue_width;
mod judging;
mod order;
mod pace;
mod program;
mod record;
mod start;
#[cfg(test)]
mod tests;
mod turns;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use charz_kernels::noop::NOOP;
use charz_kernels::{Params, Stop};
use charz_topology::Present;

pub use adaptive::Adaptive;
use away::{LOOK_AGAIN, Wait, changed, for_now, shortfall};
pub use host::{host, node};
pub use judging::{judge_context, judge_report};
use order::Turn;
use pace::Pace;
pub use record::{Record, Recorder};
pub use start::{Context, new_report, random_name};
pub use turns::take_turns;

use crate::harness::LEAST_DEADLINE;
use crate::harness::fingerprint::Fingerprint;
use crate::invoke::{Invoke, MeasureRequest};
use crate::journal::JournalError;
use crate::limits::Limits;
use crate::plan::{nanos, narrowed_until};
use crate::predict::Predictor;
use crate::user_program;
use charz_data::COMMAND;
use charz_data::report::{self, Cell, Ending, Estimator, Invocation, Report, Status, Unit};
use charz_stats::LEAST_FOR_INTERVAL;

/// Receives the events of a sweep, for display. Every method has an empty default.
pub trait Listener {
    /// At least `invocations` are going to be made, in `predicted` time; the sweep ends after `until` at most, and after `likely` on a quiet
    /// machine.
    fn begin(&mut self, _invocations: usize, _predicted: Duration, _likely: Duration, _until: Duration) {}
    /// It is over; `left` is the predicted rest of the fewest invocations, zero while intervals are refined, and `longest` what the budget
    /// leaves.
    fn finish(&mut self, _cell: &Cell, _left: Duration, _longest: Duration) {}
    /// Every cell has as many invocations as an interval takes, `took` after the begin. The sweep goes on for cells without a number, then to
    /// narrow intervals: as far as their values tell, `until` then.
    fn fill(&mut self, _report: &Report, _took: Duration, _until: Duration) {}
    fn end(&mut self) {}
    /// Only cells are left that lack a CPU, a NUMA node, memory or threads, as `gone` says; it is waited for so long at most.
    fn wait(&mut self, _gone: &str, _most: Duration) {}
}

/// Shows nothing.
impl Listener for () {}

/// A report that is filled, and what it takes.
pub struct Sweep<'a> {
    pub report: &'a mut Report,
    pub recorder: &'a mut dyn Recorder,
    pub invoke: &'a dyn Invoke,
    /// What all orders have in common: the parameters, the clock, the binder.
    pub order: MeasureRequest,
    pub machine: &'a charz_topology::Machine,
    pub stop: &'a Stop,
    pub predictor: &'a Predictor,
    /// Looked at again before each invocation: memory may have gone since the plan.
    pub limits: &'a dyn Fn() -> Limits,
    /// Likewise: CPUs and NUMA nodes come and go.
    pub present: &'a dyn Fn() -> Present,
    /// Likewise: settings of the machine, of CPUs those of these seats.
    pub fingerprint: &'a dyn Fn(&[Option<u32>]) -> Fingerprint,
    /// What it was before the first run of each cell since the sweep was begun or resumed, by place.
    pub firsts: HashMap<usize, Fingerprint>,
    pub budget: Duration,
    /// As [`Plan::is_brief`](crate::plan::Plan::is_brief).
    pub is_brief: bool,
    /// Which cells are measured, where not all are.
    pub adaptive: Adaptive,
}

impl Sweep<'_> {
    /// Measures every cell that wants it, and records each invocation as soon as it is made. If one cannot be recorded, the sweep
    /// ends, and the report holds all that were.
    pub fn run(&mut self, listener: &mut dyn Listener) -> Result<(), JournalError> {
        let sitting = Instant::now();
        let before = self.report.wall_ns;
        // What a journal kept was not judged yet.
        (0..places(self.report)).for_each(|place| self.judge(place));
        self.report.stopped_by = None;
        self.begin_choosing();
        let short = self.left() > self.budget;
        let mut counted = Vec::new();
        let first = self.count_pilots(&mut counted, |cell, pilot| {
            short && cell.invocations.is_empty() && pilot.ending == Ending::Done
        });
        let due = (0..places(self.report)).map(|place| self.missing(place) as usize).sum();
        if !self.budget.is_zero() {
            let (left, longest) = (self.left().min(self.budget), self.longest());
            let likely = if self.is_brief { narrowed_until(left) } else { left.mul_f64(USUALLY) };
            listener.begin(due, left, likely.min(longest), longest);
        }
        let swept = first.and_then(|()| self.rounds(listener, sitting));
        // A cold start is no matter where it is all that there is.
        let barren = |cell: &Cell| cell.invocations.iter().all(|invocation| invocation.value.is_none());
        let last = self.count_pilots(&mut counted, |cell, pilot| {
            cell.invocations.is_empty() || pilot.ending == Ending::Done && barren(cell)
        });
        let swept = swept.and(last);
        let complete = (0..places(self.report)).all(|place| self.missing(place) == 0) && self.adaptive.is_settled();
        if !complete && swept.is_ok() && !self.stop.raised() && self.report.stopped_by.is_none() {
            self.report.stopped_by = self.failure();
        }
        self.tell_predicted();
        self.end(before.saturating_add(nanos(sitting.elapsed())), complete, listener);
        swept
    }

    /// Records the runs that the user's program had before the sweep, once each, as invocations of the cells that they are `wanted` for.
    fn count_pilots(
        &mut self,
        counted: &mut Vec<usize>,
        wanted: impl Fn(&Cell, &Invocation) -> bool,
    ) -> Result<(), JournalError> {
        for place in (0..places(self.report)).filter(|place| !counted.contains(place)).collect::<Vec<_>>() {
            let cell = self.cell(place);
            let Some(pilot) = self.predictor.run_of(cell).filter(|pilot| wanted(cell, pilot)) else { continue };
            let fits = pilot.ending != Ending::Stopped && report::check_invocation(cell, pilot).is_ok();
            if fits && cell.status != Status::Skipped {
                let mut invocation = pilot.clone();
                self.note_stops(&mut invocation);
                let record = Record { cell: place as u64, invocation };
                self.recorder.record(&record)?;
                record.replay(self.report).expect("the invocation was checked");
                self.judge(place);
                counted.push(place);
            }
        }
        Ok(())
    }

    /// When it ends at the latest, as far as that is known: as predicted, if no interval is refined.
    fn longest(&self) -> Duration {
        let plan = &self.report.plan;
        if plan.min_invocations == plan.max_invocations { self.left().min(self.budget) } else { self.budget }
    }

    fn end(&mut self, wall_ns: u64, complete: bool, listener: &mut dyn Listener) {
        (self.report.wall_ns, self.report.complete) = (wall_ns, complete);
        listener.end();
    }

    fn rounds(&mut self, listener: &mut dyn Listener, sitting: Instant) -> Result<(), JournalError> {
        let mut pace = Pace::default();
        // A resumed sweep goes on with other numbers than it began with.
        let made: u64 = (0..places(self.report)).map(|place| self.cell(place).invocations.len() as u64).sum();
        let mut random = fastrand::Rng::with_seed(self.report.plan.seed.wrapping_add(made));
        let (mut left, mut wait) = (self.left(), Wait::default());
        let mut filling = (0..places(self.report)).any(|place| self.missing(place) > 0);
        'rounds: loop {
            self.choose();
            let in_time =
                |place| sitting.elapsed() + pace.expect(place, self.predicted(self.cell(place))) <= self.budget;
            let gone: Vec<Option<String>> = (0..places(self.report)).map(|place| self.waits_for(place)).collect();
            let fits = |place: usize| in_time(place) && gone[place].is_none();
            let left_over = self.budget.saturating_sub(sitting.elapsed());
            let takes = |place| pace.expect(place, self.predicted(self.cell(place)));
            let Some((turn, places)) = self.next_round(&mut random, left_over, &pace, takes, fits) else {
                let waiting = |place: usize| gone[place].as_ref().filter(|_| self.missing(place) > 0 && in_time(place));
                if wait.goes_on((0..gone.len()).find_map(waiting), self, listener) {
                    continue;
                }
                break;
            };
            wait = Wait::default();
            let have_intervals = || {
                let least = self.report.plan.min_invocations.min(LEAST_FOR_INTERVAL as u64);
                (0..self::places(self.report)).all(|place| order::missing(self.cell(place), least) == 0)
            };
            if filling && (turn != Turn::Due || have_intervals()) {
                filling = false;
                let rest: Duration = (0..self::places(self.report))
                    .map(|place| {
                        takes(place).saturating_mul(u32::try_from(self.likely_left(place)).unwrap_or(u32::MAX))
                    })
                    .fold(Duration::ZERO, Duration::saturating_add);
                let rest = if self.adaptive.is_settled() { rest } else { Duration::MAX };
                let took = sitting.elapsed();
                let until = if self.ends_early() { self.budget.min(narrowed_until(took)) } else { self.budget };
                listener.fill(self.report, took, took.saturating_add(rest).min(until));
            }
            if turn > Turn::Missing && self.ends_early() {
                self.is_brief = false;
                self.budget = self.budget.min(narrowed_until(sitting.elapsed()));
            }
            for place in places {
                if self.stop.raised() {
                    return Ok(());
                }
                let predicted = self.predicted(self.cell(place));
                if sitting.elapsed() + pace.expect(place, predicted) > self.budget {
                    // Another cell may be cheap enough: this one stays as it is.
                    continue;
                }
                let begun = Instant::now();
                let owed = self.owed(place);
                match self.step(place, random.u64(..), sitting)? {
                    Ending::Stopped if self.stop.raised() => return Ok(()),
                    Ending::Stopped => break 'rounds,
                    Ending::Done => pace.learn(place, predicted, begun.elapsed()),
                    _ => {}
                }
                left = (left + self.owed(place)).saturating_sub(owed);
                let longest = self.budget.saturating_sub(sitting.elapsed());
                listener.finish(self.cell(place), pace.correct(left).min(longest), longest);
                self.cool_down(place, begun.elapsed());
            }
        }
        self.report.stopped_by = self.shortfall();
        Ok(())
    }

    /// Whether all that is left are intervals to narrow, and cells that were disturbed too often: none waits for its first runs.
    fn ends_early(&self) -> bool {
        let made = |place| self.cell(place).invocations.len() as u64 >= self.report.plan.min_invocations;
        self.is_brief
            && self.adaptive.is_settled()
            && (0..places(self.report)).all(|place| made(place) || !self.wants_more(place))
    }

    /// What kept a sweep from its end that came to the end of its rounds.
    fn shortfall(&self) -> Option<String> {
        let wanting: Vec<usize> = (0..places(self.report)).filter(|&place| self.wants_more(place)).collect();
        let short = shortfall(&wanting, |place| self.waits_for(place));
        short.or_else(|| (!self.adaptive.is_settled()).then(|| "budget".into()))
    }

    /// Has an invocation of the cell made, recorded and judged. One that was stopped is left out: it is made again when the sweep
    /// goes on.
    fn step(&mut self, place: usize, seed: u64, sitting: Instant) -> Result<Ending, JournalError> {
        let started_ns = self.report.wall_ns.saturating_add(nanos(sitting.elapsed()));
        let most = self.budget.saturating_sub(sitting.elapsed()).saturating_add(self.budget / OVERTIME);
        let found = (self.fingerprint)(&self.cell(place).seats);
        let mut invocation = Invocation { started_ns, ..self.invocation(self.cell(place), seed, most) };
        let ending = invocation.ending;
        if ending == Ending::Stopped {
            return Ok(ending);
        }
        self.note_changes(place, found, &mut invocation);
        self.note_stops(&mut invocation);
        self.note_first_run(place, &mut invocation);
        self.note_first_elsewhere(place, &mut invocation);
        self.note_run_alone(place, &mut invocation);
        let record = Record { cell: place as u64, invocation };
        self.recorder.record(&record)?;
        record.replay(self.report).expect("the invocation was checked when it was made");
        self.judge(place);
        Ok(ending)
    }

    /// It is given `most` time; what is not over then is stopped.
    fn invocation(&self, cell: &Cell, seed: u64, most: Duration) -> Invocation {
        if let Some(reason) = self.obstacle(cell) {
            return Invocation::without_runs(for_now(cell, Ending::Skipped), reason);
        }
        let homes = charz_topology::memory_homes(cell.point.memory.unwrap_or_default(), self.machine, &cell.seats);
        match self.unsafe_with(cell).map_or(homes, Err) {
            Err(reason) => Invocation::without_runs(Ending::Skipped, reason),
            Ok(homes) => {
                let away = || self.gone(cell).map(|gone| Invocation::without_runs(Ending::Away, gone));
                if let Some(away) = away() {
                    return away;
                }
                let own = MeasureRequest { counters: self.counts_next(cell), ..self.order_for(cell, homes) };
                let (most_ns, begun) = (nanos(most), Instant::now());
                let [time_box_ns, deadline_ns, latest_ns] =
                    [own.time_box_ns, own.deadline_ns, own.latest_ns].map(|time| time.min(most_ns));
                let order = MeasureRequest { time_box_ns, deadline_ns, latest_ns, ..own };
                let mut invocation = self.invoke.invoke(&order, seed);
                if invocation.ending == Ending::TimedOut && own.latest_ns > most_ns && begun.elapsed() >= most {
                    invocation = Invocation::without_runs(Ending::Stopped, "the budget ended");
                }
                let ending = for_now(cell, invocation.ending);
                if ending != invocation.ending {
                    // The system refuses at once what it has just refused.
                    self.invoke.rest(LOOK_AGAIN);
                    invocation.ending = ending;
                }
                match report::check_invocation(cell, &invocation) {
                    Ok(()) if invocation.ending == Ending::Stopped => invocation,
                    // However it ended: what ran meanwhile ran elsewhere.
                    Ok(()) => away().or_else(|| changed(&invocation)).unwrap_or(invocation),
                    Err(what) => {
                        Invocation::without_runs(Ending::Died, format!("the measuring process's answer {what}"))
                    }
                }
            }
        }
    }

    fn params(&self, cell: &Cell) -> Params {
        cell.params(&self.order.params)
    }

    fn order_for(&self, cell: &Cell, homes: Vec<Vec<u32>>) -> MeasureRequest {
        let repetitions = u32::try_from(cell.repetitions).unwrap_or(u32::MAX);
        // Predictions are wrong on busy machines; what takes ten times as long is stuck.
        let deadline = LEAST_DEADLINE + self.predicted(cell) * 10;
        let program = self.order.program.as_ref().filter(|_| cell.kernel == COMMAND);
        let (time_box, deadline, latest) = match program {
            // Each repetition of a storm has a box of its own, and its workers wait for each other; any other may take what the whole may.
            _ if self.is_storm(cell) => {
                let deadline = deadline.max(STORM_BOX.saturating_mul(repetitions));
                (STORM_BOX, deadline, deadline)
            }
            // The run, or its set-up, ends first: its sentence says why, and what to do.
            Some(program) => {
                let (time_box, runs) = match program.timeout_ns.map(Duration::from_nanos) {
                    Some(timeout) => (timeout, repetitions),
                    // The predicted time is that of all runs.
                    None => (deadline, 1),
                };
                let latest = user_program::longest(program, time_box, runs).saturating_add(LEAST_DEADLINE);
                (time_box, latest, latest)
            }
            None => (deadline * BUSY, deadline, deadline * BUSY),
        };
        MeasureRequest {
            kernel: cell.kernel.clone(),
            mapping: cell.mapping.clone(),
            seats: cell.seats.clone(),
            nodes: self.machine.nodes_of(&cell.seats),
            homes,
            repetitions: cell.repetitions,
            time_box_ns: nanos(time_box),
            enough_ns: self.enough(cell).map_or(u64::MAX, nanos),
            deadline_ns: nanos(deadline),
            latest_ns: nanos(latest),
            params: self.params(cell),
            untraced: self.is_untraced(cell),
            ..self.order.clone()
        }
    }

    /// When repetitions have taken so much longer than predicted that other invocations are worth more. The best of more is better, and
    /// sampled times are counted.
    fn enough(&self, cell: &Cell) -> Option<Duration> {
        let by_kernel = self.report.plan.repetitions.is_none();
        let any_number = cell.estimator != Estimator::Best && cell.unit != Unit::NanosecondsSampled;
        (by_kernel && any_number).then(|| self.predicted(cell).mul_f64(ENOUGH))
    }

    fn judge(&mut self, place: usize) {
        if let Some(context) = judge_context(self.report, self.cell(place)) {
            charz_judge::judge(cell_mut(self.report, place), &context);
        }
    }

    /// Whether spinning workers outnumber strands. With a strand each, they starve other processes no more than the workers
    /// of any other kernel do.
    fn is_storm(&self, cell: &Cell) -> bool {
        contends(cell) && cell.workers > self.order.strands
    }

    /// After a storm, other programs on the machine get as much time as it took, up to that of a repetition.
    fn cool_down(&self, place: usize, took: Duration) {
        if self.is_storm(self.cell(place)) && !self.stop.raised() {
            self.invoke.rest(took.min(STORM_BOX));
        }
    }

    /// Why workers that contend are not let loose: fewer, or as many in a storm, did not end in their time before. Elsewhere as
    /// many may have been disturbed only, and be on other strands now.
    fn unsafe_with(&self, cell: &Cell) -> Option<String> {
        let stuck = |other: &&Cell| {
            other.kernel == cell.kernel
                && (other.workers < cell.workers || other.workers == cell.workers && self.is_storm(cell))
                && other.invocations.iter().any(|invocation| invocation.ending == Ending::TimedOut)
        };
        let other = self.report.cells.iter().filter(|_| contends(cell)).find(stuck)?;
        Some(format!("safety: with {} workers it did not end in its time", other.workers))
    }

    fn predicted(&self, cell: &Cell) -> Duration {
        let repetitions = usize::try_from(cell.repetitions).unwrap_or(usize::MAX);
        user_program::find(&cell.kernel).map_or(Duration::ZERO, |kernel| {
            self.predictor.invocation(kernel, &self.params(cell), &cell.seats, repetitions)
        })
    }

    fn cell(&self, place: usize) -> &Cell {
        self.report.floor.get(place).unwrap_or_else(|| &self.report.cells[place - self.report.floor.len()])
    }

    /// Whether the cell gets another invocation if there is time.
    fn wants_more(&self, place: usize) -> bool {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let plan = &self.report.plan;
        let cell = self.cell(place);
        if !self.adaptive.is_chosen(place) {
            return false;
        }
        charz_judge::wants_more(cell, count(self.compared()), count(plan.max_invocations))
            || self.missing_counts(cell) > 0
    }

    /// How many invocations it will be given, as far as its values tell.
    fn likely_left(&self, place: usize) -> usize {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (plan, cell) = (&self.report.plan, self.cell(place));
        let left = charz_judge::likely_left(cell, count(self.compared()), count(plan.max_invocations));
        if self.wants_more(place) { left.max(count(self.missing_counts(cell))) } else { 0 }
    }

    /// How many invocations with a value are missing to the fewest of a cell, and how many with hardware counters.
    fn missing(&self, place: usize) -> u64 {
        let cell = self.cell(place);
        let values = order::missing(cell, self.report.plan.min_invocations);
        if self.wants_more(place) { values + self.missing_counts(cell) } else { 0 }
    }

    fn missing_counts(&self, cell: &Cell) -> u64 {
        let least = usize::try_from(self.report.plan.min_invocations).unwrap_or(usize::MAX);
        // The floor has no instructions to speak of.
        let counts = self.report.plan.counters && *cell.kernel != *NOOP.card().name;
        if counts { charz_judge::missing_counts(cell, least) as u64 } else { 0 }
    }

    /// Whether the next invocation is one with hardware counters: every second one, so a machine that drifts favours neither kind.
    fn counts_next(&self, cell: &Cell) -> bool {
        self.missing_counts(cell) > 0 && cell.counted.len() < cell.invocations.len()
    }

    fn left(&self) -> Duration {
        (0..places(self.report)).map(|place| self.owed(place)).sum()
    }

    /// What the invocations will take that are missing to the fewest of a cell.
    fn owed(&self, place: usize) -> Duration {
        self.predicted(self.cell(place)) * u32::try_from(self.missing(place)).unwrap_or(u32::MAX)
    }
}

/// Whether the interval of a cell is wider than it was to be, and more invocations may be made of it.
pub fn may_be_narrowed(report: &Report) -> bool {
    let [least, most] = [report.plan.min_invocations, report.plan.max_invocations]
        .map(|runs| usize::try_from(runs).unwrap_or(usize::MAX));
    report.cells.iter().any(|cell| charz_judge::wants_more(cell, least, most))
}

/// The longest repetition of workers that contend (see `docs/methodology/safety.md`): a scheduler full of them starves the machine.
const STORM_BOX: Duration = Duration::from_millis(500);
/// The share of its budget by which a sweep may be late, as one part of so many: what runs at the end of it is stopped then.
const OVERTIME: u32 = 8;
/// How many times the time of its fewest invocations a sweep takes on a quiet machine: some intervals take more.
const USUALLY: f64 = 1.5;
/// Predictions are right within a half on a quiet machine.
const ENOUGH: f64 = 1.5;
/// How many times its deadline an invocation may take where other programs keep the CPUs busy. What is stuck in earnest and waits for CPUs
/// besides is ended then.
const BUSY: u32 = 4;

/// The floor's cells and the plan's are counted through.
fn places(report: &Report) -> usize {
    report.floor.len() + report.cells.len()
}

fn cell_mut(report: &mut Report, place: usize) -> &mut Cell {
    let floor = report.floor.len();
    if place < floor { &mut report.floor[place] } else { &mut report.cells[place - floor] }
}

fn contends(cell: &Cell) -> bool {
    user_program::find(&cell.kernel).is_some_and(|kernel| kernel.card().contends)
}
