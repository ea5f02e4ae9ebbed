//! Pairs of strands: which kinds there are, and which pairs are measured where there are too many for all.
//!
//! A line goes from a core to another and back, so both ways are one measurement, unless the memory behind the line lies
//! nearer to one of them: then home is a part of the question, and each of the two is home once.

mod choice;

use std::collections::{BTreeMap, HashMap};

use charz_data::distance::Distance;
use charz_data::machine::{Machine, Strand};

pub use choice::{Choice, Chosen, LEAST, choose};

/// What two pairs have in common that can be expected to take the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    pub distance: Distance,
    /// The side on which home is; where it is home of both, the lower one.
    pub from: Side,
    pub to: Side,
}

/// Where a strand of a pair is, and on what kind of core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side {
    /// Its package, by logical index.
    pub package: Option<u32>,
    /// Its NUMA node, by logical index.
    pub numa: Option<u32>,
    pub kind: Option<u32>,
}

impl Side {
    fn of(strand: &Strand) -> Side {
        Side { package: strand.package, numa: strand.numa, kind: strand.kind }
    }

    /// Whether it makes a difference on which of two sides home is.
    fn is_home_of(self, other: Side) -> bool {
        self.numa == other.numa || self.numa.is_none() || other.numa.is_none()
    }
}

impl Class {
    fn new(distance: Distance, from: Side, to: Side) -> Class {
        match from.is_home_of(to) {
            true => Class { distance, from: from.min(to), to: from.max(to) },
            false => Class { distance, from, to },
        }
    }

    /// The class of a pair of which the first is home.
    pub fn of(machine: &Machine, home: &Strand, other: &Strand) -> Class {
        Class::new(machine.distance(home, other), Side::of(home), Side::of(other))
    }
}

pub fn count(machine: &Machine, strands: &[&Strand]) -> BTreeMap<Class, u64> {
    Classes::of(machine, strands).list.into_iter().collect()
}

/// The classes of some strands, numbered, for the classification of a million pairs.
struct Classes {
    /// Each with the number of its pairs.
    list: Vec<(Class, u64)>,
    /// The side of each strand, by number.
    sides: Vec<u32>,
    numbers: HashMap<(Distance, u32, u32), usize>,
}

impl Classes {
    fn of(machine: &Machine, strands: &[&Strand]) -> Classes {
        let mut known: HashMap<Side, u32> = HashMap::new();
        let sides = strands.iter().map(|strand| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(Side::of(strand)).or_insert(next)
        });
        let sides = sides.collect();
        let mut classes = Classes { list: Vec::new(), sides, numbers: HashMap::new() };
        let mut places: HashMap<Class, usize> = HashMap::new();
        each_way(machine, strands, |from, to, distance| {
            let key = (distance, classes.sides[from], classes.sides[to]);
            let list = &mut classes.list;
            let number = *classes.numbers.entry(key).or_insert_with(|| {
                let class = Class::new(distance, Side::of(strands[from]), Side::of(strands[to]));
                *places.entry(class).or_insert_with(|| {
                    list.push((class, 0));
                    list.len() - 1
                })
            });
            list[number].1 += 1;
        });
        classes
    }

    fn number(&self, from: usize, to: usize, distance: Distance) -> usize {
        self.numbers[&(distance, self.sides[from], self.sides[to])]
    }
}

