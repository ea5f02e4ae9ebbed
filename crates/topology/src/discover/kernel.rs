//! The kernel's word on this machine, held against hwloc's.
//!
//! hwloc keeps parts that lie inside each other. What crosses another it leaves out, moves outwards or merges, and it hangs memory without
//! CPUs beside the CPUs that are nearest. The kernel schedules and allocates by its own lists, so these count, and the machine has a doubt
//! that names the difference.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::Arrange;
use charz_system::sysfs::{self, Listing};

use super::hwloc::place_in_cores;
use crate::{Cache, CacheHolds, Core, Machine, NumaNode, Package, Strand, cpulist};

/// Which part a strand is in, as the kernel lists it: the first CPU of its set, how many it has, and the part's number.
type Key = (u32, usize, Option<u32>);

/// Gives a machine that hwloc described what the kernel lists, with a doubt for each kind of part where they differ.
pub(super) fn correct(machine: &mut Machine, listing: &Listing) {
    for (parts, cpus) in take(machine, listing).into_iter().filter(|(_, cpus)| !cpus.is_empty()) {
        let cpus = cpulist::cpus(&Vec::from_iter(cpus));
        machine.doubts.push(format!("hwloc and /sys differ in the {parts} of {cpus}; those of /sys are used"));
    }
}

/// The same of a machine that hwloc could not look at: it has only counted CPUs.
pub(super) fn build(machine: &mut Machine, listing: &Listing) {
    if let Some(first) = machine.strands.first().cloned().filter(|_| !listing.cpus.is_empty()) {
        machine.strands = listing.cpus.keys().map(|id| Strand { os_id: *id, ..first.clone() }).collect();
    }
    (machine.packages, machine.cores, machine.caches, machine.groups) = Default::default();
    for strand in &mut machine.strands {
        (strand.package, strand.core, strand.caches, strand.groups) = Default::default();
    }
    // hwloc made one node of the whole machine.
    if let Some(nodes) = &listing.nodes {
        machine.numa_nodes = nodes.keys().map(|id| NumaNode::unknown(Some(*id))).collect();
        machine.strands.iter_mut().for_each(|strand| (strand.numa, strand.numa_nodes) = Default::default());
    }
    take(machine, listing);
}

/// Takes what is listed, and returns the CPUs for which each kind of part was another.
fn take(machine: &mut Machine, listing: &Listing) -> [(&'static str, BTreeSet<u32>); 4] {
    let (sockets, cores) = (packages(machine, listing), cores(machine, listing));
    if !sockets.is_empty() || !cores.is_empty() {
        arrange(machine);
    }
    numbers(machine, listing);
    let (nodes, caches) = (nodes(machine, listing), caches(machine, listing));
    distances(machine, listing);
    machine.count_strands();
    [("sockets", sockets), ("cores", cores), ("NUMA nodes", nodes), ("caches", caches)]
}

/// The CPUs whose part differs: of two partitions of the same strands, by what each gives a strand.
fn differences<A: Ord + Copy, B: Ord + Copy>(
    machine: &Machine,
    one: &[Option<A>],
    other: &[Option<B>],
) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    for (strand, (one, other)) in machine.strands.iter().zip(one.iter().zip(other)) {
        let Some(other) = other else { continue };
        if *there.entry(*one).or_insert(*other) != *other
            || *back.entry(*other).or_insert(*one) != *one
            || one.is_none()
        {
            found.insert(strand.os_id);
        }
    }
    found
}

/// The index of each strand's part, counted by first appearance, and the position of the first strand of each part.
fn indexed<K: Ord + Copy>(keys: &[Option<K>]) -> (Vec<Option<u32>>, Vec<usize>) {
    let (mut index, mut first) = (BTreeMap::new(), Vec::new());
    let indices = keys.iter().enumerate().map(|(at, key)| {
        key.map(|key| {
            *index.entry(key).or_insert_with(|| {
                first.push(at);
                first.len() as u32 - 1
            })
        })
    });
    (indices.collect(), first)
}

fn key(cpus: &[u32], apart: Option<u32>) -> Option<Key> {
    Some((*cpus.first()?, cpus.len(), apart))
}

