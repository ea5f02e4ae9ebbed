//! Which nodes are slow: parts by their contrast inside of a node, whole nodes by the spread between nodes and visits.

use std::collections::{BTreeMap, BTreeSet};

use charz_analysis::culprits::Disturber;
use charz_data::{Arrange, Family, cpulist};
use charz_stats::median;

use crate::classes::is_known;
use crate::loads::Loads;
use crate::norms::{ENOUGH_NODES, Found, LEAST, LEAST_OF_PAIRS, Norms, Own, VISITS, by_build, is_timed, parts};
use crate::parts::{By, Part};
use crate::visit::{Visit, other_build, usual_cpus};
use crate::whole::Whole;
use crate::words;
use crate::{Blame, Differs, Fleet, Group, Node, SIZES, State, USUAL, Unreadable};

/// By how much less a node must deliver of its capacity than its like.
pub(crate) const LESS_DELIVERED: f64 = 0.10;
/// How many CPUs a disturber uses that is named though the node is well.
const WORTH_TELLING: f64 = 0.25;
/// By how much the memory of two nodes differs if they have other modules; firmware and kernels keep a little of it.
const OTHER_MEMORY: f64 = 0.03;

/// What these reports say together. A report that comes twice counts once.
pub fn judge(visits: &[Visit], unreadable: Vec<Unreadable>) -> Fleet {
    let mut hosts: BTreeMap<&str, Vec<&Visit>> = BTreeMap::new();
    let mut slurm_names: BTreeMap<&str, &str> = BTreeMap::new();
    for (host, visit) in once(visits) {
        slurm_names.extend(visit.slurm_name.as_deref().map(|name| (host, name)));
        hosts.entry(host).or_default().push(visit);
    }
    let mut kinds: BTreeMap<&str, Vec<Own<'_>>> = BTreeMap::new();
    let is_timed = is_timed(visits);
    for own in hosts.into_iter().map(|(host, visits)| Own::of(host, visits, is_timed)) {
        kinds.entry(&own.newest().kind).or_default().push(own);
    }
    let mut fleet = Fleet { nodes: Vec::new(), groups: Vec::new(), unreadable };
    for (kind, nodes) in kinds.into_iter().flat_map(|(kind, nodes)| by_structure(kind, nodes)) {
        let group = fleet.groups.len();
        fleet.groups.push(Group {
            name: kind,
            nodes: nodes.iter().map(|node| node.host.to_owned()).collect(),
            visits: nodes.iter().map(|node| node.visits.len()).sum(),
        });
        fleet.nodes.extend(of_group(&nodes, group));
    }
    let mut shorts: BTreeMap<String, usize> = BTreeMap::new();
    fleet.nodes.iter().for_each(|node| *shorts.entry(words::short(&node.host).to_owned()).or_default() += 1);
    for node in fleet.nodes.iter_mut().filter(|node| node.state == State::Slow) {
        // Slurm takes no domain. Where several nodes are one without theirs, it is not known which is meant.
        let short = Some(words::short(&node.host)).filter(|short| shorts[*short] == 1 && words::is_name(&node.host));
        let known = slurm_names.get(node.host.as_str()).copied().filter(|name| words::is_name(name));
        node.drain = known.or(short).map(|name| words::drain(name, node));
    }
    let worst = |node: &Node| node.blame.first().map_or(0.0, |blame| blame.effect);
    fleet.nodes.arrange_by(|one, other| {
        (one.state.cmp(&other.state)).then(worst(one).total_cmp(&worst(other))).then_with(|| one.host.cmp(&other.host))
    });
    fleet
}

/// Each report once, with the name of its node: of the copies of a sweep that was resumed, the one with the most runs. An id that several
/// nodes have, as an image or an editor may give them, makes them no single report.
pub(crate) fn once(visits: &[Visit]) -> impl Iterator<Item = (&str, &Visit)> {
    let (mut places, mut once): (_, Vec<&Visit>) = (BTreeMap::new(), Vec::new());
    for visit in visits {
        let place = places.entry((&visit.report, &visit.host, &visit.started)).or_insert(once.len());
        match once.get_mut(*place) {
            Some(kept) if kept.runs < visit.runs => *kept = visit,
            Some(_) => {}
            None => once.push(visit),
        }
    }
    let mut domains: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for visit in &once {
        let (name, domain) = visit.host.split_once('.').unwrap_or((visit.host.as_str(), ""));
        domains.entry(name).or_default().insert(domain);
    }
    once.into_iter().map(move |visit| {
        // A batch system has the name alone where the system's has a domain too. With two domains it is not known which of them is meant.
        let is_both = |name: &&str| domains[name].contains("") && domains[name].len() == 2;
        let name = visit.host.split_once('.').map(|(name, _)| name).filter(is_both);
        (name.unwrap_or(&visit.host), visit)
    })
}

