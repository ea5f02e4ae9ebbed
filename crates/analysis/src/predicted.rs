//! What a model makes of a kernel's measured configurations.

use charz_data::Arrange;
use std::collections::BTreeSet;

use charz_data::report::{Cell, Point, Report, Status};
use charz_model::{Model, Outcome, Placed, Prediction, Table, Topology, fit};

/// Where the threads of a configuration are; floating ones count as spread evenly.
fn placed(topology: &Topology, cell: &Cell) -> Placed {
    let cpus: Option<Vec<u32>> = cell.seats.iter().copied().collect();
    cpus.map_or_else(|| topology.spread(cell.workers as usize), |cpus| topology.seated(&cpus))
}

/// The names of the mappings of configurations that have a number, with their threads.
pub fn mapped<'a>(cells: &[&'a Cell]) -> impl Iterator<Item = (&'a str, usize)> {
    let valued = cells.iter().filter(|cell| cell.value().is_some());
    valued.map(|cell| (cell.mapping.as_str(), cell.workers as usize))
}

/// The points of configurations with a CPU for each thread, suspect ones left out where three others are there.
pub fn points(topology: &Topology, cells: &[&Cell]) -> Table {
    let point = |cell: &&Cell| Some((placed(topology, cell), cell.value()?)).filter(|(own, _)| topology.holds(own));
    let ok: Vec<(Placed, f64)> = cells.iter().filter(|cell| cell.status == Status::Ok).filter_map(point).collect();
    let fitted = if ok.len() >= 3 { ok } else { cells.iter().filter_map(point).collect() };
    Table { fitted, held_back: Vec::new() }
}

/// Whether mappings with so many threads show what a mapping does with some: one thread and all CPUs are the same under any, and between them
/// one of its points is enough. Lists of CPUs are all of one mapping.
pub fn is_measured<'a>(
    topology: &Topology,
    all: impl IntoIterator<Item = (&'a str, usize)>,
    mapping: &str,
    threads: usize,
) -> bool {
    let between = 2..topology.cpus();
    let is_list = |mapping: &str| mapping.starts_with("list:");
    let is_like = |own: &str| own == mapping || is_list(own) && is_list(mapping);
    !between.contains(&threads) || all.into_iter().any(|(own, threads)| is_like(own) && between.contains(&threads))
}

/// What the model says of each configuration of a kernel at a point, by ascending number of threads, mapping by mapping: of mappings with one that
/// was not measured since it is predicted. Empty where there is none, and without a model.
pub(crate) fn lines<'a>(report: &'a Report, kernel: &str, point: Point) -> Vec<(&'a str, Vec<(u64, Prediction)>)> {
    let cells: Vec<&Cell> = report
        .cells
        .iter()
        .filter(|cell| cell.kernel == kernel && cell.point == point && cell.unit.more_is_better())
        .collect();
    if !cells.iter().any(|cell| cell.is_predicted()) {
        return Vec::new();
    }
    let topology = Topology::of(&report.machine);
    let Outcome::Model(model) = fit(&topology, &points(&topology, &cells)) else { return Vec::new() };
    let left_out = cells.iter().filter(|cell| cell.is_predicted());
    let mappings: BTreeSet<&str> = left_out.map(|cell| cell.mapping.as_str()).collect();
    mappings.into_iter().map(|mapping| (mapping, line(&topology, &model, &cells, mapping))).collect()
}

fn line(topology: &Topology, model: &Model, cells: &[&Cell], mapping: &str) -> Vec<(u64, Prediction)> {
    let own = cells.iter().filter(|cell| cell.mapping == mapping).map(|cell| (cell.workers, placed(topology, cell)));
    let within = own.filter(|(_, placed)| topology.holds(placed));
    let is_known = |threads: u64| is_measured(topology, mapped(cells), mapping, threads as usize);
    let predict = |(threads, placed): (u64, Placed)| (threads, model.predict_under(is_known(threads), &placed));
    let mut line: Vec<(u64, Prediction)> = within.map(predict).collect();
    line.arrange_by_key(|(threads, _)| *threads);
    line
}