fn packages(machine: &mut Machine, listing: &Listing) -> BTreeSet<u32> {
    let listed = |strand: &Strand| listing.cpus.get(&strand.os_id)?.package.as_ref();
    // One without a number is a kernel's way to say that it does not know.
    let of =
        |strand: &Strand| listed(strand).filter(|part| part.id.is_some()).and_then(|part| key(&part.cpus, part.id));
    let keys: Vec<Option<Key>> = machine.strands.iter().map(of).collect();
    let own: Vec<Option<u32>> = machine.strands.iter().map(|strand| strand.package).collect();
    let differ = differences(machine, &own, &keys);
    if !differ.is_empty() {
        let (indices, firsts) = indexed(&keys);
        let package = |at: usize| {
            let strand = &machine.strands[at];
            let before = strand.package.and_then(|package| machine.packages.get(package as usize));
            let model = before.or(machine.packages.first()).and_then(|package| package.model.clone());
            Package { os_id: listed(strand).and_then(|part| part.id), model, strands: 0 }
        };
        machine.packages = firsts.into_iter().map(package).collect();
        machine.strands.iter_mut().zip(indices).for_each(|(strand, index)| strand.package = index);
    }
    differ
}

fn cores(machine: &mut Machine, listing: &Listing) -> BTreeSet<u32> {
    let listed = |strand: &Strand| listing.cpus.get(&strand.os_id)?.core.as_ref();
    // Strands of a set with numbers of their own are cores: so kernels wrote the two of a module of Bulldozer.
    let of = |strand: &Strand| listed(strand).and_then(|part| key(&part.cpus, part.id));
    let keys: Vec<Option<Key>> = machine.strands.iter().map(of).collect();
    let own: Vec<Option<u32>> = machine.strands.iter().map(|strand| strand.core).collect();
    let differ = differences(machine, &own, &keys);
    if !differ.is_empty() {
        let (indices, firsts) = indexed(&keys);
        let core = |at: usize| Core { os_id: listed(&machine.strands[at]).and_then(|part| part.id), strands: 0 };
        machine.cores = firsts.into_iter().map(core).collect();
        machine.strands.iter_mut().zip(indices).for_each(|(strand, index)| strand.core = index);
    }
    differ
}

/// Takes numbers from parts to which the kernel gives none: hwloc has what firmware wrote instead.
fn numbers(machine: &mut Machine, listing: &Listing) {
    for strand in &machine.strands {
        let Some(cpu) = listing.cpus.get(&strand.os_id) else { continue };
        let is_none = |part: &Option<sysfs::Part>| part.as_ref().is_some_and(|part| part.id.is_none());
        if let Some(at) = strand.package.filter(|_| is_none(&cpu.package)) {
            machine.packages[at as usize].os_id = None;
        }
        if let Some(at) = strand.core.filter(|_| is_none(&cpu.core)) {
            machine.cores[at as usize].os_id = None;
        }
    }
}

/// Puts strands into the order of their parts, by the lowest ids, as hwloc does.
fn arrange(machine: &mut Machine) {
    let mut lowest = BTreeMap::new();
    for strand in &machine.strands {
        for part in [(0, strand.package), (1, strand.core)] {
            let least: &mut u32 = lowest.entry(part).or_insert(strand.os_id);
            *least = strand.os_id.min(*least);
        }
    }
    let of = |strand: &Strand, level, part: Option<u32>| part.map_or(strand.os_id, |_| lowest[&(level, part)]);
    machine.strands.arrange_by_key(|strand| (of(strand, 0, strand.package), of(strand, 1, strand.core), strand.os_id));
    let none = vec![None; machine.strands.len()];
    place_in_cores(machine, &none, None);
}

