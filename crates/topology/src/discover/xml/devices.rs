//! The devices in hwloc XML: objects `PCIDev` below `Bridge`, and `OSDev` in these or elsewhere.

use charz_system::devices::Found;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::super::notation::{ACCELERATOR, NODE_CPUS};
use super::object::attributes;
use super::set::Set;
use crate::{DeviceKind, cpulist};

/// An element that is not closed yet.
#[derive(Clone, Default)]
struct Open {
    /// The CPUs of the innermost object around that has some.
    cpus: Option<String>,
    /// The PCI root around.
    root: Option<String>,
    /// The position of the device around.
    device: Option<usize>,
}

#[derive(Default)]
struct Building {
    found: Found,
    /// Its class, its maker, and its model.
    ids: Option<[u32; 3]>,
    computes: bool,
    /// What its objects are.
    kinds: Vec<DeviceKind>,
    /// Maker, product, and the model of its disk.
    infos: [Option<String>; 3],
}

/// The devices of a text that passed the check.
pub(in crate::discover) fn devices(text: &str) -> Vec<Found> {
    let (mut open, mut found) = (vec![Open::default()], Vec::<Building>::new());
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                let inside = enter(&start, open.last().cloned().unwrap_or_default(), &mut found);
                open.push(inside);
            }
            Ok(Event::Empty(start)) => {
                enter(&start, open.last().cloned().unwrap_or_default(), &mut found);
            }
            Ok(Event::End(_)) => {
                open.pop();
            }
            // The text was checked.
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    found.into_iter().map(Building::end).filter(Found::is_shown).collect()
}

/// The CPUs that the tag of an object names; `None` where it names none. One set has several texts.
pub(in crate::discover) fn cpus(tag: &str) -> Option<Vec<u32>> {
    Some(Set::read(super::value(tag, "cpuset")?)?.ids())
}

fn enter(start: &BytesStart<'_>, mut inside: Open, found: &mut Vec<Building>) -> Open {
    let attributes = attributes(start).unwrap_or_default();
    let value = |wanted: &str| attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    match (start.name().0, value("type")) {
        ("object", Some("Bridge")) => {
            inside.device = None;
            if value("bridge_type").is_some_and(|kind| kind.starts_with("0-")) {
                inside.root = value("bridge_pci").and_then(root);
            }
        }
        ("object", Some("PCIDev")) => {
            let Open { cpus, root, .. } = &inside;
            let pci = value("pci_busid").map(str::to_owned);
            let about = Found { pci, pci_root: root.clone(), cpus: cpus.clone(), ..Found::default() };
            inside.device = Some(found.len());
            found.push(Building { found: about, ids: value("pci_type").and_then(ids), ..Building::default() });
        }
        ("object", Some("OSDev")) => {
            let at = inside.device.unwrap_or(found.len());
            inside.device = Some(at);
            if at == found.len() {
                let about = Found { cpus: inside.cpus.clone(), ..Found::default() };
                found.push(Building { found: about, ..Building::default() });
            }
            found[at].add(value("name"), value("osdev_type"), value("subtype"));
        }
        ("object", _) => {
            let own = value("cpuset").and_then(Set::read).map(|set| set.ids()).filter(|ids| !ids.is_empty());
            inside = Open { cpus: own.map(|ids| cpulist::print(&ids)).or(inside.cpus), root: None, device: None };
        }
        ("info", _) if value("name") == Some(NODE_CPUS) => {
            let own = inside.device.map(|device| &mut found[device].found.cpus);
            own.into_iter().for_each(|own| *own = value("value").map(str::to_owned));
        }
        ("info", _) => {
            let at = ["PCIVendor", "PCIDevice", "Model"].iter().position(|name| value("name") == Some(name));
            if let (Some(device), Some(at)) = (inside.device, at) {
                found[device].infos[at] =
                    value("value").map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
            }
        }
        _ => {}
    }
    inside
}

/// `0000:3a` of `0000:[3a-3b]`.
fn root(buses: &str) -> Option<String> {
    let (domain, buses) = buses.split_once(":[")?;
    Some(format!("{domain}:{}", buses.split_once('-')?.0))
}

