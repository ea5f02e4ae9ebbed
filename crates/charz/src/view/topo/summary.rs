//! The answer first: the machine in a line, a row per level, then which strands lie on which core.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use charz_analysis::page::{DeviceRow, core_name, device_rows};
use charz_data::escape::{counted, plain};
use charz_data::units;
use charz_render::grid::columns;
use charz_render::look::TerminalStyle;
use charz_topology::{CacheHolds, Info, Kind, Machine, NumaNode, Source, Strand, cpulist, modes};
use charz_words::interleave;

use super::layout;
use charz_measure::doctor::under_hypervisor;

/// Lines of the layout beside each other where there are more of them, and how wide they are where that is no terminal.
const TALL: usize = 16;
const WIDE: usize = 100;
/// Where a list of CPUs is cut.
const LIST: usize = 48;

pub(super) fn write(machine: &Machine, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    page(machine, look, &[], out)
}

/// The same with a line per mode of the machine.
pub(super) fn write_all(machine: &Machine, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    page(machine, look, &modes(machine), out)
}

fn page(machine: &Machine, look: &TerminalStyle, modes: &[Info], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", totals(machine))?;
    levels(machine, look, out)?;
    beside(&layout::lines(machine), look.tables, out)?;
    writeln!(out)?;
    if !machine.devices.is_empty() {
        devices(machine, look, out)?;
        writeln!(out)?;
    }
    if machine.alu.is_known() {
        writeln!(out, "Strands in parentheses share an ALU group.")?;
    }
    for mode in modes {
        writeln!(out, "{}: {}", mode.name, plain(&mode.value))?;
    }
    remarks(machine, out)?;
    writeln!(out, "every CPU: --format table   drawing: --format boxes   nested: --format tree")
}

/// `2 x AMD EPYC 7763 · 128 cores · 128 CPUs (1 per core) · 2 NUMA nodes · 512 GiB · bare metal`
pub(super) fn totals(machine: &Machine) -> String {
    let mut parts = sockets(machine);
    if !machine.cores.is_empty() {
        parts.push(counted(machine.cores.len(), "core"));
    }
    parts.push(format!("{}{}", counted(machine.strands.len(), "CPU"), per_core(machine)));
    if !machine.numa_nodes.is_empty() {
        let bare = machine.numa_nodes.iter().filter(|node| node.strands == 0).count();
        let bare = if bare > 0 { format!(" ({bare} without CPUs)") } else { String::new() };
        parts.push(counted(machine.numa_nodes.len(), "NUMA node") + &bare);
    }
    // Not that of accelerators, nor memory of another speed, unless there is no other.
    let is_main = |node: &&NumaNode| node.subtype.as_deref().is_none_or(|subtype| subtype == "DRAM");
    let has_main = machine.numa_nodes.iter().any(|node| is_main(&node));
    let main = machine.numa_nodes.iter().filter(|node| !has_main || is_main(node));
    let memory = main.filter_map(|node| node.memory_bytes).fold(0, u64::saturating_add);
    if memory > 0 {
        parts.push(units::iec(memory));
    }
    // Only of this machine it is known whether a hypervisor runs below.
    match under_hypervisor().filter(|_| machine.source == Source::ThisMachine.to_string()) {
        Some(true) => parts.push("virtual machine".to_owned()),
        Some(false) => parts.push("bare metal".to_owned()),
        None => {}
    }
    parts.join(" · ")
}