/// The CPUs whose node differs. A node without CPUs is local to none, wherever hwloc hangs it: that is no difference.
fn nodes(machine: &mut Machine, listing: &Listing) -> BTreeSet<u32> {
    let Some(listed) = &listing.nodes else { return BTreeSet::new() };
    for node in &mut machine.numa_nodes {
        let memory = node.os_id.and_then(|id| listed.get(&id)).and_then(|node| node.memory_bytes);
        node.memory_bytes = node.memory_bytes.filter(|bytes| *bytes > 0).or(memory).or(node.memory_bytes);
    }
    // Without all lists it is not known which CPU is on none.
    let lists: Option<Vec<(u32, &Vec<u32>)>> =
        listed.iter().map(|(id, node)| Some((*id, node.cpus.as_ref()?))).collect();
    let Some(lists) = lists else { return BTreeSet::new() };
    let online: BTreeSet<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
    let mut node_of: BTreeMap<u32, u32> = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for (id, cpus) in &lists {
        twice.extend(cpus.iter().filter(|cpu| node_of.contains_key(cpu)));
        for cpu in cpus.iter() {
            node_of.entry(*cpu).or_insert(*id);
        }
    }
    for (id, cpus) in &lists {
        let has_cpus = cpus.iter().any(|cpu| online.contains(cpu));
        if has_cpus && !machine.numa_nodes.iter().any(|node| node.os_id == Some(*id)) {
            machine.numa_nodes.push(NumaNode { memory_bytes: listed[id].memory_bytes, ..NumaNode::unknown(Some(*id)) });
        }
    }
    let ids: Vec<Option<u32>> = machine.numa_nodes.iter().map(|node| node.os_id).collect();
    let index = |id: u32| ids.iter().position(|known| *known == Some(id)).map(|at| at as u32);
    let is_bare = |at: &u32| {
        let id = ids.get(*at as usize).copied().flatten();
        id.and_then(|id| listed.get(&id)).is_some_and(|node| node.cpus.as_ref().is_some_and(Vec::is_empty))
    };
    let (mut differ, mut nowhere) = (BTreeSet::new(), Vec::new());
    for strand in &mut machine.strands {
        strand.numa_nodes.retain(|at| !is_bare(at));
        let own = node_of.get(&strand.os_id).and_then(|id| index(*id));
        if own.is_none() {
            nowhere.push(strand.os_id);
        }
        let own_nodes: Vec<u32> = own.into_iter().collect();
        if strand.numa_nodes != own_nodes {
            differ.insert(strand.os_id);
        }
        (strand.numa, strand.numa_nodes) = (own, own_nodes);
    }
    nowhere.sort_unstable();
    for (cpus, on) in [(Vec::from_iter(twice), "several NUMA nodes; the first counts"), (nowhere, "no NUMA node")] {
        if !cpus.is_empty() {
            machine.doubts.push(format!("/sys lists {} on {on}", cpulist::cpus(&cpus)));
        }
    }
    differ
}

/// The caches of a strand, each by its level, what it holds and the set that shares it.
type CacheKey = (u32, u8, u32, usize);

/// Caches of a level, each with the positions of its strands.
type Shared = BTreeMap<CacheKey, (sysfs::Cache, Vec<usize>)>;

fn caches(machine: &mut Machine, listing: &Listing) -> BTreeSet<u32> {
    let number = |holds: CacheHolds| super::inclusive::number(holds);
    let of_listed =
        |cache: &sysfs::Cache| Some((cache.level, number(cache.holds), *cache.cpus.first()?, cache.cpus.len()));
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for strand in &machine.strands {
        strand.caches.iter().for_each(|cache| members.entry(*cache).or_default().push(strand.os_id));
    }
    let of_own = |at: &u32| {
        let cache = machine.caches.get(*at as usize)?;
        let cpus = members.get(at)?;
        Some((cache.level, number(cache.holds), *cpus.iter().min()?, cpus.len()))
    };
    let mut differ = BTreeSet::new();
    for strand in &machine.strands {
        let Some(cpu) = listing.cpus.get(&strand.os_id).filter(|cpu| !cpu.caches.is_empty()) else { continue };
        let listed: BTreeSet<CacheKey> = cpu.caches.iter().filter_map(of_listed).collect();
        let sized = cpu.caches.iter().filter(|cache| cache.size_bytes.is_some()).filter_map(of_listed);
        let own: BTreeSet<CacheKey> = strand.caches.iter().filter_map(of_own).collect();
        // hwloc leaves out caches of no size where it knows better, as of Xeon Phi.
        if !own.is_subset(&listed) || !sized.collect::<BTreeSet<CacheKey>>().is_subset(&own) {
            differ.insert(strand.os_id);
        }
    }
    if differ.is_empty() {
        return differ;
    }
    // Outer ones before those inside them, as hwloc has them.
    let mut found: BTreeMap<(u32, u8), Shared> = BTreeMap::new();
    for (at, strand) in machine.strands.iter().enumerate() {
        for cache in listing.cpus.get(&strand.os_id).into_iter().flat_map(|cpu| &cpu.caches) {
            let Some(key) = of_listed(cache) else { continue };
            let level = found.entry((5 - cache.level.min(5), number(cache.holds))).or_default();
            level.entry(key).or_insert_with(|| (cache.clone(), Vec::new())).1.push(at);
        }
    }
    let mut own = vec![Vec::new(); machine.strands.len()];
    let mut caches: Vec<Cache> = Vec::new();
    for level in found.into_values() {
        for (index, (cache, strands)) in (0..).zip(level.into_values()) {
            strands.into_iter().for_each(|at| own[at].insert(0, caches.len() as u32));
            caches.push(Cache {
                level: cache.level,
                holds: cache.holds,
                index,
                size_bytes: cache.size_bytes,
                line_bytes: cache.line_bytes,
                ways: cache.ways,
                inclusive: None,
                strands: 0,
            });
        }
    }
    machine.caches = caches;
    machine.strands.iter_mut().zip(own).for_each(|(strand, own)| strand.caches = own);
    differ
}

