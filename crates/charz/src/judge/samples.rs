//! What the repetitions and invocations say of themselves: V12 to V16, V28 and V29.

use super::case::Case;
use super::{attempts, mark, raise, steady, summary};
use charz_data::checks::{ENOUGH, INTERVAL_NEEDS, LEAST_FOR_OUTLIERS, V12, V13, V14, V15, V16, V28, V29};
use charz_data::report::{Ending, Mark, Severity};
use charz_data::units;
use charz_stats::Sample;

pub(super) fn marks(case: &Case<'_>, slow_start: Option<f64>) -> Vec<Option<Mark>> {
    if !case.timed {
        return vec![failed(case)];
    }
    let clean = Sample::new(case.clean_values());
    let of_clean = |check: fn(&Case<'_>, &Sample) -> Option<Mark>| clean.as_ref().and_then(|clean| check(case, clean));
    vec![
        few(case),
        of_clean(spread),
        of_clean(outliers),
        unsteady(case, slow_start),
        of_clean(modes),
        wide(case),
        failed(case),
    ]
}

fn few(case: &Case<'_>) -> Option<Mark> {
    let count = case.values().len();
    raise(&V12, ENOUGH.saturating_sub(count) as f64, || {
        if count < INTERVAL_NEEDS {
            format!("{count} of the {INTERVAL_NEEDS} invocations that an interval takes: it cannot be compared")
        } else {
            format!("{count} invocations: the interval is smallest to largest, or nearly so")
        }
    })
}

fn spread(case: &Case<'_>, clean: &Sample) -> Option<Mark> {
    let spread = clean.robust_spread(summary::resolution(case, clean))?;
    raise(&V13, spread, || format!("the repetitions differ by {}", units::percent(spread)))
}

fn outliers(_: &Case<'_>, clean: &Sample) -> Option<Mark> {
    let severe = clean.outliers().severe;
    let share = if clean.len() < LEAST_FOR_OUTLIERS { 0.0 } else { severe as f64 / clean.len() as f64 };
    raise(&V14, share, || format!("{severe} of {} repetitions are far from the others for no known cause", clean.len()))
}

/// A trend of the invocations is in the number. First repetitions that differ are not, as they were left out.
fn unsteady(case: &Case<'_>, slow_start: Option<f64>) -> Option<Mark> {
    let drift = steady::drift(&case.values()).and_then(|drift| {
        let signed = format!("{:+.1}%", drift * 100.0);
        raise(&V15, drift.abs(), || format!("the last invocations differ from the first by {signed}, by and by"))
    });
    let start = slow_start.map(|difference| {
        let signed = format!("{:+.1}%", difference * 100.0);
        let reason =
            format!("first repetitions differ from the others by {signed}, and are left out of every invocation");
        mark(&V15, Severity::Note, reason)
    });
    drift.or(start)
}

fn modes(_: &Case<'_>, clean: &Sample) -> Option<Mark> {
    let m_value = clean.m_value()?;
    raise(&V16, m_value, || format!("the repetitions fall into groups (m-value {m_value:.1})"))
}

/// The width that was reached stands beside the number anyway.
fn wide(case: &Case<'_>) -> Option<Mark> {
    let wanted = case.cell.precision;
    let reached = summary::interval(&Sample::new(case.values())?)?.half_width;
    raise(&V28, reached / wanted, || {
        format!("the interval is ±{} wide, and ±{} was asked for", units::percent(reached), units::percent(wanted))
    })
}

fn failed(case: &Case<'_>) -> Option<Mark> {
    let failed = attempts::failed(&case.cell.invocations);
    raise(&V29, failed as f64, || {
        let all = case.cell.invocations.iter().filter(|invocation| invocation.ending != Ending::Stopped).count();
        let mut failures = case.cell.invocations.iter().filter(|invocation| attempts::is_failure(invocation.ending));
        let first = failures.next().and_then(|invocation| invocation.reason.as_deref());
        format!("{failed} of {all} invocations gave nothing: {}", first.unwrap_or("they do not say why"))
    })
}
