//! One report of a history.

use std::time::UNIX_EPOCH;

use serde::Serialize;

use crate::report::{Report, Status};

/// A report that is kept, without what it says of cells.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number in the history: the first one is 1, and it keeps it.
    pub id: i64,
    /// When its sweep began, in seconds since 1970-01-01T00:00:00Z.
    pub at: i64,
    /// What whoever added it calls it.
    pub label: Option<String>,
    /// SHA-256 of the file that was added, hexadecimal.
    pub digest: String,
    /// How many cells ended how.
    pub counts: Counts,
    /// The report without its cells: where it comes from, and what was planned.
    pub head: Report,
}

/// How many cells of a report ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Nothing speaks against their number.
    pub ok: u64,
    /// Something does.
    pub suspect: u64,
    /// There is none.
    pub invalid: u64,
    /// Pending, skipped or aborted.
    pub others: u64,
}

impl Counts {
    pub(super) fn count(&mut self, status: Status, cells: u64) {
        let place = match status {
            Status::Ok => &mut self.ok,
            Status::Suspect => &mut self.suspect,
            Status::Invalid => &mut self.invalid,
            Status::Pending | Status::Skipped | Status::Aborted => &mut self.others,
        };
        *place += cells;
    }
}

/// The report without what was measured.
pub(super) fn head(report: &Report) -> Report {
    Report {
        schema: report.schema.clone(),
        id: report.id.clone(),
        tool: report.tool.clone(),
        started: report.started.clone(),
        host: report.host.clone(),
        machine: report.machine.clone(),
        timer: report.timer.clone(),
        plan: report.plan.clone(),
        floor: Vec::new(),
        cells: Vec::new(),
        findings: Vec::new(),
        wall_ns: report.wall_ns,
        complete: report.complete,
        stopped_by: report.stopped_by.clone(),
    }
}

/// When a sweep began, in seconds since 1970. `None` where that is no time, or one that no calendar has.
pub(super) fn seconds(started: &str) -> Option<i64> {
    let time = humantime::parse_rfc3339(started).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(started: &str, expected: Option<i64>) {
        assert_eq!(seconds(started), expected, "{started:?}");
    }

    #[test]
    fn times_are_those_of_reports() {
        check("1970-01-02T00:00:01Z", Some(86_401));
        check("2026-01-31T12:00:00Z", Some(1_769_860_800));
        check("1969-12-31T23:59:59Z", None);
        check("2026-01-31 12:00", None);
        check("\u{1b}[2J", None);
        check("é026-01-31T12:00:00Z", None);
    }
}