/// The firmware's distances between the nodes of the machine; hwloc's stay where the kernel does not list all.
fn distances(machine: &mut Machine, listing: &Listing) {
    let Some(listed) = listing.nodes.as_ref().filter(|nodes| nodes.len() > 1) else { return };
    let places: BTreeMap<u32, usize> = listed.keys().copied().zip(0..).collect();
    let row = |from: &NumaNode| {
        let row = &listed.get(&from.os_id?)?.distances;
        machine.numa_nodes.iter().map(|to| row.get(*places.get(&to.os_id?)?).copied()).collect::<Option<Vec<u64>>>()
    };
    match machine.numa_nodes.iter().map(row).collect::<Option<Vec<_>>>() {
        Some(rows) => machine.numa_distances = rows,
        None if machine.numa_distances.len() != machine.numa_nodes.len() => machine.numa_distances.clear(),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use charz_system::sysfs::{Cpu, Node, Part};

    use super::*;
    use crate::discover::sense::crossing;
    use crate::{Mapping, Order, Source, discover};

    /// Eight CPUs in two sockets, with an L3 and a NUMA node each, as hwloc may describe them.
    fn described() -> Machine {
        discover(&Source::Synthetic("Package:2 [NUMA(memory=1GB)] L3:1(size=1MiB) Core:4 PU:1".to_owned())).unwrap()
    }

    fn part(id: Option<u32>, cpus: &[u32]) -> Option<Part> {
        Some(Part { id, cpus: cpus.to_vec() })
    }

    /// What a kernel lists: each CPU's socket, core and L3 are those of these sets that hold it.
    fn listing(sockets: &[&[u32]], cores: &[&[u32]], caches: &[&[u32]], nodes: &[&[u32]]) -> Listing {
        let holds = |sets: &[&[u32]], id: u32| {
            let at = sets.iter().position(|set| set.contains(&id))?;
            Some((at as u32, sets[at].to_vec()))
        };
        let cache = |cpus: Vec<u32>| sysfs::Cache {
            level: 3,
            holds: CacheHolds::Unified,
            size_bytes: Some(1 << 20),
            line_bytes: None,
            ways: None,
            cpus,
        };
        let cpu = |id: u32| {
            let [package, core] = [sockets, cores].map(|sets| holds(sets, id));
            let to_part = |found: Option<(u32, Vec<u32>)>| found.and_then(|(at, cpus)| part(Some(at), &cpus));
            let caches = holds(caches, id).map(|(_, cpus)| cache(cpus)).into_iter().collect();
            (id, Cpu { package: to_part(package), core: to_part(core), caches })
        };
        let node = |(id, cpus): (u32, &&[u32])| {
            let distances = (0..nodes.len() as u32).map(|to| if to == id { 10 } else { 21 }).collect();
            (id, Node { cpus: Some(cpus.to_vec()), memory_bytes: Some(1 << 30), distances })
        };
        Listing {
            cpus: (0..8).map(cpu).collect(),
            nodes: Some((0..).zip(nodes).map(node).collect()),
            faults: sysfs::Faults::new(),
        }
    }

    const HALVES: [&[u32]; 2] = [&[0, 1, 2, 3], &[4, 5, 6, 7]];
    const SINGLE: [&[u32]; 8] = [&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7]];

    fn corrected(listing: &Listing) -> Machine {
        let mut machine = described();
        correct(&mut machine, listing);
        machine
    }

    #[test]
    fn a_machine_as_the_kernel_lists_it_has_no_doubt() {
        let mut machine = corrected(&listing(&HALVES, &SINGLE, &HALVES, &HALVES));
        assert!(machine.doubts.is_empty(), "{:?}", machine.doubts);
        assert_eq!(std::mem::take(&mut machine.numa_distances), [[10, 21], [21, 10]]);
        machine.numa_nodes.iter_mut().for_each(|node| node.memory_bytes = Some(1_000_000_000));
        assert_eq!(machine, described());
    }

    #[test]
    fn nodes_that_cross_sockets_are_those_of_the_kernel_and_mappings_follow_them() {
        let nodes: [&[u32]; 2] = [&[0, 1, 4, 5], &[2, 3, 6, 7]];
        let machine = corrected(&listing(&HALVES, &SINGLE, &HALVES, &nodes));
        assert_eq!(
            machine.strands.iter().map(|strand| strand.numa).collect::<Option<Vec<_>>>().unwrap(),
            [0, 0, 1, 1, 0, 0, 1, 1]
        );
        assert!(
            machine.doubts.len() == 1 && machine.doubts[0].contains("NUMA nodes of CPUs 2-5"),
            "{:?}",
            machine.doubts
        );
        assert_eq!(crossing(&machine).len(), 2, "of sockets, and of caches");
        let Order::Strands(order) = "numa".parse::<Mapping>().unwrap().order(&machine).unwrap() else { panic!() };
        let node = |id: &u32| machine.strands[*id as usize].numa;
        for (at, pair) in order.windows(2).enumerate() {
            assert_ne!(node(&pair[0]), node(&pair[1]), "threads {at} and the next: {order:?}");
        }
    }

    #[test]
    fn memory_without_cpus_is_local_to_none() {
        let nodes: [&[u32]; 3] = [HALVES[0], HALVES[1], &[]];
        let listing = listing(&HALVES, &SINGLE, &HALVES, &nodes);
        let mut machine = described();
        machine.numa_nodes.push(NumaNode { subtype: Some("HBM".to_owned()), ..NumaNode::unknown(Some(2)) });
        machine.strands[..4].iter_mut().for_each(|strand| strand.numa_nodes.push(2));
        correct(&mut machine, &listing);
        assert_eq!((machine.numa_nodes[2].strands, machine.numa_nodes[2].memory_bytes), (0, Some(1 << 30)));
        assert!(machine.doubts.is_empty() && machine.numa_distances.len() == 3, "{:?}", machine.doubts);
    }

    #[test]
    fn siblings_sockets_and_caches_are_those_of_the_kernel() {
        let pairs: [&[u32]; 4] = [&[0, 4], &[1, 5], &[2, 6], &[3, 7]];
        let whole: [&[u32]; 1] = [&[0, 1, 2, 3, 4, 5, 6, 7]];
        let caches: [&[u32]; 3] = [&[0, 1], &[2, 3, 4], &[5, 6, 7]];
        let machine = corrected(&listing(&whole, &pairs, &caches, &HALVES));
        let ids: Vec<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
        assert_eq!(ids, [0, 4, 1, 5, 2, 6, 3, 7], "the strands of a core follow each other");
        let slots: Vec<(u32, u32)> = machine.strands.iter().map(|strand| (strand.alu, strand.slot)).collect();
        assert_eq!(slots[..4], [(0, 0), (0, 1), (0, 0), (0, 1)]);
        assert_eq!((machine.packages.len(), machine.cores.len(), machine.caches.len()), (1, 4, 3));
        assert_eq!(machine.caches.iter().map(|cache| cache.strands).collect::<Vec<_>>(), [2, 3, 3]);
        for part in ["sockets", "cores", "caches"] {
            assert!(machine.doubts.iter().any(|doubt| doubt.contains(part)), "{part}: {:?}", machine.doubts);
        }
        let crossing = crossing(&machine).join(" ");
        assert!(crossing.contains("core (CPUs 0,4)") && crossing.contains("L3 cache (CPUs 2-4)"), "{crossing}");
    }

    #[test]
    fn a_part_without_a_number_has_none_here() {
        let mut listing = listing(&HALVES, &SINGLE, &HALVES, &HALVES);
        listing.cpus.values_mut().for_each(|cpu| cpu.package.as_mut().unwrap().id = None);
        let machine = corrected(&listing);
        assert!(machine.packages.len() == 2 && machine.packages.iter().all(|package| package.os_id.is_none()));
    }

    #[test]
    fn a_machine_that_hwloc_could_not_look_at_is_what_is_listed() {
        let mut listing = listing(&[], &[], &HALVES, &HALVES);
        listing.cpus.remove(&6);
        let mut machine = discover(&Source::Synthetic("pu:7".to_owned())).unwrap();
        build(&mut machine, &listing);
        assert_eq!(machine.strands.iter().map(|strand| strand.os_id).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 7]);
        assert_eq!(machine.numa_nodes.iter().map(|node| node.strands).collect::<Vec<_>>(), [4, 3]);
        assert!(machine.packages.is_empty() && machine.cores.is_empty() && machine.caches.len() == 2);
    }
}
