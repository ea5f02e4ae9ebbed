//! How firmware, hypervisor, kernel and administrator divide a machine: what it can be booted or set to, and is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use charz_system::{cgroup, cpuinfo, file};
use rustix::io::Errno;
use rustix::process::getpid;
use rustix::thread::{CoreSchedulingScope, core_scheduling_cookie};

use crate::{Info, Machine, Source, cpulist};

/// Files that are there in a guest whose memory its host cannot read, and what protects it.
const CONFIDENTIAL: [(&str, &str); 5] = [
    ("sys/devices/virtual/misc/sev-guest", "SEV-SNP"),
    ("sys/devices/system/cpu/sev/vmpl", "SEV-SNP"),
    ("sys/devices/virtual/misc/tdx_guest", "TDX"),
    ("sys/devices/virtual/misc/arm-cca-guest", "Arm CCA"),
    ("sys/firmware/uv/prot_virt_guest", "IBM Secure Execution"),
];

/// The modes of a machine, each with its name and a text; none that it is not in. Those of the kernel are known of this machine only.
pub fn modes(machine: &Machine) -> Vec<Info> {
    let mut modes = of_structure(machine);
    if machine.source == Source::ThisMachine.to_string() {
        modes.extend(of_system(Path::new("/")));
        modes.extend(core_scheduling(core_scheduling_cookie(getpid(), CoreSchedulingScope::Thread)));
    }
    modes
}

fn mode(name: &str, value: impl Into<String>) -> Info {
    Info { name: name.to_owned(), value: value.into() }
}

/// NUMA nodes and last caches that divide sockets.
fn of_structure(machine: &Machine) -> Vec<Info> {
    let sockets = machine.package_count();
    let vendor = |word: &str| {
        let models = || machine.packages.iter().filter_map(|package| package.model.as_deref());
        models().next().is_some() && models().all(|model| model.contains(word))
    };
    let is_amd = vendor("AMD") || vendor("Hygon");
    // Into how many parts each socket is divided, and how many cores each part has, where these are all alike; parts of several sockets
    // divide none.
    let divided = |of: &dyn Fn(&crate::Strand) -> Option<u32>| {
        let mut parts: BTreeMap<u32, [BTreeSet<Option<u32>>; 2]> = BTreeMap::new();
        for strand in &machine.strands {
            let [sockets, cores] = parts.entry(of(strand)?).or_default();
            sockets.insert(machine.package_of(strand));
            cores.insert(strand.core);
        }
        let mut each: BTreeMap<Option<u32>, usize> = BTreeMap::new();
        for [sockets, _] in parts.values() {
            *each.entry(sockets.first().copied()?).or_default() += 1;
            if sockets.len() > 1 {
                return None;
            }
        }
        let count = alike(each.values().copied()).filter(|count| *count > 1)?;
        Some((count, alike(parts.values().map(|[_, cores]| cores.len())).filter(|_| !machine.cores.is_empty())))
    };
    let mut modes = Vec::new();
    let nodes = divided(&|strand| strand.numa);
    let caches =
        divided(&|strand| machine.data_caches(strand).last().filter(|(_, cache)| cache.level >= 3).map(|(at, _)| at));
    if let Some((each, _)) = nodes {
        let name = match () {
            () if is_amd && caches == nodes && each > 4 => "L3 as NUMA: ".to_owned(),
            () if is_amd => format!("NPS{each}: "),
            () if vendor("Intel") => format!("SNC-{each}: "),
            () => String::new(),
        };
        modes.push(mode("NUMA mode", format!("{name}{each} NUMA nodes per socket")));
    }
    if let Some((each, cores)) = caches {
        let what = if is_amd { " (CCX)" } else { "" };
        let cores =
            cores.map(|cores| format!(", {} each", charz_data::escape::counted(cores, "core"))).unwrap_or_default();
        modes.push(mode("chiplets", format!("{each} L3 caches per socket{what}{cores}")));
    }
    let dies = machine.groups.iter().filter(|group| group.what.eq_ignore_ascii_case("die")).count();
    if dies > sockets {
        modes.push(mode("dies", format!("{dies} on {}", charz_data::escape::counted(sockets, "socket"))));
    }
    modes
}

