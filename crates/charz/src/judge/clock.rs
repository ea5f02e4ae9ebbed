//! Whether times can be trusted, and rates be true: V08, V09, V11, V17 and V18.

use super::case::Case;
use super::{mark, raise};
use charz_data::checks::{LEFT_ASIDE, V08, V09, V11, V17, V18, needed_ns};
use charz_data::escape::counted;
use charz_data::report::{Mark, Severity, Unit};
use charz_data::units;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    if !case.timed {
        return Vec::new();
    }
    vec![drifted(case), short(case), skewed(case), impossible(case), apart(case)]
}

/// By the invocation in the middle, the higher one of two: the median of the values cannot be moved by fewer than half of
/// them. What only fewer saw is a note, however much it was.
fn drifted(case: &Case<'_>) -> Option<Mark> {
    let mut drifts: Vec<f64> =
        case.evidence().filter_map(|evidence| Some(evidence.frequency.as_ref()?.drift)).collect();
    drifts.sort_by(f64::total_cmp);
    let (&middle, &worst) = (drifts.get(drifts.len() / 2)?, drifts.last()?);
    if case.crowded {
        return None;
    }
    let all = raise(&V08, middle, || {
        format!("the clock frequency drifted by {} while an invocation was measured", units::percent(middle))
    });
    let few = V08.severity(worst).map(|_| {
        let reason = format!("in one invocation the clock frequency drifted by {}", units::percent(worst));
        mark(&V08, Severity::Note, reason)
    });
    all.or(few)
}

/// What is stamped within a repetition is as long as it is, however short the repetition.
fn short(case: &Case<'_>) -> Option<Mark> {
    if case.cell.unit == Unit::NanosecondsSampled {
        return None;
    }
    // Dirty ones too: in a short time any cause takes a share that makes a repetition dirty.
    let shortest = case.runs().map(|run| run.interval_ns).min()?;
    let (resolution, overhead) =
        case.facts.timer.as_ref().map_or((0, 0), |timer| (timer.resolution_ns, timer.overhead_ns));
    let needed = needed_ns(resolution as f64, overhead as f64);
    raise(&V09, needed / shortest as f64, || {
        format!(
            "the shortest repetition took {}, less than the {} that can be trusted",
            units::nanos(shortest as f64),
            units::nanos(needed)
        )
    })
}

/// The first start and the last end are stamped on different strands, if there are several.
fn skewed(case: &Case<'_>) -> Option<Mark> {
    let shortest = case.clean_runs().map(|run| run.interval_ns).min()?;
    let skew = case.facts.timer.as_ref().filter(|_| case.cell.seats.len() > 1)?.skew_ns? as f64;
    raise(&V11, skew / shortest as f64, || {
        format!(
            "the clocks of two strands may be {} apart, and the shortest repetition took {}",
            units::nanos(skew),
            units::nanos(shortest as f64)
        )
    })
}

/// Each invocation against the frequency that it saw: the fastest of them must be possible.
fn impossible(case: &Case<'_>) -> Option<Mark> {
    let per_cycle = case.facts.card.max_per_cycle?;
    let strands = case.strands_in_use() as f64;
    let rate = |value: f64| match case.cell.unit {
        unit if unit.more_is_better() => Some(value),
        // Of each worker.
        Unit::NanosecondsPerStep => Some(strands * 1e9 / value),
        Unit::MillisecondsPerGib => Some((1_u64 << 30) as f64 * 1e3 / value),
        _ => None,
    };
    let of_peak = case.done().filter_map(|invocation| {
        let highest_hz = invocation.evidence.as_ref()?.frequency.as_ref()?.highest_hz;
        Some(rate(invocation.value?)? / (per_cycle * highest_hz * strands))
    });
    let most = of_peak.fold(0.0, f64::max);
    raise(&V17, most, || {
        format!("the rate is {most:.1} times the most that the strands in use can do: work was left out")
    })
}

/// From the last start to the first end all workers are at work; the rest of the interval is not a parallel run. A late
/// worker in a few repetitions moves no median, so as many may be late as may be dirty.
fn apart(case: &Case<'_>) -> Option<Mark> {
    // Of memory that is handled part by part, who is done leaves the rest to others: it is the whole that is asked for.
    if case.crowded || case.cell.unit == Unit::MillisecondsPerGib {
        return None;
    }
    let mut lacking: Vec<f64> = case.clean_runs().map(|run| 1.0 - run.overlap()).collect();
    lacking.sort_by(|a, b| b.total_cmp(a));
    let aside = (lacking.len() as f64 * LEFT_ASIDE) as usize;
    let &lack = lacking.get(aside)?;
    raise(&V18, lack, || {
        let together = units::percent(1.0 - lack);
        let worst = counted(aside + 1, "repetition");
        format!("all workers were at work together for only {together} of the time in {worst}")
    })
}
