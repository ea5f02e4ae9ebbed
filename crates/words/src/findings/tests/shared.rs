//! What threads feel of each other: waits that others hide, wake-ups beside them, and locks alone.

use super::*;
use charz_data::{COMMAND, Histogram};

pub(super) fn cases() -> Cases {
    // Of 2000 wake-ups 50 are so late beside them.
    let late = |ns: u64| {
        let seen = |cell: &mut Cell, ns: u64| {
            let times: Histogram = (0..2000).map(|at| if at % 40 == 0 { ns } else { 55_000 }).collect();
            cell.invocations[0].evidence.get_or_insert_default().wake_ups = Some(times);
        };
        let mut report = on(2, series("cas-counter", &[(1, 40e6), (2, 30e6)]));
        report.floor = vec![cell("noop", 1, 10.0)];
        report.cells.iter_mut().for_each(|cell| seen(cell, ns * cell.workers));
        report.floor.iter_mut().for_each(|cell| seen(cell, 60_000));
        report
    };
    let alone = ["acquire-tas", "acquire-mcs", "acquire-parking-lot"].iter().zip([40e6, 60e6, 50e6]);
    let alone = alone.flat_map(|(kernel, one)| {
        [(1, one), (2, one / 3.0)].map(|(workers, value)| cell(kernel, workers, value).in_order())
    });
    let alone: Vec<Cell> = alone.collect();
    // A core that computes for half a nanosecond per operation and waits for 144 ns.
    let computing = |contexts: &[(u64, u64)]| {
        let cell = |ops: u64, (workers, chains): (u64, u64)| {
            let (compute, k) = (ops as f64 / 2.0, (workers * chains) as f64);
            let point = Point { chains: Some(chains), ops_per_load: Some(ops), ..Point::default() };
            let ns = ((compute + 144.0) / k).max(compute) * workers as f64;
            cell("chase-compute", workers, ns).at(point).in_order().clocked(2e9).within(0.01)
        };
        let mut report =
            on(2, [0, 100].iter().flat_map(|ops| contexts.iter().map(|of| cell(*ops, *of))).collect::<Vec<_>>());
        report.machine.strands.iter_mut().for_each(|strand| strand.core = Some(0));
        report
    };
    let program = |two: f64| {
        let mut report =
            on(2, [(1, 100e6), (2, two)].map(|(workers, rate)| cell(COMMAND, workers, rate).in_order()).to_vec());
        report.machine.strands.iter_mut().for_each(|strand| strand.core = Some(0));
        report.cards.iter_mut().filter(|card| card.name == COMMAND).for_each(|card| card.role = Role::Program);
        report
    };
    let pools = vec![cell("pool-mcs", 2, 30e6), cell("pool-tas", 2, 20e6)];
    vec![
        ("late wake-ups of others", late(4_000_000)),
        ("wake-ups in time", late(200_000)),
        ("locks alone beside pools", on(4, [pools, alone].concat())),
        ("waits that chains hide", computing(&[(1, 1), (1, 2), (1, 8)])),
        ("waits that strands do not hide", computing(&[(1, 1), (2, 1)])),
        ("a program whose strands hide waits", program(77e6)),
        ("a program whose strands hide none", program(99e6)),
    ]
}
