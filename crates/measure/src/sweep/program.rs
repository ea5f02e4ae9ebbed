//! What other runs of a user's program say of an invocation, and of the end of a sweep.

use std::ptr;

use super::{Sweep, places};
use crate::plan::nanos;
use crate::user_program::stops;
use charz_data::report::{Cell, Ending, FAILURE, FirstElsewhere, Invocation, Lap};
use charz_data::{COMMAND, Follow, Program, ProgramValue};
use charz_stats::median;

/// The share of a run from which on it is mostly charz's.
const MOSTLY: f64 = 0.5;

/// The time of the first of a program's runs that came to their ends, without the longest wait of a thread for a CPU, and without what it stood
/// still for charz.
fn first_ns<'a>(runs: impl Iterator<Item = &'a Invocation>, in_copies: bool) -> Option<u64> {
    let mut runs = runs.filter(|run| run.ending == Ending::Done);
    let first = runs.next()?;
    let share = stops::share(first, in_copies);
    // Of what is mostly charz's the rest is no time.
    let (first, share) = if share < MOSTLY { (first, share) } else { (runs.next().unwrap_or(first), 0.0) };
    let run = first.runs.first()?;
    let waited = run.laps.iter().filter_map(Lap::waited_ns).max().unwrap_or(0);
    Some((((1.0 - share) * run.interval_ns as f64) as u64).saturating_sub(waited))
}

impl Sweep<'_> {
    fn is_in_copies(&self) -> bool {
        self.order.program.as_ref().is_some_and(Program::in_copies)
    }

    /// How many threads worked in the first run of a configuration whose others are not followed.
    fn first_working_of(&self, cell: &Cell) -> Option<u64> {
        let seen = |pilot: &Invocation| pilot.evidence.as_ref()?.program.clone();
        let first = self.predictor.runs_of(cell).find_map(seen).filter(|seen| seen.followed != Follow::None.name())?;
        self.is_untraced(cell).then(|| first.working.unwrap_or(first.threads).min(first.threads))
    }

    /// Whether nothing is to follow the program in this configuration: as in those of its invocations that there are, else as its first run was.
    pub(super) fn is_untraced(&self, cell: &Cell) -> bool {
        let seen = |one: &Invocation| Some(one.evidence.as_ref()?.program.as_ref()?.followed == Follow::None.name());
        cell.invocations.iter().find_map(seen).unwrap_or_else(|| self.predictor.is_untraced())
    }

    /// Notes beside an invocation what a stop of its program costs, where that matters.
    pub(super) fn note_stops(&self, invocation: &mut Invocation) {
        let cost = stops::cost(invocation);
        if let Some(seen) = invocation.evidence.as_mut().and_then(|found| found.program.as_mut()) {
            seen.stop_ns = cost.map(nanos);
        }
    }

    /// Notes beside an invocation of a program what its very first run took, if that was one of another configuration.
    pub(super) fn note_first_elsewhere(&self, place: usize, invocation: &mut Invocation) {
        let cell = self.cell(place);
        let mut first_runs = self.predictor.first_runs().peekable();
        let Some((order, first)) = first_runs.peek().copied().filter(|_| cell.kernel == COMMAND) else { return };
        let ns = first_ns(first_runs.map(|(_, run)| run), self.is_in_copies());
        let is_first = |cell: &Cell| self.predictor.runs_of(cell).any(|run| ptr::eq(run, first));
        let (Some(ns), Some(evidence), false) = (ns, &mut invocation.evidence, is_first(cell)) else { return };
        let own = self.report.cells.iter().find(|cell| is_first(cell));
        // The first run may be an invocation itself, before the one that has its time.
        let has_first = |one: &Invocation| {
            one.evidence.as_ref().and_then(|found| found.program.as_ref()).is_some_and(|seen| seen.first_ns.is_some())
        };
        let later = own.into_iter().flat_map(|own| own.invocations.iter().skip_while(|one| !has_first(one)));
        let later = median(later.flat_map(|one| &one.runs).map(|run| run.interval_ns as f64));
        let threads = order.seats.len() as u64;
        evidence.program.get_or_insert_default().first_elsewhere =
            Some(FirstElsewhere { ns, threads, later_ns: later.map(|ns| ns as u64) });
    }

    /// Notes beside the first invocation of a program's configuration what the run before it took.
    pub(super) fn note_first_run(&self, place: usize, invocation: &mut Invocation) {
        let cell = self.cell(place);
        let seen = |one: &Invocation| one.evidence.as_ref().and_then(|evidence| evidence.program.as_ref()?.first_ns);
        let first = first_ns(self.predictor.runs_of(cell), self.is_in_copies())
            .filter(|_| cell.invocations.iter().find_map(seen).is_none());
        if let (Some(first), Some(evidence)) = (first, &mut invocation.evidence) {
            let seen = evidence.program.get_or_insert_default();
            (seen.first_ns, seen.first_working) = (Some(first), self.first_working_of(cell));
        }
    }

    /// Notes beside an invocation of a program with several threads what it took with one.
    pub(super) fn note_run_alone(&self, place: usize, invocation: &mut Invocation) {
        let cell = self.cell(place);
        let by_time = |program: &&Program| {
            !program.in_copies() && matches!(program.value, ProgramValue::Wall | ProgramValue::Work(_))
        };
        if cell.workers < 2 || cell.kernel != COMMAND || self.order.program.as_ref().filter(by_time).is_none() {
            return;
        }
        let is_alone = |other: &&Cell| {
            other.workers == 1
                && (&other.kernel, &other.mapping, other.point) == (&cell.kernel, &cell.mapping, cell.point)
        };
        let alone = self.report.cells.iter().find(is_alone);
        let run = alone.and_then(|alone| alone.invocations.iter().flat_map(Invocation::clean_runs).last());
        if let (Some(run), Some(seen)) = (run, invocation.evidence.as_mut().and_then(|found| found.program.as_mut())) {
            let cpu = run.laps.iter().filter_map(|lap| lap.counts.cpu_ns).fold(0, u64::saturating_add);
            (seen.alone_ns, seen.alone_cpu_ns) = (Some(run.interval_ns), Some(cpu));
        }
    }

    /// Why configurations lack runs although there was time: what the first of those that failed says.
    pub(super) fn failure(&self) -> Option<String> {
        let all = (0..places(self.report)).flat_map(|place| &self.cell(place).invocations);
        let failed = all.filter(|one| [Ending::Died, Ending::TimedOut, Ending::Refused].contains(&one.ending));
        failed.filter_map(|one| one.reason.as_deref()).map(|why| format!("{FAILURE}: {why}")).next()
    }
}
