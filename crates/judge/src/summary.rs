//! The numbers of a cell, and what workers cost each other at what they share.

use super::case::{Case, total};
use super::estimate::{FastModes, is_number};
use charz_data::histogram::median_error;
use charz_data::report::{Contention, Interval, Invocation, Lap, Measured, Run, Sharing, Summary, Unit};
use charz_stats::{Sample, median, median_interval, pooled};

const CONFIDENCE: f64 = 0.95;

/// How many runs of the program the T3-4 report took the best of.
const OF_THREE: usize = 3;

/// The numbers of a cell; `None` if no repetition has a rate: one that was over before the
/// clock ticked has none, and JSON has no number for infinity.
pub(super) fn summary(case: &Case<'_>) -> Option<Summary> {
    let unit = case.cell.unit;
    let runs = || case.cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    let all = Sample::new(runs().map(|run| run.value(unit)).filter(|value| is_number(*value, unit)).collect())?;
    let best = |sample: &Sample| if unit.more_is_better() { sample.max() } else { sample.min() };
    let values = case.values();
    let first = Sample::new(values.iter().copied().take(OF_THREE).collect());
    let values = Sample::new(values);
    let raw = values.as_ref().map(|values| typical(case, values));
    let clean = Sample::new(case.clean_values());
    // What a core does by itself is the same wherever the others are.
    let counts = case.modes.is_none() && case.facts.may_move_cpus();
    let apart = case.done().filter(|_| counts).filter_map(Invocation::apart_ns);
    let apart = Sample::new(apart.collect());
    Some(Summary {
        raw,
        invocations: values.map_or(0, |values| values.len() as u64),
        clean_runs: case.clean_runs().count() as u64,
        dirty_runs: case.runs().filter(|run| !run.dirty.is_empty()).count() as u64,
        spread: clean.and_then(|clean| clean.robust_spread(resolution(case, &clean))),
        best: best(&all),
        worst: if unit.more_is_better() { all.min() } else { all.max() },
        best_of_three: first.as_ref().map(best),
        fast_share: case.modes.and_then(FastModes::share),
        apart_ns: apart.map(|apart| apart.median()),
        start_skew_ns: runs().map(|run| run.start_skew_ns).max().unwrap_or(0),
    })
}

pub(super) fn capacity(case: &Case<'_>) -> Option<Measured> {
    let values = Sample::new(case.values())?;
    let value = typical(case, &values);
    Some(Measured { value, interval: interval(case, &values).map(|found| resolved(case, value, found)) })
}

/// A median of stamped times is known to half of the bin that it falls into, and to half a step of the clock: chance shows neither.
fn resolved(case: &Case<'_>, value: f64, Interval { low, high }: Interval) -> Interval {
    if case.cell.unit != Unit::NanosecondsSampled {
        return Interval { low, high };
    }
    let step =
        case.facts.timer.as_ref().filter(|_| case.facts.card.is_stamped()).map_or(0, |timer| timer.resolution_ns);
    let open = median_error(value, step);
    Interval { low: low.min(value - open).max(0.0), high: high.max(value + open) }
}

/// The median of the invocations' values; where they follow the clock of the cores, the median of what is done in a cycle, at the median
/// of the clocks: the invocation in the middle by its value may have had another clock than the one in the middle by its clock.
fn typical(case: &Case<'_>, values: &Sample) -> f64 {
    let at_middle_clock = || {
        let rates = case.rates_that_follow_the_clock()?;
        Some(median(rates.iter().map(|rate| rate.0 / rate.1))? * median(rates.iter().map(|rate| rate.1))?)
    };
    match at_middle_clock() {
        Some(rate) if case.cell.unit.more_is_better() => rate,
        Some(rate) => rate.recip(),
        None => values.median(),
    }
}

