//! What shows under one load alone, reports of a part of a node, and several reports and names of one.

use charz_data::report::Point;

use super::causes::altered;
use super::visits::scaled;
use super::*;

/// With arithmetic by one thread, and with the latency of four sizes.
fn with_loads(report: &mut Report, host: usize, visit: usize) {
    let rate = 1.0 + 0.001 * ((5 * host + 3 * visit) % 7) as f64;
    let alone = |kernel| fixtures::cell(kernel, 1, Unit::OpsPerSecond, 1e9 * rate).seated(&[0]);
    let latency = |size| {
        let point = Point { size_bytes: Some(size), ..Point::default() };
        fixtures::cell("chase-random", 1, Unit::NanosecondsPerStep, 90.0 / rate).seated(&[0]).at(point)
    };
    let sizes = [1 << 14, 1 << 18, 1 << 22, 1 << 27].map(latency);
    let added = fixtures::report(["arith-int", "arith-float"].map(alone).into_iter().chain(sizes).collect());
    report.cells.extend(added.cells);
    report.cards.extend(added.cards.into_iter().filter(|card| card.name == "chase-random"));
}

#[test]
fn a_loss_under_one_load_has_its_whole_size() {
    for (kernels, load, share) in [("arith", 16, 0.9), ("arith", 1, 0.9), ("chase", 1 << 27, 0.75)] {
        let fleet = altered([12, 3], |host, visit, report| {
            with_loads(report, host, visit);
            let is_it = |cell: &charz_data::report::Cell| {
                cell.kernel.starts_with(kernels) && (cell.workers == load || cell.point.size_bytes == Some(load))
            };
            for cell in report.cells.iter_mut().filter(|cell| host == 7 && is_it(cell)) {
                let factor = if cell.unit.more_is_better() { share } else { 1.0 / share };
                cell.capacity.iter_mut().for_each(|number| number.value *= factor);
            }
        });
        let own = node(&fleet);
        assert_eq!((own.state, own.blame.len(), innocent(&fleet)), (State::Slow, 1, 0), "{kernels} {load}: {own:?}");
        for effect in [own.blame[0].effect, own.effects[&own.blame[0].quantity.replace("arith-float, ", "")]] {
            assert!((effect - (share - 1.0)).abs() < 0.03, "{kernels} {load}: {effect}");
        }
    }
}

/// As processors are that share one limit of power.
#[test]
fn nodes_that_differ_under_one_load_alone_are_well() {
    let fleet = altered([15, 3], |host, visit, report| {
        scaled(report, "arith", 1.0 + 0.02 * ((host % 5) as f64 - 2.0));
        with_loads(report, host, visit);
    });
    assert_eq!(fleet.count(State::Ok), 15, "{:?}", fleet.nodes[0]);
}
