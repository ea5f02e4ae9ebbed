//! CPUs, caches and NUMA nodes as the kernel lists them below [`SYSTEM`]: by these it schedules and allocates. The files are those of
//! Documentation/ABI/stable/sysfs-devices-system-cpu and sysfs-devices-node.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use charz_data::cpulist;
use charz_data::machine::CacheHolds;

use crate::meminfo;

/// Where the kernel lists them.
pub const SYSTEM: &str = "/sys/devices/system";

/// Ids that firmware and kernels write where there is none: -1, as -1 in 16 bits and in 32.
const NO_ID: [i64; 3] = [-1, 65_535, 4_294_967_295];

/// All that is listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The CPUs that are online, by their ids.
    pub cpus: BTreeMap<u32, Cpu>,
    /// The NUMA nodes that are online, by their ids; `None` where the kernel lists none.
    pub nodes: Option<BTreeMap<u32, Node>>,
    /// What is not as it should be.
    pub faults: Faults,
}

/// A CPU that is online.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cpu {
    /// Its socket; `None` where that is not listed.
    pub package: Option<Part>,
    /// Its core; `None` where that is not listed.
    pub core: Option<Part>,
    /// Its caches, in the kernel's order.
    pub caches: Vec<Cache>,
}

/// A set of CPUs with a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The kernel's number of it; `None` where it has none.
    pub id: Option<u32>,
    /// The CPUs in it, ascending.
    pub cpus: Vec<u32>,
}

/// A cache of a CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// 1 for those next to the core.
    pub level: u32,
    /// What it holds.
    pub holds: CacheHolds,
    /// Bytes that it holds, where known.
    pub size_bytes: Option<u64>,
    /// Bytes of a line, where known.
    pub line_bytes: Option<u32>,
    /// The ways of a set, where known.
    pub ways: Option<u32>,
    /// The CPUs that share it, ascending.
    pub cpus: Vec<u32>,
}

/// A NUMA node that is online.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Its CPUs, ascending: none of a node that is memory only. `None` where they are not listed.
    pub cpus: Option<Vec<u32>>,
    /// Its memory; `None` where that is not listed.
    pub memory_bytes: Option<u64>,
    /// The firmware's distances from it to each node, in the order of the ids; empty where they are not listed.
    pub distances: Vec<u64>,
}

/// What is wrong with a file or folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// It is not there.
    Missing,
    /// It is there and cannot be read.
    Unreadable,
    /// There is nothing in it.
    Empty,
    /// It holds this, which cannot be.
    Impossible(String),
}

/// The ids of the CPUs or nodes whose file or folder has a fault, by its path with `*` for the id.
pub type Faults = BTreeMap<(String, Fault), BTreeSet<u32>>;

/// Reads what is listed below a folder such as [`SYSTEM`].
#[must_use]
pub fn read(system: &Path) -> Listing {
    let mut reader = Reader { system: system.to_owned(), faults: Faults::new() };
    let online = reader.list("cpu/online", None);
    // Without that list the folders are those of CPUs that are there.
    let ids = online.unwrap_or_else(|| numbered(&system.join("cpu"), "cpu"));
    let mut cpus: BTreeMap<u32, Cpu> = ids.into_iter().map(|id| (id, reader.cpu(id))).collect();
    // File systems that show a container its own CPUs replace the list and not the sets.
    let mut is_online = vec![false; cpus.keys().last().map_or(0, |last| *last as usize + 1)];
    cpus.keys().for_each(|id| is_online[*id as usize] = true);
    for cpu in cpus.values_mut() {
        let parts = cpu.package.iter_mut().chain(&mut cpu.core).map(|part| &mut part.cpus);
        for set in parts.chain(cpu.caches.iter_mut().map(|cache| &mut cache.cpus)) {
            set.retain(|id| is_online.get(*id as usize) == Some(&true));
        }
    }
    let nodes = reader.nodes();
    Listing { cpus, nodes, faults: reader.faults }
}

struct Reader {
    system: PathBuf,
    faults: Faults,
}

