//! What the runs of a user's program say of each other: V37 and V38.

use charz_data::checks::{FIRST_RUN_NS, SAME_TIME, V37, V38};
use charz_data::report::{Invocation, Lap, Mark, Run};
use charz_data::units;
use charz_stats::median;

use super::case::{Case, total};
use super::raise;

pub(super) fn marks(case: &Case<'_>) -> Vec<Option<Mark>> {
    vec![unlike_the_first(case), as_long_as_alone(case)]
}

/// A program whose first run did what the others found done.
fn unlike_the_first(case: &Case<'_>) -> Option<Mark> {
    let first_ns = |one: &Invocation| one.evidence.as_ref()?.program.as_ref()?.first_ns;
    let first = case.done().find_map(first_ns)? as f64;
    // Where there was no time for more, the first run is itself an invocation, before the one that has its time.
    let later = || case.done().skip_while(|one| first_ns(one).is_none());
    // As of the first run, the pauses of a quota are left out, which are waiting for a CPU.
    let paused = |run: &Run| {
        let waits = run.laps.iter().filter_map(Lap::waited_ns);
        waits.max().filter(|_| run.throttled_periods.is_some_and(|periods| periods > 0)).unwrap_or(0)
    };
    let middle = |runs: &mut dyn Iterator<Item = &Run>| {
        median(runs.map(|run| run.interval_ns.saturating_sub(paused(run)) as f64))
    };
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

/// A program whose time the number of its threads does not change, though they work.
fn as_long_as_alone(case: &Case<'_>) -> Option<Mark> {
    let seen = case
        .evidence()
        .filter_map(|evidence| evidence.program.as_ref())
        .filter_map(|seen| Some((seen.alone_ns? as f64, seen.alone_cpu_ns? as f64)));
    let (alone, alone_cpu) = seen.last()?;
    let wall = median(case.clean_runs().map(|run| run.interval_ns as f64))?;
    let cpu = |run: &Run| total(run.laps.iter().filter_map(|lap| lap.counts.cpu_ns)) as f64;
    let cpu = median(case.clean_runs().map(cpu))?;
    let is_same = (wall / alone - 1.0).abs() <= SAME_TIME && alone_cpu > 0.0;
    raise(&V38, if is_same { cpu / alone_cpu } else { 0.0 }, || {
        let (wall, more) = (units::nanos(wall), cpu / alone_cpu);
        format!(
            "took {wall} as with 1 thread, and {more:.1} times the processor time: it runs for a fixed time, or does not scale; --value takes \
             its own count"
        )
    })
}
