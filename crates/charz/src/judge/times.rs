//! What speaks against pairs of times: V11, V30 and V31.

use charz_kernels::{Family, params};

use super::case::Case;
use super::{mark, raise};
use charz_data::checks::{ENOUGH_PAIRS, V11, V30, V31};
use charz_data::report::{JointHistogram, Mark, Severity, Unit};
use charz_data::units;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    if case.cell.unit != Unit::NanosecondsSampled {
        return Vec::new();
    }
    let samples = case.cell.samples();
    if samples.count == 0 {
        return Vec::new();
    }
    // A worker of these stamps by itself, so that no other strand's clock is in its times; and a clock that is looked at tells
    // of its own steps, or is timed by the counter behind fences, not by the clock that stamps.
    let alone = case.facts.card.family == Family::Timer;
    let by_the_clock = !alone || case.obeys(&params::TIMEOUT);
    vec![few(&samples), apart(case, &samples).filter(|_| !alone), dear(case, &samples).filter(|_| by_the_clock)]
}

fn few(samples: &JointHistogram) -> Option<Mark> {
    raise(&V30, ENOUGH_PAIRS.saturating_sub(samples.count) as f64, || {
        format!("{} pairs of times: too few for the 99.99th percentile", units::count(samples.count))
    })
}

/// The second time begins on one strand and ends on another. The bound is no proof that the clocks are apart, so that the number
/// is in doubt and no more.
fn apart(case: &Case<'_>, samples: &JointHistogram) -> Option<Mark> {
    let skew = case.facts.timer.as_ref().filter(|_| case.cell.seats.len() > 1)?.skew_ns? as f64;
    let median = samples.second.median();
    V11.severity(skew / median).map(|_| {
        let reason = format!(
            "the clocks of two strands may be {} apart, and half of the second times are below {}",
            units::nanos(skew),
            units::nanos(median)
        );
        mark(&V11, Severity::Suspect, reason)
    })
}

/// The number is the second time; the first one is told beside it.
fn dear(case: &Case<'_>, samples: &JointHistogram) -> Option<Mark> {
    let reading = case.facts.timer.as_ref()?.overhead_ns as f64;
    let reason = |which: &str, median: f64| {
        let (reading, median) = (units::nanos(reading), units::nanos(median));
        format!("a reading of the clock takes {reading}, and half of the {which} times are below {median}")
    };
    let (first, second) = (samples.first.median(), samples.second.median());
    raise(&V31, reading / second, || reason("second", second))
        .or_else(|| V31.severity(reading / first).map(|_| mark(&V31, Severity::Note, reason("first", first))))
}
