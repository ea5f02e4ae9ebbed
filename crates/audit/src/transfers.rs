//! The last level of caches, and packages, by the time in which a line goes from a core to another.

use std::collections::{BTreeMap, BTreeSet};

use super::caches::{Pair, across, cache_of, last_level, ring};
use super::cores::Cores;
use super::design::ordered;
use super::layout::{Latencies, layout, limit};
use super::relation::{Evidence, Figure, Kind, Reason, Relation, confidence};
use super::{Bench, Probe, median};

/// How close to the limit between the classes a time decides nothing, as a fraction.
const UNDECIDED: f64 = 0.07;
/// Within one cache a line takes less than this share of a load from memory; where nothing farther is claimed, that is the reference.
const OF_MEMORY: f64 = 0.5;
/// Further measurements of a time on the wrong side of the limit.
const AGAIN: usize = 2;
/// How often a transfer that was disturbed is tried.
const ATTEMPTS: usize = 4;
/// Of up to so many CPUs that are claimed to share one cache, all pairs are measured: 276, in some 8 s.
const FEW: usize = 24;
/// The noise of a time that was measured once, as a fraction.
const NOISE: f64 = 0.02;

/// Times of pairs, each measured once unless it is in doubt.
#[derive(Default)]
struct Times(BTreeMap<Pair, Vec<f64>>);

impl Times {
    fn measure(&mut self, bench: &mut Bench<'_>, (a, b): Pair) {
        let undisturbed =
            (0..ATTEMPTS).find_map(|_| bench.measure(Probe::Transfer, &[a, b]).first().copied().flatten());
        self.0.entry((a, b)).or_default().extend(undisturbed);
    }

    /// The shortest: what disturbs a transfer makes it longer.
    fn of(&self, pair: &Pair) -> Option<f64> {
        self.0.get(pair)?.iter().copied().min_by(f64::total_cmp)
    }

    fn typical(&self, pairs: &[Pair]) -> Option<f64> {
        median(pairs.iter().filter_map(|pair| self.of(pair)))
    }
}

pub(super) fn measure(bench: &mut Bench<'_>, cores: &Cores) -> Vec<Relation> {
    let representatives = cores.representatives();
    let level = last_level(bench);
    let mut of_cache: BTreeMap<(Option<u32>, u32), Vec<usize>> = BTreeMap::new();
    let mut of_package: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    for strand in &representatives {
        let package = bench.strands[*strand].package;
        if let Some((index, _)) = cache_of(bench, *strand, level) {
            of_cache.entry((package, index)).or_default().push(*strand);
        }
        of_package.entry(package).or_default().push(*strand);
    }
    let shared = of_cache.values().any(|strands| strands.len() > 1);
    let mut times = Times::default();
    let mut relations = Vec::new();
    let mut in_package = Vec::new();
    if shared {
        let near: Vec<Pair> = of_cache.values().flat_map(|strands| ring(strands)).collect();
        let mut of_packages: BTreeMap<Option<u32>, Vec<Vec<usize>>> = BTreeMap::new();
        for ((package, _), strands) in &of_cache {
            of_packages.entry(*package).or_default().push(strands.clone());
        }
        in_package = of_packages.values().flat_map(|caches| across(caches)).collect();
        let far = match in_package.is_empty() {
            true => across(&of_cache.values().cloned().collect::<Vec<_>>()),
            false => in_package.clone(),
        };
        relations.extend(classify(bench, &mut times, Kind::Cache(level), &near, &far));
    }
    if of_package.len() > 1 {
        let groups: Vec<Vec<usize>> = match (shared, in_package.is_empty()) {
            // A strand of each cache stands for those of its cache.
            (true, false) => firsts(&of_cache),
            _ => of_package.into_values().collect(),
        };
        let near: Vec<Pair> = groups.iter().flat_map(|strands| ring(strands)).collect();
        relations.extend(classify(bench, &mut times, Kind::Package, &near, &across(&groups)));
    }
    relations
}

/// The first strand of each cache, by package.
fn firsts(of_cache: &BTreeMap<(Option<u32>, u32), Vec<usize>>) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    for ((package, _), strands) in of_cache {
        groups.entry(*package).or_default().push(strands[0]);
    }
    groups.into_values().collect()
}

/// Where times of pairs that share something end, and those of pairs that do not begin.
enum Limit {
    /// Both classes were seen, and differ.
    Between(f64),
    /// No pair is claimed to be apart: the time of a load from memory is the reference.
    Memory(f64),
    None(Reason),
}