/// Sizes of a product that so many nodes have are kinds of their own; a rarer one is a node that lost a part.
const OWN_KIND: usize = 3;

/// Nodes of one product, by their numbers of CPUs, cores, sockets and NUMA nodes.
fn by_structure<'a>(kind: &str, nodes: Vec<Own<'a>>) -> Vec<(String, Vec<Own<'a>>)> {
    let mut sizes: BTreeMap<String, Vec<Own<'a>>> = BTreeMap::new();
    for own in nodes {
        sizes.entry(own.newest().structure.clone()).or_default().push(own);
    }
    let mut sizes: Vec<(String, Vec<Own<'a>>)> = sizes.into_iter().collect();
    sizes.arrange_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let most = sizes.first().map_or(0, |(_, nodes)| nodes.len());
    let is_stray = |(_, nodes): &(String, Vec<Own<'_>>)| nodes.len() < OWN_KIND && most >= 2 * nodes.len();
    let (strays, mut own): (Vec<_>, Vec<_>) = sizes.into_iter().partition(is_stray);
    if let Some((_, largest)) = own.first_mut() {
        largest.extend(strays.into_iter().flat_map(|(_, nodes)| nodes));
    }
    own.into_iter().map(|(structure, nodes)| (format!("{kind}, {structure}"), nodes)).collect()
}

fn of_group(nodes: &[Own<'_>], group: usize) -> Vec<Node> {
    let (parts, whole) = (parts(nodes, &Norms::of(nodes), LEAST), Whole::of(nodes));
    let (usual, loads) = (usual_settings(nodes), Loads::of(nodes));
    let (delivered, builds) = (delivered(nodes), by_build(nodes));
    let allowed: Vec<_> = nodes.iter().map(|own| Some(own.newest().allowed().unwrap_or(1.0))).collect();
    let with_more =
        |own: Option<f64>| allowed.iter().filter(|other| **other > own.map(|own| own + LESS_DELIVERED)).count();
    let usable = usual_cpus(nodes.iter().map(Own::newest));
    let usual_shares: Vec<_> = of_others(&delivered).into_iter().zip(of_others(&allowed)).collect();
    let judged = nodes.iter().enumerate().map(|(at, own)| {
        let newest = own.newest();
        let mut node = Node {
            host: own.host.to_owned(),
            state: State::Ok,
            why: Vec::new(),
            blame: Vec::new(),
            differs: differs(newest, &usual),
            group,
            visits: own.visits.len(),
            effects: whole.effects(at),
            reliable: newest.compared().into_iter().map(|(kernel, is)| (kernel.to_owned(), is)).collect(),
            delivered: delivered[at],
            drain: None,
        };
        if own.visits.iter().all(|visit| visit.reliable[0] == 0) {
            node.state = State::Unmeasured;
            node.why.push(newest.unmeasured());
            node.name_disturbers(newest);
            return node;
        }
        if own.do_overlap || own.kinds > 1 {
            node.unclear(words::shared(own.reports, own.kinds, own.do_overlap));
            return node;
        }
        let mut explained: BTreeMap<Family, f64> = BTreeMap::new();
        let is_part = newest.is_part(usable, nodes.len());
        let is_alone = !newest.is_shared(usable, nodes.len());
        for (family, blame, doubt) in blame_parts(own, &parts[at]).into_iter().filter(|_| is_alone) {
            let most = explained.entry(family).or_default();
            *most = most.max(-blame.effect.ln_1p());
            match doubt {
                // A part that is faster is not to blame.
                Some(why) if blame.effect > 0.0 => node.unclear(why),
                Some(why) => node.doubt(why, blame),
                None => node.slow(blame),
            }
        }
        whole.blame(&mut node, at, own, &explained);
        let smaller = SIZES.iter().filter_map(|name| Some((*name, node.differs.get(*name)?)));
        let mut smaller: Vec<String> = smaller.map(|(name, differs)| words::smaller(name, differs)).collect();
        // Of few nodes no size need be that of most; the first is of the size that the most have.
        let usual_size = &nodes[0].newest().structure;
        if smaller.is_empty() && newest.structure != *usual_size {
            smaller.push(words::sizes(&newest.structure, "nodes like it", usual_size));
        }
        let is_smaller = is_part || !smaller.is_empty();
        smaller.into_iter().for_each(|why| node.unclear(why));
        let is_unusual = || 2 * with_more(allowed[at]) > nodes.len();
        blame_delivered(&mut node, newest, usual_shares[at], is_unusual);
        let of_build = builds[&newest.build];
        let is_alone = of_build == 1 || (builds.len() > 1 && of_build < ENOUGH_NODES);
        loads.tell_missing(&mut node, newest, is_smaller, is_alone);
        let is_on_other_pages = |own: &&(&str, &str)| newest.lacks_huge_pages(own.0, own.1);
        let other_pages: BTreeSet<_> = loads.usual.iter().filter(is_on_other_pages).copied().collect();
        if !other_pages.is_empty() {
            node.unclear(words::other_pages(other_pages));
        }
        if is_part {
            node.unclear(words::partly(newest.cpus));
        }
        if !own.dropped.is_empty() {
            node.why.push(words::dropped(&own.dropped));
        }
        if builds[&newest.build] < ENOUGH_NODES {
            let most = builds.iter().filter(|(build, _)| **build != &newest.build).max_by_key(|(_, count)| **count);
            let other = most.and_then(|(build, _)| other_build(build, &newest.build));
            let was_delivered = node.delivered.and(usual_shares[at].0).is_some();
            let why = words::alone(builds[&newest.build] - 1, other, was_delivered);
            match other {
                Some(_) => node.unclear(why),
                None => node.why.push(why),
            }
        }
        node.name_disturbers(newest);
        node.blame.arrange_by(|one, other| one.effect.total_cmp(&other.effect));
        node
    });
    judged.collect()
}

impl Node {
    /// What was blamed with a doubt before is no reason.
    pub(crate) fn slow(&mut self, blame: Blame) {
        if self.state != State::Slow {
            self.blame.clear();
        }
        self.state = State::Slow;
        self.blame.push(blame);
    }

    pub(crate) fn doubt(&mut self, why: String, blame: Blame) {
        self.unclear(why);
        if self.state != State::Slow {
            self.blame.push(blame);
        }
    }

    /// Names what disturbed a node that is not well, or much, though the numbers bear it.
    fn name_disturbers(&mut self, newest: &Visit) {
        let is_told = |most: &Disturber| self.state != State::Ok || most.cpus >= WORTH_TELLING;
        if newest.disturbers.first().is_some_and(is_told) {
            self.why.push(words::meanwhile(&newest.disturbers));
        }
    }

    pub(crate) fn unclear(&mut self, why: String) {
        self.state = self.state.min(State::Unclear);
        self.why.push(why);
    }
}

/// The parts of one report that are slower by `least` at least, by what is usual elsewhere, and those whose like may be.
pub(crate) fn slow_parts(visit: &Visit, norms: &Norms, least: f64) -> Vec<Blame> {
    let own = [Own::of(&visit.host, vec![visit], false)];
    let parts = parts(&own, norms, least);
    blame_parts(&own[0], &parts[0])
        .into_iter()
        .filter(|(_, blame, doubt)| doubt.is_none() || blame.effect > 0.0)
        .map(|(_, blame, _)| blame)
        .collect()
}

/// The parts of a node that two kernels of a family find slow, or one where no other was measured; with the family, and what is doubtful.
fn blame_parts(own: &Own<'_>, parts: &BTreeMap<Part, BTreeMap<String, Found>>) -> Vec<(Family, Blame, Option<String>)> {
    let newest = own.newest();
    let mut blamed = Vec::new();
    let family = |kernel: &str| newest.families.get(kernel).copied().unwrap_or(Family::Compute);
    for of in [Family::Compute, Family::Memory, Family::Sync] {
        // Those that say so, by part.
        let mut slow: BTreeMap<Part, Vec<(&str, &Found)>> = BTreeMap::new();
        let mut measured = BTreeSet::new();
        for (part, kernels) in parts {
            for (kernel, found) in kernels.iter().filter(|(kernel, _)| family(kernel) == of) {
                measured.insert(kernel.as_str());
                if found.is_slow {
                    slow.entry(*part).or_default().push((kernel, found));
                }
            }
        }
        // A pair of CPUs has one kernel as a rule, and no part of it has its like in another.
        let needed = if of == Family::Sync { 1 } else { 2 };
        let lone = measured.len() < needed;
        slow.retain(|_, said| said.len() >= needed || lone);
        let partitions = &newest.partitions;
        let told: BTreeSet<Part> = slow.keys().copied().collect();
        for (part, said) in &slow {
            // A part that is faster where most of its like are slow: their median is slow too, and gives no size.
            let mut faster = None;
            if let Part::Level(level, index) = *part {
                let inside = partitions.inside(level, index);
                let slow_inside = inside.iter().filter(|part| told.contains(part)).count();
                // Some of it is slow, and the rest is not.
                if slow_inside > 0 && slow_inside < inside.len() {
                    continue;
                }
                // All around it are slow with it.
                let around = (level > 0).then(|| {
                    told.iter().find(|around| match **around {
                        Part::Level(outer, own) => {
                            let inside = partitions.inside(outer, own);
                            outer + 1 == level && inside.contains(part) && inside.iter().all(|part| told.contains(part))
                        }
                        Part::Pair(..) => false,
                    })
                });
                if around.flatten().is_some() {
                    continue;
                }
                // A core's like are in the same part, and noise hides a part of its lead.
                let of_cores = level + 2 == partitions.levels.len();
                let share = if of_cores { 0.5 } else { 1.0 };
                let is_as_far = |all: &BTreeMap<String, Found>| {
                    let is = |kernel: &str, effect: f64| all.get(kernel).is_some_and(|found| found.effect >= -effect);
                    said.iter().all(|(kernel, own)| is(kernel, share * own.effect))
                };
                let is_inner = |other: &Part| match other {
                    Part::Level(at, _) => *at == level + 1 && (!of_cores || inside.contains(other)),
                    Part::Pair(..) => false,
                };
                if slow_inside == 0 {
                    faster = parts.iter().find(|(other, all)| is_inner(other) && is_as_far(all));
                }
            }
            let names: Vec<&str> = said.iter().map(|(kernel, _)| *kernel).collect();
            let blame = |part: Part, all: &BTreeMap<String, Found>| {
                let middle = |of: fn(&Found) -> f64| {
                    median(names.iter().filter_map(|kernel| all.get(*kernel)).map(of)).map_or(0.0, f64::exp_m1)
                };
                Blame {
                    component: component(part, partitions, of),
                    ids: partitions.cpus(part),
                    quantity: names.join(", "),
                    effect: middle(|found| found.effect),
                    interval: [middle(|found| found.interval[0]), middle(|found| found.interval[1])],
                    cause: None,
                }
            };
            if let Some((faster, all)) = faster {
                let blame = blame(*faster, all);
                let why = words::faster(&blame);
                blamed.push((of, blame, Some(why)));
                continue;
            }
            let blame = blame(*part, &parts[part]);
            // A guest's CPUs are where its host puts them: a state of that hour, and no fault, unless all visits find it.
            let is_so = |visit: &&&Visit| {
                let of_kernel =
                    said.iter().filter_map(|(kernel, _)| visit.contrasts.get(&(*part, (*kernel).to_owned())));
                of_kernel
                    .filter_map(|runs| median(runs.iter().copied()))
                    .any(|middle| middle.exp_m1() <= -LEAST_OF_PAIRS)
            };
            let times = own.visits.iter().filter(is_so).count();
            let is_moved = of == Family::Sync && newest.is_guest && times < VISITS;
            // Its offset may be that of this part in all nodes of its structure, as of a core that serves interrupts.
            let is_known = said.iter().filter(|(_, found)| found.is_known).count() >= needed.min(said.len());
            let doubt = match (is_known, lone, is_moved) {
                (false, ..) => Some(words::unknown_offset(&blame)),
                (_, true, _) => Some(words::one_kernel(&blame, &newest.unreliable_like(&names, of))),
                (.., true) => Some(words::moved(&blame, VISITS - times)),
                _ => None,
            };
            blamed.push((of, blame, doubt));
        }
    }
    blamed
}

/// Of several names of one partition, the one that the family depends on.
fn component(part: Part, partitions: &crate::parts::Partitions, family: Family) -> String {
    let Part::Level(level, _) = part else { return "pair".into() };
    let by = &partitions.levels[level].by;
    let wanted: [fn(&By) -> bool; 3] = match family {
        Family::Memory => {
            [|by| *by == By::NumaNode, |by| matches!(by, By::Cache(_)), |by| matches!(by, By::Package | By::Core)]
        }
        _ => [|by| matches!(by, By::Package | By::Core), |by| matches!(by, By::Cache(_)), |by| *by == By::NumaNode],
    };
    wanted.into_iter().find_map(|is| by.iter().find(|by| is(by))).map_or("part".into(), |by| by.name())
}

/// What each node of a group delivered of its capacity.
pub(crate) fn delivered(nodes: &[Own<'_>]) -> Vec<Option<f64>> {
    let of_node = |node: &Own<'_>| {
        let quota = |visit: &Visit| visit.settings.get(words::QUOTA).cloned();
        // Visits under another quota do not show what the node delivers now.
        let as_now = node.visits.iter().filter(|visit| quota(visit) == quota(node.newest()));
        median(as_now.filter_map(|visit| visit.delivered))
    };
    nodes.iter().map(of_node).collect()
}

/// The median of the other nodes, for each.
fn of_others(all: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut sorted: Vec<f64> = all.iter().copied().flatten().collect();
    sorted.arrange_by(f64::total_cmp);
    let others = |own: &Option<f64>| {
        let own = own.map(|own| sorted.partition_point(|other| *other < own));
        let other = |at: usize| sorted.get(at + usize::from(own.is_some_and(|own| at >= own))).copied();
        let count = sorted.len() - usize::from(own.is_some());
        Some(f64::midpoint(other(count.checked_sub(1)? / 2)?, other(count / 2)?))
    };
    all.iter().map(others).collect()
}

/// What a quota allows, own and usual, unless the node delivered less than it allows: then other programs took more.
pub(crate) fn by_quota(seen: Option<(f64, f64)>, allowed: Option<(f64, f64)>) -> Option<(f64, f64)> {
    allowed.filter(|(allowed, _)| seen.is_none_or(|(own, _)| own >= allowed - LESS_DELIVERED))
}

/// `usual` is what the others delivered, and what their quotas allow. Where half of the nodes have such a quota, it is the cause and no fault.
fn blame_delivered(node: &mut Node, newest: &Visit, usual: (Option<f64>, Option<f64>), is_unusual: impl Fn() -> bool) {
    let less = |own: Option<f64>, usual| own.zip(usual).filter(|(own, usual)| *own < usual - LESS_DELIVERED);
    let seen = less(node.delivered, usual.0);
    let allowed = by_quota(seen, less(newest.allowed(), usual.1));
    let effect = |(own, usual): &(f64, f64)| own / usual - 1.0;
    // Short runs have most of what a quota takes from long ones, so it weighs by what it allows.
    let most = seen.into_iter().chain(allowed).min_by(|one, other| effect(one).total_cmp(&effect(other)));
    let Some(most) = most else { return };
    let was_seen = seen == Some(most);
    let (quantity, effect) = (if was_seen { "delivered" } else { words::QUOTA }, effect(&most));
    let blame = Blame {
        component: "node".into(),
        ids: newest.partitions.cpus_of_all(),
        quantity: quantity.into(),
        effect,
        interval: [effect; 2],
        cause: None,
    };
    let (own, usual) = most;
    let Some(quota) = newest.settings.get(words::QUOTA).filter(|_| allowed.is_some()) else {
        return node.doubt(words::others_at_work(own, usual), blame);
    };
    let why = words::quota(own, usual, quota, was_seen);
    if !is_unusual() {
        return node.doubt(why, blame);
    }
    node.why.push(why);
    node.slow(Blame { cause: Some(format!("{} {quota}", words::QUOTA)), ..blame });
}

/// The value of each setting that most nodes of a group have.
fn usual_settings(nodes: &[Own<'_>]) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (name, value) in nodes.iter().flat_map(|node| &node.newest().settings) {
        *counts.entry(name).or_default().entry(value).or_default() += 1;
    }
    let usual = |counts: BTreeMap<&str, usize>| {
        let (value, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        (nodes.len() > 1 && count as f64 >= USUAL * nodes.len() as f64).then(|| value.to_owned())
    };
    counts.into_iter().filter_map(|(name, counts)| Some((name.to_owned(), usual(counts)?))).collect()
}

fn differs(visit: &Visit, usual: &BTreeMap<String, String>) -> BTreeMap<String, Differs> {
    let other = |(name, here): (&String, &String)| {
        let is_other = |others: &&String| *others != here && is_known(here) && is_known(others);
        let others = usual.get(name).filter(is_other)?.clone();
        let size = |text: &str| text.split(' ').next()?.parse::<f64>().ok();
        let is_as_large =
            size(here).zip(size(&others)).is_some_and(|(here, others)| (here / others - 1.0).abs() < OTHER_MEMORY);
        if name == "memory" && is_as_large {
            return None;
        }
        Some((name.clone(), Differs { here: here.clone(), others }))
    };
    visit.settings.iter().filter_map(other).collect()
}

impl Blame {
    /// `core (CPUs 3,67)`, or `the node`.
    pub(crate) fn place(&self) -> String {
        let cpus = cpulist::print(&self.ids);
        match (self.component.as_str(), self.ids.len()) {
            ("node", _) => "the node".into(),
            ("pair", _) => format!("CPUs {cpus} to each other"),
            (part, 1) => format!("{} (CPU {cpus})", words::part(part)),
            (part, _) => format!("{} (CPUs {cpus})", words::part(part)),
        }
    }
}
