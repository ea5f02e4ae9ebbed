//! How much slower a part of a machine is than its like, in the same configuration of the same sweep.
//!
//! Between visits of one machine rates drift by percents, and memory of guests by tens of percent, but what all parts of a machine meet in
//! one configuration leaves their contrasts alone. So a part is held against its neighbours, never against another machine.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::machine::{Machine, Strand};
use charz_data::report::{Cell, MemoryHome, Report, Status};
use charz_data::{Arrange, Family, Role};
use charz_stats::Sample;

use crate::claim::Component;
use crate::setting::Aspect;

/// A part of a machine. Levels count from the outermost partition on, and the last is that of cores; parts have the machine's indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    Level(usize, usize),
    /// Two CPUs by their OS ids, the lower first.
    Pair(u32, u32),
}

/// A partition of the cores.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// All that its parts are.
    are: Vec<Component>,
    /// The part of each core, by the core's place.
    of_core: Vec<usize>,
    pub(crate) parts: usize,
}

/// The partitions of a machine, from the outermost on; the last is that into cores.
#[derive(Clone, Debug)]
pub(crate) struct Partitions {
    pub(crate) levels: Vec<Level>,
    /// The core of each CPU, and its kind, by the CPU's OS id.
    cpus: BTreeMap<u32, (usize, Option<u32>)>,
    /// How many CPUs of each core could be used.
    usable: Vec<usize>,
}

/// A part in one configuration: by how much it is slower, as the logarithm of its speed over that of its like, in each run.
#[derive(Clone, Debug)]
pub(crate) struct Contrast {
    pub(crate) part: Part,
    pub(crate) runs: Vec<f64>,
}

impl Partitions {
    pub(crate) fn of(machine: &Machine) -> Self {
        // A CPU without a core is a core by itself.
        let core_of = |(at, strand): (usize, &Strand)| strand.core.map_or(usize::MAX - at, |core| core as usize);
        let mut cores: Vec<usize> = machine.strands.iter().enumerate().map(core_of).collect();
        cores.sort_unstable();
        cores.dedup();
        let place = |pair| cores.binary_search(&core_of(pair)).unwrap_or(0);
        let cpus: BTreeMap<u32, (usize, Option<u32>)> =
            machine.strands.iter().enumerate().map(|pair| (pair.1.os_id, (place(pair), pair.1.kind))).collect();
        let mut usable = vec![0; cores.len()];
        machine.strands.iter().enumerate().for_each(|pair| usable[place(pair)] += usize::from(pair.1.usable));
        let first =
            |core: usize| machine.strands.iter().enumerate().find(|pair| place(*pair) == core).map(|pair| pair.1);
        let firsts: Vec<Option<&Strand>> = (0..cores.len()).map(first).collect();
        let shared = |strand: &Strand| {
            let own = strand.core.and_then(|core| machine.cores.get(core as usize)).map_or(1, |core| core.strands);
            let mut caches =
                strand.caches.iter().filter_map(|at| machine.caches.get(*at as usize).map(|cache| (*at, cache)));
            caches.rfind(|(_, cache)| cache.strands > own).map(|(at, cache)| (at as usize, cache.level))
        };
        let cache_level = firsts.iter().flatten().find_map(|strand| shared(strand)).map_or(3, |(_, level)| level);
        let part = |are: Component, strand: &Strand| match are {
            Component::Package => strand.package.map(|at| at as usize),
            Component::NumaNode => strand.numa.map(|at| at as usize),
            Component::Cache(_) => shared(strand).map(|(at, _)| at),
            _ => None,
        };
        let mut levels: Vec<Level> = Vec::new();
        for are in [Component::Package, Component::NumaNode, Component::Cache(cache_level)] {
            let ids: Option<Vec<usize>> = firsts.iter().map(|strand| part(are, (*strand)?)).collect();
            let Some(ids) = ids else { continue };
            let mut known = ids.clone();
            known.sort_unstable();
            known.dedup();
            let of_core: Vec<usize> = ids.iter().map(|id| known.binary_search(id).unwrap_or(0)).collect();
            if known.len() < 2 || known.len() == cores.len() {
                continue;
            }
            match levels.iter_mut().find(|level| level.of_core == of_core) {
                Some(level) => level.are.push(are),
                None => levels.push(Level { are: vec![are], of_core, parts: known.len() }),
            }
        }
        levels.arrange_by_key(|level| level.parts);
        let of_core = (0..cores.len()).collect();
        levels.push(Level { are: vec![Component::Core], of_core, parts: cores.len() });
        Partitions { levels, cpus, usable }
    }

    fn usable_cpus(&self) -> usize {
        self.usable.iter().sum()
    }

    /// How many cores have a CPU that could be used, of all.
    pub(crate) fn cores(&self) -> [usize; 2] {
        [self.usable().count(), self.usable.len()]
    }