impl Reader {
    /// The text of a file, in whose path `*` is the id.
    fn text(&self, path: &str, id: Option<u32>) -> Result<String, Fault> {
        let path = self.system.join(path.replacen('*', &id.map(|id| id.to_string()).unwrap_or_default(), 1));
        match fs::read(path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Fault::Missing),
            Err(_) => Err(Fault::Unreadable),
        }
    }

    fn fault(&mut self, path: &str, id: Option<u32>, fault: Fault) {
        self.faults.entry((path.to_owned(), fault)).or_default().extend(id);
    }

    /// What a file means to `of`; a fault where it is missing, unreadable, empty or means nothing.
    fn value<T>(&mut self, path: &str, id: Option<u32>, of: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = match self.text(path, id) {
            Ok(text) if text.is_empty() => Err(Fault::Empty),
            Ok(text) => of(&text).ok_or(Fault::Impossible(text)),
            Err(fault) => Err(fault),
        };
        text.map_err(|fault| self.fault(path, id, fault)).ok()
    }

    fn list(&mut self, path: &str, id: Option<u32>) -> Option<Vec<u32>> {
        self.value(path, id, |text| cpulist::parse(text).ok())
    }

    fn has(&self, path: &str, id: u32) -> bool {
        self.system.join(path.replacen('*', &id.to_string(), 1)).exists()
    }

    fn cpu(&mut self, id: u32) -> Cpu {
        let mut cpu = Cpu::default();
        if self.has("cpu/cpu*/topology", id) {
            // The names of kernels before 5.2.
            let names = [
                ("package_cpus_list", "core_siblings_list", "physical_package_id"),
                ("core_cpus_list", "thread_siblings_list", "core_id"),
            ];
            let [package, core] = names.map(|(new, old, number)| self.part(id, new, old, number));
            (cpu.package, cpu.core) = (package, core);
        } else {
            self.fault("cpu/cpu*/topology", Some(id), Fault::Missing);
        }
        let mut folders = numbered(&self.system.join(format!("cpu/cpu{id}/cache")), "index");
        folders.sort_unstable();
        if folders.is_empty() {
            self.fault("cpu/cpu*/cache", Some(id), Fault::Missing);
        }
        cpu.caches = folders.into_iter().filter_map(|index| self.cache(id, index)).collect();
        cpu
    }

    /// A part of the machine that holds a CPU. One that does not hold it cannot be.
    fn part(&mut self, id: u32, new: &str, old: &str, number: &str) -> Option<Part> {
        let path = |name| format!("cpu/cpu*/topology/{name}");
        let name = if self.has(&path(new), id) { new } else { old };
        let holds = |text: &str| cpulist::parse(text).ok().filter(|cpus| cpus.contains(&id));
        let cpus = self.value(&path(name), Some(id), holds)?;
        // A kernel may have no number; what it writes then is no number of a part.
        let number = self.value(&path(number), Some(id), |text| {
            text.parse::<i64>()
                .ok()
                .filter(|number| !NO_ID.contains(number))
                .and_then(|number| u32::try_from(number).ok())
        });
        Some(Part { id: number, cpus })
    }

    /// A cache; `None` where it is of a level or a kind that no machine has, or the CPUs that share it are not known.
    fn cache(&mut self, id: u32, index: u32) -> Option<Cache> {
        let path = |name: &str| format!("cpu/cpu*/cache/index{index}/{name}");
        let optional = |reader: &Self, name: &str| reader.text(&path(name), Some(id)).ok();
        let level =
            self.value(&path("level"), Some(id), |text| text.parse().ok().filter(|level| (1..=5).contains(level)))?;
        let holds = self.value(&path("type"), Some(id), |text| match text {
            "Unified" => Some(CacheHolds::Unified),
            "Data" => Some(CacheHolds::Data),
            "Instruction" => Some(CacheHolds::Instruction),
            _ => None,
        })?;
        let cpus = self.value(&path("shared_cpu_list"), Some(id), |text| {
            cpulist::parse(text).ok().filter(|cpus| cpus.contains(&id))
        })?;
        let count = |name: &str| optional(self, name).and_then(|text| text.parse().ok()).filter(|count| *count > 0);
        Some(Cache {
            level,
            holds,
            size_bytes: optional(self, "size").and_then(|text| bytes(&text)).filter(|bytes| *bytes > 0),
            line_bytes: count("coherency_line_size"),
            ways: count("ways_of_associativity"),
            cpus,
        })
    }

    fn nodes(&mut self) -> Option<BTreeMap<u32, Node>> {
        if !self.system.join("node").is_dir() {
            self.fault("node", None, Fault::Missing);
            return None;
        }
        let online = self.list("node/online", None);
        let ids = online.unwrap_or_else(|| numbered(&self.system.join("node"), "node"));
        let count = ids.len();
        let nodes: BTreeMap<u32, Node> = ids.into_iter().map(|id| (id, self.node(id, count))).collect();
        (!nodes.is_empty()).then_some(nodes)
    }

    fn node(&mut self, id: u32, nodes: usize) -> Node {
        // The list of a node without CPUs is empty.
        let cpus = match self.text("node/node*/cpulist", Some(id)) {
            Ok(text) if text.is_empty() => Some(Vec::new()),
            _ => self.list("node/node*/cpulist", Some(id)),
        };
        // `Node 0 MemTotal:  9922764 kB`
        let memory_bytes = self.value("node/node*/meminfo", Some(id), |text| {
            let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("Node ")?.split_once(' '));
            meminfo::bytes(&lines.map(|(_, line)| format!("{}\n", line.trim_start())).collect::<String>(), "MemTotal")
        });
        let distances = self.value("node/node*/distance", Some(id), |text| {
            let row: Option<Vec<u64>> = text.split_whitespace().map(|value| value.parse().ok()).collect();
            row.filter(|row| row.len() == nodes)
        });
        Node { cpus, memory_bytes, distances: distances.unwrap_or_default() }
    }
}

