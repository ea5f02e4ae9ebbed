//! The machine as parts inside each other, and the orders in which the mappings filled it.

mod fold;
mod pieces;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use charz_topology::{CacheHolds, Mapping, place};

use super::cells::Sorted;
use super::{Drawing, Source};
use crate::figure::{Body, Figure, Nest, Order, Part, What, id};
use crate::render::human;
use crate::report::{Caches, Cell, Report, Strand};
use pieces::{Leaf, Piece, runs};

/// The most strands that are drawn; where there are more, parts that are alike and next to each other become one.
const MOST_DRAWN: usize = 512;
/// The most levels of caches and of groups that are believed.
const MOST_LEVELS: u32 = 8;
/// The most mappings whose orders are kept.
const MOST_ORDERS: usize = 12;

/// A figure for each machine: reports of the same machine share one.
pub(super) fn figures(sorted: &Sorted<'_>) -> Drawing {
    let mut drawn: Vec<&Source<'_>> = Vec::new();
    for source in sorted.sources.iter().filter(|source| !source.report.machine.strands.is_empty()) {
        let is_same = |other: &&Source<'_>| {
            // Memory comes and goes on a guest; its strands are the machine.
            other.report.machine.strands == source.report.machine.strands
                && other.report.host.name == source.report.host.name
        };
        if !drawn.iter().any(is_same) {
            drawn.push(source);
        }
    }
    let named = drawn.len() > 1;
    let figure = |source: &&Source<'_>| Figure {
        id: id(&if named { format!("machine {}", source.name) } else { "machine".to_owned() }),
        title: if named { format!("The machine of {}", source.name) } else { "The machine".to_owned() },
        about: about(source.report),
        body: Body::Nest(nest(source.report)),
        table: None,
    };
    drawn.iter().map(figure).collect::<Vec<_>>().into()
}

fn about(report: &Report) -> Vec<String> {
    let strands = report.machine.strands.len();
    let mut about = vec![format!("Which strands of a core share arithmetic units: {}", report.machine.alu_evidence)];
    let unusable = report.machine.strands.iter().filter(|strand| !strand.usable).count();
    if unusable > 0 {
        about.push(format!("{unusable} of {strands} strands were not to be used"));
    }
    if strands > MOST_DRAWN {
        about.push("parts that are alike and next to each other are drawn once, with how many they are".to_owned());
    }
    about
}

/// The machine of a report: packages, NUMA nodes, caches, cores, ALU slots, strands.
pub fn nest(report: &Report) -> Nest {
    let strands = &report.machine.strands;
    let mut pieces = Vec::new();
    let mut level = |what, kind: &str, of: &dyn Fn(&Strand) -> Option<u32>, detail: &dyn Fn(&Strand) -> String| {
        let own = runs(strands.len(), |at| of(&strands[at]));
        pieces.extend(own.into_iter().map(|(number, from, to)| Piece {
            what,
            kind: kind.to_owned(),
            number: Some(number),
            detail: detail(&strands[from]),
            from,
            to,
        }));
    };
    let nothing = |_: &Strand| String::new();
    level(What::Package, "package", &|strand| strand.package, &nothing);
    let is_told = nodes_add_up(report);
    let memory = |strand: &Strand| {
        let node = strand.numa.and_then(|numa| report.machine.nodes.get(numa as usize));
        node.and_then(|node| node.memory_bytes).filter(|_| is_told).map_or_else(String::new, human::iec)
    };
    level(What::NumaNode, "NUMA node", &|strand| strand.numa, &memory);
    level(What::Core, "core", &|strand| strand.core, &nothing);
    level(What::Alu, "ALU slot", &|strand| Some(strand.alu), &nothing);
    pieces.extend(caches(report));
    // Slots of neighbouring cores have the same numbers.
    let leaf = |strand: &Strand| Leaf { id: strand.os_id, usable: strand.usable, kind: strand.kind };
    let leaves = strands.iter().map(leaf).collect();
    Nest { parts: drawn(pieces, leaves), orders: orders(report) }
}

/// The caches for data: all levels that are alike over the whole machine, and the outermost ones of each strand otherwise.
fn caches(report: &Report) -> Vec<Piece> {
    let strands = &report.machine.strands;
    let mut pieces = Vec::new();
    let regular = |level: u32| {
        let mut own = report.machine.caches.iter().filter(|cache| cache.level == level && cache.holds != "instruction");
        let only = own.next().filter(|_| own.next().is_none())?;
        let fits = only.strands > 0 && only.strands.saturating_mul(only.count) == strands.len() as u64;
        fits.then_some(only)
    };
    let levels = strands.iter().map(|strand| strand.cache_bytes.len()).max().unwrap_or(0);
    let outermost = (1..=MOST_LEVELS).rev().find(|level| regular(*level).is_some());
    for found in (1..=MOST_LEVELS).rev().filter_map(regular) {
        let Caches { level, size_bytes, strands: sharers, .. } = found;
        let sharers = usize::try_from(*sharers).unwrap_or(usize::MAX);
        for from in (0..strands.len()).step_by(sharers) {
            pieces.push(cache(*level, *size_bytes, from, strands.len().min(from.saturating_add(sharers))));
        }
    }
    // What is no regular level is known by the strands that it holds.
    if outermost.is_none_or(|outermost| (outermost as usize) < levels) {
        for (_, from, to) in runs(strands.len(), |at| strands[at].cache) {
            let sizes = &strands[from].cache_bytes;
            pieces.push(cache(sizes.len() as u32, sizes.last().copied(), from, to));
        }
    }
    pieces
}

