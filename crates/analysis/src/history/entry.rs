//! One report of a history, and what else changed from one to the next.

use std::fmt;
use std::time::UNIX_EPOCH;

use crate::compare::{built, surroundings};
use charz_data::report::Report;

#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number in the history, from 1; it keeps it.
    pub id: i64,
    /// When its sweep began, in seconds since 1970-01-01T00:00:00Z.
    pub at: i64,
    pub label: Option<String>,
    /// The report as [`summary`] leaves it.
    pub report: Report,
}

impl Entry {
    /// `None` if the report does not know when it began.
    pub fn new(id: i64, label: Option<String>, report: Report) -> Option<Self> {
        Some(Entry { id, at: seconds(&report.started)?, label, report })
    }

    /// Its number and its day: `12 (2026-01-31)`.
    pub fn name(&self) -> String {
        let day: String = self.report.started.chars().take("2026-01-31".len()).collect();
        format!("{} ({day})", self.id)
    }
}

/// The report with one number per cell, and the last size of those that grow: a hundredth of its size.
pub fn summary(mut report: Report) -> Report {
    report.floor = Vec::new();
    for cell in &mut report.cells {
        (cell.seats, cell.marks) = (Vec::new(), Vec::new());
        (cell.distribution, cell.contention) = (None, None);
        cell.invocations.retain(|one| one.clean_runs().any(|run| run.growth.is_some()));
        cell.invocations.truncate(1);
        for one in &mut cell.invocations {
            one.evidence = None;
            one.runs.retain(|run| run.dirty.is_empty() && run.growth.is_some());
            one.runs.truncate(1);
            one.runs.iter_mut().for_each(|run| run.laps.clear());
        }
    }
    report
}

/// A time of RFC 3339 in seconds since 1970; `None` for any other text.
pub fn seconds(started: &str) -> Option<i64> {
    let time = humantime::parse_rfc3339(started).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    New,
    /// The same text is there; nothing changed.
    Same,
    /// It replaced an earlier state of its sweep, as after a resumption.
    Later,
    /// A later state of its sweep is there; nothing changed.
    Earlier,
}

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
    let mut facts = vec![("charz", Some(format!("{} ({})", tool.version, tool.commit)))];
    facts.extend(surroundings(report));
    facts.extend(built(report).map(|(what, word)| (what, (word != "unknown").then(|| word.to_owned()))));
    facts.push(("clock", Some(report.plan.clock.clone())));
    facts.push(("binder", Some(report.plan.binder.clone())));
    facts
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_those_of_reports() {
        for (started, expected) in [
            ("1970-01-02T00:00:01Z", Some(86_401)),
            ("2026-01-31T12:00:00Z", Some(1_769_860_800)),
            ("1969-12-31T23:59:59Z", None),
            ("2026-01-31 12:00", None),
            ("\u{1b}[2J", None),
            ("é026-01-31T12:00:00Z", None),
        ] {
            assert_eq!(seconds(started), expected, "{started:?}");
        }
    }
}
