//! The checks on elements: sane numbers, ids that are unique, and objects that lie inside each other.

use std::collections::HashSet;

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::set::Set;
use crate::cpulist::MAX_ID;
use crate::error::quote;

/// The longest attribute in bytes: three times the set of strands of the largest machine that is accepted.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// The largest identity of an object. hwloc's own check of a topology keeps a bit for each identity up to the largest.
const MAX_IDENTITY: u64 = 1 << 26;

/// The most objects with distances between each other: hwloc keeps a number for each pair.
const MAX_DISTANCES: u64 = 4096;

/// The attributes that hold a number, with the smallest and the largest that hwloc can take.
const NUMBERS: [(&str, i128, i128); 15] = [
    ("os_index", 0, u32::MAX as i128),
    ("gp_index", 1, MAX_IDENTITY as i128),
    ("depth", 0, u32::MAX as i128),
    ("cache_size", 0, u64::MAX as i128),
    ("cache_linesize", 0, i32::MAX as i128),
    ("cache_associativity", -1, i32::MAX as i128),
    ("cache_type", 0, 2),
    ("local_memory", 0, u64::MAX as i128),
    ("kind", 0, u32::MAX as i128),
    ("subkind", 0, u32::MAX as i128),
    ("dont_merge", 0, 1),
    ("nbobjs", 1, MAX_DISTANCES as i128),
    ("length", 0, 1 << 26),
    ("forced_efficiency", -1, i32::MAX as i128),
    ("relative_depth", 0, 255),
];

/// Objects that lie beside the tree of strands: they may share their strands with siblings, or have none.
const BESIDE: [&str; 6] = ["NUMANode", "MemCache", "Misc", "Bridge", "PCIDev", "OSDev"];

/// Objects without strands and memory, which need no sets.
const WITHOUT_SETS: [&str; 4] = ["Misc", "Bridge", "PCIDev", "OSDev"];

/// The attributes of an element, each a name and a value; sane in length and, where they are numbers, in size.
pub(super) fn attributes(start: &BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| format!("an attribute is broken: {}", quote(&error.to_string())))?;
        let name = attribute.key.0;
        if attribute.value.len() > MAX_ATTRIBUTE {
            return Err(format!("the attribute {} is longer than {} KiB", quote(name), MAX_ATTRIBUTE >> 10));
        }
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| format!("the attribute {} is broken: {}", quote(name), quote(&error.to_string())))?;
        if let Some((_, smallest, largest)) = NUMBERS.iter().find(|(number, ..)| *number == name) {
            let fits = value.parse().is_ok_and(|value: i128| (smallest..=largest).contains(&&value));
            if !fits {
                return Err(format!(
                    "the attribute {name} is {}, not a number from {smallest} to {largest}",
                    quote(&value)
                ));
            }
        }
        attributes.push((name.to_owned(), value.into_owned()));
    }
    Ok(attributes)
}

/// The sets of an object: the strands and the NUMA nodes that are to be used, and those that exist.
#[derive(Clone, Default)]
struct Sets {
    strands: Option<Set>,
    all_strands: Option<Set>,
    nodes: Option<Set>,
    all_nodes: Option<Set>,
}

struct Open {
    kind: String,
    sets: Sets,
    /// The strands of its children so far, those beside the tree left out.
    children: Set,
}

#[derive(Default)]
pub(super) struct Objects {
    /// Whether the file has version 2, whose rules are stricter: hwloc takes what follows them as it is.
    pub(super) strict: bool,
    open: Vec<Open>,
    /// The last object, until it is known whether it has children.
    last: Option<Open>,
    strands: HashSet<u32>,
    /// Whether any strand is online.
    online: bool,
    node_set: Set,
    /// Whether any object is a NUMA node.
    nodes: bool,
    /// Whether the outermost object says that it has NUMA nodes.
    nodes_promised: bool,
    identities: HashSet<u64>,
}

