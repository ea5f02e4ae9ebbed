//! Which nodes are slow: parts by their contrast inside of a node, whole nodes by the spread between nodes and visits.

use std::collections::{BTreeMap, BTreeSet};

use charz_data::Arrange;
use charz_stats::median;

use crate::blame::blame_parts;
use crate::claim::{
    Blame, By, Cause, Claim, Class, Component, Differs, Doubt, Fleet, Group, Node, Quota, State, Unreadable,
};
use crate::loads;
use crate::norms::{ENOUGH_NODES, LEAST, Norms, Own, USUAL, by_build, is_timed, parts};
use crate::setting::{Aspect, Setting, Structure, Value};
use crate::visit::{Key, Visit, other_build, usual_cpus};
use crate::whole::Whole;

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
    let newest = visits.iter().map(|visit| &visit.started).max().cloned();
    let mut fleet = Fleet { nodes: Vec::new(), groups: Vec::new(), unreadable, newest };
    for (kind, nodes) in kinds {
        for (structure, nodes) in by_structure(nodes) {
            let own = of_group(&nodes, fleet.groups.len());
            fleet.groups.push(Group {
                kind: kind.to_owned(),
                structure,
                nodes: nodes.iter().map(|node| node.host.to_owned()).collect(),
                visits: nodes.iter().map(|node| node.visits.len()).sum(),
                classes: classes(&own),
            });
            fleet.nodes.extend(own);
        }
    }
    let mut shorts: BTreeMap<String, usize> = BTreeMap::new();
    fleet.nodes.iter().for_each(|node| *shorts.entry(short(&node.host).to_owned()).or_default() += 1);
    for node in &mut fleet.nodes {
        // Slurm takes no domain. Where several nodes are one without theirs, it is not known which is meant.
        let short = Some(short(&node.host)).filter(|short| shorts[*short] == 1 && is_name(&node.host));
        let known = slurm_names.get(node.host.as_str()).copied().filter(|name| is_name(name));
        node.slurm = known.or(short).map(str::to_owned);
    }
    let worst = |node: &Node| node.blame().first().map_or(0.0, |blame| blame.effect);
    fleet.nodes.arrange_by(|one, other| {
        let by_state = one.state().cmp(&other.state());
        by_state.then(worst(one).total_cmp(&worst(other))).then_with(|| one.host.cmp(&other.host))
    });
    fleet
}

/// The name of a host without its domain; an address stays as it is.
pub(crate) fn short(host: &str) -> &str {
    let first = host.split('.').next().unwrap_or(host);
    if first.bytes().all(|byte| byte.is_ascii_digit()) { host } else { first }
}

/// Whether a name is one that a host can have. A part of any other would be the name of another node.
fn is_name(name: &str) -> bool {
    let is_of_names = |mark: char| mark.is_ascii_alphanumeric() || matches!(mark, '.' | '-' | '_');
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_of_names)
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

