//! What memory takes from each NUMA node to each, as far as a report says it. A pure function of the report.

use std::collections::{BTreeMap, HashMap};

use charz_data::Role;
use charz_data::card::{self, Chase};
use charz_data::distance::Access;
use charz_data::machine::Machine;

use charz_data::report::{Cell, MemoryHome, PageKind, Report};

/// Whether a kernel's time is the latency of memory.
pub fn is_latency(role: &Role) -> bool {
    *role == Role::Latency(Chase::Random)
}

/// Whether a kernel's rate is a bandwidth of memory; [`Role::MemoryBandwidth`] is the preferred one.
pub fn is_bandwidth(role: &Role) -> bool {
    matches!(role, Role::MemoryBandwidth(card::Access::Read) | Role::LevelBandwidth(card::Access::Read))
}

/// What the strands of one node have of the memory of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodePair {
    /// OS id of the strands' node.
    pub from: u32,
    /// OS id of the memory's node.
    pub to: u32,
    /// Nanoseconds of a load of one strand.
    pub latency_ns: Option<Number>,
    /// Bytes per second of as many strands of the node as were measured.
    pub bytes_per_second: Option<Number>,
    /// How many those are.
    pub workers: Option<u64>,
    /// What the firmware claims of the distance, where 10 is a node's own.
    pub claimed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    pub suspect: bool,
}

impl NodePair {
    pub fn is_local(&self) -> bool {
        self.from == self.to
    }

    /// The firmware's distance as a number that is not suspect.
    pub fn claim(&self) -> Option<Number> {
        self.claimed.map(|distance| Number { value: distance as f64, suspect: false })
    }
}

/// The median of a number over all pairs of nodes that are one and the same, or over all others; suspect where half of the numbers or
/// more are. `None` where there is none.
pub fn median(pairs: &[NodePair], local: bool, of: impl Fn(&NodePair) -> Option<Number>) -> Option<Number> {
    let numbers: Vec<Number> = pairs.iter().filter(|pair| pair.is_local() == local).filter_map(of).collect();
    let value = charz_stats::median(numbers.iter().map(|number| number.value))?;
    Some(Number { value, suspect: 2 * numbers.iter().filter(|number| number.suspect).count() >= numbers.len() })
}

/// How many times as much of a number remote memory has as local memory, by the medians.
pub fn remote(pairs: &[NodePair], of: fn(&NodePair) -> Option<Number>) -> Option<Number> {
    let (near, far) = (median(pairs, true, of)?, median(pairs, false, of)?);
    Some(Number { value: far.value / near.value, suspect: near.suspect || far.suspect })
}

/// All pairs of nodes of which a report has a number, by the ids of the strands' node, then of the memory's. What was measured
/// on a node's own memory without asking for it counts as well.
pub fn node_pairs(report: &Report) -> Vec<NodePair> {
    let nodes = report.machine.node_of_strands();
    let mut cells: BTreeMap<(u32, u32), Vec<(&Cell, Number)>> = BTreeMap::new();
    for cell in &report.cells {
        if let (Some(way), Some(number)) = (way(cell, &report.machine, &nodes), number(cell)) {
            cells.entry(way).or_default().push((cell, number));
        }
    }
    let latency = report.kernels_in(is_latency);
    let bandwidth = [Role::MemoryBandwidth(card::Access::Read), Role::LevelBandwidth(card::Access::Read)]
        .map(|wanted| report.kernels_in(|role| *role == wanted));
    let pair = |((from, to), cells): ((u32, u32), Vec<(&Cell, Number)>)| {
        let best = |kernels: &[&str], alone: bool| {
            let own = cells.iter().filter(|(cell, _)| kernels.contains(&cell.kernel.as_str()));
            own.filter(|(cell, _)| !alone || cell.workers == 1).max_by_key(|(cell, _)| rank(cell))
        };
        let rate = bandwidth.iter().find_map(|kernels| best(kernels, false));
        let pair = NodePair {
            from,
            to,
            latency_ns: best(&latency, true).map(|(_, number)| *number),
            bytes_per_second: rate.map(|(_, number)| *number),
            workers: rate.map(|(cell, _)| cell.workers),
            claimed: report.machine.node_distance(from, to),
        };
        (pair.latency_ns.is_some() || pair.bytes_per_second.is_some()).then_some(pair)
    };
    cells.into_iter().filter_map(pair).collect()
}

