//! The numbers of a cell.

use super::case::Case;
use charz_data::report::{Interval, Run, Summary};
use charz_stats::{Sample, median_interval};

/// The confidence of a cell's interval.
const CONFIDENCE: f64 = 0.95;

/// How many repetitions the T3-4 report took the best of.
const OF_THREE: usize = 3;

/// The numbers; the value only where it `stands`. `None` without a repetition that has a rate: one that was over before the
/// clock ticked has none, and JSON has no word for infinity.
pub(super) fn summary(case: &Case<'_>, stands: bool) -> Option<Summary> {
    let unit = case.cell.unit;
    let runs = || case.cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    let rates = |runs: &[Run]| runs.iter().map(|run| run.value(unit)).filter(|rate| rate.is_finite()).collect();
    let all: Vec<Vec<f64>> = case.cell.invocations.iter().map(|invocation| rates(&invocation.runs)).collect();
    let first = all.iter().find(|rates| !rates.is_empty())?;
    let first = Sample::new(first.iter().copied().take(OF_THREE).collect())?;
    let all = Sample::new(all.concat())?;
    let best = |sample: &Sample| if unit.more_is_better() { sample.max() } else { sample.min() };
    let values = Sample::new(case.values());
    let raw = values.as_ref().map(Sample::median);
    let clean = Sample::new(case.clean_values());
    Some(Summary {
        value: raw.filter(|_| stands),
        raw,
        interval: values.as_ref().filter(|_| stands).and_then(interval),
        invocations: values.map_or(0, |values| values.len() as u64),
        clean_runs: case.clean_runs().count() as u64,
        dirty_runs: case.runs().filter(|run| !run.dirty.is_empty()).count() as u64,
        spread: clean.and_then(|clean| clean.robust_spread(resolution(case, &clean))),
        best: best(&all),
        worst: if unit.more_is_better() { all.min() } else { all.max() },
        best_of_three: best(&first),
        start_skew_ns: runs().map(|run| run.start_skew_ns).max().unwrap_or(0),
    })
}

/// Where the median of the invocations' values lies; `None` with too few of them, and for a median of 0.
pub(super) fn interval(values: &Sample) -> Option<Interval> {
    let found = median_interval(values, CONFIDENCE)?;
    let half_width = found.half_width() / values.median().abs();
    half_width.is_finite().then_some(Interval {
        low: found.low,
        high: found.high,
        confidence: found.confidence,
        half_width,
    })
}

/// The smallest difference between two repetitions that the clock shows, in the cell's unit; 0 where the clock is unknown.
pub(super) fn resolution(case: &Case<'_>, clean: &Sample) -> f64 {
    let step = case.facts.timer.as_ref().map_or(0, |timer| timer.resolution_ns) as f64;
    let interval = |run: &Run| run.interval_ns as f64;
    let typical =
        Sample::new(case.clean_runs().map(interval).collect()).map_or(f64::INFINITY, |sample| sample.median());
    clean.median().abs() * step / typical
}
