//! The sentences of a fleet, without their full stops. Nothing that judges imports them.

mod baseline;

use std::collections::{BTreeMap, BTreeSet};

use charz_data::cpulist;
use charz_data::escape::{counted, plain};
use charz_data::units;

use crate::claim::{
    Blame, By, Cause, Claim, Class, Clock, Component, Differs, Doubt, Fleet, Loads, Node, Quantity, Quota, Remedy,
    State,
};
use crate::norms::{ENOUGH_NODES, USUAL};
use crate::setting::{SIZES, Setting, Structure, Value};

pub(crate) use baseline::checked_words;
pub use baseline::{check_failed, check_line, text, warnings};

/// As JSON and CSV have it.
pub(crate) fn component(part: Component) -> String {
    match part {
        Component::Node => "node".into(),
        Component::Package => "package".into(),
        Component::NumaNode => "numa_node".into(),
        Component::Cache(level) => format!("l{level}"),
        Component::Core => "core".into(),
        Component::Pair => "pair".into(),
    }
}

/// `core (CPUs 3,67)`, or `the node`.
fn place(blame: &Blame) -> String {
    let cpus = cpulist::print(&blame.cpus);
    let part = match blame.part {
        Component::Node => return "the node".into(),
        Component::Pair => return format!("CPUs {cpus} to each other"),
        Component::Package => "socket".into(),
        Component::NumaNode => "NUMA node".into(),
        Component::Cache(level) => format!("L{level} cache"),
        Component::Core => "core".to_owned(),
    };
    format!("{part} (CPU{} {cpus})", if blame.cpus.len() == 1 { "" } else { "s" })
}

pub(crate) fn quantity(of: &Quantity) -> String {
    [of.kernel.as_str()].into_iter().chain(of.distance.as_deref()).collect::<Vec<_>>().join(" ")
}

/// `arith-float, arith-int`, or what else shows a loss.
pub(crate) fn by(by: &By) -> String {
    match by {
        By::Kernels(kernels) => kernels.iter().map(quantity).collect::<Vec<_>>().join(", "),
        By::Delivered => "delivered".into(),
        By::Quota => setting(&Setting::Quota),
    }
}

/// `8.0% slower than its like (7.9 to 8.2%)`.
fn change(blame: &Blame) -> String {
    let [low, high] = blame.interval.map(|end| -end * 100.0);
    let range = if high < low { format!(" ({high:.1} to {low:.1}%)") } else { String::new() };
    let whose = if blame.part == Component::Pair { "their" } else { "its" };
    format!("{:.1}% slower than {whose} like{range}", -blame.effect * 100.0)
}

fn clock(Clock { hz, usual_hz, since_s }: Clock) -> String {
    let [hz, usual] = [hz, usual_hz].map(units::hertz);
    match since_s {
        Some(since) => format!(", as its clock fell from {usual} to {hz} {since:.0} s into the sweep"),
        None => format!(", as its clock is {hz}, and usually {usual}"),
    }
}

/// `core (CPU 5) is 8.0% slower than its like (7.9 to 8.2%), by arith-float, arith-int`.
pub(crate) fn told(blame: &Blame) -> String {
    let (place, clock) = (place(blame), blame.clock.map(clock).unwrap_or_default());
    match blame.by {
        By::Quota => format!("{place} may use {:.1}% less of its CPUs than its like", -blame.effect * 100.0),
        By::Delivered => format!("{place} delivered {:.1}% less of its capacity than its like", -blame.effect * 100.0),
        By::Kernels(_) => {
            let verb = if blame.part == Component::Pair { "are" } else { "is" };
            format!("{place} {verb} {}, by {}{clock}", change(blame), by(&blame.by))
        }
    }
}

/// What a claim says beside what [`told`] does of something slow, and what to do; `None` of that alone.
pub(crate) fn why(claim: &Claim) -> Option<String> {
    let (fact, to_do) = fact(claim)?;
    Some([fact].into_iter().chain(to_do).collect::<Vec<_>>().join("; "))
}

