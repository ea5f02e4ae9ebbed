//! The laws: caps of the parts of a machine, and those of programs.

use crate::fitting::{Name, Prior, Set, fitted};
use crate::topology::{Placed, Topology};

/// The share of a part that a fitted point must have threads on, for the part to have a cap.
const LOADED: f64 = 0.5;
pub(crate) const LOADED_MACHINE: f64 = 0.75;
/// Sets of caps beyond this are not tried: levels of a machine are seven at most.
const MOST_LEVELS: usize = 7;
/// A set that weighs less adds nothing.
const LEAST_WEIGHT: f64 = 1e-4;

/// Every set of caps that the points can tell of, each with its weight; or of the sets that are known.
pub(crate) fn sets(topology: &Topology, points: &[&(Placed, f64)], known: Option<&[(f64, Set)]>) -> Vec<(f64, Set)> {
    let last = topology.levels.len() - 1;
    let is_loaded = |level: &usize| {
        let most = points.iter().map(|(placed, _)| placed.load(*level)).fold(0.0, f64::max);
        let share = if *level == last { LOADED_MACHINE } else { LOADED };
        most >= share * topology.levels[*level].size as f64 && most > 1.0
    };
    let candidates: Vec<usize> = (1..topology.levels.len()).filter(is_loaded).take(MOST_LEVELS).collect();
    let rate = points.iter().map(|(placed, value)| value / placed.threads as f64).fold(0.0, f64::max);
    let of_bits = |chosen: usize| {
        let own = candidates.iter().enumerate().filter(move |(at, _)| chosen >> at & 1 == 1);
        own.map(|(_, level)| *level).collect::<Vec<usize>>()
    };
    let chosen: Vec<Vec<usize>> = match known {
        Some(known) => known.iter().map(|(_, set)| set.caps()).collect(),
        None => (0..1 << candidates.len()).map(of_bits).collect(),
    };
    let found = chosen.into_iter().filter_map(|caps| {
        let mut priors = vec![Prior { name: Name::Thread, mean: rate.ln(), deviation: 1.0, starts: [rate.ln(); 2] }];
        priors.extend(caps.into_iter().map(|level| Prior {
            name: Name::Cap { level, size: topology.levels[level].size as f64 },
            // Between all that its CPUs could do, and a tenth of it.
            mean: -0.9,
            deviation: 0.9,
            starts: [-0.2, -1.4],
        }));
        // Roofs are sharp or soft: 3 to 12.
        priors.push(Prior { name: Name::Norm, mean: 6_f64.ln(), deviation: 0.5, starts: [6_f64.ln(), 4_f64.ln()] });
        fitted(caps_law, &priors, points)
    });
    weighed(found.collect())
}

/// The value of threads that share caps: their number times the rate of the slowest, since all have the same work.
fn caps_law(set: &Set, at: &[f64], placed: &Placed) -> f64 {
    let thread = at[0];
    let norm = at[at.len() - 1].clamp(0.0, 4.0).exp();
    let rate = |loads: &Vec<f64>| {
        let own = loads[0].max(1.0).ln() - thread;
        let caps = || {
            set.names.iter().zip(at).filter_map(|(name, found)| match name {
                Name::Cap { level, size } => Some((loads[*level] / size).ln() - (thread + found)),
                _ => None,
            })
        };
        // The norm over all roofs, in logarithms.
        let most = caps().fold(own, f64::max);
        let sum: f64 = caps().chain([own]).map(|one| (norm * (one - most)).exp()).sum();
        -(most + sum.ln() / norm)
    };
    (placed.threads as f64).ln() + placed.loads.iter().map(rate).fold(f64::INFINITY, f64::min)
}

/// Amdahl's law, or Gunther's.
pub(crate) fn law(points: &[&(Placed, f64)], waits: bool) -> Vec<(f64, Set)> {
    let rate = points.iter().map(|(placed, value)| value / placed.threads as f64).fold(0.0, f64::max);
    let small = |name| Prior { name, mean: -4.0, deviation: 2.5, starts: [-4.0, -7.0] };
    let mut priors =
        vec![Prior { name: Name::Thread, mean: rate.ln(), deviation: 1.0, starts: [rate.ln(); 2] }, small(Name::Alpha)];
    priors.extend(waits.then(|| small(Name::Beta)));
    weighed(fitted(law_of_programs, &priors, points).into_iter().collect())
}

fn law_of_programs(_: &Set, at: &[f64], placed: &Placed) -> f64 {
    let threads = placed.threads as f64;
    let beta = at.get(2).map_or(0.0, |beta| beta.exp());
    at[0] + threads.ln() - (1.0 + at[1].exp() * (threads - 1.0) + beta * threads * (threads - 1.0)).ln()
}

/// By evidence, together 1.
fn weighed(sets: Vec<Set>) -> Vec<(f64, Set)> {
    let most = sets.iter().map(|set| set.evidence).fold(f64::NEG_INFINITY, f64::max);
    let own: Vec<f64> = sets.iter().map(|set| (set.evidence - most).exp()).collect();
    let sum: f64 = own.iter().sum();
    let mut weighed: Vec<(f64, Set)> = own.into_iter().map(|one| one / sum).zip(sets).collect();
    weighed.retain(|(weight, _)| *weight >= LEAST_WEIGHT);
    let sum: f64 = weighed.iter().map(|(weight, _)| weight).sum();
    weighed.iter_mut().for_each(|(weight, _)| *weight /= sum);
    weighed
}
