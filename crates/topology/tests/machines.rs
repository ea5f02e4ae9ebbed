//! Real machines, as hwloc XML: counts and ids against a table made by an independent reader, and every mapper on each.
//!
//! The collection is named by the environment variable `CHARZ_TOPOLOGIES`: a folder of XML files with a table
//! `expected.tsv`. Without it these tests say that they are skipped.
#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

use charz_topology::{MAPPERS, Machine, Mapping, Order, Source, Strand, discover, pair_mappings, place};

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

/// What must hold on any machine, whatever its numbers.
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
        // Caches are listed from the inside out, so that each is shared by at least as many as the one before.
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
    let order = strands("round-robin", &machine);
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
    let order = strands("round-robin", &machine);
    let module = |os_id: &u32| {
        let strand = machine.strands.iter().find(|strand| strand.os_id == *os_id).unwrap();
        strand.caches.iter().copied().find(|cache| machine.caches[*cache as usize].level == 2).unwrap()
    };
    let modules: HashSet<u32> = order[..32].iter().map(module).collect();
    assert_eq!(modules.len(), 32);
}

fn strands(mapping: &str, machine: &Machine) -> Vec<u32> {
    match mapping.parse::<Mapping>().unwrap().order(machine).unwrap_or_else(|error| panic!("{error}")) {
        Order::Strands(strands) => strands,
        Order::Floating => panic!("{mapping} has no order"),
    }
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