/// The same in two: what is so, and what to do where something can be done.
pub(crate) fn fact(claim: &Claim) -> Option<(String, Option<String>)> {
    let same_flags = || Some("sweep all with the same flags".to_owned());
    let fact = match claim {
        Claim::Slow(Blame { cause: Some(Cause::Class(class)), .. }) => class_sentence(class),
        Claim::Slow(Blame { cause: Some(Cause::Quota(quota)), .. }) => quota_sentence(quota),
        Claim::Slow(_) => return None,
        Claim::Doubt(blame, doubt) => return Some((doubtful(blame, doubt), settled(doubt))),
        Claim::NoLonger(blame) => {
            format!("earlier visits found the node {}, by {}; the newest no longer does", change(blame), by(&blame.by))
        }
        Claim::Unmeasured { cells, is_pending } => {
            let way = remedy(if *is_pending { Remedy::Finish } else { Remedy::Again });
            return Some((
                format!("none of {} has a reliable result", counted(*cells, "configuration")),
                Some(way.to_owned()),
            ));
        }
        Claim::Shared { reports, kinds, do_overlap } => {
            let (what, or) = match (kinds, do_overlap) {
                (1, _) => ("overlap in time".to_owned(), ""),
                (_, true) => (format!("are of {kinds} kinds of machine and overlap in time"), ""),
                (_, false) => (format!("are of {kinds} kinds of machine"), ", or leave out those of its old hardware"),
            };
            let way = format!("give each machine a host name of its own{or}");
            return Some((format!("its {reports} reports {what}"), Some(way)));
        }
        Claim::Partly([usable, all]) => {
            let were = if *usable == 1 { "was" } else { "were" };
            let way = "give the job all of them (sbatch --exclusive, without srun)";
            return Some((format!("{usable} of {all} CPUs {were} measured"), Some(way.to_owned())));
        }
        Claim::Smaller(sizes) => other_size(sizes, "nodes like it"),
        Claim::OtherPages(loads) => {
            let loads = names(loads);
            format!("it has {loads} on 4k pages only, and most nodes like it on transparent huge pages, which it lacks")
        }
        Claim::Missing { loads, is_of_most, remedy: way } => {
            let (others, way) = (if *is_of_most { "most" } else { "some" }, remedy(*way));
            let fact = format!("it has no reliable result of {}, and {others} nodes like it have one", names(loads));
            return Some((fact, Some(way.to_owned())));
        }
        Claim::Unplanned(loads) => {
            let fact = format!("its sweep did not include {}, and those of most nodes like it did", names(loads));
            return Some((fact, same_flags()));
        }
        Claim::Unlike(kernels) => {
            return Some((format!("no other node has its configurations of {}", kernels.join(", ")), same_flags()));
        }
        Claim::Uncompared { kernels, has_any } => {
            let others = if *has_any { "few nodes like it have one" } else { "no node like it has one" };
            format!("{}: no reliable result, and {others}", kernels.join(", "))
        }
        Claim::Dropped(kernels) => format!(
            "of reports less than 1 h apart that with the most kernels counts, and {} of another does not",
            kernels.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        ),
        Claim::Alone { others, build, was_delivered } => {
            let nodes = match others {
                0 => "no other node".into(),
                others => format!("only {}", counted(*others, "other node")),
            };
            let delivered = if *was_delivered { " and what it delivered" } else { "" };
            let (by_build, end) = match build {
                Some(what) => (format!("a build of charz with the same {what} measured "), ""),
                None => (String::new(), if *others == 0 { "" } else { " closely" }),
            };
            let way = build.as_ref().map(|_| "sweep all with one build".to_owned());
            return Some((
                format!("{by_build}{nodes} of its kind, so only its parts{delivered} were compared{end}"),
                way,
            ));
        }
        Claim::Disturbed(disturbers) => meanwhile(disturbers),
    };
    Some((fact, None))
}

/// What would settle a doubt.
fn settled(doubt: &Doubt) -> Option<String> {
    let way = match doubt {
        Doubt::OneKernel(unreliable) if unreliable.is_empty() => "sweep with --preset node",
        Doubt::Disagree(_) => "sweep it again",
        Doubt::Busy(_) => "sweep it again when it is idle",
        Doubt::Visits { missing, all: [visits, reports], .. } => {
            let merged = match reports == visits {
                true => String::new(),
                false => {
                    format!("; {reports} reports, some less than 1 h apart, count as {}", counted(*visits, "visit"))
                }
            };
            let more = counted(*missing, "more visit");
            return Some(format!("{more} would tell a slow node from a slow hour{merged}"));
        }
        _ => return None,
    };
    Some(way.to_owned())
}

