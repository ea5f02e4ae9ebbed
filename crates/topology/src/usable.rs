//! What this process may use of the machine: the cpuset, the affinity mask and the CPU bandwidth quota.

use std::collections::BTreeSet;
use std::fs;

use charz_system::{Status, cgroup, file, runnable_cpus};

use crate::{Machine, Usable, cpulist};

/// Writes into the description of this machine what this process may use of it.
///
/// `allowed` are the strands of the cpuset. Call it before any thread is seated: a thread started by a seated one would
/// inherit its narrow mask, so the main thread's mask is the one that counts.
pub(crate) fn mark(machine: &mut Machine, allowed: &[u32], affinity: Option<Vec<u32>>) {
    let known = affinity.is_some();
    let affinity = affinity.unwrap_or_else(|| allowed.to_vec());
    if !known {
        machine.doubts.push("neither /proc nor the kernel reports the affinity mask".to_owned());
    }
    if Status::of_process().cpus().is_err() && fs::metadata(cgroup::OWN).is_err() {
        machine.doubts.push(format!("the CPU quota is not known: there is no {} to read", cgroup::OWN));
    }
    machine.doubts.extend(runnable_cpus().and_then(|cpus| hidden(machine, &cpus)));
    let largest = allowed.iter().chain(&affinity).copied().max().unwrap_or(0);
    let mut votes = vec![0u8; largest as usize + 1];
    for id in allowed.iter().chain(&affinity) {
        votes[*id as usize] += 1;
    }
    for strand in &mut machine.strands {
        strand.usable = votes.get(strand.os_id as usize) == Some(&2);
    }
    let nodes = Status::of_process().nodes().ok();
    for node in &mut machine.numa_nodes {
        node.usable = node.os_id.is_none_or(|id| nodes.as_ref().is_none_or(|nodes| nodes.contains(&id)));
    }
    machine.usable = Usable {
        cpuset: Some(cpulist::print(allowed)),
        affinity: known.then(|| cpulist::print(&affinity)),
        memory: nodes.map(|nodes| cpulist::print(&nodes)),
        quota_cpus: cgroup::quota().map(|quota| quota.cpus),
        ..Usable::everything(machine.usable_strands().count())
    };
}

/// A doubt about CPUs that the process may run on, and that the description does not list. In containers a file system such as lxcfs may
/// show other ids than the kernel has.
fn hidden(machine: &Machine, runnable: &[u32]) -> Option<String> {
    let listed: BTreeSet<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
    let hidden: Vec<u32> = runnable.iter().copied().filter(|id| !listed.contains(id)).collect();
    let listed = Vec::from_iter(listed);
    (!hidden.is_empty()).then(|| {
        let (listed, hidden) = (cpulist::cpus(&listed), cpulist::cpus(&hidden));
        format!("this process may run on {hidden}, and /sys lists {listed} only (lxcfs?)")
    })
}

/// Writes into the description of a machine in a file what it allowed: one that was exported in a control group is whole, and says which
/// part the group had.
pub(crate) fn keep(machine: &mut Machine, cpus: &[u32], nodes: &[usize]) {
    for strand in &mut machine.strands {
        strand.usable &= cpus.contains(&strand.os_id);
    }
    for node in &mut machine.numa_nodes {
        node.usable &= node.os_id.is_none_or(|id| nodes.contains(&(id as usize)));
    }
    let usable = machine.usable_strands().count();
    if usable < machine.strands.len() {
        machine.usable = Usable { cpuset: Some(cpulist::print(cpus)), ..Usable::everything(usable) };
    }
}

/// The CPUs and NUMA nodes that are there at this moment, by OS ids; `None` where the system does not report it, or where nothing limits
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Present {
    /// The CPUs that are online.
    pub online: Option<Vec<u32>>,
    /// The CPUs of the cpuset.
    pub cpuset: Option<Vec<u32>>,
    /// The CPUs of the affinity mask, which the cpuset limits too.
    pub affinity: Option<Vec<u32>>,
    /// The nodes that are online.
    pub online_nodes: Option<Vec<u32>>,
    /// The nodes that this process may put memory on.
    pub nodes: Option<Vec<u32>>,
}

