//! A machine in words: one format a line in [`FORMATS`].

mod layout;
mod psrinfo;
mod solaris;
mod summary;
mod tree;

use std::collections::BTreeSet;
use std::io::{self, Write};

use charz_topology::{Info, Machine, Mapping, Strand, modes, place};
use serde::Serialize;

use charz_analysis::figure::{Body, Figure, MachineDiagram, Order};
use charz_analysis::page;
use charz_data::escape::or_dash;
use charz_render::grid::columns;
use charz_render::json;
use charz_render::look::TerminalStyle;
use charz_render::picture;
use charz_render::term::pen::Pen;
use charz_render::term::{ascii, nest};
use charz_render::wrapped::folded;

use summary::totals;

pub type Format = charz_render::formats::Format<fn(&Machine, &TerminalStyle, &mut dyn Write) -> io::Result<()>>;

/// All formats; the first is the default.
#[rustfmt::skip]
pub static FORMATS: &[Format] = &[
    Format { name: "summary", about: "Totals, a row per level, and which strands lie on which core; at most 40 lines for a regular machine.", write: |machine, look, out| folded(look.tables, out, |out| ascii::within(look, out, |out| summary::write(machine, look, out))) },
    Format { name: "tree", about: "Sockets, memory, caches, cores and strands inside each other, then what this process may use.", write: |machine, look, out| folded(look.tables, out, |out| ascii::within(look, out, |out| tree::write(machine, out))) },
    Format { name: "boxes", about: "The same drawn as boxes, as wide as the terminal; what is alike is drawn once and counted where all of it has no room.", write: |machine, look, out| folded(look.tables, out, |out| ascii::within(look, out, |out| boxes(machine, look, out))) },
    Format { name: "table", about: "A row per strand: its id, its place at each level, the caches it shares, and whether this process may use it.", write: table },
    Format { name: "psrinfo", about: "The text of Solaris' psrinfo -pv.", write: |machine, _, out| psrinfo::write(machine, out) },
    Format { name: "lgrpinfo", about: "The text of Solaris' lgrpinfo: CPUs by the memory that is near.", write: |machine, _, out| solaris::write_groups(machine, out) },
    Format { name: "showcores", about: "The core of each CPU, as the script showcores of Solaris' pages has it.", write: |machine, _, out| solaris::write_cores(machine, out) },
    Format { name: "json", about: "Everything that is known, for programs.", write: |machine, _, out| json(machine, out) },
    Format { name: "svg", about: "Boxes as a scalable picture.", write: |machine, _, out| picture::svg(&figure(machine), out) },
];

/// Formats that take more than the machine, or are not for a terminal.
pub const XML: (&str, &str) = (
    "xml",
    "hwloc XML, which lstopo reads; with --measured also the latency and the bandwidth of memory, as distances and attributes.",
);
pub const PNG: (&str, &str) = ("png", "Boxes as a bitmap for a file, where charz was built with it.");

/// The default with more lines, which `--verbose` asks for.
#[rustfmt::skip]
pub static VERBOSE: Format = Format { name: "summary", about: "", write: |machine, look, out| folded(look.tables, out, |out| ascii::within(look, out, |out| summary::write_all(machine, look, out))) };

/// A machine with its modes, of which reports keep none.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    machine: &'a Machine,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modes: Vec<Info>,
}

fn json(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    json::write_compact(&Whole { machine, modes: modes(machine) }, out)?;
    writeln!(out)
}

fn table(machine: &Machine, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let heading = ["strand", "socket", "numa", "core", "alu", "slot", "in-core", "kind", "usable", "caches"];
    let rows: Vec<_> = machine.strands.iter().map(|strand| row(machine, strand)).collect();
    columns(&heading, &[heading.len() - 1], &[6, 5, 4, 7], &rows, look, out)?;
    if !machine.devices.is_empty() {
        writeln!(out)?;
        summary::devices(machine, look, out)?;
    }
    Ok(())
}

fn row(machine: &Machine, strand: &Strand) -> [String; 10] {
    let caches = strand.caches.iter().filter_map(|cache| machine.caches.get(*cache as usize));
    let caches: Vec<String> = caches.map(ToString::to_string).collect();
    [
        strand.os_id.to_string(),
        or_dash(strand.package),
        or_dash(strand.numa.map(|node| machine.node_id(node))),
        or_dash(strand.core),
        strand.alu.to_string(),
        strand.slot.to_string(),
        strand.strand_in_core.to_string(),
        or_dash(strand.kind),
        if strand.usable { "yes" } else { "no" }.to_owned(),
        if caches.is_empty() { "-".to_owned() } else { caches.join(" ") },
    ]
}

