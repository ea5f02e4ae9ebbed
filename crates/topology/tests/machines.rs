//! Real machines, as hwloc XML: counts and ids against a table made by an independent reader, and every mapper on each. And
//! round-robin: the published order of the SPARC T3-4, and the law of balance on machines of any shape.
//!
//! The collection is named by the environment variable `CHARZ_TOPOLOGIES`: a folder of XML files with a table
//! `expected.tsv`. Without it the tests of it say that they are skipped.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use charz_topology::{Kind, MAPPERS, Machine, Mapping, Order, Source, Strand, discover, pair_mappings, place};
use proptest::prelude::*;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("CHARZ_TOPOLOGIES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: CHARZ_TOPOLOGIES does not name a folder of hwloc XML files");
    }
    folder
}

fn load(path: PathBuf) -> Machine {
    discover(&Source::File(path)).unwrap_or_else(|error| panic!("{error}"))
}

/// Ids as the table writes them: members of a part apart by commas, parts apart by semicolons.
fn parts(machine: &Machine, part: impl Fn(&Strand) -> Option<u32>) -> String {
    let mut ids: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for strand in &machine.strands {
        if let Some(part) = part(strand) {
            ids.entry(part).or_default().push(strand.os_id.to_string());
        }
    }
    ids.values().map(|ids| ids.join(",")).collect::<Vec<_>>().join(";")
}

#[test]
fn every_machine_has_the_expected_counts_and_ids() {
    let Some(folder) = folder() else { return };
    let table = fs::read_to_string(folder.join("expected.tsv")).expect("the collection has a table");
    let mut rows = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let machine = load(folder.join(columns[0]));
        let all = |_: &Strand| Some(0);
        // The reader that made the table leaves out memory without strands.
        let nodes = machine.numa_nodes.iter().filter(|node| node.strands > 0).count();
        let found = [
            columns[0].to_owned(),
            machine.packages.len().to_string(),
            nodes.to_string(),
            machine.cores.len().to_string(),
            machine.strands.len().to_string(),
            parts(&machine, all),
            parts(&machine, |strand| strand.package),
            parts(&machine, |strand| strand.core),
        ];
        assert_eq!(found.as_slice(), columns);
        check_consistency(&machine);
        rows += 1;
    }
    assert!(rows > 0, "the table is empty");
}

/// What must hold on any machine, regardless of its numbers.
fn check_consistency(machine: &Machine) {
    let ids: HashSet<u32> = machine.strands.iter().map(|strand| strand.os_id).collect();
    assert_eq!(ids.len(), machine.strands.len());
    assert!(machine.absent.iter().all(|id| !ids.contains(id)));
    assert!(machine.absent.is_sorted());
    let mut places = HashSet::new();
    for strand in &machine.strands {
        assert!(strand.usable);
        assert!(strand.numa.is_none_or(|numa| strand.numa_nodes.contains(&numa)));
        if let Some(core) = strand.core {
            assert!(places.insert((core, strand.alu, strand.slot)), "two strands in one slot");
        }
        // Caches are listed from the inside out, so each is shared by at least as many as the one before.
        let shared = strand.caches.iter().map(|cache| machine.caches[*cache as usize].strands);
        assert!(shared.is_sorted());
    }
    let json = serde_json::to_string(machine).unwrap();
    assert_eq!(&serde_json::from_str::<Machine>(&json).unwrap(), machine);
}

#[test]
fn offline_and_disallowed_strands_are_absent() {
    let Some(folder) = folder() else { return };
    let offline = load(folder.join("16em64t-4s2c2t-offlines.xml"));
    assert_eq!(offline.strands.len() + offline.absent.len(), 16);
    let restricted = load(folder.join("16amd64-8n2c-cpusets.xml"));
    assert!(restricted.absent.contains(&4) && restricted.absent.contains(&7), "{:?}", restricted.absent);
}

#[test]
fn the_faster_kind_of_core_comes_first_in_each_round() {
    let Some(folder) = folder() else { return };
    let machine = load(folder.join("20em64t-hybrid-1p6c2t+2ca4co1t.xml"));
    assert_eq!(machine.kinds.iter().map(|kind| kind.strands).sum::<u32>(), 20);
    let order = order("round-robin", &machine);
    assert_eq!(&order[..6], [0, 2, 4, 6, 8, 10], "the six fast cores");
    assert_eq!(order[6..14].iter().copied().collect::<HashSet<_>>(), (12..20).collect(), "the eight slow ones");
    // Four slow cores share a cache: they take turns over their clusters.
    assert_eq!(&order[6..10], [12, 16, 13, 17]);
    assert_eq!(&order[14..], [1, 3, 5, 7, 9, 11], "the second strands of the fast ones");
}

