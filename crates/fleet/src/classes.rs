//! Levels that several nodes share, and the settings that go with them.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::FRAC_PI_2;

use charz_data::Arrange;
use charz_stats::{Sample, median};

use crate::claim::{Class, Doubt, Quantity};
use crate::norms::{EACH, FLOOR, LEAST, Levels, MAY_BE, Own, USUAL, VISITS, deviation};
use crate::setting::{Aspect, SUSPECTS, Setting, Suspect, Value};
use crate::visit::Visit;

/// Nodes that have a value of a setting in common, so they are compared with those that have another.
const CLASS: usize = 3;
/// How many deviations of the nodes around two levels make the gap between these; where few nodes are left to show the deviation, more: by
/// the square of this number over theirs. Of fleets with one level, one in ten thousand has such a gap, by simulation of 5 to 60 nodes.
const GAP: f64 = 4.0;
const GAP_OF_FEW: f64 = 8.0;
/// The upper level has one node in so many at least, and two.
const FEWEST_FAST: usize = 5;
/// How far below the fastest of too few nodes one is in question, as a fraction, and how far visits of other than arithmetic are apart at
/// least where too few show it, as a logarithm.
const FAR: f64 = 0.10;
const HOURS: f64 = 0.2;
/// A class of which one node in so many is as fast as the others is none: its setting slows no node.
const REFUTED: usize = 10;
/// The standard error of a median, in those of a mean.
const OF_MEDIAN: f64 = 1.25;

/// Where one of the nodes is that are slower than those with another value of a setting, or far below the fastest.
#[derive(Clone)]
pub(crate) struct Lower {
    pub(crate) effect: f64,
    pub(crate) error: f64,
    /// The effect that all of them have in common.
    pub(crate) shared: f64,
    pub(crate) is_fault: bool,
    /// Whether the node is as slow as the others.
    pub(crate) is_as_others: bool,
    pub(crate) kernels: BTreeSet<Quantity>,
    pub(crate) why: Doubt,
}

