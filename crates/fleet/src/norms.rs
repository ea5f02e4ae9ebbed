//! What the contrasts of parts are in nodes that are well, and which are further off.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::Arrange;
use charz_stats::{MAD_TO_DEVIATION, Sample, median, median_interval};

use crate::claim::Quantity;
use crate::parts::Part;
use crate::setting::{Aspect, Structure};
use crate::visit::{Build, Visit};

/// The share of a group that makes a setting, or a kernel that was measured, the usual one.
pub(crate) const USUAL: f64 = 0.6;
/// What is less is no matter of a fault: cores of one product differ by as much.
pub(crate) const LEAST: f64 = 0.03;
/// From so many nodes on, a part has a place of its own among those of the other nodes: the first core serves interrupts everywhere.
pub(crate) const ENOUGH_NODES: usize = 5;
/// The standard deviation of a contrast at the least, as a fraction.
pub(crate) const FLOOR: f64 = 0.0025;
/// Visits that settle whether a whole node is slow.
pub(crate) const VISITS: usize = 3;
/// How many standard deviations each of these visits must be away by itself, and how many make a question.
pub(crate) const EACH: f64 = 2.0;
pub(crate) const MAY_BE: f64 = 3.0;
/// How many standard deviations a part must be away from its like at least.
const AWAY: f64 = 5.0;
/// The same of what one kernel says alone: there is one of pairs and of latencies as a rule.
const AWAY_BY_ONE: f64 = 8.0;
/// By how much pairs must be slower.
pub(crate) const LEAST_OF_PAIRS: f64 = 0.10;
/// How often at most something of a fleet without a fault may be called slow.
const FALSE: f64 = 0.001;
/// The same where there are too few contrasts to tell.
const UNKNOWN: f64 = 0.005;

/// Two visits are as far apart, so they do not share a slow hour.
const APART_S: i64 = 3600;

/// By what is compared, of each node.
pub(crate) type Levels = BTreeMap<Quantity, Vec<Option<f64>>>;

pub(crate) fn deviation(rests: impl Iterator<Item = f64>) -> f64 {
    median(rests.map(f64::abs)).map_or(FLOOR, |rest| (MAD_TO_DEVIATION * rest).max(FLOOR))
}

/// Whether beginnings are times. Where all reports of a fleet have one, as where a clock stands, it says nothing of them.
pub(crate) fn is_timed(visits: &[Visit]) -> bool {
    visits.iter().any(|visit| visit.began != visits[0].began)
}

/// The visits of a node.
pub(crate) struct Own<'a> {
    pub(crate) host: &'a str,
    /// In the order of their beginnings, an hour apart: of closer ones the newest of those with the most kernels.
    pub(crate) visits: Vec<&'a Visit>,
    /// The kernels of newer reports, and of ones with other kernels, that are too close to the newest visit to count.
    pub(crate) dropped: BTreeSet<&'a str>,
    /// Reports of its name, and the kinds of machine that these are of.
    pub(crate) reports: usize,
    pub(crate) kinds: usize,
    /// Whether reports overlap in time.
    pub(crate) do_overlap: bool,
}