#[test]
fn workers_on_a_bulldozer_get_a_module_each_first() {
    let Some(folder) = folder() else { return };
    let machine = load(folder.join("AMD-15h-Bulldozer-4xOpteron-6272.xml"));
    let order = order("round-robin", &machine);
    let module = |os_id: &u32| {
        let strand = machine.strands.iter().find(|strand| strand.os_id == *os_id).unwrap();
        strand.caches.iter().copied().find(|cache| machine.caches[*cache as usize].level == 2).unwrap()
    };
    let modules: HashSet<u32> = order[..32].iter().map(module).collect();
    assert_eq!(modules.len(), 32);
}

#[test]
fn every_mapper_seats_any_number_of_workers_on_every_machine() {
    let Some(folder) = folder() else { return };
    for machine in machines(&folder) {
        for card in MAPPERS {
            let mapping: Mapping = example(card.name, &machine).parse().unwrap();
            let order = mapping.order(&machine).unwrap_or_else(|error| panic!("{}: {error}", machine.source));
            let all = machine.strands.len();
            for workers in [1, 2, all - 1, all, all + 1, 3 * all] {
                check_placement(&machine, &order, workers);
            }
        }
    }
}

/// The machines of the files in a folder.
fn machines(folder: &Path) -> impl Iterator<Item = Machine> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "xml")).map(load)
}

#[test]
fn the_orders_of_every_machine_keep_their_promises() {
    let unpacked = tempfile::tempdir().unwrap();
    let archive = std::env::var_os("CHARZ_REAL").map(|folder| Path::new(&folder).join("lstopo.tar.xz"));
    match &archive {
        Some(archive) => {
            let tar = Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(unpacked.path()).status().unwrap();
            assert!(tar.success(), "{} cannot be unpacked", archive.display());
        }
        None => eprintln!("skipped: CHARZ_REAL does not name a folder with an archive of hwloc XML files"),
    }
    let folders = folder().into_iter().chain(archive.is_some().then(|| unpacked.path().to_owned()));
    for machine in folders.flat_map(|folder| machines(&folder).collect::<Vec<_>>()) {
        check_orders(&machine, true);
        check_pairs(&machine);
        check_compact(&machine);
    }
}

fn example(name: &str, machine: &Machine) -> String {
    match name {
        "occupancy" => {
            let numbers = machine.packages.iter().map(|package| package.strands.to_string());
            let numbers: Vec<String> = numbers.collect();
            if numbers.is_empty() {
                format!("occupancy:{}", machine.strands.len())
            } else {
                format!("occupancy:{}", numbers.join(","))
            }
        }
        // The nearest that it has; one strand alone has none.
        "pair" => pair_mappings(machine).first().map_or("auto".into(), ToString::to_string),
        "list" => format!("list:{}", machine.strands[machine.strands.len() - 1].os_id),
        "likwid" => format!("N:{}", machine.strands.len() - 1),
        "command" => format!("command:echo {}", machine.strands[0].os_id),
        name => name.to_owned(),
    }
}

fn check_placement(machine: &Machine, order: &Order, workers: usize) {
    let placement = place(order, workers);
    assert_eq!(placement.seats.len(), workers);
    let mut load: BTreeMap<u32, usize> = BTreeMap::new();
    for seat in placement.seats.iter().flatten() {
        *load.entry(*seat).or_default() += 1;
    }
    assert!(load.keys().all(|id| machine.strands.iter().any(|strand| strand.os_id == *id)));
    assert_eq!(load.values().copied().max().unwrap_or(0), placement.most_on_one_strand);
}

fn order(mapping: &str, machine: &Machine) -> Vec<u32> {
    match mapping.parse::<Mapping>().unwrap().order(machine).unwrap_or_else(|error| panic!("{error}")) {
        Order::Strands(strands) => strands,
        Order::Floating => panic!("{mapping} has no order"),
    }
}