impl Objects {
    /// Whether none was checked so far.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.last.is_none()
    }

    /// What is missing at the end of the file.
    pub(super) fn end(&self) -> Result<(), String> {
        if self.strands.is_empty() {
            return Err("its topology has no strands (objects of type PU)".to_owned());
        }
        if !self.online {
            return Err("all of its strands are offline (objects of type PU with an empty cpuset)".to_owned());
        }
        // In version 1 a machine may be silent about memory, and hwloc then makes one node of it.
        if !self.nodes && (self.strict || self.nodes_promised) {
            return Err("its topology has no memory (objects of type NUMANode)".to_owned());
        }
        Ok(())
    }

    /// Enters the element that was checked last.
    pub(super) fn enter(&mut self, element: &str) {
        if element == "object" {
            self.open.extend(self.last.take());
        }
    }

    /// Leaves an element: an object must have its strands from its children, and the outermost its nodes from those
    /// seen.
    pub(super) fn leave(&mut self, element: &str) -> Result<(), String> {
        let Some(open) = (element == "object").then(|| self.open.pop()).flatten() else { return Ok(()) };
        let is_beside = BESIDE.contains(&open.kind.as_str()) && !self.open.is_empty();
        let has_children = open.kind != "PU" && !is_beside;
        if has_children && open.sets.strands.as_ref() != Some(&open.children) {
            return Err(format!("an object of type {} has strands that none of its children has", quote(&open.kind)));
        }
        if let Some(outer) = self.open.last_mut().filter(|_| !self.strict && open.kind == "NUMANode") {
            // In version 1 nodes are in the tree, between an object and the strands that it must have.
            outer.children.add(&open.children);
        }
        if self.strict && self.open.is_empty() && open.sets.nodes.is_some_and(|nodes| nodes != self.node_set) {
            return Err("the machine's nodeset does not name the objects of type NUMANode".to_owned());
        }
        Ok(())
    }

    /// Checks an object against those around and beside it.
    pub(super) fn object(&mut self, attributes: &[(String, String)]) -> Result<(), String> {
        let value = |wanted: &str| attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        let kind = value("type").ok_or("an object has no type")?;
        // Version 1 wrote a machine of one NUMA node as that node.
        let is_outermost = ["Machine", "System"].contains(&kind) || (kind == "NUMANode" && !self.strict);
        if self.open.is_empty() && !is_outermost {
            return Err(format!("its outermost object is of type {}, not Machine", quote(kind)));
        }
        if self.strict && value("gp_index").is_none() {
            return Err(format!("an object of type {} has no gp_index", quote(kind)));
        }
        if !self.strict && value("gp_index").is_some() {
            // hwloc hands out identities of its own where it turns an old file into a new one, and would meet these again.
            return Err("an object has a gp_index, which files of version 1 do not have".to_owned());
        }
        if let Some(identity) = value("gp_index").and_then(|identity| identity.parse().ok())
            && !self.identities.insert(identity)
        {
            return Err(format!("two objects have the gp_index {identity}"));
        }
        let with_strands = !WITHOUT_SETS.contains(&kind);
        let with_nodes = with_strands && (self.strict || kind == "NUMANode");
        let read = |name: &str, needed: bool| match value(name) {
            Some(text) => Set::read(text).map(Some).ok_or_else(|| format!("the {name} {} is no set", quote(text))),
            None if needed => Err(format!("an object of type {} has no {name}", quote(kind))),
            None => Ok(None),
        };
        let sets = Sets {
            strands: read("cpuset", with_strands)?,
            all_strands: read("complete_cpuset", with_strands)?,
            nodes: read("nodeset", with_nodes)?,
            all_nodes: read("complete_nodeset", with_nodes)?,
        };
        let allows = |name: &str, set: &Option<Set>| -> Result<bool, String> {
            Ok(read(name, false)?.zip(set.as_ref()).is_none_or(|(allowed, set)| allowed.meets(set)))
        };
        let allowed = allows("allowed_cpuset", &sets.strands)? && allows("allowed_nodeset", &sets.nodes)?;
        if self.open.is_empty() && !allowed {
            return Err("it allows none of its strands or none of its memory".to_owned());
        }
        self.nodes |= kind == "NUMANode";
        self.nodes_promised |= self.open.is_empty() && (sets.nodes.is_some() || sets.all_nodes.is_some());
        match kind {
            "PU" => self.strand(value("os_index"), &sets)?,
            "NUMANode" => self.node(value("os_index"), &sets)?,
            _ => {}
        }
        self.nest(kind, &sets)?;
        self.last = Some(Open { kind: kind.to_owned(), sets, children: Set::default() });
        Ok(())
    }

    fn strand(&mut self, os_index: Option<&str>, sets: &Sets) -> Result<(), String> {
        let id = possible_id(os_index).ok_or_else(|| format!("a PU has no os_index up to {MAX_ID}"))?;
        let set = sets.strands.as_ref().ok_or_else(|| format!("the PU {id} has no cpuset"))?;
        // In version 1 an offline strand may have an empty set.
        if !set.is_only(id) && (self.strict || !set.is_empty()) {
            return Err(format!("the cpuset of PU {id} is not its own bit"));
        }
        if sets.all_strands.as_ref().is_some_and(|all| !all.is_only(id)) {
            return Err(format!("the complete_cpuset of PU {id} is not its own bit"));
        }
        self.online |= !set.is_empty();
        if self.strands.insert(id) { Ok(()) } else { Err(format!("the PU {id} is there twice")) }
    }

    fn node(&mut self, os_index: Option<&str>, sets: &Sets) -> Result<(), String> {
        let id = possible_id(os_index).ok_or_else(|| format!("a NUMANode has no os_index up to {MAX_ID}"))?;
        let all = sets.all_nodes.as_ref();
        let set = sets.nodes.as_ref().filter(|_| all.is_none_or(|all| all.is_only(id)));
        // In version 1 a node without memory has an empty set.
        let is_bare = |set: &Set| set.is_empty() && !self.strict && all.is_some();
        let set = set
            .filter(|set| set.is_only(id) || is_bare(set))
            .map(|set| if is_bare(set) { all.unwrap_or(set) } else { set });
        let set = set.ok_or_else(|| format!("the nodeset of NUMANode {id} is not its own bit"))?;
        if set.meets(&self.node_set) {
            return Err(format!("the NUMANode {id} is there twice"));
        }
        self.node_set.add(set);
        Ok(())
    }

    /// Checks that an object lies inside the one around it and apart from those beside it.
    fn nest(&mut self, kind: &str, sets: &Sets) -> Result<(), String> {
        let within = |inner: &Option<Set>, outer: &Option<Set>| match (inner, outer) {
            (Some(inner), Some(outer)) => inner.is_within(outer),
            _ => true,
        };
        if !within(&sets.strands, &sets.all_strands) || !within(&sets.nodes, &sets.all_nodes) {
            return Err(format!("an object of type {} has parts outside of its complete sets", quote(kind)));
        }
        let Some(outer) = self.open.last_mut() else { return Ok(()) };
        // In version 1 a cache can lie inside of one of the several nodes that it is close to.
        let strands_inside =
            within(&sets.strands, &outer.sets.strands) && within(&sets.all_strands, &outer.sets.all_strands);
        let nodes_inside = within(&sets.nodes, &outer.sets.nodes) && within(&sets.all_nodes, &outer.sets.all_nodes);
        if !strands_inside || (self.strict && !nodes_inside) {
            return Err(format!("an object of type {} has parts outside of the object around it", quote(kind)));
        }
        if !self.strict && kind == "Misc" && sets.strands.as_ref().is_some_and(|set| !set.is_empty()) {
            return Err("an object of type Misc has strands, which hwloc 2 has no place for".to_owned());
        }
        if let Some(set) = sets.strands.as_ref().filter(|_| !BESIDE.contains(&kind)) {
            if set.meets(&outer.children) {
                return Err(format!("two objects beside each other, one of type {}, share strands", quote(kind)));
            }
            outer.children.add(set);
        }
        Ok(())
    }
}

fn possible_id(text: Option<&str>) -> Option<u32> {
    text?.parse().ok().filter(|id| *id <= MAX_ID)
}
