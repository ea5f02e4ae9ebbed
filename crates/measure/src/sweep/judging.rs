//! What a cell is judged by, while it is measured and when it is read.

use std::borrow::Cow;

use charz_data::report::{Cell, Report};
use charz_judge::JudgeContext;
use charz_kernels::{Kernel, Sizes};

use crate::user_program;

/// Whether the number of a kernel is claimed to be one of memory, where its blocks lie in this level.
pub(super) fn is_about_memory(kernel: &dyn Kernel, level: Option<&str>) -> bool {
    match kernel.axes().sizes {
        Sizes::Block => true,
        Sizes::Levels => level == Some("memory"),
        Sizes::Fixed(_) | Sizes::BetweenCaches(_) | Sizes::Curve => false,
    }
}

/// What a cell is judged by: the card of its kernel, or the report's where the kernel is none of this program's; `None` without either.
pub fn judge_context(report: &Report, cell: &Cell) -> Option<JudgeContext> {
    let kernel = user_program::find(&cell.kernel);
    let about_memory = kernel.map_or(cell.about_memory, |kernel| is_about_memory(kernel, cell.level.as_deref()));
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

#[cfg(test)]
mod tests {
    use charz_data::report::{Unit, fixtures};

    use super::*;

    #[test]
    fn a_kernel_of_another_program_says_itself_what_its_number_is_of() {
        for about_memory in [true, false] {
            let cell = fixtures::cell("of-tomorrow", 1, Unit::BytesPerSecond, 1e9);
            let report = fixtures::report(vec![Cell { about_memory, ..cell }]);
            assert_eq!(judge_context(&report, &report.cells[0]).unwrap().about_memory, about_memory);
        }
    }
}
