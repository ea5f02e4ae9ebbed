//! Round-robin: the published order of the SPARC T3-4, and the law of balance on machines of any shape.

use std::collections::{BTreeMap, HashSet};

use charz_topology::{Machine, Mapping, Order, Source, Strand, discover};
use proptest::prelude::*;

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
    assert_eq!(order("numa", &synthetic("pack:2 numa:2 core:2 pu:1")), [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(order("round-robin", &synthetic("pack:2 numa:2 core:2 pu:1")), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(order("one-per-core", &synthetic("pack:2 core:2 pu:2")), [0, 4, 2, 6]);
    assert_eq!(order("round-robin", &synthetic("pack:2 pu:2")), [0, 2, 1, 3], "a strand without a core is its own");
}

#[test]
fn clusters_between_two_levels_take_turns() {
    assert_eq!(order("round-robin", &synthetic("pack:1 l3:2 core:2 pu:1")), [0, 2, 1, 3]);
    assert_eq!(order("round-robin", &synthetic("group:2 pack:2 core:1 pu:1")), [0, 2, 1, 3]);
    assert_eq!(order("round-robin", &synthetic("pack:1 l3:2 l2:2 core:2 pu:1")), [0, 4, 2, 6, 1, 5, 3, 7]);
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
    let kind =
        |rank| charz_topology::Kind { speed_rank: Some(rank), how_known: String::new(), infos: Vec::new(), strands: 0 };
    machine.kinds = vec![kind(0), kind(1)];
    machine
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

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
