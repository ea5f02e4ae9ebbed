//! Which pages a cell's memory really got, as the kernel tells it in `/proc/self/smaps`.

pub use super::nodes::Nodes;

use charz_kernels::Region;

/// A worker's block, the NUMA node of its seat as far as it is known, and those that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// Where the block lies.
    pub region: Region,
    /// The node.
    pub node: Option<u32>,
    /// The nodes that the block is to lie on, in equal parts; none where nothing else was asked than the worker's own.
    pub homes: Vec<u32>,
}

impl Plot {
    pub(super) fn overlaps(&self, start: usize, end: usize) -> bool {
        self.region.start < end && start < self.region.start.saturating_add(self.region.bytes)
    }
}

/// Bytes of resident memory by kind of page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagesObtained {
    /// The size of a base page.
    pub base_page_bytes: u64,
    /// On pages of the base size.
    pub base_bytes: u64,
    /// On transparent huge pages.
    pub transparent_bytes: u64,
    /// On reserved huge pages (hugetlb) of 2 MiB.
    pub huge_2m_bytes: u64,
    /// On reserved huge pages (hugetlb) of 1 GiB.
    pub huge_1g_bytes: u64,
}

impl PagesObtained {
    /// All of it.
    pub fn total(self) -> u64 {
        let parts = [self.base_bytes, self.transparent_bytes, self.huge_2m_bytes, self.huge_1g_bytes];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Looks blocks up. `None` without any or without `/proc`.
    pub fn look_up(plots: &[Plot]) -> Option<Self> {
        if plots.is_empty() {
            return None;
        }
        Self::from_smaps(&std::fs::read_to_string("/proc/self/smaps").ok()?, plots)
    }

    /// The kernel joins neighbouring blocks into one mapping, so that only the sum over all mappings that hold a part of
    /// a block can be told.
    pub(crate) fn from_smaps(smaps: &str, plots: &[Plot]) -> Option<Self> {
        let mut obtained = PagesObtained::default();
        let mut mapping = Mapping::default();
        for line in smaps.lines() {
            if let Some((start, end)) = header(line) {
                mapping.add_to(&mut obtained);
                let ours = plots.iter().any(|plot| plot.overlaps(start, end));
                mapping = Mapping { ours, ..Mapping::default() };
            } else if let Some((name, bytes)) = field(line) {
                match name {
                    "KernelPageSize" => mapping.page_bytes = bytes,
                    "Rss" => mapping.resident = bytes,
                    "AnonHugePages" => mapping.transparent = bytes,
                    "Private_Hugetlb" | "Shared_Hugetlb" => mapping.reserved = mapping.reserved.saturating_add(bytes),
                    _ => {}
                }
            }
        }
        mapping.add_to(&mut obtained);
        (obtained.total() > 0).then_some(obtained)
    }
}

#[derive(Default)]
struct Mapping {
    ours: bool,
    page_bytes: u64,
    resident: u64,
    transparent: u64,
    reserved: u64,
}

impl Mapping {
    fn add_to(&self, obtained: &mut PagesObtained) {
        if !self.ours {
            return;
        }
        if self.reserved == 0 {
            obtained.base_page_bytes = self.page_bytes;
        }
        let add = |sum: &mut u64, bytes| *sum = sum.saturating_add(bytes);
        add(&mut obtained.transparent_bytes, self.transparent);
        add(&mut obtained.base_bytes, self.resident.saturating_sub(self.transparent));
        let huge = self.page_bytes >= 1 << 30;
        add(if huge { &mut obtained.huge_1g_bytes } else { &mut obtained.huge_2m_bytes }, self.reserved);
    }
}

/// `7f0000000000-7f0010000000 rw-p 00000000 00:00 0`
pub(super) fn header(line: &str) -> Option<(usize, usize)> {
    let (range, _) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

/// `AnonHugePages:    262144 kB`
fn field(line: &str) -> Option<(&str, u64)> {
    let (name, value) = line.split_once(':')?;
    let kib: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((name, kib.checked_mul(1024)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                4096 kB
AnonHugePages:      2048 kB
Private_Hugetlb:       0 kB
VmFlags: rd wr
7f1000000000-7f1000400000 rw-p 00000000 00:00 0
KernelPageSize:     2048 kB
Rss:                   0 kB
AnonHugePages:         0 kB
Private_Hugetlb:    4096 kB
7f2000000000-7f2000400000 rw-p 00000000 00:00 0
KernelPageSize:        4 kB
Rss:                 512 kB
AnonHugePages:         0 kB
";

    fn at(start: usize) -> Plot {
        Plot { region: Region { start, bytes: 4096 }, node: None, homes: Vec::new() }
    }

    #[test]
    fn only_mappings_that_hold_a_region_count() {
        let obtained = PagesObtained::from_smaps(SMAPS, &[at(0x7f00_0000_1000), at(0x7f10_0000_0000)]).unwrap();
        assert_eq!(obtained.base_page_bytes, 4096);
        assert_eq!(obtained.base_bytes, 2 << 20);
        assert_eq!(obtained.transparent_bytes, 2 << 20);
        assert_eq!(obtained.huge_2m_bytes, 4 << 20);
        assert_eq!(obtained.total(), 8 << 20);
    }

    #[test]
    fn memory_outside_of_every_mapping_is_unknown() {
        assert_eq!(PagesObtained::from_smaps(SMAPS, &[at(0x1000)]), None);
        assert_eq!(PagesObtained::from_smaps("", &[at(0x1000)]), None);
        assert_eq!(PagesObtained::look_up(&[]), None);
    }

    #[test]
    fn a_touched_buffer_of_this_process_is_found() {
        let buffer = vec![1_u8; 1 << 20];
        let region = Region { start: std::hint::black_box(buffer.as_ptr()) as usize, bytes: buffer.len() };
        let Some(obtained) = PagesObtained::look_up(&[Plot { region, node: None, homes: Vec::new() }]) else { return };
        assert!(obtained.total() >= 1 << 20, "{obtained:?}");
    }
}
