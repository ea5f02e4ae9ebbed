use charz_topology::{Source, discover};
use serde_json::Value;

use super::heat::square;
use super::*;
use crate::look::Look;
use charz_data::report::{Outcome, Report, Status, Summary, Unit, invented};

/// A report of pairs on a synthetic machine, each with a time and a status.
fn report(synthetic: &str, kernel: &str, pairs: &[([u32; 2], f64, Status)]) -> Report {
    let cell = |&([home, other], time, status): &([u32; 2], f64, Status)| {
        let mut cell = invented::cell(kernel, 2, Unit::NanosecondsPerOp, time)
            .under(&format!("list:{home},{other}"))
            .seated(&[home, other]);
        cell.outcome = Outcome { status, reason: None };
        cell.summary = (status != Status::Pending).then(|| {
            let summary = cell.summary.unwrap();
            Summary { value: (status != Status::Invalid).then_some(time), interval: None, ..summary }
        });
        cell
    };
    let mut report = invented::report(pairs.iter().map(cell).collect());
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

fn page(report: &Report, width: usize, colours: bool) -> String {
    let matrix = Matrix::of(report, "c2c-cas").unwrap();
    let mut out = Vec::new();
    square(&matrix, &Look { columns: width, colour: colours, ..Look::PLAIN }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_cell_shows_its_number_its_doubt_or_its_gap() {
    let found = page(&two(), 200, false);
    let table: Vec<&str> = found.lines().take(6).collect();
    assert_eq!(
        table,
        [
            "     0    1     2    3",
            "0        31   120    ·",
            "1               ·    x",
            "",
            "2  130    ·       7.2?",
            "3    ·    ·",
        ]
    );
}

#[test]
fn colours_change_no_number() {
    let (bare, coloured) = (page(&two(), 200, false), page(&two(), 200, true));
    let mut stripped = String::new();
    for (at, part) in coloured.split('\u{1b}').enumerate() {
        stripped += if at == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    assert_eq!(stripped, bare);
    let background = |text: &str| coloured.split("48;5;").find(|part| part.contains(text)).map(|part| &part[..3]);
    assert_eq!(background("7.2?"), Some("114"), "the shortest is green");
    assert_eq!(background("130"), Some("215"), "{coloured:?}");
    assert_eq!(coloured.matches("48;5;").count(), 4, "what has no number has no colour");
}

#[test]
fn what_has_no_room_is_left_to_the_classes() {
    let found = page(&two(), 20, false);
    assert!(found.starts_with("4 strands have no room in 20 columns") && found.lines().count() == 1, "{found}");
}

#[test]
fn classes_say_how_many_of_how_many() {
    let report = two();
    let matrix = Matrix::of(&report, "c2c-cas").unwrap();
    let rows: Vec<_> = matrix
        .rows()
        .into_iter()
        .map(|row| {
            let name = class_name(&row.class, &report.machine);
            (name, row.measured, row.pairs, row.suspect, row.values.map(|values| values.median()))
        })
        .collect();
    let expected = [
        ("cache, package 0 node 0", 1, 1, 0, 31.4),
        ("cache, package 1 node 1", 1, 1, 1, 7.25),
        ("machine, package 0 node 0 to package 1 node 1", 1, 4, 0, 120.0),
        ("machine, package 1 node 1 to package 0 node 0", 1, 4, 0, 130.0),
    ];
    let expected = expected
        .map(|(name, measured, pairs, suspect, median)| (name.into(), measured, Some(pairs), suspect, Some(median)));
    assert_eq!(rows, expected);
}

#[test]
fn programs_get_numbers_and_nothing_for_none() {
    let report = two();
    let mut out = Vec::new();
    json(&report, &mut out).unwrap();
    let found: Value = serde_json::from_slice(&out).unwrap();
    let square = &found["matrices"][0];
    assert_eq!((&square["mode"], &square["strands"]), (&"cas".into(), &serde_json::json!([0, 1, 2, 3])));
    let values = serde_json::json!([
        [null, 31.4, 120.0, null],
        [null, null, null, null],
        [130.0, null, null, 7.25],
        [null, null, null, null],
    ]);
    assert_eq!((&square["values"], &square["suspect"]), (&values, &serde_json::json!([[2, 3]])));

    let mut out = Vec::new();
    csv(&report, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    let expected = [
        "from,to,home,mode,ns,low,high,status,marks",
        "0,1,0,cas,31.4,,,ok,",
        "0,2,0,cas,120,,,ok,",
        "1,3,0,cas,,,,invalid,",
        "2,0,1,cas,130,,,ok,",
        "2,3,1,cas,7.25,,,suspect,",
        "3,1,1,cas,,,,pending,",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn what_is_no_pair_of_strands_is_no_matrix() {
    assert!(Matrix::of(&two(), "c2c-exchange").is_none(), "nobody measured it");
    assert!(Matrix::of(&report(TWO, "cas-counter", &[([0, 1], 1.0, Status::Ok)]), "cas-counter").is_none());
    let mut floating = two();
    floating.cells[1].seats = vec![None, None];
    assert!(Matrix::of(&floating, "c2c-cas").is_none());
    let mut elsewhere = two();
    elsewhere.cells[1].seats = vec![Some(2), Some(99)];
    assert!(Matrix::of(&elsewhere, "c2c-cas").is_none(), "the machine has no such strand");
}
