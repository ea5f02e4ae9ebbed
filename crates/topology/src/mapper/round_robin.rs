//! Round-robin: spread the workers over the machine.
//!
//! Three laws, each within what the ones before it leave open, for any number of workers on any machine:
//!
//! 1. Cores hold equally many workers: no core gets a second one while another idles, nor a third while another has one and room.
//! 2. Faster cores come first: no core gets a worker while a faster one, with as many, has room.
//! 3. Packages hold equally many, then NUMA nodes, then what lies between a node and its cores, be it dies, groups or shared caches.
//!
//! The first two cut the strands into passes: the first strand of each fast core, the first of each slower core, the second of each fast
//! core. A pass is dealt out by the third: each worker goes to the package that holds the fewest, there to the node that holds the
//! fewest. Parts are counted over all passes, and wherever they lie: a node that crosses packages is one node. On a machine whose clusters
//! of cores are numbered as packages, the kinds are so the outermost level.
//!
//! Within a core ALU groups take turns, then private caches: two workers on a processor of Bulldozer modules get two modules.
//!
//! The work is proportional to the number of strands, but for the logarithm of how many parts there are.

use charz_data::Arrange;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::hash::Hash;

use super::Order;
use crate::{Machine, Strand};

/// A part of the machine that holds workers; `None` stands for what lies in no part of a level.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Package(Option<u32>),
    Numa(Option<u32>),
    Group(u32),
    Cache(u32),
    /// Within its core.
    Alu(u32),
}

/// A level of the machine that has parts to take turns.
type Level = fn(&Strand) -> Part;

const PACKAGE: Level = |strand| Part::Package(strand.package);
const NUMA: Level = |strand| Part::Numa(strand.numa);
const ALU: Level = |strand| Part::Alu(strand.alu);

const BY_PACKAGE: &[Level] = &[PACKAGE, NUMA];
const BY_NUMA: &[Level] = &[NUMA, PACKAGE];

pub(super) fn by_package(machine: &Machine) -> Order {
    Order::Strands(ids(machine, &order(machine, all(machine), BY_PACKAGE)))
}

pub(super) fn by_numa(machine: &Machine) -> Order {
    Order::Strands(ids(machine, &order(machine, all(machine), BY_NUMA)))
}

/// The first strand of each core.
pub(super) fn one_per_core(machine: &Machine) -> Order {
    let mut order = order(machine, all(machine), BY_PACKAGE);
    // The first passes have one of each.
    order.truncate(cores(machine, &all(machine)).len());
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
    members.into_iter().map(|members| ids(machine, &order(machine, members, BY_PACKAGE))).collect()
}

/// Takes the first element of each list, then the second of each, and so on.
pub(super) fn interleave<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    merge(lists.into_iter().map(|list| (0, list)).collect())
}

/// The same, where a list that is ahead by a number of elements waits for the others to catch up.
fn merge<T>(lists: Vec<(usize, Vec<T>)>) -> Vec<T> {
    let of =
        |(ahead, list): (usize, Vec<T>)| list.into_iter().enumerate().map(move |(at, element)| (ahead + at, element));
    let mut dealt: Vec<(usize, T)> = lists.into_iter().flat_map(of).collect();
    dealt.arrange_by_key(|(turn, _)| *turn);
    dealt.into_iter().map(|(_, element)| element).collect()
}

/// The positions of the usable strands in the machine's list.
fn all(machine: &Machine) -> Vec<usize> {
    (0..machine.strands.len()).filter(|at| machine.strands[*at].usable).collect()
}

fn ids(machine: &Machine, order: &[usize]) -> Vec<u32> {
    order.iter().map(|at| machine.strands[*at].os_id).collect()
}

/// Sorts elements into groups by key; groups in the order in which they appear.
fn grouped<T, K: Copy + Hash + Eq>(elements: Vec<T>, key: impl Fn(&T) -> K) -> Vec<(K, Vec<T>)> {
    let mut index = HashMap::new();
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for element in elements {
        let key = key(&element);
        let at = *index.entry(key).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, group)) => group.push(element),
            None => groups.push((key, vec![element])),
        }
    }
    groups
}

/// The strands by their cores. A strand without a core is its own core.
fn cores(machine: &Machine, strands: &[usize]) -> Vec<Vec<usize>> {
    let core = |at: &usize| machine.strands[*at].core.ok_or(*at);
    grouped(strands.to_vec(), core).into_iter().map(|(_, strands)| strands).collect()
}

/// The order of strands, which it knows by their position in the machine's list.
fn order(machine: &Machine, strands: Vec<usize>, levels: &[Level]) -> Vec<usize> {
    let mut passes: BTreeMap<(usize, Reverse<u32>), Vec<usize>> = BTreeMap::new();
    let slowness = |at: &usize| Reverse(machine.speed_rank(&machine.strands[*at]));
    for core in cores(machine, &strands) {
        let mut dealt = Dealer::new(machine).deal(core, &[ALU]);
        // Nothing but a file has strands of two kinds in one core.
        dealt.arrange_by_key(slowness);
        for (rank, at) in dealt.into_iter().enumerate() {
            passes.entry((rank, slowness(&at))).or_default().push(at);
        }
    }
    let mut dealer = Dealer::new(machine);
    passes.into_values().flat_map(|pass| dealer.deal(pass, levels)).collect()
}

/// Deals strands out, and knows what it has dealt.
struct Dealer<'a> {
    machine: &'a Machine,
    held: HashMap<Part, usize>,
}

/// Some strands, and the clusters around the first of them, outermost first.
struct Child {
    strands: Vec<usize>,
    clusters: Vec<Part>,
}

