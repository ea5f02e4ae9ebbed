//! A machine in memory: what its strands would measure, with noise as in reports.

use std::collections::BTreeMap;
use std::time::Duration;

use charz_data::machine::{
    AluSource, Cache, CacheHolds, Core as ClaimedCore, Kind, Machine, NumaNode, Package, Strand, Usable,
};
use fastrand::Rng;

use crate::{Lab, Probe, Round};

/// A core: where it is, and the sizes of its ALU groups.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) package: u32,
    pub(super) node: u32,
    pub(super) l3: u32,
    pub(super) l2: u32,
    pub(super) kind: u32,
    pub(super) groups: Vec<u32>,
}

impl Core {
    /// A core for each of its strands.
    pub(super) fn apart(&self) -> Vec<Core> {
        let strands: u32 = self.groups.iter().sum();
        (0..strands).map(|_| Core { groups: vec![1], ..self.clone() }).collect()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Truth {
    pub(super) cores: Vec<Core>,
}

pub(super) fn cores(count: u32, core: impl Fn(u32) -> Core) -> Truth {
    Truth { cores: (0..count).map(core).collect() }
}

/// Where a strand is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    core: usize,
    group: usize,
}

impl Truth {
    pub(super) fn strands(&self) -> usize {
        self.places().len()
    }

    fn places(&self) -> Vec<Place> {
        let of = |(core, spec): (usize, &Core)| {
            let sizes: Vec<u32> = spec.groups.clone();
            let places: Vec<Place> = sizes
                .into_iter()
                .enumerate()
                .flat_map(|(group, size)| (0..size).map(move |_| Place { core, group }))
                .collect();
            places
        };
        self.cores.iter().enumerate().flat_map(of).collect()
    }

    /// The description that an honest system gives: without ALU groups, and OS ids in logical order.
    pub(super) fn claim(&self) -> Machine {
        let count = |number: fn(&Core) -> u32| self.cores.iter().map(number).max().unwrap_or(0) + 1;
        let (packages, nodes) = (count(|core| core.package), count(|core| core.node));
        let (l3, l2) = (count(|core| core.l3), count(|core| core.l2));
        let width = |core: &Core| core.groups.iter().sum::<u32>();
        let in_part =
            |part: &dyn Fn(&Core) -> bool| self.cores.iter().filter(|core| part(core)).map(width).sum::<u32>();
        let cache = |level, index, size_bytes, strands| Cache {
            level,
            holds: CacheHolds::Unified,
            index,
            size_bytes: Some(size_bytes),
            line_bytes: Some(64),
            ways: Some(8),
            inclusive: None,
            strands,
        };
        let mut caches: Vec<Cache> = (0..l3).map(|at| cache(3, at, 32 << 20, in_part(&|core| core.l3 == at))).collect();
        caches.extend((0..l2).map(|at| cache(2, at, L2, in_part(&|core| core.l2 == at))));
        let mut ranks: BTreeMap<usize, u32> = BTreeMap::new();
        let strand = |(os_id, place): (u32, Place)| {
            let rank = ranks.entry(place.core).or_default();
            let own = *rank;
            *rank += 1;
            let core = &self.cores[place.core];
            Strand {
                os_id,
                package: Some(core.package),
                numa: Some(core.node),
                core: Some(place.core as u32),
                alu: 0,
                slot: own,
                strand_in_core: own,
                kind: Some(core.kind),
                numa_nodes: vec![core.node],
                caches: vec![l3 + core.l2, core.l3],
                groups: Vec::new(),
                usable: true,
            }
        };
        let strands: Vec<Strand> = (0..).zip(self.places()).map(strand).collect();
        Machine {
            source: "model".into(),
            name: None,
            usable: Usable::everything(strands.len()),
            cores: self.cores.iter().map(|core| ClaimedCore { os_id: None, strands: width(core) }).collect(),
            packages: (0..packages)
                .map(|at| Package { os_id: Some(at), model: None, strands: in_part(&|core| core.package == at) })
                .collect(),
            numa_nodes: (0..nodes)
                .map(|at| NumaNode {
                    os_id: Some(at),
                    subtype: None,
                    memory_bytes: Some(1 << 34),
                    memory_side_cache_bytes: None,
                    tier: None,
                    strands: in_part(&|core| core.node == at),
                    usable: true,
                })
                .collect(),
            numa_distances: Vec::new(),
            devices: Vec::new(),
            caches,
            groups: Vec::new(),
            kinds: (0..count(|core| core.kind))
                .map(|at| Kind {
                    speed_rank: Some(at),
                    how_known: "model".into(),
                    infos: Vec::new(),
                    strands: in_part(&|core| core.kind == at),
                })
                .collect(),
            alu: AluSource::Assumed,
            absent: Vec::new(),
            strands,
            doubts: Vec::new(),
        }
    }

