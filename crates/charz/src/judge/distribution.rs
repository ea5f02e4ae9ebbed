//! What the pairs of times come to that workers stamped.

use super::case::Case;
use charz_data::report::{Distribution, Histogram, Peak, Shape};
use charz_stats::{Bin, bands};

/// How many times lie beyond a percentile, at least: of fewer nobody knows where it is.
const BEYOND: u64 = 10;

/// Those of all repetitions that count; `None` where none has any.
pub(super) fn distribution(case: &Case<'_>) -> Option<Distribution> {
    let samples = case.cell.samples();
    if samples.count == 0 {
        return None;
    }
    // A time is the difference of two readings, and cannot be told from one that is a step away.
    let step = case.facts.timer.as_ref().map_or(1, |timer| timer.resolution_ns.max(1)) as f64;
    Some(Distribution {
        first: shape(&samples.first, step),
        second: shape(&samples.second, step),
        second_shorter: samples.second_shorter as f64 / samples.count as f64,
        samples,
    })
}

fn shape(times: &Histogram, step: f64) -> Shape {
    let bins: Vec<Bin> = times
        .spans()
        .map(|(low, high, count)| Bin { low: low as f64, high: (high as f64).max(low as f64 + 1.0), count })
        .collect();
    let peak = |band: charz_stats::Band| Peak {
        low_ns: band.low,
        high_ns: band.high,
        mode_ns: band.mode,
        share: band.share.min(1.0),
    };
    Shape {
        p50_ns: percentile(times, 5000),
        p90_ns: percentile(times, 9000),
        p99_ns: percentile(times, 9900),
        p999_ns: percentile(times, 9990),
        p9999_ns: percentile(times, 9999),
        peaks: bands(&bins, step).into_iter().map(peak).collect(),
    }
}

/// The time below which so many in 10,000 are.
fn percentile(times: &Histogram, of_10_000: u128) -> Option<f64> {
    let count = times.count();
    // By whole numbers: 0.9999 is no number of any processor's.
    let rank = u64::try_from((u128::from(count) * of_10_000).div_ceil(10_000)).ok()?;
    (count - rank >= BEYOND).then(|| times.quantile(rank))
}