impl Present {
    /// Reads a few small files.
    #[must_use]
    pub fn read() -> Self {
        let online = || file::list(file::ONLINE_CPUS);
        let (before, cpuset, affinity) = (online(), cgroup::cpuset(), affinity());
        // One that goes or comes meanwhile is offline: that is why the cpuset lacks it.
        let both =
            |(before, after): (Vec<u32>, Vec<u32>)| before.into_iter().filter(|cpu| after.contains(cpu)).collect();
        Present {
            online: before.zip(online()).map(both),
            cpuset,
            affinity,
            online_nodes: file::list(file::ONLINE_NODES),
            nodes: Status::of_process().nodes().ok(),
        }
    }

    /// Which of these CPUs and nodes are not there, as a clause such as `CPU 3 is offline`; `None` if all are, or may be.
    #[must_use]
    pub fn gone(&self, cpus: &[u32], nodes: &[u32]) -> Option<String> {
        let checks = [
            ("CPU", cpus, &self.online, "is offline", "are offline"),
            ("CPU", cpus, &self.cpuset, LEFT, LEFT),
            (
                "CPU",
                cpus,
                &self.affinity,
                "left the affinity mask of this process",
                "left the affinity mask of this process",
            ),
            ("NUMA node", nodes, &self.online_nodes, "is offline", "are offline"),
            ("NUMA node", nodes, &self.nodes, LEFT, LEFT),
        ];
        checks.into_iter().find_map(|(what, wanted, there, one, several)| {
            let there = there.as_ref()?;
            let gone: BTreeSet<u32> = wanted.iter().copied().filter(|id| !there.contains(id)).collect();
            let list = cpulist::print(&Vec::from_iter(gone.iter().copied()));
            match gone.len() {
                0 => None,
                1 => Some(format!("{what} {list} {one}")),
                _ => Some(format!("{what}s {list} {several}")),
            }
        })
    }
}

const LEFT: &str = "left the cpuset of this process";

/// The affinity mask of the process's main thread, ascending; `None` where neither `/proc` nor the kernel reports it.
pub(crate) fn affinity() -> Option<Vec<u32>> {
    Status::of_process().cpus().ok().or_else(runnable_cpus)
}

#[cfg(test)]
mod tests {
    use super::{Present, affinity, hidden, runnable_cpus};
    use crate::{Mapping, Source, discover};

    #[test]
    fn the_mask_of_the_kernel_is_the_part_of_that_in_proc_that_is_online() {
        let mask = affinity().unwrap();
        assert!(runnable_cpus().is_none_or(|cpus| !cpus.is_empty() && cpus.iter().all(|id| mask.contains(id))));
    }

    #[test]
    fn cpus_that_the_process_may_run_on_are_named_where_they_are_hidden() {
        let mut machine = discover(&Source::Synthetic("core:2 pu:1".to_owned())).unwrap();
        assert_eq!(hidden(&machine, &[0, 1]), None);
        assert!(hidden(&machine, &[3, 7]).is_some_and(|doubt| doubt.contains("0-1") && doubt.contains("3,7")));
        machine.strands.iter_mut().for_each(|strand| strand.usable = false);
        machine.usable.affinity = Some("3,7".to_owned());
        let error = "dumb".parse::<Mapping>().unwrap().order(&machine).unwrap_err().to_string();
        assert!(error.contains("0-1") && error.contains("3,7"), "{error}");
    }

    #[test]
    fn what_went_away_is_named_with_the_cause() {
        let ids = |ids: &[u32]| Some(ids.to_vec());
        let present = Present {
            online: ids(&[0, 1, 2, 4]),
            cpuset: ids(&[0, 2, 4]),
            affinity: ids(&[0, 2]),
            online_nodes: ids(&[0, 1]),
            nodes: ids(&[0]),
        };
        let gone = |cpus: &[u32], nodes: &[u32]| present.gone(cpus, nodes).unwrap_or_default();
        assert_eq!(gone(&[0, 2], &[0]), "");
        assert_eq!(gone(&[1, 3], &[]), "CPU 3 is offline");
        assert_eq!(gone(&[5, 0, 3], &[]), "CPUs 3,5 are offline");
        assert_eq!(gone(&[1, 4], &[]), "CPU 1 left the cpuset of this process");
        assert_eq!(gone(&[4], &[]), "CPU 4 left the affinity mask of this process");
        assert_eq!(gone(&[0], &[2, 3]), "NUMA nodes 2-3 are offline");
        assert_eq!(gone(&[0], &[1]), "NUMA node 1 left the cpuset of this process");
        assert_eq!(Present::default().gone(&[7], &[7]), None, "not reported is not gone");
        assert_eq!(Present::read().gone(&affinity().unwrap(), &[]), None);
    }
}
