//! Whether a node as a whole is slow: by the spread between nodes and visits, and by the settings that several nodes share.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::Family;
use charz_data::report::Unit;
use charz_stats::median;

use crate::classes::{Class, Gap, SETTINGS, Setting, classes, far};
use crate::norms::{EACH, ENOUGH_NODES, LEAST, LEAST_OF_PAIRS, Levels, MAY_BE, Own, VISITS, by_build, deviation};
use crate::visit::{Build, Speed, Visit, load};
use crate::{Blame, Differs, Node, State, words};

/// How often at most a fleet without a fault may have a slow node, and the chance that takes: nodes, and four aspects of each at least.
const FALSE_NODES: f64 = 0.01;
const ASPECTS: f64 = 4.0;
/// A deviation that few nodes tell is taken as larger: by this many parts in as many as there are nodes.
const FEW: f64 = 2.0;

/// How fast the nodes of a group are.
pub(crate) struct Whole {
    /// The newest visit of each node against the median of the group, by load and kernel, as logarithms.
    levels: BTreeMap<String, Levels>,
    /// The same by kernel, under the load that each node is slowest under.
    lowest: Levels,
    aspects: Vec<Aspect>,
}

/// Kernels that share what slows them in an hour, so two of them are one witness. Each load has its own: a lack of power or of memory
/// modules shows where all CPUs work, one of turbo by one thread, and nodes that are well differ by more under one than under another.
struct Aspect {
    name: String,
    load: String,
    family: Family,
    kernels: Vec<String>,
    /// The visits of each node, the newest last; what its class has in common is taken off.
    of: Vec<Vec<f64>>,
    /// The standard deviation of a visit, and that of the median of a node's visits.
    single: f64,
    between: f64,
    /// How many deviations make a slow node, and how many a question.
    away: f64,
    may_be: f64,
    classes: BTreeMap<usize, Class>,
    /// Settings of nodes that are not slow: they are no cause.
    innocent: BTreeSet<(&'static str, String)>,
}

/// What is compared: a kernel, and of lines that travel between CPUs each distance.
fn quantity(kernel: &str, configuration: &str, family: Family) -> String {
    match configuration.split(' ').next() {
        Some(distance) if family == Family::Sync && distance.starts_with("pair:") => format!("{kernel} {distance}"),
        _ => kernel.to_owned(),
    }
}

/// The load that an aspect is judged under by itself: the threads, and the size of the memory. A latency has the size alone, so what one
/// thread finds of it and what many find confirm each other.
fn under(configuration: &str, unit: Unit) -> String {
    let mut words = load(configuration).split(' ');
    let threads = words.next().filter(|_| unit != Unit::NanosecondsPerStep).unwrap_or_default();
    let size = words.skip_while(|word| *word != "size").nth(1).unwrap_or_default();
    format!("{threads} {size}")
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

/// By the name of an aspect, and its load.
type ByAspect<Value> = BTreeMap<(String, String), Value>;

/// What an aspect says of a node.
enum Said {
    Slow(Option<String>, Blame),
    Doubt(String, Blame),
    Note(String),
}

/// The worst of it first.
fn rank(said: &[Said]) -> (State, f64) {
    let rank = |said: &Said| match said {
        Said::Slow(_, blame) => (State::Slow, blame.effect),
        Said::Doubt(_, blame) => (State::Unclear, blame.effect),
        Said::Note(_) => (State::Ok, 0.0),
    };
    let worst = said.iter().map(rank).reduce(|one, other| if other < one { other } else { one });
    worst.unwrap_or((State::Ok, f64::INFINITY))
}

/// Takes the median of the nodes off each kernel.
fn center(levels: &mut Levels) {
    for all in levels.values_mut() {
        let middle = median(all.iter().copied().flatten()).unwrap_or(0.0);
        all.iter_mut().flatten().for_each(|level| *level -= middle);
    }
}

impl Whole {
    pub(crate) fn of(nodes: &[Own<'_>]) -> Self {
        let middles = middles(nodes);
        let builds = by_build(nodes);
        // Of few nodes with several builds none is compared.
        let enough = ENOUGH_NODES.min(nodes.len());
        let mut levels: BTreeMap<String, Levels> = BTreeMap::new();
        let mut kernels: ByAspect<(Family, BTreeSet<String>)> = BTreeMap::new();
        let mut of: ByAspect<Vec<Vec<(usize, f64)>>> = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate() {
            for (nth, visit) in node.visits.iter().enumerate() {
                // Under a load each kernel is the middle of its configurations, each aspect the middle of its kernels.
                let mut rests: BTreeMap<(String, Named), Vec<f64>> = BTreeMap::new();
                for (key, speed) in &visit.speeds {
                    let Some(middle) = middles[&visit.build].get(key) else { continue };
                    rests
                        .entry((under(&key.1, speed.unit), named(visit, key, speed)))
                        .or_default()
                        .push(speed.log - middle);
                }
                let mut aspects: ByAspect<Vec<f64>> = BTreeMap::new();
                for ((load, (quantity, of_aspect)), rests) in rests {
                    let Some(level) = median(rests) else { continue };
                    if nth + 1 == node.visits.len() {
                        let own = levels.entry(load.clone()).or_default().entry(quantity.clone());
                        own.or_insert_with(|| vec![None; nodes.len()])[at] = Some(level);
                    }
                    if let Some((family, aspect)) = of_aspect.filter(|_| builds[&visit.build] >= enough) {
                        let key = (aspect, load);
                        kernels.entry(key.clone()).or_insert((family, BTreeSet::new())).1.insert(quantity);
                        aspects.entry(key).or_default().push(level);
                    }
                }
                for (aspect, levels) in aspects {
                    let all = of.entry(aspect).or_insert_with(|| vec![Vec::new(); nodes.len()]);
                    all[at].extend(median(levels).map(|level| (nth, level)));
                }
            }
        }
        levels.values_mut().for_each(center);
        let mut lowest = Levels::new();
        for (kernel, all) in levels.values().flatten() {
            let own = lowest.entry(kernel.clone()).or_insert_with(|| vec![None; nodes.len()]);
            own.iter_mut().zip(all).for_each(|(own, level)| *own = own.iter().chain(level).copied().reduce(f64::min));
        }
        center(&mut lowest);
        let looks = of.len() as f64;
        let aspects = of.into_iter().filter_map(|(key, of)| {
            let (family, kernels) = kernels.remove(&key)?;
            Aspect::of(nodes, key, (family, kernels.into_iter().collect()), of, &levels, looks.max(ASPECTS))
        });
        Whole { aspects: aspects.collect(), lowest, levels }
    }

    /// By how much a node is faster than the median, by kernel, as fractions.
    pub(crate) fn effects(&self, at: usize) -> BTreeMap<String, f64> {
        self.lowest.iter().filter_map(|(kernel, all)| Some((kernel.clone(), all[at]?.exp_m1()))).collect()
    }

    /// Whether the node as a whole is slow. Slow parts explain as much of a family's loss as the slowest of them has.
    pub(crate) fn blame(&self, node: &mut Node, at: usize, own: &Own<'_>, explained: &BTreeMap<Family, f64>) {
        // Once by each aspect, under the load that says the worst of it.
        let mut worst: BTreeMap<&str, Vec<Said>> = BTreeMap::new();
        for aspect in &self.aspects {
            let explained = explained.get(&aspect.family).copied().unwrap_or(0.0);
            let (mut said, kept) = (Vec::new(), worst.entry(&aspect.name).or_default());
            self.judge(aspect, &mut said, &node.differs, at, own, explained);
            if rank(&said) < rank(kept) {
                *kept = said;
            }
        }
        for said in worst.into_values().flatten() {
            match said {
                Said::Slow(why, blame) => {
                    node.why.extend(why);
                    node.slow(blame);
                }
                Said::Doubt(why, blame) => node.doubt(why, blame),
                Said::Note(why) => node.why.push(why),
            }
        }
    }

    /// `None` where the node is not slow in it, or nothing else is to be said.
    fn judge(
        &self,
        aspect: &Aspect,
        said: &mut Vec<Said>,
        differs: &BTreeMap<String, Differs>,
        at: usize,
        own: &Own<'_>,
        explained: f64,
    ) -> Option<()> {
        let (newest, least) = (own.newest(), least(aspect.family));
        let blame = |kernels: &[&str], effect: f64, error: f64| Blame {
            component: "node".into(),
            ids: newest.partitions.cpus_of_all(),
            quantity: kernels.join(", "),
            effect: effect.exp_m1(),
            interval: [-2.0, 2.0].map(|times| (effect + times * error).exp_m1()),
            cause: None,
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
                said.push(Said::Slow(Some(class.why.clone()), Blame { cause: class.cause.clone(), ..blame }));
                return None;
            }
            said.push(Said::Doubt(class.why.clone(), blame));
        }
        let visits: Vec<f64> = aspect.of[at].iter().map(|visit| visit + explained).collect();
        let level = |kernel: &str| self.levels.get(&aspect.load)?.get(kernel).and_then(|all| all[at]);
        let slow = |kernel: &&str| level(kernel).is_some_and(|own| own <= least);
        let kernels: Vec<&str> = all.iter().copied().filter(slow).collect();
        let here = newest.speeds.iter().filter(|((_, rest), speed)| under(rest, speed.unit) == aspect.load);
        let has = |name: &str| here.clone().any(|((own, rest), _)| quantity(own, rest, aspect.family) == name);
        let lacked: BTreeSet<&str> = all.iter().copied().filter(|kernel| !has(kernel)).collect();
        let is_lost = lacked.len() == all.len();
        let run = visits.iter().rev().take_while(|visit| **visit <= least.min(-EACH * aspect.single)).count();
        let middle = median(visits.iter().copied())?;
        if run < VISITS && visits.len() >= VISITS && middle <= least.min(-aspect.may_be * aspect.between) {
            if !is_lost && *visits.last()? > least {
                let slow = median(visits.iter().copied().filter(|visit| *visit <= least))?;
                said.push(Said::Note(words::no_longer(&blame(&all, slow - explained, aspect.between))));
                return None;
            }
            let blame = blame(&all, middle - explained, aspect.between);
            said.push(Said::Doubt(words::disagree(&blame, visits.len()), blame));
            return None;
        }
        let effect = median(visits[visits.len() - run..].iter().copied())?;
        let deviation = if run >= VISITS { aspect.between } else { aspect.single };
        let named = if is_lost { &all } else { &kernels };
        if effect > -aspect.may_be * deviation || named.is_empty() {
            return None;
        }
        // One kernel alone may err, but one that the newest visit lacks does not acquit.
        let needed = self.kernels(&aspect.name).len().min(2);
        if kernels.len() + lacked.len() < needed {
            return None;
        }
        let is_sure = kernels.len() >= needed;
        let blame = blame(named, effect - explained, deviation);
        let is_cause = |setting: &&Setting| setting.is_cause && setting.concerns(aspect.family) && kernels.len() >= 2;
        let cause = SETTINGS.iter().filter(is_cause).find_map(|setting| {
            let Differs { here, others } = differs.get(setting.name)?;
            let can_slow = setting.can_slow(here, others) && !aspect.innocent.contains(&(setting.name, here.clone()));
            can_slow.then(|| format!("{} {here}", setting.name))
        });
        if effect <= -aspect.away * deviation && is_sure && !is_guests_memory && (run >= VISITS || cause.is_some()) {
            said.push(Said::Slow(None, Blame { cause, ..blame }));
            return None;
        }
        let why = if is_guests_memory {
            words::guest_memory(&words::told(&blame))
        } else if is_lost {
            words::lost(&blame, run)
        } else if !is_sure {
            words::one_kernel(&blame, &lacked)
        } else if run >= VISITS {
            words::wide(&blame, run, 1.0 - (-aspect.away * deviation).exp())
        } else {
            words::more_visits(&blame, run, VISITS - run, [visits.len(), own.visits.len(), own.reports])
        };
        said.push(Said::Doubt(why, blame));
        None
    }

    /// Those of an aspect under any load.
    fn kernels(&self, name: &str) -> BTreeSet<&String> {
        self.aspects.iter().filter(|aspect| aspect.name == name).flat_map(|aspect| &aspect.kernels).collect()
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
        (name, load): (String, String),
        (family, kernels): (Family, Vec<String>),
        visits: Vec<Vec<(usize, f64)>>,
        levels: &BTreeMap<String, Levels>,
        looks: f64,
    ) -> Option<Self> {
        let mut of: Vec<Vec<f64>> = visits.iter().map(|own| own.iter().map(|(_, level)| *level).collect()).collect();
        let middles: Vec<Option<f64>> = of.iter().map(|visits| median(visits.iter().copied())).collect();
        let count = middles.iter().flatten().count();
        if nodes.len() < ENOUGH_NODES {
            let (classes, innocent) = (far(nodes, &of, family, &kernels, levels.get(&load)?), BTreeSet::new());
            let [single, between, away, may_be] = [f64::INFINITY; 4];
            return Some(Aspect { name, load, family, kernels, of, single, between, away, may_be, classes, innocent });
        }
        if count < ENOUGH_NODES {
            return None;
        }
        let away = (2.0 * (count as f64 * looks / FALSE_NODES).ln()).sqrt() * (1.0 + FEW / count as f64);
        // As many questions of nodes that are well as four aspects have.
        let may_be = (MAY_BE.powi(2) + 2.0 * (looks / ASPECTS).ln()).sqrt();
        let mut classes = classes(nodes, &visits, family, &kernels, away);
        if classes.is_empty() {
            classes.extend(Gap::of(&middles, least(family)).iter().flat_map(|gap| gap.classes(nodes, &kernels)));
            // One that was repaired is no longer on the lower level.
            let rise = |at: usize| Some(visits[at].last()?.1 - middles[at]?);
            classes.retain(|at, class| rise(*at).is_some_and(|rise| rise <= -class.shared / 2.0));
        }
        let own = |at: usize| classes.get(&at).map_or(0.0, |class| class.shared);
        let middle = median(middles.iter().enumerate().filter_map(|(at, level)| Some((*level)? - own(at))))?;
        of.iter_mut()
            .enumerate()
            .for_each(|(at, visits)| visits.iter_mut().for_each(|visit| *visit -= middle + own(at)));
        let limit = middle + least(family);
        let is_well =
            |at: &usize| middles[*at] > Some(limit) && visits[*at].last().is_some_and(|(_, own)| *own > limit);
        let settings = |at: usize| {
            SETTINGS.iter().filter_map(move |own| Some((own.name, own.value(nodes[at].newest())?.to_owned())))
        };
        let innocent = (0..nodes.len()).filter(is_well).flat_map(settings).collect();
        let single = deviation(of.iter().flatten().copied());
        let between = deviation(of.iter().filter_map(|visits| median(visits.iter().copied())));
        Some(Aspect { name, load, family, kernels, of, single, between, away, may_be, classes, innocent })
    }
}

/// What is less is no matter of a fault, as a logarithm.
fn least(family: Family) -> f64 {
    (1.0 - if family == Family::Sync { LEAST_OF_PAIRS } else { LEAST }).ln()
}