/// As boxes where they have room, as a tree where they do not.
fn boxes(machine: &Machine, look: &TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    tree::head(machine, out)?;
    let mut pen = Pen::new(look, out);
    match nest::boxes(&nest(machine), &mut pen)? {
        true => models(machine, &mut pen)?,
        false => tree::parts(machine, out)?,
    }
    tree::rest(machine, out)
}

pub fn figure(machine: &Machine) -> Figure {
    Figure {
        id: "machine".to_owned(),
        title: totals(machine),
        about: Vec::new(),
        body: Body::MachineDiagram(nest(machine)),
        table: None,
    }
}

/// The parts, and the orders in which the usual mappings fill them once.
fn nest(machine: &Machine) -> MachineDiagram {
    let strands = machine.usable_strands().count();
    let order = |name: &str| {
        let mapping: Mapping = name.parse().ok()?;
        let seats = place(&mapping.order(machine).ok()?, strands).seats;
        Some(Order { mapping: name.to_owned(), seats: seats.into_iter().flatten().collect() })
    };
    page::nest(machine, true, ["round-robin", "dumb"].into_iter().filter_map(order).collect())
}

/// What the boxes have no room for: each model of processors once.
fn models(machine: &Machine, pen: &mut Pen<'_>) -> io::Result<()> {
    let models: BTreeSet<&str> = machine.packages.iter().filter_map(|package| package.model.as_deref()).collect();
    models.into_iter().try_for_each(|model| pen.text("processor: ", model.trim()))
}

#[cfg(test)]
mod tests {
    use charz_topology::{Machine, NumaNode, Source, discover};

    use super::*;

    #[track_caller]
    pub(super) fn show(name: &str, machine: &Machine) -> String {
        let format = FORMATS.iter().find(|format| format.name == name).unwrap();
        let mut bytes = Vec::new();
        (format.write)(machine, &TerminalStyle::PLAIN, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    pub(super) fn synthetic(text: &str) -> Machine {
        discover(&Source::Synthetic(text.to_owned())).unwrap()
    }

    #[test]
    fn the_json_is_the_machine() {
        let machine = synthetic("Package:2 Core:2 Group:2 PU:2");
        assert_eq!(serde_json::from_str::<Machine>(&show("json", &machine)).unwrap(), machine);
        let json: serde_json::Value = serde_json::from_str(&show("json", &machine)).unwrap();
        assert_eq!(json["strands"][7]["os_id"], 7);
        let coreless: serde_json::Value = serde_json::from_str(&show("json", &synthetic("pu:2"))).unwrap();
        assert!(coreless["strands"][1]["core"].is_null() && coreless["strands"][1]["package"].is_null());
    }

    #[test]
    fn names_out_of_files_cannot_steer_the_terminal() {
        let mut machine = synthetic("pack:1 core:2 pu:1");
        let evil = "\u{1b}[2J\u{202e}\n";
        machine.name = Some(evil.to_owned());
        machine.source = evil.to_owned();
        machine.packages[0].model = Some(evil.to_owned());
        machine.numa_nodes[0].subtype = Some(evil.to_owned());
        let info = Info { name: evil.to_owned(), value: evil.to_owned() };
        let how_known = evil.to_owned();
        machine.kinds = vec![charz_topology::Kind { speed_rank: Some(0), how_known, infos: vec![info], strands: 2 }];
        for format in FORMATS {
            let shown = show(format.name, &machine);
            assert!(!shown.contains('\u{1b}'), "{}", format.name);
            assert!(format.name == "json" || !shown.contains('\u{202e}'), "{}", format.name);
        }
    }

    /// Also where those differ from the order of the nodes, and where a CPU has several.
    #[test]
    fn nodes_have_the_systems_numbers() {
        let mut machine = synthetic("pack:2 [numa(memory=64GiB)] core:2 pu:1");
        (machine.numa_nodes[0].os_id, machine.numa_nodes[1].os_id) = (Some(8), Some(3));
        let near = NumaNode { os_id: Some(5), subtype: Some("HBM".into()), ..machine.numa_nodes[0].clone() };
        machine.numa_nodes.push(near);
        machine.strands[..2].iter_mut().for_each(|strand| strand.numa_nodes.push(2));
        machine.count_strands();
        for format in ["tree", "boxes", "svg"] {
            let found = show(format, &machine);
            for node in ["NUMA node 8", "NUMA node 3", "NUMA node 5 (64 GiB, HBM)"] {
                assert!(found.contains(node), "{format}: {node}: {found}");
            }
            assert!(!found.contains("NUMA node 0"), "{format}: {found}");
        }
        let table = show("table", &machine);
        let nodes: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect();
        assert_eq!(nodes, ["8", "8", "3", "3"]);
    }
}