/// What all of these are; `None` where they differ, or there are none.
fn alike(mut all: impl Iterator<Item = usize>) -> Option<usize> {
    let first = all.next()?;
    all.all(|next| next == first).then_some(first)
}

/// What the files below a root say.
fn of_system(root: &Path) -> Vec<Info> {
    let mut modes = Vec::new();
    let is_set =
        |path: &&(&str, &str)| file::word(root.join(path.0)).as_deref() != Some("0") && root.join(path.0).exists();
    let flags = file::text(root.join("proc/cpuinfo")).unwrap_or_default();
    let has_flag =
        |flag: &str| cpuinfo::value(&flags, "flags").is_some_and(|flags| flags.split(' ').any(|own| own == flag));
    let protected = CONFIDENTIAL.iter().find(is_set).map(|(_, by)| *by).or(has_flag("tdx_guest").then_some("TDX"));
    modes.extend(protected.map(|by| mode("confidential guest", by)));
    let list = |path: &str| file::list(root.join("sys/devices/system/cpu").join(path));
    for (name, path) in [("isolated CPUs", "isolated"), ("CPUs without ticks", "nohz_full")] {
        modes.extend(list(path).filter(|ids| !ids.is_empty()).map(|ids| mode(name, cpulist::shown(&ids))));
    }
    let proc = |path: &str| file::text(root.join(path.trim_start_matches('/'))).unwrap_or_default();
    let groups = cgroup::groups_in("cpuset", &proc(cgroup::OWN), &proc(cgroup::MOUNTS));
    let partition = groups.iter().find_map(|group| {
        let below: PathBuf = root.join(group.folder.strip_prefix("/").unwrap_or(&group.folder));
        let state = file::word(below.join("cpuset.cpus.partition")).filter(|state| state != "member")?;
        let cpus = file::list(below.join("cpuset.cpus.effective")).map(|ids| format!(", {}", cpulist::cpus(&ids)));
        Some(format!("{state}{}: {}", cpus.unwrap_or_default(), group.folder.display()))
    });
    modes.extend(partition.map(|partition| mode("cpuset partition", partition)));
    modes
}

