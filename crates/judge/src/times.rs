//! Pairs of times that workers stamped: their distribution, and V11, V30 and V31.

use charz_data::Family;

use super::case::Case;
use super::{mark, raise};
use charz_data::checks::{ENOUGH_PAIRS, V11, V30, V31};
use charz_data::report::{Distribution, Histogram, JointHistogram, Mark, Peak, Severity, Shape, Unit};
use charz_data::units;
use charz_stats::{Bin, bands};

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    if case.cell.unit != Unit::NanosecondsSampled {
        return Vec::new();
    }
    let samples = case.cell.samples();
    if samples.count == 0 {
        return Vec::new();
    }
    // A worker of a timer kernel stamps by itself, so its times involve no other strand's clock.
    let alone = case.facts.card.family == Family::Timer;
    let by_one_clock = alone || case.facts.card.times.as_ref().is_some_and(|times| times.on_one_strand);
    vec![
        few(&samples),
        apart(case, &samples).filter(|_| !by_one_clock),
        dear(case, &samples).filter(|_| case.facts.card.is_stamped()),
    ]
}

fn few(samples: &JointHistogram) -> Option<Mark> {
    raise(&V30, ENOUGH_PAIRS.saturating_sub(samples.count) as f64, || {
        format!("{} samples, too few for p99.99", units::count(samples.count))
    })
}

/// The second time begins on one strand and ends on another. The bound is no proof that the clocks are apart, so the
/// number is suspect, not invalid.
fn apart(case: &Case<'_>, samples: &JointHistogram) -> Option<Mark> {
    let skew = case.facts.timer.as_ref().filter(|_| case.cell.seats.len() > 1)?.skew_ns? as f64;
    let median = samples.second.median();
    V11.severity(skew / median).map(|_| {
        let reason = format!(
            "clock skew between CPUs up to {}, too large for a median of {}",
            units::nanos(skew),
            units::nanos(median)
        );
        mark(&V11, Severity::Suspect, reason)
    })
}

/// The number is the second time; the first one is reported beside it.
fn dear(case: &Case<'_>, samples: &JointHistogram) -> Option<Mark> {
    let reading = case.facts.timer.as_ref()?.overhead_ns as f64;
    let reason = |which: &str, median: f64| {
        let (reading, median) = (units::nanos(reading), units::nanos(median));
        format!("timer overhead {reading} is significant: the {which} times have a median of {median}")
    };
    let (first, second) = (samples.first.median(), samples.second.median());
    raise(&V31, reading / second, || reason("second", second))
        .or_else(|| V31.severity(reading / first).map(|_| mark(&V31, Severity::Note, reason("first", first))))
}

/// The times of all repetitions that count; `None` where none has any.
pub(super) fn distribution(case: &Case<'_>) -> Option<Distribution> {
    let samples = case.cell.samples();
    if samples.count == 0 {
        return None;
    }
    // A time is the difference of two readings, and cannot be distinguished from one that is a step away.
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
        p50_ns: times.percentile(5000),
        p90_ns: times.percentile(9000),
        p99_ns: times.percentile(9900),
        p999_ns: times.percentile(9990),
        p9999_ns: times.percentile(9999),
        peaks: bands(&bins, step).into_iter().map(peak).collect(),
    }
}
