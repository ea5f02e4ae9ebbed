//! Numbers with two sides: quotients, and shares between the reports of two machines.

use super::{evaluated, of_document};
use crate::{Figure, GapKind, Kernels, ReplicatedFigure, Status, Target, Verdict, evaluate, feasibility, find};
use charz_data::report::{PageKind, Point, Report, Unit, fixtures};
use charz_estimate::fixtures::report;

/// Hand-overs, signals and broadcasts on a machine with this clock, of these pairs of times in turn.
fn sampled(hz: f64, pairs: [(u64, u64); 2]) -> Report {
    let mut report = report("Core:2 PU:1");
    report.host.claimed_hz = Some(hz);
    for kernel in ["unlock-pthread", "signal-pthread", "broadcast-pthread"] {
        let pairs: Vec<(u64, u64)> = pairs.into_iter().flat_map(|pair| [pair; 60]).collect();
        let cell = fixtures::cell(kernel, 2, Unit::NanosecondsSampled, 1000.0).under("auto");
        report.cells.push(cell.timed(&pairs));
    }
    report
}

fn of_two(report: &Report, against: Option<&Report>) -> ReplicatedFigure {
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().filter(|figure| figure.number == "Section 6.4").collect();
    evaluate(document, &figures, report, against, Kernels::ANY).figures.remove(0)
}

/// 1000 cycles against 800 and 1200, then 3000 against 2000: in nanoseconds the first would never be the faster one.
#[test]
fn the_faster_one_of_two_machines_is_so_in_cycles() {
    let here = sampled(1e9, [(1000, 3000); 2]);
    let there = sampled(2e9, [(400, 1000), (600, 1000)]);
    let shares = |one: &Report, other: &Report| {
        let rows = of_two(one, Some(other)).rows.into_iter();
        let number = |row: crate::Row| row.here.unwrap();
        rows.map(number)
            .map(|here| (here.value, here.low.unwrap() <= here.value && here.value <= here.high.unwrap()))
            .collect::<Vec<_>>()
    };
    let [call, wait] = [(50.0, true), (0.0, true)];
    assert_eq!(shares(&here, &there), [call, wait, call, call, (100.0, true), (100.0, true)]);
    assert_eq!(shares(&there, &here), [call, (100.0, true), call, call, wait, wait]);
    assert_eq!(shares(&here, &here), [call; 6]);
    assert_eq!(of_two(&here, Some(&there)).status, Status::Done);
}

#[test]
fn one_report_has_no_share_between_two_machines() {
    let (here, mut there) = (sampled(1e9, [(1000, 3000); 2]), sampled(1e9, [(1000, 3000); 2]));
    let alone = of_two(&here, None);
    assert_eq!((alone.status, alone.rows[0].gap.as_ref().unwrap().kind), (Status::NotMeasured, GapKind::Open));
    let document = find("t3-4").unwrap();
    let figures: Vec<&Figure> = document.figures.iter().filter(|figure| figure.number == "Section 6.4").collect();
    let target = Target::flat(2, Kernels::ANY);
    assert_eq!(feasibility(document, &figures, &target).figures[0].status, Status::NotMeasured);
    assert_eq!(document.cells(&figures, &target).len(), 3, "a sweep measures its side");
    there.host.claimed_hz = None;
    assert!(of_two(&here, Some(&there)).rows[0].gap.as_ref().unwrap().reason.contains("clock"));
    there.cells.remove(0);
    assert_eq!(of_two(&here, Some(&there)).rows[0].gap.as_ref().unwrap().kind, GapKind::Open);
}

#[test]
fn published_quotients_are_beside_quotients() {
    let mut report = report("Core:4 PU:1");
    for (kernel, workers, unit, value) in [
        ("npb-lu-processes", 2, Unit::OpsPerSecond, 4e9),
        ("npb-lu-processes", 4, Unit::OpsPerSecond, 5e9),
        ("pages-flags-each", 1, Unit::MillisecondsPerGib, 80.0),
        ("pages-flags", 1, Unit::MillisecondsPerGib, 16.0),
    ] {
        report.cells.push(fixtures::cell(kernel, workers, unit, value).under("round-robin"));
    }
    let quotient = |document: &str, number: &str, machine: &str| {
        let rows = of_document(document, number, &report, Kernels::ANY).rows;
        let is_it =
            |row: &crate::Row| row.unit == "times" && row.published.iter().any(|range| range.machine == machine);
        rows.into_iter().find(is_it).unwrap()
    };
    let lu = quotient("tacc", "Figure 5", "opteron");
    let here = lu.here.unwrap();
    assert!((here.value - 1.25).abs() < 1e-9 && here.low.unwrap() < 1.25 && here.high.unwrap() > 1.25, "{here:?}");
    assert!((lu.ratio.unwrap() - 1.25 / 1.3).abs() < 1e-9);
    let memstat = quotient("solaris", "Wicked fast memstat", "t5440").here.unwrap();
    assert!((memstat.value - 5.0).abs() < 1e-9, "{memstat:?}");
    let counters = quotient("solaris", "Part 2: Virtual Memory, counters", "t4-4");
    assert_eq!(counters.gap.unwrap().kind, GapKind::Open, "neither side was measured");
    assert!(
        evaluated("Section 4.2", &report).rows.iter().any(|row| row.published.iter().any(|range| range.low == 1.7))
    );
}

/// With a thread on each CPU they differ in which one is on which.
#[test]
fn mappings_that_take_every_cpu_differ_by_their_order() {
    let verdict = |order: [u32; 4]| {
        let mut report = report("Core:2 PU:2");
        for (mapping, seats, value) in [("dumb", [0, 1, 2, 3], 20e9), ("round-robin", order, 10e9)] {
            for seats in [seats.to_vec(), [seats; 2].concat()] {
                let cell = fixtures::cell("arith-int", seats.len() as u64, Unit::OpsPerSecond, value);
                report.cells.push(cell.under(mapping).seated(&seats));
            }
        }
        evaluated("Figure 1", &report).claims[2].verdict
    };
    assert_eq!([[0, 2, 1, 3], [0, 1, 2, 3]].map(verdict), [Verdict::Holds, Verdict::Undecided]);
}

#[test]
fn small_pages_are_slower_where_more_than_a_first_level_tlb_are_read() {
    let mut report = report("Core:2 PU:1");
    report.host.claimed_hz = Some(1e9);
    for (pages, time) in [(PageKind::Small, 8.0), (PageKind::Transparent, 4.0)] {
        let point =
            Point { size_bytes: Some(512 << 10), pages: Some(pages), stride_bytes: Some(512), ..Point::default() };
        let cell = fixtures::cell("chase-stride", 1, Unit::NanosecondsPerStep, time).under("round-robin");
        report.cells.push(cell.at(point));
    }
    assert_eq!(of_document("tacc", "Figure 3", &report, Kernels::ANY).claims[2].verdict, Verdict::Holds);
}
