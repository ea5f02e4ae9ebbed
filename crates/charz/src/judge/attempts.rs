//! How often a cell is measured.

use charz_data::report::{Cell, Ending, Invocation, Severity, Status};
use charz_stats::{LOOKS, Sample, Step, next_step};

/// How many invocations a cell is given beyond what its precision takes, where some gave nothing or were disturbed. All of
/// them count; none takes the place of another.
pub const RETRIES: usize = 2;

/// Marks of disturbances that another time may be without. Any other that makes a cell invalid stays.
const PASSING: [&str; 4] = ["V03", "V04", "V05", "V08"];

/// Whether a [judged](super::judge) cell is to be measured once more.
///
/// It is looked at after `least` invocations with a value, and then at the statistics' [`LOOKS`]: precise enough at one of
/// them, it is settled, else at `most`. Where some have no value it takes others for them, as long as those without are no
/// more than [`RETRIES`] beyond those with one: a machine that is busy half of the time gives its numbers later, and one that
/// is always busy gives none. It takes [`RETRIES`] more where it is doubtful for a disturbance that may pass. A cell that is
/// wrong for good, or cannot be measured, wants nothing.
pub fn wants_more(cell: &Cell, least: usize, most: usize) -> bool {
    let most = most.max(least);
    let attempts = cell.invocations.iter().filter(|invocation| invocation.ending != Ending::Stopped).count();
    let values: Vec<f64> = cell.invocations.iter().filter_map(|invocation| invocation.value).collect();
    if is_hopeless(cell) || attempts.saturating_sub(values.len()) > RETRIES + values.len() {
        return false;
    }
    let settled = settled_at(&values, cell.precision, least).unwrap_or(most);
    values.len() < settled || (is_disturbed(cell) && attempts < settled + RETRIES)
}

/// After how many values it was precise enough, or there was no further look to wait for.
fn settled_at(values: &[f64], precision: f64, least: usize) -> Option<usize> {
    let [.., last] = LOOKS;
    if least > last {
        return Some(least);
    }
    let precise = |look: &usize| {
        let sample = values.get(..*look).and_then(|values| Sample::new(values.to_vec()));
        sample.is_some_and(|sample| matches!(next_step(&sample, precision), Step::Precise { .. }))
    };
    LOOKS.into_iter().filter(|look| *look >= least).find(precise)
}

fn is_hopeless(cell: &Cell) -> bool {
    let done = cell.invocations.iter().any(|invocation| invocation.ending == Ending::Done);
    let lasting = |severity, code: &str| severity == Severity::Invalid && !PASSING.contains(&code);
    (!done && failed(&cell.invocations) > 0)
        || matches!(cell.status, Status::Skipped)
        || cell.marks.iter().any(|mark| lasting(mark.severity, &mark.code))
}

fn is_disturbed(cell: &Cell) -> bool {
    cell.marks.iter().any(|mark| mark.severity >= Severity::Suspect && PASSING.contains(&mark.code.as_str()))
}

/// How many invocations gave nothing, and not because they were asked to stop.
pub(super) fn failed(invocations: &[Invocation]) -> usize {
    invocations.iter().filter(|invocation| is_failure(invocation.ending)).count()
}

pub(super) fn is_failure(ending: Ending) -> bool {
    match ending {
        Ending::Unavailable | Ending::Skipped | Ending::Refused | Ending::Died | Ending::TimedOut => true,
        Ending::Done | Ending::Stopped | Ending::Wrong => false,
    }
}
