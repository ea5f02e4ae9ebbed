#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod explore;
mod fitting;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod intervals;
mod judged;
mod placement;
#[cfg(test)]
mod tests;
mod topology;

use charz_data::Arrange;
use serde::Serialize;

use fitting::{NOISE, Set};
use intervals::{ELSEWHERE, FAR, HALF};
use judged::{FEW, judged};
pub use judged::{Missed, missed};
use placement::{LOADED_MACHINE, equal_work, shared_work};
pub use topology::{Placed, Topology};

/// What was measured: rates, of which more is better.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Points that may be fitted.
    pub fitted: Vec<(Placed, f64)>,
    /// Points that are not fitted, and show whether the model predicts.
    pub held_back: Vec<(Placed, f64)>,
}

impl Table {
    /// Whether a fitted point is at these places.
    pub fn knows(&self, placed: &Placed) -> bool {
        self.fitted.iter().any(|(own, _)| own == placed)
    }

    /// The points that were held back and can check a fit: a place that was fitted under another name checks nothing.
    pub fn unseen(&self, topology: &Topology) -> impl Iterator<Item = &(Placed, f64)> {
        let is_new = |(placed, _): &&(Placed, f64)| !self.knows(placed);
        self.held_back.iter().filter(|(placed, _)| topology.holds(placed)).filter(is_new)
    }
}

/// What came of fitting.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A model.
    Model(Model),
    /// Why there is none.
    None(NoModel),
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoModel {
    /// The machine has several kinds of core, or cores with different numbers of CPUs.
    SeveralKinds,
    /// With fewer than three CPUs every number of threads can be measured.
    FewCpus,
    /// Fewer than the three placements that are needed.
    FewPlacements {
        /// How many were measured.
        placements: usize,
        /// Whether others have several threads on a CPU.
        others_share: bool,
    },
    /// Values of one placement differ by more than noise.
    Contradiction {
        /// The standard deviation, as a fraction.
        deviation: f64,
    },
    /// No fit converges.
    NoFit,
    /// A model misses what it was fitted to.
    Misfit {
        /// Its name.
        model: &'static str,
        /// By how much in the mean, as a fraction.
        mean: f64,
    },
    /// A model misses points that were not fitted.
    Misses {
        /// Its name.
        model: &'static str,
        /// How many they are.
        points: usize,
        /// By how much in the mean, as a fraction.
        mean: f64,
        /// By how much interpolation misses them.
        interpolation: f64,
        /// The mean that it is allowed where it is not twice as good as interpolation; null where it misses too much by itself.
        good: Option<f64>,
    },
}

/// A model that predicts.
#[derive(Clone, Debug)]
pub struct Model {
    /// `placement`, `amdahl` or `usl`.
    pub name: &'static str,
    /// Whether threads at faster places take more of the work, as points of unevenly filled parts show; else all have the same.
    pub shares_work: bool,
    sets: Vec<Weighed>,
    /// The standard deviation of a point, as a logarithm.
    noise: f64,
    levels: Vec<String>,
    /// What was fitted.
    known: Vec<(Placed, f64)>,
    /// The levels whose parts some point that was fitted, or has checked it, fills unevenly.
    uneven: Vec<usize>,
    /// A thread on each CPU.
    full: Placed,
    /// Other models that explain the same points, and differ at parts that none of these has.
    rivals: Box<[Model]>,
    /// By how many of their half widths intervals are too wide or too narrow, as points show that it was not fitted to.
    width: f64,
    /// The points that would settle it and are not among those that were fitted.
    pub missing: Vec<Missing>,
    /// How many points that it was not fitted to have checked it.
    pub checked: usize,
    /// By how much it misses fitted points in the mean, each left out once; `None` where points were held back, or too few to leave one out.
    pub left_out: Option<f64>,
}

/// A point that would settle a model, and was not fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// One thread alone.
    Thread,
    /// A thread on each CPU of a part of this name, such as `core`, `socket` or `machine`.
    Full(String),
}

/// A predicted value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// In the unit of the table.
    pub value: f64,
    /// Where the value lies, with 90% confidence: never above what so many threads can do alone, nor below what as many did that were
    /// part of more and nowhere shared less. Beyond what was fitted it reaches down to the most that was measured with as many threads or
    /// fewer, or their share of it where these had more parts of the machine: what caps the others is not known there. Where all fitted
    /// threads share more, it reaches up to what more of them did at the same parts, or the full machine does, or to as many times the least
    /// that was measured.
    pub interval: [f64; 2],
    /// How many times more, or fewer, threads share a part of the machine than in the fitted points that say what it can do, or how many
    /// times more parts they have; 1 within them.
    pub distance: f64,
}

/// A parameter of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// `core` for the most that a core can do; `p`, `p of a core`, `alpha`, `beta`.
    pub name: String,
    /// A cap in the unit of the table; others have none.
    pub value: f64,
    /// How probable it is that there is such a cap, from 0 to 1.
    pub weight: f64,
}

