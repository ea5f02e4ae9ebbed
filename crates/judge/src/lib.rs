#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod attempts;
mod case;
mod clock;
mod energy;
mod estimate;
mod exclude;
mod foreign;
mod hardware;
mod memory;
mod missing;
mod program;
mod samples;
mod scheduling;
mod seen;
mod summary;
mod times;
mod whole;

#[cfg(test)]
#[path = "../../../tests/golden.rs"]
mod golden;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use charz_data::machine::{CacheHolds, Machine, Strand};
use charz_data::{Card, Params, Role, params};

use charz_data::checks::{self, Check, V23, V24, V29, find};
use charz_data::escape::counted;
use charz_data::report::{Cell, Ending, Estimator, Invocation, Mark, Report, Severity, Status, Timer, Unit};

pub use attempts::{ATTEMPTS, RETRIES, likely_left, missing_counts, wants_more};
pub use whole::judge_report;

use case::Case;
use estimate::FastModes;

/// What a cell is judged by, besides what it says itself.
#[derive(Clone, Debug)]
pub struct JudgeContext {
    pub card: Cow<'static, Card>,
    /// Whether the number is claimed to be one of memory. What lies in a cache on purpose says in which.
    pub about_memory: bool,
    pub params: Params,
    /// How many workers can run at once: usable strands, or the quota's processors if that is fewer.
    pub strands: usize,
    pub numa_nodes: usize,
    /// The largest cache on the way of a strand to memory; `None` where unknown.
    pub last_cache_bytes: Option<u64>,
    /// The clock that stamps laps; `None` where it was not looked at.
    pub timer: Option<Timer>,
    /// Whether a hypervisor runs below the system; `None` where unknown.
    pub virtual_machine: Option<bool>,
    pub quota: bool,
    /// Strands of the machine, usable or not.
    pub cpus: usize,
    /// Cores of which the process may use a strand.
    pub cores: usize,
    /// Whether strands share a cache of the second level.
    pub shares_l2: bool,
    /// The clock that the system claims, in hertz.
    pub claimed_hz: Option<f64>,
    /// Instructions that a core can issue per cycle.
    pub issue_width: Option<u64>,
    /// Whether each worker is a copy of the user's program.
    pub in_copies: bool,
    /// Whether another program measured, and only the values are known.
    pub is_foreign: bool,
    pub optimised: bool,
}

impl JudgeContext {
    /// For a cell out of the report, whose kernel has this card.
    pub fn of(report: &Report, cell: &Cell, card: Cow<'static, Card>, about_memory: bool) -> Self {
        let machine = &report.machine;
        let data = || machine.caches.iter().filter(|cache| cache.holds != CacheHolds::Instruction);
        JudgeContext {
            card,
            about_memory,
            params: cell.params(&report.plan.params),
            strands: machine.worth(),
            numa_nodes: machine.numa_nodes.len(),
            last_cache_bytes: machine.largest_cache_bytes(),
            timer: report.timer.clone(),
            virtual_machine: report.host.virtual_machine,
            quota: machine.quota().is_some(),
            cpus: machine.strands.len(),
            cores: cores(machine),
            shares_l2: data().any(|cache| cache.level == 2 && cache.strands > 1),
            claimed_hz: report.host.claimed_hz,
            issue_width: report.plan.issue_width,
            in_copies: report.is_in_copies(&cell.kernel),
            is_foreign: report.measured_by.is_some(),
            optimised: report.tool.optimised(),
        }
    }

    /// Whether a host may put the CPUs elsewhere. Where there is none, the way between them varies by the clock and by where the line lies.
    fn may_move_cpus(&self) -> bool {
        self.virtual_machine != Some(false)
    }
}

/// Cores of which a strand is usable; where no cores are known, each strand is one.
fn cores(machine: &Machine) -> usize {
    let core = |strand: &Strand| strand.core.ok_or(strand.os_id);
    machine.usable_strands().map(core).collect::<HashSet<_>>().len()
}

