//! A machine of levels, and levels beside a claimed machine.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::Arrange;
use charz_data::machine::{AluSource, Cache, CacheHolds, Core, Group, Machine, Package, Strand, Usable};

use super::{Latencies, Layout, LevelName};

/// A level that is measured in another way than it is claimed.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The level, by its claimed name.
    pub name: LevelName,
    /// The claimed groups that were not found; none where the topology has no such level.
    pub claimed: Vec<Vec<u32>>,
    /// The groups that were found and are not claimed.
    pub measured: Vec<Vec<u32>>,
}

type Groups = Vec<Vec<u32>>;

impl Layout {
    /// A description with these levels and no others: every CPU without a sibling is a core.
    /// Sizes of caches, NUMA nodes and memory are not known.
    pub fn machine(&self, latencies: &Latencies, source: &str) -> Machine {
        let alone = || latencies.ids().iter().map(|id| vec![*id]).collect::<Groups>();
        let level =
            |name: LevelName| self.levels.iter().find(|level| level.name == name).map(|level| level.groups.clone());
        let cores = level(LevelName::Core).unwrap_or_else(alone);
        let packages = level(LevelName::Package).unwrap_or_default();
        let (of_core, of_package) = (index(&cores), index(&packages));
        let mut machine = Machine {
            source: source.to_owned(),
            name: None,
            strands: Vec::new(),
            cores: cores.iter().map(|_| Core { os_id: None, strands: 0 }).collect(),
            packages: packages.iter().map(|_| Package { os_id: None, model: None, strands: 0 }).collect(),
            numa_nodes: Vec::new(),
            numa_distances: Vec::new(),
            caches: Vec::new(),
            groups: Vec::new(),
            kinds: Vec::new(),
            devices: Vec::new(),
            alu: AluSource::Assumed,
            absent: Vec::new(),
            usable: Usable::everything(latencies.len()),
            doubts: Vec::new(),
        };
        let mut caches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for level in &self.levels {
            let what = match level.name {
                LevelName::Core | LevelName::Package => continue,
                LevelName::Cache(cache) => Err(cache),
                LevelName::Die => Ok("Die"),
                LevelName::Node | LevelName::Other(_) => Ok("Group"),
            };
            for (at, group) in (0..).zip(&level.groups) {
                let (parts, next) = match what {
                    Err(_) => (&mut caches, machine.caches.len()),
                    Ok(_) => (&mut groups, machine.groups.len()),
                };
                group.iter().for_each(|id| parts.entry(*id).or_default().push(next as u32));
                match what {
                    Err(level) => machine.caches.push(cache(level, at)),
                    Ok(what) => machine.groups.push(Group { what: what.to_owned(), strands: 0 }),
                }
            }
        }
        // Neighbours on the machine follow each other.
        let mut order = latencies.ids().to_vec();
        let outwards: Vec<BTreeMap<u32, u32>> = self.levels.iter().rev().map(|level| index(&level.groups)).collect();
        order.arrange_by_key(|id| outwards.iter().map(|of| of[id]).collect::<Vec<u32>>());
        let mut ranks: BTreeMap<u32, u32> = BTreeMap::new();
        for id in order {
            let rank = ranks.entry(of_core[&id]).or_default();
            machine.strands.push(Strand {
                os_id: id,
                package: of_package.get(&id).copied(),
                numa: None,
                core: Some(of_core[&id]),
                alu: 0,
                slot: *rank,
                strand_in_core: *rank,
                kind: None,
                numa_nodes: Vec::new(),
                caches: caches.remove(&id).unwrap_or_default(),
                groups: groups.remove(&id).unwrap_or_default(),
                usable: true,
            });
            *rank += 1;
        }
        machine.count_strands();
        machine
    }

