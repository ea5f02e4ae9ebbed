//! A machine as hwloc XML, with what was measured of its memory, for `lstopo` and other readers.
//!
//! hwloc writes it. What was measured becomes two matrices of distances, as far as it is known for all pairs of nodes, and
//! values of hwloc's own attributes `Latency` and `Bandwidth`, in hwloc's units: nanoseconds and MiB/s. They are written here,
//! into the text: the crate in between sets values of attributes that it has registered itself and of no others, and loses
//! the names of matrices.

use std::fmt::Write as _;

use hwlocality::Topology;
use hwlocality::object::TopologyObject;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::{BuildFlags, TypeFilter};
use hwlocality::topology::export::xml::XMLExportFlags;

use super::describe::machine_xml;
use super::inclusive::{INCLUSIVE, number};
use super::kinds;
use super::notation::{ALU_GROUPS, DOUBT, NODE_CPUS, STATED, distances, info, mask, unused_identity};
use super::{
    ELSEWHERE, Source, devices, discover, from_the_kernel, is_unreadable, load, load_synthetic, synthetic, what, xml,
};
use crate::{Access, AluSource, Cache, Error, Machine, cpulist};

/// The largest synthetic machine that hwloc itself is given: it takes a second for it, and minutes for some that are larger.
const LARGEST: u64 = 8192;

/// One of the two things that are measured, as hwloc has it.
struct Figure {
    attribute: &'static str,
    /// Its flags: 1 higher is better, 2 lower is better, 4 it takes an initiator (hwloc/memattrs.h).
    flags: u8,
    matrix: &'static str,
    /// Its kind: 2 a user's, 4 means latency, 8 means bandwidth (hwloc/distances.h).
    kind: u8,
    /// The value in hwloc's unit.
    of: fn(&Access) -> Option<f64>,
}

const FIGURES: [Figure; 2] = [
    Figure {
        attribute: "Latency",
        flags: 2 | 4,
        matrix: "MeasuredLatency",
        kind: 2 | 4,
        of: |access| access.latency_ns,
    },
    Figure {
        attribute: "Bandwidth",
        flags: 1 | 4,
        matrix: "MeasuredBandwidth",
        kind: 2 | 8,
        of: |access| Some(access.bytes_per_second? / f64::from(1 << 20)),
    },
];

/// Describes a machine in hwloc XML of version 2, with what was measured of its memory, if anything was. An error where the source is
/// missing, unreadable, no topology, or too large.
pub fn export_xml(source: &Source, measured: &[Access]) -> Result<String, Error> {
    export(source, measured).map_err(|reason| Error::Topology { what: what(source), reason })
}

fn export(source: &Source, measured: &[Access]) -> Result<String, String> {
    let refused = |error: &dyn std::fmt::Display| format!("hwloc does not export it: {error}");
    let topology = whole(source)?;
    let mut text = topology.export_xml(XMLExportFlags::empty()).map_err(|error| refused(&error))?.to_string();
    if matches!(source, Source::Synthetic(own) if !synthetic::names_memory(own)) {
        text = text.replace(" local_memory=\"1073741824\"", "");
    }
    let machine = discover(source).map_err(|error| error.to_string())?;
    // hwloc gives a node without CPUs those of the object around.
    for id in machine.numa_nodes.iter().filter(|node| node.strands == 0).filter_map(|node| node.os_id) {
        let start = format!("<object type=\"NUMANode\" os_index=\"{id}\" cpuset=\"");
        if let Some((before, (_, after))) = text.split_once(&start).and_then(|(a, b)| Some((a, b.split_once('"')?))) {
            text = format!("{before}{start}0x0\"{after}");
        }
    }
    text = with_memory_side_caches(text, &machine);
    if *source == Source::ThisMachine {
        text = devices::written(&with_corrections(text, &machine), &machine);
    }
    if matches!(source, Source::Synthetic(_)) && machine.alu == AluSource::Stated {
        let groups = machine.strands.iter().map(|strand| strand.alu + 1).max().unwrap_or(1);
        let info = format!("<info name=\"{ALU_GROUPS}\" value=\"{groups} {STATED}\"/>\n");
        // hwloc has left out groups of one strand, and those of a whole core; each core is like the others.
        let is_core = |line: &str| line.trim_start().starts_with("<object type=\"Core\"");
        text = text.split_inclusive('\n').flat_map(|line| [line, if is_core(line) { &info } else { "" }]).collect();
    }
    if *source == Source::ThisMachine {
        // Of the caches of a level all are alike.
        let told = |line: &str| {
            let tag = line.trim().strip_prefix("<object type=\"L").filter(|tag| !tag.ends_with("/>"))?;
            let (level, kind) = (tag.chars().next()?.to_digit(10)?, xml::value(tag, "cache_type")?);
            let is_it = |cache: &&Cache| cache.level == level && number(cache.holds).to_string() == kind;
            let inclusive = machine.caches.iter().find(is_it)?.inclusive?;
            Some(format!("<info name=\"{INCLUSIVE}\" value=\"{}\"/>\n", u8::from(inclusive)))
        };
        text = text.split_inclusive('\n').map(|line| format!("{line}{}", told(line).unwrap_or_default())).collect();
        text = with_kinds(text, &machine);
    }
    let Some(end) = text.rfind("</topology>") else { return Err("hwloc exported no topology".to_owned()) };
    let matrices = FIGURES.iter().map(|figure| matrix(&topology, figure, measured));
    let attributes = FIGURES.iter().map(|figure| attribute(&topology, figure, measured));
    let added: String = matrices.chain(attributes).collect();
    Ok(format!("{}{added}{}", &text[..end], &text[end..]))
}