fn meanwhile(disturbers: &[charz_analysis::culprits::Disturber]) -> String {
    let clauses: Vec<String> = disturbers.iter().map(|disturber| plain(&disturber.clause())).collect();
    format!("while it was measured, {}", clauses.join(" and "))
}

fn doubtful(blame: &Blame, doubt: &Doubt) -> String {
    let told = told(blame);
    match doubt {
        Doubt::NoLike => format!("{told}, and no other node shows whether this is usual"),
        Doubt::OneKernel(unreliable) if unreliable.is_empty() => {
            format!("{told}, and no second kernel was measured that would confirm it")
        }
        Doubt::OneKernel(unreliable) => {
            let has = if unreliable.len() == 1 { "has" } else { "have" };
            let names: Vec<&str> = unreliable.iter().map(String::as_str).collect();
            format!("{told}, and {}, which would confirm it, {has} no reliable result", names.join(", "))
        }
        Doubt::Faster => format!(
            "{} is {:.1}% faster than its like, by {}; the others like it may be the slow ones",
            place(blame),
            blame.effect * 100.0,
            by(&blame.by)
        ),
        Doubt::HostMoved(missing) => {
            let more = counted(*missing, "visit");
            format!("{told}: the host of a guest may have moved its CPUs apart: it needs {more} more")
        }
        Doubt::Visits { seen: [seen, compared], .. } => {
            let all = counted(*compared, "visit");
            let seen = if seen < compared { format!("the newest {seen} of {all}") } else { all };
            format!("{told}, in {seen}")
        }
        Doubt::Disagree(visits) => format!("{told}, by the median of {visits} visits that disagree"),
        Doubt::Wide(visits, limit) => {
            let limit = limit * 100.0;
            format!("{told}, in {visits} visits; nodes like it vary so much that a fault must exceed {limit:.1}%")
        }
        Doubt::Lost(visits) => format!(
            "{} found the node {}, by {}; the newest has no reliable result to confirm it",
            counted(*visits, "earlier visit"),
            change(blame),
            by(&blame.by)
        ),
        Doubt::GuestMemory => {
            format!("{told}; memory of a guest is what its host gives in that hour, so no visit settles it")
        }
        Doubt::Class(class) => class_sentence(class),
        Doubt::Far(fastest) => format!(
            "it is {:.1}% slower than {}, by {}; so few nodes do not show which speed is usual",
            -blame.effect * 100.0,
            plain(fastest),
            by(&blame.by)
        ),
        Doubt::Quota(quota) => quota_sentence(quota),
        Doubt::Busy(shares) => busy(*shares),
    }
}

fn busy(shares: [f64; 2]) -> String {
    let [own, usual] = shares.map(|share| share * 100.0);
    format!("it delivered {own:.0}% of its capacity, others {usual:.0}%: other programs took its CPUs")
}

fn quota_sentence(Quota { quota, own, usual, was_seen }: &Quota) -> String {
    let (own, usual) = (own * 100.0, usual * 100.0);
    if *was_seen {
        return format!("a quota of {quota} CPUs: it delivered {own:.0}% of its capacity, others {usual:.0}%");
    }
    format!(
        "a quota of {quota} CPUs allows {own:.0}% of them for long, the median of the others is {usual:.0}%, though short runs had more"
    )
}

/// The settings of the nodes of a class (0), or the values of the others (1).
fn side(class: &Class, at: usize) -> String {
    let values = |(name, sides): &(Setting, [BTreeSet<Value>; 2])| {
        let values = sides[at].iter().map(value).collect::<Vec<_>>().join(" or ");
        if at == 0 { format!("{} {values}", setting(name)) } else { values }
    };
    class.settings.iter().map(values).collect::<Vec<_>>().join(", ")
}

/// The nodes of a class, and what is said of them: `20 nodes`, `with governor powersave are 25.0% slower than the 20 with performance, by …`.
pub(crate) fn class([own, others]: [usize; 2], class: &Class) -> [String; 2] {
    let side = |at: usize| plain(&side(class, at));
    let (slower, kernels) = (-class.effect * 100.0, by(&By::Kernels(class.kernels.clone())));
    let what = match (class.is_gap, class.settings.is_empty()) {
        (false, _) => {
            format!("with {} are {slower:.1}% slower than the {others} with {}, by {kernels}", side(0), side(1))
        }
        (true, true) => {
            format!("are {slower:.1}% slower than the other {others}, by {kernels}, and no setting goes with it")
        }
        (true, false) => {
            format!("are {slower:.1}% slower than the other {others}, by {kernels}, and they alone have {}", side(0))
        }
    };
    [counted(own, "node"), what]
}

