//! What no machine can be, and firmware or hypervisors describe.

use std::collections::BTreeMap;

use crate::{CacheHolds, Machine, Strand, cpulist};

/// The distance that a node has from itself (ACPI, System Locality Information Table).
const LOCAL: u64 = 10;

/// The distance of a node that cannot be reached.
const UNREACHABLE: u64 = 255;

/// A kind of part, and the parts of it that a strand is in.
type Kind<'a> = (String, Box<dyn Fn(&Strand) -> Vec<u32> + 'a>);

/// A sentence for each claim that no machine fulfils.
pub(super) fn doubts(machine: &Machine) -> impl Iterator<Item = String> {
    shared(machine).into_iter().chain(distances(machine))
}

/// The CPUs of each part.
fn members(machine: &Machine, parts: impl Fn(&Strand) -> Vec<u32>) -> BTreeMap<u32, Vec<u32>> {
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for strand in &machine.strands {
        parts(strand).into_iter().for_each(|part| members.entry(part).or_default().push(strand.os_id));
    }
    members.values_mut().for_each(|cpus| cpus.sort_unstable());
    members
}

/// Pairs of parts of which neither lies within the other, one of each two kinds. In hwloc's tree there are none.
pub(super) fn crossing(machine: &Machine) -> Vec<String> {
    let mut kinds: Vec<Kind<'_>> = vec![
        ("a NUMA node".to_owned(), Box::new(|strand| strand.numa.into_iter().collect())),
        ("a socket".to_owned(), Box::new(|strand| strand.package.into_iter().collect())),
        ("a core".to_owned(), Box::new(|strand| strand.core.into_iter().collect())),
    ];
    let is_shared = |level: &u32| *level > 1 && machine.caches.iter().any(|cache| cache.level == *level);
    for level in (2..=5).filter(is_shared) {
        let of_level = move |strand: &Strand| {
            let caches = machine.data_caches(strand).filter(move |(_, cache)| cache.level == level);
            caches.map(|(at, _)| at).collect()
        };
        kinds.push((format!("an L{level} cache"), Box::new(of_level)));
    }
    let mut found = Vec::new();
    for (at, (one, one_of)) in kinds.iter().enumerate() {
        for (other, other_of) in &kinds[at + 1..] {
            // How many strands each two parts have in common.
            let mut common: BTreeMap<(u32, u32), usize> = BTreeMap::new();
            for strand in &machine.strands {
                for part in one_of(strand) {
                    other_of(strand).into_iter().for_each(|other| *common.entry((part, other)).or_default() += 1);
                }
            }
            let (ones, others) = (members(machine, one_of), members(machine, other_of));
            let cross = common.into_iter().find(|((a, b), both)| *both < ones[a].len() && *both < others[b].len());
            if let Some(((a, b), _)) = cross {
                let (a, b) = (cpulist::cpus(&ones[&a]), cpulist::cpus(&others[&b]));
                found.push(format!(
                    "{one} ({a}) and {other} ({b}) cross: firmware or a hypervisor describes one of them wrongly"
                ));
            }
        }
    }
    found
}

/// A cache of several sockets.
fn shared(machine: &Machine) -> Option<String> {
    let caches = members(machine, |strand| machine.data_caches(strand).map(|(at, _)| at).collect());
    let sockets: BTreeMap<u32, Option<u32>> =
        machine.strands.iter().map(|strand| (strand.os_id, strand.package)).collect();
    let spans = |cpus: &[u32]| cpus.iter().any(|cpu| sockets[cpu].is_some() && sockets[cpu] != sockets[&cpus[0]]);
    let (at, cpus) = caches.into_iter().find(|(_, cpus)| sockets[&cpus[0]].is_some() && spans(cpus))?;
    let cache = machine.caches.get(at as usize).filter(|cache| cache.holds != CacheHolds::Instruction)?;
    Some(format!(
        "an L{} cache spans several sockets ({}): firmware, a hypervisor, or a kernel that counts clusters as sockets",
        cache.level,
        cpulist::cpus(&cpus)
    ))
}

/// Distances between NUMA nodes that say nothing, or the opposite.
fn distances(machine: &Machine) -> Vec<String> {
    let rows = &machine.numa_distances;
    let ids = |at: usize| machine.node_id(at as u32);
    let all = || {
        rows.iter()
            .enumerate()
            .flat_map(|(from, row)| row.iter().enumerate().map(move |(to, value)| (from, to, *value)))
    };
    if rows.len() < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    if all().all(|(.., value)| value == LOCAL) {
        return vec!["the firmware claims that all NUMA nodes are local to each other (distance 10)".to_owned()];
    }
    let near = all().find(|(from, to, value)| from != to && *value <= rows[*from][*from]);
    if let Some((from, to, value)) = near {
        found.push(format!(
            "the firmware claims that NUMA node {} is at distance {value} from node {}, which is at {} from itself",
            ids(to),
            ids(from),
            rows[from][from]
        ));
    }
    let odd = all().find(|(.., value)| *value < LOCAL || *value >= UNREACHABLE);
    if let Some((from, to, value)) = odd.filter(|odd| Some(*odd) != near) {
        found.push(format!(
            "the firmware claims a distance of {value} between NUMA nodes {} and {}, which cannot be",
            ids(from),
            ids(to)
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, discover};

    #[track_caller]
    fn check(rows: [[u64; 2]; 2], expected: &[&str]) {
        let mut machine = discover(&Source::Synthetic("NUMA:2 Core:2 PU:1".to_owned())).unwrap();
        machine.numa_distances = rows.map(|row| row.to_vec()).to_vec();
        let found: Vec<String> = doubts(&machine).collect();
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part)),
            "{rows:?}: {found:?}"
        );
    }

    #[test]
    fn distances_that_make_no_sense_are_doubted() {
        check([[10, 21], [21, 10]], &[]);
        check([[10, 17], [28, 10]], &[]);
        check([[10, 10], [10, 10]], &["all NUMA nodes"]);
        check([[20, 10], [10, 20]], &["node 1 is at distance 10 from node 0, which is at 20"]);
        check([[0, 0], [0, 0]], &["node 1 is at distance 0", "a distance of 0"]);
        check([[10, 255], [21, 10]], &["a distance of 255 between NUMA nodes 0 and 1"]);
    }

    #[test]
    fn a_cache_of_two_sockets_is_doubted() {
        let of = |text: &str| doubts(&discover(&Source::Synthetic(text.to_owned())).unwrap()).collect::<Vec<_>>();
        let mut machine = discover(&Source::Synthetic("Package:2 L3:1 Core:2 PU:2".to_owned())).unwrap();
        machine.strands.iter_mut().for_each(|strand| strand.caches = vec![0]);
        let found: Vec<String> = doubts(&machine).collect();
        assert!(found.len() == 1 && found[0].contains("(CPUs 0-7)"), "{found:?}");
        assert!(of("Package:2 L3:1 Core:2 PU:2").is_empty() && of("L3:2 Core:2 PU:2").is_empty());
    }
}
