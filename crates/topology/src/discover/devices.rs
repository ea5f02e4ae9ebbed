//! Where devices hang: those of this machine by the kernel's files, those of a file by its objects.
//!
//! hwloc is asked for neither: on this machine it would read the configuration space of each function, and load what asks GPUs; of a file
//! our own check has seen the objects. So those of this machine are also written here into the XML that hwloc exports.

use std::collections::{BTreeMap, BTreeSet};

use charz_system::devices::Found;

use super::notation::{ACCELERATOR, NODE_CPUS, info, unused_identity};
use super::xml;
use crate::{Device, DeviceKind, Machine, Strand, cpulist};

/// Enters devices with the package and the node that the CPUs local to each have in common.
pub(super) fn enter(machine: &mut Machine, found: Vec<Found>) {
    let place = |found: Found| {
        let Found { names, kind, model, pci, pci_root, node, cpus, .. } = found;
        let node = node.and_then(|id| machine.numa_nodes.iter().position(|node| node.os_id == Some(id)));
        let node = node.and_then(|at| u32::try_from(at).ok());
        let listed: Option<BTreeSet<u32>> =
            cpus.and_then(|list| Some(cpulist::parse(&list).ok()?.into_iter().collect()));
        let is_local = |strand: &&Strand| match (node, &listed) {
            (Some(node), _) => strand.numa_nodes.contains(&node),
            (None, Some(listed)) => listed.contains(&strand.os_id),
            (None, None) => true,
        };
        let strands = || machine.strands.iter().filter(is_local);
        let mut local: Vec<u32> = strands().map(|strand| strand.os_id).collect();
        local.sort_unstable();
        let only = |of: fn(&Strand) -> Option<u32>| {
            let all: BTreeSet<Option<u32>> = strands().map(of).collect();
            all.first().copied().flatten().filter(|_| all.len() == 1)
        };
        let (numa, package) = (node.or_else(|| only(|strand| strand.numa)), only(|strand| strand.package));
        Some(Device { names, kind: kind?, model, pci, pci_root, package, numa, cpus: cpulist::print(&local) })
    };
    let devices = found.into_iter().filter_map(place).collect();
    machine.enter_devices(devices);
}

/// The text of a machine with its devices, each in the outermost object that has the CPUs local to it and no others. Where there is none,
/// it is in the machine, with an info that has those CPUs.
pub(super) fn written(text: &str, machine: &Machine) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut identity = unused_identity(text);
    let mut roots: BTreeMap<(&str, Option<&str>), Vec<&Device>> = BTreeMap::new();
    for device in &machine.devices {
        roots.entry((&device.cpus, device.pci_root.as_deref())).or_default().push(device);
    }
    for ((cpus, root), devices) in roots {
        let local = devices[0].local();
        let is_own = |line: &String| {
            let is_normal =
                line.contains("<object type=\"") && !line.contains("\"NUMANode\"") && !line.contains("\"MemCache\"");
            is_normal && !local.is_empty() && xml::cpus(line).as_ref() == Some(&local)
        };
        let place = lines.iter().position(is_own);
        let Some(at) = place.or_else(|| lines.iter().position(|line| line.contains("<object type=\"Machine\""))) else {
            continue;
        };
        let indent = lines[at].len() - lines[at].trim_start().len();
        let close = format!("{}</object>", " ".repeat(indent));
        if let Some(open) = lines[at].strip_suffix("/>") {
            lines[at] = format!("{open}>");
            lines.insert(at + 1, close.clone());
        }
        let Some(end) = (at..lines.len()).find(|line| lines[*line] == close) else { continue };
        let elsewhere = if place.is_none() { info(NODE_CPUS, cpus) } else { String::new() };
        let mut next = || {
            identity += 1;
            format!(" gp_index=\"{identity}\"")
        };
        let mut own = String::new();
        let bridge = root
            .and_then(|root| bridge(root, &devices))
            .map(|bridge| format!("<object type=\"Bridge\"{}{bridge}>\n", next()));
        own += bridge.as_deref().unwrap_or_default();
        devices.iter().for_each(|device| own += &object(device, &elsewhere, &mut next));
        own += bridge.map_or("", |_| "</object>\n");
        lines.splice(end..end, own.lines().map(str::to_owned));
    }
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// What a bridge of a host says of itself: the buses behind it, as far as these devices show them.
fn bridge(root: &str, devices: &[&Device]) -> Option<String> {
    let (domain, first) = root.split_once(':')?;
    let bus = |device: &&Device| u8::from_str_radix(device.pci.as_deref()?.split(':').nth(1)?, 16).ok();
    let last = devices.iter().filter_map(bus).max()?.max(u8::from_str_radix(first, 16).ok()?);
    Some(format!(" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"{domain}:[{first}-{last:02x}]\""))
}

