//! Any machine as hwloc XML: one that was measured is no longer what hwloc has loaded.
//!
//! Parts become objects by the strands that they have, the larger around the smaller. ALU groups become Groups below the Core; hwloc
//! leaves out those of one strand and those of a whole core, so each Core also has their number, as the info [`ALU_GROUPS`].

use charz_data::Arrange;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::inclusive::{INCLUSIVE, number};
use super::kinds;
use super::notation::{ALU_GROUPS, DOUBT, STATED, distances, mask};
use super::xml::escaped;
use crate::{AluSource, CacheHolds, Error, Machine, Strand};

/// Describes a machine in hwloc XML of version 2. An error if parts of it overlap without one being inside the other.
pub fn machine_xml(machine: &Machine) -> Result<String, Error> {
    let failed = |reason: &str| Error::Topology { what: "this machine".to_owned(), reason: reason.to_owned() };
    if machine.strands.is_empty() {
        return Err(failed("it has no strands"));
    }
    let tree = Tree::of(machine).ok_or_else(|| failed("some of its parts overlap, which hwloc XML cannot express"))?;
    Ok(tree.text(machine))
}

/// Positions of strands in the machine's list.
type Set = BTreeSet<usize>;

struct Part {
    kind: &'static str,
    /// Outer ones first where two have the same strands.
    rank: u32,
    /// What is special to the kind, each attribute with a blank before it.
    attributes: String,
    infos: Vec<(&'static str, String)>,
    strands: Set,
    children: Vec<usize>,
}

struct Tree {
    /// The machine first.
    parts: Vec<Part>,
}

impl Tree {
    /// `None` where parts overlap.
    fn of(machine: &Machine) -> Option<Tree> {
        let mut parts = parts(machine);
        parts.arrange_by_key(|part| (usize::MAX - part.strands.len(), part.rank, part.strands.first().copied()));
        // The innermost part around each strand so far.
        let mut inner = vec![0; machine.strands.len()];
        for at in 1..parts.len() {
            let strands = parts[at].strands.clone();
            let parent = inner[*strands.first()?];
            if strands.iter().any(|strand| inner[*strand] != parent) {
                return None;
            }
            strands.iter().for_each(|strand| inner[*strand] = at);
            parts[parent].children.push(at);
        }
        // hwloc asserts that siblings come in the order of their lowest ids.
        let lowest: Vec<Option<u32>> =
            parts.iter().map(|part| part.strands.iter().map(|strand| machine.strands[*strand].os_id).min()).collect();
        parts.iter_mut().for_each(|part| part.children.arrange_by_key(|child| lowest[*child]));
        Some(Tree { parts })
    }