fn synthetic(text: &str) -> Machine {
    discover(&Source::Synthetic(text.to_owned())).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_t3_4_is_filled_as_published() {
    let order = order("round-robin", &synthetic("Package:4 Core:16 Group:2 PU:4"));
    // Arithmetic of the publication: sockets in turn, then cores, then a slot for each block of 64 workers.
    let slots = [0, 4, 1, 5, 2, 6, 3, 7];
    let expected: Vec<u32> = (0..512).map(|i| 128 * (i % 4) + 8 * (i / 4 % 16) + slots[i as usize / 64]).collect();
    assert_eq!(order, expected);
}

#[test]
fn without_groups_the_slots_of_a_core_are_taken_in_turn() {
    assert_eq!(order("round-robin", &synthetic("pack:2 core:2 pu:2")), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(order("numa", &synthetic("pack:2 numa:2 core:2 pu:1")), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(order("round-robin", &synthetic("pack:2 numa:2 core:2 pu:1")), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(order("one-per-core", &synthetic("pack:2 core:2 pu:2")), [0, 4, 2, 6]);
    assert_eq!(order("compact-cores", &synthetic("pack:2 core:2 pu:2")), [0, 2, 4, 6]);
    assert_eq!(order("round-robin", &synthetic("pack:2 pu:2")), [0, 2, 1, 3], "a strand without a core is its own");
}

#[test]
fn clusters_between_two_levels_take_turns() {
    assert_eq!(order("round-robin", &synthetic("pack:1 l3:2 core:2 pu:1")), [0, 2, 1, 3]);
    assert_eq!(order("round-robin", &synthetic("group:2 pack:2 core:1 pu:1")), [0, 2, 1, 3]);
    assert_eq!(order("round-robin", &synthetic("pack:1 l3:2 l2:2 core:2 pu:1")), [0, 4, 2, 6, 1, 5, 3, 7]);
    // Private caches within a core.
    assert_eq!(order("round-robin", &synthetic("pack:1 core:2 l1d:2 pu:2")), [0, 4, 2, 6, 1, 5, 3, 7]);
}

/// Three clusters of two cores that the system calls packages, the middle one slow; and a share of two packages, of four cores and one.
#[test]
fn idle_cores_come_before_second_strands_and_fast_ones_before_slow_ones() {
    let mut clusters = synthetic("pack:3 core:2 pu:1");
    clusters.kinds = kinds();
    clusters.strands.iter_mut().for_each(|strand| strand.kind = Some(u32::from(strand.package != Some(1))));
    for mapping in ["round-robin", "one-per-core", "numa"] {
        assert_eq!(order(mapping, &clusters), [0, 4, 1, 5, 2, 3], "{mapping}");
    }
    let mut share = synthetic("pack:2 core:4 pu:2");
    share.strands[10..].iter_mut().for_each(|strand| strand.usable = false);
    assert_eq!(order("round-robin", &share), [0, 8, 2, 4, 6, 9, 1, 3, 5, 7]);
    assert_eq!(order("one-per-core", &share), [0, 8, 2, 4, 6]);
}

#[test]
fn two_workers_share_neither_a_package_nor_a_node_that_crosses_packages() {
    let mut machine = synthetic("pack:2 core:4 pu:1");
    machine.strands.iter_mut().for_each(|strand| strand.numa = Some(strand.os_id / 2 % 2));
    for mapping in ["round-robin", "numa"] {
        let first: Vec<u32> = order(mapping, &machine)[..2].to_vec();
        let [one, other] = [0, 1].map(|at| machine.strands.iter().find(|strand| strand.os_id == first[at]).unwrap());
        assert!(one.package != other.package && one.numa != other.numa, "{mapping}: {first:?}");
    }
    check_orders(&machine, false);
}

#[test]
fn groups_of_one_strand_are_execution_units_too() {
    let machine = synthetic("pack:1 core:2 group:2 pu:1");
    assert_eq!(
        machine.strands.iter().map(|strand| (strand.alu, strand.slot)).collect::<Vec<_>>(),
        [(0, 0), (1, 0), (0, 0), (1, 0)]
    );
}

/// A part of the machine: what it is, and its number.
type Part = (&'static str, Option<u32>, u32);

fn package(strand: &Strand) -> Part {
    ("package", strand.package, 0)
}

fn node(strand: &Strand) -> Part {
    ("node", strand.numa, 0)
}

fn last_cache(strand: &Strand) -> Part {
    ("cache", strand.caches.last().copied(), 0)
}

/// A strand without a core is its own.
fn core(strand: &Strand) -> Part {
    ("core", strand.core, strand.core.map_or(strand.os_id, |_| 0))
}

fn alu(strand: &Strand) -> Part {
    ("ALU group", strand.core, strand.core.map_or(strand.os_id, |_| strand.alu))
}

/// Whether each worker goes where the laws of round-robin allow it. Written from the laws alone: it looks at all strands that are free,
/// and knows nothing of passes.
///
/// 1. No core with room holds fewer workers than the worker's.
/// 2. Of those that hold as many none has a faster strand.
/// 3. Of these none lies in a package with fewer workers, or in this package in a node with fewer; `levels` has which of the two is first.
/// 4. In that node none lies below a last cache with fewer, if `nested` says that caches lie in nodes.
/// 5. In its core none lies in an ALU group with fewer.
fn check_laws(machine: &Machine, order: &[u32], levels: [fn(&Strand) -> Part; 2], nested: bool) -> Result<(), String> {
    let mut free: Vec<&Strand> = machine.usable_strands().collect();
    let mut held: BTreeMap<Part, usize> = BTreeMap::new();
    for (worker, id) in order.iter().enumerate() {
        let at = free.iter().position(|strand| strand.os_id == *id).ok_or_else(|| format!("{id} is not free"))?;
        let own = free.swap_remove(at);
        let count = |part: Part| held.get(&part).copied().unwrap_or(0);
        let fewer = |part: fn(&Strand) -> Part, others: &[&Strand]| {
            let other = others.iter().find(|other| count(part(other)) < count(part(own)));
            let refusal = |other: &&Strand| format!("worker {worker} on {id}: {:?} has fewer", part(other));
            other.map_or(Ok(()), |other| Err(refusal(other)))
        };
        fewer(core, &free)?;
        let mut others: Vec<&Strand> = free.clone();
        others.retain(|other| count(core(other)) == count(core(own)));
        if let Some(other) = others.iter().find(|other| machine.speed_rank(other) > machine.speed_rank(own)) {
            return Err(format!("worker {worker} on {id}: {} is faster", other.os_id));
        }
        others.retain(|other| machine.speed_rank(other) == machine.speed_rank(own));
        for level in levels {
            fewer(level, &others)?;
            others.retain(|other| level(other) == level(own));
        }
        // Groups come before caches.
        others.retain(|other| other.groups == own.groups);
        if nested {
            fewer(last_cache, &others)?;
        }
        others.retain(|other| core(other) == core(own));
        fewer(alu, &others)?;
        for part in [core, package, node, last_cache, alu] {
            *held.entry(part(own)).or_default() += 1;
        }
    }
    Ok(())
}

/// Whether the orders keep what their descriptions promise.
fn check_orders(machine: &Machine, nested: bool) {
    let source = &machine.source;
    let usable: HashSet<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
    for (mapping, levels) in [("round-robin", [package, node]), ("numa", [node, package])] {
        let order = order(mapping, machine);
        assert_eq!(order.len(), usable.len(), "each strand once");
        check_laws(machine, &order, levels, nested).unwrap_or_else(|error| panic!("{source} {mapping}: {error}"));
    }
    for mapping in ["dumb", "compact"] {
        assert_eq!(order(mapping, machine).into_iter().collect::<HashSet<_>>(), usable);
    }
    let cores: HashSet<_> = machine.usable_strands().map(core).collect();
    assert_eq!(order("one-per-core", machine), order("round-robin", machine)[..cores.len()]);
}

/// Whether there is a pair for each distance at which there are two strands, and they are that far apart.
fn check_pairs(machine: &Machine) {
    let source = &machine.source;
    let strands: BTreeMap<u32, &Strand> = machine.usable_strands().map(|strand| (strand.os_id, strand)).collect();
    // Of a machine of many CPUs not all pairs are tried: there are too many.
    let all: Vec<&Strand> = strands.values().take(96).copied().collect();
    let pairs = all.iter().enumerate().flat_map(|(at, one)| all[..at].iter().map(|other| machine.distance(one, other)));
    let there: BTreeSet<String> = pairs.map(|distance| format!("pair:{distance}")).collect();
    let named: BTreeSet<String> = pair_mappings(machine).iter().map(ToString::to_string).collect();
    assert!(named.is_superset(&there) && (strands.len() > 96 || named == there), "{source}: {named:?}, not {there:?}");
    for mapping in named {
        let pair = order(&mapping, machine);
        assert_eq!(mapping, format!("pair:{}", machine.distance(strands[&pair[0]], strands[&pair[1]])));
    }
}

/// Whether `compact` comes back to no part that it has left.
fn check_compact(machine: &Machine) {
    let strands: BTreeMap<u32, &Strand> = machine.usable_strands().map(|strand| (strand.os_id, strand)).collect();
    for part in [core, package, node] {
        let mut left = HashSet::new();
        let order = order("compact", machine);
        for pair in order.windows(2) {
            let [before, now] = [pair[0], pair[1]].map(|id| part(strands[&id]));
            if now != before {
                left.insert(before);
                assert!(now.1.is_none() || !left.contains(&now), "{}: {now:?} again", machine.source);
            }
        }
    }
}

/// What a core lies in: a package, a node, and of which kind it is. Nodes may cross packages.
type Around = (Option<u32>, Option<u32>, Option<u32>);

/// A strand drawn at random: in which core it is, or else what it lies in itself, its ALU group, and whether it is usable.
type Drawn = (Result<usize, Around>, u32, bool);

fn around() -> impl Strategy<Value = Around> {
    let maybe = |below: u32| prop_oneof![1 => Just(None), 9 => (0..below).prop_map(Some)];
    (maybe(4), maybe(4), maybe(2))
}

fn drawn() -> impl Strategy<Value = (Vec<Drawn>, Vec<Around>)> {
    let core = prop_oneof![1 => around().prop_map(Err), 9 => (0..16_usize).prop_map(Ok)];
    let strand = (core, 0..3_u32, prop::bool::weighted(0.85));
    (prop::collection::vec(strand, 1..80), prop::collection::vec(around(), 16))
}

/// A machine out of such strands: shapes that no vendor would build.
fn irregular(drawn: Vec<Drawn>, cores: &[Around]) -> Machine {
    let mut machine = synthetic("pack:4 numa:1 l3:2 core:3 pu:4");
    machine.strands.truncate(drawn.len());
    for (strand, (core, alu, usable)) in machine.strands.iter_mut().zip(drawn) {
        let (package, numa, kind) = core.map_or_else(|around| around, |core| cores[core]);
        let core = core.ok().map(|core| core as u32);
        *strand = Strand { package, numa, core, alu, usable, kind, ..strand.clone() };
    }
    machine.kinds = kinds();
    machine
}

/// A slow kind and a fast one.
fn kinds() -> Vec<Kind> {
    let kind = |rank| Kind { speed_rank: Some(rank), how_known: String::new(), infos: Vec::new(), strands: 0 };
    vec![kind(0), kind(1)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// What needs no topology orders as with one, or leaves it to the one with it.
    #[test]
    fn an_order_of_ids_is_that_of_the_machine(
        cores in 1..5u32, strands in 1..3u32, hidden in proptest::collection::vec(any::<bool>(), 8), wanted in 0..10u32,
    ) {
        let mut machine = synthetic(&format!("pack:1 core:{cores} pu:{strands}"));
        machine.strands.iter_mut().zip(hidden).for_each(|(strand, hidden)| strand.usable = !hidden);
        let mut usable: Vec<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
        usable.sort_unstable();
        for text in ["dumb", "auto", "round-robin", "compact", &format!("list:{wanted},0")] {
            let mapping: Mapping = text.parse().unwrap();
            let whole = mapping.order(&machine);
            match mapping.order_of_ids(&usable) {
                Some(order) => prop_assert_eq!(Ok(order), whole),
                None => prop_assert!(usable.is_empty() || whole.is_err() || ["round-robin", "compact"].contains(&text)),
            }
        }
    }

    #[test]
    fn balanced_on_regular_machines(
        packages in 1..4u32, nodes in 1..3u32, caches in 1..3u32, cores in 1..4u32, groups in 1..3u32, strands in 1..4u32,
    ) {
        let text = format!("pack:{packages} numa:{nodes} l3:{caches} core:{cores} group:{groups} pu:{strands}");
        let machine = synthetic(&text);
        prop_assert_eq!(machine.strands.len() as u32, packages * nodes * caches * cores * groups * strands);
        check_orders(&machine, false);
    }

    #[test]
    fn balanced_on_irregular_machines((drawn, cores) in drawn()) {
        let machine = irregular(drawn, &cores);
        if machine.usable_strands().next().is_some() {
            check_orders(&machine, false);
        }
    }
}