/// The text with the kinds of core of a hybrid machine, of which hwloc does not know the names.
fn with_kinds(text: String, machine: &Machine) -> String {
    const ENDS: [&str; 2] = ["  <cpukind ", "</cpukind>\n"];
    let kinds = kinds::written(machine, mask);
    match (text.find(ENDS[0]), text.rfind(ENDS[1]), text.rfind("</topology>")) {
        _ if !machine.is_hybrid() => text,
        (Some(start), Some(end), _) => format!("{}{kinds}{}", &text[..start], &text[end + ENDS[1].len()..]),
        (_, _, Some(end)) => format!("{}{kinds}{}", &text[..end], &text[end..]),
        _ => text,
    }
}

/// The text with the doubts of the machine, and the CPUs of the NUMA nodes that hwloc has somewhere else: its tree cannot express nodes
/// that cross other parts.
fn with_corrections(mut text: String, machine: &Machine) -> String {
    let lines = machine.doubts.iter().map(|doubt| info(DOUBT, doubt)).filter(|line| !text.contains(line.trim_end()));
    let doubts: String = lines.collect();
    if let Some((before, after)) = text.split_once(">\n    ").filter(|_| !doubts.is_empty()) {
        text = format!("{before}>\n{doubts}    {after}");
    }
    for (index, node) in (0..).zip(&machine.numa_nodes) {
        let own = machine.strands.iter().filter(|strand| strand.numa_nodes.contains(&index));
        let mut own: Vec<u32> = own.map(|strand| strand.os_id).collect();
        own.sort_unstable();
        let start = format!("<object type=\"NUMANode\" os_index=\"{}\"", machine.node_id(index));
        let Some((before, (tag, after))) = text.split_once(&start).and_then(|(a, b)| Some((a, b.split_once('>')?)))
        else {
            continue;
        };
        if node.strands == 0 || xml::cpus(tag).as_ref() == Some(&own) {
            continue;
        }
        let info = info(NODE_CPUS, &cpulist::print(&own));
        text = match tag.strip_suffix('/') {
            Some(tag) => format!("{before}{start}{tag}>{info}</object>{after}"),
            None => format!("{before}{start}{tag}>\n{info}{after}"),
        };
    }
    text
}

/// The text with the memory-side caches around their nodes: hwloc is not asked for them, see [`xml::memory_side_caches`].
fn with_memory_side_caches(mut text: String, machine: &Machine) -> String {
    let mut identity = unused_identity(&text);
    for node in &machine.numa_nodes {
        let (Some(id), Some(bytes)) = (node.os_id, node.memory_side_cache_bytes) else { continue };
        let start = format!("<object type=\"NUMANode\" os_index=\"{id}\"");
        let around = |(before, after): (&str, &str)| {
            let indent = before.rsplit('\n').next()?;
            let tag = after.find('>')?;
            let close = format!("\n{indent}</object>");
            let end = if after[..tag].ends_with('/') { tag + 1 } else { after.find(&close)? + close.len() };
            let set = |name| Some(format!(" {name}=\"{}\"", xml::value(after, name)?));
            let sets = ["cpuset", "complete_cpuset", "nodeset", "complete_nodeset"].into_iter().map(set);
            let sets = sets.collect::<Option<String>>()?;
            identity += 1;
            Some(format!(
                "{before}<object type=\"MemCache\"{sets} gp_index=\"{identity}\" cache_size=\"{bytes}\" depth=\"1\" \
                 cache_type=\"0\">\n{indent}{start}{}{close}{}",
                &after[..end],
                &after[end..]
            ))
        };
        text = text.split_once(&start).and_then(around).unwrap_or(text);
    }
    text
}