fn class_sentence(own: &Class) -> String {
    class(own.counts, own).join(" ")
}

fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Finish => "its sweep ended early; charz sweep --resume finishes it",
        Remedy::Again => "sweep it again when it is idle",
        Remedy::Skipped => "its report says why that was skipped",
    }
}

/// `arith-int, mem-read x8`, of kernels with their loads.
fn names(loads: &Loads) -> String {
    // A kernel without any result says as much of its loads.
    let is_new =
        |(kernel, threads): &&(String, Option<u64>)| threads.is_none() || !loads.contains(&(kernel.clone(), None));
    let name = |(kernel, threads): &(String, Option<u64>)| match threads {
        Some(threads) => format!("{kernel} x{threads}"),
        None => kernel.clone(),
    };
    loads.iter().filter(is_new).map(name).collect::<Vec<_>>().join(", ")
}

/// The nouns of [`SIZES`].
const NOUNS: [&str; 4] = ["CPU", "core", "socket", "NUMA node"];

/// `it has 8 CPUs, and nodes like it have 16 CPUs`.
fn other_size(sizes: &[Structure; 2], others: &str) -> String {
    let other = (0..NOUNS.len()).filter(|at| sizes[0][*at] != sizes[1][*at]);
    let of = |own: &Structure| other.clone().map(|at| counted(own[at], NOUNS[at])).collect::<Vec<_>>().join(", ");
    let [own, usual] = sizes.each_ref().map(of);
    let [[cpus, rest @ ..], [most, others_rest @ ..]] = sizes;
    // One CPU a core, and several of nodes that are the same otherwise.
    let smt = if rest == others_rest && *cpus == rest[0] && most > cpus { ": SMT is off" } else { "" };
    format!("it has {own}, and {others} have {usual}{smt}")
}

/// The name of a group of nodes: `AMD EPYC, 8 CPUs, 8 cores, 1 socket, 1 NUMA node`.
pub(crate) fn group(kind: &str, structure: Structure) -> String {
    let sizes = structure.iter().zip(NOUNS).map(|(count, noun)| format!(", {}", counted(*count, noun)));
    kind.to_owned() + &sizes.collect::<String>()
}

pub(crate) fn setting(setting: &Setting) -> String {
    match setting {
        Setting::Cpus => "CPUs".into(),
        Setting::Cores => "cores".into(),
        Setting::Sockets => "sockets".into(),
        Setting::NumaNodes => "NUMA nodes".into(),
        Setting::Governor => "governor".into(),
        Setting::Microcode => "microcode".into(),
        Setting::Firmware => "firmware".into(),
        Setting::Kernel => "kernel".into(),
        Setting::HugePages => "transparent huge pages".into(),
        Setting::ClockSource => "clock source".into(),
        Setting::Quota => "CPU quota".into(),
        Setting::Memory => "memory".into(),
        Setting::Modules => "memory modules".into(),
        Setting::Charz => "charz".into(),
        Setting::Label(name) => format!("label {name}"),
    }
}

pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Count(count) => count.to_string(),
        Value::Gib(gib) => format!("{gib} GiB"),
        Value::Text(text) => text.clone(),
    }
}

/// The words in which it differs from its like, but for sizes, which are a claim: `governor is powersave, and performance on the others`.
pub(crate) fn differs(node: &Node) -> Vec<String> {
    let sentence = |(name, Differs { here, others }): (&Setting, &Differs)| {
        format!("{} is {}, and {} on the others", setting(name), plain(&value(here)), plain(&value(others)))
    };
    let is_claim =
        |name: &Setting| SIZES.contains(name) && node.claims.iter().any(|own| matches!(own, Claim::Smaller(_)));
    node.differs.iter().filter(|(name, _)| !is_claim(name)).map(sentence).collect()
}

/// The most parts that the line for Slurm names.
const MOST_PARTS: usize = 3;

