//! Parts inside each other, with sizes; then what this process may use, and how the rest is known.
//!
//! Each strand has a path of parts from the outside in. Parts that hold the same strands share a line, such as
//! `L2:0 (1 MiB) + L1d:0 (32 KiB) + core 0`. Strands are written where their path ends, ALU groups in
//! brackets.

use std::cmp::Reverse;
use std::io::{self, Write};

use charz_topology::{Machine, Strand, cpulist};

use charz_analysis::page::{DeviceRow, device_rows};
use charz_data::escape::plain;
use charz_data::{Arrange, units};

use super::summary::{remarks, totals};

pub(super) fn write(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    head(machine, out)?;
    parts(machine, out)?;
    rest(machine, out)
}

pub(super) fn head(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", totals(machine))
}

pub(super) fn rest(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "ALU groups: {}", machine.alu)?;
    remarks(machine, out)
}

/// A part on a strand's path: what it is, which one, how many strands it holds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    strands: u32,
    what: What,
    index: u32,
}

/// The kind of a part, in the order in which parts of the same strands are printed on a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Group,
    Package,
    NumaNode,
    Cache,
    Core,
}

fn path(machine: &Machine, strand: &Strand) -> Vec<Part> {
    let Machine { groups, numa_nodes, caches, packages, cores, .. } = machine;
    let part = |what, index: &u32, strands: Option<u32>| Some(Part { strands: strands?, what, index: *index });
    let group = |at| part(What::Group, at, groups.get(*at as usize).map(|group| group.strands));
    let node = |at| part(What::NumaNode, at, numa_nodes.get(*at as usize).map(|node| node.strands));
    let cache = |at| part(What::Cache, at, caches.get(*at as usize).map(|cache| cache.strands));
    let package = |at| part(What::Package, at, packages.get(*at as usize).map(|package| package.strands));
    let core = |at| part(What::Core, at, cores.get(*at as usize).map(|core| core.strands));
    let groups = strand.groups.iter().filter_map(group).chain(strand.numa_nodes.iter().filter_map(node));
    let caches = strand.caches.iter().rev().filter_map(cache);
    let others = strand.package.iter().filter_map(package).chain(strand.core.iter().filter_map(core));
    let mut parts: Vec<Part> = groups.chain(caches).chain(others).collect();
    // The larger is the outer one. The sort is stable, so caches of the same strands stay in order of their level.
    parts.arrange_by_key(|part| (Reverse(part.strands), part.what));
    parts
}

pub(super) fn parts(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    let paths: Vec<Vec<Part>> = machine.strands.iter().map(|strand| path(machine, strand)).collect();
    // Each on the first part that it hangs on, or on none.
    let mut devices = device_rows(machine);
    let mut open: &[Part] = &[];
    let mut first = 0;
    for path in paths.chunk_by(|a, b| a == b) {
        let strands = &machine.strands[first..first + path.len()];
        first += path.len();
        let path = path[0].as_slice();
        let common = path.iter().zip(open).take_while(|(a, b)| a == b).count();
        let mut depth = 1;
        let mut done = 0;
        for line in path.chunk_by(|a, b| a.strands == b.strands) {
            done += line.len();
            if done > common {
                let names: Vec<String> = line.iter().map(|part| part_name(machine, *part)).collect();
                let end = if done == path.len() { format!(": {}", strand_ids(strands)) } else { String::new() };
                writeln!(out, "{:depth$}{}{end}", "", names.join(" + "), depth = 2 * depth)?;
                for device in devices.extract_if(.., |device| line.iter().any(|part| hangs(device, *part))) {
                    writeln!(out, "{:depth$}{}", "", device_line(&device), depth = 2 * depth + 2)?;
                }
            }
            depth += 1;
        }
        // Strands that lie beside parts, and not in one of their own.
        if path.len() == common {
            writeln!(out, "{:depth$}{}", "", strand_ids(strands), depth = 2 * depth)?;
        }
        open = path;
    }
    for (node, _) in (0..).zip(&machine.numa_nodes).filter(|(_, about)| about.strands == 0) {
        writeln!(out, "  {}, without strands", numa_node(machine, node))?;
    }
    devices.iter().try_for_each(|device| writeln!(out, "  {} ({})", device_line(device), device.place))
}

fn hangs(device: &DeviceRow, part: Part) -> bool {
    match (device.numa, part.what) {
        (Some(node), What::NumaNode) => node == part.index,
        (None, What::Package) => device.package == Some(part.index) && device.place.starts_with("socket"),
        _ => false,
    }
}

/// `NIC eth0/mlx5_0, PCI 0000:3b:00.0 (root 0000:3a): Maker Model`.
fn device_line(device: &DeviceRow) -> String {
    let pci = if device.pci.is_empty() { String::new() } else { format!(", PCI {}", device.pci) };
    let model = if device.model.is_empty() { String::new() } else { format!(": {}", device.model) };
    format!("{} {}{pci}{model}", device.kind, device.devices)
}

fn part_name(machine: &Machine, part: Part) -> String {
    let at = part.index as usize;
    match part.what {
        What::Group => format!("{} {at}", plain(&machine.groups[at].what)),
        What::Package => {
            let model = machine.packages[at].model.as_deref();
            format!("socket {at}{}", model.map(|model| format!(" ({})", plain(model))).unwrap_or_default())
        }
        What::NumaNode => numa_node(machine, part.index),
        What::Cache => {
            let size = machine.caches[at].size_bytes.map(|bytes| format!(" ({})", units::iec(bytes)));
            format!("{}{}", machine.caches[at], size.unwrap_or_default())
        }
        What::Core => format!("core {at}"),
    }
}

fn numa_node(machine: &Machine, index: u32) -> String {
    let about = machine.numa_nodes[index as usize].in_words(true);
    let about = if about.is_empty() { about } else { format!(" ({})", plain(&about)) };
    format!("NUMA node {}{about}", machine.node_id(index))
}

fn strand_ids(strands: &[Strand]) -> String {
    let ids = |strands: &[Strand]| cpulist::shown(&strands.iter().map(|strand| strand.os_id).collect::<Vec<_>>());
    let groups: Vec<&[Strand]> =
        strands.chunk_by(|a, b| (a.core, a.alu) == (b.core, b.alu) || a.core.is_none()).collect();
    let noun = if strands.len() == 1 { "strand" } else { "strands" };
    match groups.as_slice() {
        [_] => format!("{noun} {}", ids(strands)),
        groups => {
            format!("{noun} {}", groups.iter().map(|group| format!("({})", ids(group))).collect::<Vec<_>>().join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{show, synthetic};

    #[test]
    fn what_is_not_in_the_tree_has_lines_of_its_own() {
        let mut machine = synthetic("pack:1 core:2 pu:1");
        machine.absent = vec![2, 3];
        machine.numa_nodes.push(machine.numa_nodes[0].clone());
        (machine.numa_nodes[1].strands, machine.numa_nodes[1].os_id) = (0, None);
        let tree = show("tree", &machine);
        assert!(tree.contains("offline or not allowed: CPUs 2-3"), "{tree}");
        assert!(tree.contains("NUMA node 1, without strands"), "{tree}");
    }
}