/// The sockets by their models.
fn sockets(machine: &Machine) -> Vec<String> {
    let mut models: Vec<(Option<String>, usize)> = Vec::new();
    for package in &machine.packages {
        let model = package.model.as_deref().map(|model| plain(&words(model))).filter(|model| !model.is_empty());
        match models.iter_mut().find(|(known, _)| *known == model) {
            Some((_, count)) => *count += 1,
            None => models.push((model, 1)),
        }
    }
    let text = |(model, count)| match (model, count) {
        (None, count) => counted(count, "socket"),
        (Some(model), 1) => model,
        (Some(model), count) => format!("{count} x {model}"),
    };
    models.into_iter().map(text).collect()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn per_core(machine: &Machine) -> String {
    let strands = || machine.cores.iter().map(|core| core.strands);
    match (strands().min(), strands().max()) {
        (Some(least), Some(most)) if least < most => format!(" ({least} to {most} per core)"),
        (Some(same), _) => format!(" ({same} per core)"),
        _ => String::new(),
    }
}

/// A row per kind and model of devices at each place.
pub(super) fn devices(machine: &Machine, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let row = |row: DeviceRow| [row.kind.to_owned(), row.devices, row.place, row.cpus, row.pci, row.model];
    let rows: Vec<[String; 6]> = device_rows(machine).into_iter().map(row).collect();
    columns(&["device", "names", "near", "CPUs", "PCI", "model"], &[0, 1, 2, 3, 4, 5], &[4], &rows, look, out)
}

/// Parts of one level that are alike.
struct Level {
    name: String,
    size: Option<u64>,
    /// The largest size where parts differ a little, as NUMA nodes do.
    most: Option<u64>,
    shared_by: u32,
    /// The cores below each.
    cores: usize,
    /// The CPUs of each.
    sets: Vec<Vec<u32>>,
}

fn levels(machine: &Machine, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 5]> = found(machine)
        .into_iter()
        .map(|level| {
            let size = match (level.size, level.most) {
                // Nodes of one size lack what the firmware keeps of some of them, which three digits do not show.
                (Some(least), Some(most)) if most - least > most / 200 => {
                    format!("{} to {}", units::iec(least), units::iec(most))
                }
                (size, most) => most.or(size).map(units::iec).unwrap_or_default(),
            };
            let shared_by = counted(level.shared_by as usize, "CPU");
            [level.name, level.sets.len().to_string(), size, shared_by, sets(machine, level.sets)]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    columns(&["level", "count", "size", "shared by", "CPUs"], &[0, 2, 3, 4], &[], &rows, look, out)?;
    writeln!(out)
}

fn found(machine: &Machine) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let sockets = members(machine, |strand| strand.package.into_iter().collect());
    for (at, package) in machine.packages.iter().enumerate() {
        add(&mut levels, "socket".to_owned(), None, package.strands, &sockets, at);
    }
    let groups = members(machine, |strand| strand.groups.clone());
    // hwloc puts a group around a node without CPUs, which is named below.
    for (at, group) in machine.groups.iter().enumerate().filter(|(_, group)| group.strands > 0) {
        add(&mut levels, plain(&group.what), None, group.strands, &groups, at);
    }
    let nodes = members(machine, |strand| strand.numa_nodes.clone());
    for (at, node) in machine.numa_nodes.iter().enumerate() {
        let subtype = node.kind_in_words().map(|kind| format!(" ({})", plain(&kind))).unwrap_or_default();
        let alone = if node.strands == 0 { ", memory only" } else { "" };
        add(&mut levels, format!("NUMA node{subtype}{alone}"), node.memory_bytes, node.strands, &nodes, at);
    }
    for (at, node) in machine.numa_nodes.iter().enumerate().filter(|(_, node)| node.memory_side_cache_bytes.is_some()) {
        add(&mut levels, "memory-side cache".to_owned(), node.memory_side_cache_bytes, node.strands, &nodes, at);
    }
    let caches = members(machine, |strand| strand.caches.clone());
    for (at, cache) in machine.caches.iter().enumerate() {
        let letter = match cache.holds {
            CacheHolds::Unified => "",
            CacheHolds::Data => "d",
            CacheHolds::Instruction => "i",
        };
        let includes = cache.inclusion().map(|word| format!(" ({word})")).unwrap_or_default();
        add(&mut levels, format!("L{}{letter}{includes}", cache.level), cache.size_bytes, cache.strands, &caches, at);
    }
    levels
}

/// The CPUs of each part of a level, each with its core.
fn members(machine: &Machine, parts: impl Fn(&Strand) -> Vec<u32>) -> BTreeMap<usize, Vec<(u32, Option<u32>)>> {
    let mut members: BTreeMap<usize, Vec<_>> = BTreeMap::new();
    for strand in &machine.strands {
        for part in parts(strand) {
            members.entry(part as usize).or_default().push((strand.os_id, strand.core));
        }
    }
    members
}

/// Caches are alike if their sizes are, and they serve as many cores; of memory, each node has a little more or less.
fn add(
    levels: &mut Vec<Level>,
    name: String,
    size: Option<u64>,
    shared_by: u32,
    members: &BTreeMap<usize, Vec<(u32, Option<u32>)>>,
    at: usize,
) {
    let members = || members.get(&at).into_iter().flatten();
    let cores = members().map(|(_, core)| core).collect::<BTreeSet<_>>().len();
    let mut set: Vec<u32> = members().map(|(cpu, _)| *cpu).collect();
    set.sort_unstable();
    let memory = name.starts_with("NUMA");
    let alike = |level: &&mut Level| {
        level.name == name
            && (level.shared_by, level.cores) == (shared_by, cores)
            && (level.size == size || (memory && level.size.is_some() && size.is_some()))
    };
    match levels.iter_mut().find(alike) {
        Some(level) => {
            level.size = level.size.min(size);
            level.most = level.most.max(size);
            level.sets.push(set);
        }
        None => levels.push(Level { name, size, most: size, shared_by, cores, sets: vec![set] }),
    }
}

/// The CPUs of each part; nothing where each lies within a core, since the layout names those.
fn sets(machine: &Machine, sets: Vec<Vec<u32>>) -> String {
    let cores = machine.strands.iter().filter_map(|strand| Some((strand.os_id, strand.core?)));
    let cores: BTreeMap<u32, u32> = cores.collect();
    let within =
        |set: &Vec<u32>| set.iter().all(|cpu| cores.get(cpu).is_some_and(|core| cores.get(&set[0]) == Some(core)));
    if sets.iter().all(within) && sets.len() > 1 {
        return String::new();
    }
    let list = |set: Vec<u32>| shortened(&cpulist::shown(&set).split(',').map(str::to_owned).collect::<Vec<_>>(), ",");
    shortened(&sets.into_iter().map(list).collect::<Vec<_>>(), " | ")
}

/// The first pieces and the last, as many as have room.
fn shortened(pieces: &[String], between: &str) -> String {
    let all = pieces.join(between);
    let [first, middle @ .., last] = pieces else { return all };
    if all.chars().count() <= LIST || middle.is_empty() {
        return all;
    }
    let mut text = first.clone();
    for piece in middle {
        if text.len() + between.len() + piece.len() + last.len() > LIST {
            break;
        }
        text = text + between + piece;
    }
    text + between + "…" + between + last
}

fn beside(lines: &[String], columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let width = lines.iter().map(String::len).max().unwrap_or(0) + 3;
    let room = if columns == usize::MAX { WIDE } else { columns };
    let most = if lines.len() > TALL { (room / width).max(1) } else { 1 };
    let height = lines.len().div_ceil(most).max(1);
    for row in 0..height.min(lines.len()) {
        let cells = lines.iter().skip(row).step_by(height);
        let text: String = cells.map(|cell| format!("{cell:width$}")).collect();
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// What this process may use, kinds of core, contradictions.
pub(super) fn remarks(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    if machine.is_hybrid() {
        for (at, kind) in machine.kinds.iter().enumerate().rev() {
            let at = u32::try_from(at).ok();
            let of_kind = machine.strands.iter().filter(|strand| strand.kind == at);
            let cpus = cpus(of_kind.map(|strand| strand.os_id).collect());
            let clock = clock(kind).map(|clock| format!(" ({clock} max)")).unwrap_or_default();
            writeln!(out, "{}s: {cpus}{clock}", plain(&core_name(machine, at)))?;
        }
    }
    if let Some([sentence, line]) = interleave::weights(machine, &machine.stated_bandwidths()) {
        writeln!(out, "{sentence}: {line}")?;
    }
    let usable = &machine.usable;
    if let Some(cpuset) = &usable.cpuset {
        let mut allowed: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        allowed.sort_unstable();
        // A file says what its machine allowed, and knows no mask.
        let is_here = machine.source == Source::ThisMachine.to_string();
        let list = |list: &str| cpulist::parse(list).map_or_else(|_| "none".to_owned(), |ids| cpulist::shown(&ids));
        let why = match &usable.affinity {
            None if !is_here => "by the file".to_owned(),
            Some(affinity) if affinity == cpuset && cpulist::print(&allowed) == *cpuset => {
                "cpuset and affinity".to_owned()
            }
            affinity => {
                let affinity = affinity.as_ref().map_or_else(|| "not known".to_owned(), |affinity| list(affinity));
                format!("cpuset {}, affinity {affinity}", list(cpuset))
            }
        };
        let (some, all) = (usable.strands, machine.strands.len());
        let which = if allowed.is_empty() { String::new() } else { format!(", {}", cpulist::shown(&allowed)) };
        writeln!(out, "allowed: {some} of {}{which} ({why})", counted(all, "CPU"))?;
    }
    if let Some(cpus) = usable.quota_cpus {
        writeln!(out, "CPU quota: {cpus:.2} CPUs")?;
    }
    if !machine.absent.is_empty() {
        writeln!(out, "offline or not allowed: {}", cpus(machine.absent.clone()))?;
    }
    machine.doubts.iter().try_for_each(|doubt| writeln!(out, "warning: {}", plain(doubt)))
}

fn cpus(mut ids: Vec<u32>) -> String {
    ids.sort_unstable();
    cpulist::cpus(&ids)
}

fn info<'a>(kind: &'a Kind, name: &str) -> Option<&'a str> {
    kind.infos.iter().find(|info| info.name == name).map(|info| info.value.as_str())
}

fn clock(kind: &Kind) -> Option<String> {
    let mhz: u32 = info(kind, "FrequencyMaxMHz")?.parse().ok()?;
    Some(if mhz < 1000 { format!("{mhz} MHz") } else { format!("{:.1} GHz", f64::from(mhz) / 1e3) })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{show, synthetic};
    use super::*;

    #[test]
    fn a_regular_machine_fits_on_a_screen_however_large() {
        for text in [
            "pu:1",
            "pack:2 core:8 pu:2",
            "pack:2 [numa(memory=64GiB)] l3:16(size=32MiB) l2:6 l1d:1 core:1 pu:2",
            "group:4 pack:4 numa:1 l3:2 l2:8 l1i:1 l1d:1 core:1 group:2 pu:4",
            "pack:1 core:31 pu:1",
            "core:2048 pu:1",
        ] {
            let shown = show("summary", &synthetic(text));
            assert!(shown.lines().count() <= 40, "{text}: {shown}");
            assert!(shown.lines().all(|line| line.chars().count() <= 120), "{text}: {shown}");
        }
    }

    #[test]
    fn totals_levels_and_what_limits_are_there() {
        let mut machine = synthetic("pack:2 [numa(memory=64GiB)] l3:2(size=32MiB) core:20 l1d:1(size=32KiB) pu:2");
        let shown = show("summary", &machine);
        let row = |level: &str| -> Vec<String> {
            let line = shown.lines().find(|line| line.starts_with(level)).unwrap_or_else(|| panic!("{level}: {shown}"));
            line.split_whitespace().map(str::to_owned).collect()
        };
        for total in ["2 sockets", "80 cores", "160 CPUs", "2 NUMA nodes", "128 GiB"] {
            assert!(shown.lines().next().unwrap().contains(total), "{total}: {shown}");
        }
        assert_eq!(
            row("L3")[1..],
            ["4", "32", "MiB", "40", "CPUs", "0-39", "|", "40-79", "|", "80-119", "|", "120-159"]
        );
        assert_eq!(row("L1d")[1..], ["80", "32", "KiB", "2", "CPUs"]);
        for absent in ["quota", "allowed", "warning", "ALU"] {
            assert!(!shown.contains(absent), "{absent}: {shown}");
        }
        machine.strands.iter_mut().skip(1).for_each(|strand| strand.usable = false);
        machine.usable.cpuset = Some("0-1".to_owned());
        machine.usable.affinity = Some("0".to_owned());
        machine.usable.quota_cpus = Some(0.5);
        machine.doubts = vec!["it is odd".to_owned()];
        let shown = show("summary", &machine);
        for word in ["cpuset 0-1, affinity 0", "CPU quota: 0.50", "warning: it is odd"] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
    }

    #[test]
    fn a_node_without_cpus_is_named_for_what_it_is() {
        let mut machine = synthetic("pack:2 [numa(memory=64GiB)] core:2 pu:1");
        machine.groups.push(charz_topology::Group { what: "group".into(), strands: 0 });
        machine.numa_nodes.push(NumaNode { strands: 0, ..machine.numa_nodes[0].clone() });
        let shown = show("summary", &machine);
        assert!(shown.contains("NUMA node, memory only") && !shown.contains("group"), "{shown}");
        assert!(!shown.contains("memory-side"), "{shown}");
        machine.numa_nodes.iter_mut().for_each(|node| node.memory_side_cache_bytes = Some(16 << 30));
        let shown = show("summary", &machine);
        assert!(shown.lines().any(|line| line.contains("memory-side cache") && line.contains("16 GiB")), "{shown}");
    }

    #[test]
    fn memory_counts_if_there_is_no_other() {
        let mut machine = synthetic("pack:2 [numa(memory=64GiB)] core:2 pu:1");
        let total = |machine: &Machine| totals(machine).rsplit(" · ").next().unwrap().to_owned();
        assert_eq!(total(&machine), "128 GiB");
        machine.numa_nodes[0].subtype = Some("HBM".into());
        assert_eq!(total(&machine), "64 GiB");
        machine.numa_nodes[1].subtype = Some("HBM".into());
        assert_eq!(total(&machine), "128 GiB");
        // A file can limit its CPUs too.
        machine.usable.cpuset = Some("0".into());
        assert_eq!(total(&machine), "128 GiB", "whether it is virtual is not known");
    }

    #[test]
    fn kinds_of_core_have_names_where_they_are_known() {
        let mut machine = synthetic("core:4 pu:1");
        let kind = |infos: &[(&str, &str)]| Kind {
            speed_rank: Some(0),
            how_known: String::new(),
            infos: infos.iter().map(|(name, value)| Info { name: (*name).into(), value: (*value).into() }).collect(),
            strands: 2,
        };
        machine.kinds = vec![
            kind(&[("CoreType", "IntelAtom"), ("FrequencyMaxMHz", "3900")]),
            kind(&[("CoreType", "IntelCore"), ("FrequencyMaxMHz", "5000")]),
        ];
        for (strand, kind) in machine.strands.iter_mut().zip([1, 1, 0, 0]) {
            strand.kind = Some(kind);
        }
        let shown = show("summary", &machine);
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
        assert!(at("P-cores: CPUs 0-1 (5.0 GHz max)") < at("E-cores: CPUs 2-3 (3.9 GHz max)"), "{shown}");
        assert!(!shown.contains("LP"), "{shown}");
        machine.kinds[1] = Kind { speed_rank: Some(1), ..machine.kinds[0].clone() };
        let shown = show("summary", &machine);
        assert!(shown.contains("\nLP E-cores: CPUs 2-3") && shown.contains("\nE-cores: CPUs 0-1"), "{shown}");
        machine.kinds.truncate(1);
        assert!(!show("summary", &machine).contains("E-cores"), "all cores of one kind need no line");
    }

    #[test]
    fn a_cache_of_a_core_and_one_of_two_cores_have_a_row_each() {
        let mut machine = synthetic("l2:4(size=2MiB) core:1 pu:2");
        machine.cores.push(machine.cores[3].clone());
        machine.strands[7].core = Some(4);
        let shown = show("summary", &machine);
        let rows: Vec<Vec<&str>> =
            shown.lines().filter(|line| line.starts_with("L2")).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows.iter().map(|row| row[1]).collect::<Vec<_>>(), ["3", "1"], "{shown}");
        assert_eq!(rows[1].last(), Some(&"6-7"), "{shown}");
    }
}
