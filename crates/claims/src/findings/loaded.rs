//! How latency grows under load: from cells that differ in the delay of the workers that load the memory.

use super::{Claim, Facts, Finding};
use charz_data::report::{Cell, Ending, Invocation, Point, Unit};
use charz_data::{Arrange, Role};
use charz_estimate::{Estimate, grouped};
use charz_stats::median;

/// From so many times the idle latency on the memory's queues have filled.
const FULL: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Steps between two portions.
    pub delay: u64,
    /// Bytes a second of all workers that load the memory.
    pub bytes_per_second: f64,
    /// Nanoseconds of a load that waits.
    pub ns: f64,
    pub doubtful: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The least load: the longest delay.
    pub idle: Load,
    /// The last load before the knee, and the one behind which all take twice as long as idle or more; `None` where there is none.
    pub knee: Option<(Load, Load)>,
    pub most: Load,
}

/// Where a curve turns up. `None` of fewer than two delays.
pub(super) fn knee(mut loads: Vec<Load>) -> Option<Knee> {
    // By what was asked for: where the memory is full, less delay no longer moves more bytes.
    loads.arrange_by_key(|load| std::cmp::Reverse(load.delay));
    let idle = *loads.first().filter(|_| loads.len() > 1)?;
    let is_full = |load: &Load| load.ns >= FULL * idle.ns;
    let free = loads.iter().rposition(|load| !is_full(load))?;
    let knee = loads.get(free + 1).map(|full| (loads[free], *full));
    let most = loads.iter().copied().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))?;
    Some(Knee { idle, knee, most })
}

pub(super) fn loaded<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let kernels = facts.report.kernels_in(|role| *role == Role::LoadedLatency);
    let is_loaded = |cell: &&Cell| kernels.contains(&cell.kernel.as_str()) && cell.unit == Unit::NanosecondsPerStep;
    let cells = facts.report.cells.iter().filter(is_loaded).filter(|cell| load(cell).is_some());
    let curves = grouped(cells, |cell| {
        let place = Point { delay: None, ..cell.point };
        (cell.kernel.as_str(), cell.mapping.as_str(), cell.workers, place)
    });
    let finding = |cells: &Vec<&'a Cell>| {
        let found = knee_of(cells)?;
        let value = found.knee.map(|(_, full)| full.bytes_per_second);
        Some(Finding::on(cells[0], value, Claim::Loaded(cells[0], found)))
    };
    curves.iter().filter_map(finding).collect()
}

/// The load of a cell that has a number and a delay.
fn load(cell: &Cell) -> Option<Load> {
    let (number, delay) = (Estimate::of(cell)?, cell.point.delay?);
    let bytes_per_second = bandwidth(cell)?;
    Some(Load { delay, bytes_per_second, ns: number.value, doubtful: number.is_doubtful() })
}

/// Bytes a second of all workers that load the memory beside the one that waits, as its times are put together: the median over the
/// invocations of the median of the repetitions that count.
pub fn bandwidth(cell: &Cell) -> Option<f64> {
    let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done);
    let rates = |invocation: &Invocation| median(invocation.clean_runs().map(|run| run.value(Unit::BytesPerSecond)));
    median(done.filter_map(rates))
}

/// The delay of the load at the knee of the curve that these cells make, which differ in their delays only.
pub fn knee_delay(cells: &[&Cell]) -> Option<u64> {
    knee_of(cells)?.knee.map(|(_, full)| full.delay)
}

fn knee_of(cells: &[&Cell]) -> Option<Knee> {
    knee(cells.iter().filter_map(|cell| load(cell)).collect())
}
