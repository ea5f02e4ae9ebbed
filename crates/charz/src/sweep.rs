//! Runs a plan, cell by cell, and saves the report after each.

mod convert;
mod host;
mod marks;
mod start;

use std::path::Path;
use std::time::{Duration, Instant};

use charz_kernels::{Kernel, Params};

pub use host::{host, machine, tool};
pub use start::{Context, new_report};

use crate::exit::Error;
use crate::harness::{self, Bench, Failure};
use crate::limits::Limits;
use crate::predict::Predictor;
use crate::report::{self, Cell, Outcome, Report, Status};

/// What happens in a sweep, for whoever wants to show it. Every method has an empty default.
pub trait Listener {
    /// `cells` cells are going to be measured, in `predicted` time.
    fn begin(&mut self, _cells: usize, _predicted: Duration) {}
    /// A cell begins.
    fn start(&mut self, _cell: &Cell) {}
    /// A cell has its outcome; `left` is the predicted rest.
    fn finish(&mut self, _cell: &Cell, _left: Duration) {}
    /// The sweep is over.
    fn end(&mut self, _report: &Report) {}
}

/// What a sweep runs with, besides the report that it fills.
pub struct Sweep<'a> {
    /// The harness's side.
    pub bench: Bench<'a>,
    /// The parameters of all cells.
    pub params: Params,
    /// For the budget and the ETA.
    pub predictor: &'a Predictor,
    /// Looked at again before each cell: memory may have gone since the plan.
    pub limits: &'a dyn Fn() -> Limits,
    /// The longest that this sitting may take.
    pub budget: Duration,
    /// The last-level cache that a strand reaches, if known.
    pub last_cache_bytes: Option<u64>,
    /// The report's file, which exists already.
    pub file: &'a Path,
}