    fn text(&self, machine: &Machine) -> String {
        let mut writer = Writer { machine, text: HEAD.to_owned(), next: 1 };
        writer.object(self, 0, 1);
        writer.distances();
        writer.text.push_str(&kinds::written(machine, mask));
        writer.text.push_str("</topology>\n");
        writer.text
    }
}

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n";

/// The strands of each part that they have an index of.
fn members(machine: &Machine, indices: impl Fn(&Strand) -> Vec<u32>) -> BTreeMap<usize, Set> {
    let mut members: BTreeMap<usize, Set> = BTreeMap::new();
    for (at, strand) in machine.strands.iter().enumerate() {
        indices(strand).into_iter().for_each(|index| {
            members.entry(index as usize).or_default().insert(at);
        });
    }
    members
}

fn parts(machine: &Machine) -> Vec<Part> {
    let os_index = |id: Option<u32>| id.map(|id| format!(" os_index=\"{id}\"")).unwrap_or_default();
    let part =
        |kind, rank, attributes, strands| Part { kind, rank, attributes, infos: vec![], strands, children: vec![] };
    let mut parts = vec![part("Machine", 0, os_index(Some(0)), (0..machine.strands.len()).collect())];
    let name = machine.name.iter().map(|name| ("DMIProductName", name.clone()));
    parts[0].infos = name.chain(machine.doubts.iter().map(|doubt| (DOUBT, doubt.clone()))).collect();
    for (index, strands) in members(machine, |strand| strand.package.into_iter().collect()) {
        let package = machine.packages.get(index);
        let mut package_part = part("Package", 1, os_index(package.and_then(|package| package.os_id)), strands);
        let model = package.and_then(|package| package.model.clone());
        package_part.infos = model.into_iter().map(|model| ("CPUModel", model)).collect();
        parts.push(package_part);
    }
    for (index, strands) in members(machine, |strand| strand.groups.clone()) {
        let what = machine.groups.get(index).map_or("group", |group| &group.what);
        let (kind, attributes) = match what {
            "die" => ("Die", String::new()),
            "group" => ("Group", GROUP.to_owned()),
            other => ("Group", format!("{GROUP} subtype=\"{}\"", escaped(other))),
        };
        parts.push(part(kind, 2, attributes, strands));
    }
    for (index, strands) in members(machine, |strand| strand.caches.clone()) {
        let Some(cache) = machine.caches.get(index) else { continue };
        let kind = match (cache.level, cache.holds) {
            (1, CacheHolds::Instruction) => "L1iCache",
            (2, CacheHolds::Instruction) => "L2iCache",
            (3, CacheHolds::Instruction) => "L3iCache",
            (1, _) => "L1Cache",
            (2, _) => "L2Cache",
            (3, _) => "L3Cache",
            (4, _) => "L4Cache",
            _ => "L5Cache",
        };
        let holds = number(cache.holds);
        let rank = 3 + 2 * 5_u32.saturating_sub(cache.level) + u32::from(cache.holds == CacheHolds::Instruction);
        let attributes = format!(
            " cache_size=\"{}\" depth=\"{}\" cache_linesize=\"{}\" cache_associativity=\"{}\" cache_type=\"{holds}\"",
            cache.size_bytes.unwrap_or(0),
            cache.level,
            cache.line_bytes.unwrap_or(0),
            cache.ways.unwrap_or(0)
        );
        let mut part = part(kind, rank, attributes, strands);
        part.infos =
            cache.inclusive.map(|inclusive| (INCLUSIVE, u8::from(inclusive).to_string())).into_iter().collect();
        parts.push(part);
    }
    for (index, strands) in members(machine, |strand| strand.core.into_iter().collect()) {
        let mut groups: BTreeMap<u32, Set> = BTreeMap::new();
        strands.iter().for_each(|at| {
            groups.entry(machine.strands[*at].alu).or_default().insert(*at);
        });
        let mut core = part("Core", 20, os_index(machine.cores.get(index).and_then(|core| core.os_id)), strands);
        let stated = if machine.alu == AluSource::Stated { format!(" {STATED}") } else { String::new() };
        core.infos.extend(machine.alu.is_known().then(|| (ALU_GROUPS, format!("{}{stated}", groups.len()))));
        let width = core.strands.len();
        parts.push(core);
        if machine.alu.is_known() {
            let groups = groups.into_values().filter(|strands| strands.len() > 1 && strands.len() < width);
            parts.extend(groups.map(|strands| part("Group", 21, GROUP.to_owned(), strands)));
        }
    }
    // Memory hangs on an object that has just its strands.
    for strands in members(machine, |strand| strand.numa_nodes.clone()).into_values() {
        if !parts.iter().any(|part| part.strands == strands) {
            parts.push(part("Group", 2, GROUP.to_owned(), strands));
        }
    }
    for (at, strand) in machine.strands.iter().enumerate() {
        parts.push(part("PU", 22, os_index(Some(strand.os_id)), Set::from([at])));
    }
    parts
}

/// A group that hwloc is to keep though it has the strands of another object.
const GROUP: &str = " kind=\"0\" subkind=\"0\" dont_merge=\"1\"";

struct Writer<'a> {
    machine: &'a Machine,
    text: String,
    /// The identity of the next object.
    next: u32,
}

