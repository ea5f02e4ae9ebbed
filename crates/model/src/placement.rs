//! The laws: caps of the parts of a machine, and those of programs.

use crate::fitting::{Law, Name, Prior, Set, fitted, noise};
use crate::topology::{Placed, Topology};

/// The share of a part that a fitted point must have threads on, for the part to have a cap.
const LOADED: f64 = 0.5;
pub(crate) const LOADED_MACHINE: f64 = 0.75;
/// Sets of caps beyond this are not tried: levels of a machine are seven at most.
const MOST_LEVELS: usize = 7;
/// A set that weighs less adds nothing.
const LEAST_WEIGHT: f64 = 1e-4;

/// How sharp roofs are: the bandwidth of sockets from Sandy Bridge to Cascade Lake over their cores, measured with likwid-bench, wants 3 to 4
/// (machine files of RRZE-HPC/kerncraft), the T3-4's memory 12.
const NORM: f64 = 4.0;
/// That inside a core of more than two threads, whose units they share, and its deviation as a logarithm.
const NORM_OF_CORE: (f64, f64) = (2.0, 0.7);
/// That inside a core of two: one says what a thread does, and two what the core does.
const NORM_OF_PAIR: (f64, f64) = (16.0, 0.05);

/// That its cap is there: 227 of 229 tables of those machine files have it, by one and by two threads per core.
const ODDS_OF_PAIR: f64 = 20.0;

/// Every set of caps that the points can tell of, each with its weight; or of the sets that are known.
pub(crate) fn sets(
    law: Law,
    topology: &Topology,
    points: &[&(Placed, f64)],
    known: Option<&[(f64, Set)]>,
) -> Vec<(f64, Set)> {
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
    let chosen: Vec<(Vec<usize>, Option<&Set>)> = match known {
        Some(known) => known.iter().map(|(_, set)| (set.caps(), Some(set))).collect(),
        None => (0..1 << candidates.len()).map(|bits| (of_bits(bits), None)).collect(),
    };
    let (noise, core) = (noise(points), topology.core());
    let is_pair = core.is_some_and(|level| topology.levels[level].size == 2);
    let (norm, deviation) = if is_pair { NORM_OF_PAIR } else { NORM_OF_CORE };
    let found = chosen.into_iter().filter_map(|(caps, known)| {
        let mut priors = vec![Prior { name: Name::Thread, mean: rate.ln(), deviation: 1.0, starts: [rate.ln(); 2] }];
        let inside = caps.iter().filter(|level| Some(**level) <= core).count();
        priors.extend(caps.into_iter().map(|level| Prior {
            name: Name::Cap { level, size: topology.levels[level].size as f64 },
            // Between all that its CPUs could do, and a tenth of it.
            mean: -0.9,
            deviation: 0.9,
            starts: [-0.2, -1.4],
        }));
        priors.push(Prior { name: Name::Norm, mean: NORM.ln(), deviation: 0.5, starts: [NORM.ln(), 6_f64.ln()] });
        priors.extend((inside > 0).then_some(Prior {
            name: Name::NormOfCore { roofs: 1 + inside },
            mean: norm.ln(),
            deviation,
            starts: [norm, norm.max(NORM)].map(f64::ln),
        }));
        let mut set = fitted(law, &priors, noise, known, points)?;
        set.evidence += if is_pair && inside > 0 { ODDS_OF_PAIR.ln() } else { 0.0 };
        Some(set)
    });
    weighed(found.collect())
}

/// The value of threads that share caps: their number times the rate of the slowest, where all have the same work.
pub(crate) fn equal_work(names: &[Name], at: &[f64], placed: &Placed) -> (f64, Vec<f64>) {
    let slowest = |one: &(f64, Vec<f64>), other: &(f64, Vec<f64>)| one.0.total_cmp(&other.0);
    let (rate, slopes) = rates(names, at, placed).min_by(slowest).unwrap_or_default();
    ((placed.threads as f64).ln() + rate, slopes)
}

