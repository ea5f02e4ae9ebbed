//! What else changed between two reports: the system, the build, the usable strands.

use std::fmt;

use charz_data::cpulist;

use crate::compare::{built, surroundings};
use charz_data::report::Report;

/// A fact of the environment that differs in a later report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvChange {
    /// Its name, e.g. `system's kernel`.
    pub what: &'static str,
    pub before: String,
    pub after: String,
}

impl fmt::Display for EnvChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.what, self.before, self.after)
    }
}

/// The facts that differ. A fact that one of the reports lacks is left out: it need not have changed.
pub fn env_diff(before: &Report, after: &Report) -> Vec<EnvChange> {
    let pairs = environment(before).into_iter().zip(environment(after));
    let known =
        pairs.filter_map(|((what, before), (_, after))| Some(EnvChange { what, before: before?, after: after? }));
    known.filter(|change| change.before != change.after).collect()
}

/// The changes as one clause; empty if there are none.
pub fn display(changes: &[EnvChange]) -> String {
    changes.iter().map(EnvChange::to_string).collect::<Vec<_>>().join("; ")
}

fn environment(report: &Report) -> Vec<(&'static str, Option<String>)> {
    let tool = &report.tool;
    // No quota is a fact; of everything else nothing is known where nothing is said.
    let known = |(what, word): (_, Option<String>)| (what, word.or((what == "processor quota").then(|| "none".into())));
    let mut facts = vec![("charz", Some(format!("{} ({})", tool.version, tool.commit)))];
    facts.extend(surroundings(report).map(known));
    facts.push(("usable strands", Some(usable(report))));
    facts.extend(built(report).map(|(what, word)| (what, (word != "unknown").then(|| word.to_owned()))));
    facts.push(("clock", Some(report.plan.clock.clone())));
    facts.push(("binder", Some(report.plan.binder.clone())));
    facts
}

fn usable(report: &Report) -> String {
    let strands = report.machine.usable_strands();
    let mut ids: Vec<u32> = strands.map(|strand| strand.os_id).collect();
    ids.sort_unstable();
    cpulist::print(&ids)
}
