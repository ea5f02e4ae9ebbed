//! What the machine gave of its capacity while a cell was measured.

use charz_data::report::{Cell, Estimator, Report, Run};
use charz_stats::{Sample, follow_the_clock};

/// What the machine gave of its capacity while this was measured, as a fraction: the share of the work where a core does it by itself, else
/// the share of the time on CPUs for which threads asked. `None` where that is not known, where threads wait for each other in the kernel, and where they
/// share CPUs by request.
pub fn delivered_share(report: &Report, cell: &Cell) -> Option<f64> {
    if cell.estimator == Estimator::FastMode {
        return Some((cell.delivered_share()? / clock_share(cell)).min(1.0));
    }
    let is_alone = cell.workers <= report.machine.usable_strands().count() as u64 && cell.has_own_cpus();
    if !is_alone || report.card(&cell.kernel)?.blocks_in_kernel {
        return None;
    }
    cell.cpu_time_share()
}

/// The clock of the cores over all runs, as a fraction of that of the number, where the number follows it: a clock that drops takes work
/// and no time.
fn clock_share(cell: &Cell) -> f64 {
    let rates = cell.clocked_rates();
    let clocks: Vec<f64> = rates.iter().map(|(_, clock)| *clock).collect();
    match Sample::new(clocks).filter(|_| follow_the_clock(&[&rates])) {
        Some(clocks) => clocks.len() as f64 / clocks.values().iter().map(|clock| clocks.median() / clock).sum::<f64>(),
        None => 1.0,
    }
}

/// The share of iterations at the end of which two of its threads were on one CPU; `None` where that was not seen, as of more threads than
/// reports keep singly.
pub fn shared_cpus(cell: &Cell) -> Option<f64> {
    let (mut seen, mut shared) = (0, 0);
    let runs = cell.invocations.iter().flat_map(|invocation| &invocation.runs);
    for mut ends in runs.filter_map(|run| ends(run, cell.seats.len())) {
        ends.sort_unstable();
        seen += 1;
        shared += usize::from(ends.windows(2).any(|pair| pair[0] == pair[1]));
    }
    (seen > 0).then(|| shared as f64 / seen as f64)
}

/// The CPU on which each of so many threads ended an iteration; `None` where one was not seen.
pub fn ends(run: &Run, threads: usize) -> Option<Vec<u32>> {
    let ends: Vec<u32> =
        run.laps.iter().filter(|lap| lap.group.is_none()).map(|lap| lap.strand).collect::<Option<_>>()?;
    (ends.len() == threads).then_some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Evidence, Frequency, Measured, Unit, fixtures};

    /// A clock of 3 GHz that drops to 2.4 GHz after six of ten runs.
    #[test]
    fn a_clock_that_drops_takes_no_time() {
        let mut cell = fixtures::cell("arith-int", 1, Unit::OpsPerSecond, 3e9);
        (cell.estimator, cell.invocations) = (Estimator::FastMode, vec![cell.invocations[0].clone(); 10]);
        for (at, invocation) in cell.invocations.iter_mut().enumerate() {
            let hz = if at < 6 { 3e9 } else { 2.4e9 };
            let frequency = Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 };
            invocation.value = Some(hz * (1.0 + 1e-4 * (at % 3) as f64));
            invocation.evidence = Some(Evidence { frequency: Some(frequency), ..Default::default() });
        }
        cell.delivered = Some(Measured { value: 10.0 / (6.0 / 3e9 + 4.0 / 2.4e9), interval: None });
        let mut report = fixtures::report(vec![cell]);
        let shared = delivered_share(&report, &report.cells[0]).unwrap();
        assert!(shared > 0.99, "{shared}");
        report.cells[0].delivered.as_mut().unwrap().value *= 0.7;
        let taken = delivered_share(&report, &report.cells[0]).unwrap();
        assert!((taken - 0.7).abs() < 0.01, "{taken}");
    }
}
