//! Whether a node as a whole is slow: by the spread between nodes and visits, and by the settings that several nodes share.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::FRAC_PI_2;

use charz_data::Family;
use charz_data::report::Unit;
use charz_stats::{MAD_TO_DEVIATION, Sample, median};

use crate::norms::{ENOUGH_NODES, FLOOR, LEAST, LEAST_OF_PAIRS, Own, by_build};
use crate::visit::{Build, Speed, Visit};
use crate::{Blame, Node, words};

/// Visits that settle whether a whole node is slow.
pub(crate) const VISITS: usize = 3;
/// How many standard deviations each of these visits must be away by itself, and how many make a question.
const EACH: f64 = 2.0;
const MAY_BE: f64 = 3.0;
/// How often at most a fleet without a fault may have a slow node, and the chance that takes: nodes, and about four aspects of each.
const FALSE_NODES: f64 = 0.01;
const ASPECTS: f64 = 4.0;
/// A deviation that few nodes tell is taken as larger: by this many parts in as many as there are nodes.
const FEW: f64 = 2.0;
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
/// The standard error of a median, in those of a mean.
const OF_MEDIAN: f64 = 1.25;

/// A setting that nodes with a level of their own may have in common.
struct Setting {
    name: &'static str,
    /// What it cannot be the cause of.
    memory_only: bool,
    /// Whether one visit and this setting make one node slow.
    is_cause: bool,
    /// Whether many nodes that have it are slow, and not of another kind.
    is_fault: bool,
}

const fn setting(name: &'static str, memory_only: bool, is_cause: bool, is_fault: bool) -> Setting {
    Setting { name, memory_only, is_cause, is_fault }
}

const SETTINGS: [Setting; 7] = [
    setting("governor", false, true, true),
    setting("microcode", false, true, true),
    setting("transparent huge pages", true, true, true),
    setting("memory modules", true, true, false),
    setting("memory", true, true, false),
    setting("kernel", false, false, false),
    setting("firmware", false, false, false),
];

impl Setting {
    fn concerns(&self, family: Family) -> bool {
        !self.memory_only || family == Family::Memory
    }
}

/// By kernel, of each node.
type Levels = BTreeMap<String, Vec<Option<f64>>>;

/// How fast the nodes of a group are.
pub(crate) struct Whole {
    /// The newest visit of each node against the median of the group, by kernel, as logarithms.
    levels: Levels,
    aspects: Vec<Aspect>,
}

/// Kernels that share what slows them in an hour, so two of them are one witness.
struct Aspect {
    family: Family,
    kernels: Vec<String>,
    /// The visits of each node, the newest last; what its class has in common is taken off.
    of: Vec<Vec<f64>>,
    /// The standard deviation of a visit, and that of the median of a node's visits.
    single: f64,
    between: f64,
    away: f64,
    classes: BTreeMap<usize, Class>,
}

/// Nodes with one value of a setting that are slower than those with another.
#[derive(Clone)]
struct Class {
    effect: f64,
    error: f64,
    is_fault: bool,
    cause: String,
    why: String,
}

fn deviation(rests: impl Iterator<Item = f64>) -> f64 {
    median(rests.map(f64::abs)).map_or(FLOOR, |rest| (MAD_TO_DEVIATION * rest).max(FLOOR))
}

/// What is compared: a kernel, and of lines that travel between CPUs each distance.
fn quantity(kernel: &str, configuration: &str, family: Family) -> String {
    match configuration.split(' ').next() {
        Some(distance) if family == Family::Sync && distance.starts_with("pair:") => format!("{kernel} {distance}"),
        _ => kernel.to_owned(),
    }
}

fn aspect(family: Family, unit: Unit, quantity: &str) -> Option<String> {
    match family {
        Family::Compute => Some("arithmetic".into()),
        Family::Memory if unit == Unit::NanosecondsPerStep => Some("latency".into()),
        Family::Memory => Some("bandwidth".into()),
        Family::Sync => quantity.contains(" pair:").then(|| quantity.to_owned()),
        _ => None,
    }
}

