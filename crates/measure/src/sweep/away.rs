//! What a cell needs of the machine, which comes and goes.

use std::time::{Duration, Instant};

use super::{Listener, Sweep};
use crate::harness::fingerprint::Fingerprint;
use charz_data::report::{Cell, Ending, Evidence, Invocation};

/// How long a sweep waits for what went away where it has nothing else to do.
const PATIENCE: Duration = Duration::from_secs(10);
/// How soon it is looked again whether what went away is back.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// A wait for what went away.
#[derive(Default)]
pub(super) struct Wait {
    since: Option<Instant>,
}

impl Wait {
    /// Waits a moment for what is `gone`; `false` where nothing is, or it was waited for long enough.
    pub(super) fn goes_on(&mut self, gone: Option<&String>, sweep: &Sweep<'_>, listener: &mut dyn Listener) -> bool {
        let Some(gone) = gone.filter(|_| !sweep.stop.raised()) else { return false };
        let since = *self.since.get_or_insert_with(|| {
            listener.wait(gone, PATIENCE.min(sweep.budget));
            Instant::now()
        });
        sweep.invoke.rest(LOOK_AGAIN);
        since.elapsed() <= PATIENCE
    }
}

impl Sweep<'_> {
    /// Why the system has too few threads or too little memory for the cell, if so.
    pub(super) fn obstacle(&self, cell: &Cell) -> Option<String> {
        (self.limits)().obstacle(cell.seats.len(), cell.footprint_bytes, self.params(cell).pages)
    }

    /// Which of the CPUs and NUMA nodes that the cell needs are not there. Workers that float need all: fewer are another machine.
    pub(super) fn gone(&self, cell: &Cell) -> Option<String> {
        let present = (self.present)();
        let homes = charz_topology::memory_homes(cell.point.memory.unwrap_or_default(), self.machine, &cell.seats);
        let all = || self.machine.usable_strands().map(|strand| strand.os_id).collect();
        let needed: Vec<u32> = cell.seats.iter().copied().collect::<Option<_>>().unwrap_or_else(all);
        present.gone(&needed, &homes.unwrap_or_default().concat())
    }

    /// What a cell waits for that could not be measured the last time.
    pub(super) fn waits_for(&self, place: usize) -> Option<String> {
        let cell = self.cell(place);
        if cell.is_away() { self.gone(cell).or_else(|| self.obstacle(cell)) } else { None }
    }

    /// Notes what changed of the machine since before the first run of the cell; the clock source, since before the sweep. Strands that
    /// went keep a cell from running that needs them.
    pub(super) fn note_changes(&mut self, place: usize, found: Fingerprint, invocation: &mut Invocation) {
        let Some(evidence) = &mut invocation.evidence else { return };
        let mut before = self.firsts.entry(place).or_insert_with(|| found.clone()).clone();
        if let Some(source) = &self.report.host.clock_source {
            before.set(Evidence::CLOCK_SOURCE, source);
        }
        let changes = before.changes(&found);
        evidence.changes.extend(changes.into_iter().filter(|change| !Evidence::is_of_strands(change)));
    }
}

/// Why cells want more: what the first of them waits for that waits, or the budget.
pub(super) fn shortfall(wanting: &[usize], waits_for: impl Fn(usize) -> Option<String>) -> Option<String> {
    let gone = wanting.iter().find_map(|&place| waits_for(place)).map(|gone| format!("a missing resource: {gone}"));
    gone.or_else(|| (!wanting.is_empty()).then(|| "budget".into()))
}

/// How an invocation ended for which the system had too little: it takes nothing from the runs that the cell has, and is made again. What
/// happens as often as not is no accident.
pub(super) fn for_now(cell: &Cell, ending: Ending) -> Ending {
    let count = |ending| cell.invocations.iter().filter(|invocation| invocation.ending == ending).count();
    match ending {
        Ending::Skipped | Ending::Refused if count(Ending::Done) > count(Ending::Away) => Ending::Away,
        ending => ending,
    }
}

/// Strands that came or went where the cell has none: its other invocations are of the same machine as far as it is concerned.
pub(super) fn changed(invocation: &Invocation) -> Option<Invocation> {
    let change = invocation.evidence.as_ref()?.strands_changed()?;
    Some(Invocation::without_runs(Ending::Away, format!("the machine changed meanwhile: {change}")))
}
