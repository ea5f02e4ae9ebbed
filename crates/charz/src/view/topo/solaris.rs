//! Two more texts of Solaris: `lgrpinfo`, which groups CPUs by the memory that is near, and the script `showcores` of S. Sistare's pages, which
//! names the core of each CPU.

use std::collections::BTreeMap;
use std::io::{self, Write};

use charz_data::cpulist;
use charz_topology::Machine;

/// `CPU core`, a line for each CPU; one without a core is a core of its own.
pub(super) fn write_cores(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:>4} {:>4}", "CPU", "core")?;
    // As the script does, cores go by the id of their first CPU.
    let mut first = BTreeMap::new();
    for strand in &machine.strands {
        let known = first.entry(strand.core).or_insert(strand.os_id);
        *known = strand.os_id.min(*known);
    }
    for strand in &machine.strands {
        let core = strand.core.map_or(strand.os_id, |core| first[&Some(core)]);
        writeln!(out, "{:>4} {core:>4}", strand.os_id)?;
    }
    Ok(())
}

/// The root, and a leaf for each NUMA node where there are several. What of the memory is allocated and free changes by the moment, and is left
/// out.
pub(super) fn write_groups(machine: &Machine, out: &mut dyn Write) -> io::Result<()> {
    let nodes = &machine.numa_nodes;
    let all: Vec<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
    let bytes = nodes.iter().map(|node| node.memory_bytes).sum::<Option<u64>>().filter(|_| !nodes.is_empty());
    let leaves = if nodes.len() > 1 { nodes.as_slice() } else { &[] };
    let children = if leaves.is_empty() {
        "none".to_owned()
    } else {
        cpulist::print(&(1..=leaves.len() as u32).collect::<Vec<_>>())
    };
    group(out, "0 (root)", &format!("Children: {children}"), &all, bytes)?;
    for (at, node) in leaves.iter().enumerate() {
        let own = machine.strands.iter().filter(|strand| strand.numa == Some(at as u32));
        let own: Vec<u32> = own.map(|strand| strand.os_id).collect();
        group(out, &format!("{} (leaf)", at + 1), "Children: none, Parent: 0", &own, node.memory_bytes)?;
    }
    Ok(())
}

fn group(out: &mut dyn Write, name: &str, relatives: &str, cpus: &[u32], bytes: Option<u64>) -> io::Result<()> {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    let cpus = if cpus.is_empty() { "none".to_owned() } else { cpulist::print(&cpus) };
    let memory = bytes.map_or("installed unknown".to_owned(), |bytes| format!("installed {}", short(bytes)));
    writeln!(out, "lgroup {name}:\n        {relatives}\n        CPUs: {cpus}\n        Memory: {memory}")
}

/// `32G`, as these tools write sizes: two digits at least.
fn short(bytes: u64) -> String {
    let (mut value, mut units) = (bytes as f64, ["", "K", "M", "G", "T"].into_iter());
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if value < 10.0 && !unit.is_empty() { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}
