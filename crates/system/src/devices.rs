//! Devices as the kernel lists them below `/sys`: functions of PCI with what drivers made of them, and what hangs on other buses.
//!
//! Documentation/ABI/testing/sysfs-bus-pci of the kernel has `class`, `numa_node` and `local_cpulist`; names are in `/sys/class`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use charz_data::machine::DeviceKind;

use crate::file;

/// A device before its place on a machine is looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The names in `/sys/class`.
    pub names: Vec<String>,
    /// What it is; `None` of a function that nothing is made of, and whose class is none of ours.
    pub kind: Option<DeviceKind>,
    /// Maker and model, or the ids of both.
    pub model: Option<String>,
    /// The class code of its function of PCI, without the programming interface.
    pub class: Option<u32>,
    /// The PCI address.
    pub pci: Option<String>,
    /// The domain and the bus of its PCI root.
    pub pci_root: Option<String>,
    /// The NUMA node; `None` where the kernel has none (-1).
    pub node: Option<u32>,
    /// The CPUs local to it, as a list, where the bus states them.
    pub cpus: Option<String>,
    /// Its folder.
    pub folder: PathBuf,
}

impl Found {
    /// Whether it is worth a line: by its names, or by its class. Controllers of IDE and SATA are there without a disk too.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        !self.names.is_empty() || (self.kind.is_some() && !matches!(self.class, Some(0x0101 | 0x0106)))
    }

    /// The numbers of its interrupts: those signalled by messages, else that of its line.
    #[must_use]
    pub fn interrupts(&self) -> Vec<u32> {
        let by_message = entries(&self.folder.join("msi_irqs"));
        let mut numbers: Vec<u32> = by_message.iter().filter_map(|entry| name(entry)?.parse().ok()).collect();
        if numbers.is_empty() {
            numbers.extend(file::number::<u32>(self.folder.join("irq")).filter(|irq| *irq > 0));
        }
        numbers.sort_unstable();
        numbers
    }
}

/// Folders below `/sys/class` with the names of devices, and what these are if their bus does not state a class.
const CLASSES: [(&str, DeviceKind); 6] = [
    ("net", DeviceKind::Nic),
    ("infiniband", DeviceKind::InfiniBand),
    ("drm", DeviceKind::Gpu),
    ("accel", DeviceKind::Accelerator),
    ("nvme", DeviceKind::Disk),
    ("block", DeviceKind::Disk),
];

