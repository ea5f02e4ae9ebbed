//! How often a cell is measured.

use charz_data::checks::V12;
use charz_data::report::{Cell, Ending, Estimator, Invocation, NEARLY_ALL, Severity, Status};
use charz_stats::{Sample, looks, needed, precision};

/// How many invocations may fail, and how many a cell that is suspect for a passing disturbance gets beyond what its precision
/// takes. All of them count; none takes the place of another.
pub const RETRIES: usize = 2;

/// The most invocations per value that is wanted: a machine that disturbs two of three still fills its table.
pub const ATTEMPTS: usize = 3;

/// Marks of disturbances that another time may be without. Any other that makes a cell invalid stays.
const PASSING: [&str; 7] = ["V08", "V16", "V17", "V22", "V32", "V33", "V34"];

/// Whether a [judged](super::judge) cell is to be measured once more.
///
/// It is [looked at](looks) after `least` invocations with a value, and at some later ones: precise enough at one of
/// them, it is settled, else at `most`. A disturbance never ends a cell: invocations without a value are replaced, and a cell
/// that is invalid for a disturbance goes on to `most` values, within [`ATTEMPTS`] times `most` invocations. One that is suspect
/// for a disturbance gets [`RETRIES`] more. What is short of its CPUs goes on, up to `most` invocations, until what it delivered is known
/// to [`DELIVERED`]: by that placements are compared on a shared machine, and unbound threads on any. A cell that is wrong, fails repeatedly, or cannot be measured wants nothing.
pub fn wants_more(cell: &Cell, least: usize, most: usize) -> bool {
    let most = most.max(least);
    let attempts = cell.invocations.iter().filter(|invocation| invocation.ending != Ending::Stopped).count();
    if is_hopeless(cell) || attempts >= ATTEMPTS.saturating_mul(most) {
        return false;
    }
    let values: Vec<f64> = cell.invocations.iter().filter_map(|invocation| invocation.value).collect();
    let settled = settled_at(&values, cell.precision, least).unwrap_or(most);
    if is_unsure_of_delivered(cell) && attempts < most {
        return true;
    }
    match disturbance(cell) {
        Some(Severity::Invalid) => values.len() < most,
        Some(_) => values.len() < settled || attempts < settled + RETRIES,
        None => values.len() < settled,
    }
}

/// The relative half width that is wanted of a delivered number's interval.
const DELIVERED: f64 = 0.05;

/// Whether its threads were short of CPUs, its own among them where nothing binds it, and how much they got is not known well.
fn is_unsure_of_delivered(cell: &Cell) -> bool {
    let share = if cell.estimator == Estimator::FastMode { cell.delivered_share() } else { cell.cpu_time_share() };
    let is_short = share.is_some_and(|share| share < NEARLY_ALL);
    let Some(delivered) = cell.delivered.filter(|_| is_short) else { return false };
    delivered.interval.is_none_or(|found| found.half_width(delivered.value) > DELIVERED)
}

/// How many more invocations it is given at most if it stays as disturbed as it is.
fn most_left(cell: &Cell, least: usize, most: usize) -> usize {
    let all = match disturbance(cell) {
        Some(Severity::Invalid) => ATTEMPTS.saturating_mul(most),
        _ => most.saturating_add(RETRIES),
    };
    if wants_more(cell, least, most) { all.saturating_sub(cell.invocations.len()).max(1) } else { 0 }
}

/// How many more invocations it will be given, as far as its values so far tell.
pub fn likely_left(cell: &Cell, least: usize, most: usize) -> usize {
    let values: Vec<f64> = cell.invocations.iter().filter_map(|invocation| invocation.value).collect();
    let made = values.len();
    let needed = Sample::new(values).and_then(|sample| needed(&sample, cell.precision)).unwrap_or(least);
    // It is looked at after some numbers of values only.
    let settled = looks(least).find(|look| *look >= needed).unwrap_or(most);
    let settled = if is_unsure_of_delivered(cell) { most } else { settled };
    settled.max(made + 1).saturating_sub(made).min(most_left(cell, least, most))
}

/// How many invocations with hardware counters are missing to as many as the fewest without. None for a cell that cannot be measured, or
/// not with counters.
pub fn missing_counts(cell: &Cell, least: usize) -> usize {
    let gives_up = is_hopeless(cell) || failed(&cell.invocations) > RETRIES || cell.no_counters().is_some();
    if gives_up { 0 } else { least.saturating_sub(cell.counted.len()) }
}

/// After how many values it was precise enough, at one of its looks.
fn settled_at(values: &[f64], target: f64, least: usize) -> Option<usize> {
    looks(least).take_while(|look| *look <= values.len()).find(|look| {
        let sample = Sample::new(values[..*look].to_vec());
        sample.and_then(|sample| precision(&sample)).is_some_and(|reached| reached <= target)
    })
}

fn is_hopeless(cell: &Cell) -> bool {
    let done = cell.invocations.iter().any(|invocation| invocation.ending == Ending::Done);
    // Without a value yet (V12), it may have one the next time.
    let passing = |code: &str| code == V12.code || PASSING.contains(&code);
    let lasting = |severity, code: &str| severity == Severity::Invalid && !passing(code);
    (!done && failed(&cell.invocations) > 0)
        || (cell.status == Status::Skipped && !cell.invocations.iter().any(|one| one.ending == Ending::Away))
        || cell.marks.iter().any(|mark| lasting(mark.severity, &mark.code))
}

/// The most severe doubt that a passing disturbance raises, beyond a note.
fn disturbance(cell: &Cell) -> Option<Severity> {
    let passing = cell.marks.iter().filter(|mark| PASSING.contains(&mark.code.as_str()));
    passing.map(|mark| mark.severity).filter(|severity| *severity >= Severity::Suspect).max()
}

/// How many invocations gave nothing, and not because they were asked to stop.
pub(super) fn failed(invocations: &[Invocation]) -> usize {
    invocations.iter().filter(|invocation| is_failure(invocation.ending)).count()
}

pub(super) fn is_failure(ending: Ending) -> bool {
    match ending {
        Ending::Unavailable | Ending::Skipped | Ending::Refused | Ending::Died | Ending::TimedOut => true,
        Ending::Done | Ending::Stopped | Ending::Away | Ending::Wrong => false,
    }
}
