//! Synthetic cells and reports for tests. The rest of a report is copied from a real one, and readers accept it: numbers follow
//! from runs, and sums add up.
//!
//! ```text
//! let cells = vec![cell("mem-read", 4, Unit::BytesPerSecond, 2e9), cell("mem-read", 4, Unit::BytesPerSecond, 3e9).under("auto").suspect()];
//! let report = report(cells);
//! ```
#![allow(missing_docs, reason = "for tests")]

use std::sync::LazyLock;

use crate::machine::{Core, Strand};

use super::fixture_cards::cards;
use super::{
    Cell, Counts, Distribution, Ending, Estimator, Evidence, Frequency, Hardware, HardwareCount, HardwareCounts,
    Histogram, Interval, Invocation, JointHistogram, Lap, Mark, Measured, Point, Report, Run, Severity, Shape, Sharing,
    Status, Summary, Unit, parse,
};

/// Invocations of a cell: enough for an interval.
const INVOCATIONS: u64 = 10;
/// Half the width of a cell's interval, as a fraction of its number; its invocations are as far apart.
const HALF: f64 = 0.02;
/// What a worker does in a repetition: operations, or bytes.
const WORK: u64 = 1_000_000_000;

/// A sweep of two kernels on a machine of two strands, as it was measured.
pub const ARITHMETIC: &str = include_str!("fixtures/arithmetic.json");

/// A report with these cells of its own kernels, mappings and numbers of workers, on a machine with all of their seats and two strands
/// at least.
pub fn report(cells: Vec<Cell>) -> Report {
    // Some tests draw thousands.
    static MEASURED: LazyLock<Report> = LazyLock::new(|| {
        let report: Report = parse(ARITHMETIC).unwrap();
        Report { cells: Vec::new(), ..report }
    });
    let mut report = MEASURED.clone();
    report.plan.kernels = each(cells.iter().map(|cell| cell.kernel.clone()));
    report.plan.mappings = each(cells.iter().map(|cell| cell.mapping.clone()));
    report.plan.threads = each(cells.iter().map(|cell| cell.workers));
    report.plan.threads.sort_unstable();
    let last = cells.iter().flat_map(|cell| &cell.seats).copied().flatten().max().unwrap_or(0);
    report.cells = cells;
    report.cards = cards(report.floor.iter().chain(&report.cells).map(|cell| cell.kernel.as_str()));
    report.on(last.max(1) + 1)
}

/// Each of them once, in the order in which they come.
fn each<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut each = Vec::new();
    all.for_each(|one| {
        if !each.contains(&one) {
            each.push(one)
        }
    });
    each
}

/// An `ok` cell of round-robin, of floating workers, whose number is `value`, give or take 2%.
pub fn cell(kernel: &str, workers: u64, unit: Unit, value: f64) -> Cell {
    let cell = Cell {
        kernel: kernel.into(),
        mapping: "rr".into(),
        point: Point::default(),
        level: None,
        traffic: None,
        workers,
        seats: vec![None; workers as usize],
        unit,
        estimator: Estimator::Median,
        precision: 0.05,
        repetitions: 1,
        block_bytes: None,
        about_memory: false,
        footprint_bytes: 0,
        skipped: None,
        stated_interval: None,
        status: Status::Ok,
        reason: None,
        capacity: None,
        delivered: None,
        marks: Vec::new(),
        invocations: (0..INVOCATIONS).map(|at| invocation(unit, workers, spread(value, at))).collect(),
        summary: None,
        distribution: None,
        contention: None,
        counted: Vec::new(),
        hardware: None,
        energy: None,
    };
    cell.summed_up(value).within(HALF)
}

/// A cell for each pair of so many strands, of which each takes what `ns` says of home and other.
pub fn pairs(kernel: &str, strands: u32, ns: impl Fn(u32, u32) -> f64) -> Vec<Cell> {
    let all = (0..strands).flat_map(|home| (0..strands).map(move |other| (home, other)));
    let pair = |(home, other)| {
        cell(kernel, 2, Unit::NanosecondsPerOp, ns(home, other))
            .under(&format!("list:{home},{other}"))
            .seated(&[home, other])
    };
    all.filter(|(home, other)| home != other).map(pair).collect()
}

/// The value of an invocation: anywhere from one end of the interval to the other, without a trend.
fn spread(value: f64, at: u64) -> f64 {
    value * (1.0 - HALF + 2.0 * HALF * (at * 7 % INVOCATIONS) as f64 / (INVOCATIONS - 1) as f64)
}