/// Judges a cell by all of its invocations: sets which repetitions count ([`Run::dirty`](charz_data::report::Run::dirty)), the
/// invocations' values, the marks, the ending and the numbers. Judging again changes nothing.
///
/// A cell without invocations is `skipped` where it says why it was not to be measured, and otherwise `pending`.
pub fn judge(cell: &mut Cell, facts: &JudgeContext) {
    if cell.invocations.is_empty() {
        let status = if cell.skipped.is_some() { Status::Skipped } else { Status::Pending };
        (cell.status, cell.reason) = (status, cell.skipped.clone());
        (cell.capacity, cell.delivered, cell.summary, cell.marks) = (None, None, None, Vec::new());
        (cell.distribution, cell.contention, cell.hardware, cell.energy) = (None, None, None, None);
        return;
    }
    if facts.is_foreign {
        foreign::judge(cell, facts);
        return;
    }
    judge_numbers(cell, facts);
    cell.hardware = hardware::hardware(cell, facts);
    cell.energy = energy::energy(cell, facts.in_copies);
}

/// Judges the invocations without hardware counters.
fn judge_numbers(cell: &mut Cell, facts: &JudgeContext) {
    let crowded = case::crowded(&cell.seats, facts);
    // Workers that spin nap in long waits, as they have to where they outnumber strands.
    let system = facts.card.blocks_in_kernel || (crowded && facts.card.contends);
    let files = facts.card.obeys(&params::MIX) && facts.params.mix.io > 0;
    // Copies of a program end when they like.
    let foreign = facts.card.role == Role::Program;
    // Cards of older reports do not have it, and of their kernels those shared their work whose unit this is.
    let shares_work = facts.card.shares_work || cell.unit == Unit::MillisecondsPerGib;
    let together = !shares_work && !foreign;
    let blocks = case::is_by_blocks(cell, facts, crowded);
    let quota = facts.card.role == Role::Quota;
    let timed = case::timed(facts);
    let conditions = exclude::Conditions { timed, crowded, system, files, together, blocks, foreign, quota };
    cell.invocations
        .iter_mut()
        .flat_map(|invocation| &mut invocation.runs)
        .for_each(|run| exclude::note(run, conditions));
    if case::shares_memory(cell, facts) && !crowded {
        exclude::leave_out_shared(cell, facts);
    }
    exclude::leave_out_other_sizes(&mut cell.invocations);
    estimate(cell);
    let moved = if blocks || !facts.may_move_cpus() { None } else { exclude::leave_out_moved(cell) };
    if moved.is_some() {
        estimate(cell);
    }
    let slow_start = samples::first_repetition(cell).filter(|_| conditions.timed && !blocks);
    if slow_start.is_some() {
        samples::leave_first_out(cell);
        estimate(cell);
    }
    let modes = blocks.then(|| FastModes::of(cell));
    if let Some(modes) = &modes {
        cell.estimator = Estimator::FastMode;
        let values = modes.values(cell.unit);
        cell.invocations.iter_mut().zip(values).for_each(|(invocation, value)| invocation.value = value);
    }
    let case = Case::new(cell, facts, modes.as_ref());
    let (status, reason, marks) = match unmeasured(&cell.invocations) {
        Some((status, check, reason)) => {
            let marks = check.map(|check| mark(check, Severity::Invalid, reason.clone()));
            (status, Some(reason), marks.into_iter().collect())
        }
        None => {
            let marks = marks(&case, slow_start, moved);
            let (status, reason) = verdict(&marks);
            (status, reason, marks)
        }
    };
    let summary = summary::summary(&case);
    let stands = matches!(status, Status::Ok | Status::Suspect);
    let is_of_capacity = |mark: &Mark| find(&mark.code).is_some_and(|check| check.of_capacity);
    let is_given = stands
        || !marks.is_empty() && marks.iter().all(|mark| mark.severity < Severity::Invalid || is_of_capacity(mark));
    let capacity = stands.then(|| summary::capacity(&case)).flatten();
    let delivered = is_given.then(|| summary::delivered(&case)).flatten();
    let (distribution, sharing) = (times::distribution(&case), summary::sharing(&case));
    (cell.status, cell.reason, cell.marks, cell.summary) = (status, reason, marks, summary);
    (cell.capacity, cell.delivered) = (capacity, delivered);
    (cell.distribution, cell.contention) = (distribution, sharing);
}

