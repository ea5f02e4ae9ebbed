//! From what the harness measured to what the report says.

use charz_kernels::{Counts, Kernel};

use super::marks::Suspicion;
use crate::harness::{self, Measurement};
use crate::report::{self, Cell, Outcome, Pages, Passport, Status, Summary, Unit};
use crate::stats::Sample;

/// What a kernel's numbers are given in.
pub(super) fn unit(kernel: &dyn Kernel) -> Unit {
    match kernel.card().counts {
        Counts::Ops(_) => Unit::OpsPerSecond,
        Counts::Bytes(_) => Unit::BytesPerSecond,
        Counts::Nothing => Unit::Nanoseconds,
    }
}

pub(super) fn fill(cell: &mut Cell, measurement: &Measurement, suspicion: &Suspicion<'_>) {
    cell.variant = Some(measurement.variant.to_owned());
    cell.runs = measurement.runs.iter().map(run).collect();
    cell.outcome = if measurement.stopped {
        super::outcome(Status::Aborted, format!("stopped after {} whole repetitions", measurement.runs.len()))
    } else {
        Outcome { status: Status::Ok, reason: None }
    };
    cell.summary = summary(cell);
    let mut passport = passport(cell, measurement);
    passport.marks = suspicion.marks(cell, &passport);
    cell.passport = Some(passport);
}

fn run(run: &harness::Run) -> report::Run {
    let starts = run.laps.iter().map(|lap| lap.start);
    let first = starts.clone().min().unwrap_or(0);
    let last = starts.max().unwrap_or(0);
    let end = run.laps.iter().map(|lap| lap.end).max().unwrap_or(0);
    report::Run {
        interval_ns: end.saturating_sub(first),
        start_skew_ns: last - first,
        steal_ns: run.machine.steal_ns,
        throttled_periods: run.machine.throttled_periods,
        laps: run.laps.iter().map(lap).collect(),
    }
}

fn lap(lap: &harness::Lap) -> report::Lap {
    report::Lap {
        rank: lap.rank as u64,
        seat: lap.seat,
        strand: lap.strand,
        start_ns: lap.start,
        end_ns: lap.end,
        ops: lap.work.ops.0,
        bytes: lap.work.bytes.0,
        on_seat: lap.on_seat,
        counts: report::Counts {
            involuntary_switches: lap.counts.involuntary_switches,
            migrations: lap.counts.migrations,
            run_delay_ns: lap.counts.run_delay_ns,
        },
    }
}

/// The number of one repetition in the cell's unit: work over the interval from the first start to the last end.
pub fn value(run: &report::Run, unit: Unit) -> f64 {
    let seconds = run.interval_ns as f64 / 1e9;
    match unit {
        Unit::OpsPerSecond => run.laps.iter().map(|lap| lap.ops as f64).sum::<f64>() / seconds,
        Unit::BytesPerSecond => run.laps.iter().map(|lap| lap.bytes as f64).sum::<f64>() / seconds,
        Unit::Nanoseconds => run.interval_ns as f64,
    }
}

/// `None` without runs, and for a run too short for the clock, whose rate would be infinite.
fn summary(cell: &Cell) -> Option<Summary> {
    let sample = Sample::new(cell.runs.iter().map(|run| value(run, cell.unit)).collect())?;
    let (best, worst) = match cell.unit {
        Unit::OpsPerSecond | Unit::BytesPerSecond => (sample.max(), sample.min()),
        Unit::Nanoseconds => (sample.min(), sample.max()),
    };
    Some(Summary {
        best,
        median: sample.median(),
        worst,
        spread: sample.spread(),
        start_skew_ns: cell.runs.iter().map(|run| run.start_skew_ns).max().unwrap_or(0),
    })
}

fn passport(cell: &Cell, measurement: &Measurement) -> Passport {
    let laps = || cell.runs.iter().flat_map(|run| &run.laps);
    let runs = || cell.runs.iter();
    Passport {
        binding_honoured: binding(laps().map(|lap| lap.on_seat)),
        pages: measurement.pages.map(|pages| Pages {
            base_page_bytes: pages.base_page_bytes,
            base_bytes: pages.base_bytes,
            transparent_bytes: pages.transparent_bytes,
            huge_2m_bytes: pages.huge_2m_bytes,
            huge_1g_bytes: pages.huge_1g_bytes,
        }),
        steal_ns: total(runs().map(|run| run.steal_ns)),
        throttled_periods: total(runs().map(|run| run.throttled_periods)),
        counts: report::Counts {
            involuntary_switches: total(laps().map(|lap| lap.counts.involuntary_switches)),
            migrations: total(laps().map(|lap| lap.counts.migrations)),
            run_delay_ns: total(laps().map(|lap| lap.counts.run_delay_ns)),
        },
        marks: Vec::new(),
    }
}

/// One worker off its seat is enough for `false`; one unknown is enough for `None`.
fn binding(mut laps: impl Iterator<Item = Option<bool>> + Clone) -> Option<bool> {
    if laps.clone().any(|on_seat| on_seat == Some(false)) {
        return Some(false);
    }
    laps.all(|on_seat| on_seat == Some(true)).then_some(true)
}

/// A sum with an unknown part is unknown.
fn total(mut counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    counts.try_fold(0_u64, |sum, count| Some(sum + count?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_kernels::Work;

    fn harness_lap(rank: usize, start: u64, end: u64) -> harness::Lap {
        harness::Lap {
            rank,
            seat: Some(0),
            start,
            end,
            work: Work::ops(100),
            on_seat: Some(true),
            strand: Some(0),
            counts: harness::counters::ThreadCounts::default(),
        }
    }

    #[test]
    fn the_interval_is_first_start_to_last_end() {
        let run = run(&harness::Run {
            laps: vec![harness_lap(0, 50, 150), harness_lap(1, 10, 90), harness_lap(2, 30, 210)],
            machine: harness::counters::MachineCounts::default(),
        });
        assert_eq!((run.interval_ns, run.start_skew_ns), (200, 40));
        assert_eq!(value(&run, Unit::OpsPerSecond), 300.0 / 200e-9);
        assert_eq!(value(&run, Unit::Nanoseconds), 200.0);
    }

    #[test]
    fn doubt_and_contradiction_are_not_the_same() {
        let check = |laps: &[Option<bool>], expected| assert_eq!(binding(laps.iter().copied()), expected, "{laps:?}");
        check(&[Some(true), Some(true)], Some(true));
        check(&[Some(true), None], None);
        check(&[None, Some(false)], Some(false));
    }

    #[test]
    fn an_unknown_part_makes_the_sum_unknown() {
        assert_eq!(total([Some(1), Some(2)].into_iter()), Some(3));
        assert_eq!(total([Some(1), None].into_iter()), None);
    }
}
