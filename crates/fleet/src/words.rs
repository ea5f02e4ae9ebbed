//! The sentences of a fleet, without their full stops.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use charz_analysis::culprits::Disturber;
use charz_data::cpulist;
use charz_data::escape::{counted, is_harmless, plain};

use crate::{Blame, Fleet, Node, State, USUAL};

/// `8.0% slower than its like (7.9 to 8.2%)`.
fn change(blame: &Blame) -> String {
    let [low, high] = blame.interval.map(|end| -end * 100.0);
    let range = if high < low { format!(" ({high:.1} to {low:.1}%)") } else { String::new() };
    let whose = if blame.component == "pair" { "their" } else { "its" };
    format!("{:.1}% slower than {whose} like{range}", -blame.effect * 100.0)
}

/// What people call a part.
pub(crate) fn part(component: &str) -> String {
    match component {
        "numa_node" => "NUMA node".into(),
        "package" => "socket".into(),
        cache if cache.starts_with('l') => format!("{} cache", cache.to_uppercase()),
        other => other.to_owned(),
    }
}

/// The setting, and what is blamed where it allows less than was delivered.
pub(crate) const QUOTA: &str = "CPU quota";

pub(crate) fn told(blame: &Blame) -> String {
    if blame.quantity == QUOTA {
        return format!("{} may use {:.1}% less of its CPUs than its like", blame.place(), -blame.effect * 100.0);
    }
    let verb = if blame.component == "pair" { "are" } else { "is" };
    format!("{} {verb} {}, by {}", blame.place(), change(blame), blame.quantity)
}

/// What gives a result that is missing: one that was pending, noisy or skipped.
pub(crate) const FINISH: &str = "its sweep ended early; charz sweep --resume finishes it";
pub(crate) const AGAIN: &str = "sweep it again when it is idle";
pub(crate) const SKIPPED: &str = "its report says why that was skipped";

pub(crate) fn unmeasured(cells: usize, is_pending: bool) -> String {
    let remedy = if is_pending { FINISH } else { AGAIN };
    format!("none of {} has a reliable result; {remedy}", counted(cells, "configuration"))
}

pub(crate) fn partly([usable, all]: [usize; 2]) -> String {
    let were = if usable == 1 { "was" } else { "were" };
    format!("{usable} of {all} CPUs {were} measured; give the job all of them (sbatch --exclusive, without srun)")
}

/// Where most nodes have these loads, and it has loads of fewer threads.
pub(crate) fn fewer(cpus: [usize; 2], loads: BTreeSet<(&str, &str)>) -> String {
    match cpus {
        [usable, all] if usable < all => partly(cpus),
        _ => unplanned(loads),
    }
}

/// `unreliable` are the kernels that were measured, and would confirm it.
pub(crate) fn one_kernel(blame: &Blame, unreliable: &BTreeSet<&str>) -> String {
    let told = told(blame);
    if unreliable.is_empty() {
        return format!("{told}, and no second kernel was measured that would confirm it; sweep with --preset node");
    }
    let has = if unreliable.len() == 1 { "has" } else { "have" };
    let names: Vec<&str> = unreliable.iter().copied().collect();
    format!("{told}, and {}, which would confirm it, {has} no reliable result", names.join(", "))
}

pub(crate) fn faster(blame: &Blame) -> String {
    let (place, faster, kernels) = (blame.place(), blame.effect * 100.0, &blame.quantity);
    format!("{place} is {faster:.1}% faster than its like, by {kernels}; the others like it may be the slow ones")
}

pub(crate) fn unknown_offset(blame: &Blame) -> String {
    format!("{}, and no other node shows whether this is usual", told(blame))
}

/// Seen in the newest `times` of the visits that are compared, which are some of all; these are made of the reports.
pub(crate) fn more_visits(blame: &Blame, times: usize, missing: usize, visits: [usize; 3]) -> String {
    let [compared, visits, reports] = visits;
    let all = counted(compared, "visit");
    let seen = if times < compared { format!("the newest {times} of {all}") } else { all };
    let merged = match reports {
        _ if reports == visits => String::new(),
        _ => format!("; {reports} reports, some less than 1 h apart, count as {}", counted(visits, "visit")),
    };
    format!("{}, in {seen}; {missing} more would tell a slow node from a slow hour{merged}", told(blame))
}