/// Nodes of one product, by their size.
fn by_structure(nodes: Vec<Own<'_>>) -> Vec<(Structure, Vec<Own<'_>>)> {
    let mut sizes: BTreeMap<Structure, Vec<Own<'_>>> = BTreeMap::new();
    for own in nodes {
        sizes.entry(own.newest().structure).or_default().push(own);
    }
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.arrange_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let most = sizes.first().map_or(0, |(_, nodes)| nodes.len());
    let is_stray = |(_, nodes): &(Structure, Vec<Own<'_>>)| nodes.len() < OWN_KIND && most >= 2 * nodes.len();
    let (strays, mut own): (Vec<_>, Vec<_>) = sizes.into_iter().partition(is_stray);
    if let Some((_, largest)) = own.first_mut() {
        largest.extend(strays.into_iter().flat_map(|(_, nodes)| nodes));
    }
    own
}

fn of_group(nodes: &[Own<'_>], group: usize) -> Vec<Node> {
    let (parts, whole) = (parts(nodes, &Norms::of(nodes), LEAST), Whole::of(nodes));
    let (usual, loads) = (usual_settings(nodes), loads::Group::of(nodes));
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
            claims: Vec::new(),
            differs: differs(newest, &usual),
            group,
            visits: own.visits.len(),
            effects: whole.effects(at),
            reliable: newest.compared().into_iter().map(|(kernel, is)| (kernel.to_owned(), is)).collect(),
            delivered: delivered[at],
            slurm: None,
        };
        if own.visits.iter().all(|visit| visit.reliable[0] == 0) {
            node.claims.push(Claim::Unmeasured { cells: newest.reliable[1], is_pending: newest.is_pending() });
            node.name_disturbers(newest);
            return node;
        }
        if own.do_overlap || own.kinds > 1 {
            let Own { reports, kinds, do_overlap, .. } = *own;
            node.claims.push(Claim::Shared { reports, kinds, do_overlap });
            return node;
        }
        // As much as the slowest part of a family of kernels has: what slows the bandwidth of a memory slows its latency too.
        let mut explained: BTreeMap<(bool, Aspect), f64> = BTreeMap::new();
        let family = |aspect: Aspect| match aspect.is_of_memory() {
            true => (true, Aspect::Bandwidth),
            false => (false, aspect),
        };
        let is_part = newest.is_part(usable, nodes.len());
        let is_alone = !newest.is_shared(usable, nodes.len());
        for (aspect, mut blame, doubt) in blame_parts(own, &parts[at]).into_iter().filter(|_| is_alone) {
            let most = explained.entry(family(aspect)).or_default();
            *most = most.max(-blame.effect.ln_1p());
            if let (By::Kernels(kernels), true) = (&blame.by, blame.effect < 0.0) {
                let is_of = |key: &Key| kernels.iter().any(|own| own.kernel == key.0);
                blame.clock = whole.clock(newest, is_of, blame.effect.ln_1p(), 1);
            }
            node.claims.push(match doubt {
                Some(doubt) => Claim::Doubt(blame, doubt),
                None => Claim::Slow(blame),
            });
        }
        let of_parts = |aspect| explained.get(&family(aspect)).copied().unwrap_or(0.0);
        node.claims.extend(whole.claims(&node, at, own, of_parts));
        // The first is of the size that the most have.
        let sizes = [newest.structure, nodes[0].newest().structure];
        let is_other = sizes[0] != sizes[1];
        node.claims.extend(is_other.then_some(Claim::Smaller(sizes)));
        let is_unusual = || 2 * with_more(allowed[at]) > nodes.len();
        node.claims.extend(blame_delivered(&node, newest, usual_shares[at], is_unusual));
        let of_build = builds[&newest.build];
        let is_alone = of_build == 1 || (builds.len() > 1 && of_build < ENOUGH_NODES);
        loads.claim_missing(&mut node, newest, is_part || is_other, is_alone);
        let other_pages: Vec<_> = loads.usual.iter().copied().filter(|own| newest.lacks_huge_pages(*own)).collect();
        if !other_pages.is_empty() {
            node.claims.push(Claim::OtherPages(crate::visit::loads(other_pages)));
        }
        if is_part {
            node.claims.push(Claim::Partly(newest.cpus));
        }
        if !own.dropped.is_empty() {
            node.claims.push(Claim::Dropped(own.dropped.iter().map(|kernel| (*kernel).to_owned()).collect()));
        }
        if of_build < ENOUGH_NODES {
            let most = builds.iter().filter(|(build, _)| **build != &newest.build).max_by_key(|(_, count)| **count);
            let build = most.and_then(|(build, _)| other_build(build, &newest.build)).map(str::to_owned);
            let was_delivered = node.delivered.and(usual_shares[at].0).is_some();
            node.claims.push(Claim::Alone { others: of_build - 1, build, was_delivered });
        }
        node.claims = united(std::mem::take(&mut node.claims));
        node.name_disturbers(newest);
        node
    });
    judged.collect()
}

impl Node {
    /// Names what disturbed a node that is not well, or much, though the numbers bear it.
    fn name_disturbers(&mut self, newest: &Visit) {
        if newest.disturbers.first().is_some_and(|most| self.state() != State::Ok || most.cpus >= WORTH_TELLING) {
            self.claims.push(Claim::Disturbed(newest.disturbers.clone()));
        }
    }
}

/// Several kinds of kernels that find one part slow by as much, for one reason, are one claim.
fn united(claims: Vec<Claim>) -> Vec<Claim> {
    let mut united: Vec<Claim> = Vec::new();
    for claim in claims {
        let do_unite = united.iter_mut().any(|kept| match (kept, &claim) {
            (Claim::Slow(kept), Claim::Slow(blame)) => kept.unite(blame),
            (Claim::Doubt(kept, doubt), Claim::Doubt(blame, other)) => doubt.is_as(other) && kept.unite(blame),
            (Claim::NoLonger(kept), Claim::NoLonger(blame)) => kept.unite(blame),
            _ => false,
        });
        if !do_unite {
            united.push(claim);
        }
    }
    united
}

impl Doubt {
    fn is_as(&self, other: &Doubt) -> bool {
        match (self, other) {
            (Doubt::Class(one), Doubt::Class(other)) => (&one.settings, one.is_gap) == (&other.settings, other.is_gap),
            (one, other) => one == other,
        }
    }
}

impl Blame {
    /// Takes another of the same part and size to itself; returns whether it is one.
    fn unite(&mut self, other: &Blame) -> bool {
        let cause = |own: &Blame| match &own.cause {
            Some(Cause::Class(Class { settings, .. })) => Some((Some(settings.clone()), None)),
            cause => cause.clone().map(|cause| (None, Some(cause))),
        };
        let do_overlap = self.interval[0] <= other.interval[1] && other.interval[0] <= self.interval[1];
        let is_one = (self.part, &self.cpus, cause(self)) == (other.part, &other.cpus, cause(other)) && do_overlap;
        match (&mut self.by, &other.by) {
            (By::Kernels(own), By::Kernels(more)) if is_one => own.extend(more.iter().cloned()),
            _ => return false,
        }
        if other.effect < self.effect {
            (self.effect, self.interval) = (other.effect, other.interval);
        }
        self.clock = self.clock.or(other.clock);
        true
    }
}

