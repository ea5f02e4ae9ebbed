//! Files that hold one value. `None` where there is no such file, or it holds something else.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use charz_data::cpulist;

/// The text of a file, however names in it are spelled: a mount point may be any bytes, and the kernel cuts the name of a thread inside of
/// a character.
pub fn text(path: impl AsRef<Path>) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

/// The text of a file without white space at its ends; `None` if nothing is left.
pub fn word(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The number in a file, e.g. of `/proc/sys`.
pub fn number<N: FromStr>(path: impl AsRef<Path>) -> Option<N> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The ids in a file such as [`ONLINE_CPUS`]: `0-3,8`.
pub fn list(path: impl AsRef<Path>) -> Option<Vec<u32>> {
    cpulist::parse(fs::read_to_string(path).ok()?.trim()).ok()
}

/// The bytes of the memory-side cache before a NUMA node, e.g. fast memory that caches slow memory.
pub fn memory_side_cache(node: u32) -> Option<u64> {
    number(format!("/sys/devices/system/node/node{node}/memory_side_cache/index1/size"))
}

/// The list of CPUs that are online.
pub const ONLINE_CPUS: &str = "/sys/devices/system/cpu/online";

/// The list of NUMA nodes that are online.
pub const ONLINE_NODES: &str = "/sys/devices/system/node/online";

/// The bytes of a transparent huge page: one entry of the second level of page tables.
pub const HUGE_PAGE: &str = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";

/// The clock source that the kernel keeps time by, e.g. `tsc`.
pub const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