/// The bandwidth of each node's memory from the node that reads it fastest, by OS ids; empty where one of them is suspect.
pub fn bandwidths(pairs: &[NodePair]) -> Vec<(u32, f64)> {
    let mut best: BTreeMap<u32, Number> = BTreeMap::new();
    for (to, number) in pairs.iter().filter_map(|pair| Some((pair.to, pair.bytes_per_second?))) {
        let known = best.entry(to).or_insert(number);
        *known = if number.value > known.value { number } else { *known };
    }
    if best.values().any(|number| number.suspect) {
        return Vec::new();
    }
    best.into_iter().map(|(node, number)| (node, number.value)).collect()
}

/// The most that the CPUs of one node read of memory that is spread over all nodes; `None` where that was not measured.
pub fn together(report: &Report) -> Option<Number> {
    let bandwidth = report.kernels_in(is_bandwidth);
    let is_of_all =
        |cell: &&Cell| cell.point.memory == Some(MemoryHome::Interleaved) && bandwidth.contains(&cell.kernel.as_str());
    let numbers = report.cells.iter().filter(is_of_all).filter_map(number);
    numbers.max_by(|one, other| one.value.total_cmp(&other.value))
}

/// All pairs for hwloc, and how many suspect numbers were left out: hwloc has no mark for them.
pub fn accesses(report: &Report) -> (Vec<Access>, usize) {
    let pairs = node_pairs(report);
    let sound = |found: Option<Number>| found.filter(|found| !found.suspect).map(|found| found.value);
    let access = |pair: &NodePair| Access {
        from: pair.from,
        to: pair.to,
        latency_ns: sound(pair.latency_ns),
        bytes_per_second: sound(pair.bytes_per_second),
    };
    let numbers = pairs.iter().flat_map(|pair| [pair.latency_ns, pair.bytes_per_second]).flatten();
    (pairs.iter().map(access).collect(), numbers.filter(|number| number.suspect).count())
}

/// The node that a cell's workers are all on, and the one that their memory is on; `None` where there is none, and where the
/// blocks are in caches.
fn way(cell: &Cell, machine: &Machine, nodes: &HashMap<u32, u32>) -> Option<(u32, u32)> {
    let mut seats = cell.seats.iter().map(|seat| nodes.get(&(*seat)?).copied());
    let from = seats.next()??;
    if seats.any(|node| node != Some(from)) || cell.level.as_deref().is_some_and(|level| level != "memory") {
        return None;
    }
    match cell.point.memory {
        None | Some(MemoryHome::Local | MemoryHome::First) => Some((from, machine.local_node(from)?)),
        Some(MemoryHome::Node(to)) => Some((from, to)),
        Some(MemoryHome::Remote | MemoryHome::Interleaved) => None,
    }
}

/// Of several cells for the same question the one with the most workers counts, then that with the largest blocks, then huge
/// pages, on which the translation of addresses costs least.
fn rank(cell: &Cell) -> (u64, u64, Option<PageKind>) {
    (cell.workers, cell.footprint_bytes, cell.point.pages)
}

fn number(cell: &Cell) -> Option<Number> {
    Some(Number { value: cell.value()?, suspect: cell.is_suspect() })
}

#[cfg(test)]
mod tests {

    use super::*;
    use charz_data::report::Point;
    use charz_estimate::fixtures::{LATENCY, cell, report, two};

