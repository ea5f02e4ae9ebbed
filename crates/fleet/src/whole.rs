//! Whether a node as a whole is slow: by the spread between nodes and visits, and by the settings that several nodes share.

use std::collections::{BTreeMap, BTreeSet};

use charz_stats::median;

use crate::claim::{Blame, By, Cause, Claim, Clock, Component, Differs, Doubt, Node, Quantity, State};
use crate::classes::{Gap, Lower, classes, far};
use crate::norms::{EACH, ENOUGH_NODES, LEAST, LEAST_OF_PAIRS, Levels, MAY_BE, Own, VISITS, by_build, deviation};
use crate::setting::{Aspect, SUSPECTS, Setting, Suspect, Value};
use crate::visit::{Build, Clocked, Key, Visit};

/// How often at most a fleet without a fault may have a slow node, and the chance that takes: nodes, and four aspects of each at least.
const FALSE_NODES: f64 = 0.01;
const ASPECTS: f64 = 4.0;
/// A deviation that few nodes tell is taken as larger: by this many parts in as many as there are nodes.
const FEW: f64 = 2.0;
/// Of the runs of a load so many must have a slow clock, one in so many; and where the clock fell, of those after its fall at most one in so
/// many may have a usual one.
const CLOCKED: usize = 4;
const STRAYS: usize = 10;

/// How fast the nodes of a group are.
pub(crate) struct Whole {
    /// The newest visit of each node against the median of the group, by load and kernel, as logarithms.
    levels: BTreeMap<Under, Levels>,
    /// The same by kernel, under the load that each node is slowest under.
    lowest: Levels,
    looks: Vec<Look>,
    /// The usual hertz of the fastest core and of the slowest, of configurations that several nodes have.
    clocks: BTreeMap<Key, [f64; 2]>,
}

/// Kernels that share what slows them in an hour, so two of them are one witness. Each load has its own: a lack of power or of memory
/// modules shows where all CPUs work, one of turbo by one thread, and nodes that are well differ by more under one than under another.
struct Look {
    of: Of,
    load: Under,
    kernels: BTreeSet<Quantity>,
    /// The visits of each node, the newest last; what its class has in common is taken off.
    visits: Vec<Vec<f64>>,
    /// The standard deviation of a visit, and that of the median of a node's visits.
    single: f64,
    between: f64,
    /// How many deviations make a slow node, and how many a question.
    away: f64,
    may_be: f64,
    classes: BTreeMap<usize, Lower>,
    /// Settings of nodes that are not slow: they are no cause.
    innocent: BTreeSet<(Setting, Value)>,
}

/// An aspect; of lines each distance by itself.
type Of = (Aspect, Option<Quantity>);

/// The load that an aspect is judged under by itself: the threads, and the size of the memory. A latency has the size alone, so what one
/// thread finds of it and what many find confirm each other.
type Under = (Option<u64>, Option<u64>);

/// What each node shows at each of its visits that shows any, by the visit's number.
type Levelled = Vec<Vec<(usize, f64)>>;

/// What a configuration measures.
fn measured(visit: &Visit, (kernel, of): &Key) -> (Quantity, Option<Of>, Under) {
    let aspect = visit.kernels.get(kernel).copied().flatten();
    let is_distance = aspect == Some(Aspect::Lines) && of.mapping.starts_with("pair:");
    let quantity = Quantity { kernel: kernel.clone(), distance: is_distance.then(|| of.mapping.clone()) };
    let own = aspect.filter(|aspect| *aspect != Aspect::Lines || is_distance);
    let own = own.map(|aspect| (aspect, is_distance.then(|| quantity.clone())));
    let threads = (aspect != Some(Aspect::Latency)).then_some(of.load.threads);
    (quantity, own, (threads, of.load.size))
}

