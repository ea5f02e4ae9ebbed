//! Machines as their kernels list them: folders laid over `/sys/devices/system` in a mount namespace of the program's own.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use charz_topology::{Machine, Source, cpulist, discover};

use crate::place::{check_harmless, run};
use crate::support::{Ran, charz};

/// Sets of CPUs: each a socket, a core, an L3 cache or a NUMA node.
type Sets = &'static [&'static [u32]];

struct Listed {
    sockets: Sets,
    cores: Sets,
    caches: Sets,
    nodes: Sets,
}

const HALVES: Sets = &[&[0, 1, 2, 3], &[4, 5, 6, 7]];
const SINGLE: Sets = &[&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7]];
const PLAIN: Listed = Listed { sockets: HALVES, cores: SINGLE, caches: HALVES, nodes: HALVES };

/// A mask as the kernel prints it, of CPUs below 32.
fn mask(cpus: &[u32]) -> String {
    format!("{:x}", cpus.iter().fold(0_u32, |mask, cpu| mask | 1 << cpu))
}

impl Listed {
    fn write(&self, root: &Path) {
        let put = |path: &str, content: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{content}\n")).unwrap();
        };
        let sets = |folder: &str, names: &[&str], cpus: &[u32]| {
            for name in names {
                put(&format!("{folder}/{name}_list"), &cpulist::print(cpus));
                put(&format!("{folder}/{}", name.replace("shared_cpu", "shared_cpu_map")), &mask(cpus));
            }
        };
        ["online", "possible", "present"].iter().for_each(|name| put(&format!("cpu/{name}"), "0-7"));
        let of = |sets: Sets, cpu: u32| sets.iter().enumerate().find(|(_, set)| set.contains(&cpu));
        for cpu in 0..8 {
            let folder = format!("cpu/cpu{cpu}/topology");
            for (parts, names, number) in [
                (self.sockets, ["package_cpus", "core_siblings"], "physical_package_id"),
                (self.cores, ["core_cpus", "thread_siblings"], "core_id"),
            ] {
                let (at, set) = of(parts, cpu).unwrap();
                put(&format!("{folder}/{number}"), &at.to_string());
                sets(&folder, &names, set);
            }
            if let Some((_, set)) = of(self.caches, cpu) {
                let folder = format!("cpu/cpu{cpu}/cache/index0");
                for (name, content) in
                    [("level", "3"), ("type", "Unified"), ("size", "8192K"), ("coherency_line_size", "64")]
                {
                    put(&format!("{folder}/{name}"), content);
                }
                sets(&folder, &["shared_cpu"], set);
            }
        }
        let all: Vec<u32> = (0..).take(self.nodes.len()).collect();
        let with_cpus: Vec<u32> = all.iter().copied().filter(|at| !self.nodes[*at as usize].is_empty()).collect();
        for (name, ids) in [("online", &all), ("possible", &all), ("has_memory", &all), ("has_cpu", &with_cpus)] {
            put(&format!("node/{name}"), &cpulist::print(ids));
        }
        for (at, set) in self.nodes.iter().enumerate() {
            let folder = format!("node/node{at}");
            put(&format!("{folder}/cpulist"), &cpulist::print(set));
            put(&format!("{folder}/cpumap"), &mask(set));
            put(&format!("{folder}/meminfo"), &format!("Node {at} MemTotal:       1048576 kB"));
            let row = (0..self.nodes.len()).map(|to| if to == at { "10 " } else { "20 " }).collect::<String>();
            put(&format!("{folder}/distance"), row.trim());
        }
    }
}

/// Runs charz on a machine that the folder lists; `None` where namespaces are not to be had.
fn on(folder: &Path, args: &[&str]) -> Option<Ran> {
    let shell = r#"mount --bind "$0" /sys/devices/system && exec "$@""#;
    let mut command = Command::new("unshare");
    command.args([
        "-rm",
        "--propagation",
        "private",
        "sh",
        "-c",
        "mount --bind /sys/devices/system /sys/devices/system",
    ]);
    if !command.output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no mount namespaces here");
        return None;
    }
    let own = charz();
    let mut command = Command::new("unshare");
    command.args(["-rm", "--propagation", "private", "sh", "-c", shell]).arg(folder).arg(own.get_program()).args(args);
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(run(&format!("{args:?}"), command))
}

