//! How much of a program's time was charz's: it stands still where it is followed.

use std::time::Duration;

use charz_data::report::Invocation;

/// The share of a first run from which on nothing follows the others: less than what is marked, as others may have more threads.
pub(crate) const LITTLE: f64 = 0.01;

/// What a stop costs here, where the stops of an invocation may have taken a notable share of its time; else `None`.
pub(crate) fn cost(invocation: &Invocation) -> Option<Duration> {
    charz_launch::stop_cost(stops(invocation)?, Duration::from_nanos(time(invocation)))
}

/// The share of an invocation's time that its program stood still for charz; of copies, which stand still beside each other, that of one.
pub(crate) fn share(invocation: &Invocation, in_copies: bool) -> f64 {
    let (Some(stops), Some(cost)) = (stops(invocation), cost(invocation)) else { return 0.0 };
    let copies = if in_copies { invocation.runs.first().map_or(1, |run| run.laps.len()).max(1) } else { 1 };
    stops as f64 / copies as f64 * cost.as_nanos() as f64 / time(invocation).max(1) as f64
}

fn stops(invocation: &Invocation) -> Option<u64> {
    invocation.evidence.as_ref()?.program.as_ref()?.stops
}

/// In nanoseconds.
fn time(invocation: &Invocation) -> u64 {
    invocation.runs.iter().fold(0, |sum, run| sum.saturating_add(run.interval_ns))
}