/// What is left of a part.
enum Rest {
    /// Parts in it, in the order in which they have their turn where they hold equally many, and those that may have strands left.
    Parts { parts: Vec<(Part, Rest)>, waiting: BinaryHeap<Reverse<(usize, usize)>> },
    /// Strands in their order.
    Strands(std::vec::IntoIter<usize>),
}

fn count(held: &HashMap<Part, usize>, part: &Part) -> usize {
    held.get(part).copied().unwrap_or(0)
}

impl<'a> Dealer<'a> {
    fn new(machine: &'a Machine) -> Self {
        Self { machine, held: HashMap::new() }
    }

    /// All of these strands in their order, balanced over the parts of the first level, then over those of the next.
    fn deal(&mut self, strands: Vec<usize>, levels: &[Level]) -> Vec<usize> {
        if let [only] = strands[..] {
            self.hold(only, levels);
            return strands;
        }
        let mut dealt = Vec::with_capacity(strands.len());
        let mut rest = self.rest(strands, levels);
        while let Some(at) = rest.next(&self.held) {
            self.hold(at, levels);
            dealt.push(at);
        }
        dealt
    }

    /// Counts a worker on a strand.
    fn hold(&mut self, at: usize, levels: &[Level]) {
        let strand = &self.machine.strands[at];
        let around = strand.groups.iter().map(|group| Part::Group(*group));
        let around = around.chain(strand.caches.iter().map(|cache| Part::Cache(*cache)));
        for part in levels.iter().map(|level| level(strand)).chain(around) {
            *self.held.entry(part).or_default() += 1;
        }
    }

    fn rest(&self, strands: Vec<usize>, levels: &[Level]) -> Rest {
        let Some((level, inner)) = levels.split_first() else {
            let strands = spread(strands.into_iter().map(|at| self.child(vec![at])).collect(), 0, &self.held);
            return Rest::Strands(strands.into_iter().flatten().collect::<Vec<_>>().into_iter());
        };
        let parts = grouped(strands, |at| level(&self.machine.strands[*at]));
        // They are counted one by one, so the clusters around them decide between those that hold equally many.
        let parts = spread(parts.into_iter().map(|(_, strands)| self.child(strands)).collect(), 0, &HashMap::new());
        let part = |strands: Vec<usize>| (level(&self.machine.strands[strands[0]]), self.rest(strands, inner));
        let parts: Vec<(Part, Rest)> = parts.into_iter().map(part).collect();
        let waiting =
            parts.iter().enumerate().map(|(turn, (part, _))| Reverse((count(&self.held, part), turn))).collect();
        Rest::Parts { parts, waiting }
    }

    fn child(&self, strands: Vec<usize>) -> Child {
        let clusters = strands.first().map(|at| self.clusters(&self.machine.strands[*at])).unwrap_or_default();
        Child { strands, clusters }
    }

    /// All clusters around a strand, outermost first. They are nested, so the larger is the outer one.
    fn clusters(&self, strand: &Strand) -> Vec<Part> {
        let package = strand.package.map(|package| {
            let strands = self.machine.packages.get(package as usize).map_or(0, |package| package.strands);
            (strands, Part::Package(Some(package)))
        });
        let groups = strand.groups.iter().map(|group| {
            let strands = self.machine.groups.get(*group as usize).map_or(0, |group| group.strands);
            (strands, Part::Group(*group))
        });
        let caches = strand.caches.iter().rev().map(|cache| {
            let strands = self.machine.caches.get(*cache as usize).map_or(0, |cache| cache.strands);
            (strands, Part::Cache(*cache))
        });
        let mut clusters: Vec<_> = package.into_iter().chain(groups).chain(caches).collect();
        clusters.arrange_by_key(|(strands, _)| Reverse(*strands));
        clusters.into_iter().map(|(_, cluster)| cluster).collect()
    }
}

/// Spreads children over the clusters that lie at this depth and further in, as far as these hold equally many.
fn spread(children: Vec<Child>, mut depth: usize, held: &HashMap<Part, usize>) -> Vec<Vec<usize>> {
    let [first, others @ ..] = &children[..] else { return Vec::new() };
    if others.is_empty() {
        return children.into_iter().map(|child| child.strands).collect();
    }
    // A cluster around all of them spreads none.
    while let Some(cluster) = first.clusters.get(depth)
        && others.iter().all(|child| child.clusters.get(depth) == Some(cluster))
    {
        depth += 1;
    }
    // What lies in no cluster is its own.
    let cluster = |(turn, child): &(usize, Child)| child.clusters.get(depth).copied().ok_or(*turn);
    let clusters = grouped(children.into_iter().enumerate().collect(), cluster);
    let list = |(cluster, children): (Result<Part, usize>, Vec<(usize, Child)>)| {
        let ahead = cluster.map_or(0, |cluster| count(held, &cluster));
        (ahead, spread(children.into_iter().map(|(_, child)| child).collect(), depth + 1, held))
    };
    merge(clusters.into_iter().map(list).collect())
}

impl Rest {
    /// The next strand of the part that holds the fewest workers.
    fn next(&mut self, held: &HashMap<Part, usize>) -> Option<usize> {
        let (parts, waiting) = match self {
            Rest::Strands(strands) => return strands.next(),
            Rest::Parts { parts, waiting } => (parts, waiting),
        };
        loop {
            let Reverse((known, turn)) = waiting.pop()?;
            let (part, rest) = &mut parts[turn];
            let now = count(held, part);
            // Strands of it that lie in other parts may have been dealt meanwhile.
            if known < now {
                waiting.push(Reverse((now, turn)));
            } else if let Some(at) = rest.next(held) {
                waiting.push(Reverse((now + 1, turn)));
                return Some(at);
            }
        }
    }
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