/// Of kernels whose numbers do not count.
pub(crate) fn dropped(kernels: &BTreeSet<&str>) -> String {
    let names: Vec<&str> = kernels.iter().copied().collect();
    format!(
        "of reports less than 1 h apart that with the most kernels counts, and {} of another does not",
        names.join(", ")
    )
}

pub(crate) fn no_longer(blame: &Blame) -> String {
    format!("earlier visits found the node {}, by {}; the newest no longer does", change(blame), blame.quantity)
}

pub(crate) fn lost(blame: &Blame, visits: usize) -> String {
    let (visits, change) = (counted(visits, "earlier visit"), change(blame));
    format!("{visits} found the node {change}, by {}; the newest has no reliable result to confirm it", blame.quantity)
}

pub(crate) fn disagree(blame: &Blame, visits: usize) -> String {
    format!("{}, by the median of {visits} visits that disagree; sweep it again", told(blame))
}

pub(crate) fn wide(blame: &Blame, visits: usize, limit: f64) -> String {
    let (told, limit) = (told(blame), limit * 100.0);
    format!("{told}, in {visits} visits; nodes like it vary so much that a fault must exceed {limit:.1}%")
}

/// `20 nodes with governor powersave are 25.0% slower than the 20 with performance, by arith-int`.
pub(crate) fn class([here, best]: [&str; 2], [own, others]: [usize; 2], effect: f64, kernels: &[String]) -> String {
    let (here, best, kernels) = (plain(here), plain(best), kernels.join(", "));
    let slower = -effect * 100.0;
    format!("{own} nodes with {here} are {slower:.1}% slower than the {others} with {best}, by {kernels}")
}

pub(crate) fn far(fastest: &str, kernels: &[&str], effect: f64) -> String {
    let (slower, fastest, kernels) = (-effect * 100.0, plain(fastest), kernels.join(", "));
    format!("it is {slower:.1}% slower than {fastest}, by {kernels}; so few nodes do not show which speed is usual")
}

/// `own` are the settings that the slower nodes share with no other.
pub(crate) fn two_levels([slow, fast]: [usize; 2], effect: f64, kernels: &[String], own: &[String]) -> String {
    let own = match own {
        [] => "no setting goes with it".to_owned(),
        own => format!("they alone have {}", plain(&own.join(", "))),
    };
    let (slower, kernels) = (-effect * 100.0, kernels.join(", "));
    format!("{slow} nodes are {slower:.1}% slower than the other {fast} by {kernels}, and {own}")
}

/// `others` says how many nodes have one.
pub(crate) fn missing(loads: BTreeSet<(&str, &str)>, others: &str, remedy: &str) -> String {
    format!("it has no reliable result of {}, and {others} nodes like it have one; {remedy}", names(loads))
}

/// Of kernels that other nodes have at other parameters alone.
pub(crate) fn unlike(kernels: &[&str]) -> String {
    format!("no other node has its configurations of {}; sweep all with the same flags", kernels.join(", "))
}

pub(crate) fn unplanned(kernels: BTreeSet<(&str, &str)>) -> String {
    format!(
        "its sweep did not include {}, and those of most nodes like it did; sweep all with the same flags",
        names(kernels)
    )
}

/// Of kernels that are hard to measure; `has_any` says whether a node has a reliable result.
pub(crate) fn uncompared(kernels: &[&str], has_any: bool) -> String {
    let (kernels, others) =
        (kernels.join(", "), if has_any { "few nodes like it have one" } else { "no node like it has one" });
    format!("it was not compared by {kernels}: it has no reliable result, and {others}")
}

pub(crate) fn other_pages(loads: BTreeSet<(&str, &str)>) -> String {
    let loads = names(loads);
    format!("it has {loads} on 4k pages only, and most nodes like it on transparent huge pages, which it lacks")
}

/// `arith-int, mem-read x8`, of kernels with their loads.
pub(crate) fn names(loads: BTreeSet<(&str, &str)>) -> String {
    let name = |(kernel, load): (&str, &str)| {
        let threads = load.split(' ').next().filter(|threads| !threads.is_empty());
        threads.map_or_else(|| kernel.to_owned(), |threads| format!("{kernel} {threads}"))
    };
    let mut names: Vec<String> = loads.into_iter().map(name).collect();
    // A kernel without any result says as much of its loads.
    names.dedup_by(|next, first| next == first || next.starts_with(&format!("{first} ")));
    names.join(", ")
}

