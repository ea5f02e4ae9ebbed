//! Where to put the threads of a load while a neighbour runs that was asked for: by what each placement delivered meanwhile.

use charz_data::report::{Cell, Report};
use charz_estimate::{Estimate, Estimates, Relation};

use super::{Advice, Holds, Load, on, shared};

/// The advice beside a neighbour, with all placements that were measured there.
#[derive(Debug)]
pub struct Beside<'a> {
    /// The placement that delivered most with the fewest threads.
    pub advice: Advice<'a>,
    /// The advised placement, then the others, the smallest loss first.
    pub placements: Vec<Placed<'a>>,
}

/// A placement beside a neighbour.
#[derive(Debug)]
pub struct Placed<'a> {
    /// What it delivered.
    pub delivered: Estimate<'a>,
    /// What it loses beside the advised one; `None` of that.
    pub loses: Option<Relation<'a>>,
    /// The share of its performance in the quiet report that it delivered, as a fraction.
    pub kept: Option<f64>,
    /// The share of its own work that the neighbour did meanwhile, as a fraction.
    pub neighbour_kept: Option<f64>,
}

/// The advice on each load of a report that was measured beside a neighbour. `quiet` is the report without it, and `neighbour_kept` the
/// share of its own work that it did while a cell was measured.
pub fn beside<'a>(again: &'a Report, quiet: &Report, neighbour_kept: impl Fn(&Cell) -> Option<f64>) -> Vec<Beside<'a>> {
    let (table, alone) = (Estimates::shared(again), Estimates::of(quiet));
    let series = table.series();
    let with = |advice: Advice<'a>| {
        let placed = |delivered: Estimate<'a>, loses| {
            let own = delivered.cell;
            let is_own = |cell: &&Cell| {
                (&cell.kernel, &cell.mapping, cell.point, cell.workers)
                    == (&own.kernel, &own.mapping, own.point, own.workers)
            };
            let before = quiet.cells.iter().find(is_own).and_then(|cell| alone.estimate(cell));
            Placed {
                delivered,
                loses,
                kept: before.map(|before| delivered.unscaled().performance_beside(&before.unscaled())),
                neighbour_kept: neighbour_kept(own),
            }
        };
        let others = advice.regret.iter().map(|loss| placed(loss.estimate, Some(*loss)));
        let placements: Vec<Placed<'a>> = [placed(advice.best, None)].into_iter().chain(others).collect();
        Beside { advice: shared::with(advice, Holds::Beside), placements }
    };
    Load::ALL.into_iter().flat_map(|load| on(load, &table, &series)).map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::Unit;
    use charz_data::report::fixtures::{cell, report};

    /// A hog halves what two bound threads do; unbound threads give way to it, and one thread meets it nowhere.
    #[test]
    fn the_placement_that_delivers_most_beside_a_neighbour_is_advised() {
        let rate = |mapping: &str, threads: u64, value: f64, share: f64| {
            let cell = cell("arith-int", threads, Unit::OpsPerSecond, value * 1e9).under(mapping).delivering(share);
            if mapping == "auto" { cell } else { cell.seated(&[0, 1][..threads as usize]) }
        };
        let of = |shares: [f64; 3]| {
            let [two, auto, one] = shares;
            report(vec![rate("rr", 2, 4.0, two), rate("auto", 2, 4.0, auto), rate("rr", 1, 2.0, one)]).on(2)
        };
        let (quiet, again) = (of([1.0; 3]), of([0.5, 0.65, 1.0]));
        let kept = |cell: &Cell| Some(1.0 - 0.25 * cell.workers as f64);
        let found = beside(&again, &quiet, kept);
        let names: Vec<_> = found[0]
            .placements
            .iter()
            .map(|placed| (placed.delivered.cell.mapping.as_str(), placed.delivered.cell.workers))
            .collect();
        assert_eq!(names, [("auto", 2), ("rr", 2), ("rr", 1)]);
        let first = &found[0].placements[0];
        assert!((first.kept.unwrap() - 0.65).abs() < 1e-9 && first.neighbour_kept == Some(0.5), "{first:?}");
        assert!(found[0].placements[1].loses.is_some_and(|loss| loss.is_shown() && loss.share > 0.2));
    }
}
