//! What other runs of a user's program say of an invocation, and of the end of a sweep.

use std::ptr;

use super::{Sweep, places};
use charz_data::report::{Cell, Ending, FAILURE, FirstElsewhere, Invocation, Lap};
use charz_data::{COMMAND, Program, ProgramValue};
use charz_stats::median;

/// The time of a run that came to its end, without the longest wait of a thread for a CPU.
fn unhindered_ns(run: &Invocation) -> Option<u64> {
    let first = Some(run).filter(|run| run.ending == Ending::Done)?.runs.first()?;
    let waited = first.laps.iter().filter_map(Lap::waited_ns).max().unwrap_or(0);
    Some(first.interval_ns.saturating_sub(waited))
}

impl Sweep<'_> {
    /// The time of the first run of a configuration, if there was one and it came to its end.
    fn first_ns_of(&self, cell: &Cell) -> Option<u64> {
        self.predictor.run_of(cell).and_then(unhindered_ns)
    }

    /// Notes beside an invocation of a program what its very first run took, if that was one of another configuration.
    pub(super) fn note_first_elsewhere(&self, place: usize, invocation: &mut Invocation) {
        let cell = self.cell(place);
        let Some((order, first)) = self.predictor.first_run().filter(|_| cell.kernel == COMMAND) else { return };
        let is_first = |cell: &Cell| self.predictor.run_of(cell).is_some_and(|run| ptr::eq(run, first));
        let (Some(ns), Some(evidence), false) = (unhindered_ns(first), &mut invocation.evidence, is_first(cell)) else {
            return;
        };
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
        let first = self.first_ns_of(cell).filter(|_| cell.invocations.iter().find_map(seen).is_none());
        if let (Some(first), Some(evidence)) = (first, &mut invocation.evidence) {
            evidence.program.get_or_insert_default().first_ns = Some(first);
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
