//! Numbers of another program: only their values are known.

use super::case::Case;
use super::{JudgeContext, mark, samples, summary, verdict};
use charz_data::checks::V41;
use charz_data::report::{Cell, Measured, Severity};

/// Judges a cell by the values of its runs, or by the interval that was stated with its value.
pub(super) fn judge(cell: &mut Cell, facts: &JudgeContext) {
    for run in &mut cell.invocations {
        run.value = run.runs.first().and_then(|iteration| iteration.reported);
    }
    let case = Case::new(cell, facts, None);
    let known = mark(&V41, Severity::Note, "measured by another program: only its values are known".into());
    let mut marks = vec![known];
    if cell.stated_interval.is_none() {
        marks.extend(samples::of_values(&case).into_iter().flatten());
    }
    marks.sort_by(|a, b| a.code.cmp(&b.code));
    let capacity = summary::capacity(&case);
    let capacity = capacity.map(|found| Measured { interval: cell.stated_interval.or(found.interval), ..found });
    let (summary, (status, reason)) = (summary::summary(&case), verdict(&marks));
    (cell.status, cell.reason, cell.marks, cell.summary) = (status, reason, marks, summary);
    (cell.capacity, cell.delivered, cell.distribution, cell.contention) = (capacity, None, None, None);
    (cell.hardware, cell.energy) = (None, None);
}