/// `build` is what differs in other builds of charz; `was_delivered` says whether it delivered a share of its capacity that the others
/// have too.
pub(crate) fn alone(others: usize, build: Option<&str>, was_delivered: bool) -> String {
    let is_lone = others == 0;
    let others = if is_lone { "no other node".into() } else { format!("only {}", counted(others, "other node")) };
    let delivered = if was_delivered { " and what it delivered" } else { "" };
    let by_build = build.map(|what| format!("a build of charz with the same {what} measured ")).unwrap_or_default();
    let end = match (by_build.is_empty(), is_lone) {
        (false, _) => "; sweep all with one build",
        (true, true) => "",
        (true, false) => " closely",
    };
    format!("{by_build}{others} of its kind, so only its parts{delivered} were compared{end}")
}

pub(crate) fn baselines_build(what: &str) -> String {
    format!("the baseline is of a build of charz that differs in the {what}; make one with this build")
}

pub(crate) fn shared(reports: usize, kinds: usize, do_overlap: bool) -> String {
    let (what, or) = match (kinds, do_overlap) {
        (1, _) => ("overlap in time".to_owned(), ""),
        (_, true) => (format!("are of {kinds} kinds of machine and overlap in time"), ""),
        (_, false) => (format!("are of {kinds} kinds of machine"), ", or leave out those of its old hardware"),
    };
    format!("its {reports} reports {what}; give each machine a host name of its own{or}")
}

pub(crate) fn moved(blame: &Blame, missing: usize) -> String {
    format!(
        "{}: the host of a guest may have moved its CPUs apart: it needs {} more",
        told(blame),
        counted(missing, "visit")
    )
}

pub(crate) fn smaller(name: &str, differs: &crate::Differs) -> String {
    let name = name.trim_end_matches('s');
    let [own, others] = [&differs.here, &differs.others].map(|count| counted(count.parse().unwrap_or(0), name));
    format!("it has {own}, and most nodes like it have {others}")
}

/// `it has 8 CPUs, and the baseline's nodes have 16 CPUs`, of two lists of sizes.
pub(crate) fn sizes(own: &str, others: &str, usual: &str) -> String {
    let differ: Vec<(&str, &str)> =
        own.split(", ").zip(usual.split(", ")).filter(|(own, usual)| own != usual).collect();
    let [own, usual] =
        [0, 1].map(|at| differ.iter().map(|pair| if at == 0 { pair.0 } else { pair.1 }).collect::<Vec<_>>().join(", "));
    format!("it has {own}, and {others} have {usual}")
}

pub(crate) fn guest_memory(told: &str) -> String {
    format!("{told}; memory of a guest is what its host gives in that hour, so no visit settles it")
}

pub(crate) fn quota(own: f64, usual: f64, quota: &str, was_seen: bool) -> String {
    let (own, usual) = (own * 100.0, usual * 100.0);
    if was_seen {
        format!("a quota of {quota} CPUs: it delivered {own:.0}% of its capacity, others {usual:.0}%")
    } else {
        format!(
            "a quota of {quota} CPUs allows {own:.0}% of them for long, the median of the others is {usual:.0}%, though short runs had more"
        )
    }
}

pub(crate) fn others_at_work(own: f64, usual: f64) -> String {
    format!(
        "it delivered {:.0}% of its capacity, others {:.0}%: other programs took its CPUs; sweep it again when it is idle",
        own * 100.0,
        usual * 100.0
    )
}

pub(crate) fn meanwhile(disturbers: &[Disturber]) -> String {
    let clauses: Vec<String> = disturbers.iter().map(|disturber| plain(&disturber.clause())).collect();
    format!("while it was measured, {}", clauses.join(" and "))
}

/// The words in which it differs from its like, but for sizes that are a reason: `governor is powersave, and performance on the others`.
pub(crate) fn differs(node: &Node) -> Vec<String> {
    let sentence = |(name, differs): (&String, &crate::Differs)| {
        format!("{name} is {}, and {} on the others", plain(&differs.here), plain(&differs.others))
    };
    let is_new = |(name, differs): &(&String, &crate::Differs)| !node.why.contains(&smaller(name, differs));
    node.differs.iter().filter(is_new).map(sentence).collect()
}

/// The name of a host without its domain; an address stays as it is.
pub(crate) fn short(host: &str) -> &str {
    let first = host.split('.').next().unwrap_or(host);
    if first.bytes().all(|byte| byte.is_ascii_digit()) { host } else { first }
}

fn is_of_names(mark: char) -> bool {
    mark.is_ascii_alphanumeric() || matches!(mark, '.' | '-' | '_')
}