impl Whole {
    pub(crate) fn of(nodes: &[Own<'_>]) -> Self {
        let middles = middles(nodes);
        let builds = by_build(nodes);
        // Of few nodes with several builds none is compared.
        let enough = ENOUGH_NODES.min(nodes.len());
        let mut levels = Levels::new();
        let mut kernels: BTreeMap<String, (Family, BTreeSet<String>)> = BTreeMap::new();
        let mut of: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate() {
            for (nth, visit) in node.visits.iter().enumerate() {
                // Each kernel is the middle of its configurations, each aspect the middle of its kernels.
                let mut rests: BTreeMap<Named, Vec<f64>> = BTreeMap::new();
                for (key, speed) in &visit.speeds {
                    let Some(middle) = middles[&visit.build].get(key) else { continue };
                    rests.entry(named(visit, key, speed)).or_default().push(speed.log - middle);
                }
                let mut aspects: BTreeMap<String, Vec<f64>> = BTreeMap::new();
                for ((quantity, of_aspect), rests) in rests {
                    let Some(level) = median(rests) else { continue };
                    if nth + 1 == node.visits.len() {
                        levels.entry(quantity.clone()).or_insert_with(|| vec![None; nodes.len()])[at] = Some(level);
                    }
                    if let Some((family, aspect)) = of_aspect.filter(|_| builds[&visit.build] >= enough) {
                        kernels.entry(aspect.clone()).or_insert((family, BTreeSet::new())).1.insert(quantity);
                        aspects.entry(aspect).or_default().push(level);
                    }
                }
                for (aspect, levels) in aspects {
                    let all = of.entry(aspect).or_insert_with(|| vec![Vec::new(); nodes.len()]);
                    all[at].extend(median(levels));
                }
            }
        }
        for all in levels.values_mut() {
            let middle = median(all.iter().copied().flatten()).unwrap_or(0.0);
            all.iter_mut().flatten().for_each(|level| *level -= middle);
        }
        let aspects = of.into_iter().filter_map(|(name, of)| {
            let (family, kernels) = kernels.remove(&name)?;
            Aspect::of(nodes, family, kernels.into_iter().collect(), of, &levels)
        });
        Whole { aspects: aspects.collect(), levels }
    }

    /// By how much a node is faster than the median, by kernel, as fractions.
    pub(crate) fn effects(&self, at: usize) -> BTreeMap<String, f64> {
        self.levels.iter().filter_map(|(kernel, all)| Some((kernel.clone(), all[at]?.exp_m1()))).collect()
    }

    /// Whether the node as a whole is slow. Slow parts explain as much of a family's loss as the slowest of them has.
    ///
    /// Returns the setting that is the cause.
    pub(crate) fn blame(
        &self,
        node: &mut Node,
        at: usize,
        own: &Own<'_>,
        explained: &BTreeMap<Family, f64>,
    ) -> Option<String> {
        self.aspects.iter().fold(None, |cause, aspect| {
            let explained = explained.get(&aspect.family).copied().unwrap_or(0.0);
            cause.or(self.blame_aspect(aspect, node, at, own, explained))
        })
    }

    fn blame_aspect(
        &self,
        aspect: &Aspect,
        node: &mut Node,
        at: usize,
        own: &Own<'_>,
        explained: f64,
    ) -> Option<String> {
        let (newest, least) = (own.newest(), least(aspect.family));
        let blame = |kernels: &[&str], effect: f64, error: f64| Blame {
            component: "node".into(),
            ids: newest.partitions.cpus_of_all(),
            quantity: kernels.join(", "),
            effect: effect.exp_m1(),
            interval: [-2.0, 2.0].map(|times| (effect + times * error).exp_m1()),
        };
        let all: Vec<&str> = aspect.kernels.iter().map(String::as_str).collect();
        if aspect.family == Family::Sync && newest.is_guest {
            // Its host puts its CPUs where it likes.
            return None;
        }
        let is_guests_memory = aspect.family == Family::Memory && newest.is_guest;
        let is_open = |class: &&Class| class.is_fault || class.effect + explained <= least;
        if let Some(class) = aspect.classes.get(&at).filter(|_| !is_guests_memory).filter(is_open) {
            let blame = blame(&all, class.effect, class.error);
            if class.is_fault {
                node.why.push(class.why.clone());
                node.slow(blame);
                return Some(class.cause.clone());
            }
            node.doubt(class.why.clone(), blame);
        }
        let visits: Vec<f64> = aspect.of[at].iter().map(|visit| visit + explained).collect();
        let level = |kernel: &str| self.levels.get(kernel).and_then(|all| all[at]);
        let slow = |kernel: &&str| level(kernel).is_some_and(|own| own <= least);
        let kernels: Vec<&str> = all.iter().copied().filter(slow).collect();
        let has = |name: &str| newest.speeds.keys().any(|(own, rest)| quantity(own, rest, aspect.family) == name);
        let lacked: BTreeSet<&str> = all.iter().copied().filter(|kernel| !has(kernel)).collect();
        let is_lost = lacked.len() == all.len();
        let run = visits.iter().rev().take_while(|visit| **visit <= least.min(-EACH * aspect.single)).count();
        let middle = median(visits.iter().copied())?;
        if run < VISITS && visits.len() >= VISITS && middle <= least.min(-MAY_BE * aspect.between) {
            if !is_lost && *visits.last()? > least {
                let slow = median(visits.iter().copied().filter(|visit| *visit <= least))?;
                node.why.push(words::no_longer(&blame(&all, slow - explained, aspect.between)));
                return None;
            }
            let blame = blame(&all, middle - explained, aspect.between);
            node.doubt(words::disagree(&blame, visits.len()), blame);
            return None;
        }
        let effect = median(visits[visits.len() - run..].iter().copied())?;
        let deviation = if run >= VISITS { aspect.between } else { aspect.single };
        // One kernel alone may err, but one that the newest visit lacks does not acquit.
        let (named, needed) = (if is_lost { &all } else { &kernels }, all.len().min(2));
        if effect > -MAY_BE * deviation || named.is_empty() || kernels.len() + lacked.len() < needed {
            return None;
        }
        let is_sure = kernels.len() >= needed;
        let blame = blame(named, effect - explained, deviation);
        let is_cause = |setting: &&Setting| setting.is_cause && setting.concerns(aspect.family) && kernels.len() >= 2;
        let cause = SETTINGS
            .iter()
            .filter(is_cause)
            .find_map(|setting| Some(format!("{} {}", setting.name, node.differs.get(setting.name)?.here)));
        if effect <= -aspect.away * deviation && is_sure && !is_guests_memory && (run >= VISITS || cause.is_some()) {
            node.slow(blame);
            return cause;
        }
        let why = if is_guests_memory {
            words::guest_memory(&blame)
        } else if is_lost {
            words::lost(&blame, run)
        } else if !is_sure {
            words::one_kernel(&blame, &lacked)
        } else if run >= VISITS {
            words::wide(&blame, run, 1.0 - (-aspect.away * deviation).exp())
        } else {
            words::more_visits(&blame, run, VISITS - run, [visits.len(), own.visits.len(), own.reports])
        };
        node.doubt(why, blame);
        None
    }
}

/// By the build of charz, and the configuration.
type Cells<'a, Value> = BTreeMap<&'a Build, BTreeMap<&'a (String, String), Value>>;

/// The middle of each configuration that several nodes have.
fn middles<'a>(nodes: &[Own<'a>]) -> Cells<'a, f64> {
    let mut builds: Cells<'_, Vec<(usize, f64)>> = Cells::new();
    for (at, visit) in nodes.iter().enumerate().flat_map(|(at, node)| node.visits.iter().map(move |visit| (at, *visit)))
    {
        let cells = builds.entry(&visit.build).or_default();
        for (key, speed) in &visit.speeds {
            cells.entry(key).or_default().push((at, speed.log));
        }
    }
    let middle = |(key, all): (_, Vec<(usize, f64)>)| {
        let is_of_several = all.iter().any(|(at, _)| *at != all[0].0);
        Some((key, median(all.into_iter().map(|(_, log)| log))?)).filter(|_| is_of_several)
    };
    builds.into_iter().map(|(build, cells)| (build, cells.into_iter().filter_map(middle).collect())).collect()
}

