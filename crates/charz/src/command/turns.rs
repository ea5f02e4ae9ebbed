//! Two sides on one stage, for whoever compares what is measured now.

use std::path::{Path, PathBuf};
use std::time::Duration;

use charz_kernels::Params;

use super::sweep::{Stage, cannot_record};
use crate::exit::Error;
use crate::invoke::Invoke;
use crate::limits::Limits;
use crate::noise::{Floors, Subject, usual_file};
use crate::point;
use crate::predict::Predictor;
use crate::report::{Cell, Report};
use crate::sweep::{self, Listener, Recorder, Sweep};

/// One of the two.
pub(super) struct Side<'a> {
    pub(super) invoke: &'a dyn Invoke,
    pub(super) params: Params,
    pub(super) predictor: &'a Predictor,
    pub(super) report: &'a mut Report,
    pub(super) recorder: &'a mut dyn Recorder,
}

/// Has the sides take turns, in an order drawn from `seed`, for no longer than `budget`.
pub(super) fn take_turns(
    stage: &Stage,
    sides: [Side<'_>; 2],
    seed: u64,
    budget: Duration,
    listener: &mut dyn Listener,
) -> Result<(), Error> {
    let orders = sides.each_ref().map(|side| stage.order(&side.params));
    let facts = sides.each_ref().map(|side| stage.facts(side.report, side.params));
    let mut place = 0..;
    let mut sides = sides.map(|side| {
        let place: usize = place.next().expect("two sides");
        sweep::Side {
            sweep: Sweep {
                invoke: side.invoke,
                order: &orders[place],
                params: side.params,
                machine: &stage.machine,
                facts: &facts[place],
                stop: stage.signals.stop(),
                predictor: side.predictor,
                limits: &Limits::read,
                budget,
            },
            report: side.report,
            recorder: side.recorder,
        }
    });
    sweep::take_turns(&mut sides, seed, listener).map_err(cannot_record)
}

/// The file of noise floors: the one that was named, or the user's.
pub(super) fn noise_file(named: Option<&Path>) -> Option<PathBuf> {
    named.map(Path::to_owned).or_else(|| usual_file(|name| std::env::var_os(name)))
}

/// What a floor of one of the report's cells holds for.
pub(super) fn subject(report: &Report, cell: &Cell) -> Subject {
    Subject {
        host: report.host.name.clone(),
        processor: report.host.processor.clone(),
        kernels: report.tool.kernels.clone(),
        kernel: cell.kernel.clone(),
        workers: cell.workers,
        parameters: point::parameters(cell, &report.plan),
    }
}

/// The largest floor that is known of any of the reports' cells, and a sentence if the file could not be read. One margin
/// holds for a comparison as a whole, so that the noisiest cell has a say in it.
pub(super) fn largest_floor(named: Option<&Path>, reports: [&Report; 2]) -> (Option<f64>, Option<String>) {
    let Some(file) = noise_file(named) else { return (None, None) };
    match Floors::read(&file) {
        Ok(floors) => {
            let of = |report: &Report| {
                let cells = report.cells.iter();
                let floors = cells.filter_map(|cell| floors.of(&subject(report, cell)));
                floors.max_by(f64::total_cmp)
            };
            (reports.into_iter().filter_map(of).max_by(f64::total_cmp), None)
        }
        Err(why) => (None, Some(format!("{file:?} {why}: no noise floor is known"))),
    }
}