/// Their number times the mean rate, where the faster ones take more of the work.
pub(crate) fn shared_work(names: &[Name], at: &[f64], placed: &Placed) -> (f64, Vec<f64>) {
    let (mut all, mut sum, mut slopes) = (0.0, 0.0, vec![0.0; at.len()]);
    for ((rate, own), count) in rates(names, at, placed).zip(&placed.counts) {
        let value = *count as f64 * rate.exp();
        (all, sum) = (all + *count as f64, sum + value);
        slopes.iter_mut().zip(own).for_each(|(slope, own)| *slope += value * own);
    }
    slopes.iter_mut().for_each(|slope| *slope /= sum);
    (((placed.threads as f64) * sum / all).ln(), slopes)
}

/// The logarithm of a thread's rate at each of its places, with the slopes.
fn rates(names: &[Name], at: &[f64], placed: &Placed) -> impl Iterator<Item = (f64, Vec<f64>)> {
    let (thread, last) = (at[0], at.len() - 1);
    // A thread alone is all of its core where that has no norm of its own.
    let (inside, norm) = match names[last] {
        Name::NormOfCore { roofs } => (roofs, last - 1),
        _ => (1, last),
    };
    // The roofs in logarithms: that of a thread itself, those of the parts of its core, and the others.
    placed.loads.iter().map(move |loads| {
        let roof = |(name, found): (&Name, &f64)| match name {
            Name::Cap { level, size } => (loads[*level] / size).ln() - (thread + found),
            _ => loads[0].max(1.0).ln() - thread,
        };
        let roofs: Vec<f64> = names.iter().zip(at).take(norm).map(roof).collect();
        let (core, of_core, bend_of_core) = joined(&roofs[..inside], at[last]);
        let (slowness, shares, bend) = joined(&[&[core], &roofs[inside..]].concat(), at[norm]);
        let mut slopes: Vec<f64> =
            of_core.iter().map(|own| own * shares[0]).chain(shares[1..].iter().copied()).collect();
        slopes[0] = 1.0;
        slopes.push(bend);
        slopes.extend((norm < last).then_some(bend_of_core * shares[0]));
        (-slowness, slopes)
    })
}

/// The norm over roofs, how much of it each makes, and by how much it falls with the norm's logarithm.
fn joined(roofs: &[f64], norm: f64) -> (f64, Vec<f64>, f64) {
    let power = norm.clamp(0.0, 4.0).exp();
    let most = roofs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = roofs.iter().map(|roof| (power * (roof - most)).exp()).sum();
    let all = most + sum.ln() / power;
    let shares: Vec<f64> = roofs.iter().map(|roof| (power * (roof - all)).exp()).collect();
    let mean: f64 = shares.iter().zip(roofs).map(|(share, roof)| share * roof).sum();
    (all, shares, if (0.0..=4.0).contains(&norm) { all - mean } else { 0.0 })
}

/// Amdahl's law, or Gunther's.
pub(crate) fn law(points: &[&(Placed, f64)], known: Option<&[(f64, Set)]>, waits: bool) -> Vec<(f64, Set)> {
    let rate = points.iter().map(|(placed, value)| value / placed.threads as f64).fold(0.0, f64::max);
    let small = |name| Prior { name, mean: -4.0, deviation: 2.5, starts: [-4.0, -7.0] };
    let mut priors =
        vec![Prior { name: Name::Thread, mean: rate.ln(), deviation: 1.0, starts: [rate.ln(); 2] }, small(Name::Alpha)];
    priors.extend(waits.then(|| small(Name::Beta)));
    let known = known.and_then(|known| known.first()).map(|(_, set)| set);
    weighed(fitted(law_of_programs, &priors, noise(points), known, points).into_iter().collect())
}

fn law_of_programs(_: &[Name], at: &[f64], placed: &Placed) -> (f64, Vec<f64>) {
    let threads = placed.threads as f64;
    // What each parameter adds to the time of a thread.
    let more = [threads - 1.0, threads * (threads - 1.0)];
    let lost: Vec<f64> = at[1..].iter().zip(more).map(|(found, more)| found.exp() * more).collect();
    let time = 1.0 + lost.iter().sum::<f64>();
    (at[0] + threads.ln() - time.ln(), [1.0].into_iter().chain(lost.iter().map(|lost| -lost / time)).collect())
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