impl Writer<'_> {
    // Writing to a string cannot fail, so the results are dropped.
    fn object(&mut self, tree: &Tree, at: usize, depth: usize) {
        let part = &tree.parts[at];
        let indent = "  ".repeat(depth);
        let cpuset = self.cpuset(&part.strands);
        let all = match at {
            0 => mask(
                &self.ids(&part.strands).chain(self.machine.absent.iter().map(|id| *id as usize)).collect::<Vec<_>>(),
            ),
            _ => cpuset.clone(),
        };
        let identity = self.identity();
        let nodes = mask(&self.nodes(|node| at == 0 || !node.is_disjoint(&part.strands)));
        let _ = write!(
            self.text,
            "{indent}<object type=\"{}\" cpuset=\"{cpuset}\" complete_cpuset=\"{all}\" nodeset=\"{nodes}\" \
             complete_nodeset=\"{nodes}\"{}{identity}",
            part.kind, part.attributes
        );
        if at == 0 {
            let strands = self.machine.usable_strands().map(|strand| strand.os_id as usize).collect();
            let usable = |index: &usize| self.machine.numa_nodes[*index].usable;
            let all = 0..self.machine.numa_nodes.len();
            let memory = all.filter(usable).map(|index| self.node_id(index)).collect();
            // hwloc loads no machine that allows nothing.
            let allowed = |ids: Vec<usize>, all| if ids.is_empty() { all } else { mask(&ids) };
            let (strands, memory) = (allowed(strands, cpuset), allowed(memory, nodes));
            let _ = write!(self.text, " allowed_cpuset=\"{strands}\" allowed_nodeset=\"{memory}\"");
        }
        if part.kind == "PU" {
            // Some hwloc reads an element without content no other way.
            self.text.push_str("/>\n");
            return;
        }
        self.text.push_str(">\n");
        for (name, value) in &part.infos {
            let _ = writeln!(self.text, "{indent}  <info name=\"{name}\" value=\"{}\"/>", escaped(value));
        }
        self.memory(tree, at, &indent);
        for child in &part.children {
            self.object(tree, *child, depth + 1);
        }
        let _ = writeln!(self.text, "{indent}</object>");
    }

    /// The NUMA nodes that have just the strands of a part, on the outermost such part; those without strands on the machine.
    fn memory(&mut self, tree: &Tree, at: usize, indent: &str) {
        let strands = &tree.parts[at].strands;
        let outermost = tree.parts.iter().position(|part| part.strands == *strands) == Some(at);
        let mut nodes: Vec<(usize, Set)> = self.node_sets().into_iter().enumerate().collect();
        // hwloc asserts this order.
        nodes.arrange_by_key(|(index, _)| self.node_id(*index));
        for (index, own) in nodes {
            if !outermost || !(own == *strands || (at == 0 && own.is_empty())) {
                continue;
            }
            let (node, id) = (&self.machine.numa_nodes[index], self.node_id(index));
            let (cpuset, bit) = (self.cpuset(&own), mask(&[id]));
            let bytes = node.memory_bytes.map(|bytes| format!(" local_memory=\"{bytes}\"")).unwrap_or_default();
            let subtype =
                node.subtype.as_ref().map(|text| format!(" subtype=\"{}\"", escaped(text))).unwrap_or_default();
            let sets = format!(
                "cpuset=\"{cpuset}\" complete_cpuset=\"{cpuset}\" nodeset=\"{bit}\" complete_nodeset=\"{bit}\""
            );
            let cache = node.memory_side_cache_bytes.map(|bytes| {
                let identity = self.identity();
                format!(
                    "<object type=\"MemCache\" {sets} cache_size=\"{bytes}\" depth=\"1\" cache_type=\"0\"{identity}>"
                )
            });
            let (before, after) = cache.map_or((String::new(), ""), |cache| (cache, "</object>"));
            let identity = self.identity();
            let _ = writeln!(
                self.text,
                "{indent}  {before}<object type=\"NUMANode\" os_index=\"{id}\" {sets}{bytes}{subtype}{identity}/>{after}"
            );
        }
    }

    fn identity(&mut self) -> String {
        self.next += 1;
        format!(" gp_index=\"{}\"", self.next - 1)
    }

    fn ids(&self, strands: &Set) -> impl Iterator<Item = usize> {
        strands.iter().map(|at| self.machine.strands[*at].os_id as usize)
    }

    fn cpuset(&self, strands: &Set) -> String {
        mask(&self.ids(strands).collect::<Vec<_>>())
    }

    fn node_sets(&self) -> Vec<Set> {
        let members = members(self.machine, |strand| strand.numa_nodes.clone());
        (0..self.machine.numa_nodes.len()).map(|index| members.get(&index).cloned().unwrap_or_default()).collect()
    }

    fn node_id(&self, index: usize) -> usize {
        self.machine.node_id(index as u32) as usize
    }

    /// The ids of the nodes whose strands fulfil this.
    fn nodes(&self, wanted: impl Fn(&Set) -> bool) -> Vec<usize> {
        let sets = self.node_sets();
        sets.iter().enumerate().filter(|(_, set)| wanted(set)).map(|(index, _)| self.node_id(index)).collect()
    }

    /// What the firmware claims of distances: of kind 5, from the system (1), and of latency (4), as hwloc/distances.h has it.
    fn distances(&mut self) {
        let (rows, size) = (&self.machine.numa_distances, self.machine.numa_nodes.len());
        if size < 2 || rows.len() != size || rows.iter().any(|row| row.len() != size) {
            return;
        }
        let ids: Vec<usize> = (0..size).map(|index| self.node_id(index)).collect();
        self.text.push_str(&distances("NUMALatency", 5, &ids, rows.iter().flatten().copied()));
    }
}