/// What all repetitions gave together, dirty ones included: their work over their time. Other programs take a CPU in slices as long as an
/// invocation, which is whole or starved then: the invocation in the middle would be one or the other.
pub(super) fn delivered(case: &Case<'_>) -> Option<Measured> {
    let unit = case.cell.unit;
    let parts = case.done().map(|invocation| invocation.delivered_parts(unit));
    let parts: Vec<_> = parts.filter(|(work, time)| work.is_finite() && time.is_finite() && *time > 0.0).collect();
    let (value, interval) = pooled(&parts, CONFIDENCE).filter(|(value, _)| is_number(*value, unit))?;
    let interval = interval.filter(|_| value != 0.0);
    Some(Measured { value, interval: interval.map(|found| Interval { low: found.low, high: found.high }) })
}

/// Where the capacity lies. What is made of blocks is no surer than a block, and no slower than the fastest of them; what has several
/// [speeds](speeds) may be any of them.
pub(super) fn interval(case: &Case<'_>, values: &Sample) -> Option<Interval> {
    let Interval { low, high } = median_within(values)?;
    let (value, unit) = (typical(case, values), case.cell.unit);
    let Some(modes) = case.modes else {
        let speeds = speeds(case);
        let all = speeds.iter().map(Sample::median).chain([value]);
        return Some(Interval { low: all.clone().fold(low, f64::min), high: all.fold(high, f64::max) });
    };
    let each: Vec<_> = case.cell.invocations.iter().map(|invocation| invocation.value).collect();
    let faster = modes.headroom(&each, unit).unwrap_or(0.0).max(BLOCK_ERROR);
    Some(match unit.more_is_better() {
        true => Interval { low: low.min(value * (1.0 - BLOCK_ERROR)), high: high.max(value * (1.0 + faster)) },
        false => Interval { low: low.min(value / (1.0 + faster)), high: high.max(value * (1.0 + BLOCK_ERROR)) },
    })
}

/// The [speeds](Sample::speeds) of the runs, where they fall apart into several. Empty for numbers made of blocks, whose speeds are those of the
/// blocks, and where a clock explains them.
pub(super) fn speeds(case: &Case<'_>) -> Vec<Sample> {
    let several = |values: Sample| Some(values.speeds()).filter(|speeds| speeds.len() > 1).unwrap_or_default();
    let of_one_clock = || case.rates_in_cycles().and_then(Sample::new);
    if case.modes.is_some() || of_one_clock().is_some_and(|rates| several(rates).is_empty()) {
        return Vec::new();
    }
    Sample::new(case.values()).map_or_else(Vec::new, several)
}

/// The systematic error of a block: reading the clock, looking at the strand and entering a stretch take 0.1 to 0.2 µs of some 40, and
/// the place of a mode is known to 0.2%.
const BLOCK_ERROR: f64 = 0.006;

/// How far the ends of the median's interval are from it, as a fraction of it.
pub(super) fn half_width(values: &Sample) -> Option<f64> {
    Some(median_within(values)?.half_width(values.median()))
}

/// Where the median of the values lies; `None` with too few of them, and for a median of 0.
fn median_within(values: &Sample) -> Option<Interval> {
    let found = median_interval(values, CONFIDENCE)?;
    (values.median() != 0.0).then_some(Interval { low: found.low, high: found.high })
}

/// The smallest difference between two repetitions that the clock shows, in the cell's unit; 0 where the clock is unknown.
pub(super) fn resolution(case: &Case<'_>, clean: &Sample) -> f64 {
    let step = case.facts.timer.as_ref().map_or(0, |timer| timer.resolution_ns) as f64;
    let interval = |run: &Run| run.interval_ns as f64;
    let typical = median(case.clean_runs().map(interval)).unwrap_or(f64::INFINITY);
    clean.median().abs() * step / typical
}

