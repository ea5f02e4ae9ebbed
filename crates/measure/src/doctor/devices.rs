//! Where devices hang, and where their interrupts go.

use std::path::Path;

use charz_data::escape::plain;
use charz_data::{cpulist, units};
use charz_system::devices::{self, Found};
use charz_system::file::ONLINE_NODES as NODES;
use charz_system::per_cpu::{self, Interrupts};

use super::{Item, Look, Seen};

pub(super) const ITEMS: &[Item] = &[Item {
    name: "devices",
    key: "devices",
    effect: "Data of a device that is on another NUMA node than its interrupts, or than the threads that use it, crosses the link between \
             nodes; `--near` cannot place threads near a device of an unknown node.",
    checks: &[],
    look: near,
}];

/// Fewer interrupts since the start of the system say nothing of where they go.
const ENOUGH: u64 = 1000;
/// Devices that a fix names.
const MOST_FIXED: usize = 4;

/// A device with more than half of its interrupts on the CPUs of other nodes, and few of its queues on its own.
struct Far {
    name: String,
    node: u32,
    share: f64,
    irqs: Vec<u32>,
    local: Vec<u32>,
}

fn near(look: &Look) -> Result<Seen, String> {
    let text = look.root.text("/proc/interrupts")?;
    let (cpus, counts) = per_cpu::interrupts(&text);
    if cpus.is_empty() {
        return Err("/proc/interrupts: names no CPU".to_owned());
    }
    let nodes = cpulist::parse(&look.root.text(NODES)?).map_err(|error| format!("{NODES}: {error}"))?;
    let found = devices::read(&look.root.place(Path::new("/")));
    if nodes.len() < 2 || found.is_empty() {
        return Ok(Seen::ok(format!("devices: {}, NUMA nodes: {}", found.len(), nodes.len())));
    }
    let is_lost = |device: &&Found| {
        let listed = device.cpus.as_deref().and_then(|list| cpulist::parse(list).ok());
        device.node.is_none() && listed.is_none_or(|list| cpus.iter().all(|cpu| list.contains(cpu)))
    };
    let lost: Vec<String> = found.iter().filter(is_lost).map(called).collect();
    let far: Vec<Far> = found.iter().filter_map(|device| far(look, device, &cpus, &counts)).collect();
    let mut read: Vec<String> = far
        .iter()
        .map(|far| {
            let share = units::percent(far.share);
            format!("{} is on NUMA node {}, {share} of its interrupts are on others", far.name, far.node)
        })
        .collect();
    if !lost.is_empty() {
        read.push(format!("the NUMA node is not reported (-1) of {}", lost.join(", ")));
    }
    let moves = far.iter().take(MOST_FIXED).map(|far| {
        let irqs: Vec<String> = far.irqs.iter().map(u32::to_string).collect();
        let (irqs, local) = (irqs.join(" "), cpulist::print(&far.local));
        format!("`for irq in {irqs}; do echo {local} > /proc/irq/$irq/smp_affinity_list; done`")
    });
    let mut fix: Vec<String> = moves.collect();
    if !lost.is_empty() {
        let firmware = "Have the firmware (ACPI _PXM) or the hypervisor state the node; until then, name CPUs with `--mapping list:`.";
        fix.push(firmware.to_owned());
    }
    if read.is_empty() {
        return Ok(Seen::ok(format!("the interrupts of {} devices go to their nodes, or to all", found.len())));
    }
    let word = if far.is_empty() { "unknown node" } else { "far" };
    Ok(Seen::limits(read.join("; "), fix.join(" ")).valued(word))
}

fn called(device: &Found) -> String {
    plain(device.names.first().or(device.pci.as_ref()).map_or("", |name| name))
}

/// A driver may give each CPU a queue of its own, whose interrupts follow the threads: those are spread over all nodes, and not far.
fn far(look: &Look, device: &Found, cpus: &[u32], counts: &Interrupts) -> Option<Far> {
    let node = device.node?;
    let list = look.root.text(format!("/sys/devices/system/node/node{node}/cpulist")).ok()?;
    let local = cpulist::parse(&list).ok()?;
    let (mut near, mut all, mut queues, mut near_queues) = (0, 0, 0, 0);
    let mut irqs = Vec::new();
    for irq in device.interrupts() {
        let Some(counts) = counts.get(&irq).filter(|counts| !counts.is_empty()) else { continue };
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        let own: u64 = counts.iter().filter(|(cpu, _)| local.contains(cpu)).map(|(_, count)| count).sum();
        // It may have been moved since the system started.
        let now = ["effective_affinity_list", "smp_affinity_list"]
            .iter()
            .find_map(|file| cpulist::parse(&look.root.text(format!("/proc/irq/{irq}/{file}")).ok()?).ok());
        let is_near = now.map_or(2 * own > total, |cpus| cpus.iter().any(|cpu| local.contains(cpu)));
        (near, all, queues, near_queues) = (near + own, all + total, queues + 1, near_queues + usize::from(is_near));
        irqs.extend((!is_near).then_some(irq));
    }
    let even = local.len() as f64 / cpus.len().max(1) as f64;
    let is_far = all >= ENOUGH && 2 * near < all && (near_queues as f64) < 0.5 * even * queues as f64;
    let share = 1.0 - near as f64 / all.max(1) as f64;
    is_far.then(|| Far { name: called(device), node, share, irqs, local })
}
