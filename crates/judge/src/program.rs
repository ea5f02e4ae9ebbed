//! What the runs of a user's program say of each other: V37.

use charz_data::checks::{FIRST_RUN_NS, V37};
use charz_data::report::{Invocation, Mark, Run};
use charz_data::units;
use charz_stats::median;

use super::case::Case;
use super::raise;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    vec![unlike_the_first(case)]
}

/// A program whose first run did what the others found done.
fn unlike_the_first(case: &Case<'_>) -> Option<Mark> {
    let first_ns = |one: &Invocation| one.evidence.as_ref()?.program.as_ref()?.first_ns;
    let first = case.done().find_map(first_ns)? as f64;
    // Where there was no time for more, the first run is itself an invocation, before the one that has its time.
    let later = || case.done().skip_while(|one| first_ns(one).is_none());
    let middle = |runs: &mut dyn Iterator<Item = &Run>| median(runs.map(|run| run.interval_ns as f64));
    // Runs that waited for a CPU are longer for another reason.
    let clean = middle(&mut later().flat_map(Invocation::clean_runs));
    let later = clean.or_else(|| middle(&mut later().flat_map(|one| &one.runs)))?;
    let is_apart = (first - later).abs() >= FIRST_RUN_NS as f64;
    let ratio = if is_apart { (first / later).max(later / first) } else { 0.0 };
    raise(&V37, ratio, || {
        let [first, later] = [first, later].map(units::nanos);
        format!("the first run took {first} and the later ones {later}: they find what it left; --setup can undo that")
    })
}