/// What the kernel answers for this thread (Documentation/admin-guide/hw-vuln/core-scheduling.rst): kernels without it refuse, and so do
/// those whose cores run one thread each.
fn core_scheduling(cookie: Result<u64, Errno>) -> Option<Info> {
    match cookie {
        Ok(0) => Some(mode("core scheduling", "available, not used by this process")),
        Ok(_) => Some(mode(
            "core scheduling",
            "in use: other CPUs of a core idle unless threads of the same group run there",
        )),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::discover;

    #[track_caller]
    fn check(text: &str, model: &str, expected: &[&str]) {
        let mut machine = discover(&Source::Synthetic(text.to_owned())).unwrap();
        machine.packages.iter_mut().for_each(|package| package.model = Some(model.to_owned()));
        let found: Vec<String> =
            modes(&machine).into_iter().map(|mode| format!("{}: {}", mode.name, mode.value)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn sockets_that_are_divided_have_the_vendors_names() {
        let caches = "chiplets: 4 L3 caches per socket (CCX), 2 cores each";
        check("Package:2 [NUMA] L3:1 Core:4 PU:2", "Intel(R) Xeon(R)", &[]);
        check(
            "Package:2 NUMA:2 L3:1 Core:4 PU:2",
            "Intel(R) Xeon(R)",
            &["NUMA mode: SNC-2: 2 NUMA nodes per socket", "chiplets: 2 L3 caches per socket, 4 cores each"],
        );
        check("Package:2 NUMA:4 L3:1 Core:2 PU:1", "AMD EPYC", &["NUMA mode: NPS4: 4 NUMA nodes per socket", caches]);
        check("Package:2 [NUMA] L3:4 Core:2 PU:1", "AMD EPYC", &[caches]);
        check(
            "Package:1 NUMA:8 L3:1 Core:2 PU:1",
            "AMD EPYC",
            &["NUMA mode: L3 as NUMA: 8 NUMA nodes per socket", "chiplets: 8 L3 caches per socket (CCX), 2 cores each"],
        );
        check("NUMA:2 Package:2 Core:2 PU:1", "Other", &[]);
    }

    #[test]
    fn uneven_parts_are_not_counted_as_even_ones() {
        let uneven = |gone: &dyn Fn(&crate::Strand) -> bool| {
            let mut machine = discover(&Source::Synthetic("Package:2 NUMA:4 L3:1 Core:4 PU:1".to_owned())).unwrap();
            machine.strands.retain(|strand| !gone(strand));
            of_structure(&machine).into_iter().map(|mode| mode.value).collect::<Vec<_>>()
        };
        assert_eq!(uneven(&|_| false), ["4 NUMA nodes per socket", "4 L3 caches per socket, 4 cores each"]);
        // A node of three cores.
        assert_eq!(uneven(&|strand| strand.core == Some(3)), ["4 NUMA nodes per socket", "4 L3 caches per socket"]);
        // Two nodes on one socket, four on the other.
        assert!(uneven(&|strand| strand.numa.is_some_and(|node| node < 2)).is_empty());
    }

    #[track_caller]
    fn check_files(files: &[(&str, &str)], expected: &[(&str, &str)]) {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let found = of_system(root.path());
        let found: Vec<(&str, &str)> = found.iter().map(|mode| (mode.name.as_str(), mode.value.as_str())).collect();
        assert_eq!(found, expected, "{files:?}");
    }

    #[test]
    fn what_the_kernel_set_apart_is_read() {
        check_files(&[], &[]);
        check_files(
            &[("sys/devices/system/cpu/isolated", "\n"), ("sys/devices/system/cpu/nohz_full", "(null)\n")],
            &[],
        );
        check_files(
            &[("sys/devices/system/cpu/isolated", "2-3\n"), ("sys/devices/system/cpu/nohz_full", "3\n")],
            &[("isolated CPUs", "2-3"), ("CPUs without ticks", "3")],
        );
        check_files(&[("sys/devices/virtual/misc/sev-guest/dev", "10:1")], &[("confidential guest", "SEV-SNP")]);
        check_files(&[("proc/cpuinfo", "flags\t\t: fpu tdx_guest sse\n")], &[("confidential guest", "TDX")]);
        check_files(&[("sys/firmware/uv/prot_virt_guest", "0\n")], &[]);
        check_files(&[("sys/firmware/uv/prot_virt_guest", "1\n")], &[("confidential guest", "IBM Secure Execution")]);
        let group = |state| {
            [
                ("proc/self/cgroup", "0::/a/b\n"),
                ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n"),
                ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
                ("sys/fs/cgroup/a/b/cpuset.cpus.partition", state),
                ("sys/fs/cgroup/a/b/cpuset.cpus.effective", "4-5\n"),
            ]
        };
        check_files(&group("member\n"), &[]);
        check_files(&group("isolated\n"), &[("cpuset partition", "isolated, CPUs 4-5: /sys/fs/cgroup/a/b")]);
    }

    #[test]
    fn core_scheduling_is_told_where_the_kernel_has_it() {
        assert_eq!(core_scheduling(Err(Errno::INVAL)), None);
        let said = |cookie| core_scheduling(Ok(cookie)).unwrap().value;
        assert!(said(0).contains("not used") && said(7).contains("in use"));
    }
}