impl<'a> Own<'a> {
    /// Of at least one report. Those of another kind of machine than the newest are no visits. `is_timed` says whether beginnings are times.
    pub(crate) fn of(host: &'a str, mut all: Vec<&'a Visit>, is_timed: bool) -> Self {
        all.arrange_by(|one, other| (one.began, &one.started).cmp(&(other.began, &other.started)));
        let overlap = |pair: &[&Visit]| {
            // One that waited for the other may have noted its beginning before.
            let begun = pair[0].began.zip(pair[1].began).filter(|_| is_timed);
            begun.is_some_and(|(one, next)| next < one + pair[0].lasted_s / 2)
        };
        let kinds: BTreeSet<&str> = all.iter().map(|visit| visit.kind.as_str()).collect();
        let kind = &all[all.len() - 1].kind;
        let (mut visits, mut dropped): (Vec<&Visit>, _) = (Vec::new(), BTreeSet::new());
        for visit in all.iter().copied().rev().filter(|visit| visit.kind == *kind) {
            let gap = visits.last().and_then(|next| Some(next.began? - visit.began?));
            if !is_timed || gap.is_none_or(|gap| gap >= APART_S) {
                visits.push(visit);
                continue;
            }
            // A short sweep that follows a long one says nothing of most of it.
            let count = visits.len();
            let kept = &mut visits[count - 1];
            let is_longer = visit.asked.len() > kept.asked.len();
            let other = if is_longer { std::mem::replace(kept, visit) } else { visit };
            let lost = other.asked.keys().filter(|kernel| is_longer || !kept.asked.contains_key(*kernel));
            dropped.extend(lost.map(String::as_str).filter(|_| count == 1));
        }
        visits.reverse();
        let do_overlap = all.windows(2).any(overlap);
        Own { host, reports: all.len(), kinds: kinds.len(), do_overlap, visits, dropped }
    }

    pub(crate) fn newest(&self) -> &'a Visit {
        self.visits[self.visits.len() - 1]
    }
}

/// How many nodes have a visit by each build of charz.
pub(crate) fn by_build<'a>(nodes: &[Own<'a>]) -> BTreeMap<&'a Build, usize> {
    let mut counts = BTreeMap::new();
    for node in nodes {
        let builds: BTreeSet<&Build> = node.visits.iter().map(|visit| &visit.build).collect();
        builds.into_iter().for_each(|build| *counts.entry(build).or_default() += 1);
    }
    counts
}

/// The contrast of a part by one kernel, held against the same part of the other nodes.
pub(crate) struct Found {
    /// By how much it is faster, the usual contrast of this part taken off, as a logarithm.
    pub(crate) effect: f64,
    pub(crate) interval: [f64; 2],
    pub(crate) is_slow: bool,
    /// Whether the usual contrast of the part is known.
    pub(crate) is_known: bool,
}

/// The contrasts of each node, by part and kernel.
pub(crate) type Parts = Vec<BTreeMap<Part, BTreeMap<String, Found>>>;

/// What the parts of nodes that are well do: their usual contrasts, which the first core has as it serves interrupts, and how far nodes
/// are from these.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Norms {
    pub(crate) structure: Structure,
    /// As logarithms, by part and kernel; of those that one node alone has, it is not known.
    pub(crate) usual: BTreeMap<(Part, String), f64>,
    /// Standard deviations, by level and kernel; pairs have the last level there is.
    pub(crate) deviations: BTreeMap<(usize, String), f64>,
    /// Whether parts that are not in `usual` have no offset, as in a baseline, which leaves small ones out.
    pub(crate) is_whole: bool,
}

pub(crate) fn level(part: Part) -> usize {
    if let Part::Level(level, _) = part { level } else { PAIRS }
}

/// The level of pairs.
pub(crate) const PAIRS: usize = 99;

/// The runs of the newest visit: contrasts hardly drift, so older ones only hide what has changed since.
fn newest<'a>(node: &Own<'a>) -> BTreeMap<(Part, &'a str), Sample> {
    let all = node.newest().contrasts.iter();
    all.filter_map(|((part, kernel), own)| Some(((*part, kernel.as_str()), Sample::new(own.runs.clone())?))).collect()
}

