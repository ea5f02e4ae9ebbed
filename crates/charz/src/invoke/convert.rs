//! From what the harness measured to what the report says.

use charz_kernels::{Kernel, Metric};

use crate::harness::{self, Failure, Measurement};
use charz_data::report;
use charz_data::report::{Ending, Evidence, Frequency, Invocation, JointHistogram, Nodes, Pages, Unit};

/// What a kernel's numbers are given in.
pub fn unit(kernel: &dyn Kernel) -> Unit {
    match kernel.card().metric {
        Metric::Ops(_) => Unit::OpsPerSecond,
        Metric::Bytes(_) => Unit::BytesPerSecond,
        Metric::Duration => Unit::Nanoseconds,
        Metric::SerialTime(_) => Unit::NanosecondsPerOp,
        Metric::OpTime(_) => Unit::NanosecondsPerStep,
        Metric::TimePerGib(_) => Unit::MillisecondsPerGib,
        Metric::SecondTime => Unit::NanosecondsSampled,
    }
}

/// What a process tells of its measurement. Which repetitions count, and what they come to, is judged later.
pub(super) fn invocation(measured: Result<Measurement, Failure>) -> Invocation {
    match measured {
        Ok(measurement) => Invocation {
            ending: if measurement.stopped { Ending::Stopped } else { Ending::Done },
            reason: measurement.stopped.then(|| format!("stopped after {} whole repetitions", measurement.runs.len())),
            variant: Some(measurement.variant.to_owned()),
            runs: measurement.runs.iter().map(run).collect(),
            evidence: Some(evidence(measurement)),
            ..Invocation::without_runs(Ending::Done, "")
        },
        Err(Failure::Unavailable(reason)) => Invocation::without_runs(Ending::Unavailable, reason),
        Err(Failure::Refused(reason)) => Invocation::without_runs(Ending::Refused, reason),
        Err(Failure::Wrong(reason)) => Invocation::without_runs(Ending::Wrong, reason),
        Err(Failure::Panicked(reason)) => Invocation::without_runs(Ending::Died, reason),
        Err(Failure::Overdue(reason)) => Invocation::without_runs(Ending::Overdue, reason),
        Err(Failure::Stopped) => Invocation::without_runs(Ending::Stopped, "stopped before its first repetition ended"),
    }
}

fn evidence(measurement: Measurement) -> Evidence {
    Evidence {
        pages: measurement.pages.map(|pages| Pages {
            base_page_bytes: pages.base_page_bytes,
            base_bytes: pages.base_bytes,
            transparent_bytes: pages.transparent_bytes,
            huge_2m_bytes: pages.huge_2m_bytes,
            huge_1g_bytes: pages.huge_1g_bytes,
        }),
        nodes: measurement.nodes.map(|nodes| Nodes {
            local_bytes: nodes.local_bytes,
            asked_bytes: nodes.asked_bytes,
            bytes: nodes.bytes,
            balancing: nodes.balancing,
        }),
        frequency: measurement.frequency.map(|frequency| Frequency {
            before_hz: frequency.before_hz,
            after_hz: frequency.after_hz,
            highest_hz: frequency.highest_hz,
            drift: frequency.drift,
        }),
        changes: measurement.changes,
    }
}

fn run(run: &harness::Run) -> report::Run {
    let starts = run.laps.iter().map(|lap| lap.start);
    let first = starts.clone().min().unwrap_or(0);
    let last = starts.max().unwrap_or(0);
    let end = run.laps.iter().map(|lap| lap.end).max().unwrap_or(0);
    let interval_ns = end.saturating_sub(first);
    report::Run {
        interval_ns,
        start_skew_ns: last - first,
        steal_ns: run.machine.steal_ns,
        throttled_periods: run.machine.throttled_periods,
        pressure_ns: run.machine.pressure_ns.map(|pressure| {
            // The thread that reads is woken by the last worker, and may itself be the one that waits for a processor then:
            // what it took beyond the interval may all have been pressure.
            let beyond = run.machine.time_ns.map_or(0, |time| time.saturating_sub(interval_ns));
            pressure.saturating_sub(beyond)
        }),
        dirty: Vec::new(),
        laps: run.laps.iter().map(lap).collect(),
        samples: samples(&run.laps).map(Box::new),
        // One worker tells it for all.
        growth: run.laps.iter().find_map(|lap| lap.growth.as_ref()).cloned().map(Box::new),
    }
}

/// Those of all workers together.
fn samples(laps: &[harness::Lap]) -> Option<JointHistogram> {
    laps.iter()
        .any(|lap| lap.samples.is_some())
        .then(|| JointHistogram::sum(laps.iter().filter_map(|lap| lap.samples.as_ref())))
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
        checks: lap.checks,
        strays: lap.strays,
        counts: report::Counts {
            cpu_ns: lap.counts.cpu_ns,
            run_delay_ns: lap.counts.run_delay_ns,
            involuntary_switches: lap.counts.involuntary_switches,
            migrations: lap.counts.migrations,
            minor_faults: lap.counts.minor_faults,
            major_faults: lap.counts.major_faults,
        },
        contention: lap.contention,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::counters::MachineCounts;
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
            checks: 1,
            strays: Some(0),
            counts: harness::counters::ThreadCounts::default(),
            contention: None,
            samples: None,
            growth: None,
        }
    }

    #[test]
    fn pressure_that_may_have_been_outside_of_the_interval_is_left_out() {
        let of = |pressure_ns, time_ns| {
            let machine = MachineCounts { pressure_ns, time_ns, ..MachineCounts::default() };
            run(&harness::Run { laps: vec![harness_lap(0, 100, 1100)], machine }).pressure_ns
        };
        assert_eq!(of(Some(700), Some(1500)), Some(200));
        assert_eq!(of(Some(400), Some(1500)), Some(0));
        assert_eq!(of(Some(700), Some(1000)), Some(700));
        assert_eq!(of(None, Some(1500)), None, "what was not told is not none");
    }

    #[test]
    fn the_interval_is_first_start_to_last_end() {
        let run = run(&harness::Run {
            laps: vec![harness_lap(0, 50, 150), harness_lap(1, 10, 90), harness_lap(2, 30, 210)],
            machine: MachineCounts::default(),
        });
        assert_eq!((run.interval_ns, run.start_skew_ns), (200, 40));
        assert_eq!(run.value(Unit::OpsPerSecond), 300.0 / 200e-9);
        assert_eq!(run.value(Unit::Nanoseconds), 200.0);
    }
}
