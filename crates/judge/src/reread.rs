//! Whether what a report says follows from what it measured: each cell is judged again.

use charz_data::report::{Cell, Estimator, Lap, Report, Run, Status, Unit};
use charz_stats::Sample;
use serde_json::{Value, json};

use super::{JudgeContext, judge};
use charz_data::Family;

/// How far numbers may be apart that were computed in another order.
const ROUNDING: f64 = 1e-9;

/// Judges each cell anew, by the rules of this version of charz, and finds what a cell said that does not follow from its repetitions, as
/// the end of a sentence about the report; not of a report of another version, whose rules may have been others.
///
/// `context` has what a cell is judged by; a cell for which it is `None` is left as it is. After an error the report is of no use.
///
/// # Errors
/// The first contradiction.
pub fn judge_again(
    report: &mut Report,
    context: impl Fn(&Report, &Cell) -> Option<JudgeContext>,
) -> Result<(), String> {
    let is_own = report.tool.version == env!("CARGO_PKG_VERSION");
    let wanted = report.plan.precision;
    let cells = || report.floor.iter().chain(&report.cells);
    let contexts: Vec<Option<JudgeContext>> = cells().map(|cell| context(report, cell)).collect();
    for (index, (cell, context)) in report.floor.iter_mut().chain(&mut report.cells).zip(&contexts).enumerate() {
        let what = blocks_differ(cell).or_else(|| match context {
            Some(context) if is_own => differs(cell, context, wanted),
            Some(context) => {
                judge(cell, context);
                None
            }
            None => None,
        });
        if let Some(what) = what {
            let (kernel, workers) = (&cell.kernel, cell.workers);
            return Err(format!(
                "cell {index}, floor included ({kernel:?}, {workers} workers), {what} that its iterations contradict"
            ));
        }
    }
    Ok(())
}

/// The most of a lap, as a fraction, that its blocks may exceed it by, and that may be outside of them where nothing took time from it.
const REST: f64 = 0.02;
/// The most blocks of one of several workers that may be unknown where something is said of the time outside of them: its first and its
/// last two.
const UNKNOWN: u64 = 4;
/// The longest lap of which that is said: a hypervisor that pauses a guest every 0.1 s without telling it has not paused most of them.
const SHORT_NS: u64 = 60_000_000;
/// The fewest laps that it takes.
const LEAST_LAPS: usize = 10;

/// Whether blocks take longer than their laps, or too little of them. What the system does not show takes time from some laps, so this is
/// said where it holds for three of four.
fn blocks_differ(cell: &Cell) -> Option<&'static str> {
    let is_bytes = matches!(cell.unit, Unit::BytesPerSecond | Unit::MillisecondsPerGib);
    let laps = cell.invocations.iter().flat_map(|invocation| &invocation.runs).flat_map(|run| &run.laps);
    // The time of all blocks as a share of the lap's, at least and at most: of the times at equal distances in rank, each stands for the
    // blocks up to the next.
    let shares = |lap: &Lap| {
        let blocks = lap.blocks.as_ref()?;
        let (_, first) = blocks.times.split_last()?;
        let (workers, work) = (lap.workers(), if is_bytes { lap.bytes } else { lap.ops });
        let looks = lap.checks.checked_sub(workers).filter(|looks| *looks > 0)?;
        let share =
            |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64 * work as f64 / lap.time_ns().max(1) as f64;
        // Those of a lone worker are known but for one, and for each in which a pause lay.
        let unknown = if workers > 1 { UNKNOWN.saturating_mul(workers) } else { 1 };
        let is_known = blocks.count.saturating_add(unknown) >= looks;
        let was_still = lap.waited_ns() != Some(0) || lap.stood_still();
        let is_whole = is_known && lap.time_ns() / workers <= SHORT_NS && !was_still;
        let kept = (blocks.count as f64 / looks as f64).min(1.0);
        Some((kept * share(first), is_whole.then(|| share(&blocks.times[1..]))))
    };
    let (least, most): (Vec<f64>, Vec<Option<f64>>) = laps.filter_map(shares).unzip();
    let quantile = |values, share| Some(Sample::new(values).filter(|all| all.len() >= LEAST_LAPS)?.quantile(share));
    let too_long = quantile(least, 0.25).is_some_and(|share| share > 1.0 + REST);
    let all = most.len();
    let known: Vec<f64> = most.into_iter().flatten().collect();
    // Where pauses lie in most laps, those without are no sample.
    let too_short = 2 * known.len() >= all && quantile(known, 0.75).is_some_and(|share| share < 1.0 - REST);
    (too_long || too_short).then_some("has blocks")
}

/// Judges a cell anew, and finds what it said otherwise.
fn differs(cell: &mut Cell, context: &JudgeContext, wanted: Option<f64>) -> Option<&'static str> {
    let family = context.card.family;
    // The floor of a report has its own, whatever was asked for.
    let of_floor = family == Family::Floor && cell.precision == family.precision();
    if cell.precision != wanted.unwrap_or(family.precision()) && !of_floor {
        return Some("has a precision");
    }
    if cell.invocations.is_empty() {
        // Nothing says why it was not measured.
        return matches!(cell.status, Status::Ok | Status::Suspect | Status::Invalid).then_some("has a status");
    }
    let dirty = |cell: &Cell| runs(cell).map(|run| run.dirty.clone()).collect::<Vec<_>>();
    let said = |cell: &Cell| SAID.map(|(_, said)| said(cell));
    let (dirty_before, said_before) = (dirty(cell), said(cell));
    cell.estimator = Estimator::of(&context.card);
    judge(cell, context);
    // There may be millions: too many for a value of JSON of each.
    if !runs(cell).map(|run| &run.dirty).eq(&dirty_before) {
        return Some("has clean iterations");
    }
    SAID.iter()
        .zip(said_before.iter().zip(&said(cell)))
        .find(|(_, (one, other))| !same(one, other))
        .map(|((what, _), _)| *what)
}

fn runs(cell: &Cell) -> impl Iterator<Item = &Run> {
    cell.invocations.iter().chain(&cell.counted).flat_map(|invocation| &invocation.runs)
}

/// What a cell says, and its name.
type Said = (&'static str, fn(&Cell) -> Value);

/// What follows from the iterations, but for the words of reasons.
const SAID: [Said; 10] = [
    ("has an estimator", |cell| json!(cell.estimator)),
    ("has an invocation with a value", |cell| {
        json!(cell.invocations.iter().chain(&cell.counted).map(|run| run.value).collect::<Vec<_>>())
    }),
    ("has a status", |cell| json!(cell.status)),
    ("has marks", |cell| json!(cell.marks.iter().map(|mark| (&mark.code, mark.severity)).collect::<Vec<_>>())),
    ("has a number or an interval", |cell| json!([cell.capacity, cell.delivered])),
    ("has a summary", |cell| json!(cell.summary)),
    ("has a distribution", |cell| json!(cell.distribution)),
    ("has a contention", |cell| json!(cell.contention)),
    ("has counters", |cell| json!(cell.hardware)),
    ("has an energy", |cell| json!(cell.energy)),
];

/// Whether these are alike but for rounding.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let [one, other] = [one, other].map(|number| number.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() <= ROUNDING * other.abs()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| one.0 == other.0 && same(one.1, other.1))
        }
        _ => one == other,
    }
}
