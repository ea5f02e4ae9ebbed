//! What surrounds the numbers of a report, and may have changed from one to the next.

use charz_data::cpulist;
use serde::Serialize;

use crate::compare::{built, surroundings};
use crate::report::Report;

/// Something that is other in a later report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Became {
    /// Its name, e.g. `system's kernel`.
    pub what: &'static str,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// What is other around `after` than it was around `before`. What one of the two does not tell is left out: that is no
/// change of the machine.
pub fn became(before: &Report, after: &Report) -> Vec<Became> {
    let pairs = facts(before).into_iter().zip(facts(after));
    let other = pairs.filter_map(|((what, before), (_, after))| Some(Became { what, before: before?, after: after? }));
    other.filter(|became| became.before != became.after).collect()
}

/// What became other, as one clause; nothing where nothing did.
pub fn in_words(became: &[Became]) -> String {
    let one = |Became { what, before, after }: &Became| format!("{what} {before} -> {after}");
    became.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn facts(report: &Report) -> Vec<(&'static str, Option<String>)> {
    let tool = &report.tool;
    let known = |word: &str| (word != "unknown").then(|| word.to_owned());
    let mut facts = vec![("charz", Some(format!("{} ({})", tool.version, tool.commit)))];
    facts.extend(
        surroundings(report)
            .map(|(what, word)| (what, if what == QUOTA { word.or(Some("none".into())) } else { word })),
    );
    facts.push(("usable strands", Some(usable(report))));
    facts.extend(built(report).map(|(what, word)| (what, known(word))));
    facts.push(("clock", Some(report.plan.clock.clone())));
    facts.push(("binder", Some(report.plan.binder.clone())));
    facts
}

/// Its absence is known.
const QUOTA: &str = "processor quota";

fn usable(report: &Report) -> String {
    let mut ids: Vec<u32> = report.machine.usable_strands().map(|strand| strand.os_id).collect();
    ids.sort_unstable();
    cpulist::print(&ids)
}