    /// The claim with the ids of two strands swapped whose places are different ones.
    pub(super) fn swapped_claim(&self, random: &mut Rng) -> Machine {
        let mut claim = self.claim();
        let places = self.places();
        loop {
            let (a, b) = (random.usize(..places.len()), random.usize(..places.len()));
            let [one, other] = [a, b].map(|at| &self.cores[places[at].core]);
            let lone = |core: &Core| core.groups.iter().sum::<u32>() == 1;
            let shared_l2 = |own: &Core| self.cores.iter().filter(|core| core.l2 == own.l2).count() > 1;
            let same_around = one.l3 == other.l3 && one.kind == other.kind && one.package == other.package;
            let same_l2 = one.l2 == other.l2 || !(shared_l2(one) || shared_l2(other));
            let same = places[a].core == places[b].core || (lone(one) && lone(other) && same_around && same_l2);
            if !same {
                (claim.strands[a].os_id, claim.strands[b].os_id) = (claim.strands[b].os_id, claim.strands[a].os_id);
                return claim;
            }
        }
    }
}

const L2: u64 = 2 << 20;

/// The truth, noise, and how long the rounds would take.
pub(super) struct Model<'a> {
    truth: &'a Truth,
    places: Vec<Place>,
    random: Rng,
    /// The standard deviation of a number, as a fraction.
    pub(super) noise: f64,
    /// The probability that a number is slower by 5% to 40%.
    pub(super) outliers: f64,
    /// A strand on which something else runs all the time.
    bad: usize,
    pub(super) took: Duration,
    pub(super) rounds_left: u64,
}

impl<'a> Model<'a> {
    /// With the noise of reports: the spread of numbers is 0.3% to 2%, some are disturbed, and so is one strand all the time.
    pub(super) fn new(truth: &'a Truth, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let places = truth.places();
        Model {
            truth,
            noise: 0.003 + 0.017 * random.f64(),
            outliers: 0.03,
            bad: random.usize(..places.len()),
            places,
            random,
            took: Duration::ZERO,
            rounds_left: u64::MAX,
        }
    }

    fn core(&self, strand: u32) -> &Core {
        &self.truth.cores[self.places[strand as usize].core]
    }

    /// The time of a strand in a round, without noise.
    fn time(&self, round: &Round, rank: usize) -> f64 {
        let strand = round.strands[rank];
        let (place, core) = (self.places[strand as usize], self.core(strand));
        let others = || round.strands.iter().filter(|other| **other != strand);
        let in_core = others().filter(|other| self.places[**other as usize].core == place.core).count() as f64;
        let in_group = others().filter(|other| self.places[**other as usize] == place).count() as f64;
        let pace = 1.0 + 0.7 * f64::from(u8::from(core.kind == 0 && self.truth.cores.iter().any(|core| core.kind > 0)));
        match round.probe {
            Probe::Integer => pace * (1.0 + 0.8 * in_group),
            Probe::Float => pace * (1.0 + 0.75 * in_core),
            Probe::Loads => pace * (1.0 + 0.7 * in_core),
            Probe::Chain => pace * (1.0 + 0.03 * in_core),
            Probe::Cache(bytes) => {
                let sharers = others().filter(|other| self.core(**other).l2 == core.l2).count() as u64;
                if (1 + sharers) * bytes > L2 { 1.9 } else { 1.0 }
            }
            Probe::Transfer => {
                let other = self.core(*others().next().expect("a transfer has two"));
                match (core.l2 == other.l2, core.l3 == other.l3, core.package == other.package) {
                    (true, true, true) => 30.0,
                    (_, true, true) => 34.0 + 8.0 * self.places[strand as usize].core.rem_euclid(3) as f64 / 3.0,
                    (_, _, true) => 90.0,
                    _ => 170.0,
                }
            }
            Probe::Memory => match round.nodes.get(rank) {
                Some(node) if *node != core.node => 165.0,
                _ => 100.0,
            },
        }
    }
}

impl Lab for Model<'_> {
    fn measure(&mut self, round: &Round) -> Option<Vec<Option<f64>>> {
        self.rounds_left = self.rounds_left.checked_sub(1)?;
        // What this takes on the machine that charz was made on, and the creation of threads.
        let base = match round.probe {
            Probe::Transfer => 30,
            Probe::Memory => 600,
            _ => 80,
        };
        self.took += Duration::from_millis(base) + Duration::from_micros(150) * round.strands.len() as u32;
        // The more strands are at work, the lower is the clock.
        let clock = 1.0 + 0.1 * round.strands.len() as f64 / self.places.len() as f64;
        let numbers = (0..round.strands.len()).map(|rank| {
            let normal = (0..12).map(|_| self.random.f64()).sum::<f64>() - 6.0;
            let outlier = if self.random.f64() < self.outliers { 1.05 + 0.35 * self.random.f64() } else { 1.0 };
            let bad = if round.strands[rank] as usize == self.bad { 1.3 } else { 1.0 };
            let time = self.time(round, rank) * clock * outlier * bad * (1.0 + self.noise * normal).max(0.1);
            Some(match round.probe {
                Probe::Transfer | Probe::Memory => time,
                _ => 1e9 / time,
            })
        });
        Some(numbers.collect())
    }
}
