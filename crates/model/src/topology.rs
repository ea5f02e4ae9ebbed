//! Where threads are, as a model sees it: how many share each part of the machine.

use charz_data::Arrange;
use std::collections::BTreeMap;

use charz_data::machine::{Machine, Strand};

/// The parts of a machine, inside each other.
#[derive(Clone, Debug)]
pub struct Topology {
    pub(crate) levels: Vec<Level>,
    /// The place of each CPU, by its OS id.
    places: BTreeMap<u32, usize>,
    has_kinds: bool,
}

/// A partition of the CPUs.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub(crate) name: String,
    /// Names of other parts with the same CPUs, which are the smaller ones.
    also: Vec<String>,
    /// The part of each CPU.
    of: Vec<usize>,
    /// The most CPUs of a part.
    pub(crate) size: usize,
}

/// Threads at their places.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Placed {
    /// How many there are.
    pub threads: usize,
    /// What threads meet, each kind once: how many share its part, for each level.
    pub(crate) loads: Vec<Vec<f64>>,
    /// How many threads there are of each kind.
    pub(crate) counts: Vec<usize>,
}

impl Placed {
    fn even(threads: usize, loads: Vec<f64>) -> Self {
        Placed { threads, loads: vec![loads], counts: vec![threads] }
    }

    /// How many levels of a machine it knows of.
    pub(crate) fn levels(&self) -> usize {
        self.loads.first().map_or(0, Vec::len)
    }

    /// The most threads that share a part of a level.
    pub(crate) fn load(&self, level: usize) -> f64 {
        self.loads.iter().map(|loads| loads[level]).fold(0.0, f64::max)
    }

    /// The levels whose parts it fills unevenly.
    pub(crate) fn uneven(&self) -> impl Iterator<Item = usize> {
        let is_uneven = |level: &usize| self.loads.iter().any(|own| own[*level] < self.load(*level));
        (0..self.levels()).filter(is_uneven)
    }

    /// Whether each of its threads shares no part with more threads than some thread of the other does.
    pub(crate) fn is_within(&self, other: &Placed) -> bool {
        let is_looser = |own: &[f64], there: &[f64]| own.iter().zip(there).all(|(own, there)| own <= there);
        self.loads.iter().all(|own| other.loads.iter().any(|there| is_looser(own, there)))
    }

    /// How many parts of the machine it has for each that the other has, of the kind of which it has the fewest; 1 at most.
    pub(crate) fn share(&self, other: &Placed) -> f64 {
        let parts = |placed: &Placed, level: usize| placed.threads as f64 / placed.load(level);
        (0..self.levels()).map(|level| parts(self, level) / parts(other, level)).fold(1.0, f64::min)
    }

    /// So many times fewer threads in as many times fewer parts.
    pub(crate) fn divided(&self, times: f64) -> Self {
        let threads = (self.threads as f64 / times).ceil();
        Self::even(threads as usize, (0..self.levels()).map(|level| self.load(level).min(threads)).collect())
    }
}

impl Level {
    fn new(name: String, ids: &[usize]) -> Self {
        let mut known = ids.to_vec();
        known.sort_unstable();
        known.dedup();
        let of: Vec<usize> = ids.iter().map(|id| known.binary_search(id).unwrap_or(0)).collect();
        let mut counts = vec![0; known.len()];
        of.iter().for_each(|part| counts[*part] += 1);
        Level { name, also: Vec::new(), of, size: counts.into_iter().max().unwrap_or(0) }
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.iter().any(|also| also == name)
    }

    /// What its parts are called: a core that has its caches to itself is a core.
    pub(crate) fn part(&self) -> &str {
        if self.is_called("core") { "core" } else { &self.name }
    }

    /// Whether each part of it lies in one part of the other.
    fn is_inside(&self, outer: &Level) -> bool {
        let mut around = vec![None; self.of.iter().max().map_or(0, |most| most + 1)];
        self.of.iter().zip(&outer.of).all(|(own, outer)| *around[*own].get_or_insert(*outer) == *outer)
    }
}

