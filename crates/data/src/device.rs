//! Devices of a machine: GPUs, network ports, disks, and where they hang.

use crate::machine::{Device, DeviceKind, Machine};
use crate::{Arrange, cpulist};

impl DeviceKind {
    /// In a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gpu => "GPU",
            Self::Accelerator => "accelerator",
            Self::InfiniBand => "InfiniBand",
            Self::Nic => "NIC",
            Self::Disk => "disk",
            Self::Display => "display",
        }
    }

    /// By the class code of a PCI function, the ids of its maker and model, and whether the system computes with it; `None` where it is no
    /// device here, such as a bridge.
    pub fn of_class(class: u32, [vendor, model]: [u32; 2], computes: bool) -> Option<Self> {
        /// AMD, NVIDIA, Intel and Moore Threads, and makers that a description leaves out: screens of others, in class 0300, are those of a management controller or of a hypervisor.
        const GPUS: [u32; 5] = [0x1002, 0x10de, 0x8086, 0x1ed5, 0];
        /// ES1000 and Rage XL, which servers had for their consoles.
        const CONSOLES: [[u32; 2]; 2] = [[0x1002, 0x515e], [0x1002, 0x4752]];
        let is_gpu = computes || (GPUS.contains(&vendor) && !CONSOLES.contains(&[vendor, model]));
        Some(match class >> 8 {
            0x01 => Self::Disk,
            0x02 if class == 0x0207 => Self::InfiniBand,
            0x02 => Self::Nic,
            0x03 if class == 0x0302 || is_gpu => Self::Gpu,
            0x03 => Self::Display,
            0x0c if class == 0x0c06 => Self::InfiniBand,
            0x12 if computes || [0x1002, 0x10de].contains(&vendor) => Self::Gpu,
            0x12 => Self::Accelerator,
            0x0b if class == 0x0b40 => Self::Accelerator,
            _ => return None,
        })
    }
}

impl Device {
    /// What it is called first: the system's name, else its address.
    pub fn name(&self) -> &str {
        self.names.first().or(self.pci.as_ref()).map_or("", |name| name)
    }

    /// The ids in [`Device::cpus`].
    pub fn local(&self) -> Vec<u32> {
        cpulist::parse(&self.cpus).unwrap_or_default()
    }

    /// Whether it is known where it hangs on this machine: on a node, or beside a part of the CPUs. On a machine of one node it is.
    pub fn is_placed(&self, machine: &Machine) -> bool {
        self.numa.is_some() || machine.numa_nodes.len() < 2 || self.local().len() < machine.strands.len()
    }

    /// Whether a user may mean it: by a name, as a path in `/dev`, with a port behind a colon, or by its PCI address, with or without the
    /// domain where that is 0000.
    fn is_called(&self, text: &str) -> bool {
        let text = text.strip_prefix("/dev/").unwrap_or(text);
        let pci = self.pci.as_deref().unwrap_or_default();
        let port = text.split_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map(|(name, _)| name);
        self.names.iter().any(|name| name == text || Some(name.as_str()) == port)
            || pci.eq_ignore_ascii_case(text)
            || pci.strip_prefix("0000:").is_some_and(|short| short.eq_ignore_ascii_case(text))
    }
}

impl Machine {
    /// The device that a user calls so.
    pub fn device(&self, text: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.is_called(text))
    }

    /// Puts devices in order, and gives GPUs their numbers.
    pub fn enter_devices(&mut self, mut devices: Vec<Device>) {
        devices.iter_mut().for_each(|device| device.names.arrange_by_key(|name| natural(name)));
        devices
            .arrange_by_key(|device| (device.kind, device.pci.is_none(), device.pci.clone(), natural(device.name())));
        let gpus = devices.iter_mut().filter(|device| device.kind == DeviceKind::Gpu);
        gpus.enumerate().for_each(|(rank, gpu)| gpu.names.insert(0, format!("gpu{rank}")));
        self.devices = devices;
    }
}

/// `nvme2n1` before `nvme10n1`.
fn natural(name: &str) -> (String, u64, String) {
    let digits = |at: usize| name[at..].bytes().take_while(u8::is_ascii_digit).count();
    let begin = name.find(|mark: char| mark.is_ascii_digit()).unwrap_or(name.len());
    let end = begin + digits(begin);
    (name[..begin].to_owned(), name[begin..end].parse().unwrap_or(0), name[end..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(names: &[&str], pci: Option<&str>, kind: DeviceKind) -> Device {
        Device {
            names: names.iter().map(ToString::to_string).collect(),
            kind,
            model: None,
            pci: pci.map(str::to_owned),
            pci_root: None,
            package: None,
            numa: None,
            cpus: String::new(),
        }
    }

    #[test]
    fn a_device_is_called_by_any_of_its_names() {
        let mlx = device(&["ib0", "mlx5_0"], Some("0000:3B:00.1"), DeviceKind::InfiniBand);
        for text in ["ib0", "mlx5_0", "mlx5_0:1", "3b:00.1", "0000:3b:00.1", "/dev/ib0"] {
            assert!(mlx.is_called(text), "{text}");
        }
        let far = device(&["nvme0n1"], Some("0001:3b:00.1"), DeviceKind::Disk);
        assert!(far.is_called("/dev/nvme0n1") && far.is_called("0001:3b:00.1"));
        for text in ["", "3b:00.1", "nvme0", "nvme0n1p1"] {
            assert!(!far.is_called(text), "{text}");
        }
    }

    #[test]
    fn screens_of_management_controllers_are_no_gpus() {
        let of = |class, vendor| DeviceKind::of_class(class, [vendor, 0x515e], false);
        assert_eq!(of(0x0300, 0x1a03), Some(DeviceKind::Display));
        assert_eq!(of(0x0300, 0x10de), Some(DeviceKind::Gpu));
        assert_eq!(of(0x0300, 0x1002), Some(DeviceKind::Display));
        assert_eq!(of(0x0302, 0x1234), Some(DeviceKind::Gpu));
        assert_eq!((of(0x1200, 0x1da3), of(0x1200, 0x1002)), (Some(DeviceKind::Accelerator), Some(DeviceKind::Gpu)));
        assert_eq!((of(0x0604, 0x8086), of(0x0c03, 0x8086)), (None, None));
    }

    #[test]
    fn names_and_gpus_are_in_the_order_of_numbers() {
        assert!(natural("nvme2n1") < natural("nvme10n1") && natural("card0") < natural("renderD128"));
    }
}
