//! A machine as it is booted, and where charz has to put threads on it: written from the documented meaning of the mappings, apart
//! from the program that is checked.

/// Counts of one level within one part of the level above.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) sockets: u32,
    pub(super) clusters: u32,
    pub(super) cores: u32,
    pub(super) threads: u32,
}

/// A NUMA node: the CPUs from the first to the last, if it has any, and its memory.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) cpus: Option<(u32, u32)>,
    pub(super) mib: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Strand {
    pub(super) id: u32,
    pub(super) package: u32,
    pub(super) cluster: u32,
    pub(super) core: u32,
    pub(super) node: u32,
}

impl Shape {
    /// Strands as the system numbers them: those of a core, then of a cluster, then of a socket follow each other.
    pub(super) fn strands(self, nodes: &[Node]) -> Vec<Strand> {
        let node =
            |id| nodes.iter().position(|node| node.cpus.is_some_and(|(first, last)| (first..=last).contains(&id)));
        let strand = |id| {
            let core = id / self.threads;
            let cluster = core / self.cores;
            Strand { id, core, cluster, package: cluster / self.clusters, node: node(id).unwrap_or(0) as u32 }
        };
        (0..self.sockets * self.clusters * self.cores * self.threads).map(strand).collect()
    }
}

type Part = fn(&Strand) -> u32;

/// The CPUs of a mapping in its order, each once; the strands are those that may be used. `None` of a mapping unknown here.
pub(super) fn order(mapping: &str, strands: &[Strand]) -> Option<Vec<u32>> {
    let (package, cluster): (Part, Part) = (|strand| strand.package, |strand| strand.cluster);
    let node: Part = |strand| strand.node;
    let ids = |strands: Vec<Strand>| strands.into_iter().map(|strand| strand.id).collect();
    let round_robin = || dealt(&[package, cluster], strands);
    let list = |mapping: &str| mapping.split(',').map(|id| id.parse().ok()).collect::<Option<Vec<u32>>>();
    Some(match mapping {
        "round-robin" => ids(round_robin()),
        "numa" => ids(dealt(&[node, package, cluster], strands)),
        // Here ids follow the hierarchy, from the outside in.
        "dumb" | "compact" => ids(strands.to_vec()),
        "one-per-core" => {
            let mut seen = Vec::new();
            let is_first = |strand: &Strand| {
                let is_first = !seen.contains(&strand.core);
                seen.push(strand.core);
                is_first
            };
            ids(round_robin().into_iter().filter(is_first).collect())
        }
        _ => list(mapping.strip_prefix("list:")?)?,
    })
}

/// Takes strands one by one: first those of which a core has had none, then from the part of each level that has given the fewest.
fn dealt(levels: &[Part], strands: &[Strand]) -> Vec<Strand> {
    let mut order: Vec<Strand> = Vec::new();
    let has_given = |order: &[Strand], part: Part, strand: &Strand| {
        order.iter().filter(|given| part(given) == part(strand)).count()
    };
    while order.len() < strands.len() {
        let key = |strand: &&Strand| {
            let given: Vec<usize> = levels.iter().map(|level| has_given(&order, *level, strand)).collect();
            (has_given(&order, |strand| strand.core, strand), given, strand.id)
        };
        let left = strands.iter().filter(|strand| !order.contains(strand));
        let Some(next) = left.min_by_key(key).copied() else { break };
        order.push(next);
    }
    order
}

/// The seats of so many workers: beyond the last CPU the order starts again.
pub(super) fn seats(order: &[u32], workers: usize) -> Vec<u32> {
    order.iter().copied().cycle().take(workers).collect()
}

/// The ids of a list such as `0-3,8`, as the system writes them; words that are none are left out.
pub(super) fn ids(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<u32>().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Shape = Shape { sockets: 2, clusters: 1, cores: 2, threads: 2 };
    const NODES: [Node; 2] = [Node { cpus: Some((0, 3)), mib: 1024 }, Node { cpus: Some((4, 7)), mib: 1024 }];

    #[test]
    fn strands_lie_where_the_shape_puts_them() {
        let strands = TWO.strands(&NODES);
        assert_eq!(strands.len(), 8);
        assert_eq!(strands[5], Strand { id: 5, package: 1, cluster: 1, core: 2, node: 1 });
    }

    #[test]
    fn orders_are_those_of_the_documentation() {
        let strands = TWO.strands(&NODES);
        assert_eq!(order("round-robin", &strands).unwrap(), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(order("one-per-core", &strands).unwrap(), [0, 4, 2, 6]);
        assert_eq!(order("list:3,1", &strands).unwrap(), [3, 1]);
        assert_eq!(order("unheard-of", &strands), None);
        // Without CPU 4, its core has one strand.
        let some: Vec<Strand> = strands.into_iter().filter(|strand| strand.id != 4).collect();
        assert_eq!(order("round-robin", &some).unwrap(), [0, 5, 2, 6, 1, 7, 3]);
        // With one core of the second socket, the others get a thread before its second one does.
        let few: Vec<Strand> = some.into_iter().filter(|strand| strand.id != 5).collect();
        assert_eq!(order("round-robin", &few).unwrap(), [0, 6, 2, 7, 1, 3]);
        assert_eq!(seats(&[0, 4], 3), [0, 4, 0]);
    }

    #[test]
    fn lists_of_the_system_are_read() {
        assert_eq!(ids("0-2,5,7-8"), [0, 1, 2, 5, 7, 8]);
        assert_eq!(ids(""), []);
    }
}
