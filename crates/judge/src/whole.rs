//! A whole report: each cell is judged.

use charz_data::Family;
use charz_data::report::{Cell, Estimator, Report};

use super::{JudgeContext, judge};

/// Fills in all that is derived in the cells of a report, by the rules of this version of charz, whichever wrote it.
///
/// `context` has what a cell is judged by; a cell for which it is `None` is left as it is.
pub fn judge_report(report: &mut Report, context: impl Fn(&Report, &Cell) -> Option<JudgeContext>) {
    let wanted = report.plan.precision;
    let cells = || report.floor.iter().chain(&report.cells);
    let contexts: Vec<Option<JudgeContext>> = cells().map(|cell| context(report, cell)).collect();
    for (cell, context) in report.floor.iter_mut().chain(&mut report.cells).zip(&contexts) {
        let Some(context) = context else { continue };
        let family = context.card.family;
        // The floor has its own, whatever was asked for.
        cell.precision = wanted.filter(|_| family != Family::Floor).unwrap_or(family.precision());
        cell.estimator = Estimator::of(&context.card);
        judge(cell, context);
    }
}