/// An invocation with one repetition, whose value is `value` but for rounding: work and times are whole numbers.
fn invocation(unit: Unit, workers: u64, value: f64) -> Invocation {
    let (steps, all) = (WORK as f64, WORK as f64 * workers as f64);
    let (each, nanos) = match unit {
        Unit::OpsPerSecond | Unit::BytesPerSecond => (WORK, all / value * 1e9),
        Unit::Nanoseconds | Unit::NanosecondsSampled => (0, value),
        Unit::Reported(_) => (0, 1e9),
        Unit::NanosecondsPerOp => (WORK, value * all),
        Unit::NanosecondsPerStep => (WORK, value * steps),
        Unit::MillisecondsPerGib => (WORK, value * 1e6 * all / f64::from(1 << 30)),
    };
    let interval_ns = nanos.round() as u64;
    let is_bytes = matches!(unit, Unit::BytesPerSecond | Unit::MillisecondsPerGib);
    let lap = |rank| Lap {
        rank,
        end_ns: interval_ns,
        ops: if is_bytes { 0 } else { each },
        bytes: if is_bytes { each } else { 0 },
        checks: 1000,
        ..Lap::default()
    };
    let run = Run {
        interval_ns,
        laps: (0..workers).map(lap).collect(),
        samples: (unit == Unit::NanosecondsSampled)
            .then(|| Box::new([(interval_ns, interval_ns)].into_iter().collect())),
        reported: matches!(unit, Unit::Reported(_)).then_some(value),
        ..Run::default()
    };
    Invocation { runs: vec![run], ..barren(Ending::Done) }
}

impl Lap {
    pub fn undisturbed(rank: u64, seat: Option<u32>, nanos: u64) -> Self {
        Lap {
            rank,
            seat,
            strand: seat,
            end_ns: nanos,
            on_seat: seat.map(|_| true),
            checks: 1000,
            strays: seat.map(|_| 0),
            counts: Counts { cpu_ns: Some(nanos), ..Counts::NOTHING },
            ..Lap::default()
        }
    }

    /// It waited for its strand for so many nanoseconds of its time.
    pub fn wait(&mut self, nanos: u64) {
        self.counts.run_delay_ns = Some(nanos);
        self.counts.cpu_ns = self.counts.cpu_ns.map(|ran| ran.saturating_sub(nanos));
    }
}

impl Run {
    /// A repetition that nothing disturbed, as long as its longest lap.
    pub fn undisturbed(laps: Vec<Lap>) -> Self {
        Run {
            interval_ns: laps.iter().map(|lap| lap.end_ns).max().unwrap_or(0),
            steal_ns: Some(0),
            throttled_periods: Some(0),
            pressure_ns: Some(0),
            laps,
            ..Run::default()
        }
    }
}

/// An invocation that ended so, without a repetition.
pub fn barren(ending: Ending) -> Invocation {
    Invocation { reason: None, ..Invocation::without_runs(ending, "") }
}

fn shape(marginal: &Histogram) -> Shape {
    let count = marginal.count();
    // A percentile takes ten times beyond it.
    let percentile = |share: f64| {
        let rank = (share * count as f64).ceil() as u64;
        (count - rank >= 10).then(|| marginal.quantile(rank))
    };
    Shape {
        p50_ns: percentile(0.5),
        p90_ns: percentile(0.9),
        p99_ns: percentile(0.99),
        p999_ns: percentile(0.999),
        p9999_ns: percentile(0.9999),
        peaks: Vec::new(),
    }
}

impl Report {
    /// On a machine of one package with so many strands, each a core of its own.
    pub fn on(mut self, strands: u32) -> Self {
        let one = self.machine.strands[0].clone();
        self.machine.strands =
            (0..strands).map(|id| Strand { os_id: id, core: Some(id), usable: true, ..one.clone() }).collect();
        self.machine.cores = vec![Core { os_id: None, strands: 1 }; strands as usize];
        self
    }
}

impl Cell {
    pub fn under(self, mapping: &str) -> Self {
        Cell { mapping: mapping.into(), ..self }
    }

    pub fn at(self, point: Point) -> Self {
        Cell { point, ..self }
    }

    /// With a block of so many bytes, where the sweep varies sizes.
    pub fn sized(self, bytes: u64) -> Self {
        let point = Point { size_bytes: Some(bytes), ..self.point };
        self.at(point)
    }

