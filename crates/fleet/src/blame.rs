//! Which parts of a node are slow: those that their like in the same node exceed.

use std::collections::{BTreeMap, BTreeSet};

use charz_stats::median;

use crate::claim::{Blame, By, Doubt, Quantity};
use crate::norms::{Found, LEAST_OF_PAIRS, Norms, Own, VISITS, parts};
use crate::parts::{Part, Partitions};
use crate::setting::Aspect;
use crate::visit::Visit;

/// The parts of one report that are slower by `least` at least, by what is usual elsewhere, and those whose like may be.
pub(crate) fn slow_parts(visit: &Visit, norms: &Norms, least: f64) -> Vec<Blame> {
    let own = [Own::of(&visit.host, vec![visit], false)];
    let parts = parts(&own, norms, least);
    let blamed = blame_parts(&own[0], &parts[0]).into_iter();
    let sure = blamed.filter(|(_, _, doubt)| matches!(doubt, None | Some(Doubt::Faster)));
    sure.map(|(_, blame, _)| blame).collect()
}

/// The parts of a node that two kernels of an aspect find slow, or one where no other was measured; with the aspect, and what is doubtful.
pub(crate) fn blame_parts(
    own: &Own<'_>,
    parts: &BTreeMap<Part, BTreeMap<String, Found>>,
) -> Vec<(Aspect, Blame, Option<Doubt>)> {
    let newest = own.newest();
    let mut blamed = Vec::new();
    for aspect in [Aspect::Arithmetic, Aspect::Bandwidth, Aspect::Latency, Aspect::Lines] {
        // Those that say so, by part.
        let mut slow: BTreeMap<Part, Vec<(&str, &Found)>> = BTreeMap::new();
        let mut measured = BTreeSet::new();
        let is_of = |kernel: &str| newest.kernels.get(kernel) == Some(&Some(aspect));
        for (part, kernels) in parts {
            for (kernel, found) in kernels.iter().filter(|(kernel, _)| is_of(kernel)) {
                measured.insert(kernel.as_str());
                if found.is_slow {
                    slow.entry(*part).or_default().push((kernel, found));
                }
            }
        }
        // A pair of CPUs has one kernel as a rule, and so has a latency.
        let needed = if matches!(aspect, Aspect::Latency | Aspect::Lines) { 1 } else { 2 };
        let lone = measured.len() < needed;
        slow.retain(|_, said| said.len() >= needed || lone);
        let partitions = &newest.partitions;
        let told: BTreeSet<Part> = slow.keys().copied().collect();
        for (part, said) in &slow {
            let names: Vec<&str> = said.iter().map(|(kernel, _)| *kernel).collect();
            let blame = |part: Part, all: &BTreeMap<String, Found>| {
                let middle = |of: fn(&Found) -> f64| {
                    median(names.iter().filter_map(|kernel| all.get(*kernel)).map(of)).map_or(0.0, f64::exp_m1)
                };
                let is_in_cache = |kernel: &&str| {
                    newest.contrasts.get(&(part, (*kernel).to_owned())).is_some_and(|shown| shown.is_in_cache)
                };
                let quantity = |kernel: &&str| Quantity { kernel: (*kernel).to_owned(), distance: None };
                Blame {
                    part: partitions.component(part, aspect, names.iter().any(is_in_cache)),
                    cpus: partitions.cpus(part),
                    by: By::Kernels(names.iter().map(quantity).collect()),
                    effect: middle(|found| found.effect),
                    interval: [middle(|found| found.interval[0]), middle(|found| found.interval[1])],
                    cause: None,
                    clock: None,
                }
            };
            match lead(partitions, &told, *part, said, parts) {
                Lead::Own => {}
                Lead::Others => continue,
                Lead::Faster(part) => {
                    blamed.push((aspect, blame(part, &parts[&part]), Some(Doubt::Faster)));
                    continue;
                }
            }
            // A guest's CPUs are where its host puts them: a state of that hour, and no fault, unless all visits find it.
            let is_so = |visit: &&&Visit| {
                let of_kernel = names.iter().filter_map(|kernel| visit.contrasts.get(&(*part, (*kernel).to_owned())));
                let middles = of_kernel.filter_map(|shown| median(shown.runs.iter().copied()));
                middles.map(f64::exp_m1).any(|middle| middle <= -LEAST_OF_PAIRS)
            };
            let times = own.visits.iter().filter(is_so).count();
            let is_moved = aspect == Aspect::Lines && newest.is_guest && times < VISITS;
            // Its offset may be that of this part in all nodes of its structure, as of a core that serves interrupts.
            let is_known = said.iter().filter(|(_, found)| found.is_known).count() >= needed.min(said.len());
            let doubt = match (is_known, lone, is_moved) {
                (false, ..) => Some(Doubt::NoLike),
                (_, true, _) => Some(Doubt::OneKernel(newest.unreliable_like(&names, aspect))),
                (.., true) => Some(Doubt::HostMoved(VISITS - times)),
                _ => None,
            };
            blamed.push((aspect, blame(*part, &parts[part]), doubt));
        }
    }
    blamed
}

/// Whether a part that is slower than its like is the one to name.
enum Lead {
    Own,
    /// Parts inside or around it are.
    Others,
    /// This one is faster where most of its like are slow: their median is slow too, and gives no size.
    Faster(Part),
}

/// `told` are all slow parts, `said` what kernels say of this one, and `parts` what they say of each.
fn lead(
    partitions: &Partitions,
    told: &BTreeSet<Part>,
    part: Part,
    said: &[(&str, &Found)],
    parts: &BTreeMap<Part, BTreeMap<String, Found>>,
) -> Lead {
    let Part::Level(level, index) = part else { return Lead::Own };
    let inside = partitions.inside(level, index);
    let slow_inside = inside.iter().filter(|part| told.contains(part)).count();
    // Some of it is slow, and the rest is not.
    if slow_inside > 0 && slow_inside < inside.len() {
        return Lead::Others;
    }
    // All around it are slow with it.
    let is_around = |around: &Part| match *around {
        Part::Level(outer, own) => {
            let inside = partitions.inside(outer, own);
            outer + 1 == level && inside.contains(&part) && inside.iter().all(|part| told.contains(part))
        }
        Part::Pair(..) => false,
    };
    if told.iter().any(is_around) {
        return Lead::Others;
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
    let faster = || parts.iter().find(|(other, all)| is_inner(other) && is_as_far(all));
    match (slow_inside == 0).then(faster).flatten() {
        Some((faster, _)) => Lead::Faster(*faster),
        None => Lead::Own,
    }
}
