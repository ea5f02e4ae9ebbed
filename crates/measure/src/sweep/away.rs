//! What a cell needs of the machine, which comes and goes.

use std::time::Duration;

use super::Sweep;
use charz_data::report::{Cell, Ending, Invocation};

/// How long a sweep waits for what went away where it has nothing else to do.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How soon it is looked again whether what went away is back.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(200);

impl Sweep<'_> {
    /// Why the system has too few threads or too little memory for the cell, if so.
    pub(super) fn obstacle(&self, cell: &Cell) -> Option<String> {
        (self.limits)().obstacle(cell.seats.len(), cell.footprint_bytes, self.params(cell).pages)
    }

    /// Which of the CPUs and NUMA nodes that the cell needs are not there. Workers that float need as many CPUs as they are, or all.
    pub(super) fn gone(&self, cell: &Cell) -> Option<String> {
        let present = (self.present)();
        let homes = charz_topology::memory_homes(cell.point.memory.unwrap_or_default(), self.machine, &cell.seats);
        let seats: Vec<u32> = cell.seats.iter().flatten().copied().collect();
        let all: Vec<u32> = self.machine.usable_strands().map(|strand| strand.os_id).collect();
        let floats = || {
            let left = all.iter().filter(|&&cpu| present.gone(&[cpu], &[]).is_none()).count();
            cell.seats.contains(&None) && cell.seats.len() > left
        };
        let gone = present.gone(&seats, &homes.unwrap_or_default().concat());
        gone.or_else(|| present.gone(&all, &[]).filter(|_| floats()))
    }

    /// What a cell waits for that could not be measured the last time.
    pub(super) fn waits_for(&self, place: usize) -> Option<String> {
        let cell = self.cell(place);
        if cell.is_away() { self.gone(cell).or_else(|| self.obstacle(cell)) } else { None }
    }
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
