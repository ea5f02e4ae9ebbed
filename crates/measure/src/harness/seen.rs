//! Circumstances that are counted around the iterations of a run. Each is one row: the check that judges it, and how its counter is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

/// A counter that only rises.
struct Circumstance {
    /// The code of the check, of which the rise per second is the quantity.
    code: &'static str,
    /// Its reading for threads on these CPUs; `None` where the system does not count it.
    read: fn(&BTreeSet<u32>) -> Option<f64>,
}

const CIRCUMSTANCES: [Circumstance; 1] = [Circumstance { code: "V42", read: compacted }];

/// The readings before the first iteration.
pub(crate) struct Seen {
    seats: BTreeSet<u32>,
    begun: Instant,
    readings: [Option<f64>; CIRCUMSTANCES.len()],
}

impl Seen {
    pub(crate) fn begin(seats: &[Option<u32>]) -> Self {
        let seats: BTreeSet<u32> = seats.iter().copied().flatten().collect();
        let readings = CIRCUMSTANCES.map(|own| (own.read)(&seats));
        Seen { begun: Instant::now(), readings, seats }
    }

    /// By how much each has risen since then, per second, by the code of its check.
    pub(crate) fn since(&self) -> BTreeMap<String, f64> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let rise = |(own, earlier): (Circumstance, Option<f64>)| {
            let rise = ((own.read)(&self.seats)? - earlier?).max(0.0) / seconds;
            rise.is_finite().then(|| (own.code.to_owned(), rise))
        };
        CIRCUMSTANCES.into_iter().zip(self.readings).filter_map(rise).collect()
    }
}

/// Pages that the system isolated to move them together.
fn compacted(_: &BTreeSet<u32>) -> Option<f64> {
    let text = fs::read_to_string("/proc/vmstat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("compact_isolated "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::checks::CHECKS;

    #[test]
    fn each_circumstance_has_a_check_and_rises() {
        let seen = Seen::begin(&[Some(0), None]);
        for (code, rise) in seen.since() {
            assert!(rise >= 0.0 && CHECKS.iter().any(|check| check.code == code), "{code} {rise}");
        }
        let codes: BTreeSet<&str> = CIRCUMSTANCES.iter().map(|own| own.code).collect();
        assert_eq!(codes.len(), CIRCUMSTANCES.len());
    }
}
