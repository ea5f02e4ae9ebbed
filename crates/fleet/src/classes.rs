//! Levels that several nodes share, and the settings that go with them.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::FRAC_PI_2;

use charz_data::{Arrange, Family};
use charz_stats::{Sample, median};

use crate::norms::{EACH, FLOOR, LEAST, Levels, MAY_BE, Own, VISITS, deviation};
use crate::visit::Visit;
use crate::{USUAL, words};

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

/// A setting that nodes with a level of their own may have in common.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    /// What it cannot be the cause of.
    memory_only: bool,
    /// Whether one visit and this setting make one node slow.
    pub(crate) is_cause: bool,
    /// Whether many nodes that have it are slow, and not of another kind.
    is_fault: bool,
}

const fn setting(name: &'static str, memory_only: bool, is_cause: bool, is_fault: bool) -> Setting {
    Setting { name, memory_only, is_cause, is_fault }
}

/// Of several causes of a memory's loss, its own come first.
pub(crate) const SETTINGS: [Setting; 7] = [
    setting("memory modules", true, true, false),
    setting("memory", true, true, false),
    setting("transparent huge pages", true, true, true),
    setting("governor", false, true, true),
    setting("microcode", false, true, true),
    setting("kernel", false, false, false),
    setting("firmware", false, false, false),
];

impl Setting {
    pub(crate) fn concerns(&self, family: Family) -> bool {
        !self.memory_only || family == Family::Memory
    }

    /// What a visit has, if it is known.
    pub(crate) fn value<'a>(&self, visit: &'a Visit) -> Option<&'a str> {
        visit.settings.get(self.name).map(String::as_str).filter(|value| is_known(value))
    }

    /// Whether a node can be slow as it has this value where others have that.
    pub(crate) fn can_slow(&self, here: &str, others: &str) -> bool {
        let numbers = |text: &str| text.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
        match self.name {
            "governor" => here != "performance",
            // charz asks for its pages by itself, which only this policy refuses.
            "transparent huge pages" => here == "never",
            "memory" | "memory modules" => {
                let (here, others) = (numbers(here), numbers(others));
                here.len() != others.len() || here.iter().zip(&others).any(|(here, others)| here < others)
            }
            _ => true,
        }
    }
}

/// Whether a setting was found: where it was not, the value is the reason.
pub(crate) fn is_known(value: &str) -> bool {
    value != "unknown" && !value.starts_with("unavailable")
}

/// What one of the nodes has that are slower than those with another value of a setting.
#[derive(Clone)]
pub(crate) struct Class {
    pub(crate) effect: f64,
    pub(crate) error: f64,
    /// The effect that all of them have in common.
    pub(crate) shared: f64,
    pub(crate) is_fault: bool,
    /// Of a node that is as slow as the others.
    pub(crate) cause: Option<String>,
    pub(crate) why: String,
}