/// Where distributions keep the names of PCI's makers and models.
const NAMES: [&str; 3] = ["usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "usr/share/pci.ids"];

/// Functions of PCI that are read at most, and entries of a class: far more than a machine has.
const MOST: usize = 16_384;

/// The devices of a system whose root is this folder, without those that only software makes: loops, bridges, tunnels, memory.
#[must_use]
pub fn read(root: &Path) -> Vec<Found> {
    let mut devices: BTreeMap<PathBuf, Found> = BTreeMap::new();
    let mut ids: BTreeMap<PathBuf, [u32; 2]> = BTreeMap::new();
    for folder in entries(&root.join("sys/bus/pci/devices")) {
        let Ok(folder) = fs::canonicalize(folder) else { continue };
        let hex = |name: &str| u32::from_str_radix(file::word(folder.join(name))?.strip_prefix("0x")?, 16).ok();
        let Some(class) = hex("class").map(|class| class >> 8) else { continue };
        let both = [hex("vendor").unwrap_or(0), hex("device").unwrap_or(0)];
        let renders =
            entries(&folder.join("drm")).iter().any(|node| name(node).is_some_and(|name| name.starts_with("render")));
        let kind = DeviceKind::of_class(class, both, renders);
        let about =
            Found { kind, class: Some(class), pci: name(&folder), pci_root: root_of(&folder), ..placed(&folder) };
        devices.insert(folder.clone(), about);
        ids.insert(folder, both);
    }
    for (class, kind) in CLASSES {
        for entry in entries(&root.join("sys/class").join(class)) {
            let (Some(own), Ok(place)) = (name(&entry), fs::canonicalize(&entry)) else { continue };
            let Some(own) = device_name(class, &own, &place) else { continue };
            let folder = place.ancestors().find(|at| devices.contains_key(*at) && ids.contains_key(*at));
            let folder = folder.map_or_else(|| owner(&place), Path::to_path_buf);
            let device = devices.entry(folder.clone()).or_insert_with(|| placed(&folder));
            let is_infiniband = class == "net" && file::number(place.join("type")) == Some(INFINIBAND);
            device.kind = match device.kind {
                Some(DeviceKind::Nic) | None if is_infiniband => Some(DeviceKind::InfiniBand),
                known => known.or(Some(kind)),
            };
            let model = ["model", "device/model"].into_iter().find_map(|model| file::word(place.join(model)));
            // Of several disks behind a controller none stands for all.
            device.model = match device.names.first() {
                None if kind == DeviceKind::Disk => model,
                Some(first) if class == "block" && !first.starts_with("nvme") => None,
                _ => device.model.take(),
            };
            if !device.names.contains(&own) {
                device.names.push(own);
            }
        }
    }
    // Functions for guests come in hundreds.
    let is_shown = |(folder, device): &(&PathBuf, &mut Found)| {
        device.is_shown() && (!device.names.is_empty() || !folder.join("physfn").exists())
    };
    let mut shown: Vec<(&PathBuf, &mut Found)> = devices.iter_mut().filter(is_shown).collect();
    name_models(root, &mut shown, &ids);
    shown.into_iter().map(|(_, device)| device.clone()).collect()
}

/// The names of the disks that hold what is on a device with these numbers, below a root: of a partition that of its disk, of a volume over
/// several disks those of all. Empty where the kernel names none, as of a network's file system.
#[must_use]
pub fn disks_of(root: &Path, [major, minor]: [u32; 2]) -> Vec<String> {
    let Ok(place) = fs::canonicalize(root.join(format!("sys/dev/block/{major}:{minor}"))) else { return Vec::new() };
    let (mut open, mut found) = (vec![place], Vec::new());
    // A volume lies on others a few times, and never on itself.
    while let Some(place) = open.pop().filter(|_| found.len() < MOST) {
        let below = entries(&place.join("slaves"));
        let whole = if place.join("partition").exists() { place.parent() } else { Some(&*place) };
        match (below.is_empty(), whole.and_then(name)) {
            (true, Some(own)) => found.push(own),
            _ => open.extend(below.iter().filter_map(|entry| fs::canonicalize(entry).ok())),
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The type of a network interface of InfiniBand, `ARPHRD_INFINIBAND` of linux/if_arp.h.
const INFINIBAND: u32 = 32;

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.take(MOST).filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort_unstable();
    paths
}

fn name(path: &Path) -> Option<String> {
    path.file_name()?.to_str().map(str::to_owned)
}

/// The name by which an entry of a class is used; `None` of those that only software makes, of parts of disks, of connectors of screens, and
/// of drives for media that come and go.
fn device_name(class: &str, name: &str, place: &Path) -> Option<String> {
    // With several paths to a disk of NVMe nvme0n1 is no device's, and nvme0c1n1 is hidden on each.
    if class == "block"
        && let Some((controller, rest)) = name.strip_prefix("nvme").and_then(|rest| rest.split_once('c'))
        && let Some((_, space)) = rest.split_once('n')
    {
        return Some(format!("nvme{controller}n{space}"));
    }
    let is_virtual = place.components().any(|part| part.as_os_str() == "virtual");
    let is_part = class == "block" && place.join("partition").exists();
    let comes_and_goes = class == "block" && ["sr", "fd"].iter().any(|drive| name.starts_with(drive));
    let is_connector = class == "drm" && (name.contains('-') || name == "version");
    (!(is_virtual || is_part || comes_and_goes || is_connector)).then(|| name.to_owned())
}

/// The device of an entry of a class that hangs on no PCI bus: the nearest folder around it with a place, else what `device` points to.
fn owner(place: &Path) -> PathBuf {
    let with_node = place.ancestors().skip(1).take(8).find(|at| at.join("numa_node").is_file());
    let device = || fs::canonicalize(place.join("device")).ok();
    with_node.map(Path::to_path_buf).or_else(device).unwrap_or_else(|| place.to_path_buf())
}

fn placed(folder: &Path) -> Found {
    Found {
        node: file::number(folder.join("numa_node")),
        cpus: file::word(folder.join("local_cpulist")),
        folder: folder.to_path_buf(),
        ..Found::default()
    }
}

/// `0000:3a` of the folder `…/pci0000:3a/0000:3a:00.0/0000:3b:00.0`.
fn root_of(folder: &Path) -> Option<String> {
    let parts = folder.components().filter_map(|part| part.as_os_str().to_str()?.strip_prefix("pci"));
    parts.rev().find(|root| root.contains(':')).map(str::to_owned)
}

/// Gives the functions of PCI the names of their makers and models, where a file of them is installed; else their ids.
fn name_models(root: &Path, shown: &mut [(&PathBuf, &mut Found)], ids: &BTreeMap<PathBuf, [u32; 2]>) {
    let lacking = shown.iter().any(|(folder, device)| device.model.is_none() && ids.contains_key(*folder));
    let text = NAMES.iter().find_map(|path| file::text(root.join(path)).filter(|_| lacking)).unwrap_or_default();
    for (folder, device) in shown {
        if let (None, Some(both)) = (&device.model, ids.get(*folder)) {
            device.model = Some(model(&text, *both));
        }
    }
}

/// By the text of a file pci.ids: `NVIDIA Corporation GH100 [H100 SXM5 80GB]`, or `10de:2330` where it has neither.
#[must_use]
pub fn model(names: &str, [vendor, device]: [u32; 2]) -> String {
    let unknown = || format!("{vendor:04x}:{device:04x}");
    let Some(start) = names.find(&format!("\n{vendor:04x}  ")) else { return unknown() };
    let mut lines = names[start + 1..].lines();
    let maker = lines.next().map_or("", |line| line[4..].trim());
    let of_maker = lines.take_while(|line| line.starts_with('\t') || line.starts_with('#'));
    let wanted = format!("\t{device:04x}  ");
    let own = of_maker.into_iter().find_map(|line| line.strip_prefix(&wanted));
    own.map_or_else(|| format!("{maker} {}", unknown()), |own| format!("{maker} {}", own.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const IDS: &str = "# comment\n10dd  Other\n10de  Green Corporation\n\t2330  G100 [Big]\n\t\t1111 2222  sub\n\t2331  G101\n10df  Next\n\t2332  No\n";

    #[test]
    fn models_are_named_by_the_file_of_names() {
        let of = |vendor, device| model(IDS, [vendor, device]);
        assert_eq!(of(0x10de, 0x2330), "Green Corporation G100 [Big]");
        assert_eq!((of(0x10de, 0x2332), of(0x1234, 1)), ("Green Corporation 10de:2332".into(), "1234:0001".into()));
    }

    /// A folder as the kernel's, with devices by their paths below `/sys/devices`, their files, and links of classes.
    fn tree(files: &[(&str, &str)], links: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let place = |path: &str| folder.path().join("sys").join(path);
        for (path, text) in files {
            fs::create_dir_all(place(path).parent().unwrap()).unwrap();
            fs::write(place(path), text).unwrap();
        }
        for (link, target) in links {
            fs::create_dir_all(place(link).parent().unwrap()).unwrap();
            fs::create_dir_all(place(target)).unwrap();
            symlink(place(target), place(link)).unwrap();
        }
        folder
    }

    #[test]
    fn names_of_all_classes_meet_on_their_function_of_pci() {
        const NIC: &str = "devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0";
        const NVME: &str = "devices/pci0000:c0/0000:c0:01.0/0000:c1:00.0";
        let at = |folder: &str, name: &str| format!("{folder}/{name}");
        let files: Vec<(String, &str)> = [
            (at(NIC, "class"), "0x020000\n"),
            (at(NIC, "vendor"), "0x15b3\n"),
            (at(NIC, "device"), "0x101d\n"),
            (at(NIC, "numa_node"), "0\n"),
            (at(NIC, "local_cpulist"), "0-3\n"),
            (at(NVME, "class"), "0x010802\n"),
            (at(NVME, "numa_node"), "-1\n"),
            (at(NVME, "nvme/nvme1/model"), "Fast Disk  \n"),
            (at(NVME, "nvme/nvme1/nvme1n1/nvme1n1p1/partition"), "1\n"),
            ("devices/platform/soc/eth/numa_node".to_owned(), "1\n"),
            ("devices/pci0000:00/0000:00:1f.2/class".to_owned(), "0x010601\n"),
            ("devices/virtual/net/lo/type".to_owned(), "772\n"),
        ]
        .to_vec();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let links: Vec<(&str, String)> = vec![
            ("bus/pci/devices/0000:3b:00.0", NIC.to_owned()),
            ("bus/pci/devices/0000:c1:00.0", NVME.to_owned()),
            ("bus/pci/devices/0000:00:1f.2", "devices/pci0000:00/0000:00:1f.2".to_owned()),
            ("class/net/eth0", at(NIC, "net/eth0")),
            ("class/infiniband/mlx5_0", at(NIC, "infiniband/mlx5_0")),
            ("class/net/lo", "devices/virtual/net/lo".to_owned()),
            ("class/net/end0", "devices/platform/soc/eth/net/end0".to_owned()),
            ("class/nvme/nvme1", at(NVME, "nvme/nvme1")),
            ("class/block/nvme1n1", at(NVME, "nvme/nvme1/nvme1n1")),
            ("class/block/nvme1n1p1", at(NVME, "nvme/nvme1/nvme1n1/nvme1n1p1")),
            ("class/block/loop0", "devices/virtual/block/loop0".to_owned()),
        ];
        let links: Vec<(&str, &str)> = links.iter().map(|(link, target)| (*link, target.as_str())).collect();
        let folder = tree(&files, &links);
        let found = read(folder.path());
        let names: Vec<String> = found.iter().map(|device| device.names.join(" ")).collect();
        assert_eq!(names, ["eth0 mlx5_0", "nvme1 nvme1n1", "end0"]);
        assert_eq!(found[0].pci_root.as_deref(), Some("0000:3a"));
        assert_eq!(found[0].model.as_deref(), Some("15b3:101d"));
        assert_eq!((found[0].node, found[0].cpus.as_deref()), (Some(0), Some("0-3")));
        assert_eq!((found[1].node, found[1].model.as_deref()), (None, Some("Fast Disk")));
        assert_eq!((found[2].node, &found[2].pci, found[2].kind), (Some(1), &None, Some(DeviceKind::Nic)));
        assert!(read(&folder.path().join("none")).is_empty());
    }

    #[test]
    fn a_disk_with_several_paths_keeps_its_name() {
        assert_eq!(device_name("block", "nvme0c3n1", Path::new("/x")).as_deref(), Some("nvme0n1"));
        assert_eq!(device_name("block", "nvme0n1", Path::new("/x")).as_deref(), Some("nvme0n1"));
        assert_eq!(device_name("block", "nvme0n1", Path::new("/sys/devices/virtual/x")), None);
    }
}