/// The name of what a configuration measures, and its aspect.
type Named = (String, Option<(Family, String)>);

fn named(visit: &Visit, (kernel, rest): &(String, String), speed: &Speed) -> Named {
    let Some(family) = visit.families.get(kernel).copied() else { return (kernel.clone(), None) };
    let quantity = quantity(kernel, rest, family);
    let aspect = aspect(family, speed.unit, &quantity);
    (quantity, aspect.map(|aspect| (family, aspect)))
}

impl Aspect {
    /// `None` where too few nodes have it.
    fn of(
        nodes: &[Own<'_>],
        family: Family,
        kernels: Vec<String>,
        mut of: Vec<Vec<f64>>,
        levels: &Levels,
    ) -> Option<Self> {
        let middles: Vec<Option<f64>> = of.iter().map(|visits| median(visits.iter().copied())).collect();
        let count = middles.iter().flatten().count();
        if nodes.len() < ENOUGH_NODES {
            let classes = far(nodes, &of, family, &kernels, levels);
            let [single, between, away] = [f64::INFINITY; 3];
            return Some(Aspect { family, kernels, of, single, between, away, classes });
        }
        if count < ENOUGH_NODES {
            return None;
        }
        let away = (2.0 * (count as f64 * ASPECTS / FALSE_NODES).ln()).sqrt() * (1.0 + FEW / count as f64);
        let mut classes = classes(nodes, &middles, family, &kernels, away);
        if classes.is_empty() {
            classes.extend(Gap::of(&middles, least(family)).iter().flat_map(|gap| gap.classes(nodes, &kernels)));
        }
        let own = |at: usize| classes.get(&at).map_or(0.0, |class| class.effect);
        let middle = median(middles.iter().enumerate().filter_map(|(at, level)| Some((*level)? - own(at))))?;
        of.iter_mut()
            .enumerate()
            .for_each(|(at, visits)| visits.iter_mut().for_each(|visit| *visit -= middle + own(at)));
        let single = deviation(of.iter().flatten().copied());
        let between = deviation(of.iter().filter_map(|visits| median(visits.iter().copied())));
        Some(Aspect { family, kernels, of, single, between, away, classes })
    }
}

/// What is less is no matter of a fault, as a logarithm.
fn least(family: Family) -> f64 {
    (1.0 - if family == Family::Sync { LEAST_OF_PAIRS } else { LEAST }).ln()
}

/// Of too few nodes for a deviation between them, those that are far below the fastest.
fn far(
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
        let class = Class { effect, error: range / 2.0, is_fault: false, cause: String::new(), why };
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
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
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
    fn classes(&self, nodes: &[Own<'_>], kernels: &[String]) -> BTreeMap<usize, Class> {
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
            is_fault: false,
            cause: String::new(),
            why: words::two_levels(counts, self.effect.exp_m1(), kernels, &own),
        };
        self.slow.iter().map(|at| (*at, class.clone())).collect()
    }
}

/// The nodes whose value of a setting goes with a lower level, by their places; of several settings that which explains most. Others that no
/// slow node shares with a fast one explain as much, so they are named with it.
fn classes(
    nodes: &[Own<'_>],
    middles: &[Option<f64>],
    family: Family,
    kernels: &[String],
    away: f64,
) -> BTreeMap<usize, Class> {
    let settings: Vec<&Setting> = SETTINGS.iter().filter(|setting| setting.concerns(family)).collect();
    let value = |setting: &Setting, at: usize| {
        let value = nodes[at].newest().settings.get(setting.name)?;
        Some(value.as_str()).filter(|value| !value.starts_with("un"))
    };
    // Which values of a setting slow and fast nodes have, if none has one of the other side.
    let apart = |setting: &Setting, slow: &[(usize, f64)], fast: &[(usize, f64)]| {
        let of = |side: &[(usize, f64)]| side.iter().filter_map(|(at, _)| value(setting, *at)).collect::<BTreeSet<_>>();
        let [slow, fast] = [slow, fast].map(of);
        let text = |values: &BTreeSet<&str>| values.iter().copied().collect::<Vec<_>>().join(" or ");
        let is_apart = !slow.is_empty() && !fast.is_empty() && slow.is_disjoint(&fast);
        is_apart.then(|| (setting.is_fault, [format!("{} {}", setting.name, text(&slow)), text(&fast)]))
    };
    let of_setting = |setting: &Setting| {
        let mut values: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
        for (at, level) in middles.iter().enumerate() {
            if let Some((value, level)) = value(setting, at).zip(*level) {
                values.entry(value).or_default().push((at, level));
            }
        }
        values.retain(|_, own| own.len() >= CLASS);
        let levels: BTreeMap<&str, f64> = values
            .iter()
            .filter_map(|(value, own)| Some((*value, median(own.iter().map(|(_, level)| *level))?)))
            .collect();
        let (mut found, mut explained) = (BTreeMap::new(), 0.0);
        let best = levels.iter().max_by(|one, other| one.1.total_cmp(other.1));
        let Some((best, highest)) = best else { return (explained, found) };
        let spread =
            deviation(values.iter().flat_map(|(value, own)| own.iter().map(|(_, level)| level - levels[value])));
        for (value, own) in values.iter().filter(|(value, _)| *value != best) {
            let effect = levels[value] - highest;
            let [here, others] = [own.len(), values[best].len()];
            let error = OF_MEDIAN * spread * (1.0 / here as f64 + 1.0 / others as f64).sqrt();
            if effect > (1.0 - LEAST).ln() || effect > -EACH * spread || effect > -away * error {
                continue;
            }
            let alike: Vec<_> = settings.iter().copied().filter_map(|other| apart(other, own, &values[best])).collect();
            let [cause, fast] =
                [0, 1].map(|side| alike.iter().map(|(_, sides)| sides[side].as_str()).collect::<Vec<_>>().join(", "));
            let class = Class {
                effect,
                error,
                is_fault: alike.iter().all(|(is_fault, _)| *is_fault),
                why: words::class([&cause, &fast], [here, others], effect.exp_m1(), kernels),
                cause,
            };
            // A node that is as fast as the others is not explained.
            explained +=
                own.iter().map(|(_, level)| (level - highest).abs() - (level - highest - effect).abs()).sum::<f64>();
            found.extend(own.iter().map(|(at, _)| (*at, class.clone())));
        }
        (explained, found)
    };
    let all = settings.iter().copied().map(of_setting);
    all.reduce(|most, other| if other.0 > most.0 { other } else { most }).map(|(_, found)| found).unwrap_or_default()
}