    pub fn seated(mut self, strands: &[u32]) -> Self {
        self.seats = strands.iter().copied().map(Some).collect();
        let laps = self.invocations.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.laps);
        for (lap, strand) in laps.zip(strands.iter().cycle()) {
            (lap.seat, lap.strand, lap.on_seat, lap.strays) = (Some(*strand), Some(*strand), Some(true), Some(0));
        }
        self
    }

    /// Its workers on as many strands, from the first.
    pub fn in_order(self) -> Self {
        let strands: Vec<u32> = (0..self.workers as u32).collect();
        self.seated(&strands)
    }

    /// With blocks in a level of the caches, or in memory.
    pub fn inside(self, level: &str) -> Self {
        Cell { level: Some(level.into()), ..self }
    }

    /// Its interval is this share of its number wide, to either side: of 1, from half of it to twice as much.
    pub fn within(mut self, share: f64) -> Self {
        let summary = self.summary.as_mut().unwrap();
        let value = summary.raw.unwrap();
        let (low, high) = (value / (1.0 + share), value * (1.0 + share));
        let (worst, best) = if self.unit.more_is_better() { (low, high) } else { (high, low) };
        (summary.worst, summary.best, summary.best_of_three) = (worst, best, Some(best));
        self.capacity = self.capacity.map(|number| Measured { interval: Some(Interval { low, high }), ..number });
        self
    }

    /// It delivered this share of what its CPUs can do, and no less than 98% or more than 102% of it by its interval.
    pub fn delivering(mut self, share: f64) -> Self {
        let value = self.capacity.unwrap().value * if self.unit.more_is_better() { share } else { share.recip() };
        let interval = Some(Interval { low: 0.98 * value, high: 1.02 * value });
        self.delivered = Some(Measured { value, interval });
        self
    }

    /// After too few runs for one.
    pub fn without_interval(mut self) -> Self {
        self.invocations.truncate(5);
        self.capacity = self.capacity.map(|number| Measured { interval: None, ..number });
        self
    }

    pub fn marked(mut self, code: &str, severity: Severity, reason: &str) -> Self {
        self.marks.push(Mark { code: code.into(), severity, reason: reason.into() });
        let status = match severity {
            Severity::Note => return self,
            Severity::Suspect => Status::Suspect,
            Severity::Invalid => Status::Invalid,
        };
        (self.status, self.reason) = (status, Some(reason.into()));
        if status == Status::Invalid {
            (self.capacity, self.delivered) = (None, None);
        }
        self
    }

    pub fn suspect(self) -> Self {
        self.marked("V03", Severity::Suspect, "the workers did not overlap")
    }

    pub fn invalid(self) -> Self {
        self.marked("V01", Severity::Invalid, "a worker was not on its seat")
    }

    /// Not measured, or not to its end.
    pub fn unmeasured(self, status: Status, reason: &str) -> Self {
        let reason = Some(reason.into()).filter(|_| status != Status::Pending);
        let (capacity, delivered, summary, distribution, contention) = (None, None, None, None, None);
        let numbers = Cell { capacity, delivered, summary, distribution, contention, ..self };
        let skipped = reason.clone().filter(|_| status == Status::Skipped);
        Cell { skipped, status, reason, invocations: Vec::new(), ..numbers }
    }

    /// With pairs of times, ten at least, divided among its invocations. Where its number is their median it follows. Marks come after.
    pub fn timed(mut self, pairs: &[(u64, u64)]) -> Self {
        let count = self.invocations.len();
        for (at, invocation) in self.invocations.iter_mut().enumerate() {
            let own: Vec<(u64, u64)> = pairs.iter().copied().skip(at).step_by(count).collect();
            invocation.runs[0].samples = Some(Box::new(own.iter().copied().collect::<JointHistogram>()));
        }
        let samples = self.samples();
        let (first, second) = (shape(&samples.first), shape(&samples.second));
        let (median, below) = (samples.second.median(), samples.second_shorter as f64 / samples.count as f64);
        self.distribution = Some(Distribution { samples, first, second, second_shorter: below });
        let value = self.summary.as_ref().and_then(|summary| summary.raw).unwrap();
        let value = if self.unit == Unit::NanosecondsSampled { median } else { value };
        self.summed_up(value).within(HALF)
    }

    pub fn contention(self, sharing: Sharing) -> Self {
        Cell { contention: Some(sharing), ..self }
    }

    /// On CPUs that are so many nanoseconds apart.
    pub fn apart(mut self, ns: f64) -> Self {
        self.summary = self.summary.map(|summary| Summary { apart_ns: Some(ns), ..summary });
        self
    }

    pub fn clocked(mut self, hz: f64) -> Self {
        let frequency = Frequency { before_hz: hz, after_hz: hz, highest_hz: hz, drift: 0.0 };
        for invocation in &mut self.invocations {
            let evidence = invocation.evidence.take().unwrap_or_default();
            invocation.evidence = Some(Evidence { frequency: Some(frequency), ..evidence });
        }
        self
    }

    /// With as many invocations with hardware counters as without, of which this is known; cycles alone are raw.
    pub fn counted(mut self, hardware: Hardware) -> Self {
        self.counted.clone_from(&self.invocations);
        let cycles = Some(HardwareCount { count: 1000, enabled_ns: 10, running_ns: 10 });
        let counts = HardwareCounts { cycles, ..HardwareCounts::default() };
        let runs = self.counted.iter_mut().flat_map(|invocation| &mut invocation.runs);
        runs.flat_map(|run| &mut run.laps).for_each(|lap| lap.hardware = Some(Box::new(counts)));
        self.hardware = Some(Hardware { invocations: INVOCATIONS, ..hardware });
        self
    }

    /// With a summary of its invocations whose number is `value`, without an interval.
    fn summed_up(mut self, value: f64) -> Self {
        let unit = self.unit;
        self.invocations.iter_mut().for_each(|one| one.value = one.runs.first().map(|run| run.value(unit)));
        let values = || self.invocations.iter().filter_map(|one| one.value);
        let low = values().fold(value, f64::min);
        let high = values().fold(value, f64::max);
        let (worst, best) = if unit.more_is_better() { (low, high) } else { (high, low) };
        let invocations = values().count() as u64;
        self.capacity = Some(Measured { value, interval: None });
        self.delivered = self.capacity;
        self.summary = Some(Summary {
            raw: Some(value),
            invocations,
            clean_runs: invocations,
            dirty_runs: 0,
            spread: None,
            best,
            worst,
            best_of_three: Some(best),
            fast_share: None,
            apart_ns: None,
            start_skew_ns: 0,
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: [Unit; 7] = [
        Unit::OpsPerSecond,
        Unit::BytesPerSecond,
        Unit::Nanoseconds,
        Unit::NanosecondsPerOp,
        Unit::NanosecondsPerStep,
        Unit::MillisecondsPerGib,
        Unit::NanosecondsSampled,
    ];

    #[test]
    fn readers_take_what_is_invented() {
        let mut cells: Vec<Cell> = UNITS
            .iter()
            .flat_map(|unit| [1, 3].map(|workers| cell(&format!("{unit:?}"), workers, *unit, 1500.0)))
            .collect();
        let times: Vec<(u64, u64)> = (0..1000).map(|at| (1000 + at, 4000 - at)).collect();
        cells.push(cell("timed", 2, Unit::NanosecondsSampled, 1.0).timed(&times).clocked(3e9));
        cells.push(cell("waits", 2, Unit::OpsPerSecond, 1e9).timed(&times).seated(&[4, 1]));
        cells.push(cell("suspect", 2, Unit::OpsPerSecond, 1e9).suspect().within(0.3));
        cells.push(cell("invalid", 2, Unit::OpsPerSecond, 1e9).invalid().sized(64));
        cells.push(cell("counted", 2, Unit::OpsPerSecond, 1e9).counted(Hardware::default()));
        cells.push(cell("skipped", 2, Unit::OpsPerSecond, 1e9).unmeasured(Status::Skipped, "no room"));
        cells.extend(pairs("c2c-cas", 3, |home, other| f64::from(10 * home + other)));
        let report = report(cells);
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::to_string(&parse(&text).unwrap()).unwrap(), text);
        assert_eq!(report.machine.strands.len(), 5, "seats have strands");
    }

    #[test]
    fn numbers_follow_from_runs() {
        for unit in UNITS {
            let cell = cell("a", 3, unit, 1500.0);
            let mut values: Vec<f64> = cell.invocations.iter().filter_map(|one| one.value).collect();
            values.sort_by(f64::total_cmp);
            let (least, most) = (values[0], values[values.len() - 1]);
            assert!((least / 1470.0 - 1.0).abs() < 1e-3 && (most / 1530.0 - 1.0).abs() < 1e-3, "{unit:?}: {values:?}");
        }
    }
}
