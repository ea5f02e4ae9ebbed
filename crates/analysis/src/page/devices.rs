//! Devices in rows: those alike that hang at one place together.

use charz_data::escape::plain;
use charz_data::machine::{Device, Machine};
use charz_estimate::grouped;

/// Where more devices are in a row, each has one name.
const FEW: usize = 4;

/// Devices of one kind and model at one place.
pub struct DeviceRow {
    /// `NIC`, as [`name`](charz_data::machine::DeviceKind::name) has it.
    pub kind: &'static str,
    /// Each device by its names, `ens1f0/mlx5_0, ens1f1/mlx5_1`; only the first of each where they are many.
    pub devices: String,
    /// `NUMA node 1`, `socket 1`, `CPUs 0-7`; `unknown node` where the system does not report it.
    pub place: String,
    /// Their PCI addresses, where they are few, and the PCI roots that they hang on: `0000:3b:00.0 (root 0000:3a)`.
    pub pci: String,
    /// The CPUs local to them.
    pub cpus: String,
    /// Their maker and model; empty where it is not known.
    pub model: String,
    /// Logical index of their NUMA node.
    pub numa: Option<u32>,
    /// Logical index of their package.
    pub package: Option<u32>,
}

/// The devices of a machine in rows. Names are escaped.
pub fn device_rows(machine: &Machine) -> Vec<DeviceRow> {
    let alike = |device: &&Device| (device.kind, device.numa, device.cpus.clone(), device.model.clone());
    let row = |devices: Vec<&Device>| {
        let first = devices[0];
        let names = |device: &&Device| match device.names.as_slice() {
            [] => device.name().to_owned(),
            names if devices.len() <= FEW => names.join("/"),
            [first, ..] => first.clone(),
        };
        let mut roots: Vec<&str> = devices.iter().filter_map(|device| device.pci_root.as_deref()).collect();
        roots.dedup();
        let root = if roots.is_empty() { String::new() } else { format!("root {}", roots.join(", ")) };
        // An address may be the name.
        let named = devices.iter().filter(|device| !device.names.is_empty());
        let addresses: Vec<&str> = named.filter_map(|device| device.pci.as_deref()).collect();
        let pci = match addresses.join(", ") {
            _ if devices.len() > FEW => root,
            addresses if addresses.is_empty() => root,
            addresses if root.is_empty() => addresses,
            addresses => format!("{addresses} ({root})"),
        };
        DeviceRow {
            kind: first.kind.name(),
            devices: plain(&devices.iter().map(names).collect::<Vec<_>>().join(", ")),
            place: place(machine, first),
            pci: plain(&pci),
            cpus: first.cpus.clone(),
            model: first.model.as_deref().map(plain).unwrap_or_default(),
            numa: first.numa,
            package: first.package,
        }
    };
    grouped(machine.devices.iter(), alike).into_iter().map(row).collect()
}

fn place(machine: &Machine, device: &Device) -> String {
    match (device.numa, device.package) {
        _ if !device.is_placed(machine) => "unknown node".to_owned(),
        (Some(node), _) => format!("NUMA node {}", machine.node_id(node)),
        (None, Some(package)) => format!("socket {package}"),
        (None, None) => format!("CPUs {}", device.cpus),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::machine::{DeviceKind, NumaNode};
    use charz_data::report::fixtures::report;

    #[test]
    fn devices_alike_share_a_row_with_their_place() {
        let mut machine = report(Vec::new()).machine;
        let node = NumaNode { os_id: Some(4), ..machine.numa_nodes[0].clone() };
        machine.numa_nodes = vec![node.clone(), NumaNode { os_id: Some(9), ..node }];
        let disk = |name: &str, numa, cpus: &str| Device {
            names: vec![name.to_owned(), format!("{name}\u{1b}")],
            kind: DeviceKind::Disk,
            model: Some("M".to_owned()),
            pci: None,
            pci_root: Some("0000:00".to_owned()),
            package: None,
            numa,
            cpus: cpus.to_owned(),
        };
        let devices = vec![disk("b", Some(1), "1"), disk("a", Some(1), "1"), disk("c", None, "0-1")];
        machine.enter_devices(devices);
        let rows = device_rows(&machine);
        let found: Vec<_> = rows.iter().map(|row| (row.place.as_str(), row.pci.as_str())).collect();
        assert_eq!(found, [("NUMA node 9", "root 0000:00"), ("unknown node", "root 0000:00")]);
        assert!(rows[0].devices.starts_with("a/") && !rows[0].devices.contains('\u{1b}'), "{}", rows[0].devices);
    }
}
