//! The sentences of a fleet, without their full stops.

use charz_analysis::culprits::Disturber;
use charz_data::cpulist;
use charz_data::escape::{counted, plain};

use crate::{Blame, Fleet, Node, State};

/// `8.0% slower than its like (7.9 to 8.2%)`.
fn change(blame: &Blame) -> String {
    let [low, high] = blame.interval.map(|end| -end * 100.0);
    let range = if high < low { format!(" ({high:.1} to {low:.1}%)") } else { String::new() };
    format!("{:.1}% slower than its like{range}", -blame.effect * 100.0)
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
    format!("{} is {}, by {}", blame.place(), change(blame), blame.quantity)
}

pub(crate) fn unmeasured(cells: usize) -> String {
    format!("none of {} has a reliable result; sweep it again when it is idle", counted(cells, "configuration"))
}

pub(crate) fn partly([usable, all]: [usize; 2]) -> String {
    format!("{usable} of {all} CPUs were measured; give the job all of them (sbatch --exclusive, without srun)")
}

pub(crate) fn one_kernel(blame: &Blame) -> String {
    format!("{}, and no second kernel was measured that would confirm it; sweep with --preset node", told(blame))
}

pub(crate) fn more_visits(blame: &Blame, missing: usize) -> String {
    format!(
        "{}, and one visit does not tell a slow node from a slow hour; {} more",
        told(blame),
        counted(missing, "visit")
    )
}

pub(crate) fn moved(blame: &Blame, missing: usize) -> String {
    format!(
        "{}: the host of a guest may have moved its CPUs apart: it needs {} more",
        told(blame),
        counted(missing, "visit")
    )
}

pub(crate) fn smaller(name: &str, differs: &crate::Differs) -> String {
    format!("it has {} {name}, and most nodes like it have {}", differs.here, differs.others)
}

pub(crate) fn guest_memory(blame: &Blame) -> String {
    format!("{}; memory of a guest is what its host gives in that hour, so no visit settles it", told(blame))
}

pub(crate) fn quota(own: f64, usual: f64, quota: &str, was_seen: bool) -> String {
    let (own, usual) = (own * 100.0, usual * 100.0);
    if was_seen {
        format!("a quota of {quota} CPUs: it delivered {own:.0}% of its capacity, others {usual:.0}%")
    } else {
        format!("a quota of {quota} CPUs allows {own:.0}% of them for long, though short runs had more")
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

/// The words in which it differs from its like: `governor is powersave, and performance on the others`.
pub(crate) fn differs(node: &Node) -> Vec<String> {
    let sentence = |(name, differs): (&String, &crate::Differs)| {
        format!("{name} is {}, and {} on the others", plain(&differs.here), plain(&differs.others))
    };
    node.differs.iter().map(sentence).collect()
}

/// The line for Slurm. Nothing of a report but letters, digits and marks of a host's name gets into it.
pub(crate) fn drain(node: &Node) -> String {
    let is_name = |mark: &char| mark.is_ascii_alphanumeric() || matches!(mark, '.' | '-' | '_');
    let host: String = node.host.chars().filter(is_name).collect();
    let what = node.blame.first().map_or(String::new(), |blame| {
        let cpus =
            if blame.component == "node" { String::new() } else { format!(" CPUs {}", cpulist::print(&blame.ids)) };
        format!("{}{cpus} {:+.0}%", blame.component, blame.effect * 100.0)
    });
    format!("scontrol update nodename={host} state=drain reason=\"charz: {what}\"")
}

/// How many nodes there are, and how many of them are what: the answer.
pub(crate) fn headline(fleet: &Fleet) -> String {
    let counts = State::ALL.iter().map(|state| (fleet.count(*state), state.name()));
    let counts: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let unreadable = match fleet.unreadable.len() {
        0 => String::new(),
        count => format!("; {} could not be read", counted(count, "file")),
    };
    format!("{}: {}{unreadable}", counted(fleet.nodes.len(), "node"), counts.join(", "))
}