impl Norms {
    /// One node does not show whether what it does is usual.
    pub(crate) fn of(nodes: &[Own<'_>]) -> Self {
        Self::of_as_many(2, nodes)
    }

    /// Of nodes that are well: what one of them does is usual.
    pub(crate) fn of_well(nodes: &[Own<'_>]) -> Self {
        Self::of_as_many(1, nodes)
    }

    fn of_as_many(fewest: usize, nodes: &[Own<'_>]) -> Self {
        let structure = nodes.first().map_or([1; 4], |node| node.newest().structure);
        let alike = nodes.iter().filter(|node| node.newest().structure == structure);
        let mut by_part: BTreeMap<(Part, String), Vec<f64>> = BTreeMap::new();
        for ((part, kernel), runs) in alike.flat_map(newest) {
            by_part.entry((part, kernel.to_owned())).or_default().push(runs.median());
        }
        let center = |all: &Vec<f64>| match Sample::new(all.clone()) {
            // What half of them lack is not usual.
            Some(all) if all.len() >= ENOUGH_NODES => all.values()[all.len() / 2],
            // What each of a few has is no fault of one of them.
            Some(all) => all.max().min(0.0),
            None => 0.0,
        };
        let known = by_part.iter().filter(|(_, all)| all.len() >= fewest);
        let usual: BTreeMap<(Part, String), f64> = known.map(|(key, all)| (key.clone(), center(all))).collect();
        let mut rests: BTreeMap<(usize, String), Vec<f64>> = BTreeMap::new();
        for ((part, kernel), all) in &by_part {
            // One node is not away from itself, so its parts show how far apart they are.
            let center = if all.len() > 1 { center(all) } else { 0.0 };
            let own = all.iter().map(|one| (one - center).abs());
            rests.entry((level(*part), kernel.clone())).or_default().extend(own);
        }
        let deviation = |rests: Vec<f64>| {
            let rests = Sample::new(rests).filter(|rests| rests.len() >= 2 * ENOUGH_NODES);
            rests.map_or(UNKNOWN, |rests| (MAD_TO_DEVIATION * rests.median()).max(FLOOR))
        };
        let deviations = rests.into_iter().map(|(key, rests)| (key, deviation(rests))).collect();
        Norms { structure, usual, deviations, is_whole: false }
    }
}

/// Parts that are slower by `least`, as a fraction, and further off than noise.
pub(crate) fn parts(nodes: &[Own<'_>], norms: &Norms, least: f64) -> Parts {
    let own: Vec<BTreeMap<(Part, &str), Sample>> = nodes.iter().map(newest).collect();
    let looked_at = own.iter().map(BTreeMap::len).sum::<usize>().max(1);
    // The tail of a normal distribution beyond z is below exp(−z²/2).
    let away = (2.0 * (looked_at as f64 / FALSE).ln()).sqrt().max(AWAY);
    let find = |(node, of_node): (&Own<'_>, &BTreeMap<(Part, &str), Sample>)| {
        let is_like = node.newest().structure == norms.structure;
        let mut found: BTreeMap<Part, BTreeMap<String, Found>> = BTreeMap::new();
        for ((part, kernel), runs) in of_node {
            let key = (*part, (*kernel).to_owned());
            let usual = norms.usual.get(&key).copied().filter(|_| is_like);
            let is_known = usual.is_some() || (is_like && norms.is_whole);
            let usual = usual.unwrap_or(0.0);
            // What most parts have is usual, and so is none of it: beside a part that is slow on most nodes others are faster.
            let center = runs.median().clamp(usual.min(0.0), usual.max(0.0));
            let deviation = norms.deviations.get(&(level(*part), key.1.clone())).copied().unwrap_or(UNKNOWN);
            let effect = runs.median() - center;
            let interval = median_interval(runs, 0.95)
                .map_or([effect - 2.0 * deviation, effect + 2.0 * deviation], |interval| {
                    [interval.low - center, interval.high - center]
                });
            let least = if let Part::Pair(..) = part { LEAST_OF_PAIRS } else { least };
            let is_alone = |aspect: &Option<Aspect>| matches!(aspect, Some(Aspect::Latency | Aspect::Lines));
            let is_alone = node.newest().kernels.get(*kernel).is_some_and(is_alone);
            let away = if is_alone { away.max(AWAY_BY_ONE) } else { away };
            let is_slow = effect <= (1.0 - least).ln() && effect <= -away * deviation && interval[1] < 0.0;
            found.entry(*part).or_default().insert(key.1, Found { effect, interval, is_slow, is_known });
        }
        found
    };
    nodes.iter().zip(&own).map(find).collect()
}
