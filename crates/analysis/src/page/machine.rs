//! The machine as parts inside each other, and the orders in which the mappings filled it.

mod pieces;
#[cfg(test)]
mod tests;

use charz_estimate::grouped;
use std::collections::{BTreeSet, HashMap, HashSet};

use charz_data::machine::{CacheHolds, Kind, Machine, Package, Strand};

use super::Source;
use super::cells::CellsByKernel;
use super::devices::device_rows;
use crate::figure::{Body, Figure, MachineDiagram, Order, Part, What, id};
use charz_data::escape::counted;
use charz_data::report::{Cell, Report};
use charz_data::units;
use pieces::{Leaf, Piece, folded};

/// The most strands that are drawn; where there are more, parts that are alike and next to each other become one.
const MOST_DRAWN: usize = 512;
/// The most caches or groups around one strand.
const MOST_LEVELS: usize = 16;
/// The most mappings whose orders are kept.
const MOST_ORDERS: usize = 12;

/// A figure for each machine: reports of the same machine share one.
pub(super) fn figures(sorted: &CellsByKernel<'_>) -> Vec<Figure> {
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
        title: if named {
            format!("{}, {}", title(&source.report.machine), source.name)
        } else {
            title(&source.report.machine)
        },
        about: about(source.report),
        body: Body::MachineDiagram(of_report(source.report)),
        table: None,
    };
    drawn.iter().map(figure).collect()
}

fn about(report: &Report) -> Vec<String> {
    let strands = report.machine.strands.len();
    let mut about = Vec::new();
    if report.machine.alu.is_known() {
        about.push(format!("CPUs of a core that share execution units: {}", report.machine.alu));
    }
    let unusable = strands - report.machine.usable_strands().count();
    if unusable > 0 {
        about.push(format!("{unusable} of {strands} CPUs are not allowed for this process"));
    }
    if strands > MOST_DRAWN {
        about.push("parts that are alike and next to each other are drawn once, with how many they are".to_owned());
    }
    about
}

fn of_report(report: &Report) -> MachineDiagram {
    nest(&report.machine, nodes_add_up(report), orders(report))
}

/// What a machine is called: `2 × AMD EPYC 7763 64-Core Processor, 128 cores, 256 CPUs`.
fn title(machine: &Machine) -> String {
    let named = |package: &Package| {
        package.model.as_deref().map(str::trim).filter(|model| !model.is_empty()).map(str::to_owned)
    };
    let models = grouped(machine.packages.iter().filter_map(named), String::clone);
    let models = models.into_iter().map(|same| match same.len() {
        1 => same[0].clone(),
        count => format!("{count} × {}", same[0]),
    });
    let mut words: Vec<String> = models.collect();
    if words.is_empty() {
        words.extend(machine.name.clone());
    }
    words.extend((!machine.cores.is_empty()).then(|| counted(machine.cores.len(), "core")));
    words.push(counted(machine.strands.len(), "CPU"));
    words.join(", ")
}

/// A machine as parts inside each other: sockets, NUMA nodes, groups, caches for data, cores, ALU slots, strands. The nodes show
/// their memory if their sizes can be believed.
pub fn nest(machine: &Machine, shows_memory: bool, orders: Vec<Order>) -> MachineDiagram {
    let strands = &machine.strands;
    let mut pieces = Vec::new();
    let mut level = |what, kind: &str, of: &dyn Fn(&Strand) -> Option<u32>, detail: &dyn Fn(u32) -> String| {
        pieces.extend(stretches(strands, of).into_iter().map(|(number, from, to)| Piece {
            what,
            kind: kind.to_owned(),
            number: Some(number),
            detail: detail(number),
            from,
            to,
        }));
    };
    let nothing = |_| String::new();
    // The title has a model that all sockets share.
    let models: BTreeSet<Option<&str>> = machine.packages.iter().map(|package| package.model.as_deref()).collect();
    let model = |number: u32| {
        let package = machine.packages.get(number as usize).filter(|_| models.len() > 1);
        package.and_then(|package| package.model.as_deref()).map_or_else(String::new, |model| model.trim().to_owned())
    };
    level(What::Package, "socket", &|strand| strand.package, &model);
    level(What::Alu, "ALU slot", &|strand| Some(strand.alu), &nothing);
    for (number, from, to) in stretches(strands, |strand| strand.core) {
        let kind = core_name(machine, strands[from].kind);
        pieces.push(Piece { what: What::Core, kind, number: Some(number), detail: String::new(), from, to });
    }
    for (number, from, to) in stretches(strands, |strand| strand.numa_nodes.iter().copied()) {
        let detail = machine.numa_nodes.get(number as usize).map(|node| node.in_words(shows_memory));
        let (kind, detail) = ("NUMA node".to_owned(), detail.unwrap_or_default());
        pieces.push(Piece { what: What::NumaNode, kind, number: Some(machine.node_id(number)), detail, from, to });
    }
    for (number, from, to) in stretches(strands, |strand| strand.groups.iter().copied()) {
        let kind = machine.groups.get(number as usize).map_or_else(|| "group".to_owned(), |group| group.what.clone());
        pieces.push(Piece { what: What::Group, kind, number: Some(number), detail: String::new(), from, to });
    }
    // Caches for instructions are left out: they hold the same strands as the ones for data beside them.
    for (number, from, to) in stretches(strands, |strand| machine.data_caches(strand).map(|(number, _)| number)) {
        let Some(cache) = machine.caches.get(number as usize) else { continue };
        let kind = format!("L{}{}", cache.level, if cache.holds == CacheHolds::Data { "d" } else { "" });
        let detail = cache.size_bytes.map_or_else(String::new, units::iec);
        pieces.push(Piece { what: What::Cache, kind, number: None, detail, from, to });
    }
    let leaf = |strand: &Strand| Leaf { id: strand.os_id, usable: strand.usable, kind: strand.kind };
    let leaves: Vec<Leaf> = strands.iter().map(leaf).collect();
    let mut parts = folded(pieces, &leaves, MOST_DRAWN);
    // Memory of no CPU lies beside all parts.
    for (number, node) in (0..).zip(&machine.numa_nodes).filter(|(_, node)| node.strands == 0) {
        let label = format!("NUMA node {} ({})", machine.node_id(number), node.in_words(shows_memory));
        parts.push(Part {
            what: What::NumaNode,
            label: label.trim_end_matches(" ()").to_owned(),
            strand: None,
            usable: node.usable,
            times: 1,
            parts: Vec::new(),
        });
    }
    parts.extend(device_rows(machine).into_iter().map(|row| Part {
        what: What::Group,
        label: format!("{} {} ({})", row.kind, row.devices, row.place),
        strand: None,
        usable: true,
        times: 1,
        parts: Vec::new(),
    }));
    MachineDiagram { parts, orders }
}

