//! Reports of synthetic machines, for tests of pages and figures.

use charz_data::report::{
    Cell, Ending, Evidence, Frequency, Interval, Invocation, Measured, MemoryHome, PageKind, Pages, Point, Report,
    Status, Unit, fixtures,
};
use charz_stats::{Sample, median_interval};
use charz_topology::{Source, discover};

pub const LATENCY: &str = "chase-random";

#[track_caller]
pub fn assert_words(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
}

pub fn report(synthetic: &str) -> Report {
    let mut report = fixtures::report(Vec::new());
    report.machine = discover(&Source::Synthetic(synthetic.into())).unwrap();
    report.host.virtual_machine = Some(false);
    report
}

/// A cell whose number is `value`, give or take 2%.
pub fn cell(kernel: &str, seats: &[u32], point: Point, value: f64) -> Cell {
    let unit = if kernel == LATENCY { Unit::NanosecondsPerStep } else { Unit::BytesPerSecond };
    let cell = fixtures::cell(kernel, seats.len() as u64, unit, value).seated(seats).at(point).inside("memory");
    Cell { footprint_bytes: 1 << 28, ..cell }
}

/// The cell with these values of its invocations, and the number and the interval that a sweep gives it.
pub fn valued(mut cell: Cell, values: Vec<f64>) -> Cell {
    let some = cell.invocations[0].clone();
    cell.invocations = values.iter().map(|value| Invocation { value: Some(*value), ..some.clone() }).collect();
    let sample = Sample::new(values).expect("values are finite numbers, and there are some");
    let interval = median_interval(&sample, 0.95).map(|found| Interval { low: found.low, high: found.high });
    cell.capacity = Some(Measured { value: sample.median(), interval });
    cell.delivered = cell.capacity;
    cell
}

pub fn on(node: u32) -> Point {
    Point { memory: Some(MemoryHome::Node(node)), ..Point::default() }
}

/// Two nodes of two strands, of which the second's own bandwidth is suspect.
pub fn two() -> Report {
    let mut report = report("NUMA:2 Core:2 PU:1");
    let strands = [[0, 1], [2, 3]];
    for (from, all) in (0..).zip(&strands) {
        for to in 0..2 {
            let far = if from == to { 1.0 } else { 1.6 };
            report.cells.push(cell(LATENCY, &all[..1], on(to), 100.0 * far));
            report.cells.push(cell("mem-read", all, on(to), 40e9 / far));
        }
    }
    report.cells[7].status = Status::Suspect;
    report.machine.numa_distances = vec![vec![10, 21], vec![21, 10]];
    report
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Half octaves from 4 KiB to 512 MiB.
pub fn sizes() -> impl Iterator<Item = u64> {
    (0..35).map(|step| (4096.0 * (0.5 * f64::from(step)).exp2()) as u64)
}

/// Caches of 32 KiB, 1 MiB and `last`.
fn ns(size: u64, last: u64) -> f64 {
    match size {
        _ if size <= 32 * KIB => 1.0,
        _ if size <= MIB => 4.0,
        _ if size <= last => 15.0,
        _ => 120.0,
    }
}

/// A machine that claims 32 MiB of L3, and lets its user have `last`.
pub fn measured(last: u64) -> Report {
    let mut report = report("Package:1 L3:1(size=32MiB) Core:2 L2:1(size=1MiB) L1d:1(size=32KiB) PU:1");
    report.host.claimed_hz = Some(3e9);
    let frequency = Frequency { before_hz: 3e9, after_hz: 3e9, highest_hz: 3e9, drift: 0.0 };
    for (pages, extra) in [(PageKind::Small, 20.0), (PageKind::Transparent, 0.0)] {
        for size in sizes() {
            let extra = if size > 8 * MIB { extra } else { 0.0 };
            let point = Point { pages: Some(pages), size_bytes: Some(size), ..Point::default() };
            let mut cell = cell(LATENCY, &[0], point, ns(size, last) + extra);
            (cell.level, cell.footprint_bytes) = (None, size);
            let evidence = Evidence {
                frequency: Some(frequency),
                pages: Some(Pages { base_bytes: size, ..Default::default() }),
                ..Evidence::default()
            };
            let done = Invocation::without_runs(Ending::Done, "");
            cell.invocations = vec![Invocation { evidence: Some(evidence), ..done }];
            report.cells.push(cell);
        }
    }
    for (level, rate) in [("L1", 100e9), ("memory", 20e9)] {
        for workers in [vec![0], vec![0, 1]] {
            let rate = rate * workers.len() as f64;
            report
                .cells
                .push(Cell { level: Some(level.into()), ..cell("level-read", &workers, Point::default(), rate) });
        }
    }
    report
}
