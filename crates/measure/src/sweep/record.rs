//! What is measured is recorded before anything else is measured.

use serde::{Deserialize, Serialize};

use crate::journal::JournalError;
use charz_data::report::{self, Invocation, Report, Status};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The place of its cell, counted through the floor's cells and then the plan's.
    pub cell: u64,
    pub invocation: Invocation,
}

impl Record {
    /// Puts the invocation into its cell, which is to be judged anew. A record of a file need not fit; it is refused with the
    /// reason then, and changes nothing.
    pub fn replay(mut self, report: &mut Report) -> Result<(), String> {
        let place = usize::try_from(self.cell).ok().filter(|place| *place < super::places(report));
        let place = place.ok_or_else(|| format!("there is no cell {}", self.cell))?;
        let cell = super::cell_mut(report, place);
        self.invocation.complete(&cell.seats);
        report::check_invocation(cell, &self.invocation).map_err(|what| format!("cell {} {what}", self.cell))?;
        let mut known = cell.invocations.iter().chain(&cell.counted);
        let of = |invocation: &Invocation| (invocation.started_ns, invocation.seed);
        if known.any(|known| of(known) == of(&self.invocation)) {
            return Err(format!("cell {} has that run already", self.cell));
        }
        self.invocation.value = None;
        match self.invocation.is_counted() {
            true => cell.counted.push(self.invocation),
            false => cell.invocations.push(self.invocation),
        }
        (cell.summary, cell.hardware, cell.status) = (None, None, Status::Pending);
        (cell.capacity, cell.delivered) = (None, None);
        (cell.distribution, cell.contention) = (None, None);
        Ok(())
    }

    /// How long the sweep had taken, in nanoseconds, when the invocation ended, by the times of its repetitions.
    pub fn ended_ns(&self) -> u64 {
        let timed = self.invocation.runs.iter().map(|run| run.span().0);
        timed.fold(self.invocation.started_ns, u64::saturating_add)
    }
}

pub trait Recorder {
    /// When this returns, the record survives the program. If it cannot be recorded, those before it still are.
    fn record(&mut self, record: &Record) -> Result<(), JournalError>;
}

/// For what is not worth a file.
impl Recorder for () {
    fn record(&mut self, _record: &Record) -> Result<(), JournalError> {
        Ok(())
    }
}

/// A report that goes to standard output has no journal.
impl<R: Recorder> Recorder for Option<R> {
    fn record(&mut self, record: &Record) -> Result<(), JournalError> {
        self.as_mut().map_or(Ok(()), |recorder| recorder.record(record))
    }
}
