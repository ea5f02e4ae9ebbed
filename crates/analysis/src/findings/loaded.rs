//! How latency grows under load: from cells that differ in the delay of the workers that load the memory.

use super::on_cell;
use charz_data::report::{Cell, Ending, Finding, FindingKind, Invocation, Point, Report, Unit};
use charz_data::{Arrange, Role, units};
use charz_estimate::{Estimate, grouped};
use charz_stats::median;
use charz_words::estimate::time;
use charz_words::point;

/// From so many times the idle latency on the memory's queues have filled.
const FULL: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// Steps between two portions.
    pub(super) delay: u64,
    /// Bytes a second of all workers that load the memory.
    pub(super) bytes_per_second: f64,
    /// Nanoseconds of a load that waits.
    pub(super) ns: f64,
    pub(super) doubtful: bool,
}

impl Load {
    fn time(&self) -> String {
        time(self.ns, self.doubtful)
    }

    fn rate(&self) -> String {
        format!("{}{}", units::value(self.bytes_per_second, Unit::BytesPerSecond), units::doubt(self.doubtful))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knee {
    /// The least load: the longest delay.
    pub(super) idle: Load,
    /// The last load before the knee, and the one behind which all take twice as long as idle or more; `None` where there is none.
    pub(super) knee: Option<(Load, Load)>,
    pub(super) most: Load,
}

/// Where a curve turns up. `None` of fewer than two delays.
pub(super) fn knee(loads: &[Load]) -> Option<Knee> {
    let mut loads = loads.to_vec();
    // By what was asked for: where the memory is full, less delay no longer moves more bytes.
    loads.arrange_by_key(|load| std::cmp::Reverse(load.delay));
    let idle = *loads.first().filter(|_| loads.len() > 1)?;
    let is_full = |load: &Load| load.ns >= FULL * idle.ns;
    let free = loads.iter().rposition(|load| !is_full(load))?;
    let knee = loads.get(free + 1).map(|full| (loads[free], *full));
    let most = loads.iter().copied().max_by(|one, other| one.bytes_per_second.total_cmp(&other.bytes_per_second))?;
    Some(Knee { idle, knee, most })
}

pub(super) fn loaded(report: &Report) -> Vec<Finding> {
    let kernels = report.kernels_in(|role| *role == Role::LoadedLatency);
    let is_loaded = |cell: &&Cell| kernels.contains(&cell.kernel.as_str()) && cell.unit == Unit::NanosecondsPerStep;
    let cells = report.cells.iter().filter(is_loaded).filter(|cell| load(cell).is_some());
    let curves = grouped(cells, |cell| {
        let place = Point { delay: None, ..cell.point };
        (cell.kernel.as_str(), cell.mapping.as_str(), cell.workers, place)
    });
    curves.iter().filter_map(|cells| Some(finding(cells[0], knee_of(cells)?))).collect()
}

/// The load of a cell that has a number and a delay.
fn load(cell: &Cell) -> Option<Load> {
    let (number, delay) = (Estimate::of(cell)?, cell.point.delay?);
    let bytes_per_second = bandwidth(cell)?;
    Some(Load { delay, bytes_per_second, ns: number.value, doubtful: number.is_doubtful() })
}

/// Bytes a second of all workers that load the memory beside the one that waits, as its times are put together: the median over the
/// invocations of the median of the repetitions that count.
pub(crate) fn bandwidth(cell: &Cell) -> Option<f64> {
    let done = cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done);
    let rates = |invocation: &Invocation| median(invocation.clean_runs().map(|run| run.value(Unit::BytesPerSecond)));
    median(done.filter_map(rates))
}

/// The delay of the load at the knee of the curve that these cells make, which differ in their delays only.
pub(crate) fn knee_delay(cells: &[&Cell]) -> Option<u64> {
    knee_of(cells)?.knee.map(|(_, full)| full.delay)
}

fn knee_of(cells: &[&Cell]) -> Option<Knee> {
    knee(&cells.iter().filter_map(|cell| load(cell)).collect::<Vec<_>>())
}

fn finding(cell: &Cell, Knee { idle, knee, most }: Knee) -> Finding {
    let Cell { kernel, mapping, workers, .. } = cell;
    // The delay is the axis of the curve.
    let label = point::label(&Point { delay: None, ..cell.point });
    let head = format!("{kernel} {mapping} x{workers}{label}: {} at {}", idle.time(), idle.rate());
    let text = match knee {
        Some((free, full)) => format!(
            "{head}; the knee is at {}, where a load takes {}: {}{} times as long as idle, after {} at {}",
            full.rate(),
            full.time(),
            units::count_of(full.ns / idle.ns),
            units::doubt(full.doubtful || idle.doubtful),
            free.time(),
            free.rate()
        ),
        None => {
            let (rate, time) = (most.rate(), most.time());
            format!("{head}; no knee up to {rate}, where a load takes {time}: less than twice as long as idle")
        }
    };
    on_cell(cell, FindingKind::Latency, knee.map(|(_, full)| full.bytes_per_second), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::tests::cell;
    use charz_estimate::fixtures::assert_words;

    /// Delays, GB/s and nanoseconds.
    fn loads(curve: &[(u64, f64, f64)]) -> Vec<Load> {
        let load = |&(delay, gigabytes, ns): &(u64, f64, f64)| Load {
            delay,
            bytes_per_second: gigabytes * 1e9,
            ns,
            doubtful: false,
        };
        curve.iter().map(load).collect()
    }

    /// Where the knee of a curve is, by its delays; and that the sentence has these words.
    #[track_caller]
    fn check(curve: &[(u64, f64, f64)], expected: Option<(u64, u64)>, words: &[&str]) {
        let knee = knee(&loads(curve)).unwrap();
        assert_eq!(knee.knee.map(|(free, full)| (free.delay, full.delay)), expected, "{knee:?}");
        assert_words(&finding(&cell("loaded-read", 3, 90.0), knee).text, words);
    }

    #[test]
    fn a_knee_is_where_latency_has_doubled_for_good() {
        let full = [(0, 24.0, 400.0), (64, 25.0, 300.0), (256, 20.0, 150.0), (1024, 8.0, 95.0), (4096, 2.0, 90.0)];
        let words = [
            "loaded-read rr x3: 90.0 ns at 2.00 GB/s; the knee is at 25.0 GB/s",
            "300 ns: 3.33 times",
            "150 ns at 20.0 GB/s",
        ];
        check(&full, Some((256, 64)), &words);
        let blip = [(0, 20.0, 100.0), (64, 18.0, 500.0), (4096, 2.0, 90.0)];
        check(&blip, None, &["90.0 ns at 2.00 GB/s; no knee up to 20.0 GB/s, where a load takes 100 ns"]);
        check(&[(0, 24.0, 400.0), (8, 1.0, 90.0)], Some((8, 0)), &["the knee is at 24.0 GB/s"]);
    }

    #[test]
    fn curves_of_several_sizes_are_told_apart() {
        let knee = knee(&loads(&[(0, 24.0, 400.0), (4096, 2.0, 90.0)])).unwrap();
        let point = Point { delay: Some(4096), size_bytes: Some(1 << 20), ..Point::default() };
        let text = finding(&cell("loaded-read", 3, 90.0).at(point), knee).text;
        assert!(text.starts_with("loaded-read rr x3 1 MiB: 90.0 ns"), "{text}");
    }

    #[test]
    fn doubtful_numbers_carry_their_mark() {
        let mut loads = loads(&[(0, 24.0, 400.0), (64, 20.0, 95.0), (4096, 2.0, 90.0)]);
        let text = |loads: &[Load]| finding(&cell("loaded-read", 3, 90.0), knee(loads).unwrap()).text;
        assert!(!text(&loads).contains('~'), "{}", text(&loads));
        loads[0].doubtful = true;
        let words =
            "the knee is at 24.0 GB/s~, where a load takes 400 ns~: 4.44~ times as long as idle, after 95.0 ns at";
        assert!(text(&loads).contains(words), "{}", text(&loads));
        loads[2].doubtful = true;
        assert!(text(&loads).contains("90.0 ns~ at 2.00 GB/s~;"), "{}", text(&loads));
        let flat = [loads[1], loads[2]];
        assert!(text(&flat).contains("no knee up to 20.0 GB/s, where a load takes 95.0 ns:"), "{}", text(&flat));
    }

    #[test]
    fn each_run_has_one_load() {
        let mut loaded = cell("loaded-read", 2, 90.0);
        for (number, invocation) in loaded.invocations.iter_mut().enumerate() {
            // One of them has most of the iterations, and nothing was moved in them.
            let (times, bytes) = if number == 0 { (100, 0) } else { (1, 1_000_000) };
            invocation.runs[0].laps.iter_mut().for_each(|lap| lap.bytes = bytes);
            invocation.runs = vec![invocation.runs[0].clone(); times];
        }
        assert!(bandwidth(&loaded).unwrap() > 0.0);
    }

    #[test]
    fn one_load_is_no_curve() {
        assert_eq!(knee(&loads(&[(0, 24.0, 400.0)])), None);
        assert_eq!(knee(&[]), None);
    }
}