/// What is said of several nodes at once: each class, with what all kernels say that find it, and its nodes.
fn classes(nodes: &[Node]) -> Vec<(Class, Vec<String>)> {
    let mut classes: Vec<(Class, Vec<String>)> = Vec::new();
    for node in nodes {
        let of_claim = |claim: &Claim| match claim {
            Claim::Doubt(_, Doubt::Class(class)) => Some(class.clone()),
            Claim::Slow(Blame { cause: Some(Cause::Class(class)), .. }) => Some(class.clone()),
            _ => None,
        };
        for class in node.claims.iter().filter_map(of_claim) {
            let is_it = |own: &&mut (Class, _)| (&own.0.settings, own.0.is_gap) == (&class.settings, class.is_gap);
            match classes.iter_mut().find(is_it) {
                None => classes.push((class, vec![node.host.clone()])),
                Some((own, nodes)) => {
                    nodes.extend(Some(node.host.clone()).filter(|host| nodes.last() != Some(host)));
                    own.effect = own.effect.min(class.effect);
                    own.counts = [0, 1].map(|side| own.counts[side].max(class.counts[side]));
                    own.kernels.extend(class.kernels);
                }
            }
        }
    }
    classes
}

/// What each node of a group delivered of its capacity.
pub(crate) fn delivered(nodes: &[Own<'_>]) -> Vec<Option<f64>> {
    let of_node = |node: &Own<'_>| {
        // Visits under another quota do not show what the node delivers now.
        let as_now = node.visits.iter().filter(|visit| visit.quota == node.newest().quota);
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

/// What was delivered and what a quota allows, of a node and usually, where that is less. A quota is no cause where the node delivered less
/// than it allows: then other programs took more.
pub(crate) fn less(own: &Visit, delivered: Option<f64>, usual: (Option<f64>, Option<f64>)) -> [Option<(f64, f64)>; 2] {
    let is_less = |(own, usual): &(f64, f64)| *own < usual - LESS_DELIVERED;
    let seen = delivered.zip(usual.0).filter(is_less);
    let allowed = own.allowed().zip(usual.1).filter(is_less);
    [seen, allowed.filter(|(allowed, _)| seen.is_none_or(|(own, _)| own >= allowed - LESS_DELIVERED))]
}

/// `usual` is what the others delivered, and what their quotas allow. Where half of the nodes have such a quota, it is the cause and no fault.
fn blame_delivered(
    node: &Node,
    newest: &Visit,
    usual: (Option<f64>, Option<f64>),
    is_unusual: impl Fn() -> bool,
) -> Option<Claim> {
    let [seen, allowed] = less(newest, node.delivered, usual);
    let effect = |(own, usual): &(f64, f64)| own / usual - 1.0;
    // Short runs have most of what a quota takes from long ones, so it weighs by what it allows.
    let most = seen.into_iter().chain(allowed).min_by(|one, other| effect(one).total_cmp(&effect(other)))?;
    let (was_seen, effect, (own, usual)) = (seen == Some(most), effect(&most), most);
    let blame = Blame {
        part: Component::Node,
        cpus: newest.partitions.cpus_of_all(),
        by: if was_seen { By::Delivered } else { By::Quota },
        effect,
        interval: [effect; 2],
        cause: None,
        clock: None,
    };
    Some(match newest.quota.as_ref().filter(|_| allowed.is_some()) {
        None => Claim::Doubt(blame, Doubt::Busy([own, usual])),
        Some(quota) => {
            let quota = Quota { quota: quota.clone(), own, usual, was_seen };
            match is_unusual() {
                true => Claim::Slow(Blame { cause: Some(Cause::Quota(quota)), ..blame }),
                false => Claim::Doubt(blame, Doubt::Quota(quota)),
            }
        }
    })
}

/// The value of each setting that most nodes of a group have.
fn usual_settings(nodes: &[Own<'_>]) -> BTreeMap<Setting, Value> {
    let mut counts: BTreeMap<&Setting, BTreeMap<&Value, usize>> = BTreeMap::new();
    for (name, value) in nodes.iter().flat_map(|node| &node.newest().settings) {
        *counts.entry(name).or_default().entry(value).or_default() += 1;
    }
    let usual = |counts: BTreeMap<&Value, usize>| {
        let (value, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        (nodes.len() > 1 && count as f64 >= USUAL * nodes.len() as f64).then(|| value.clone())
    };
    counts.into_iter().filter_map(|(name, counts)| Some((name.clone(), usual(counts)?))).collect()
}

fn differs(visit: &Visit, usual: &BTreeMap<Setting, Value>) -> BTreeMap<Setting, Differs> {
    let other = |(name, here): (&Setting, &Value)| {
        let others = usual.get(name)?.clone();
        let is_alike = match (here, &others) {
            (Value::Gib(here), Value::Gib(others)) => (*here as f64 / *others as f64 - 1.0).abs() < OTHER_MEMORY,
            (here, others) => here == others,
        };
        (!is_alike).then(|| (name.clone(), Differs { here: here.clone(), others }))
    };
    visit.settings.iter().filter_map(other).collect()
}
