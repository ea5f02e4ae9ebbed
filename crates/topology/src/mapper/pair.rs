//! Two strands at a distance.

use std::collections::HashMap;

use super::{Mapper, Mapping, Order, misfit};
use crate::{Distance, Error, Machine};

/// The first two usable strands, in logical order, that are so far apart.
struct Pair(Distance);

pub(super) fn read(text: &str) -> Result<(Box<dyn Mapper>, String), String> {
    let distance: Distance = text.parse().map_err(|error| format!("the distance {error}"))?;
    Ok((Box::new(Pair(distance)), distance.name().to_owned()))
}

/// `pair:` with each distance at which this machine has two usable strands, the nearest first.
#[must_use]
pub fn pair_mappings(machine: &Machine) -> Vec<Mapping> {
    let there = Distance::ALL.into_iter().filter(|distance| find(machine, *distance).is_some());
    // Every distance has a name that reads back.
    there.filter_map(|distance| format!("pair:{distance}").parse().ok()).collect()
}

/// Within each part of the machine its first strand is compared with the others: parts lie within each other, so a part
/// with two strands so far apart has one that far from the first.
fn find(machine: &Machine, distance: Distance) -> Option<[u32; 2]> {
    let mut firsts = HashMap::new();
    machine.usable_strands().find_map(|strand| {
        machine.holders(strand, distance).into_iter().find_map(|holder| {
            let first = *firsts.entry(holder).or_insert(strand);
            let apart = first.os_id != strand.os_id && machine.distance(first, strand) == distance;
            apart.then_some([first.os_id, strand.os_id])
        })
    })
}

impl Mapper for Pair {
    fn order(&self, machine: &Machine) -> Result<Order, Error> {
        let Pair(distance) = self;
        let pair = find(machine, *distance).ok_or_else(|| {
            let there: Vec<_> = pair_mappings(machine).iter().map(ToString::to_string).collect();
            let others =
                if there.is_empty() { "no two at all".to_owned() } else { format!("there is {}", there.join(", ")) };
            misfit(&format!("pair:{distance}"), &format!("no two usable CPUs are at just this distance; {others}"))
        })?;
        Ok(Order::Strands(pair.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Source, discover};

    use super::*;

    #[track_caller]
    fn check(synthetic: &str, expected: &[(&str, [u32; 2])]) {
        let machine = discover(&Source::Synthetic(synthetic.into())).unwrap();
        let found: Vec<_> = pair_mappings(&machine)
            .into_iter()
            .map(|mapping| match mapping.order(&machine).unwrap() {
                Order::Strands(pair) => (mapping.to_string(), pair),
                Order::Floating => panic!("{mapping} binds no worker"),
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(name, pair)| ((*name).to_owned(), pair.to_vec())).collect();
        assert_eq!(found, expected, "{synthetic}");
    }

    #[test]
    fn each_distance_that_a_machine_has() {
        check("Core:2 PU:1", &[("pair:numa", [0, 1])]);
        check("L3:1 Core:2 PU:1", &[("pair:cache", [0, 1])]);
        check("Package:2 L3:1 Core:2 PU:2", &[("pair:core", [0, 1]), ("pair:cache", [0, 2]), ("pair:machine", [0, 4])]);
        check("Package:2 L3:2 Core:1 PU:1", &[("pair:numa", [0, 1]), ("pair:machine", [0, 2])]);
        check("Package:2 [NUMA(memory=1GB)] L3:2 Core:1 PU:1", &[("pair:numa", [0, 1]), ("pair:machine", [0, 2])]);
        check("NUMA:2 Package:2 Core:1 PU:1", &[("pair:numa", [0, 1]), ("pair:machine", [0, 2])]);
        check("NUMA:1 Package:2 Core:1 PU:1", &[("pair:machine", [0, 1])]);
        check("NUMA:2 Core:1 PU:1", &[("pair:machine", [0, 1])]);
        check("Core:1 PU:1", &[]);
    }

    #[test]
    fn a_distance_that_is_not_there_names_those_that_are() {
        let machine = discover(&Source::Synthetic("L3:1 Core:2 PU:1".into())).unwrap();
        let error = "pair:machine".parse::<Mapping>().unwrap().order(&machine).unwrap_err().to_string();
        assert!(error.contains("pair:cache"), "{error}");
        let error = "pair:socket".parse::<Mapping>().unwrap_err().to_string();
        assert!(error.contains("machine"), "{error}");
    }
}
