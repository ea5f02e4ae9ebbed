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

/// The points of configurations with a CPU for each thread, suspect ones left out where three others are there.
pub fn points(topology: &Topology, cells: &[&Cell]) -> Table {
    let point = |cell: &&Cell| Some((placed(topology, cell), cell.value()?)).filter(|(own, _)| topology.holds(own));
    let ok: Vec<(Placed, f64)> = cells.iter().filter(|cell| cell.status == Status::Ok).filter_map(point).collect();
    let fitted = if ok.len() >= 3 { ok } else { cells.iter().filter_map(point).collect() };
    Table { fitted, held_back: Vec::new() }
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
    let mut line: Vec<(u64, Prediction)> = within.map(|(workers, placed)| (workers, model.predict(&placed))).collect();
    line.arrange_by_key(|(threads, _)| *threads);
    line
}