/// The machine that charz finds in a folder, after `change`; all it prints is its own, and what it exports reads back.
#[track_caller]
fn found(listed: &Listed, change: impl FnOnce(&Path)) -> Option<Machine> {
    let folder = tempfile::tempdir().unwrap();
    listed.write(folder.path());
    change(folder.path());
    for line in ["topo", "topo --format tree", "map --mapping numa --threads 1 --format docker"] {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = on(folder.path(), &args)?;
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}: {}", ran.out);
        check_harmless("topo", &ran.out);
    }
    let machine: Machine = serde_json::from_str(&on(folder.path(), &["topo", "--format", "json"])?.out).unwrap();
    let file = folder.path().join("exported.xml");
    fs::write(&file, on(folder.path(), &["topo", "--format", "xml"])?.out).unwrap();
    let again = discover(&Source::File(file)).unwrap();
    assert_eq!(nodes(&again), nodes(&machine));
    machine.doubts.iter().for_each(|doubt| assert!(again.doubts.contains(doubt), "{doubt}: {:?}", again.doubts));
    Some(machine)
}

/// Each node with its CPUs.
fn nodes(machine: &Machine) -> String {
    let mut text = String::new();
    for (at, node) in (0..).zip(&machine.numa_nodes) {
        let own = machine.strands.iter().filter(|strand| strand.numa_nodes.contains(&at));
        let mut own: Vec<u32> = own.map(|strand| strand.os_id).collect();
        own.sort_unstable();
        write!(text, "{}: {} ", node.os_id.unwrap(), cpulist::print(&own)).unwrap();
    }
    text.trim().to_owned()
}

#[test]
fn a_machine_without_contradictions_has_no_doubt() {
    let Some(machine) = found(&PLAIN, |_| ()) else { return };
    let of_lists = |doubt: &&String| doubt.contains("/sys") || doubt.contains("firmware");
    assert_eq!(machine.doubts.iter().find(of_lists), None);
    assert_eq!(nodes(&machine), "0: 0-3 1: 4-7");
}

#[test]
fn what_hwloc_cannot_hold_is_as_the_kernel_lists_it() {
    let crossing: Sets = &[&[0, 1, 4, 5], &[2, 3, 6, 7]];
    let Some(machine) = found(&Listed { nodes: crossing, ..PLAIN }, |_| ()) else { return };
    assert_eq!(nodes(&machine), "0: 0-1,4-5 1: 2-3,6-7");
    assert!(machine.doubts.iter().any(|doubt| doubt.contains("cross")), "{:?}", machine.doubts);
    // One that crosses the nodes.
    let whole: Sets = &[&[0, 1, 2, 3, 4, 5, 6, 7]];
    let caches: Sets = &[&[0, 1, 2], &[3, 4], &[5, 6, 7]];
    let machine = found(&Listed { sockets: whole, caches, ..PLAIN }, |_| ()).unwrap();
    assert_eq!((nodes(&machine).as_str(), machine.caches.len()), ("0: 0-3 1: 4-7", 3));
    let bare: Sets = &[&[0, 1, 2, 3], &[4, 5, 6, 7], &[], &[]];
    let machine = found(&Listed { nodes: bare, ..PLAIN }, |_| ()).unwrap();
    assert_eq!(nodes(&machine), "0: 0-3 1: 4-7 2:  3:");
    // Siblings that an L3 separates.
    let pairs: Sets = &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]];
    let machine = found(&Listed { cores: pairs, caches: &[&[0, 1, 2], &[3, 4, 5, 6, 7]], ..PLAIN }, |_| ()).unwrap();
    assert_eq!((machine.cores.len(), machine.caches.len()), (4, 2));
}

#[test]
fn what_is_missing_is_named() {
    let without = |names: &'static [&'static str], word: &str| {
        let remove = |root: &Path| {
            for name in names {
                let of_all =
                    (0..8).map(|id| root.join(name.replace('*', &id.to_string()))).filter(|path| path.exists());
                of_all.for_each(|path| {
                    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap_or_default()
                });
            }
        };
        let machine = found(&PLAIN, remove)?;
        assert!(machine.doubts.iter().any(|doubt| doubt.contains(word)), "{names:?}: {:?}", machine.doubts);
        assert_eq!(machine.strands.len(), 8);
        Some(machine)
    };
    let Some(machine) = without(&["cpu/cpu*/topology"], "topology of CPUs 0-7 is missing") else { return };
    assert!(machine.cores.is_empty() && machine.caches.len() == 2 && nodes(&machine) == "0: 0-3 1: 4-7");
    assert_eq!(machine.numa_nodes[1].memory_bytes, Some(1 << 30));
    without(&["cpu/cpu*/cache"], "caches are not known");
    without(&["node"], "one NUMA node was made");
    without(&["node/node*/distance"], "distances");
    without(&["node/node*/meminfo"], "memory");
    without(&["node/node*/cpulist"], "cpulist");
    without(&["cpu/online", "node/online"], "that have a folder");
}
