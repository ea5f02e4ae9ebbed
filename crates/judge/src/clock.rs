//! Whether times can be trusted, and rates be true: V08, V09, V11, V17, V18, V31 and V35.

use super::case::Case;
use super::{mark, raise};
use charz_data::Family;
use charz_data::checks::{Check, V08, V09, V11, V17, V18, V31, V35, needed_ns};
use charz_data::report::{Invocation, Lap, Mark, Run, Severity, Unit};
use charz_data::units;
use charz_stats::{Sample, median, median_interval};

/// The confidence of the interval that a higher clock must leave.
const CONFIDENCE: f64 = 0.95;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    if !case.timed {
        return Vec::new();
    }
    vec![drifted(case), short(case), dear(case), skewed(case), impossible(case), apart(case), other_sizes(case)]
}

/// By how much the core can run faster than it did in the invocation in the middle, where the values show it too: what does not follow
/// the clock is no less right for it. Where the clock is the reason, the number is that of the middle clock, and as right.
/// Drifts within an invocation are those of the canary: what disturbs it looks like a lower clock.
fn drifted(case: &Case<'_>) -> Option<Mark> {
    let highest = case.evidence().filter_map(|evidence| Some(evidence.frequency.as_ref()?.highest_hz)).collect();
    let highest = Sample::new(highest).filter(|_| !case.crowded)?;
    let values = Sample::new(case.values())?;
    let best = match case.cell.unit.more_is_better() {
        true => values.max() / values.median(),
        false => values.median() / values.min(),
    };
    let faster = highest.max() / highest.median();
    let (least, usual, most) =
        (units::hertz(highest.min()), units::hertz(highest.median()), units::hertz(highest.max()));
    if is_of_the_clock(&case.cell.clocked_rates()) {
        let of_clock = || format!("CPU clock moved between {least} and {most}; the number is at {usual}");
        return raise(&V08, faster.min(best) - 1.0, of_clock).map(|found| Mark { severity: Severity::Note, ..found });
    }
    let found = raise(&V08, faster.min(best) - 1.0, || {
        format!("CPU clock changed: {usual} in the median run, {most} in another")
    })?;
    // What goes through memory follows the clock of the memory.
    let is_of_memory = case.modes.is_none() && case.facts.card.family == Family::Memory;
    let follows = !is_of_memory && are_faster_with_it(&case.cell.clocked_rates());
    Some(if follows { found } else { Mark { severity: Severity::Note, ..found } })
}

/// Whether the invocations with a clearly higher clock are faster: their median lies beyond the interval of that of the others. True where
/// the clocks are unknown.
fn are_faster_with_it(rates: &[(f64, f64)]) -> bool {
    let Some(middle) = median(rates.iter().map(|rate| rate.1)) else { return true };
    let limit = middle * (1.0 + V08.suspect.unwrap_or_default());
    let (higher, others): (Vec<_>, Vec<_>) = rates.iter().copied().partition(|rate| rate.1 > limit);
    let sample = |of: Vec<(f64, f64)>| Sample::new(of.into_iter().map(|rate| rate.0).collect());
    let (Some(higher), Some(others)) = (sample(higher), sample(others)) else { return false };
    let end = median_interval(&others, CONFIDENCE).map_or(others.max(), |found| found.high);
    higher.median() > end
}

/// Whether it is the clock that makes the fastest invocation faster than the others: in cycles it is so by no more than half as much.
fn is_of_the_clock(rates: &[(f64, f64)]) -> bool {
    let Some(fastest) = rates.iter().max_by(|one, other| one.0.total_cmp(&other.0)) else { return false };
    let lead = |value: fn(&(f64, f64)) -> f64| {
        median(rates.iter().map(value)).map_or(f64::NAN, |middle| value(fastest) / middle - 1.0)
    };
    lead(|rate| rate.0 / rate.1) <= 0.5 * lead(|rate| rate.0)
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
            "shortest iteration {}, too short to time (needs {})",
            units::nanos(shortest as f64),
            units::nanos(needed)
        )
    })
}

/// The most that readings of the clock may take of a repetition, as a fraction: what OVERHEADS grants the two at its ends.
const READINGS: f64 = 0.01;