fn cache(level: u32, size_bytes: Option<u64>, from: usize, to: usize) -> Piece {
    let kind = if level == 0 { "cache".to_owned() } else { format!("L{level}") };
    Piece { what: What::Cache, kind, number: None, detail: size_bytes.map_or_else(String::new, human::iec), from, to }
}

/// Whether the NUMA nodes have about as much memory together as the system has: on some guests hwloc reads a fraction of it.
fn nodes_add_up(report: &Report) -> bool {
    let all: Option<u64> = report.machine.nodes.iter().map(|node| node.memory_bytes).sum();
    // The system keeps a few percent for itself before it counts.
    let within = |all: u64, total: u64| all >= total / 10 * 9 && all / 10 * 9 <= total;
    all.zip(report.host.memory.total_bytes).is_some_and(|(all, total)| within(all, total))
}

/// Any machine: packages, NUMA nodes, groups, caches, cores, ALU slots, strands, and the orders of the mappings that need no words of
/// their own.
pub fn nest_of(machine: &charz_topology::Machine) -> Nest {
    let strands = &machine.strands;
    let mut pieces = Vec::new();
    let mut add = |what, kind: &str, numbered: bool, runs: Vec<(u32, usize, usize)>, detail: &dyn Fn(u32) -> String| {
        pieces.extend(runs.into_iter().map(|(number, from, to)| Piece {
            what,
            kind: kind.to_owned(),
            number: numbered.then_some(number),
            detail: detail(number),
            from,
            to,
        }));
    };
    let count = strands.len();
    add(What::Package, "package", true, runs(count, |at| strands[at].package), &|_| String::new());
    let memory = |number: u32| {
        let node = machine.numa_nodes.get(number as usize);
        node.and_then(|node| node.memory_bytes).map_or_else(String::new, human::iec)
    };
    add(What::NumaNode, "NUMA node", true, runs(count, |at| strands[at].numa), &memory);
    for depth in 0..MOST_LEVELS as usize {
        for (number, from, to) in runs(count, |at| strands[at].groups.get(depth).copied()) {
            let name = machine.groups.get(number as usize).map_or("group", |group| group.what.as_str());
            add(What::Group, name, true, vec![(number, from, to)], &|_| String::new());
        }
    }
    for depth in 0..2 * MOST_LEVELS as usize {
        for (number, from, to) in runs(count, |at| strands[at].caches.get(depth).copied()) {
            let Some(found) = machine.caches.get(number as usize) else { continue };
            let kind = match found.holds {
                CacheHolds::Unified => format!("L{}", found.level),
                CacheHolds::Data => format!("L{}d", found.level),
                // Beside the one for data; a box of its own says nothing of where threads meet.
                CacheHolds::Instruction => continue,
            };
            let size = found.size_bytes.map_or_else(String::new, human::iec);
            add(What::Cache, &kind, false, vec![(number, from, to)], &|_| size.clone());
        }
    }
    add(What::Core, "core", true, runs(count, |at| strands[at].core), &|_| String::new());
    add(What::Alu, "ALU slot", true, runs(count, |at| Some(strands[at].alu)), &|_| String::new());
    let leaf = |strand: &charz_topology::Strand| Leaf { id: strand.os_id, usable: strand.usable, kind: strand.kind };
    let leaves = strands.iter().map(leaf).collect();
    Nest { parts: drawn(pieces, leaves), orders: mapped(machine) }
}

/// Parts inside each other, few enough to be seen.
fn drawn(pieces: Vec<Piece>, leaves: Vec<Leaf>) -> Vec<Part> {
    fold::folded(pieces::nested(pieces, &leaves), MOST_DRAWN)
}

/// The orders in which the usual mappings fill a machine once.
fn mapped(machine: &charz_topology::Machine) -> Vec<Order> {
    let strands = machine.usable_strands().count();
    let order = |name: &&str| {
        let mapping: Mapping = name.parse().ok()?;
        let seats = place(&mapping.order(machine).ok()?, strands).seats;
        Some(Order { mapping: (*name).to_owned(), seats: seats.into_iter().flatten().collect() })
    };
    ["round-robin", "dumb"].iter().filter_map(order).collect()
}

/// The order of each mapping that seated workers in more than one number: the seats of the cell with the most. A mapping of some
/// pairs of strands is none.
fn orders(report: &Report) -> Vec<Order> {
    let mut names: Vec<&str> = Vec::new();
    let mut found: HashMap<&str, (&Cell, u64, u64)> = HashMap::new();
    for cell in &report.cells {
        let (largest, fewest, most) = found.entry(cell.mapping.as_str()).or_insert_with(|| {
            names.push(&cell.mapping);
            (cell, cell.workers, cell.workers)
        });
        (*fewest, *most) = ((*fewest).min(cell.workers), (*most).max(cell.workers));
        if cell.seats.len() > largest.seats.len() {
            *largest = cell;
        }
    }
    let known: HashSet<u32> = report.machine.strands.iter().map(|strand| strand.os_id).collect();
    let order = |mapping: &str| {
        let (largest, fewest, most) = found.get(mapping)?;
        let several = fewest < most;
        let seats: Option<Vec<u32>> = largest.seats.iter().copied().collect();
        // Beyond the strands an order starts over.
        let mut seats = seats.unwrap_or_default();
        seats.truncate(known.len());
        let fits = seats.iter().all(|seat| known.contains(seat));
        (several && fits).then(|| Order { mapping: mapping.to_owned(), seats })
    };
    names.into_iter().filter_map(order).take(MOST_ORDERS).collect()
}
