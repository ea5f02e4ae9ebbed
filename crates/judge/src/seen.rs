//! Circumstances that were counted around the iterations: each is judged by the limits of its check, and by nothing else.

use super::case::Case;
use super::raise;
use charz_data::checks::{CHECKS, Check, Scale};
use charz_data::report::Mark;
use charz_data::units;
use charz_stats::median;

/// A mark for each whose quantity in the run in the middle is beyond a limit.
pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    let mark = |check: &&'static Check| {
        let seen: Vec<f64> = case.evidence().filter_map(|found| found.seen.get(check.code).copied()).collect();
        let quantity = median(seen)?;
        raise(check, quantity, || {
            let shown = match check.scale {
                Scale::Share => units::percent(quantity),
                Scale::Count | Scale::Ratio => units::count_of(quantity),
            };
            format!("{}: {shown}", check.title)
        })
    };
    CHECKS.iter().filter(|_| case.timed).map(mark).collect()
}