/// A device as a function of PCI with the system's names in it, or where it is on another bus as these names.
///
/// The codes are those of the PCI Code and ID Assignment Specification, and of `hwloc_obj_osdev_type_e`. Makers have no ids here: ffff.
fn object(device: &Device, elsewhere: &str, next: &mut impl FnMut() -> String) -> String {
    let (class, kind) = match device.kind {
        DeviceKind::Gpu => ("0302", "1"),
        DeviceKind::Display => ("0300", "1"),
        DeviceKind::Accelerator => ("1200", "5"),
        DeviceKind::InfiniBand => ("0207", "3"),
        DeviceKind::Nic => ("0200", "2"),
        DeviceKind::Disk => ("0108", "0"),
    };
    let subtype =
        if device.kind == DeviceKind::Accelerator { format!(" subtype=\"{ACCELERATOR}\"") } else { String::new() };
    let model = |name| device.model.as_deref().map(|model| info(name, model)).unwrap_or_default();
    let inside = if device.pci.is_none() { format!("{elsewhere}{}", model("Model")) } else { String::new() };
    // The rank of a GPU is our name of it, and not the system's.
    let names = device.names.iter().skip(usize::from(device.kind == DeviceKind::Gpu));
    let names: String = names
        .map(|name| {
            let (identity, name) = (next(), xml::escaped(name));
            format!(
                "<object type=\"OSDev\"{identity} name=\"{name}\"{subtype} osdev_type=\"{kind}\">\n{inside}</object>\n"
            )
        })
        .collect();
    let Some(pci) = &device.pci else { return names };
    let (identity, model) = (next(), model("PCIDevice"));
    format!(
        "<object type=\"PCIDev\"{identity} pci_busid=\"{pci}\" pci_type=\"{class} [ffff:ffff] [ffff:ffff] 00\" \
         pci_link_speed=\"0.000000\">\n{elsewhere}{model}{names}</object>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, discover, export_xml};

    /// hwloc takes the text, and the devices come back: on a socket, on CPUs that no part has, on the whole machine, and on no bus.
    #[test]
    fn devices_that_are_written_come_back() {
        let source = Source::Synthetic("pack:2 numa:2 core:2 pu:1".into());
        let mut machine = discover(&source).unwrap();
        let device = |names: &[&str], kind, pci: Option<&str>, cpus: &str| Found {
            names: names.iter().map(ToString::to_string).collect(),
            kind: Some(kind),
            model: Some("A <1>".to_owned()),
            pci: pci.map(str::to_owned),
            pci_root: pci.map(|pci| format!("{}10", &pci[..5])),
            cpus: Some(cpus.to_owned()),
            ..Found::default()
        };
        let found = vec![
            device(&["eth0"], DeviceKind::Nic, Some("0000:12:00.0"), "0-3"),
            device(&["ib0", "mlx5_0"], DeviceKind::InfiniBand, Some("0000:12:00.1"), "0-3"),
            device(&["card1", "renderD129"], DeviceKind::Gpu, Some("0001:1f:00.0"), "6-7"),
            device(&[], DeviceKind::Gpu, Some("0001:20:00.0"), "6-7"),
            device(&["card0"], DeviceKind::Display, Some("0001:21:00.0"), "0-7"),
            device(&["accel0"], DeviceKind::Accelerator, Some("0001:22:00.0"), "1,4"),
            device(&["pmem0"], DeviceKind::Disk, None, "5"),
            device(&["pmem1"], DeviceKind::Disk, None, "2-4"),
        ];
        enter(&mut machine, found);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), written(&export_xml(&source, &[]).unwrap(), &machine)).unwrap();
        let again = discover(&Source::File(file.path().to_owned())).unwrap();
        assert_eq!(again.devices, machine.devices);
        // What hwloc writes of it has them too.
        std::fs::write(file.path(), export_xml(&Source::File(file.path().to_owned()), &[]).unwrap()).unwrap();
        assert_eq!(discover(&Source::File(file.path().to_owned())).unwrap().devices, machine.devices);
    }

    #[track_caller]
    fn check(node: Option<u32>, cpus: Option<&str>, expected: (Option<u32>, Option<u32>, &str), is_placed: bool) {
        let mut machine = discover(&Source::Synthetic("pack:2 numa:2 core:2 pu:1".into())).unwrap();
        let found = Found { kind: Some(DeviceKind::Nic), node, cpus: cpus.map(str::to_owned), ..Found::default() };
        enter(&mut machine, vec![found]);
        let device = &machine.devices[0];
        assert_eq!((device.package, device.numa, device.cpus.as_str()), expected);
        assert_eq!(device.is_placed(&machine), is_placed);
    }

    /// hwloc leaves out words of a set that are zero: the texts of a set differ, the sets do not.
    #[test]
    fn a_device_of_a_later_socket_is_written_into_it() {
        let source = Source::Synthetic("pack:3 core:40 pu:1".into());
        let mut machine = discover(&source).unwrap();
        let device = |at: usize, cpus: &str| Found {
            names: vec![format!("nvme{at}n1")],
            kind: Some(DeviceKind::Disk),
            cpus: Some(cpus.to_owned()),
            ..Found::default()
        };
        enter(&mut machine, [(0, "80-119"), (1, "100"), (2, "0-119")].map(|(at, cpus)| device(at, cpus)).into());
        let text = written(&export_xml(&source, &[]).unwrap(), &machine);
        assert!(text.contains("name=\"nvme2n1\"") && !text.contains(NODE_CPUS), "{text}");
    }

    #[test]
    fn a_device_hangs_where_its_cpus_are_together() {
        check(Some(3), Some("6-7"), (Some(1), Some(3), "6-7"), true);
        check(None, Some("4-7"), (Some(1), None, "4-7"), true);
        check(None, Some("0-1"), (Some(0), Some(0), "0-1"), true);
        check(None, Some("0-7"), (None, None, "0-7"), false);
        check(None, None, (None, None, "0-7"), false);
        check(Some(9), Some("0-7,100"), (None, None, "0-7"), false);
    }
}
