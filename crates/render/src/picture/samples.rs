//! Figures of every kind, for tests: those of a page, and larger ones.

use crate::formats::tests::everything;
use charz_analysis::figure::{
    Axis, Body, Figure, Heatmap, JointPlot, MachineDiagram, Order, Part, Quantity, Scale, State, Tile, What,
};
use charz_analysis::page::{Source, page};

pub(super) fn all() -> Vec<Figure> {
    let own = [
        heat("heat-large", 48),
        heat("heat-image", 130),
        single(),
        nest("nest", [1, 2, 1, 2]),
        nest("nest-64", [2, 16, 1, 2]),
        nest("nest-512", [4, 16, 2, 4]),
    ];
    of_page().into_iter().chain(own).collect()
}

fn of_page() -> Vec<Figure> {
    let report = everything();
    page(&[Source { name: "all", report: &report }]).figures().cloned().collect()
}

fn drawn(is: fn(&Body) -> bool) -> Figure {
    of_page().into_iter().find(|figure| is(&figure.body)).expect("a page has every kind")
}

/// Throughput against workers, with gaps, doubts and limits.
pub(super) fn scaling() -> Figure {
    drawn(|body| matches!(body, Body::Lines(_)))
}

/// A row for each kernel.
pub(super) fn dots() -> Figure {
    drawn(|body| matches!(body, Body::Dots(_)))
}

/// Two times that gather in two places each.
pub(super) fn joint() -> Figure {
    drawn(|body| matches!(body, Body::Joint(JointPlot { y: Some(_), .. })))
}

/// One of them alone.
fn single() -> Figure {
    let mut figure = joint();
    if let Body::Joint(joint) = &mut figure.body {
        *joint = JointPlot {
            y: None,
            pairs: Vec::new(),
            second: Vec::new(),
            second_bands: Vec::new(),
            below: None,
            ..joint.clone()
        };
    }
    Figure { id: "single".into(), ..figure }
}

pub(super) fn figure(id: &str, title: &str, body: Body) -> Figure {
    Figure { id: id.into(), title: title.into(), about: vec!["What to see".into()], body, table: None }
}

pub(super) fn axis(label: &str, quantity: Quantity, scale: Scale) -> Axis {
    Axis { label: label.into(), quantity, scale }
}

/// Times between pairs of strands in two packages.
pub(super) fn heat(id: &str, side: usize) -> Figure {
    let tile = |row: usize, column: usize| match (row, column) {
        _ if row == column => Tile::NOTHING,
        (1, 3) => Tile { value: None, state: State::Missing, reason: Some(0) },
        _ => {
            let far = if row * 2 / side == column * 2 / side { 0.0 } else { 90.0 };
            let value = 40.0 + far + ((row * 7 + column * 13) % 11) as f64;
            let state = if (row + 2 * column) % 17 == 5 { State::Suspect } else { State::Ok };
            Tile { value: Some(value), state, reason: (state == State::Suspect).then_some(1) }
        }
    };
    let names: Vec<String> = (0..side).map(|at| at.to_string()).collect();
    let map = Heatmap {
        row_label: "home".into(),
        column_label: "other".into(),
        rows: names.clone(),
        columns: names,
        borders: vec![(side / 2, "package 0".into()), (side, "package 1".into())],
        tiles: (0..side * side).map(|at| tile(at / side, at % side)).collect(),
        quantity: Quantity::Nanos,
        reasons: vec!["moved away".into(), "noisy".into()],
        folded: 1,
    };
    figure(id, "Handing a line over, by pair of strands", Body::Heatmap(map))
}

/// A regular machine: packages, cores, slots and strands in each.
pub(super) fn nest(id: &str, [packages, cores, alus, strands]: [u32; 4]) -> Figure {
    let mut next = 0;
    let mut leaf = || {
        let id = next;
        next += 1;
        Part {
            what: What::Strand,
            label: id.to_string(),
            strand: Some(id),
            usable: id != 5,
            times: 1,
            parts: Vec::new(),
        }
    };
    let part = |what, label: String, parts| Part { what, label, strand: None, usable: true, times: 1, parts };
    let mut core = |at: u32| {
        let mut slot = |at| part(What::Alu, format!("ALU slot {at}"), (0..strands).map(|_| leaf()).collect());
        let inside = if alus > 1 { (0..alus).map(&mut slot).collect() } else { slot(0).parts };
        part(What::Core, format!("core {at}"), inside)
    };
    let package = |at: u32| {
        let cache = part(What::Cache, "L3 (32 MiB)".into(), (0..cores).map(|inner| core(at * cores + inner)).collect());
        part(What::Package, format!("package {at}"), vec![cache])
    };
    let parts: Vec<Part> = (0..packages).map(package).collect();
    let all = packages * cores * alus * strands;
    let seats = (0..all).map(|at| (at * strands * alus) % all + at * strands * alus / all).collect();
    let orders = vec![Order { mapping: "round-robin".into(), seats }];
    figure(id, "The machine", Body::MachineDiagram(MachineDiagram { parts, orders }))
}