/// Over the repetitions that count; `None` where the workers share nothing, and where not one of them succeeded.
pub(super) fn sharing(case: &Case<'_>) -> Option<Sharing> {
    let met = || case.clean_runs().flat_map(|run| &run.laps).filter_map(|lap| lap.contention);
    let count = |of: fn(&Contention) -> u64| total(met().map(|met| of(&met)));
    let (attempts, failures, waits) = (count(|met| met.attempts), count(|met| met.failures), count(|met| met.waits));
    let successes = attempts.checked_sub(failures).filter(|successes| *successes > 0)?;
    let interval_ns = total(case.clean_runs().map(|run| run.interval_ns));
    let (sampled, sampled_ns) = (count(|met| met.sampled_waits), count(|met| met.sampled_waits_ns));
    // Over the operations that waited alone: most of the others take tens of nanoseconds.
    let mean_ns = sampled_ns as f64 / sampled as f64;
    let share = wait_share(waits, mean_ns, interval_ns as f64 / 1e9, case.strands_in_use());
    // An idle run has nothing to be shared out.
    let shares = || case.clean_runs().filter(|run| run.laps.iter().any(|lap| lap.ops > 0));
    Some(Sharing {
        attempts_per_success: attempts as f64 / successes as f64,
        // The last one may have waited in vain.
        waited: (waits as f64 / successes as f64).min(1.0),
        // The sampled waits may be longer than the others.
        wait_share: Some(share).filter(|share| share.is_finite()).map(|share| share.min(1.0)),
        fairness: median(shares().map(fairness))?,
        // A worker with nothing leaves no quotient, and is in the middle as soon as it is in half of the repetitions.
        most_to_least: middle(shares().map(most_to_least).collect()),
    })
}

/// The share of the strands' time that was lost to waiting: `waits` of `mean_ns` each, in `elapsed_s` on so many strands. It is
/// what `lockutil` computes from the events of Solaris' `lockstat` (S. Sistare, "Solaris Scalability").
fn wait_share(waits: u64, mean_ns: f64, elapsed_s: f64, strands: usize) -> f64 {
    waits as f64 * mean_ns / (elapsed_s * strands as f64 * 1e9)
}

/// (Σx)² / (n Σx²): R. Jain, D. Chiu and W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation
/// in Shared Computer Systems", DEC-TR-301 (1984).
fn fairness(run: &Run) -> f64 {
    let sum: f64 = run.laps.iter().map(|lap| lap.ops as f64).sum();
    let squares: f64 = run.laps.iter().map(Lap::ops_squared).sum();
    let workers: u64 = run.laps.iter().map(Lap::workers).sum();
    (sum * sum / (workers as f64 * squares)).min(1.0)
}

/// Infinite where a worker had none.
fn most_to_least(run: &Run) -> f64 {
    let ops = || run.laps.iter().map(Lap::ops_range);
    ops().map(|(_, most)| most).max().unwrap_or(0) as f64 / ops().map(|(least, _)| least).min().unwrap_or(0) as f64
}

/// The median of quotients that may be infinite; `None` where it is.
fn middle(mut quotients: Vec<f64>) -> Option<f64> {
    quotients.sort_unstable_by(f64::total_cmp);
    let upper = quotients.len() / 2;
    let lower = quotients.len().checked_sub(1)? / 2;
    Some(f64::midpoint(quotients[lower], quotients[upper])).filter(|middle| middle.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows and the sum that `lockutil` prints for a machine of 512 strands, and a row of another one of 256.
    #[test]
    fn golden_shares_of_lockutil() {
        let shown = |share: f64| format!("{share:.3}");
        assert_eq!(shown(wait_share(557_331, 88_454.0, 10.135, 256)), "0.019");
        let rows = [(1_170_899, 11_444_141.0, "0.866"), (202_679, 332_996.0, "0.004"), (86_959, 8_840_242.0, "0.050")];
        for (count, mean_ns, expected) in rows {
            assert_eq!(shown(wait_share(count, mean_ns, 30.214, 512)), expected);
        }
        let sum: f64 = rows.iter().map(|(count, mean_ns, _)| wait_share(*count, *mean_ns, 30.214, 512)).sum();
        assert_eq!(shown(sum), "0.920");
    }

    #[test]
    fn the_middle_of_quotients() {
        assert_eq!(middle(vec![]), None);
        assert_eq!(middle(vec![3.0, 1.0, f64::INFINITY]), Some(3.0));
        assert_eq!(middle(vec![1.0, f64::INFINITY]), None);
    }
}