/// Gives each invocation that came to its own end the value that its clean repetitions have.
fn estimate(cell: &mut Cell) {
    let (unit, estimator) = (cell.unit, cell.estimator);
    for invocation in &mut cell.invocations {
        invocation.value = estimate::by_repetitions(invocation, unit, estimator);
    }
}

/// The status of a cell that was not measured, the check that says so, if one does, and the reason; `None` of one that was.
fn unmeasured(invocations: &[Invocation]) -> Option<(Status, Option<&'static Check>, String)> {
    let first = |endings: &[Ending]| {
        let found = invocations.iter().find(|invocation| endings.contains(&invocation.ending))?;
        Some(found.reason.clone().unwrap_or_else(|| "the measuring process does not say why".into()))
    };
    // Regardless of how the other attempts ended.
    if let Some(reason) = first(&[Ending::Wrong]) {
        return Some((Status::Invalid, Some(&V23), reason));
    }
    let done = invocations.iter().any(|invocation| invocation.ending == Ending::Done);
    let failed = attempts::failed(invocations);
    if done && V29.severity(failed as f64) < Some(Severity::Invalid) {
        return None;
    }
    // More often than can be put down to an accident.
    let all = invocations.len();
    let given_up = |reason: String| {
        let how_many = if done { format!("; {failed} of {} failed", counted(all, "run")) } else { String::new() };
        (Status::Failed, Some(&V29), reason + &how_many)
    };
    if let Some(reason) = first(&[Ending::Died, Ending::TimedOut]) {
        return Some(given_up(reason));
    }
    Some(match first(&[Ending::Unavailable, Ending::Skipped, Ending::Refused]) {
        Some(reason) if done => given_up(reason),
        Some(reason) => (Status::Skipped, None, reason),
        None => match first(&[Ending::Away]) {
            Some(reason) => (Status::Skipped, None, reason),
            None => (Status::Failed, None, first(&[Ending::Stopped]).unwrap_or_default()),
        },
    })
}

/// Everything that is wrong with the number, by code, one mark a cause.
fn marks(case: &Case<'_>, slow_start: Option<f64>, moved: Option<Mark>) -> Vec<Mark> {
    let unoptimised = if case.facts.optimised { 0.0 } else { 1.0 };
    let mut marks: Vec<Mark> = [
        // Of two marks of a code and weight the first stays: what the host did is a cause.
        vec![moved],
        scheduling::marks(case),
        clock::marks(case),
        samples::marks(case, slow_start),
        times::marks(case),
        memory::marks(case),
        program::marks(case),
        seen::marks(case),
        vec![raise(&V24, unoptimised, || "measured by a build without optimisation".into())],
    ]
    .into_iter()
    .flatten()
    .flatten()
    .collect();
    checks::leave_causes(&mut marks, |mark| (&mark.code, mark.severity));
    // Missing evidence explains no other mark, so it is added after the causes are settled.
    marks.extend(missing::marks(case));
    marks.sort_by(|a, b| a.code.cmp(&b.code).then(b.severity.cmp(&a.severity)));
    marks.dedup_by(|later, earlier| later.code == earlier.code);
    marks
}

/// The status that results from the marks, and the reason of the most severe one; a note gives no reason.
fn verdict(marks: &[Mark]) -> (Status, Option<String>) {
    let worst = marks.iter().map(|mark| mark.severity).max();
    let status = match worst {
        None | Some(Severity::Note) => return (Status::Ok, None),
        Some(Severity::Suspect) => Status::Suspect,
        Some(Severity::Invalid) => Status::Invalid,
    };
    (status, marks.iter().find(|mark| Some(mark.severity) == worst).map(|mark| mark.reason.clone()))
}

fn raise(check: &Check, quantity: f64, reason: impl FnOnce() -> String) -> Option<Mark> {
    Some(mark(check, check.severity(quantity)?, reason()))
}

fn mark(check: &Check, severity: Severity, reason: String) -> Mark {
    Mark { code: check.code.into(), severity, reason }
}