/// What a core of a kind is called where there are several: by Intel's names where hwloc has them, else by the type that the system
/// reports, else by the speed.
pub fn core_name(machine: &Machine, kind: Option<u32>) -> String {
    fn core_type(kind: &Kind) -> Option<&str> {
        kind.infos.iter().find(|info| info.name == "CoreType").map(|info| info.value.as_str())
    }
    let at = kind.map_or(usize::MAX, |kind| kind as usize);
    let Some(own) = machine.kinds.get(at).filter(|_| machine.is_hybrid()) else { return "core".to_owned() };
    let faster = || machine.kinds.iter().filter(|other| other.speed_rank > own.speed_rank);
    match (core_type(own), own.speed_rank) {
        (Some("IntelCore"), _) => "P-core".to_owned(),
        (Some("IntelAtom"), _) if faster().any(|other| core_type(other) == core_type(own)) => "LP E-core".to_owned(),
        (Some("IntelLowPower"), _) => "LP E-core".to_owned(),
        (Some("IntelAtom"), _) => "E-core".to_owned(),
        (Some(other), _) if faster().any(|faster| core_type(faster) == Some(other)) => format!("slower {other} core"),
        (Some(other), _) => format!("{other} core"),
        (None, Some(0)) => "slow core".to_owned(),
        (None, Some(_)) if faster().next().is_none() => "fast core".to_owned(),
        (None, _) => format!("kind-{at} core"),
    }
}

/// The stretches of neighbouring strands that name the same part, as number, first place, and the one behind the last. For each
/// strand at most as many parts count as a machine can have levels, so a file cannot nest them without end.
fn stretches<'a, I: IntoIterator<Item = u32>>(
    strands: &'a [Strand],
    parts: impl Fn(&'a Strand) -> I,
) -> Vec<(u32, usize, usize)> {
    let mut found: Vec<(u32, usize, usize)> = Vec::new();
    let mut latest: HashMap<u32, usize> = HashMap::new();
    for (at, strand) in strands.iter().enumerate() {
        for number in parts(strand).into_iter().take(MOST_LEVELS) {
            match latest.get(&number).map(|index| &mut found[*index].2) {
                Some(to) if *to == at => *to = at + 1,
                Some(to) if *to > at => {}
                _ => {
                    latest.insert(number, found.len());
                    found.push((number, at, at + 1));
                }
            }
        }
    }
    found
}

/// Whether the NUMA nodes have about as much memory together as the system has: on some guests hwloc reads a fraction of it.
fn nodes_add_up(report: &Report) -> bool {
    let all: Option<u64> = report.machine.numa_nodes.iter().map(|node| node.memory_bytes).sum();
    // The system keeps a few percent for itself before it counts.
    let within = |all: u64, total: u64| all >= total / 10 * 9 && all / 10 * 9 <= total;
    all.zip(report.host.memory.total_bytes).is_some_and(|(all, total)| within(all, total))
}

/// The order of each mapping that seated workers in more than one number: the seats of the cell with the most. A mapping of some
/// pairs of strands is none.
fn orders(report: &Report) -> Vec<Order> {
    let known: HashSet<u32> = report.machine.strands.iter().map(|strand| strand.os_id).collect();
    let order = |cells: Vec<&Cell>| {
        let several = cells.iter().any(|cell| cell.workers != cells[0].workers);
        // Of equals the first.
        let largest = cells.iter().rev().max_by_key(|cell| cell.seats.len())?;
        let seats: Option<Vec<u32>> = largest.seats.iter().copied().collect();
        // Beyond the strands an order starts over.
        let mut seats = seats.unwrap_or_default();
        seats.truncate(known.len());
        let fits = seats.iter().all(|seat| known.contains(seat));
        (several && fits).then(|| Order { mapping: largest.mapping.clone(), seats })
    };
    grouped(&report.cells, |cell| cell.mapping.as_str()).into_iter().filter_map(order).take(MOST_ORDERS).collect()
}