/// The topology with all that hwloc knows of it.
fn whole(source: &Source) -> Result<Topology, String> {
    let loaded = match source {
        // hwloc sees nothing of it: it gets what was found.
        Source::ThisMachine if is_unreadable() => match discover(source).and_then(|machine| machine_xml(&machine)) {
            Ok(text) => {
                return load(BuildFlags::INCLUDE_DISALLOWED, |builder| {
                    builder.from_xml(&text).map_err(|_| "hwloc refuses it".into())
                });
            }
            Err(_) => load(BuildFlags::INCLUDE_DISALLOWED, from_the_kernel),
        },
        // As in `this_machine`, but for the attributes of memory, which are exported too.
        Source::ThisMachine => load(BuildFlags::INCLUDE_DISALLOWED, from_the_kernel),
        Source::File(path) => {
            let text = xml::read(path)?;
            load(BuildFlags::INCLUDE_DISALLOWED, |builder| {
                let builder = builder.from_xml(&text).map_err(|_| "hwloc refuses it")?;
                builder.with_io_type_filter(TypeFilter::KeepAll).map_err(|error| error.to_string())
            })
        }
        Source::Synthetic(text) => {
            let strands = synthetic::check(text)?.strands();
            if strands > LARGEST {
                return Err(format!("it has {strands} strands, and can be exported with up to {LARGEST}"));
            }
            load_synthetic(text)
        }
    };
    let topology = loaded?;
    if *source == Source::ThisMachine && !topology.is_this_system() {
        return Err(ELSEWHERE.to_owned());
    }
    Ok(topology)
}

/// A figure of all pairs of nodes, a row for each node of strands; nothing where there is one node, or not all are known.
fn matrix(topology: &Topology, figure: &Figure, measured: &[Access]) -> String {
    let nodes: Vec<&TopologyObject> = topology.objects_with_type(ObjectType::NUMANode).collect();
    let value = |from: &TopologyObject, to: &TopologyObject| whole_value(figure, find(measured, from, to)?);
    let values = nodes.iter().flat_map(|from| nodes.iter().map(|to| value(from, to)));
    let Some(values) = values.collect::<Option<Vec<u64>>>().filter(|_| nodes.len() > 1) else { return String::new() };
    let ids: Vec<usize> = nodes.iter().filter_map(|node| node.os_index()).collect();
    distances(figure.matrix, figure.kind, &ids, values.into_iter())
}

/// A figure as values of its attribute; nothing where nothing was measured.
fn attribute(topology: &Topology, figure: &Figure, measured: &[Access]) -> String {
    let mut values = String::new();
    for from in topology.objects_with_type(ObjectType::NUMANode) {
        let Some(initiator) = from.cpuset().filter(|strands| !strands.is_empty()) else { continue };
        let strands: Vec<usize> = initiator.iter_set().map(usize::from).collect();
        for to in topology.objects_with_type(ObjectType::NUMANode) {
            let Some(value) = find(measured, from, to).and_then(|access| whole_value(figure, access)) else { continue };
            // Writing to a string cannot fail.
            let _ = writeln!(
                values,
                "    <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"{}\" value=\"{value}\" \
                 initiator_cpuset=\"{}\"/>",
                to.global_persistent_index(),
                mask(&strands)
            );
        }
    }
    if values.is_empty() {
        return values;
    }
    format!("  <memattr name=\"{}\" flags=\"{}\">\n{values}  </memattr>\n", figure.attribute, figure.flags)
}

fn find<'a>(measured: &'a [Access], from: &TopologyObject, to: &TopologyObject) -> Option<&'a Access> {
    let is = |node: &TopologyObject, id: u32| node.os_index() == Some(id as usize);
    measured.iter().find(|access| is(from, access.from) && is(to, access.to))
}

/// The value as hwloc stores it: whole, and more than 0.
fn whole_value(figure: &Figure, access: &Access) -> Option<u64> {
    (figure.of)(access).filter(|value| value.is_finite() && *value > 0.0).map(|value| (value.round() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::with_kinds;
    use crate::{Info, Kind, Source, discover, export_xml};

    /// Where hwloc has no kinds, or others, the text has those of the machine.
    #[test]
    fn kinds_of_core_come_back_with_their_names() {
        let source = Source::Synthetic("pack:2 core:2 pu:1".to_owned());
        let mut machine = discover(&source).unwrap();
        machine.strands.iter_mut().for_each(|strand| strand.kind = strand.package);
        let info = |name: &str| Info { name: "CoreType".to_owned(), value: name.to_owned() };
        let kind = |(rank, name)| Kind {
            speed_rank: Some(rank),
            how_known: String::new(),
            infos: vec![info(name)],
            strands: 2,
        };
        let plain = export_xml(&source, &[]).unwrap();
        let mut text = plain.clone();
        for names in [["A <1>", "B"], ["C", "D"]] {
            machine.kinds = (0..).zip(names).map(kind).collect();
            text = with_kinds(text, &machine);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &text).unwrap();
            let again = discover(&Source::File(file.path().to_owned())).unwrap();
            let kinds = |kind: &Kind| (kind.speed_rank, kind.infos.clone(), kind.strands);
            assert_eq!(
                again.kinds.iter().map(kinds).collect::<Vec<_>>(),
                machine.kinds.iter().map(kinds).collect::<Vec<_>>()
            );
            assert!(again.strands.iter().all(|strand| strand.kind == strand.package));
        }
        machine.kinds.truncate(1);
        assert_eq!(with_kinds(plain.clone(), &machine), plain);
    }
}
