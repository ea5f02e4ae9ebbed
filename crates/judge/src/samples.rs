//! What the repetitions and invocations say of themselves: V12 to V16, V28 and V29.
//!
//! V15 compares values, but no repetition is left out for its own: if first repetitions differ from the others of their process,
//! all first repetitions are left out.

use super::case::Case;
use super::estimate::FastModes;
use super::estimate::is_number;
use super::{attempts, mark, raise, summary};
use charz_data::Family;
use charz_data::checks::{
    ENOUGH, INTERVAL_NEEDS, LEAST_FOR_OUTLIERS, V12, V13, V14, V15, V16, V28, V29, V33, WIDEST, WIDEST_OF_COMPUTE,
};
use charz_data::escape::counted;
use charz_data::report::{Cell, Ending, Mark, Run, Severity, Unit};
use charz_data::units;
use charz_stats::{LEAST_FOR_INTERVAL, Sample, median, median_interval, trend};

/// How sure it must be that first repetitions differ.
const CONFIDENCE: f64 = 0.95;

/// How often at most a series without a trend may be said to have one: a sweep has many cells.
const FALSE_TRENDS: f64 = 0.01;

pub(super) fn marks(case: &Case<'_>, slow_start: Option<f64>) -> Vec<Option<Mark>> {
    if !case.timed {
        return vec![failed(case)];
    }
    let clean = Sample::new(case.clean_values());
    let of_clean = |check: fn(&Case<'_>, &Sample) -> Option<Mark>| clean.as_ref().and_then(|clean| check(case, clean));
    let of_values = vec![few(case), unsteady(case, slow_start), wide(case), failed(case)];
    let of_the_rest = match case.modes {
        Some(found) => vec![headroom(case, found), other_speed(case, found).or_else(|| rarely_fast(case, found))],
        None => vec![of_clean(spread), of_clean(outliers), of_clean(modes)],
    };
    [of_values, of_the_rest].concat()
}

/// What values say that have no order in time, and of which nothing else is known.
pub(super) fn of_values(case: &Case<'_>) -> Vec<Option<Mark>> {
    let values = Sample::new(case.clean_values());
    vec![few(case), wide(case), values.and_then(|values| modes(case, &values))]
}

fn few(case: &Case<'_>) -> Option<Mark> {
    let count = case.values().len();
    raise(&V12, ENOUGH.saturating_sub(count) as f64, || {
        let mut clean = case.clean_runs().map(|run| is_number(run.value(case.cell.unit), case.cell.unit)).peekable();
        if count == 0 && clean.peek().is_none() {
            "every iteration was disturbed: no value".into()
        } else if count == 0 && clean.any(|is_number| is_number) {
            "no iteration is long enough to be judged: no value".into()
        } else if count == 0 {
            "no operation ended within an iteration: give a longer --span".into()
        } else if count < INTERVAL_NEEDS {
            format!("{}; {INTERVAL_NEEDS} needed for a confidence interval", counted(count, "run"))
        } else {
            format!("with {count} runs the interval spans nearly all values")
        }
    })
}

fn spread(case: &Case<'_>, clean: &Sample) -> Option<Mark> {
    let spread = clean.robust_spread(summary::resolution(case, clean))?;
    raise(&V13, spread, || format!("high variation (MAD {})", units::percent(spread)))
}

/// The smallest difference between two repetitions that their values show: a step of the clock, or what they are rounded to.
fn step(case: &Case<'_>, clean: &Sample) -> f64 {
    let of_clock = match case.cell.unit {
        Unit::NanosecondsSampled => case.facts.timer.as_ref().map_or(0.0, |timer| timer.resolution_ns as f64),
        _ => summary::resolution(case, clean),
    };
    of_clock.max(clean.smallest_gap())
}

fn outliers(case: &Case<'_>, clean: &Sample) -> Option<Mark> {
    let severe = clean.outliers(step(case, clean));
    let share = if clean.len() < LEAST_FOR_OUTLIERS { 0.0 } else { severe as f64 / clean.len() as f64 };
    raise(&V14, share, || format!("{severe} of {} iterations are outliers", clean.len()))
}

/// A trend of the invocations is in the number. First repetitions that differ are not, as they were left out.
fn unsteady(case: &Case<'_>, slow_start: Option<f64>) -> Option<Mark> {
    // V08 names a clock that rises or falls.
    let values = case.rates_in_cycles().unwrap_or_else(|| case.values());
    let trend = drift(&values).and_then(|drift| {
        let signed = format!("{:+.1}%", drift * 100.0);
        let found = raise(&V15, drift.abs(), || format!("results drift over time: {signed} from first to last"))?;
        // What is left of disturbances in repetitions has trends of its own.
        Some(if case.modes.is_some() { found } else { Mark { severity: Severity::Note, ..found } })
    });
    let start = slow_start.map(|difference| {
        let signed = format!("{:+.1}%", difference * 100.0);
        let reason = format!("first iterations differ by {signed}, and are discarded in every run");
        mark(&V15, Severity::Note, reason)
    });
    trend.or(start)
}

fn modes(case: &Case<'_>, clean: &Sample) -> Option<Mark> {
    let mut speeds = summary::speeds(case);
    if !speeds.is_empty() {
        let of_all = case.values().len() as f64;
        let share = |speed: &Sample| speed.len() as f64 / of_all;
        speeds.sort_by(|one, other| share(other).total_cmp(&share(one)));
        let shown = |speed: &Sample| {
            format!("{} in {:.0}%", units::value(speed.median(), case.cell.unit), 100.0 * share(speed))
        };
        let speeds = speeds.iter().map(shown).collect::<Vec<_>>().join(", ");
        return Some(mark(&V16, Severity::Suspect, format!("multimodal results: {speeds} of the runs")));
    }
    let m_value = clean.m_value(step(case, clean))?;
    raise(&V16, m_value, || format!("multimodal results (m-value {m_value:.1})"))
}

/// The width that was reached is printed beside the number anyway. What the clock adds to it is a note: in cycles the values are closer.
fn wide(case: &Case<'_>) -> Option<Mark> {
    let widest = if case.facts.card.family == Family::Compute { WIDEST_OF_COMPUTE } else { WIDEST };
    let measure = |reached: f64| {
        let too_wide = if reached > widest { V28.suspect.unwrap_or_default().next_up() } else { 0.0 };
        (reached / case.cell.precision).max(too_wide)
    };
    let values = Sample::new(case.values())?;
    let reached = summary::interval(case, &values)?.half_width(values.median());
    let found = raise(&V28, measure(reached), || {
        let [reached, wanted] = [reached, case.cell.precision].map(units::percent);
        let more = if reached == wanted { "more than " } else { "" };
        format!("confidence interval {more}±{reached} (target ±{wanted})")
    })?;
    let in_cycles = case.rates_in_cycles().and_then(Sample::new).and_then(|rates| summary::half_width(&rates));
    let severity = match in_cycles {
        Some(in_cycles) => V28.severity(measure(in_cycles)).unwrap_or(Severity::Note),
        None => found.severity,
    };
    Some(Mark { severity, ..found })
}

/// By how much the fastest blocks are faster than the number, which is that of the others then.
fn headroom(case: &Case<'_>, modes: &FastModes) -> Option<Mark> {
    let values: Vec<_> = case.cell.invocations.iter().map(|invocation| invocation.value).collect();
    let headroom = modes.headroom(&values, case.cell.unit)?;
    raise(&V33, headroom, || {
        format!("5% of the work was at least {} faster, without a sharp mode", units::percent(headroom))
    })
}

/// The number is that of the fast blocks, and more are of another speed.
fn other_speed(case: &Case<'_>, modes: &FastModes) -> Option<Mark> {
    let [(fast, share), (slow, other)] = modes.other_speed()?;
    if is_step(case, slow / fast) {
        return None;
    }
    let reason = format!(
        "multimodal results: {} of the work at this speed, {} at another, {} slower",
        units::percent(share),
        units::percent(other),
        units::percent(slow / fast - 1.0)
    );
    Some(mark(&V16, Severity::Suspect, reason))
}

/// Whether the canary saw two clocks within an invocation that are so much apart: the other speed is then that of the lower clock, and
/// the number that of the higher one. Locks have two speeds of their own.
fn is_step(case: &Case<'_>, ratio: f64) -> bool {
    // The canary is read to 0.3%, and the place of a mode to 0.2%.
    const ERROR: f64 = 0.006;
    let seen = case.evidence().filter_map(|evidence| evidence.frequency.as_ref());
    let mut steps = seen.flat_map(|seen| [seen.highest_hz / seen.before_hz, seen.highest_hz / seen.after_hz]);
    case.facts.card.family != Family::Sync && steps.any(|step| (step / ratio - 1.0).abs() < ERROR)
}

/// Locks have speeds of their own, of which the fastest is not to pass for the usual one. What slows arithmetic and caches down is
/// always something else.
fn rarely_fast(case: &Case<'_>, modes: &FastModes) -> Option<Mark> {
    const LEAST_SHARE: f64 = 0.2;
    let share = modes.share().filter(|share| case.facts.card.family == Family::Sync && *share < LEAST_SHARE)?;
    let reason = format!("multimodal results: only {} of the work at this speed", units::percent(share));
    Some(mark(&V16, Severity::Suspect, reason))
}

fn failed(case: &Case<'_>) -> Option<Mark> {
    let failed = attempts::failed(&case.cell.invocations);
    raise(&V29, failed as f64, || {
        let all = case.cell.invocations.iter().filter(|invocation| invocation.ending != Ending::Stopped).count();
        let mut failures = case.cell.invocations.iter().filter(|invocation| attempts::is_failure(invocation.ending));
        let first = failures.next().and_then(|invocation| invocation.reason.as_deref());
        format!("{failed} of {all} runs failed: {}", first.unwrap_or("they do not say why"))
    })
}

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
    let middle = |values: &[f64]| median(values.iter().copied());
    let drift = middle(&values[values.len() - third..])? / middle(&values[..third])? - 1.0;
    (trend(values)? < FALSE_TRENDS).then_some(drift)
}