/// Class, maker and model of `0200 [14e4:1639] [0014:007c] 20`.
fn ids(text: &str) -> Option<[u32; 3]> {
    let (class, rest) = text.split_once(" [")?;
    let (maker, rest) = rest.split_once(':')?;
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    Some([hex(class)?, hex(maker)?, hex(rest.split_once(']')?.0)?])
}

impl Building {
    /// Adds an object: its types are those of `hwloc_obj_osdev_type_e` of hwloc 1 and 2.
    fn add(&mut self, name: Option<&str>, kind: Option<&str>, subtype: Option<&str>) {
        let Some(name) = name.filter(|name| !name.starts_with("sr")) else { return };
        let kind = match kind {
            Some("0") if subtype == Some("Removable Media Device") => return,
            Some("0") => DeviceKind::Disk,
            Some("5") if subtype == Some(ACCELERATOR) => DeviceKind::Accelerator,
            Some("1" | "5") => DeviceKind::Gpu,
            Some("2") => DeviceKind::Nic,
            Some("3") => DeviceKind::InfiniBand,
            _ => return,
        };
        // A console has a card too.
        self.computes |= kind == DeviceKind::Gpu && !name.starts_with("card");
        self.kinds.push(kind);
        self.found.names.push(name.to_owned());
    }

    fn end(mut self) -> Found {
        let own = self.ids.and_then(|[class, ids @ ..]| {
            self.found.class = Some(class);
            DeviceKind::of_class(class, ids, self.computes)
        });
        // A port of Ethernet with RDMA is both.
        let by_object = self.kinds.iter().find(|kind| **kind == DeviceKind::Nic).or(self.kinds.first());
        self.found.kind = own.or(by_object.copied());
        let disks = self.kinds.iter().filter(|kind| **kind == DeviceKind::Disk).count();
        let [maker, product, disk] = self.infos;
        let of_function = match (maker, product) {
            (Some(maker), Some(product)) => Some(format!("{maker} {product}")),
            (one, other) => one.or(other),
        };
        self.found.model = disk.filter(|_| disks == 1).or(of_function);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_become_devices_of_the_part_around_them() {
        let text = "<topology><object type=\"Machine\" cpuset=\"0xff\"><object type=\"Package\" cpuset=\"0x0f\">\
            <object type=\"Bridge\" bridge_type=\"0-1\" bridge_pci=\"0001:[3a-3f]\">\
            <object type=\"Bridge\" bridge_type=\"1-1\" bridge_pci=\"0001:[3b-3b]\" pci_busid=\"0001:3a:00.0\">\
            <object type=\"PCIDev\" pci_busid=\"0001:3b:00.0\" pci_type=\"0207 [15b3:1019] [0:0] 0\">\
            <info name=\"PCIVendor\" value=\"M\"/><info name=\"PCIDevice\" value=\"X &amp; 5\"/>\
            <object type=\"OSDev\" name=\"ib0\" osdev_type=\"2\"/><object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"3\"/>\
            </object></object>\
            <object type=\"PCIDev\" pci_busid=\"0001:3c:00.0\" pci_type=\"0101 [8086:1] [0:0] 0\">\
            <object type=\"OSDev\" name=\"sr0\" osdev_type=\"0\"/></object>\
            <object type=\"PCIDev\" pci_busid=\"0001:3d:00.0\" pci_type=\"0300 [1a03:1] [0:0] 0\"/></object></object>\
            <object type=\"OSDev\" name=\"pmem0\" subtype=\"NVM\" osdev_type=\"0\"><info name=\"Model\" value=\"P\"/></object>\
            </object></topology>";
        let found = devices(text);
        let facts = |found: &Found| (found.names.join(" "), found.kind, found.pci_root.clone(), found.cpus.clone());
        let root = || Some("0001:3a".to_owned());
        let expected = [
            ("ib0 mlx5_0".to_owned(), Some(DeviceKind::InfiniBand), root(), Some("0-3".to_owned())),
            (String::new(), Some(DeviceKind::Display), root(), Some("0-3".to_owned())),
            ("pmem0".to_owned(), Some(DeviceKind::Disk), None, Some("0-7".to_owned())),
        ];
        assert_eq!(found.iter().map(facts).collect::<Vec<_>>(), expected);
        assert_eq!(found[0].model.as_deref(), Some("M X & 5"));
    }
}
