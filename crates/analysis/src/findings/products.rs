//! How many levels of recursion pay where matrices are multiplied by activities, and how far that is from a library.

use super::on_cell;
use charz_data::Role;
use charz_data::card::Multiplier;
use charz_data::escape::counted;
use charz_data::params::Params;
use charz_data::report::{Cell, Finding, FindingKind, Report, Unit};
use charz_data::units;
use charz_estimate::{Best, Estimate, grouped};
use charz_words::estimate::doubt_of;
use charz_words::estimate::times;

/// The time of a product of matrices of order N, from a rate of its 2N³ operations.
pub(crate) fn millis(cell: &Cell, plan: &Params) -> Option<f64> {
    let order = cell.point.params(plan).order as f64;
    cell.value().filter(|_| cell.unit == Unit::OpsPerSecond).map(|rate| 2e3 * order.powi(3) / rate)
}

/// For each runtime, mapping, number of threads and order.
pub(super) fn products(report: &Report) -> Vec<Finding> {
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
    groups.iter().filter_map(|depths| of_depths(depths, &libraries, plan)).collect()
}

fn of_depths(depths: &[Estimate<'_>], libraries: &[Estimate<'_>], plan: &Params) -> Option<Finding> {
    let depth = |number: &Estimate<'_>| number.cell.point.params(plan).depth;
    let order = |cell: &Cell| cell.point.params(plan).order;
    let Best { number: best, alike, .. } = Best::of(depths)?;
    let deepest = depths.iter().max_by_key(|number| depth(number)).filter(|_| depths.len() > 1)?;
    let cell = best.cell;
    let ties = match alike.len() {
        0 => String::new(),
        others => format!(" (not significantly faster than {})", counted(others, "other depth")),
    };
    let cost = match depth(deepest) {
        deepest if deepest == depth(&best) => ", the deepest that was measured".to_owned(),
        other if best.meets(deepest) => format!("; depth {other} is not significantly slower"),
        other => format!("; depth {other} takes {} times as long", times(&best, deepest)),
    };
    let same = |library: &&Estimate<'_>| {
        let other = library.cell;
        (&other.mapping, other.workers, order(other)) == (&cell.mapping, cell.workers, order(cell))
    };
    let library = libraries.iter().find(same).map(|library| {
        let share = units::percent(best.value / library.value);
        format!("; {share}{} of the rate of {}", doubt_of(&best, library), library.cell.kernel)
    });
    let time = units::nanos(millis(cell, plan)? * 1e6);
    let text = format!(
        "{} {}, {}, order {}: depth {} is the fastest, {time}{}{ties}{cost}{}",
        cell.kernel,
        cell.mapping,
        counted(cell.workers as usize, "thread"),
        order(cell),
        depth(&best),
        units::doubt(best.is_doubtful()),
        library.unwrap_or_default()
    );
    Some(on_cell(cell, FindingKind::Products, Some(depth(&best) as f64), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Point, fixtures};
    use charz_estimate::fixtures::assert_words;

    /// What takes so many milliseconds at an order of 1024.
    fn cell(kernel: &str, workers: u64, depth: Option<u64>, millis: f64) -> Cell {
        let point = Point { order: Some(1024), depth, ..Point::default() };
        let rate = 2e3 * 1024_f64.powi(3) / millis;
        fixtures::cell(kernel, workers, Unit::OpsPerSecond, rate).at(point)
    }

    fn said(cells: Vec<Cell>) -> Vec<Finding> {
        products(&fixtures::report(cells))
    }

    #[test]
    fn the_best_depth_is_named_with_the_cost_of_the_deepest_and_the_share_of_the_library() {
        let times = [(1, 150.0), (2, 100.0), (3, 120.0), (5, 2000.0)];
        let mut cells: Vec<Cell> =
            times.iter().map(|&(depth, millis)| cell("matmul-mutex", 2, Some(depth), millis)).collect();
        // Of other numbers of threads, neither library nor recursion is compared.
        cells.extend([cell("matmul-library", 2, None, 25.0), cell("matmul-library", 4, None, 1.0)]);
        cells.push(cell("matmul-mutex", 4, Some(1), 1.0));
        let [found] = said(cells).try_into().unwrap();
        assert_eq!((found.kind, found.value, found.workers), (FindingKind::Products, Some(2.0), Some(2)));
        assert_words(
            &found.text,
            &["order 1024: depth 2", "100 ms", "depth 5 takes 20.0 (19.4 to 20.6) times", "25", "matmul-library"],
        );
    }

    #[test]
    fn the_time_is_that_of_the_operations_of_the_definition() {
        assert!((millis(&cell("matmul-mutex", 1, Some(1), 70.0), &Params::SMALL).unwrap() - 70.0).abs() < 1e-9);
        let nanos = fixtures::cell("matmul-mutex", 1, Unit::Nanoseconds, 1.0);
        assert_eq!(millis(&nanos, &Params::SMALL), None, "a report that another program wrote");
    }

    #[test]
    fn an_order_that_the_whole_plan_has_counts() {
        let mut report =
            fixtures::report(vec![cell("matmul-mutex", 2, Some(1), 10.0), cell("matmul-mutex", 2, Some(2), 20.0)]);
        report.cells.iter_mut().for_each(|cell| cell.point.order = None);
        report.plan.params.order = 2048;
        let [found] = products(&report).try_into().unwrap();
        assert_words(&found.text, &["order 2048: depth 1", "80.0 ms", "depth 2 takes 2.00 (1.94 to 2.06) times"]);
    }

    #[test]
    fn one_depth_says_nothing() {
        assert_eq!(said(vec![cell("matmul-mutex", 2, Some(1), 1.0), cell("matmul-library", 2, None, 1.0)]), []);
    }
}