/// Where equal work misses them by less, no shared work is fitted.
const MET: f64 = 0.02;
/// By how much repeated points may differ, as logarithms: more is no noise.
const CONTRADICTION: f64 = 0.2;
/// The fewest points for a law of programs, and where enough others judge it.
const LAWS: usize = 5;
const LAWS_JUDGED: usize = 4;

/// Fits all that the points can tell, and says whether it predicts.
pub fn fit(topology: &Topology, table: &Table) -> Outcome {
    if topology.has_kinds() {
        return Outcome::None(NoModel::SeveralKinds);
    }
    // Beyond a thread per CPU no model of places says anything.
    let usable = |(placed, value): &&(Placed, f64)| topology.holds(placed) && value.is_finite() && *value > 0.0;
    let fitted: Vec<&(Placed, f64)> = table.fitted.iter().filter(usable).collect();
    // A copy of a point judges no more than the point.
    let unseen = fitting::averaged(&table.unseen(topology).filter(usable).collect::<Vec<_>>());
    let held_back: Vec<&(Placed, f64)> = unseen.iter().collect();
    let placements = fitting::averaged(&fitted).len();
    if topology.cpus() < 3 {
        return Outcome::None(NoModel::FewCpus);
    }
    if placements < 3 {
        let others_share = fitted.len() < table.fitted.len();
        return Outcome::None(NoModel::FewPlacements { placements, others_share });
    }
    // Points that are held back are not fitted, but they contradict what is.
    let repeated = fitting::repeated(&table.fitted.iter().chain(&table.held_back).filter(usable).collect::<Vec<_>>());
    if repeated > CONTRADICTION {
        return Outcome::None(NoModel::Contradiction { deviation: repeated.exp_m1() });
    }
    let mut why = None;
    let mut best: Option<(f64, Model)> = None;
    let mut rivals: Vec<(f64, Model)> = Vec::new();
    let is_even = unevenly(&[&fitted[..], &held_back].concat()).is_empty();
    let laws = if held_back.len() < FEW { LAWS } else { LAWS_JUDGED };
    for family in FAMILIES {
        // Parts that are filled evenly do the same either way, and what misses little needs no other.
        let is_met = || is_even || best.as_ref().is_some_and(|(error, _)| *error < MET);
        if family.shares_work && is_met() {
            continue;
        }
        // With fewer points a law is not chosen, but may be what limits them.
        let is_chosen = |error: f64| {
            let is_better = best.as_ref().is_none_or(|(least, _)| error < least * BETTER);
            is_better && (family.name == "placement" || placements >= laws)
        };
        let Some(mut model) = family.fit(topology, &fitted, None) else { continue };
        match judged(&mut model, family, topology, &fitted, &held_back) {
            Ok(error) if is_chosen(error) => rivals.extend(best.replace((error, model))),
            Ok(error) => rivals.push((error, model)),
            Err(own) => why = why.or(Some(own)),
        }
    }
    match best {
        Some((least, mut model)) => {
            let is_like = |(error, rival): &(f64, Model)| rival.name != model.name && error * BETTER < least.max(NOISE);
            model.rivals = rivals.into_iter().filter(is_like).map(|(_, rival)| rival).collect();
            Outcome::Model(model)
        }
        None => Outcome::None(why.unwrap_or(NoModel::NoFit)),
    }
}

/// By how much a law of programs must be better than the model of placement, which says where.
const BETTER: f64 = 0.7;

/// A set with its weight.
type Weighed = (f64, Set);

/// Placements with their values.
type Points<'a> = [&'a (Placed, f64)];

/// A family of models.
struct Family {
    name: &'static str,
    shares_work: bool,
    /// Of all sets of caps, or of those that were known before.
    fit: fn(&Topology, &Points<'_>, Option<&[Weighed]>) -> Vec<Weighed>,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "placement",
        shares_work: false,
        fit: |of, points, known| placement::sets(equal_work, of, points, known),
    },
    Family {
        name: "placement",
        shares_work: true,
        fit: |of, points, known| placement::sets(shared_work, of, points, known),
    },
    Family { name: "amdahl", shares_work: false, fit: |_, points, known| placement::law(points, known, false) },
    Family { name: "usl", shares_work: false, fit: |_, points, known| placement::law(points, known, true) },
];

impl Family {
    fn fit(&self, topology: &Topology, points: &[&(Placed, f64)], known: Option<&[Weighed]>) -> Option<Model> {
        let sets = (self.fit)(topology, points, known);
        let noise = sets.iter().map(|(weight, set)| weight * set.noise).sum::<f64>();
        let levels = topology.levels.iter().map(|level| level.part().to_owned()).collect();
        let known = points.iter().map(|point| (*point).clone()).collect();
        let uneven = unevenly(points);
        let full = topology.filled(topology.levels.len() - 1);
        let missing = missing(topology, points);
        let (name, shares_work) = (self.name, self.shares_work);
        let (rivals, left_out) = (Box::new([]), None);
        let model = Model {
            name,
            shares_work,
            sets,
            noise,
            levels,
            known,
            uneven,
            full,
            rivals,
            width: 1.0,
            missing,
            checked: 0,
            left_out,
        };
        (!model.sets.is_empty()).then_some(model)
    }
}