/// The worst of it first.
fn rank(claims: &[Claim]) -> (State, f64) {
    let rank = |claim: &Claim| match claim {
        Claim::Slow(blame) | Claim::Doubt(blame, _) => (claim.state(), blame.effect),
        _ => (State::Ok, 0.0),
    };
    let worst = claims.iter().map(rank).reduce(|one, other| if other < one { other } else { one });
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
        let mut levels: BTreeMap<Under, Levels> = BTreeMap::new();
        let mut looks: BTreeMap<(Of, Under), (BTreeSet<Quantity>, Levelled)> = BTreeMap::new();
        for (at, node) in nodes.iter().enumerate() {
            for (nth, visit) in node.visits.iter().enumerate() {
                // Under a load each kernel is the middle of its configurations, each aspect the middle of its kernels.
                let mut rests: BTreeMap<_, Vec<f64>> = BTreeMap::new();
                for (key, speed) in &visit.speeds {
                    let Some(middle) = middles[&visit.build].get(key) else { continue };
                    rests.entry(measured(visit, key)).or_default().push(speed.log - middle);
                }
                let mut own: BTreeMap<(Of, Under), Vec<f64>> = BTreeMap::new();
                for ((quantity, of, load), rests) in rests {
                    let Some(level) = median(rests) else { continue };
                    if nth + 1 == node.visits.len() {
                        let own = levels.entry(load).or_default().entry(quantity.clone());
                        own.or_insert_with(|| vec![None; nodes.len()])[at] = Some(level);
                    }
                    if let Some(of) = of.filter(|_| builds[&visit.build] >= enough) {
                        let key = (of, load);
                        looks.entry(key.clone()).or_default().0.insert(quantity);
                        own.entry(key).or_default().push(level);
                    }
                }
                for (key, levels) in own {
                    let (_, all) = looks.entry(key).or_default();
                    all.resize(nodes.len(), Vec::new());
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
        let count = looks.len() as f64;
        let looks = looks.into_iter().filter_map(|((of, load), (kernels, visits))| {
            Look::of(nodes, of, (load, kernels), visits, &levels, count.max(ASPECTS))
        });
        Whole { looks: looks.collect(), lowest, levels, clocks: usual_clocks(nodes) }
    }

    /// By how much a node is faster than the median, by kernel, as fractions.
    pub(crate) fn effects(&self, at: usize) -> BTreeMap<Quantity, f64> {
        self.lowest.iter().filter_map(|(kernel, all)| Some((kernel.clone(), all[at]?.exp_m1()))).collect()
    }

    /// Whether the node as a whole is slow: once by each aspect, under the load that has the worst of it. `explained` has how much of an
    /// aspect's loss slow parts explain: as much as the slowest of them has.
    pub(crate) fn claims(
        &self,
        node: &Node,
        at: usize,
        own: &Own<'_>,
        explained: impl Fn(Aspect) -> f64,
    ) -> Vec<Claim> {
        let mut worst: BTreeMap<&Of, Vec<Claim>> = BTreeMap::new();
        for look in &self.looks {
            let (mut claims, kept) = (Vec::new(), worst.entry(&look.of).or_default());
            self.judge(look, &mut claims, &node.differs, at, own, explained(look.of.0));
            if rank(&claims) < rank(kept) {
                *kept = claims;
            }
        }
        worst.into_values().flatten().collect()
    }

    /// `None` where the node is not slow in it, or nothing else is to be said.
    fn judge(
        &self,
        look: &Look,
        claims: &mut Vec<Claim>,
        differs: &BTreeMap<Setting, Differs>,
        at: usize,
        own: &Own<'_>,
        explained: f64,
    ) -> Option<()> {
        let (newest, aspect) = (own.newest(), look.of.0);
        let (least, all) = (least(aspect), &look.kernels);
        let blame = |kernels: &BTreeSet<Quantity>, effect: f64, error: f64| Blame {
            part: Component::Node,
            cpus: newest.partitions.cpus_of_all(),
            by: By::Kernels(kernels.clone()),
            effect: effect.exp_m1(),
            interval: [-2.0, 2.0].map(|times| (effect + times * error).exp_m1()),
            cause: None,
            clock: self.clock(newest, |key| measured(newest, key).2 == look.load && has(all, key), effect, 0),
        };
        if aspect == Aspect::Lines && newest.is_guest {
            // Its host puts its CPUs where it likes.
            return None;
        }
        let is_guests_memory = aspect.is_of_memory() && newest.is_guest;
        let is_open = |lower: &&Lower| lower.is_fault || lower.effect + explained <= least;
        if let Some(lower) = look.classes.get(&at).filter(|_| !is_guests_memory).filter(is_open) {
            let blame = blame(&lower.kernels, lower.effect, lower.error);
            if lower.is_fault {
                let cause = match &lower.why {
                    Doubt::Class(class) if lower.is_as_others => Some(Cause::Class(class.clone())),
                    _ => None,
                };
                claims.push(Claim::Slow(Blame { cause, ..blame }));
                return None;
            }
            claims.push(Claim::Doubt(blame, lower.why.clone()));
        }
        let visits: Vec<f64> = look.visits[at].iter().map(|visit| visit + explained).collect();
        let level = |kernel: &Quantity| self.levels.get(&look.load)?.get(kernel).and_then(|all| all[at]);
        let slow = all.iter().filter(|kernel| level(kernel).is_some_and(|own| own <= least));
        let kernels: BTreeSet<Quantity> = slow.cloned().collect();
        let here = newest.speeds.keys().map(|key| measured(newest, key)).filter(|(.., load)| *load == look.load);
        let here: BTreeSet<Quantity> = here.map(|(quantity, ..)| quantity).collect();
        let lacked: BTreeSet<Quantity> = all.difference(&here).cloned().collect();
        let is_lost = lacked.len() == all.len();
        let run = visits.iter().rev().take_while(|visit| **visit <= least.min(-EACH * look.single)).count();
        let middle = median(visits.iter().copied())?;
        if run < VISITS && visits.len() >= VISITS && middle <= least.min(-look.may_be * look.between) {
            if !is_lost && *visits.last()? > least {
                let slow = median(visits.iter().copied().filter(|visit| *visit <= least))?;
                claims.push(Claim::NoLonger(blame(all, slow - explained, look.between)));
                return None;
            }
            let blame = blame(all, middle - explained, look.between);
            claims.push(Claim::Doubt(blame, Doubt::Disagree(visits.len())));
            return None;
        }
        let effect = median(visits[visits.len() - run..].iter().copied())?;
        let deviation = if run >= VISITS { look.between } else { look.single };
        let named = if is_lost { all } else { &kernels };
        if effect > -look.may_be * deviation || named.is_empty() {
            return None;
        }
        // One kernel alone may err, but one that the newest visit lacks does not acquit.
        let under_any = self.looks.iter().filter(|own| own.of == look.of).flat_map(|own| &own.kernels);
        let needed = under_any.collect::<BTreeSet<_>>().len().min(2);
        if kernels.len() + lacked.len() < needed {
            return None;
        }
        let is_sure = kernels.len() >= needed;
        let blame = blame(named, effect - explained, deviation);
        let is_cause = |own: &&Suspect| own.is_cause && own.concerns(aspect) && kernels.len() >= 2;
        let cause = SUSPECTS.iter().filter(is_cause).find_map(|own| {
            let Differs { here, others } = differs.get(&own.setting)?;
            let cause = (own.setting.clone(), here.clone());
            let can_slow = own.can_slow(here, others) && !look.innocent.contains(&cause);
            can_slow.then_some(Cause::Setting(cause.0, cause.1))
        });
        if effect <= -look.away * deviation && is_sure && !is_guests_memory && (run >= VISITS || cause.is_some()) {
            claims.push(Claim::Slow(Blame { cause, ..blame }));
            return None;
        }
        let doubt = if is_guests_memory {
            Doubt::GuestMemory
        } else if is_lost {
            Doubt::Lost(run)
        } else if !is_sure {
            Doubt::OneKernel(lacked.into_iter().map(|own| own.kernel).collect())
        } else if run >= VISITS {
            Doubt::Wide(run, 1.0 - (-look.away * deviation).exp())
        } else {
            let all = [own.visits.len(), own.reports];
            Doubt::Visits { seen: [run, visits.len()], missing: VISITS - run, all }
        };
        claims.push(Claim::Doubt(blame, doubt));
        None
    }

    /// A clock that explains half of a loss at least: of the node's fastest core (0), or of its slowest (1), in these configurations.
    pub(crate) fn clock(
        &self,
        newest: &Visit,
        is_of: impl Fn(&Key) -> bool,
        effect: f64,
        core: usize,
    ) -> Option<Clock> {
        // Where no others show what is usual, it is the highest of all runs.
        let runs = newest.clocks.iter().flat_map(|(key, runs)| {
            let highest = f64::from(runs.iter().map(|run| run[1]).fold(0.0, f32::max));
            let usual = self.clocks.get(key).map_or(highest, |usual| usual[core]);
            let is_own = is_of(key);
            runs.iter().map(move |run| (f64::from(run[0]), f64::from(run[1 + core]), usual, is_own))
        });
        let limit = 1.0 - LEAST;
        let (slow, fast): (Vec<_>, Vec<_>) = runs.partition(|(_, hz, usual, _)| *hz <= limit * usual);
        let own = |all: &[(f64, f64, f64, bool)]| all.iter().filter(|run| run.3).count();
        let middle = |of: fn(&(f64, f64, f64, bool)) -> f64| median(slow.iter().filter(|run| run.3).map(of));
        let (hz, usual_hz) = (middle(|run| run.1)?, middle(|run| run.2)?);
        let begin = slow.iter().map(|run| run.0).fold(f64::INFINITY, f64::min);
        let strays = fast.iter().filter(|run| run.0 >= begin).count();
        let has_fallen = strays < fast.len() && strays * STRAYS <= slow.len();
        let is_shown = own(&slow) * CLOCKED >= own(&slow) + own(&fast) && (hz / usual_hz).ln() <= effect / 2.0;
        is_shown.then_some(Clock { hz, usual_hz, since_s: has_fallen.then_some(begin) })
    }
}

/// Whether a configuration is of one of these.
fn has(all: &BTreeSet<Quantity>, (kernel, _): &Key) -> bool {
    all.iter().any(|own| own.kernel == *kernel)
}

/// So many nodes show which clock is usual.
const SHOW_CLOCK: usize = 3;

fn usual_clocks(nodes: &[Own<'_>]) -> BTreeMap<Key, [f64; 2]> {
    let mut all: BTreeMap<&Key, Vec<[f64; 2]>> = BTreeMap::new();
    for (key, runs) in nodes.iter().flat_map(|node| &node.newest().clocks) {
        let middle = |at: usize| median(runs.iter().map(|run: &Clocked| f64::from(run[at])));
        all.entry(key).or_default().extend(middle(1).zip(middle(2)).map(<[f64; 2]>::from));
    }
    let shown = all.into_iter().filter(|(_, nodes)| nodes.len() >= SHOW_CLOCK);
    let usual = |nodes: Vec<[f64; 2]>| [0, 1].map(|core| median(nodes.iter().map(|own| own[core])).unwrap_or(0.0));
    shown.map(|(key, nodes)| (key.clone(), usual(nodes))).collect()
}

/// By the build of charz, and the configuration.
type Cells<'a, Value> = BTreeMap<&'a Build, BTreeMap<&'a Key, Value>>;

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

impl Look {
    /// `None` where too few nodes have it.
    fn of(
        nodes: &[Own<'_>],
        of: Of,
        (load, kernels): (Under, BTreeSet<Quantity>),
        visits: Levelled,
        levels: &BTreeMap<Under, Levels>,
        looks: f64,
    ) -> Option<Self> {
        let aspect = of.0;
        let mut own: Vec<Vec<f64>> = visits.iter().map(|own| own.iter().map(|(_, level)| *level).collect()).collect();
        let middles: Vec<Option<f64>> = own.iter().map(|visits| median(visits.iter().copied())).collect();
        let count = middles.iter().flatten().count();
        if nodes.len() < ENOUGH_NODES {
            let (classes, innocent) = (far(nodes, &own, aspect, &kernels, levels.get(&load)?), BTreeSet::new());
            let [single, between, away, may_be] = [f64::INFINITY; 4];
            return Some(Look { of, load, kernels, visits: own, single, between, away, may_be, classes, innocent });
        }
        if count < ENOUGH_NODES {
            return None;
        }
        let away = (2.0 * (count as f64 * looks / FALSE_NODES).ln()).sqrt() * (1.0 + FEW / count as f64);
        // As many questions of nodes that are well as four aspects have.
        let may_be = (MAY_BE.powi(2) + 2.0 * (looks / ASPECTS).ln()).sqrt();
        let mut classes = classes(nodes, &visits, aspect, &kernels, away);
        if classes.is_empty() {
            classes.extend(Gap::of(&middles, least(aspect)).iter().flat_map(|gap| gap.classes(nodes, &kernels)));
            // One that was repaired is no longer on the lower level.
            let rise = |at: usize| Some(visits[at].last()?.1 - middles[at]?);
            classes.retain(|at, class| rise(*at).is_some_and(|rise| rise <= -class.shared / 2.0));
        }
        let shared = |at: usize| classes.get(&at).map_or(0.0, |class| class.shared);
        let middle = median(middles.iter().enumerate().filter_map(|(at, level)| Some((*level)? - shared(at))))?;
        own.iter_mut()
            .enumerate()
            .for_each(|(at, visits)| visits.iter_mut().for_each(|visit| *visit -= middle + shared(at)));
        let limit = middle + least(aspect);
        let is_well =
            |at: &usize| middles[*at] > Some(limit) && visits[*at].last().is_some_and(|(_, own)| *own > limit);
        let settings = |at: usize| {
            let settings = &nodes[at].newest().settings;
            SUSPECTS.iter().filter_map(|own| Some((own.setting.clone(), settings.get(&own.setting)?.clone())))
        };
        let innocent = (0..nodes.len()).filter(is_well).flat_map(settings).collect();
        let single = deviation(own.iter().flatten().copied());
        let between = deviation(own.iter().filter_map(|visits| median(visits.iter().copied())));
        Some(Look { of, load, kernels, visits: own, single, between, away, may_be, classes, innocent })
    }
}

/// What is less is no matter of a fault, as a logarithm.
fn least(aspect: Aspect) -> f64 {
    (1.0 - if aspect == Aspect::Lines { LEAST_OF_PAIRS } else { LEAST }).ln()
}