    /// Whether half of the cores or more were not measured: no site keeps so many for the system, so other jobs may be there.
    pub(crate) fn is_half(&self) -> bool {
        let [used, all] = self.cores();
        2 * used <= all
    }

    pub(crate) fn cpus_of_all(&self) -> Vec<u32> {
        self.cpus.keys().copied().collect()
    }

    /// What a part is. Of several names of one partition, that of what the aspect depends on.
    pub(crate) fn component(&self, part: Part, aspect: Aspect, is_in_cache: bool) -> Component {
        use Component::{Cache, Core, NumaNode, Package};
        let Part::Level(level, _) = part else { return Component::Pair };
        let rank = |are: &Component| match (are, aspect) {
            (NumaNode, Aspect::Bandwidth | Aspect::Latency) if !is_in_cache => 0,
            (Package | Core, Aspect::Arithmetic | Aspect::Lines) => 0,
            (Cache(_), _) => 1,
            (NumaNode, _) if aspect.is_of_memory() => 2,
            (NumaNode, _) => 4,
            _ => 3,
        };
        self.levels[level].are.iter().copied().min_by_key(rank).unwrap_or(Core)
    }

    /// The CPUs of a part.
    pub(crate) fn cpus(&self, part: Part) -> Vec<u32> {
        match part {
            Part::Pair(one, other) => vec![one, other],
            Part::Level(level, index) => {
                let of_core = &self.levels[level].of_core;
                self.cpus.iter().filter(|(_, (core, _))| of_core[*core] == index).map(|(cpu, _)| *cpu).collect()
            }
        }
    }

