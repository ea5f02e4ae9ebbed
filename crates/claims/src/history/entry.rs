//! One report of a history, and what else changed from one to the next.

use std::time::UNIX_EPOCH;

use crate::compare::{Said, UNKNOWN, environment};
use charz_data::checks::V16;
use charz_data::report::Report;

/// A report of a history.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number in the history, from 1; it keeps it.
    pub id: i64,
    /// When its sweep began, in seconds since 1970-01-01T00:00:00Z.
    pub at: i64,
    /// What it was added as.
    pub label: Option<Box<str>>,
    /// The report as [`summary`] leaves it.
    pub report: Report,
}

impl Entry {
    /// `None` if the report does not know when it began.
    pub fn new(id: i64, label: Option<Box<str>>, report: Report) -> Option<Self> {
        Some(Entry { id, at: seconds(&report.started)?, label, report })
    }
}

/// The report with one number per cell, whether it is of several speeds, and the last size of those that grow: a hundredth of its size.
pub fn summary(mut report: Report) -> Report {
    report.floor = Vec::new();
    for cell in &mut report.cells {
        cell.seats = Vec::new();
        cell.marks.retain(|mark| mark.code == V16.code);
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

/// What became of a report that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It was not there before.
    New,
    /// The same text is there; nothing changed.
    Same,
    /// It replaced an earlier state of its sweep, as after a resumption.
    Later,
    /// A later state of its sweep is there; nothing changed.
    Earlier,
}

/// A fact of the environment that differs in a later report: its name, and what both say.
pub type EnvChange<'a> = (&'static str, [Said<'a>; 2]);

/// The facts that differ. A fact that one of the reports lacks is left out: it need not have changed.
pub fn env_diff<'a>(before: &'a Report, after: &'a Report) -> Vec<EnvChange<'a>> {
    let known = |report| environment().map(move |fact| (fact.of)(report).filter(|said| *said != UNKNOWN));
    let pairs = environment().zip(known(before)).zip(known(after));
    let both = pairs.filter_map(|((fact, before), after)| Some((fact.name, [before?, after?])));
    both.filter(|(_, [before, after])| before != after).collect()
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