impl Sweep<'_> {
    /// Measures every cell of `report` that has no outcome yet. `signal` names the signal that raised the stop flag.
    ///
    /// # Errors
    /// The disk refused the report; what was saved before is untouched, and `report` holds what was measured.
    pub fn run(
        &self,
        report: &mut Report,
        signal: &dyn Fn() -> Option<&'static str>,
        listener: &mut dyn Listener,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let before = report.wall_ns;
        let repetitions = usize::try_from(report.plan.repetitions).unwrap_or(usize::MAX);
        let mut pace = Pace::default();
        let open: Vec<usize> = (0..report.cells.len()).filter(|&index| is_open(&report.cells[index])).collect();
        let mut left: Duration = open.iter().map(|&index| self.predicted(&report.cells[index], repetitions)).sum();
        listener.begin(open.len(), left);
        report.stopped_by = None;
        self.measure_floor(report, repetitions)?;
        for index in open {
            let predicted = self.predicted(&report.cells[index], repetitions);
            if self.bench.stop.raised() {
                break;
            }
            if begun.elapsed() + pace.correct(predicted) > self.budget {
                // A later cell may be cheap enough: this one stays pending.
                report.stopped_by = Some("budget".into());
                continue;
            }
            let room = room(&report.cells[index], report.plan.repetitions);
            self.reserve(report, room)?;
            listener.start(&report.cells[index]);
            let cell_begun = Instant::now();
            self.fill(&mut report.cells[index], repetitions);
            if report.cells[index].outcome.status == Status::Ok {
                pace.learn(predicted, cell_begun.elapsed());
            }
            left = left.saturating_sub(predicted);
            report.wall_ns = before + nanos(begun.elapsed());
            report.complete = !report.cells.iter().any(is_open);
            self.save(report)?;
            listener.finish(&report.cells[index], pace.correct(left));
        }
        if let Some(name) = signal() {
            report.stopped_by = Some(name.into());
        }
        report.wall_ns = before + nanos(begun.elapsed());
        report.complete = !report.cells.iter().any(is_open);
        self.save(report)?;
        report::release(self.file);
        listener.end(report);
        Ok(())
    }

    /// What is measured must be kept: without room for it in the file, measuring does not begin.
    fn reserve(&self, report: &mut Report, room: u64) -> Result<(), Error> {
        let size = std::fs::metadata(self.file).map_or(0, |metadata| metadata.len());
        report::reserve(self.file, size + room).map_err(|error| self.no_room(report, error))
    }

    fn save(&self, report: &mut Report) -> Result<(), Error> {
        report::save(self.file, report).map_err(|error| self.no_room(report, error))
    }

    fn no_room(&self, report: &mut Report, error: report::FileError) -> Error {
        report.stopped_by = Some("a full disk".into());
        Error::environment(format!(
            "there is no room for the report of another cell; all finished ones are in {:?}: make room, then finish it \
             with charz sweep --resume",
            self.file
        ))
        .caused_by(error)
    }

    /// An empty kernel through the same path: what the apparatus costs by itself.
    fn measure_floor(&self, report: &mut Report, repetitions: usize) -> Result<(), Error> {
        for index in 0..report.floor.len() {
            if is_open(&report.floor[index]) {
                let room = room(&report.floor[index], report.plan.repetitions);
                self.reserve(report, room)?;
                self.fill(&mut report.floor[index], repetitions);
                self.save(report)?;
            }
        }
        Ok(())
    }

    fn predicted(&self, cell: &Cell, repetitions: usize) -> Duration {
        charz_kernels::find(&cell.kernel)
            .map_or(Duration::ZERO, |kernel| self.predictor.cell(kernel, &self.params, cell.seats.len(), repetitions))
    }

    fn fill(&self, cell: &mut Cell, repetitions: usize) {
        // Of an attempt that was interrupted nothing stays: its runs were not those of the cell to come.
        (cell.variant, cell.runs, cell.passport, cell.summary) = (None, Vec::new(), None, None);
        let Some(kernel) = charz_kernels::find(&cell.kernel) else {
            cell.outcome = outcome(Status::Unavailable, "this program has no kernel of that name");
            return;
        };
        cell.footprint_bytes = kernel.footprint(&self.params).0.saturating_mul(cell.seats.len() as u64);
        let obstacle = (self.limits)().obstacle(cell.seats.len(), cell.footprint_bytes, self.params.pages);
        if let Some(reason) = obstacle {
            cell.outcome = outcome(Status::Skipped, reason);
            return;
        }
        let seats = cell.seats.clone();
        match self.measure(kernel, &seats, repetitions) {
            Ok(measurement) => convert::fill(cell, &measurement, &self.suspicion(kernel)),
            Err(Failure::Unavailable(reason)) => cell.outcome = outcome(Status::Unavailable, reason),
            Err(Failure::Refused(reason)) => cell.outcome = outcome(Status::Failed, reason),
            Err(Failure::Wrong(reason)) => cell.outcome = outcome(Status::Wrong, reason),
            Err(Failure::Stopped) => {
                cell.outcome = outcome(Status::Aborted, "stopped before its first repetition ended")
            }
        }
    }

    fn suspicion(&self, kernel: &'static dyn Kernel) -> marks::Suspicion<'_> {
        marks::Suspicion {
            kernel,
            params: &self.params,
            strands: self.bench.strands,
            last_cache_bytes: self.last_cache_bytes,
        }
    }

    fn measure(
        &self,
        kernel: &'static dyn Kernel,
        seats: &[Option<u32>],
        repetitions: usize,
    ) -> Result<harness::Measurement, Failure> {
        harness::measure(&harness::Cell { kernel, params: self.params, seats, repetitions }, self.bench)
    }
}

/// The most that a cell takes in the file, its laps apart: names, passport and reasons.
const CELL_BYTES: u64 = 8192;
/// The most that a lap takes in the file: numbers of twenty digits behind their names.
const LAP_BYTES: u64 = 512;

/// The most that a cell will take in the file.
fn room(cell: &Cell, repetitions: u64) -> u64 {
    CELL_BYTES + (cell.seats.len() as u64).saturating_mul(repetitions).saturating_mul(LAP_BYTES)
}

/// Whether a sweep still has to measure the cell.
pub fn is_open(cell: &Cell) -> bool {
    matches!(cell.outcome.status, Status::Pending | Status::Aborted)
}

fn outcome(status: Status, reason: impl Into<String>) -> Outcome {
    Outcome { status, reason: Some(reason.into()) }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// How far the predictions have been off so far.
#[derive(Default)]
struct Pace {
    predicted: Duration,
    taken: Duration,
}

impl Pace {
    fn learn(&mut self, predicted: Duration, taken: Duration) {
        self.predicted += predicted;
        self.taken += taken;
    }

    fn correct(&self, predicted: Duration) -> Duration {
        if self.predicted.is_zero() {
            return predicted;
        }
        // One odd cell at the start must not stop a sweep or let it run for ever.
        predicted.mul_f64((self.taken.as_secs_f64() / self.predicted.as_secs_f64()).clamp(0.2, 5.0))
    }
}