/// Of too few nodes for a deviation between them, those that are far below the fastest.
pub(crate) fn far(
    nodes: &[Own<'_>],
    of: &[Vec<f64>],
    family: Family,
    kernels: &[String],
    levels: &Levels,
) -> BTreeMap<usize, Class> {
    let limit = (1.0 - FAR).ln();
    let visits: Vec<Option<Sample>> = of.iter().map(|visits| Sample::new(visits.clone())).collect();
    let with_number = visits.iter().enumerate().filter_map(|(at, visits)| Some((at, visits.as_ref()?)));
    let best = with_number.clone().max_by(|one, other| one.1.median().total_cmp(&other.1.median()));
    let Some((best, fastest)) = best else { return BTreeMap::new() };
    let range = |visits: &Sample| match visits.max() - visits.min() {
        range if family == Family::Compute || visits.len() >= VISITS => range,
        range => range.max(HOURS),
    };
    let class = |(at, own): (usize, &Sample)| {
        let is_slow = |kernel: &&str| {
            let all = levels.get(*kernel)?;
            Some(all[at]? <= all[best]? + limit)
        };
        let slow: Vec<&str> =
            kernels.iter().map(String::as_str).filter(|kernel| is_slow(kernel) == Some(true)).collect();
        let range = range(own).max(range(fastest));
        let is_far = own.max() - fastest.min() <= limit.min(-2.0 * range);
        let effect = own.median() - fastest.median();
        let why = words::far(nodes[best].host, &slow, effect.exp_m1());
        let class = Class { effect, error: range / 2.0, shared: effect, is_fault: false, cause: None, why };
        (is_far && slow.len() >= kernels.len().min(2)).then_some((at, class))
    };
    with_number.filter_map(class).collect()
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
    pub(crate) fn classes(&self, nodes: &[Own<'_>], kernels: &[String]) -> BTreeMap<usize, Class> {
        let has = |at: usize, (name, value): (&String, &String)| nodes[at].newest().settings.get(name) == Some(value);
        let is_own = |own: &(&String, &String)| {
            self.slow.iter().all(|at| has(*at, *own)) && !self.fast.iter().any(|at| has(*at, *own))
        };
        let own = self.slow.first().into_iter().flat_map(|at| &nodes[*at].newest().settings).filter(is_own);
        let own: Vec<String> = own.map(|(name, value)| format!("{name} {value}")).collect();
        let counts = [self.slow.len(), self.fast.len()];
        let class = Class {
            effect: self.effect,
            error: self.error,
            shared: self.effect,
            is_fault: false,
            cause: None,
            why: words::two_levels(counts, self.effect.exp_m1(), kernels, &own),
        };
        self.slow.iter().map(|at| (*at, class.clone())).collect()
    }
}

/// The nodes whose value of a setting goes with a lower level, by their places; of several settings that which explains most. Others that no
/// slow node shares with a fast one explain as much, so they are named with it. `of` has the visits of each node, by their places.
pub(crate) fn classes(
    nodes: &[Own<'_>],
    of: &[Vec<(usize, f64)>],
    family: Family,
    kernels: &[String],
    away: f64,
) -> BTreeMap<usize, Class> {
    let settings: Vec<&Setting> = SETTINGS.iter().filter(|setting| setting.concerns(family)).collect();
    let value = |setting: &Setting, at: usize| setting.value(nodes[at].newest());
    // Visits before a setting was changed do not show its present effect.
    let level = |setting: &Setting, at: usize| {
        let is_as_now = |(nth, _): &&(usize, f64)| setting.value(nodes[at].visits[*nth]) == value(setting, at);
        median(of[at].iter().filter(is_as_now).map(|(_, level)| *level))
    };
    // Which values of a setting slow and fast nodes have, if none has one of the other side.
    let apart = |setting: &Setting, slow: &[(usize, f64)], fast: &[(usize, f64)]| {
        let of = |side: &[(usize, f64)]| side.iter().filter_map(|(at, _)| value(setting, *at)).collect::<BTreeSet<_>>();
        let [slow, fast] = [slow, fast].map(of);
        let text = |values: &BTreeSet<&str>| values.iter().copied().collect::<Vec<_>>().join(" or ");
        let can_slow = |here: &&str| fast.iter().all(|others| setting.can_slow(here, others));
        let is_apart = !slow.is_empty() && !fast.is_empty() && slow.is_disjoint(&fast) && slow.iter().all(can_slow);
        is_apart.then(|| (setting.is_fault, [format!("{} {}", setting.name, text(&slow)), text(&fast)]))
    };
    let of_setting = |setting: &Setting| {
        let mut values: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
        for at in 0..nodes.len() {
            if let Some((value, level)) = value(setting, at).zip(level(setting, at)) {
                values.entry(value).or_default().push((at, level));
            }
        }
        let all: usize = values.values().map(Vec::len).sum();
        values.retain(|_, own| own.len() >= CLASS);
        let levels: BTreeMap<&str, f64> = values
            .iter()
            .filter_map(|(value, own)| Some((*value, median(own.iter().map(|(_, level)| *level))?)))
            .collect();
        let (mut found, mut explained) = (BTreeMap::new(), 0.0);
        // A few that are faster than most do not make these slow.
        let usual = levels.iter().find(|(value, _)| values[*value].len() as f64 >= USUAL * all as f64);
        let best = usual.or_else(|| levels.iter().max_by(|one, other| one.1.total_cmp(other.1)));
        let Some((best, highest)) = best else { return (explained, found) };
        let spread =
            deviation(values.iter().flat_map(|(value, own)| own.iter().map(|(_, level)| level - levels[value])));
        for (value, all) in values.iter().filter(|(value, _)| *value != best) {
            let effect = levels[value] - highest;
            let is_near = |level: f64| level - highest <= effect / 2.0;
            let is_other = |(_, level): &&(usize, f64)| !is_near(*level) && level - levels[value] > MAY_BE * spread;
            if all.iter().filter(is_other).count() * REFUTED > all.len() || !setting.can_slow(value, best) {
                continue;
            }
            let is_newest_near = |at: usize| of[at].last().is_some_and(|(_, level)| is_near(*level));
            let own: Vec<_> =
                all.iter().copied().filter(|(at, level)| is_near(*level) && is_newest_near(*at)).collect();
            let [here, others] = [own.len(), values[best].len()];
            let error = OF_MEDIAN * spread * (1.0 / here as f64 + 1.0 / others as f64).sqrt();
            if here == 0 || effect > (1.0 - LEAST).ln() || effect > -EACH * spread || effect > -away * error {
                continue;
            }
            let alike: Vec<_> =
                settings.iter().copied().filter_map(|other| apart(other, &own, &values[best])).collect();
            let [cause, fast] =
                [0, 1].map(|side| alike.iter().map(|(_, sides)| sides[side].as_str()).collect::<Vec<_>>().join(", "));
            let (is_fault, shared) = (alike.iter().all(|(is_fault, _)| *is_fault), effect);
            let why = words::class([&cause, &fast], [here, others], effect.exp_m1(), kernels);
            let class = |level: f64| {
                // Of nodes of another kind, the rest of the loss is a finding of its own.
                let (effect, error) = if is_fault { (level - highest, spread) } else { (shared, error) };
                let is_shared = effect - shared >= (1.0 - LEAST).ln().min(-MAY_BE * spread);
                let cause = is_shared.then(|| cause.clone());
                Class { effect, error, shared, is_fault, cause, why: why.clone() }
            };
            // A node that is as fast as the others is not explained.
            explained +=
                all.iter().map(|(_, level)| (level - highest).abs() - (level - highest - effect).abs()).sum::<f64>();
            found.extend(own.iter().map(|(at, level)| (*at, class(*level))));
        }
        (explained, found)
    };
    let all = settings.iter().copied().map(of_setting);
    all.reduce(|most, other| if other.0 > most.0 { other } else { most }).map(|(_, found)| found).unwrap_or_default()
}