    #[test]
    fn pairs_of_nodes_follow_seats_and_places() {
        let found: Vec<_> = node_pairs(&two())
            .into_iter()
            .map(|pair| {
                (pair.from, pair.to, pair.latency_ns.unwrap().value, pair.bytes_per_second.unwrap(), pair.claimed)
            })
            .collect();
        let rate = |value, suspect| Number { value, suspect };
        let expected = [
            (0, 0, 100.0, rate(40e9, false), Some(10)),
            (0, 1, 160.0, rate(25e9, false), Some(21)),
            (1, 0, 160.0, rate(25e9, false), Some(21)),
            (1, 1, 100.0, rate(40e9, true), Some(10)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_suspect_bandwidth_gives_no_weights() {
        let mut pairs = node_pairs(&two());
        assert!(bandwidths(&pairs).is_empty());
        let sure = |found: Option<Number>| found.map(|found| Number { suspect: false, ..found });
        pairs.iter_mut().for_each(|pair| pair.bytes_per_second = sure(pair.bytes_per_second));
        assert_eq!(bandwidths(&pairs), [(0, 40e9), (1, 40e9)]);
    }

    #[test]
    fn hwloc_is_told_what_nothing_speaks_against() {
        let (told, left_out) = accesses(&two());
        let found: Vec<_> = told.iter().map(|access| (access.latency_ns, access.bytes_per_second)).collect();
        let expected = [(100.0, Some(40e9)), (160.0, Some(25e9)), (160.0, Some(25e9)), (100.0, None)];
        assert_eq!((found, left_out), (expected.map(|(ns, rate)| (Some(ns), rate)).to_vec(), 1));
    }

    #[test]
    fn a_median_is_suspect_unless_most_are_sound() {
        let pairs = node_pairs(&two());
        let of = |local| median(&pairs, local, |pair| pair.bytes_per_second).unwrap();
        assert_eq!(of(true), Number { value: 40e9, suspect: true }, "one of two");
        assert_eq!(of(false), Number { value: 25e9, suspect: false });
    }

    #[test]
    fn the_most_workers_on_their_own_memory_stand_for_their_node() {
        let mut report = report("NUMA:2 Core:2 PU:1");
        let own = Point::default();
        report.cells = vec![
            cell("mem-read", &[2], own, 20e9),
            cell("mem-read", &[2, 3], own, 30e9),
            cell("mem-read", &[0, 2], own, 60e9),
            cell(LATENCY, &[2], own, 90.0),
            cell(LATENCY, &[2, 3], own, 190.0),
        ];
        let [only] = node_pairs(&report)[..] else { panic!("{:?}", node_pairs(&report)) };
        assert_eq!((only.from, only.to, only.is_local()), (1, 1, true));
        assert_eq!(only.bytes_per_second.unwrap().value, 30e9, "workers on two nodes stand for neither");
        assert_eq!(only.latency_ns.unwrap().value, 90.0, "alone");
    }

    #[test]
    fn what_is_no_memory_of_a_node_is_left_out() {
        let mut report = report("NUMA:2 Core:2 PU:1");
        let place = |memory| Point { memory: Some(memory), ..Point::default() };
        let in_cache = Cell { level: Some("L1".into()), ..cell(LATENCY, &[0], Point::default(), 1.0) };
        let mut without = cell(LATENCY, &[0], Point::default(), 1.0);
        without.capacity = None;
        report.cells = vec![
            in_cache,
            without,
            Cell { seats: vec![None], ..cell(LATENCY, &[0], Point::default(), 100.0) },
            cell(LATENCY, &[0], place(MemoryHome::Interleaved), 100.0),
            cell("arith-int", &[0], Point::default(), 100.0),
        ];
        assert_eq!(node_pairs(&report), []);
        let mut without = two();
        without.machine.numa_nodes.clear();
        assert_eq!(node_pairs(&without), [], "no node has an id");
    }
}
