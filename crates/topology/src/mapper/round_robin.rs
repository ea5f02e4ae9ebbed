//! Round-robin: spread the workers over the machine, evenly at every level.
//!
//! A strand lies in an ALU group, the group in a core, the core in a NUMA node, the node in a package. The order of a
//! part is made out of the orders of its children: the first strand of each child's order, then the second of each, and
//! so on; a child that is used up drops out. On any machine, workers dealt along this order are
//! balanced: no part that still has room holds two workers fewer than its sibling, at any level, after any number of
//! workers. Sorting strands by their ranks gives the same order on a regular machine, and breaks that promise on an
//! irregular one.
//!
//! Which child comes first within a round is free, and used twice. The faster kind of core goes first. Then the
//! children are spread over what lies between the two levels, be it dies, groups or shared caches: the first core of
//! each cluster, then the second of each. Two workers on a processor of Bulldozer modules get two modules.
//!
//! Each level handles each strand once: the work is proportional to the number of strands.

use charz_data::Arrange;
use std::collections::HashMap;
use std::hash::Hash;

use super::Order;
use crate::{Machine, Strand};

/// A level of the machine that has children to take turns.
#[derive(Clone, Copy)]
enum Level {
    Package,
    Numa,
    Core,
    Alu,
}

const BY_PACKAGE: &[Level] = &[Level::Package, Level::Numa, Level::Core, Level::Alu];
const BY_NUMA: &[Level] = &[Level::Numa, Level::Package, Level::Core, Level::Alu];

pub(super) fn by_package(machine: &Machine) -> Order {
    round_robin(machine, BY_PACKAGE)
}

pub(super) fn by_numa(machine: &Machine) -> Order {
    round_robin(machine, BY_NUMA)
}

fn round_robin(machine: &Machine, levels: &[Level]) -> Order {
    Order::Strands(ids(machine, &Dealer { machine }.order(all(machine), levels)))
}

/// The first strand of each core.
pub(super) fn one_per_core(machine: &Machine) -> Order {
    let mut seen = vec![false; machine.cores.len()];
    let mut order = Dealer { machine }.order(all(machine), BY_PACKAGE);
    order.retain(|at| {
        let core = machine.strands[*at].core.and_then(|core| seen.get_mut(core as usize));
        core.is_none_or(|seen| !std::mem::replace(seen, true))
    });
    Order::Strands(ids(machine, &order))
}

/// The round-robin order within each package, packages in logical order.
///
/// A machine without packages counts as one; strands outside of all packages are left out otherwise.
pub(super) fn within_packages(machine: &Machine) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); machine.package_count()];
    for at in all(machine) {
        let package = machine.package_of(&machine.strands[at]);
        if let Some(members) = package.and_then(|package| members.get_mut(package as usize)) {
            members.push(at);
        }
    }
    let dealer = Dealer { machine };
    members.into_iter().map(|members| ids(machine, &dealer.order(members, BY_PACKAGE))).collect()
}

/// Takes the first element of each list, then the second of each, and so on.
pub(super) fn interleave<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut dealt = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    while !lists.is_empty() {
        lists.retain_mut(|list| list.next().map(|next| dealt.push(next)).is_some());
    }
    dealt
}

/// The positions of the usable strands in the machine's list.
fn all(machine: &Machine) -> Vec<usize> {
    (0..machine.strands.len()).filter(|at| machine.strands[*at].usable).collect()
}

fn ids(machine: &Machine, order: &[usize]) -> Vec<u32> {
    order.iter().map(|at| machine.strands[*at].os_id).collect()
}

/// Sorts elements into groups by key; groups in the order in which they appear.
fn grouped<T: Copy, K: Hash + Eq>(elements: &[T], key: impl Fn(T) -> K) -> Vec<Vec<T>> {
    let mut index = HashMap::new();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for &element in elements {
        let at = *index.entry(key(element)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(element),
            None => groups.push(vec![element]),
        }
    }
    groups
}

/// Makes orders of strands, which it knows by their position in the machine's list.
struct Dealer<'a> {
    machine: &'a Machine,
}

/// A child in its turn: its strands, and what decides when its turn comes.
struct Child {
    strands: Vec<usize>,
    /// The rank of its fastest strand.
    speed: u32,
    /// The clusters around its first strand with their numbers of strands, outermost first.
    clusters: Vec<(u32, Cluster)>,
}

/// A part of the machine that may lie between two levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Cluster {
    Package(u32),
    Group(u32),
    Cache(u32),
}

