//! What this process may use of the machine: the cpuset, the affinity mask and the CPU bandwidth quota.

use std::fs;

use crate::{Machine, Usable, cgroup, cpulist};

/// Writes into the description of this machine what this process may use of it.
///
/// `allowed` are the strands of the cpuset. Call it before any thread is seated: a thread started by a seated one would
/// inherit its narrow mask, so the main thread's mask is the one that counts.
pub(crate) fn mark(machine: &mut Machine, allowed: &[u32], affinity: Option<Vec<u32>>) {
    let known = affinity.is_some();
    let affinity = affinity.unwrap_or_else(|| allowed.to_vec());
    if !known {
        machine.doubts.push("there is no /proc to read: the affinity mask and the CPU quota are not known".to_owned());
    }
    let largest = allowed.iter().chain(&affinity).copied().max().unwrap_or(0);
    let mut votes = vec![0u8; largest as usize + 1];
    for id in allowed.iter().chain(&affinity) {
        votes[*id as usize] += 1;
    }
    for strand in &mut machine.strands {
        strand.usable = votes.get(strand.os_id as usize) == Some(&2);
    }
    let nodes = memory_nodes();
    for node in &mut machine.numa_nodes {
        node.usable = node.os_id.is_none_or(|id| nodes.as_ref().is_none_or(|nodes| nodes.contains(&id)));
    }
    machine.usable = Usable {
        cpuset: Some(cpulist::print(allowed)),
        affinity: known.then(|| cpulist::print(&affinity)),
        memory: nodes.map(|nodes| cpulist::print(&nodes)),
        quota_cpus: cgroup::quota(),
        ..Usable::everything(machine.usable_strands().count())
    };
}

/// The affinity mask of the process's main thread, ascending; `None` where `/proc` is missing.
pub fn affinity() -> Option<Vec<u32>> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    allowed_list(&status)
}

/// The NUMA nodes that this process may put memory on, ascending; `None` where `/proc` is missing.
fn memory_nodes() -> Option<Vec<u32>> {
    list(&fs::read_to_string("/proc/self/status").ok()?, "Mems_allowed_list:")
}

/// The ids in the line `Cpus_allowed_list:` of a status file.
pub fn allowed_list(status: &str) -> Option<Vec<u32>> {
    list(status, "Cpus_allowed_list:")
}

fn list(status: &str, name: &str) -> Option<Vec<u32>> {
    let list = status.lines().find_map(|line| line.strip_prefix(name))?;
    cpulist::parse(list.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::{affinity, allowed_list};

    #[test]
    fn a_mask_of_any_width_is_read() {
        assert_eq!(allowed_list("Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1,1500\n"), Some(vec![0, 1, 1500]));
        assert_eq!(allowed_list("Name:\tx\n"), None);
        assert_eq!(allowed_list("Cpus_allowed_list:\t\n"), None);
    }

    #[test]
    fn this_process_may_run_somewhere() {
        assert!(affinity().is_some_and(|strands| !strands.is_empty()));
    }
}