/// Of too few nodes for a deviation between them, those that are far below the fastest.
pub(crate) fn far(
    nodes: &[Own<'_>],
    of: &[Vec<f64>],
    aspect: Aspect,
    kernels: &BTreeSet<Quantity>,
    levels: &Levels,
) -> BTreeMap<usize, Lower> {
    let limit = (1.0 - FAR).ln();
    let visits: Vec<Option<Sample>> = of.iter().map(|visits| Sample::new(visits.clone())).collect();
    let with_number = visits.iter().enumerate().filter_map(|(at, visits)| Some((at, visits.as_ref()?)));
    let best = with_number.clone().max_by(|one, other| one.1.median().total_cmp(&other.1.median()));
    let Some((best, fastest)) = best else { return BTreeMap::new() };
    let range = |visits: &Sample| match visits.max() - visits.min() {
        range if aspect == Aspect::Arithmetic || visits.len() >= VISITS => range,
        range => range.max(HOURS),
    };
    let lower = |(at, own): (usize, &Sample)| {
        let is_slow = |kernel: &&Quantity| {
            let all = levels.get(*kernel)?;
            Some(all[at]? <= all[best]? + limit)
        };
        let (needed, kernels) = (kernels.len().min(2), kernels.iter().filter(|own| is_slow(own) == Some(true)));
        let kernels: BTreeSet<_> = kernels.cloned().collect();
        let is_shown = kernels.len() >= needed;
        let range = range(own).max(range(fastest));
        let is_far = own.max() - fastest.min() <= limit.min(-2.0 * range);
        let effect = own.median() - fastest.median();
        let why = Doubt::Far(nodes[best].host.to_owned());
        let [is_fault, is_as_others] = [false; 2];
        let lower = Lower { effect, error: range / 2.0, shared: effect, is_fault, is_as_others, kernels, why };
        (is_far && is_shown).then_some((at, lower))
    };
    with_number.filter_map(lower).collect()
}

/// Two levels of nodes. Where half of the nodes or more are on the lower one, no deviation around a common middle shows it.
pub(crate) struct Gap {
    /// The places of the nodes, and by how much the lower ones are faster than the others.
    pub(crate) slow: Vec<usize>,
    fast: Vec<usize>,
    pub(crate) effect: f64,
    error: f64,
}

impl Gap {
    pub(crate) fn of(middles: &[Option<f64>], least: f64) -> Option<Self> {
        let mut sorted: Vec<(f64, usize)> =
            middles.iter().enumerate().filter_map(|(at, level)| Some(((*level)?, at))).collect();
        sorted.arrange_by(|one, other| one.0.total_cmp(&other.0));
        let count = sorted.len();
        let places = count.div_ceil(2)..=count.checked_sub(count.div_ceil(FEWEST_FAST).max(2))?;
        let gap = |at: &usize| sorted[*at].0 - sorted[*at - 1].0;
        let at = places.max_by(|one, other| gap(one).total_cmp(&gap(other)))?;
        let sides = [&sorted[..at], &sorted[at..]];
        let middles = sides.map(|side| median(side.iter().map(|(level, _)| *level)));
        let (low, high) = (middles[0]?, middles[1]?);
        let rest = |(place, (level, _)): (usize, &(f64, usize))| (level - if place < at { low } else { high }).abs();
        let free = (count - 2) as f64;
        // The mean, not the median: of few nodes half may agree by chance.
        let spread = FRAC_PI_2.sqrt() * sorted.iter().enumerate().map(rest).sum::<f64>() / free;
        let spread = spread.max(FLOOR);
        if gap(&at) < -least || gap(&at) < GAP * (1.0 + (GAP_OF_FEW / free).powi(2)) * spread {
            return None;
        }
        let [slow, fast] = sides.map(|side| side.iter().map(|(_, at)| *at).collect::<Vec<_>>());
        let error = OF_MEDIAN * spread * (1.0 / slow.len() as f64 + 1.0 / fast.len() as f64).sqrt();
        Some(Gap { effect: low - high, error, slow, fast })
    }

    /// The slow ones by their places, with the settings that they alone have.
    pub(crate) fn classes(&self, nodes: &[Own<'_>], kernels: &BTreeSet<Quantity>) -> BTreeMap<usize, Lower> {
        let has = |at: usize, (name, value): (&Setting, &Value)| nodes[at].newest().settings.get(name) == Some(value);
        let is_own = |own: &(&Setting, &Value)| {
            self.slow.iter().all(|at| has(*at, *own)) && !self.fast.iter().any(|at| has(*at, *own))
        };
        let own = self.slow.first().into_iter().flat_map(|at| &nodes[*at].newest().settings).filter(is_own);
        let settings = own.map(|(name, value)| (name.clone(), [[value.clone()].into(), BTreeSet::new()])).collect();
        let counts = [self.slow.len(), self.fast.len()];
        let class = Class { settings, is_gap: true, counts, effect: self.effect.exp_m1(), kernels: kernels.clone() };
        let (effect, error, kernels, why) = (self.effect, self.error, kernels.clone(), Doubt::Class(class));
        let lower = Lower { effect, error, shared: effect, is_fault: false, is_as_others: true, kernels, why };
        self.slow.iter().map(|at| (*at, lower.clone())).collect()
    }
}

/// The nodes whose value of a setting goes with a lower level, by their places; of several settings that which explains most. Others that no
/// slow node shares with a fast one explain as much, so they are named with it. `of` has the visits of each node, by their places.
pub(crate) fn classes(
    nodes: &[Own<'_>],
    of: &[Vec<(usize, f64)>],
    aspect: Aspect,
    kernels: &BTreeSet<Quantity>,
    away: f64,
) -> BTreeMap<usize, Lower> {
    let suspects = || SUSPECTS.iter().filter(|own| own.concerns(aspect));
    let of_visit = |own: &Suspect, visit: &Visit| visit.settings.get(&own.setting).cloned();
    let value = |own: &Suspect, at: usize| of_visit(own, nodes[at].newest());
    // Visits before a setting was changed do not show its present effect.
    let level = |own: &Suspect, at: usize| {
        let now = value(own, at);
        let is_as_now = |(nth, _): &&(usize, f64)| of_visit(own, nodes[at].visits[*nth]) == now;
        median(of[at].iter().filter(is_as_now).map(|(_, level)| *level))
    };
    // Which values of a setting slow and fast nodes have, if none has one of the other side.
    let apart = |own: &Suspect, slow: &[(usize, f64)], fast: &[(usize, f64)]| {
        let sides = [slow, fast].map(|side| side.iter().filter_map(|(at, _)| value(own, *at)).collect::<BTreeSet<_>>());
        let can_slow = |here: &Value| sides[1].iter().all(|others| own.can_slow(here, others));
        let is_apart = sides.iter().all(|side| !side.is_empty()) && sides[0].is_disjoint(&sides[1]);
        (is_apart && sides[0].iter().all(can_slow)).then(|| (own.is_fault, (own.setting.clone(), sides)))
    };
    let of_setting = |own: &Suspect| {
        let mut values: BTreeMap<Value, Vec<(usize, f64)>> = BTreeMap::new();
        for at in 0..nodes.len() {
            if let Some((value, level)) = value(own, at).zip(level(own, at)) {
                values.entry(value).or_default().push((at, level));
            }
        }
        let all: usize = values.values().map(Vec::len).sum();
        values.retain(|_, nodes| nodes.len() >= CLASS);
        let middle = |(value, nodes): (_, &Vec<(usize, f64)>)| Some((value, median(nodes.iter().map(|own| own.1))?));
        let levels: BTreeMap<&Value, f64> = values.iter().filter_map(middle).collect();
        let (mut found, mut explained) = (BTreeMap::new(), 0.0);
        // A few that are faster than most do not make these slow.
        let usual = levels.iter().find(|(value, _)| values[**value].len() as f64 >= USUAL * all as f64);
        let best = usual.or_else(|| levels.iter().max_by(|one, other| one.1.total_cmp(other.1)));
        let Some((&best, highest)) = best else { return (explained, found) };
        let rests = values.iter().flat_map(|(value, all)| all.iter().map(|(_, level)| level - levels[value]));
        let spread = deviation(rests);
        for (value, all) in values.iter().filter(|(value, _)| *value != best) {
            let effect = levels[value] - highest;
            let is_near = |level: f64| level - highest <= effect / 2.0;
            let is_other = |(_, level): &&(usize, f64)| !is_near(*level) && level - levels[value] > MAY_BE * spread;
            if all.iter().filter(is_other).count() * REFUTED > all.len() || !own.can_slow(value, best) {
                continue;
            }
            let is_newest_near = |at: usize| of[at].last().is_some_and(|(_, level)| is_near(*level));
            let slow: Vec<_> =
                all.iter().copied().filter(|(at, level)| is_near(*level) && is_newest_near(*at)).collect();
            let counts = [slow.len(), values[best].len()];
            let error = OF_MEDIAN * spread * (1.0 / counts[0] as f64 + 1.0 / counts[1] as f64).sqrt();
            if counts[0] == 0 || effect > (1.0 - LEAST).ln() || effect > -EACH * spread || effect > -away * error {
                continue;
            }
            let (faults, settings): (Vec<bool>, _) =
                suspects().filter_map(|other| apart(other, &slow, &values[best])).unzip();
            let (is_fault, shared) = (faults.iter().all(|is_fault| *is_fault), effect);
            let class = Class { settings, is_gap: false, counts, effect: effect.exp_m1(), kernels: kernels.clone() };
            let lower = |level: f64| {
                // Of nodes of another kind, the rest of the loss is a finding of its own.
                let (effect, error) = if is_fault { (level - highest, spread) } else { (shared, error) };
                let is_as_others = effect - shared >= (1.0 - LEAST).ln().min(-MAY_BE * spread);
                let (kernels, why) = (kernels.clone(), Doubt::Class(class.clone()));
                Lower { effect, error, shared, is_fault, is_as_others, kernels, why }
            };
            // A node that is as fast as the others is not explained.
            explained +=
                all.iter().map(|(_, level)| (level - highest).abs() - (level - highest - effect).abs()).sum::<f64>();
            found.extend(slow.iter().map(|(at, level)| (*at, lower(*level))));
        }
        (explained, found)
    };
    let all = suspects().map(of_setting);
    all.reduce(|most, other| if other.0 > most.0 { other } else { most }).map(|(_, found)| found).unwrap_or_default()
}
