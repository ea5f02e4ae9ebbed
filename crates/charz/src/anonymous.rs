//! A report that does not say whose it is, with conclusions from what it still says.

use crate::exit::Error;
use charz_analysis::findings::findings;
use charz_data::report::{self, Report};
use charz_measure::sweep::reread;

/// The report as [`report::anonymous`] leaves it, judged again: no sentence of it was made from what is left out.
pub(crate) fn anonymous(report: Report) -> Result<Report, Error> {
    let mut report = report::anonymous(report);
    reread(&mut report).map_err(|what| Error::bad_input(format!("the report cannot be made anonymous: {what}")))?;
    report.findings = findings(&report);
    Ok(report)
}
