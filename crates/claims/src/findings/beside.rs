//! What other programs feel: kernels beside which a thread that sleeps wakes up far too late.

use super::{Claim, Facts, Finding};
use charz_data::report::Cell;
use charz_data::{Arrange, WakeUps};

/// From so many times the quiet 99th percentile on wake-ups are late: busy CPUs alone cost less than that.
const TIMES: f64 = 10.0;

/// What is no later than this, in nanoseconds, is felt by no one at a keyboard: a frame of a screen lasts 16 times as long.
const FELT_NS: f64 = 1e6;

/// The wake-ups of a thread beside a kernel, and on the quiet machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    pub beside: WakeUps,
    /// The two 99th percentiles, in nanoseconds.
    pub p99_ns: [f64; 2],
    /// CPUs that the workers left free.
    pub free: u64,
}

/// The latest of each kernel under each mapping.
pub(super) fn late<'a>(facts: &Facts<'_, 'a>) -> Vec<Finding<'a>> {
    let quiet = facts.report.floor.iter().filter_map(|cell| cell.wake_ups()?.p99_ns);
    let Some(quiet) = quiet.max_by(f64::total_cmp) else { return Vec::new() };
    let own = |cell: &&'a Cell| {
        let beside = cell.wake_ups()?;
        let p99_ns = beside.p99_ns.filter(|ns| is_late(*ns, quiet))?;
        Some((*cell, Late { beside, p99_ns: [p99_ns, quiet], free: facts.strands.saturating_sub(cell.workers) }))
    };
    let latest = facts.lines.iter().filter_map(|line| {
        let mut all: Vec<_> = line.cells.iter().filter_map(&own).collect();
        all.arrange_by(|(_, one), (_, other)| other.p99_ns[0].total_cmp(&one.p99_ns[0]));
        all.first().copied()
    });
    latest.map(|(cell, own)| Finding::on(cell, Some(own.p99_ns[0]), Claim::Late(own))).collect()
}

/// Whether a 99th percentile beside a kernel is late, by that of the quiet machine.
fn is_late(beside: f64, quiet: f64) -> bool {
    beside > TIMES * quiet && beside > FELT_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_is_far_beyond_quiet_and_felt() {
        let cases = [(2e6, 60e3, true), (0.9e6, 60e3, false), (2e6, 0.3e6, false), (120e9, 60e3, true)];
        for (beside, quiet, late) in cases {
            assert_eq!(is_late(beside, quiet), late, "{beside} beside {quiet}");
        }
    }
}
