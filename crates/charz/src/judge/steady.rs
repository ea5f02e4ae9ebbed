//! V15: whether a number depends on when it was measured.
//!
//! Both parts compare values, but no repetition is left out for its own: if first repetitions differ from the others of
//! their process, all first repetitions go, the innocent with the rest.

use charz_data::checks::V15;
use charz_data::report::{Cell, Ending, Run};
use charz_stats::{LEAST_FOR_INTERVAL, Sample, median_interval, trend};

/// How sure it must be that first repetitions differ.
const CONFIDENCE: f64 = 0.95;

/// How often at most a series without a trend may be said to have one: a sweep has many cells.
const FALSE_TRENDS: f64 = 0.01;

/// By how much the first repetition of a process differs from its others, as a fraction (negative: it is smaller), where
/// that is more than noise: the median over the invocations, whose interval must leave zero out.
pub(super) fn first_repetition(cell: &Cell) -> Option<f64> {
    let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done);
    let differences = done.filter_map(|invocation| {
        let (first, rest) = invocation.runs.split_first()?;
        let clean = |run: &&Run| run.dirty.is_empty();
        let rest = Sample::new(rest.iter().filter(clean).map(|run| run.value(cell.unit)).collect())?;
        Some(first).filter(clean).map(|first| (first.value(cell.unit) / rest.median()).ln())
    });
    let differences = Sample::new(differences.collect())?;
    let interval = median_interval(&differences, CONFIDENCE)?;
    let difference = differences.median().exp() - 1.0;
    (!interval.covers(0.0) && V15.severity(difference.abs()).is_some()).then_some(difference)
}

/// Leaves the first repetition of every invocation out.
pub(super) fn leave_first_out(cell: &mut Cell) {
    for run in cell.invocations.iter_mut().filter_map(|invocation| invocation.runs.first_mut()) {
        run.dirty.push(V15.code.into());
    }
}

/// By how much the last third of the values differs from the first, as a fraction, where that is more than noise: the values
/// must rise or fall throughout, by the test of Mann and Kendall.
pub(super) fn drift(values: &[f64]) -> Option<f64> {
    if values.len() < LEAST_FOR_INTERVAL {
        return None;
    }
    let third = values.len() / 3;
    let median = |values: &[f64]| Sample::new(values.to_vec()).map(|sample| sample.median());
    let drift = median(&values[values.len() - third..])? / median(&values[..third])? - 1.0;
    (trend(values)? < FALSE_TRENDS).then_some(drift)
}