/// The numbers behind a word in the names of a folder's entries.
fn numbered(folder: &Path, word: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix(word)?.parse().ok();
    entries.filter_map(number).collect()
}

/// `32768K` in bytes.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix('K') {
        Some(number) => (number, 1 << 10),
        None => (text.strip_suffix('M')?, 1 << 20),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sockets of two cores without siblings; `but` replaces files, and takes those away that it gives no content.
    fn listed(but: &[(&str, Option<&str>)]) -> Listing {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, content: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{content}\n")).unwrap();
        };
        put("cpu/online", "0-3");
        put("node/online", "0-1");
        for id in 0..4 {
            let (socket, own) = (id / 2, id.to_string());
            let half = ["0-1", "2-3"][socket];
            for (name, content) in [("package_cpus_list", half), ("core_cpus_list", &own), ("core_id", &own)] {
                put(&format!("cpu/cpu{id}/topology/{name}"), content);
            }
            put(&format!("cpu/cpu{id}/topology/physical_package_id"), &socket.to_string());
            for (name, content) in [
                ("level", "3"),
                ("type", "Unified"),
                ("size", "16384K"),
                ("shared_cpu_list", half),
                ("ways_of_associativity", "0"),
            ] {
                put(&format!("cpu/cpu{id}/cache/index3/{name}"), content);
            }
            put(&format!("node/node{socket}/cpulist"), half);
            put(&format!("node/node{socket}/distance"), ["10 21", "21 10"][socket]);
            put(&format!("node/node{socket}/meminfo"), &format!("Node {socket} MemTotal:       2048 kB"));
        }
        for (path, content) in but {
            match content {
                Some(content) => put(path, content),
                None if root.path().join(path).is_dir() => fs::remove_dir_all(root.path().join(path)).unwrap(),
                None => fs::remove_file(root.path().join(path)).unwrap(),
            }
        }
        read(root.path())
    }

    #[test]
    fn what_is_listed_is_read() {
        let listing = listed(&[]);
        assert!(listing.faults.is_empty(), "{:?}", listing.faults);
        let cpu = &listing.cpus[&2];
        assert_eq!(cpu.package, Some(Part { id: Some(1), cpus: vec![2, 3] }));
        assert_eq!(cpu.core, Some(Part { id: Some(2), cpus: vec![2] }));
        let cache = &cpu.caches[0];
        assert_eq!(
            (cache.level, cache.size_bytes, cache.ways, cache.cpus.as_slice()),
            (3, Some(16 << 20), None, &[2, 3][..])
        );
        let node = Node { cpus: Some(vec![2, 3]), memory_bytes: Some(2 << 20), distances: vec![21, 10] };
        assert_eq!(listing.nodes.unwrap()[&1], node);
    }

    #[test]
    fn names_of_older_kernels_and_fewer_cpus_online_are_read() {
        let old = |id: u32, cpus| {
            [
                (format!("cpu/cpu{id}/topology/core_siblings_list"), Some(cpus)),
                (format!("cpu/cpu{id}/topology/package_cpus_list"), None),
            ]
        };
        let changes: Vec<(String, Option<&str>)> = [old(0, "0-1"), old(1, "0-1")].into_iter().flatten().collect();
        let mut changes: Vec<(&str, Option<&str>)> =
            changes.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        changes.push(("cpu/online", Some("0,2-3")));
        let listing = listed(&changes);
        assert_eq!(listing.cpus.keys().copied().collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(listing.cpus[&0].package.as_ref().unwrap().cpus, [0], "the other is offline");
        assert_eq!(listing.cpus[&0].caches[0].cpus, [0]);
    }

    #[track_caller]
    fn check(path: &str, content: Option<&str>, fault: Fault, of: &str, ids: &[u32]) {
        let found = listed(&[(path, content)]).faults;
        assert_eq!(found, Faults::from([((of.to_owned(), fault), ids.iter().copied().collect())]), "{path}");
    }

    #[test]
    fn each_fault_is_noted_with_whose_it_is() {
        use Fault::{Empty, Impossible, Missing};
        let impossible = |text: &str| Impossible(text.to_owned());
        check("cpu/online", None, Missing, "cpu/online", &[]);
        check("cpu/cpu1/topology", None, Missing, "cpu/cpu*/topology", &[1]);
        check("cpu/cpu1/cache", None, Missing, "cpu/cpu*/cache", &[1]);
        let path = "cpu/cpu*/topology/core_cpus_list";
        check("cpu/cpu3/topology/core_cpus_list", Some("0-1"), impossible("0-1"), path, &[3]);
        let path = "cpu/cpu*/topology/physical_package_id";
        for text in ["-1", "65535", "4294967295", "x"] {
            check("cpu/cpu0/topology/physical_package_id", Some(text), impossible(text), path, &[0]);
        }
        check("cpu/cpu0/cache/index3/level", Some("0"), impossible("0"), "cpu/cpu*/cache/index3/level", &[0]);
        check("cpu/cpu0/cache/index3/shared_cpu_list", Some(""), Empty, "cpu/cpu*/cache/index3/shared_cpu_list", &[0]);
        check("node", None, Missing, "node", &[]);
        check("node/online", Some(""), Empty, "node/online", &[]);
        check("node/node1/cpulist", None, Missing, "node/node*/cpulist", &[1]);
        check("node/node1/cpulist", Some("2-"), impossible("2-"), "node/node*/cpulist", &[1]);
        check(
            "node/node1/meminfo",
            Some("Node 1 MemFree: 1 kB"),
            impossible("Node 1 MemFree: 1 kB"),
            "node/node*/meminfo",
            &[1],
        );
        check("node/node0/distance", Some("10"), impossible("10"), "node/node*/distance", &[0]);
        assert_eq!(
            listed(&[("node/node1/cpulist", Some(""))]).nodes.unwrap()[&1].cpus,
            Some(Vec::new()),
            "memory only"
        );
    }
}