/// Which of one thread, a core, the largest part, and the machine full no point has. What fills a part and nearly all of the machine says nothing of
/// the part.
fn missing(topology: &Topology, points: &Points<'_>) -> Vec<Missing> {
    let last = topology.levels.len() - 1;
    let is_full = |level: usize| {
        let size = topology.levels[level].size as f64;
        let room = if level == last { size } else { LOADED_MACHINE * topology.levels[last].size as f64 };
        points.iter().any(|(own, _)| own.load(level) >= size && own.load(last) <= room)
    };
    let outer = last.checked_sub(1).filter(|level| *level > 0 && Some(*level) != topology.core());
    let parts = topology.core().filter(|level| *level < last).into_iter().chain(outer).chain([last]);
    let is_alone = points.iter().any(|(own, _)| own.threads == 1);
    let parts =
        parts.filter(|level| !is_full(*level)).map(|level| Missing::Full(topology.levels[level].part().to_owned()));
    (!is_alone).then_some(Missing::Thread).into_iter().chain(parts).collect()
}

/// The levels whose parts some point fills unevenly.
fn unevenly(points: &Points<'_>) -> Vec<usize> {
    let mut levels: Vec<usize> = points.iter().flat_map(|(placed, _)| placed.uneven()).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

impl Model {
    /// The value of threads at these places.
    pub fn predict(&self, placed: &Placed) -> Prediction {
        let (mut own, is_law, wider) = (self.by_fit(placed), self.name != "placement", self.wider(placed));
        if wider <= FAR || !is_law && self.rivals.is_empty() {
            return own;
        }
        // A part may have limited what was fitted, or the program itself: on more parts threads then do as many times as much, or no more.
        let rivals = self.rivals.iter().map(|rival| rival.by_fit(placed).interval);
        let each = is_law.then(|| self.by_fit(&placed.divided(wider)).interval.map(|end| end * wider));
        for [low, high] in rivals.chain(each) {
            own.interval = [own.interval[0].min(low), own.interval[1].max(high)];
        }
        Prediction { distance: own.distance.max(wider), ..own }
    }

    /// The value of threads at these places, of a mapping of which some point was measured or none: then data that are near to some CPUs only, or
    /// parts that the topology has not, may make it differ from all that was.
    pub fn predict_under(&self, is_measured: bool, placed: &Placed) -> Prediction {
        let own = self.predict(placed);
        if is_measured {
            return own;
        }
        let alone: f64 = self.sets.iter().map(|(weight, set)| weight * set.thread()).sum();
        let most = (placed.threads as f64) * (alone + HALF * self.noise).exp();
        let [low, high] = [-ELSEWHERE, ELSEWHERE].map(|end| own.value * end.exp());
        Prediction { interval: [own.interval[0].min(low), own.interval[1].max(high.min(most))], ..own }
    }

    /// The most threads that were fitted.
    pub fn threads(&self) -> usize {
        self.known.iter().map(|(placed, _)| placed.threads).max().unwrap_or(0)
    }

    /// The most that a thread does, and each kind of part that does less than those inside it: the upper ends of intervals, by name.
    pub fn most(&self, topology: &Topology) -> Vec<(String, f64)> {
        let has_cap = |level: usize| self.sets.iter().any(|(_, set)| set.caps().contains(&level));
        let mut most: Vec<(String, f64)> = Vec::new();
        let mut of_cpu = f64::INFINITY;
        for level in (0..self.levels.len()).filter(|level| *level == 0 || has_cap(*level)) {
            let full = topology.filled(level);
            let Prediction { value, interval: [_, high], .. } = self.predict(&full);
            if high < of_cpu * full.threads as f64 {
                of_cpu = value / full.threads as f64;
                most.push((if level == 0 { "thread".into() } else { self.levels[level].clone() }, high));
            }
        }
        // Each has an interval of its own, and no part does more than the one around it.
        for inner in (1..most.len()).rev() {
            most[inner - 1].1 = most[inner - 1].1.min(most[inner].1);
        }
        most
    }

    /// What it is made of: caps as their means over the sets that have them.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut all: Vec<(String, f64, f64)> = Vec::new();
        for (weight, set) in &self.sets {
            for (name, log) in set.parameters(&self.levels) {
                match all.iter_mut().find(|(known, ..)| *known == name) {
                    Some((_, sum, of)) => (*sum, *of) = (*sum + weight * log, *of + weight),
                    None => all.push((name, weight * log, *weight)),
                }
            }
        }
        let place = |name: &str| {
            self.levels
                .iter()
                .position(|level| level == name)
                .map_or(usize::from(name != "thread") * usize::MAX, |at| at + 1)
        };
        all.arrange_by_key(|(name, ..)| place(name));
        all.into_iter().map(|(name, sum, weight)| Parameter { name, value: (sum / weight).exp(), weight }).collect()
    }
}
