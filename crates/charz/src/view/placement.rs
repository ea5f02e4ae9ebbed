//! A placement in words, and in the words of the tools with which people launch programs.

use std::io::{self, Write};
use std::sync::LazyLock;

use charz_topology::{Machine, Mapping, Near, Placement};
use serde::Serialize;

use super::look;
use charz_data::escape::{counted, or_dash, plain};
use charz_data::report::MemoryHome;
use charz_render::grid::columns;
use charz_render::json;
use charz_words::launch::{Placed, TOOLS, Tool};

pub type Format = charz_render::formats::Format<Show>;

/// How charz shows a placement, which may be near a device.
type Own = fn(&Machine, &Mapping, &Placement, Option<&Near>, &mut dyn Write) -> io::Result<()>;

pub enum Show {
    Own(Own),
    Launch(&'static Tool),
}

/// What charz says itself, then a format per tool.
pub static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let own = [
        Format { name: "table", about: "A row a thread: its CPU, and where that is.", write: Show::Own(table) },
        Format {
            name: "json",
            about: "The mapping, the number of threads, and their seats: ids, or null for a floating thread.",
            write: Show::Own(json),
        },
    ];
    let tools = TOOLS.iter().map(|tool| Format { name: tool.name, about: tool.about, write: Show::Launch(tool) });
    own.into_iter().chain(tools).collect()
});

impl Show {
    /// Shows a placement.
    pub fn show(
        &self,
        machine: &Machine,
        mapping: &Mapping,
        placement: &Placement,
        near: Option<&Near>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Show::Own(write) => write(machine, mapping, placement, near, out),
            Show::Launch(tool) => {
                let memory = near.and_then(|near| near.memory).map_or(MemoryHome::Local, MemoryHome::Node);
                let placed = Placed { machine, seats: &placement.seats, memory };
                out.write_all(placed.launch(tool).script().as_bytes())
            }
        }
    }
}

/// That threads are not on CPUs local to a device; `None` where all are.
pub fn spilled(near: &Near, seats: &[Option<u32>]) -> Option<String> {
    let device = plain(&near.device);
    if !near.has_local {
        return Some(format!("no CPU local to {device} is allowed; threads are on the nearest CPUs that are"));
    }
    let (local, all) = (seats.iter().flatten().filter(|seat| near.is_local(**seat)).count(), seats.len());
    (local < all).then(|| {
        format!("on CPUs local to {device}: {local} of {}; the others are on the nearest CPUs", counted(all, "thread"))
    })
}

fn table(
    machine: &Machine,
    mapping: &Mapping,
    placement: &Placement,
    near: Option<&Near>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let workers = counted(placement.seats.len(), "thread");
    let stacked = match placement.most_on_one_strand {
        0 => "the operating system places and moves them".to_owned(),
        1 => "one CPU each".to_owned(),
        most => format!("up to {most} on one CPU"),
    };
    let memory =
        near.and_then(|near| near.memory).map(|node| format!(", memory on NUMA node {node}")).unwrap_or_default();
    let near = near.map(|near| format!(", near {}{memory}", plain(&near.device))).unwrap_or_default();
    writeln!(out, "{}: {workers}, {stacked}{near}", plain(&mapping.to_string()))?;
    if machine.alu.is_known() {
        writeln!(out, "ALU groups: {}", machine.alu)?;
    }
    let strands: std::collections::HashMap<u32, _> =
        machine.strands.iter().map(|strand| (strand.os_id, strand)).collect();
    let rows: Vec<[String; 8]> = placement
        .seats
        .iter()
        .enumerate()
        .map(|(worker, seat)| {
            let strand = seat.and_then(|seat| strands.get(&seat));
            let place =
                |index: fn(&charz_topology::Strand) -> Option<u32>| or_dash(strand.and_then(|strand| index(strand)));
            [
                worker.to_string(),
                or_dash(*seat),
                place(|strand| strand.package),
                or_dash(strand.and_then(|strand| strand.numa).map(|node| machine.node_id(node))),
                place(|strand| strand.core),
                place(|strand| Some(strand.alu)),
                place(|strand| Some(strand.slot)),
                place(|strand| strand.kind),
            ]
        })
        .collect();
    let heading = ["thread", "CPU", "socket", "numa", "core", "alu", "slot", "kind"];
    columns(&heading, &[7], &[6, 5], &rows, &look::of_stdout(), out)
}

#[derive(Serialize)]
struct Json<'a> {
    mapping: String,
    threads: usize,
    seats: &'a [Option<u32>],
    /// The device that they are near.
    #[serde(skip_serializing_if = "Option::is_none")]
    near: Option<&'a str>,
    /// The NUMA node of the memory near it.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_node: Option<u32>,
}

fn json(
    _: &Machine,
    mapping: &Mapping,
    placement: &Placement,
    near: Option<&Near>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (seats, mapping) = (&placement.seats, mapping.to_string());
    let (memory_node, near) = (near.and_then(|near| near.memory), near.map(|near| near.device.as_str()));
    json::write_compact(&Json { mapping, threads: seats.len(), seats, near, memory_node }, out)?;
    writeln!(out)
}