fn classify(bench: &mut Bench<'_>, times: &mut Times, kind: Kind, near: &[Pair], far: &[Pair]) -> Vec<Relation> {
    let pairs = || near.iter().chain(far).copied();
    for pair in pairs() {
        if !times.0.contains_key(&pair) {
            times.measure(bench, pair);
        }
    }
    let limit = match (times.typical(near), times.typical(far)) {
        (Some(near), Some(far)) => limit(near, far).map_or(Limit::None(Reason::AsLong), Limit::Between),
        (Some(_), None) => shown_limit(bench, times, kind, near).map_or_else(
            || {
                let first = near[0].0;
                let memory = median((0..AGAIN).filter_map(|_| bench.measure(Probe::Memory, &[first]).pop().flatten()));
                memory.map_or(Limit::None(Reason::MemoryUnknown), |ns| Limit::Memory(ns * OF_MEMORY))
            },
            Limit::Between,
        ),
        (None, Some(_)) => Limit::None(Reason::NoneShares),
        (None, None) => Limit::None(Reason::NotMeasured),
    };
    let on_wrong_side = |times: &Times, pair: &Pair, claimed: bool| match limit {
        Limit::Between(limit) => times.of(pair).is_some_and(|ns| (ns < limit) != claimed),
        _ => false,
    };
    let claims: Vec<(Pair, bool)> =
        near.iter().map(|pair| (*pair, true)).chain(far.iter().map(|pair| (*pair, false))).collect();
    for (pair, claimed) in &claims {
        if on_wrong_side(times, pair, *claimed) {
            (0..AGAIN).for_each(|_| times.measure(bench, *pair));
        }
    }
    claims.iter().map(|(pair, claimed)| relation(bench, times, kind, *pair, *claimed, &limit)).collect()
}

/// The limit of the outermost level that latencies show among CPUs that are claimed to share one cache, and that no claimed cache below
/// explains. Kinds of core have latencies of their own, so of several kinds nothing is inferred.
fn shown_limit(bench: &mut Bench<'_>, times: &mut Times, kind: Kind, near: &[Pair]) -> Option<f64> {
    let Kind::Cache(claimed) = kind else { return None };
    let strands: Vec<usize> =
        near.iter().flat_map(|(a, b)| [*a, *b]).collect::<BTreeSet<usize>>().into_iter().collect();
    let kinds: BTreeSet<Option<u32>> = strands.iter().map(|at| bench.strands[*at].kind).collect();
    if strands.len() > FEW || kinds.len() > 1 {
        return None;
    }
    let pairs = || strands.iter().flat_map(|a| strands.iter().filter(move |b| a < *b).map(|b| (*a, *b)));
    for pair in pairs() {
        if !times.0.contains_key(&pair) {
            times.measure(bench, pair);
        }
    }
    let known = pairs().filter_map(|(a, b)| Some(([a as u32, b as u32], times.of(&(a, b))?)));
    let found = layout(&Latencies::of(known));
    let shares_below = |a: usize, b: usize| {
        let of = |level| (cache_of(bench, a, level), cache_of(bench, b, level));
        (1..claimed).any(|level| matches!(of(level), (Some((a, _)), Some((b, _))) if a == b))
    };
    let is_new = |group: &Vec<u32>| group[1..].iter().any(|at| !shares_below(group[0] as usize, *at as usize));
    let level = found.levels.iter().rev().find(|level| level.groups.iter().any(is_new))?;
    limit(level.within, level.across)
}

fn relation(bench: &Bench<'_>, times: &Times, kind: Kind, pair: Pair, claimed: bool, limit: &Limit) -> Relation {
    let (a, b) = ordered(pair.0, pair.1);
    let ns = times.of(&pair);
    let rounds = times.0.get(&pair).map_or(0, Vec::len);
    let mut figures: Vec<Figure> = ns.map(|ns| Figure::new("transfer", ns, "ns")).into_iter().collect();
    let decided = |limit: f64| {
        let ns = ns?;
        ((ns / limit - 1.0).abs() > UNDECIDED).then(|| (ns < limit, confidence(ns / limit - 1.0, NOISE)))
    };
    let (found, reason) = match (limit, ns) {
        (_, None) => (None, Some(Reason::NotMeasured)),
        (Limit::Between(limit), Some(_)) => {
            figures.push(Figure::new("limit", *limit, "ns"));
            let found = decided(*limit);
            (found, found.is_none().then_some(Reason::BetweenTimes))
        }
        (Limit::Memory(limit), Some(ns)) => {
            figures.push(Figure::new("half_of_a_load_from_memory", *limit, "ns"));
            // A slow line may have gone through a large cache too.
            let found = decided(*limit).filter(|_| ns < *limit);
            (found, found.is_none().then_some(Reason::NotFaster))
        }
        (Limit::None(why), Some(_)) => (None, Some(why.clone())),
    };
    // Only what was measured again contradicts.
    let found = found.filter(|(shared, _)| *shared == claimed || rounds > AGAIN);
    let reason = reason.or_else(|| found.is_none().then_some(Reason::NotSeenAgain));
    let evidence = Evidence {
        claimed: Some(claimed),
        measured: found.map(|(shared, _)| shared),
        figures,
        rounds: rounds as u64,
        confidence: found.map(|(_, confidence)| confidence),
        reason,
    };
    Relation::new(kind, bench.id(a), Some(bench.id(b)), evidence)
}