/// The line for Slurm that takes a slow node out, with its slow parts and the cause of the largest loss. charz does not run it.
pub(crate) fn drain(node: &Node) -> Option<String> {
    let name = node.slurm.as_ref().filter(|_| node.state() == State::Slow)?;
    let blame = node.blame();
    let what = |own: &&Blame| {
        let cpus = match own.part {
            Component::Node => String::new(),
            _ => format!(" {}", cpulist::cpus(&own.cpus)),
        };
        format!("{}{cpus} {:+.0}%", component(own.part), own.effect * 100.0)
    };
    let mut what: Vec<String> = blame.iter().take(MOST_PARTS).map(what).collect();
    what.extend(blame.len().checked_sub(MOST_PARTS + 1).map(|more| format!("and {} more", more + 1)));
    let first = blame.first()?;
    what.extend(match &first.cause {
        Some(Cause::Setting(name, own)) => Some(format!("{} {}", setting(name), value(own))),
        Some(Cause::Quota(quota)) => Some(format!("{} {}", setting(&Setting::Quota), quota.quota)),
        Some(Cause::Class(class)) => Some(side(class, 0)),
        None => first.clock.map(|clock| format!("clock {}", units::hertz(clock.hz))),
    });
    let is_of_reasons = |mark: &char| mark.is_ascii_alphanumeric() || " .,-+_%/".contains(*mark);
    let reason: String = what.join(", ").replace('×', "x").chars().filter(is_of_reasons).collect();
    Some(format!("scontrol update nodename={name} state=drain reason=\"charz: {reason}\""))
}

/// Whether no whole nodes were compared closely, which the headline says once for all.
pub(crate) fn is_by_parts(fleet: &Fleet) -> bool {
    let is_small = fleet.groups.iter().all(|group| group.nodes.len() < ENOUGH_NODES);
    is_small && fleet.count(State::Unmeasured) < fleet.nodes.len()
}

/// How many nodes there are, and how many of them are what: the answer.
pub(crate) fn headline(fleet: &Fleet) -> String {
    let all = fleet.nodes.len();
    let counts = State::ALL.iter().map(|state| (fleet.count(*state), state.name()));
    let counts: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let mut told = vec![match (all, fleet.count(State::Ok)) {
        (1, 1) => "1 node, nothing slow inside it".to_owned(),
        _ => format!("{}: {}", counted(all, "node"), counts.join(", ")),
    }];
    told.extend(is_by_parts(fleet).then(|| match all {
        1 => "Whole nodes not compared: one alone has no like".to_owned(),
        _ => format!("Whole nodes not compared closely: fewer than {ENOUGH_NODES} are alike"),
    }));
    told.extend(unreliable(fleet));
    told.extend(match fleet.unreadable.len() {
        0 => None,
        count => Some(format!("{} could not be read", counted(count, "file"))),
    });
    told.join(". ")
}

/// So many numbers of nodes, each with its kernels, are in the headline at most.
const MOST_COUNTS: usize = 3;

/// `Reliable on 8 of 20 nodes only: mem-read`: kernels that most nodes lack, or one that is called ok. Nodes without a number have a
/// sentence of their own.
fn unreliable(fleet: &Fleet) -> Vec<String> {
    // Nodes with a reliable result, all that were to have one, and those that are called ok without.
    let mut kernels: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for node in fleet.nodes.iter().filter(|node| node.state() != State::Unmeasured) {
        for (kernel, is_reliable) in &node.reliable {
            let [reliable, all, unsaid] = kernels.entry(kernel).or_default();
            *reliable += usize::from(*is_reliable);
            *all += 1;
            *unsaid += usize::from(!is_reliable && node.state() == State::Ok);
        }
    }
    kernels.retain(|_, [reliable, all, unsaid]| *unsaid > 0 || (*reliable as f64) < USUAL * *all as f64);
    let mut counts: BTreeMap<[usize; 2], Vec<&str>> = BTreeMap::new();
    kernels.iter().for_each(|(kernel, [reliable, all, _])| counts.entry([*reliable, *all]).or_default().push(kernel));
    let clause = |([reliable, all], kernels): (&[usize; 2], &Vec<&str>)| match reliable {
        0 => format!("No reliable result: {}", kernels.join(", ")),
        _ => format!("Reliable on {reliable} of {} only: {}", counted(*all, "node"), kernels.join(", ")),
    };
    let mut told: Vec<String> = counts.iter().take(MOST_COUNTS).map(clause).collect();
    let more: usize = counts.values().skip(MOST_COUNTS).map(Vec::len).sum();
    told.extend((more > 0).then(|| format!("{} more not reliable on all", counted(more, "kernel"))));
    told
}
