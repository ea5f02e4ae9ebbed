//! How many levels of recursion pay where matrices are multiplied by activities, and how far that is from a library.

use super::{Claim, Facts, Finding};
use charz_data::Role;
use charz_data::card::Multiplier;
use charz_data::params::Params;
use charz_data::report::{Cell, Unit};
use charz_estimate::{Best, Estimate, grouped};

/// The time of a product of matrices of order N, from a rate of its 2N³ operations.
pub fn millis(cell: &Cell, plan: &Params) -> Option<f64> {
    let order = cell.point.params(plan).order as f64;
    cell.value().filter(|_| cell.unit == Unit::OpsPerSecond).map(|rate| 2e3 * order.powi(3) / rate)
}

/// The depth of recursion that is the fastest.
#[derive(Debug)]
pub struct Product<'a> {
    pub best: Estimate<'a>,
    /// How many other depths are not significantly slower.
    pub alike: usize,
    /// The order of the matrices, and the depth.
    pub order: u64,
    pub depth: u64,
    pub millis: f64,
    /// The deepest that was measured, where that is another one.
    pub deepest: Option<(u64, Estimate<'a>)>,
    /// A library, under the same mapping with as many threads.
    pub peer: Option<Estimate<'a>>,
}

/// For each runtime, mapping, number of threads and order.
pub(super) fn products<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let report = facts.report;
    let plan = &report.plan.params;
    let of = |by: Multiplier| {
        let kernels = report.kernels_in(|role| *role == Role::Product(by));
        let cells = report.cells.iter().filter(move |cell| kernels.contains(&cell.kernel.as_str()));
        cells.filter(|cell| millis(cell, plan).is_some()).filter_map(Estimate::of)
    };
    let libraries: Vec<Estimate<'_>> = of(Multiplier::Library).collect();
    let groups = grouped(of(Multiplier::Recursion), |number| {
        let Cell { kernel, mapping, workers, point, .. } = number.cell;
        (kernel.as_str(), mapping.as_str(), *workers, point.params(plan).order)
    });
    groups.iter().filter(|depths| depths.len() > 1).filter_map(|depths| of_depths(depths, &libraries, plan)).collect()
}

fn of_depths<'a>(depths: &[Estimate<'a>], libraries: &[Estimate<'a>], plan: &Params) -> Option<Finding<'a>> {
    let depth = |number: &Estimate<'_>| number.cell.point.params(plan).depth;
    let order = |cell: &Cell| cell.point.params(plan).order;
    let Best { number: best, alike, .. } = Best::of(depths)?;
    let deepest = depths.iter().copied().max_by_key(depth).map(|deepest| (depth(&deepest), deepest));
    let cell = best.cell;
    let same = |library: &&Estimate<'_>| {
        let other = library.cell;
        (&other.mapping, other.workers, order(other)) == (&cell.mapping, cell.workers, order(cell))
    };
    let product = Product {
        best,
        alike: alike.len(),
        order: order(cell),
        depth: depth(&best),
        millis: millis(cell, plan)?,
        deepest: deepest.filter(|(deepest, _)| *deepest != depth(&best)),
        peer: libraries.iter().find(same).copied(),
    };
    Some(Finding::on(cell, Some(product.depth as f64), Claim::Product(product)))
}
