//! One report of a history.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use charz_data::report::{Cell, Report};

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

/// The report with one number per cell: a hundredth of its size.
pub fn summary(report: &Report) -> Report {
    let bare = |cell: &Cell| Cell {
        kernel: cell.kernel.clone(),
        mapping: cell.mapping.clone(),
        level: cell.level.clone(),
        outcome: cell.outcome.clone(),
        seats: Vec::new(),
        marks: Vec::new(),
        invocations: Vec::new(),
        distribution: None,
        sharing: None,
        ..*cell
    };
    Report {
        schema: report.schema.clone(),
        id: report.id.clone(),
        tool: report.tool.clone(),
        command: report.command.clone(),
        started: report.started.clone(),
        host: report.host.clone(),
        machine: report.machine.clone(),
        timer: report.timer.clone(),
        plan: report.plan.clone(),
        cards: report.cards.clone(),
        floor: Vec::new(),
        cells: report.cells.iter().map(bare).collect(),
        findings: Vec::new(),
        wall_ns: report.wall_ns,
        complete: report.complete,
        stopped_by: report.stopped_by.clone(),
    }
}

/// A time of RFC 3339 in seconds since 1970; `None` for any other text.
pub fn seconds(started: &str) -> Option<i64> {
    let time = humantime::parse_rfc3339(started).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

#[derive(Debug)]
pub struct Addition {
    /// The file that it was read from, for messages.
    pub file: PathBuf,
    pub text: String,
    pub report: Report,
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
