//! What was measured between CPUs and between NUMA nodes, by reports that are about that.

use charz_words::estimate::time;
use std::collections::BTreeSet;

use super::none;
use crate::figure::{Datum, Table};
use crate::page::matrix::{self, Matrix, class_name};
use charz_claims::numa::{self, NodePair, Number};
use charz_data::Role;
use charz_data::report::{Finding, FindingKind, MemoryHome, Report, Unit};
use charz_data::units;

/// The most NUMA nodes that have a row each.
const MOST_NODES: usize = 16;

fn is_line(report: &Report, kernel: &str) -> bool {
    matches!(report.role(kernel), Role::LineTransfer(_))
}

/// The times of one way of a cache line, a row for each kind of pair. Empty where other kernels were measured too: a line is one cost of
/// many then.
pub(super) fn lines(report: &Report) -> Table {
    let is_alone = report.cells.iter().all(|cell| is_line(report, &cell.kernel));
    let kernels = report.kernels_in(|role| matches!(role, Role::LineTransfer(_)));
    let matrices = kernels.into_iter().filter(|_| is_alone).flat_map(|kernel| Matrix::all(report, kernel));
    let rows = matrices.flat_map(|matrix| {
        let row = |row: matrix::Row| {
            let values = row.values?;
            let doubtful = 2 * row.suspect >= row.measured;
            let times = [values.median(), values.min(), values.max()].map(|ns| Datum::number(time(ns, doubtful), ns));
            let name = format!("{} {}", matrix.title(), class_name(&row.class, matrix.machine));
            Some([Datum::word(name), Datum::count(row.measured as u64)].into_iter().chain(times).collect::<Vec<_>>())
        };
        matrix.rows().into_iter().filter_map(row).collect::<Vec<_>>()
    });
    Table::new(&["one way of a cache line", "pairs", "median", "shortest", "longest"], rows)
}

/// Latency and bandwidth from each NUMA node to the memory of each. Empty where no memory was asked for on a node, and of more nodes than
/// a screen holds.
pub(super) fn nodes(report: &Report) -> Table {
    let is_asked = report.cells.iter().any(|cell| matches!(cell.point.memory, Some(MemoryHome::Node(_))));
    let pairs = if is_asked { numa::node_pairs(report) } else { Vec::new() };
    let ids = |of: fn(&NodePair) -> u32| pairs.iter().map(of).collect::<BTreeSet<u32>>();
    let (from, to) = (ids(|pair| pair.from), ids(|pair| pair.to));
    if from.len().max(to.len()) > MOST_NODES {
        return Table::default();
    }
    let latency =
        |pair: &NodePair| pair.latency_ns.map(|found| Datum::number(time(found.value, found.suspect), found.value));
    let bandwidth = |pair: &NodePair| {
        let shown = |found: Number| units::value(found.value, Unit::BytesPerSecond) + units::doubt(found.suspect);
        pair.bytes_per_second.map(|found| Datum::number(shown(found), found.value))
    };
    let row = |(what, own): (&str, &u32), of: &dyn Fn(&NodePair) -> Option<Datum>| {
        let found = |node: &u32| pairs.iter().find(|pair| (pair.from, pair.to) == (*own, *node)).and_then(of);
        let data: Vec<Option<Datum>> = to.iter().map(found).collect();
        let name = Datum::word(format!("{what}, threads on {own}"));
        let row = [name].into_iter().chain(data.iter().map(|datum| datum.clone().unwrap_or_else(none)));
        data.iter().any(Option::is_some).then(|| row.collect::<Vec<_>>())
    };
    let latencies = from.iter().filter_map(|own| row(("latency", own), &latency));
    let bandwidths = from.iter().filter_map(|own| row(("bandwidth", own), &bandwidth));
    let heading: Vec<String> = to.iter().map(|node| format!("memory on {node}")).collect();
    let heading: Vec<&str> = ["NUMA nodes"].into_iter().chain(heading.iter().map(String::as_str)).collect();
    Table::new(&heading, latencies.chain(bandwidths))
}

/// What is said of pairs of CPUs beyond their times, a sentence each.
pub(super) fn found(report: &Report, findings: &[Finding]) -> Vec<String> {
    let is_own = |finding: &&Finding| finding.kind == FindingKind::Latency && is_line(report, &finding.kernel);
    findings.iter().filter(is_own).map(|finding| finding.text.clone()).collect()
}