    /// Takes the names of levels from a claimed machine with the same CPUs, where they have most pairs of CPUs in common, and returns what
    /// contradicts it. A claimed level that latencies do not show contradicts nothing.
    pub fn compare(&mut self, claim: &Machine) -> Vec<Contradiction> {
        let claims = claimed(claim);
        let mut contradictions = Vec::new();
        for level in &mut self.levels {
            let alike = |groups: &Groups| in_common(groups, &level.groups);
            let is_named = |name: &LevelName| *name == level.name;
            // Of several that are the same, the one with the level's name.
            let order = |(one, a): &&(LevelName, Groups), (other, b): &&(LevelName, Groups)| {
                alike(a).total_cmp(&alike(b)).then(is_named(one).cmp(&is_named(other)))
            };
            let nearest = claims.iter().max_by(order).filter(|(_, groups)| alike(groups) > LEAST_ALIKE);
            let nearest = nearest.or_else(|| claims.iter().find(|(name, _)| is_named(name)));
            if let Some((name, _)) = nearest {
                level.name = *name;
            }
            let theirs = nearest.map(|(_, groups)| &groups[..]).unwrap_or_default();
            let only = |groups: &[Vec<u32>], others: &[Vec<u32>]| -> Groups {
                groups.iter().filter(|group| group.len() > 1 && !others.contains(group)).cloned().collect()
            };
            let (claimed, measured) = (only(theirs, &level.groups), only(&level.groups, theirs));
            if !claimed.is_empty() || !measured.is_empty() {
                contradictions.push(Contradiction { name: level.name, claimed, measured });
            }
        }
        contradictions
    }
}

/// The share of pairs that a claimed and a measured level have in common to be the same level.
const LEAST_ALIKE: f64 = 0.5;

fn cache(level: u32, index: u32) -> Cache {
    let holds = CacheHolds::Unified;
    Cache { level, holds, index, size_bytes: None, line_bytes: None, ways: None, inclusive: None, strands: 0 }
}

/// The group of each CPU.
fn index(groups: &[Vec<u32>]) -> BTreeMap<u32, u32> {
    (0..).zip(groups).flat_map(|(at, group)| group.iter().map(move |id| (*id, at))).collect()
}

/// What a machine claims to be shared by several CPUs and not by all, from the innermost.
fn claimed(machine: &Machine) -> Vec<(LevelName, Groups)> {
    let by = |of: &dyn Fn(&Strand) -> Option<u32>| {
        let mut groups: BTreeMap<(Option<u32>, u32), Vec<u32>> = BTreeMap::new();
        for strand in &machine.strands {
            let part = of(strand);
            groups.entry((part, if part.is_none() { strand.os_id } else { 0 })).or_default().push(strand.os_id);
        }
        let mut groups: Groups = groups.into_values().collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        groups
    };
    let mut all = vec![(LevelName::Core, by(&|strand| strand.core))];
    let depths: BTreeSet<u32> = machine.caches.iter().map(|cache| cache.level).collect();
    for depth in depths.into_iter().filter(|depth| *depth > 1) {
        let of =
            |strand: &Strand| machine.data_caches(strand).find(|(_, cache)| cache.level == depth).map(|(at, _)| at);
        all.push((LevelName::Cache(depth), by(&of)));
    }
    let die = |strand: &Strand| {
        strand
            .groups
            .iter()
            .copied()
            .find(|at| machine.groups.get(*at as usize).is_some_and(|group| group.what == "Die"))
    };
    all.push((LevelName::Die, by(&die)));
    all.push((LevelName::Package, by(&|strand| strand.package)));
    all.push((LevelName::Node, by(&|strand| strand.numa)));
    all.retain(|(_, groups)| groups.len() > 1 && groups.len() < machine.strands.len());
    all
}

/// The pairs of CPUs that are together in both, as a share of those that are in either.
fn in_common(one: &Groups, other: &Groups) -> f64 {
    let pairs = |size: usize| size * size.saturating_sub(1) / 2;
    let of = index(other);
    let both = one.iter().map(|group| {
        let mut sizes: BTreeMap<Option<&u32>, usize> = BTreeMap::new();
        group.iter().for_each(|id| *sizes.entry(of.get(id)).or_default() += 1);
        sizes.values().map(|size| pairs(*size)).sum::<usize>()
    });
    let both: usize = both.sum();
    let all = |groups: &Groups| groups.iter().map(|group| pairs(group.len())).sum::<usize>();
    both as f64 / (all(one) + all(other) - both).max(1) as f64
}
