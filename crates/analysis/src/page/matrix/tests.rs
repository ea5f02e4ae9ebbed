//! Pairs of a synthetic machine.

use charz_topology::{Source, discover};

use super::*;
use charz_data::report::{Measured, MemoryHome, Status, Unit, fixtures};

/// A report of pairs on a synthetic machine, each with a time and a status.
fn report(synthetic: &str, kernel: &str, pairs: &[([u32; 2], f64, Status)]) -> Report {
    let cell = |&([home, other], time, status): &([u32; 2], f64, Status)| {
        let mut cell = fixtures::cell(kernel, 2, Unit::NanosecondsPerOp, time)
            .under(&format!("list:{home},{other}"))
            .seated(&[home, other]);
        (cell.status, cell.reason) = (status, None);
        let has_number = matches!(status, Status::Ok | Status::Suspect);
        cell.capacity = has_number.then_some(Measured { value: time, interval: None });
        cell.summary = cell.summary.filter(|_| status != Status::Pending);
        cell
    };
    let mut report = fixtures::report(pairs.iter().map(cell).collect());
    report.machine = discover(&Source::Synthetic(synthetic.into())).unwrap();
    report
}

/// Two packages, of which each is a node with two cores.
const TWO: &str = "Package:2 [NUMA(memory=1GB)] L3:1 Core:2 PU:1";

fn two() -> Report {
    let pairs = [
        ([0, 1], 31.4, Status::Ok),
        ([2, 3], 7.25, Status::Suspect),
        ([0, 2], 120.0, Status::Ok),
        ([2, 0], 130.0, Status::Ok),
        ([1, 3], 110.0, Status::Invalid),
        ([3, 1], 0.0, Status::Pending),
    ];
    report(TWO, "c2c-cas", &pairs)
}

#[test]
fn classes_say_how_many_of_how_many() {
    let report = two();
    let matrix = Matrix::all(&report, "c2c-cas").remove(0);
    let rows: Vec<_> = matrix
        .rows()
        .into_iter()
        .map(|row| {
            let name = class_name(&row.class, &report.machine);
            (name, row.measured, row.pairs, row.suspect, row.values.map(|values| values.median()))
        })
        .collect();
    let expected = [
        ("cache, socket 0 node 0", 1, 1, 0, 31.4),
        ("cache, socket 1 node 1", 1, 1, 1, 7.25),
        ("machine, socket 0 node 0 to socket 1 node 1", 1, 4, 0, 120.0),
        ("machine, socket 1 node 1 to socket 0 node 0", 1, 4, 0, 130.0),
    ];
    let expected = expected
        .map(|(name, measured, pairs, suspect, median)| (name.into(), measured, Some(pairs), suspect, Some(median)));
    assert_eq!(rows, expected);
}

#[test]
fn classes_name_nodes_by_the_systems_numbers() {
    let mut report = two();
    report.machine.numa_nodes[0].os_id = Some(7);
    let matrix = Matrix::all(&report, "c2c-cas").remove(0);
    let names: Vec<String> = matrix.rows().iter().map(|row| class_name(&row.class, &report.machine)).collect();
    assert!(names[0].contains("node 7") && names.iter().all(|name| !name.contains("node 0")), "{names:?}");
}

#[test]
fn each_home_of_the_lines_has_a_matrix() {
    let mut report = two();
    let third = report.cells.clone().into_iter().map(|mut cell| {
        cell.point.memory = Some(MemoryHome::Node(1));
        cell.capacity = cell.capacity.map(|found| Measured { value: 2.0 * found.value, ..found });
        cell
    });
    report.cells.extend(third.collect::<Vec<_>>());
    let medians = |matrix: &Matrix<'_>| {
        let values = matrix.rows().into_iter().filter_map(|row| row.values);
        values.map(|values| values.median()).collect::<Vec<_>>()
    };
    let found = Matrix::all(&report, "c2c-cas");
    let homes: Vec<_> = found.iter().map(|matrix| matrix.home).collect();
    assert_eq!(homes, [None, Some(MemoryHome::Node(1))]);
    assert_eq!(medians(&found[1]), medians(&found[0]).iter().map(|ns| 2.0 * ns).collect::<Vec<_>>());
}

#[test]
fn what_is_no_pair_of_strands_is_no_matrix() {
    assert!(Matrix::all(&two(), "c2c-exchange").is_empty(), "the kernel was not measured");
    assert!(Matrix::all(&report(TWO, "cas-counter", &[([0, 1], 1.0, Status::Ok)]), "cas-counter").is_empty());
    let mut floating = two();
    floating.cells[1].seats = vec![None, None];
    assert!(Matrix::all(&floating, "c2c-cas").is_empty());
    let mut elsewhere = two();
    elsewhere.cells[1].seats = vec![Some(2), Some(99)];
    assert!(Matrix::all(&elsewhere, "c2c-cas").is_empty(), "the machine has no such strand");
}
