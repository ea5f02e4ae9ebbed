//! Circumstances that are counted around the iterations of a run. Each is one row: the check that judges it, and how its counter is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Instant;

use charz_data::cpulist;
use charz_system::stat::Ticks;

use super::counters::processors;

/// A counter that only rises.
struct Circumstance {
    /// The code of the check, of which the rise per second is the quantity.
    code: &'static str,
    /// Its reading beside threads whose cores have these other strands; `None` where the system does not count it.
    read: fn(&BTreeSet<u32>) -> Option<f64>,
}

const CIRCUMSTANCES: [Circumstance; 2] =
    [Circumstance { code: "V42", read: compacted }, Circumstance { code: "V43", read: beside }];

/// The readings before the first iteration.
pub(crate) struct Seen {
    siblings: BTreeSet<u32>,
    begun: Instant,
    readings: [Option<f64>; CIRCUMSTANCES.len()],
}

impl Seen {
    pub(crate) fn begin(seats: &[Option<u32>]) -> Self {
        let seats: BTreeSet<u32> = seats.iter().copied().flatten().collect();
        let siblings = siblings(&seats).unwrap_or_default();
        let readings = CIRCUMSTANCES.map(|own| (own.read)(&siblings));
        Seen { begun: Instant::now(), readings, siblings }
    }

    /// By how much each has risen since then, per second, by the code of its check.
    pub(crate) fn since(&self) -> BTreeMap<String, f64> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let rise = |(own, earlier): (Circumstance, Option<f64>)| {
            let rise = ((own.read)(&self.siblings)? - earlier?).max(0.0) / seconds;
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

/// The strands of the seats' cores that no thread has. They are looked up once: a file for each seat.
fn siblings(seats: &BTreeSet<u32>) -> Option<BTreeSet<u32>> {
    let of_core = |cpu: &u32| {
        let list = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        cpulist::parse(fs::read_to_string(list).ok()?.trim()).ok()
    };
    let cores: Vec<Vec<u32>> = seats.iter().map(of_core).collect::<Option<_>>()?;
    Some(cores.into_iter().flatten().filter(|cpu| !seats.contains(cpu)).collect())
}

/// The seconds that tasks ran on these strands, for each of them.
fn beside(siblings: &BTreeSet<u32>) -> Option<f64> {
    if siblings.is_empty() {
        return None;
    }
    let text = processors()?;
    let ran = Ticks::of_each(&text).filter(|(cpu, _)| siblings.contains(cpu)).map(|(_, ticks)| ticks.tasks() as f64);
    Some(ran.sum::<f64>() * SECONDS_PER_TICK / siblings.len() as f64)
}

/// Of `/proc/stat`, whatever the kernel's own tick is.
const SECONDS_PER_TICK: f64 = 0.01;

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