    /// The parts of the next level inside that could be used.
    pub(crate) fn inside(&self, level: usize, index: usize) -> Vec<Part> {
        let Some(next) = self.levels.get(level + 1) else { return Vec::new() };
        let of_core = &self.levels[level].of_core;
        let mut all: Vec<usize> =
            self.usable().filter(|core| of_core[*core] == index).map(|core| next.of_core[core]).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|index| Part::Level(level + 1, index)).collect()
    }

    /// The cores with a CPU that could be used: the site may keep some for the system.
    fn usable(&self) -> impl Iterator<Item = usize> {
        (0..self.usable.len()).filter(|core| self.usable[*core] > 0)
    }

    /// How two CPUs lie to each other: what they share, from the core outwards.
    fn relation(&self, one: u32, other: u32) -> Option<Vec<bool>> {
        let [one, other] = [self.cpus.get(&one)?.0, self.cpus.get(&other)?.0];
        Some(self.levels.iter().map(|level| level.of_core[one] == level.of_core[other]).collect())
    }

    /// The contrasts of a configuration whose threads occupy all cores alike that the site does not keep for the system; none of another.
    fn of_cell(&self, cell: &Cell) -> Vec<Contrast> {
        let seats: Vec<u32> = cell.seats.iter().copied().flatten().collect();
        let cores: Option<Vec<(usize, Option<u32>)>> = seats.iter().map(|seat| self.cpus.get(seat).copied()).collect();
        let Some(cores) = cores else { return Vec::new() };
        let all = self.levels.last().map_or(0, |level| level.parts);
        let mut threads = vec![0_usize; all];
        cores.iter().for_each(|(core, _)| threads[*core] += 1);
        let is_full = seats.len() == self.usable_cpus();
        let is_even = || self.usable().map(|core| threads[core]).collect::<BTreeSet<_>>().len() == 1;
        let is_alike = threads.iter().all(|count| *count == threads[0]);
        if all < 2 || !(is_alike || !self.is_half() && (is_full || is_even())) {
            return Vec::new();
        }
        // What cores are compared with: those of the same kind with as many threads. One without a thread counts as its kind in parts.
        let of_kind: BTreeMap<Option<u32>, usize> = cores.iter().map(|(core, kind)| (*kind, threads[*core])).collect();
        let mut like = vec![(0, None); all];
        self.cpus.values().for_each(|(core, kind)| like[*core] = (of_kind.get(kind).copied().unwrap_or(0), *kind));
        cores.iter().for_each(|(core, kind)| like[*core] = (threads[*core], *kind));
        let mut contrasts: BTreeMap<Part, Vec<f64>> = BTreeMap::new();
        for speeds in cell.worker_speeds() {
            let mut speed = vec![0.0; all];
            for ((core, _), own) in cores.iter().zip(&speeds) {
                speed[*core] += own;
            }
            let value = |(core, speed): (usize, &f64)| (threads[core] > 0).then(|| speed.ln());
            let values: Vec<Option<f64>> = speed.iter().enumerate().map(value).collect();
            for (part, contrast) in self.of_values(&values, &like) {
                contrasts.entry(part).or_default().push(contrast);
            }
        }
        contrasts.into_iter().map(|(part, runs)| Contrast { part, runs }).collect()
    }

    /// Each part that has its like, against the median of these: those in the innermost part around it that holds three of them besides it, else
    /// all.
    fn of_values(&self, values: &[Option<f64>], like: &[(usize, Option<u32>)]) -> Vec<(Part, f64)> {
        let mut contrasts = Vec::new();
        for (at, level) in self.levels.iter().enumerate() {
            let mut cores = vec![Vec::new(); level.parts];
            level.of_core.iter().enumerate().for_each(|(core, part)| cores[*part].push(core));
            let value = |part: &Vec<usize>| {
                let sample = Sample::new(part.iter().filter_map(|core| values[*core]).collect())?;
                // Of two cores one alone is the core's own matter.
                Some((if sample.len() == 2 { sample.max() } else { sample.median() }, sample.len() as f64))
            };
            let of_parts: Vec<Option<(f64, f64)>> = cores.iter().map(value).collect();
            let kind = |part: usize| {
                let mut kinds: Vec<_> = cores[part].iter().map(|core| like[*core]).collect();
                kinds.sort_unstable();
                kinds
            };
            // Numbered: to compare the lists themselves takes long on large machines.
            let mut known = BTreeMap::new();
            let numbered = |part: usize| {
                let next = known.len();
                *known.entry(kind(part)).or_insert(next)
            };
            let kinds: Vec<usize> = (0..level.parts).map(numbered).collect();
            for (part, own) in of_parts.iter().enumerate() {
                let Some((own, busy)) = *own else { continue };
                let others = |around: Option<&Level>| {
                    let is_near = |other: usize| {
                        around.is_none_or(|around| around.of_core[cores[part][0]] == around.of_core[cores[other][0]])
                    };
                    let alike = (0..level.parts)
                        .filter(|other| *other != part && kinds[*other] == kinds[part] && is_near(*other));
                    // Where fewer cores share a memory or a cache, each has more of it.
                    let as_busy = |(value, others): (f64, f64)| value + (others / busy).ln().min(0.0);
                    alike.filter_map(|other| of_parts[other]).map(as_busy).collect::<Vec<f64>>()
                };
                let near = self.levels[..at].iter().rev().map(|around| others(Some(around))).find(|all| all.len() >= 3);
                if let Some(others) = Sample::new(near.unwrap_or_else(|| others(None))) {
                    contrasts.push((Part::Level(at, part), own - others.median()));
                }
            }
        }
        contrasts
    }

    /// Each pair of CPUs against those that lie like it, where there are three of them besides it.
    fn of_pairs<'a>(&self, cells: &[&'a Cell]) -> Vec<(&'a Cell, Contrast)> {
        let of_cell = |cell: &&'a Cell| {
            let [Some(one), Some(other)] = cell.seats[..] else { return None };
            let runs = cell.invocations.iter().filter_map(|run| run.value).filter(|value| *value > 0.0);
            let speeds: Vec<f64> =
                runs.map(|value| if cell.unit.more_is_better() { value.ln() } else { -value.ln() }).collect();
            let part = Part::Pair(one.min(other), one.max(other));
            Some((*cell, part, self.relation(one, other)?, Sample::new(speeds)?))
        };
        let all: Vec<_> = cells.iter().filter_map(of_cell).collect();
        let contrast = |(cell, part, relation, speeds): &(&'a Cell, Part, Vec<bool>, Sample)| {
            let others = all.iter().filter(|(_, other, near, _)| other != part && near == relation);
            let others =
                Sample::new(others.map(|(.., speeds)| speeds.median()).collect()).filter(|all| all.len() >= 3)?;
            let runs = speeds.values().iter().map(|speed| speed - others.median()).collect();
            Some((*cell, Contrast { part: *part, runs }))
        };
        all.iter().filter_map(contrast).collect()
    }

    /// The contrasts of all configurations of a report.
    pub(crate) fn contrasts<'a>(&self, report: &'a Report) -> Vec<(&'a Cell, Contrast)> {
        let mut all = Vec::new();
        for card in &report.cards {
            let cells = report.cells.iter().filter(|cell| cell.kernel == card.name && !cell.seats.is_empty());
            let ok = cells.filter(|cell| cell.status == Status::Ok);
            match card.family {
                Family::Compute | Family::Memory => all.extend(
                    ok.filter(|cell| cell.contention.is_none())
                        .flat_map(|cell| self.of_cell(cell).into_iter().map(move |contrast| (cell, contrast))),
                ),
                Family::Sync if matches!(card.role, Role::LineTransfer(_)) => {
                    // A pair is nearer to one fixed home than to another, whatever its CPUs have in common.
                    let is_at_home = |cell: &&Cell| matches!(cell.point.memory, None | Some(MemoryHome::Local));
                    all.extend(self.of_pairs(&ok.filter(is_at_home).collect::<Vec<_>>()));
                }
                _ => {}
            }
        }
        all
    }
}