/// Blocks end with a reading each, which a clock without a fast path makes a good part of them. Where workers wait for each other, one
/// reads it meanwhile, which costs nothing.
fn dear(case: &Case<'_>) -> Option<Mark> {
    if case.cell.unit == Unit::NanosecondsSampled {
        return None;
    }
    let reading = case.facts.timer.as_ref()?.overhead_ns as f64;
    let looks = |run: &Run| {
        let of_one = |lap: &Lap| lap.checks as f64 / lap.group.map_or(1, |group| group.workers.max(1)) as f64;
        let in_blocks = run.laps.iter().filter(|lap| lap.blocks.is_some());
        in_blocks.map(of_one).fold(0.0, f64::max) / run.interval_ns.max(1) as f64
    };
    let share = reading * median(case.clean_runs().map(looks))?;
    let say =
        || format!("reading the clock takes {}, {:.1}% of an iteration", units::nanos(reading), share.min(1.0) * 100.0);
    (share > READINGS).then(|| mark(&V31, Severity::Suspect, say()))
}

/// The first start and the last end are stamped on different strands, if there are several.
fn skewed(case: &Case<'_>) -> Option<Mark> {
    let shortest = case.clean_runs().map(|run| run.interval_ns).min()?;
    let skew = case.facts.timer.as_ref().filter(|_| case.cell.seats.len() > 1)?.skew_ns? as f64;
    raise(&V11, skew / shortest as f64, || {
        format!(
            "clock skew between CPUs up to {}, shortest iteration {}",
            units::nanos(skew),
            units::nanos(shortest as f64)
        )
    })
}

/// By how much a clock rose for some milliseconds between two readings of it that were alike: 3.49 GHz after 2.99, on a Xeon that others
/// share.
const MOST_RISE: f64 = 1.2;
/// How many times more than possible a number is called at most.
const MOST_SHOWN: f64 = 1e6;

/// Each invocation against the frequency that it saw, of which the one in the middle must be possible: where others had the core, the
/// canary may see less than the blocks did. A value is that of the fastest blocks, which a clock that rose for a moment has made; what was
/// left out is missing in the block in the middle as well, unless others had the core then, and makes more than a clock's rise.
fn impossible(case: &Case<'_>) -> Option<Mark> {
    let per_cycle = case.facts.card.max_per_cycle?;
    let strands = case.strands_in_use() as f64;
    let rate = |value: f64| match case.cell.unit {
        unit if unit.more_is_better() => Some(value),
        // Of all workers together, as the bound is below.
        Unit::NanosecondsPerOp => Some(1e9 / value),
        // Of each worker.
        Unit::NanosecondsPerStep => Some(strands * 1e9 / value),
        Unit::MillisecondsPerGib => Some((1_u64 << 30) as f64 * 1e3 / value),
        _ => None,
    };
    let in_the_middle = |invocation: &Invocation| {
        let blocks = invocation.clean_runs().flat_map(|run| &run.laps).filter_map(|lap| lap.blocks.as_ref());
        let middle = blocks.filter_map(|blocks| blocks.times.get(blocks.times.len() / 2).copied());
        median(middle).map_or(f64::INFINITY, |middle| strands * 1e9 / middle)
    };
    let of_peak = case.done().filter_map(|invocation| {
        let highest_hz = invocation.evidence.as_ref()?.frequency.as_ref()?.highest_hz;
        let value = rate(invocation.value?)?;
        let least = in_the_middle(invocation).max(value / MOST_RISE);
        // What took no time is finite too, so it has a median.
        Some((value.min(least) / (per_cycle * highest_hz * strands)).min(MOST_SHOWN))
    });
    let most = median(of_peak)?;
    raise(&V17, most, || format!("{most:.2} times the most that these CPUs can do: work was left out"))
}

/// From the last start to the first end all workers are at work; the rest of the interval is not a parallel run.
fn apart(case: &Case<'_>) -> Option<Mark> {
    discarded(case, &V18, "threads did not overlap")
}

/// A size more or less is other work.
fn other_sizes(case: &Case<'_>) -> Option<Mark> {
    discarded(case, &V35, "ended at another size, or within one")
}

fn discarded(case: &Case<'_>, check: &'static Check, why: &str) -> Option<Mark> {
    let (all, of_them) =
        (case.runs().count(), case.runs().filter(|run| run.dirty.iter().any(|code| code == check.code)).count());
    raise(check, of_them as f64 / all.max(1) as f64, || format!("{of_them} of {all} iterations discarded: {why}"))
}