/// Whether a name is one that a host can have. A part of any other would be the name of another node.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_of_names)
}

/// The line for Slurm that takes the node of this name out, with the setting that is the cause of the largest loss.
pub(crate) fn drain(name: &str, node: &Node) -> String {
    let what = node.blame.first().map_or(String::new(), |blame| {
        let cpus =
            if blame.component == "node" { String::new() } else { format!(" CPUs {}", cpulist::print(&blame.ids)) };
        format!("{}{cpus} {:+.0}%", blame.component, blame.effect * 100.0)
    });
    let cause = node.blame.first().and_then(|blame| blame.cause.as_deref()).unwrap_or_default().replace('×', "x");
    let cause: String = cause.chars().filter(|mark| is_of_names(*mark) || matches!(mark, ' ' | '/' | ',')).collect();
    let cause = if cause.is_empty() { cause } else { format!(", {cause}") };
    format!("scontrol update nodename={name} state=drain reason=\"charz: {what}{cause}\"")
}

/// A basic string of TOML, with escapes for what does not show as itself.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for mark in text.chars() {
        match mark {
            '"' | '\\' => quoted.extend(['\\', mark]),
            mark if is_harmless(mark) => quoted.push(mark),
            mark => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(mark));
            }
        }
    }
    quoted + "\""
}

/// How many nodes there are, and how many of them are what: the answer. `by_parts` says whether none was compared as a whole.
pub(crate) fn headline(fleet: &Fleet, by_parts: bool) -> String {
    let counts = State::ALL.iter().map(|state| (fleet.count(*state), state.name()));
    let counts: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let alone = if by_parts { "; speeds were compared closely by parts alone" } else { "" };
    let unreliable = unreliable(fleet);
    let unreadable = match fleet.unreadable.len() {
        0 => String::new(),
        count => format!("; {} could not be read", counted(count, "file")),
    };
    format!("{}: {}{alone}{unreliable}{unreadable}", counted(fleet.nodes.len(), "node"), counts.join(", "))
}

/// So many numbers of nodes, each with its kernels, are in the headline at most.
const MOST_COUNTS: usize = 3;

/// `; mem-read was reliable on 8 of 20 nodes`: of kernels that most nodes lack, or one that is called ok. Nodes without a number have a
/// sentence of their own.
fn unreliable(fleet: &Fleet) -> String {
    // Nodes with a reliable result, all that were to have one, and those that are called ok without.
    let mut kernels: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for node in fleet.nodes.iter().filter(|node| node.state != State::Unmeasured) {
        for (kernel, is_reliable) in &node.reliable {
            let [reliable, all, unsaid] = kernels.entry(kernel).or_default();
            *reliable += usize::from(*is_reliable);
            *all += 1;
            *unsaid += usize::from(!is_reliable && node.state == State::Ok);
        }
    }
    kernels.retain(|_, [reliable, all, unsaid]| *unsaid > 0 || (*reliable as f64) < USUAL * *all as f64);
    let mut counts: BTreeMap<[usize; 2], Vec<&str>> = BTreeMap::new();
    kernels.iter().for_each(|(kernel, [reliable, all, _])| counts.entry([*reliable, *all]).or_default().push(kernel));
    let clause = |([reliable, all], kernels): (&[usize; 2], &Vec<&str>)| {
        let was = if kernels.len() == 1 { "was" } else { "were" };
        format!("; {} {was} reliable on {reliable} of {}", kernels.join(", "), counted(*all, "node"))
    };
    let mut told: String = counts.iter().take(MOST_COUNTS).map(clause).collect();
    let more: usize = counts.values().skip(MOST_COUNTS).map(Vec::len).sum();
    if more > 0 {
        let were = if more == 1 { "was" } else { "were" };
        let _ = write!(told, "; {} more {were} not reliable on all", counted(more, "kernel"));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_cpus_has_the_verb_of_two() {
        let of = |component: &str, ids: &[u32]| {
            let (component, quantity) = (component.to_owned(), "c2c-cas".to_owned());
            told(&Blame { component, ids: ids.to_vec(), quantity, effect: -0.5, interval: [-0.5; 2], cause: None })
        };
        let pair = "CPUs 1-2 to each other are 50.0% slower than their like, ";
        assert!(of("pair", &[1, 2]).starts_with(pair), "{}", of("pair", &[1, 2]));
        assert!(of("core", &[1, 2]).contains(") is 50.0% slower than its like, "), "{}", of("core", &[1, 2]));
    }
}
