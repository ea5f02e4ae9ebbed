//! Real machines, as hwloc XML: counts and ids against a table made by an independent reader, and every mapper on each. And
//! round-robin: the published order of the SPARC T3-4, and the law of balance on machines of any shape.
//!
//! The collection is named by the environment variable `CHARZ_TOPOLOGIES`: a folder of XML files with a table
//! `expected.tsv`. Without it the tests of it say that they are skipped.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

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
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "xml") {
            continue;
        }
        let machine = load(path);
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

#[test]
fn groups_of_one_strand_are_execution_units_too() {
    let machine = synthetic("pack:1 core:2 group:2 pu:1");
    assert_eq!(
        machine.strands.iter().map(|strand| (strand.alu, strand.slot)).collect::<Vec<_>>(),
        [(0, 0), (1, 0), (0, 0), (1, 0)]
    );
}

/// The parts in which a strand lies, from the outside in, named by their path from the root.
fn path(strand: &Strand, numa_first: bool) -> Vec<Vec<Option<u32>>> {
    let outer = if numa_first { [strand.numa, strand.package] } else { [strand.package, strand.numa] };
    // A strand without a core is its own; ids of strands do not meet those of cores, since they are shifted.
    let core = strand.core.or(Some(strand.os_id + (1 << 24)));
    let steps = [outer[0], outer[1], core, Some(strand.alu), Some(strand.os_id)];
    (1..=steps.len()).map(|length| steps[..length].to_vec()).collect()
}

/// Whether after each worker no part that has room holds two workers fewer than a sibling.
///
/// Written from the law alone: it counts, and knows nothing of rounds.
fn check_balance(machine: &Machine, order: &[u32], numa_first: bool) {
    let strands: BTreeMap<u32, &Strand> = machine.usable_strands().map(|strand| (strand.os_id, strand)).collect();
    let mut room: BTreeMap<Vec<Option<u32>>, usize> = BTreeMap::new();
    for strand in strands.values() {
        for part in path(strand, numa_first) {
            *room.entry(part).or_default() += 1;
        }
    }
    let mut held: BTreeMap<Vec<Option<u32>>, usize> = room.keys().map(|part| (part.clone(), 0)).collect();
    for id in order {
        for part in path(strands[id], numa_first) {
            let now = held[&part] + 1;
            held.insert(part.clone(), now);
            let siblings = held.iter().filter(|(other, _)| {
                other.len() == part.len() && other[..part.len() - 1] == part[..part.len() - 1] && **other != part
            });
            for (sibling, count) in siblings {
                assert!(now < count + 2 || *count == room[sibling], "{part:?} has {now}, {sibling:?} only {count}");
            }
        }
    }
}

fn check_order(machine: &Machine) {
    let usable: HashSet<u32> = machine.usable_strands().map(|strand| strand.os_id).collect();
    for (mapping, numa_first) in [("round-robin", false), ("numa", true)] {
        let order = order(mapping, machine);
        assert_eq!(order.len(), usable.len(), "each strand once");
        assert_eq!(order.iter().copied().collect::<HashSet<_>>(), usable);
        check_balance(machine, &order, numa_first);
    }
    for mapping in ["dumb", "compact"] {
        assert_eq!(order(mapping, machine).into_iter().collect::<HashSet<_>>(), usable);
    }
    let cores: HashSet<_> = machine.usable_strands().map(|strand| strand.core.ok_or(strand.os_id)).collect();
    assert_eq!(order("one-per-core", machine).len(), cores.len());
}

/// A strand drawn at random: which package, node, core and ALU group it is in, if any, whether it is usable, and its
/// kind.
type Drawn = (Option<u32>, Option<u32>, Option<u32>, u32, bool, Option<u32>);

fn drawn() -> impl Strategy<Value = Drawn> {
    let maybe = |below: u32| prop_oneof![1 => Just(None), 9 => (0..below).prop_map(Some)];
    (maybe(4), maybe(4), maybe(6), 0..3u32, prop::bool::weighted(0.85), maybe(2))
}

/// A machine out of such strands: shapes that no vendor would build.
fn irregular(drawn: Vec<Drawn>) -> Machine {
    let mut machine = synthetic("pack:4 numa:1 l3:2 core:3 pu:4");
    machine.strands.truncate(drawn.len());
    for (strand, (package, numa, core, alu, usable, kind)) in machine.strands.iter_mut().zip(drawn) {
        *strand = Strand { package, numa, core, alu, usable, kind, ..strand.clone() };
    }
    let kind = |rank| Kind { speed_rank: Some(rank), how_known: String::new(), infos: Vec::new(), strands: 0 };
    machine.kinds = vec![kind(0), kind(1)];
    machine
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
        check_order(&machine);
    }

    #[test]
    fn balanced_on_irregular_machines(drawn in prop::collection::vec(drawn(), 1..80)) {
        let machine = irregular(drawn);
        if machine.usable_strands().next().is_some() {
            check_order(&machine);
        }
    }
}