/// Whether one in ten cores has another number of CPUs than the others, as where a description of a hybrid machine names no kinds. Of fewer,
/// a CPU is offline.
fn has_uneven_cores(machine: &Machine) -> bool {
    let mut cores: BTreeMap<u32, usize> = BTreeMap::new();
    machine.strands.iter().filter_map(|strand| strand.core).for_each(|core| *cores.entry(core).or_default() += 1);
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    cores.values().for_each(|size| *sizes.entry(*size).or_default() += 1);
    10 * sizes.values().max().map_or(0, |most| cores.len() - most) >= cores.len().max(1)
}

impl Topology {
    /// Whether no model says anything of it, since its threads are of several kinds.
    pub fn has_kinds(&self) -> bool {
        self.has_kinds
    }

    /// The usable CPUs of a machine, their cores, ALU groups, shared caches, NUMA nodes, sockets, and all of it.
    pub fn of(machine: &Machine) -> Self {
        let strands: Vec<&Strand> = machine.strands.iter().filter(|strand| strand.usable).collect();
        let all = strands.len();
        let core = |at: usize| strands[at].core.map_or(usize::MAX - at, |core| core as usize);
        // Of two that are the same the later name is kept.
        let mut partitions: Vec<(String, Vec<usize>)> = vec![
            (
                "ALU group".into(),
                (0..all).map(|at| core(at).wrapping_mul(64).wrapping_add(strands[at].alu as usize)).collect(),
            ),
            ("core".into(), (0..all).map(core).collect()),
        ];
        let mut shared: Vec<u32> = machine.caches.iter().map(|cache| cache.level).collect();
        shared.sort_unstable();
        shared.dedup();
        for level in shared {
            let own = |at: usize| {
                let mut caches = strands[at].caches.iter().map(|cache| *cache as usize);
                caches.rfind(|cache| machine.caches.get(*cache).is_some_and(|own| own.level == level))
            };
            partitions.extend((0..all).map(own).collect::<Option<_>>().map(|of| (format!("L{level} cache"), of)));
        }
        let of = |part: fn(&Strand) -> Option<u32>| {
            strands.iter().map(|strand| part(strand).map(|at| at as usize)).collect()
        };
        let nodes: Option<Vec<usize>> = of(|strand| strand.numa);
        let sockets: Option<Vec<usize>> = of(|strand| strand.package);
        partitions.extend(nodes.map(|of| ("NUMA node".into(), of)));
        partitions.extend(sockets.map(|of| ("socket".into(), of)));
        let mut levels: Vec<Level> = vec![Level::new("CPU".into(), &(0..all).collect::<Vec<_>>())];
        let machine_level = Level::new("machine".into(), &vec![0; all]);
        let mut found: Vec<Level> = partitions.into_iter().map(|(name, ids)| Level::new(name, &ids)).collect();
        found.arrange_by_key(|level| level.size);
        for mut level in found.into_iter().chain([machine_level]) {
            let last = &levels[levels.len() - 1];
            if level.of == last.of && last.name != "CPU" {
                let same = levels.pop().into_iter();
                level.also = same.flat_map(|same| same.also.into_iter().chain([same.name])).collect();
            } else if level.of == last.of || !last.is_inside(&level) {
                continue;
            }
            levels.push(level);
        }
        Topology {
            levels,
            places: strands.iter().enumerate().map(|(at, strand)| (strand.os_id, at)).collect(),
            has_kinds: machine.is_hybrid() || has_uneven_cores(machine),
        }
    }

    /// How many CPUs there are.
    pub fn cpus(&self) -> usize {
        self.places.len()
    }

    /// Whether each thread has a CPU of its own.
    pub fn holds(&self, placed: &Placed) -> bool {
        placed.threads <= self.cpus() && placed.load(0) <= 1.0
    }

    /// The placements that say what nothing else does: the fewest threads, and for each kind of part the fewest that fill one, or come
    /// nearest to that.
    pub(crate) fn deciding(&self, placements: &[&Placed]) -> Vec<usize> {
        let within = || (0..placements.len()).filter(|at| self.holds(placements[*at]));
        let threads = |at: &usize| placements[*at].threads;
        let mut deciding: Vec<usize> = within().min_by_key(threads).into_iter().collect();
        for (level, size) in self.sizes().enumerate().skip(1) {
            let load = |at: &usize| placements[*at].load(level).min(size as f64);
            let Some(most) = within().map(|at| load(&at)).max_by(f64::total_cmp) else { continue };
            let fullest = within().filter(|at| load(at) >= most).min_by_key(threads);
            deciding.extend(fullest.filter(|at| !deciding.contains(at)));
        }
        deciding
    }

