//! Files of the kernel: control groups, `/proc`. A container or another kernel may put anything there.

use charz_kernels::Region;
use charz_measure::parsers as measure_parsers;
use charz_system::{Status, cgroup, meminfo, numa_maps, pressure, stat, task};
use charz_topology::{NumaNode, parsers};

use super::assert_readable;

/// Groups lie where the hierarchy is mounted, and a quota is a positive number. The parts of the input are apart by NUL:
/// `cgroup`, `mountinfo`, the content of the group's files.
pub(super) fn cgroup(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (own, mounts, content) = (part(), part(), part());
    for controller in ["cpu", "memory", "pids"] {
        let groups = cgroup::groups_in(controller, own, mounts);
        assert!(groups.len() <= (mounts.lines().count() + 1) * (own.len() + 1), "more groups than names");
        let quota = cgroup::tightest(&groups, &|_| Some(content.to_owned())).map(|quota| quota.cpus);
        assert!(quota.is_none_or(|quota| quota.is_finite() && quota > 0.0), "a quota of {quota:?}");
    }
}

/// Whatever a file of `/proc` holds, it is read, or it is not there.
pub(super) fn proc(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let _ = (stat::running(text), stat::Ticks::of_all(text), stat::Ticks::of_each(text).count());
    let _ = (task::migrations(text), task::times_ns(text), task::Stat::new(text).cpu());
    let _ = (pressure::waited_ns(text), pressure::recent(text), numa_maps::mappings(text).count());
    let _ = meminfo::bytes(text, "MemAvailable");
    let _ = Status::new(text).cpus();
    let memory_bytes = Some(u64::MAX);
    let node = NumaNode {
        os_id: None,
        subtype: None,
        memory_bytes,
        memory_side_cache_bytes: None,
        tier: None,
        strands: 1,
        usable: true,
    };
    if let Some(doubt) = parsers::memory_doubt(&[node.clone(), node], [&[0], &[0]], text, None) {
        assert_readable(&doubt);
    }
    let region = Region { start: 0x7f00_0000_0000, bytes: 4096 };
    // Both of the files that tell of nodes begin a line with an address.
    if let Some(nodes) = measure_parsers::nodes(text, text, region) {
        assert!(nodes.bytes > 0 && nodes.local_bytes <= nodes.bytes);
    }
    let regions = [region, Region { start: usize::MAX, bytes: usize::MAX }];
    if let Some(pages) = measure_parsers::pages(text, &regions) {
        assert!(pages.total() > 0);
    }
}
