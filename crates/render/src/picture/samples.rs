//! Figures of every kind, for tests: those of a page, and larger ones.

use crate::formats::tests::everything;
use charz_analysis::figure::{Body, Figure, Heatmap, JointPlot, Quantity, State, Tile};
use charz_analysis::page::{Source, page};
use charz_data::report::Report;
use charz_estimate::fixtures::report;

pub(super) fn all() -> Vec<Figure> {
    let own = [
        heat("heat-large", 48),
        heat("heat-image", 130),
        single(),
        machine("Core:2 PU:2"),
        machine("Package:2 Core:16 PU:2"),
        machine("Package:4 Core:16 Group:2 PU:4"),
    ];
    of_page(&everything()).into_iter().chain(own).collect()
}

pub(super) fn of_page(report: &Report) -> Vec<Figure> {
    page(&[Source { name: "all", report }]).figures().cloned().collect()
}

fn drawn(report: &Report, is: fn(&Body) -> bool) -> Figure {
    of_page(report).into_iter().find(|figure| is(&figure.body)).expect("a page has every kind")
}

/// A machine by its description.
pub(super) fn machine(synthetic: &str) -> Figure {
    drawn(&report(synthetic), |body| matches!(body, Body::MachineDiagram(_)))
}

/// Throughput against workers, with gaps, doubts and limits.
pub(super) fn scaling() -> Figure {
    drawn(&everything(), |body| matches!(body, Body::Lines(_)))
}

/// A row for each kernel.
pub(super) fn dots() -> Figure {
    drawn(&everything(), |body| matches!(body, Body::Dots(_)))
}

/// Two times that gather in two places each.
pub(super) fn joint() -> Figure {
    drawn(&everything(), |body| matches!(body, Body::Joint(JointPlot { y: Some(_), .. })))
}

/// One of them alone.
fn single() -> Figure {
    let mut figure = joint();
    if let Body::Joint(joint) = &mut figure.body {
        (joint.y, joint.below) = (None, None);
        (joint.pairs, joint.second, joint.second_bands) = Default::default();
    }
    Figure { id: "single".into(), ..figure }
}

pub(super) fn figure(id: &str, title: &str, body: Body) -> Figure {
    Figure { id: id.into(), title: title.into(), about: vec!["What to see".into()], body, table: None }
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