    /// The level of cores of several CPUs.
    pub(crate) fn core(&self) -> Option<usize> {
        self.levels.iter().position(|level| level.is_called("core") && level.size > 1)
    }

    /// The most CPUs of a part of each level, from one CPU to all of them.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.levels.iter().map(|level| level.size)
    }

    /// Threads on these CPUs, by OS ids, a thread for each; CPUs that are not there count as CPUs of their own.
    pub fn seated(&self, cpus: &[u32]) -> Placed {
        let places: Vec<usize> = cpus.iter().filter_map(|cpu| self.places.get(cpu).copied()).collect();
        let counts: Vec<Vec<usize>> = self
            .levels
            .iter()
            .map(|level| {
                let mut counts = vec![0; level.of.iter().max().map_or(0, |most| most + 1)];
                places.iter().for_each(|at| counts[level.of[*at]] += 1);
                counts
            })
            .collect();
        let load = |at: usize| {
            let shared = self.levels.iter().zip(&counts);
            shared.map(|(level, counts)| counts[level.of[at]] as f64).collect::<Vec<f64>>()
        };
        let mut kinds: Vec<(Vec<f64>, usize)> = places.iter().map(|at| (load(*at), 1)).collect();
        let merge = |kinds: &mut Vec<(Vec<f64>, usize)>| {
            kinds.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                kept.1 += if is_same { next.1 } else { 0 };
                is_same
            });
        };
        // Neighbours meet the same as a rule.
        merge(&mut kinds);
        kinds.arrange_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
        merge(&mut kinds);
        if kinds.is_empty() {
            kinds.push((vec![1.0; self.levels.len()], cpus.len()));
        }
        let (loads, counts) = kinds.into_iter().unzip();
        Placed { threads: cpus.len(), loads, counts }
    }

    /// Threads placed on another machine, as if its parts were of this one, and whether that takes a part of more CPUs as able to do as much
    /// more.
    ///
    /// # Errors
    /// The kind of part that one of the two has and the other has not.
    pub fn adopted(&self, other: &Topology, placed: &Placed) -> Result<(Placed, bool), String> {
        let names = |level: &Level| level.also.iter().chain([&level.name]).cloned().collect::<Vec<String>>();
        let is_same = |own: &Level, there: &Level| names(own).iter().any(|name| there.is_called(name));
        let from = |own: &Level| match other.levels.iter().position(|there| is_same(own, there)) {
            Some(at) => Ok((at, own.size as f64 / other.levels[at].size as f64)),
            None => Err(own.part().to_owned()),
        };
        let levels: Vec<(usize, f64)> = self.levels.iter().map(from).collect::<Result<_, _>>()?;
        let is_known = |at: &usize| levels.iter().any(|(known, _)| known == at);
        if let Some(unknown) = (0..other.levels.len()).find(|at| !is_known(at)) {
            return Err(other.levels[unknown].part().to_owned());
        }
        let of_one = |own: &Vec<f64>| levels.iter().map(|(at, scale)| (own[*at] * scale).max(1.0)).collect();
        let loads = placed.loads.iter().map(of_one).collect();
        let is_scaled = levels.iter().any(|(_, scale)| (scale - 1.0).abs() > f64::EPSILON);
        Ok((Placed { threads: placed.threads, loads, counts: placed.counts.clone() }, is_scaled))
    }

    /// A thread on each CPU of a part.
    pub(crate) fn filled(&self, level: usize) -> Placed {
        let threads = self.levels[level].size;
        Placed::even(threads, self.sizes().map(|size| size.min(threads) as f64).collect())
    }

    /// Threads that the system places: taken as spread evenly.
    pub fn spread(&self, threads: usize) -> Placed {
        let all = self.cpus().max(1) as f64;
        let load = |level: &Level| (threads as f64 * level.size as f64 / all).max(1.0);
        Placed::even(threads, self.levels.iter().map(load).collect())
    }
}
