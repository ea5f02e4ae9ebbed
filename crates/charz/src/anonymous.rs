//! A report that does not say whose it is, judged by what it still says.

use charz_data::report::{self, Report};
use charz_measure::sweep::judge_report;

/// The report as [`report::anonymous`] leaves it, judged again: no sentence of it was made from what is left out.
pub(crate) fn anonymous(report: Report) -> Report {
    let mut report = report::anonymous(report);
    judge_report(&mut report);
    report
}