impl Dealer<'_> {
    /// The order of the part that holds these strands and whose children are the parts of the first level.
    fn order(&self, strands: Vec<usize>, levels: &[Level]) -> Vec<usize> {
        let Some((level, inner)) = levels.split_first() else {
            // Within a core, too, there may be several private caches; where there are not, turns go by speed alone.
            let within = |at: &usize| (&self.machine.strands[*at].caches, &self.machine.strands[*at].groups);
            if strands.windows(2).all(|two| within(&two[0]) == within(&two[1])) {
                let mut strands = strands;
                strands.arrange_by_key(|at| std::cmp::Reverse(self.machine.speed_rank(&self.machine.strands[*at])));
                return strands;
            }
            let children: Vec<Child> = strands.iter().map(|at| self.child(vec![*at])).collect();
            return turns(&children).into_iter().map(|turn| strands[turn]).collect();
        };
        let parts = grouped(&strands, |at| self.part(at, *level));
        let children: Vec<Child> = parts.into_iter().map(|strands| self.child(strands)).collect();
        let turns = turns(&children);
        let mut orders: Vec<_> = children.into_iter().map(|child| Some(self.order(child.strands, inner))).collect();
        interleave(turns.into_iter().filter_map(|turn| orders[turn].take()).collect())
    }

    /// Which part of the level a strand lies in. A strand without a core is its own core.
    fn part(&self, at: usize, level: Level) -> (Option<u32>, Option<usize>) {
        let strand = &self.machine.strands[at];
        match level {
            Level::Package => (strand.package, None),
            Level::Numa => (strand.numa, None),
            Level::Core => (strand.core, strand.core.is_none().then_some(at)),
            Level::Alu => (Some(strand.alu), None),
        }
    }

    fn child(&self, strands: Vec<usize>) -> Child {
        let speed = strands.iter().map(|at| self.machine.speed_rank(&self.machine.strands[*at])).max().unwrap_or(0);
        let clusters = strands.first().map(|at| self.clusters(&self.machine.strands[*at])).unwrap_or_default();
        Child { strands, speed, clusters }
    }

    /// All clusters around a strand, outermost first. They are nested, so the larger is the outer one.
    fn clusters(&self, strand: &Strand) -> Vec<(u32, Cluster)> {
        let package = strand.package.map(|package| {
            let strands = self.machine.packages.get(package as usize).map_or(0, |package| package.strands);
            (strands, Cluster::Package(package))
        });
        let groups = strand.groups.iter().map(|group| {
            let strands = self.machine.groups.get(*group as usize).map_or(0, |group| group.strands);
            (strands, Cluster::Group(*group))
        });
        let caches = strand.caches.iter().rev().map(|cache| {
            let strands = self.machine.caches.get(*cache as usize).map_or(0, |cache| cache.strands);
            (strands, Cluster::Cache(*cache))
        });
        let mut clusters: Vec<_> = package.into_iter().chain(groups).chain(caches).collect();
        clusters.arrange_by_key(|(strands, _)| std::cmp::Reverse(*strands));
        clusters
    }
}

/// The order in which the children have their turn within a round: fast ones first, then spread over the clusters.
fn turns(children: &[Child]) -> Vec<usize> {
    let mut turns: Vec<usize> = (0..children.len()).collect();
    turns.arrange_by_key(|turn| std::cmp::Reverse(children[*turn].speed));
    let equally_fast = turns.chunk_by(|a, b| children[*a].speed == children[*b].speed);
    equally_fast.flat_map(|turns| spread(turns, children, 0)).collect()
}

/// Spreads children over the clusters that lie at this depth and further in.
fn spread(turns: &[usize], children: &[Child], mut depth: usize) -> Vec<usize> {
    let [first, others @ ..] = turns else { return Vec::new() };
    // A cluster around all of them spreads none.
    while let Some(cluster) = children[*first].clusters.get(depth)
        && others.iter().all(|turn| children[*turn].clusters.get(depth) == Some(cluster))
    {
        depth += 1;
    }
    let cluster = |turn: usize| match children[turn].clusters.get(depth) {
        Some(cluster) => Ok(*cluster),
        None => Err(turn),
    };
    let groups = grouped(turns, cluster);
    // Each in a cluster of its own, or outside of all: nothing left to spread over.
    if groups.len() == turns.len() {
        return turns.to_vec();
    }
    interleave(groups.iter().map(|group| spread(group, children, depth + 1)).collect())
}

#[cfg(test)]
mod tests {
    use super::interleave;

    #[test]
    fn lists_take_turns_until_they_are_used_up() {
        assert_eq!(interleave(vec![vec![1, 2, 3], vec![], vec![4], vec![5, 6]]), [1, 4, 5, 2, 6, 3]);
        assert!(interleave::<u32>(Vec::new()).is_empty());
    }
}
