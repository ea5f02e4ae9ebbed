//! What a cell is judged by, while it is measured and when it is read.

use std::borrow::Cow;

use charz_data::report::{Cell, Report};
use charz_judge::JudgeContext;
use charz_kernels::Sizes;

use crate::user_program;

/// What a cell is judged by: the card of its kernel, or the report's where the kernel is none of this program's; `None` without either.
pub fn judge_context(report: &Report, cell: &Cell) -> Option<JudgeContext> {
    let kernel = user_program::find(&cell.kernel);
    let about_memory = match kernel.map(|kernel| kernel.axes().sizes) {
        Some(Sizes::Block) => true,
        Some(Sizes::Levels) => cell.level.as_deref() == Some("memory"),
        Some(Sizes::Fixed(_) | Sizes::BetweenCaches(_) | Sizes::Curve) => false,
        // Only the program that has it knows.
        None => false,
    };
    let card = match kernel {
        Some(kernel) => Cow::Borrowed(kernel.card()),
        None => Cow::Owned(report.card(&cell.kernel)?.clone()),
    };
    Some(JudgeContext::of(report, cell, card, about_memory))
}

/// Judges each cell of a report that was read, as [`charz_judge::judge_report`] does.
pub fn judge_report(report: &mut Report) {
    charz_judge::judge_report(report, judge_context);
}