/// Calls with every pair that can be measured, by places in the list, home first. None is stored: there may be millions.
fn each_way(machine: &Machine, strands: &[&Strand], mut call: impl FnMut(usize, usize, Distance)) {
    for (from, one) in strands.iter().enumerate() {
        for (to, other) in strands.iter().enumerate().skip(from + 1) {
            let distance = machine.distance(one, other);
            call(from, to, distance);
            if !Side::of(one).is_home_of(Side::of(other)) {
                call(to, from, distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use charz_topology::{Source, discover};

    use super::*;

    fn machine(synthetic: &str) -> Machine {
        discover(&Source::Synthetic(synthetic.into())).unwrap()
    }

    const MACHINES: [&str; 9] = [
        "Core:2 PU:1",
        "PU:3",
        "NUMA:2 Core:2 PU:1",
        "L3:1 Core:2 PU:1",
        "Package:2 L3:1 Core:2 PU:2",
        "Package:2 L3:2 Core:1 PU:1",
        "Package:2 [NUMA(memory=1GB)] L3:2 L2:1 Core:1 PU:2",
        "Package:2 NUMA:2 Core:2 PU:1",
        "NUMA:2 Package:2 Core:2 PU:1",
    ];

    /// Every pair is in one class, in both directions where home differs, and in one otherwise.
    #[test]
    fn all_pairs_are_each_there_once() {
        for synthetic in MACHINES {
            let machine = machine(synthetic);
            let strands: Vec<&Strand> = machine.strands.iter().collect();
            let choice = choose(&machine, &strands, u64::MAX, 1);
            let found: HashSet<[u32; 2]> = choice.pairs.iter().copied().collect();
            assert_eq!(found.len(), choice.pairs.len(), "{synthetic}");
            for one in &strands {
                for other in strands.iter().filter(|other| other.os_id != one.os_id) {
                    let ways = [[one.os_id, other.os_id], [other.os_id, one.os_id]];
                    let there = ways.iter().filter(|way| found.contains(*way)).count();
                    assert_eq!(there, if one.numa == other.numa { 1 } else { 2 }, "{synthetic}: {ways:?}");
                }
            }
            let counted = count(&machine, &strands);
            assert_eq!(counted.values().sum::<u64>(), choice.pairs.len() as u64);
            for Chosen { class, pairs, chosen } in choice.classes {
                assert_eq!((pairs, chosen), (counted[&class], counted[&class]), "{synthetic}: {class:?}");
            }
        }
    }

    #[test]
    fn classes_tell_homes_apart() {
        let machine = machine("Package:2 [NUMA(memory=1GB)] L3:1 Core:2 PU:2");
        let counts = count(&machine, &machine.strands.iter().collect::<Vec<_>>());
        let of = |distance| {
            let classes = counts.iter().filter(|(class, _)| class.distance == distance);
            classes.map(|(class, count)| (class.from.numa, class.to.numa, *count)).collect::<Vec<_>>()
        };
        let [first, second] = [Some(0), Some(1)];
        assert_eq!(of(Distance::Core), [(first, first, 2), (second, second, 2)]);
        assert_eq!(of(Distance::Cache), [(first, first, 4), (second, second, 4)]);
        assert_eq!(of(Distance::Machine), [(first, second, 16), (second, first, 16)]);
    }

    /// 1536 strands have more than two million ways between them: some of each class are chosen.
    #[test]
    fn a_large_machine_is_sampled() {
        let machine = machine("Package:16 [NUMA(memory=1GB)] L3:4 Core:12 PU:2");
        let strands: Vec<&Strand> = machine.strands.iter().collect();
        assert_eq!(strands.len(), 1536);
        let choice = choose(&machine, &strands, 2000, 7);
        assert_eq!(choice.classes.len(), 16 * 3 + 16 * 15);
        let places: HashMap<u32, &Strand> = strands.iter().map(|strand| (strand.os_id, *strand)).collect();
        let mut found: HashMap<Class, u64> = HashMap::new();
        let mut seated: HashSet<u32> = HashSet::new();
        for [home, other] in &choice.pairs {
            *found.entry(Class::of(&machine, places[home], places[other])).or_default() += 1;
            seated.extend([home, other]);
        }
        for Chosen { class, pairs, chosen } in choice.classes {
            assert_eq!(found[&class], chosen);
            assert!((LEAST..=pairs).contains(&chosen), "{class:?}");
        }
        assert!(choice.pairs.len() <= 2000 && choice.pairs.len() > 1500, "{}", choice.pairs.len());
        assert!(seated.len() > 1000, "{} strands have a part", seated.len());
    }

    #[test]
    fn the_seed_decides() {
        let machine = machine("Package:2 L3:2 Core:8 PU:2");
        let strands: Vec<&Strand> = machine.strands.iter().collect();
        assert_eq!(choose(&machine, &strands, 100, 7), choose(&machine, &strands, 100, 7));
        assert_ne!(choose(&machine, &strands, 100, 7).pairs, choose(&machine, &strands, 100, 8).pairs);
    }
}
