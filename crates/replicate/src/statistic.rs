//! Which number of a cell is compared with a document's value, and its unit.

use serde::{Deserialize, Serialize};

use super::why::Why;
use charz_data::report::{
    Cell, Ending, GrowthStep, Hardware, Histogram, Invocation, JointHistogram, Measured, Run, Status, Unit,
};
use charz_stats::{Sample, median, median_interval};

/// Which of two numbers of a configuration is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// What its CPUs can do, without the moments that other programs took.
    Capacity,
    /// All of its work over all of the time, as the machine was.
    Delivered,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Statistic {
    #[default]
    Value,
    /// The best of the first three invocations.
    BestOfThree,
    /// The value divided by the number of workers.
    PerWorker,
    /// The value relative to that of one worker: how many times as much, or as fast.
    Speedup,
    /// The operations of a repetition, on average.
    Work,
    /// The same relative to one worker.
    WorkSpeedup,
    /// How long a repetition really took, on average.
    Elapsed,
    /// The median of the first time of each sampled pair.
    First,
    Second,
    /// The 99th percentile of the second time; none where fewer than ten times are beyond it.
    P99,
    MinFirst,
    MinSecond,
    /// The share of pairs whose second time is the shorter one.
    Below,
    /// The share of times from `low` to below `high`, in thousands of cycles.
    Share {
        of: Time,
        low: f64,
        high: f64,
    },
    /// How often a time is shorter than one of the same cell in another report, in cycles of each.
    Faster {
        of: Time,
    },
    Slower {
        of: Time,
    },
    /// Words of a block per second and worker in the first of two sampled phases.
    FirstPhase,
    SecondPhase,
    /// The share of the strands' time that was spent waiting for a lock.
    WaitShare,
    /// How many times as long a product of matrices takes as with the fastest depth of recursion in the report.
    OverBestDepth,
    /// The duration of a program of this size; of a product of matrices, with so many levels of recursion.
    Growth {
        size: u64,
    },
    /// Instructions per second by hardware counters.
    Mips,
    /// Cycles per instruction by hardware counters.
    Cpi,
    /// The share of the instructions that the cores can issue.
    Efficiency,
    /// The share of accesses that hit the last level of caches that hardware counters count.
    CacheHits,
    /// The failed attempts at the pool in a program of this size.
    Failures {
        size: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Time {
    /// Mostly the call.
    First,
    /// Mostly until another thread runs.
    Second,
}

impl Time {
    fn of(self, samples: &JointHistogram) -> &Histogram {
        match self {
            Time::First => &samples.first,
            Time::Second => &samples.second,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    PerSecond,
    BytesPerSecond,
    Nanoseconds,
    MillisecondsPerGib,
    Fraction,
    Number,
}

impl Kind {
    /// That of the values of cells in this unit; no document is about a user's program.
    fn of(unit: Unit) -> Result<Kind, Why<'static>> {
        Ok(match unit {
            Unit::OpsPerSecond => Kind::PerSecond,
            Unit::BytesPerSecond => Kind::BytesPerSecond,
            Unit::MillisecondsPerGib => Kind::MillisecondsPerGib,
            Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => {
                Kind::Nanoseconds
            }
            Unit::Reported(_) => return Err(Why::NoSuchNumber),
        })
    }
}

/// A value and its interval.
type Found = (f64, Option<[f64; 2]>);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity {
    pub(super) kind: Kind,
    pub(super) value: f64,
    pub(super) interval: Option<[f64; 2]>,
}

impl Statistic {
    /// Whether it is relative to one worker.
    pub(super) fn is_speedup(&self) -> bool {
        matches!(self, Statistic::Speedup | Statistic::WorkSpeedup)
    }

    /// Whether it is by hardware counters.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self, Statistic::Mips | Statistic::Cpi | Statistic::Efficiency | Statistic::CacheHits)
    }

    /// Whether it is about two reports.
    pub(super) fn is_of_two(&self) -> bool {
        matches!(self, Statistic::Faster { .. } | Statistic::Slower { .. })
    }

    /// Whether it is one time of all, not the middle of them.
    pub(super) fn is_smallest(&self) -> bool {
        matches!(self, Statistic::MinFirst | Statistic::MinSecond)
    }

    /// Whether it is made of throughputs or times of whole runs.
    pub(super) fn is_rate(&self) -> bool {
        use Statistic::{BestOfThree, OverBestDepth, PerWorker, Speedup, Value};
        matches!(self, Value | BestOfThree | PerWorker | Speedup | OverBestDepth)
    }

    /// The size of the program that it is about.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Statistic::Growth { size } | Statistic::Failures { size } => Some(*size),
            _ => None,
        }
    }

    /// The number of a cell with blocks of so many words, where `hz` turns times into cycles.
    pub(super) fn of<'a>(
        &self,
        cell: &'a Cell,
        basis: Basis,
        words: f64,
        hz: Option<f64>,
    ) -> Result<Quantity, Why<'a>> {
        let is_delivered = basis == Basis::Delivered && self.is_rate();
        let delivered = cell.delivered.filter(|_| is_delivered);
        let Measured { value, interval } = delivered.or(cell.capacity).ok_or_else(|| unmeasured(cell))?;
        let capacity = (value, interval.map(|interval| [interval.low, interval.high]));
        let bare = |value: f64| (value, None);
        let workers = cell.workers.max(1) as f64;
        // Rings, words and recursions have sampled times beside their value.
        let times = |of: &dyn Fn(&JointHistogram) -> f64| times(cell, of);
        let (kind, (value, interval)) = match self {
            Statistic::Value => (Kind::of(cell.unit)?, capacity),
            Statistic::PerWorker => {
                (Kind::of(cell.unit)?, (value / workers, capacity.1.map(|ends| ends.map(|end| end / workers))))
            }
            Statistic::BestOfThree => {
                let best = match is_delivered {
                    true => best_delivered(cell),
                    false => cell.summary.and_then(|summary| summary.best_of_three),
                };
                (Kind::of(cell.unit)?, bare(best.ok_or_else(|| unmeasured(cell))?))
            }
            Statistic::Speedup | Statistic::OverBestDepth => (Kind::Number, capacity),
            // The value of a kernel about the second time is the median of the invocations' medians, with an interval.
            Statistic::Second if cell.unit == Unit::NanosecondsSampled => (Kind::Nanoseconds, capacity),
            Statistic::First => (Kind::Nanoseconds, times(&|samples| samples.first.median())?),
            Statistic::Second => (Kind::Nanoseconds, times(&|samples| samples.second.median())?),
            Statistic::P99 => {
                let p99 = times(&|samples| samples.second.percentile(9900).unwrap_or(f64::NAN))?;
                (Kind::Nanoseconds, Some(p99).filter(|(value, _)| !value.is_nan()).ok_or(Why::FewTimes)?)
            }
            Statistic::MinFirst => (Kind::Nanoseconds, times(&|samples| samples.first.min_ns as f64)?),
            Statistic::MinSecond => (Kind::Nanoseconds, times(&|samples| samples.second.min_ns as f64)?),
            Statistic::Below => {
                (Kind::Fraction, times(&|samples| samples.second_shorter as f64 / samples.count as f64)?)
            }
            Statistic::Share { of, low, high } => {
                let hz = hz.ok_or(Why::NoClock)?;
                let [low, high] = [low, high].map(|kilocycles| kilocycles * 1e12 / hz);
                (Kind::Fraction, times(&|samples| share(of.of(samples), low, high))?)
            }
            Statistic::Faster { .. } | Statistic::Slower { .. } => return Err(Why::OneReport),
            Statistic::FirstPhase => (Kind::PerSecond, times(&|samples| words / samples.first.median() * 1e9)?),
            Statistic::SecondPhase => (Kind::PerSecond, times(&|samples| words / samples.second.median() * 1e9)?),
            Statistic::WaitShare => {
                let share = cell.contention.and_then(|sharing| sharing.wait_share);
                (Kind::Fraction, bare(share.ok_or(Why::NotSampled)?))
            }
            Statistic::Work | Statistic::WorkSpeedup => {
                (Kind::Number, over_runs(cell, mean, |run| Some(run.laps.iter().map(|lap| lap.ops as f64).sum())))
            }
            Statistic::Elapsed => (Kind::Nanoseconds, over_runs(cell, mean, |run| Some(run.interval_ns as f64))),
            Statistic::Mips => (Kind::PerSecond, bare(counted(cell, |counts| counts.mips)? * 1e6)),
            Statistic::Cpi => (Kind::Number, bare(counted(cell, |counts| counts.cpi)?)),
            Statistic::Efficiency => (Kind::Fraction, bare(counted(cell, |counts| counts.efficiency)?)),
            Statistic::CacheHits => (Kind::Fraction, bare(1.0 - counted(cell, |counts| counts.cache_miss_share)?)),
            Statistic::Growth { size } => (Kind::Nanoseconds, of_size(cell, *size, |step| step.time_ns)?),
            Statistic::Failures { size } => (Kind::Number, of_size(cell, *size, |step| step.failures)?),
        };
        if value.is_finite() { Ok(Quantity { kind, value, interval }) } else { Err(Why::NoSuchNumber) }
    }
}

/// Why a cell has no number.
pub(super) fn unmeasured(cell: &Cell) -> Why<'_> {
    let own = cell.reason.as_deref().filter(|reason| !reason.is_empty());
    let marks = cell.marks.iter().map(|mark| mark.reason.as_str()).filter(|_| cell.status == Status::Invalid);
    Why::Unmeasured { status: cell.status, reasons: own.map_or_else(|| marks.collect(), |reason| vec![reason]) }
}

/// How often a time of the first cell is shorter than one of the second, in cycles of these clocks; the interval is about runs, a pair
/// of which gives a number.
pub(super) fn shorter(of: Time, [one, other]: [(&Cell, f64); 2]) -> Result<Found, Why<'static>> {
    let often = |here: &JointHistogram, there: &JointHistogram| {
        let scale = other.1 / one.1;
        let each = of.of(there).spans().map(|(from, to, count)| {
            share(of.of(here), 0.0, f64::midpoint(from as f64, to as f64) * scale) * count as f64
        });
        each.sum::<f64>() / there.count as f64
    };
    let [here, there] = [one, other].map(|(cell, _)| sampled(cell));
    let [all_here, all_there] = [&here, &there].map(JointHistogram::sum);
    if all_here.count == 0 || all_there.count == 0 {
        return Err(Why::NotSampled);
    }
    let value = often(&all_here, &all_there);
    Ok((value, around(value, here.iter().zip(&there).map(|(here, there)| often(here, there)).collect())))
}

/// The share of times within a band; a bin that crosses its edge counts in part.
fn share(times: &Histogram, low: f64, high: f64) -> f64 {
    let part = |(from, to, count): (u64, u64, u64)| {
        let (from, to) = (from as f64, to as f64);
        let inside = (to.min(high) - from.max(low)).max(0.0) / (to - from).max(1.0);
        inside * count as f64
    };
    times.spans().map(part).sum::<f64>() / times.count().max(1) as f64
}

/// Those that ended by themselves.
fn done(cell: &Cell) -> impl Iterator<Item = &Invocation> {
    cell.invocations.iter().filter(|invocation| invocation.ending == Ending::Done)
}

/// The times of each invocation's repetitions that count, where there are any.
fn sampled(cell: &Cell) -> Vec<JointHistogram> {
    let own = done(cell).map(|one| JointHistogram::sum(one.clean_runs().filter_map(|run| run.samples.as_deref())));
    own.filter(|samples| samples.count > 0).collect()
}

/// Where the median of the invocations' own numbers lies, with the number of all of them; `None` with too few of them.
fn around(value: f64, mut each: Vec<f64>) -> Option<[f64; 2]> {
    each.retain(|number| number.is_finite());
    let found = median_interval(&Sample::new(each)?, 0.95)?;
    Some([found.low.min(value), found.high.max(value)])
}

/// The most that one of the first three invocations delivered.
fn best_delivered(cell: &Cell) -> Option<f64> {
    let better = if cell.unit.more_is_better() { f64::max } else { f64::min };
    done(cell).filter_map(|invocation| invocation.delivered(cell.unit)).take(3).reduce(better)
}

/// Of all sampled times.
fn times(cell: &Cell, of: &dyn Fn(&JointHistogram) -> f64) -> Result<Found, Why<'static>> {
    let value = of(&cell.distribution.as_ref().ok_or(Why::NotSampled)?.samples);
    Ok((value, around(value, sampled(cell).iter().map(of).collect())))
}

/// The middle over the repetitions that count and have such a number.
fn over_runs(cell: &Cell, middle: fn(Vec<f64>) -> Option<f64>, of: impl Fn(&Run) -> Option<f64>) -> Found {
    let each: Vec<Vec<f64>> = done(cell).map(|one| one.clean_runs().filter_map(&of).collect()).collect();
    let all = middle(each.concat()).unwrap_or(f64::NAN);
    (all, around(all, each.into_iter().filter_map(middle).collect()))
}

fn mean(values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn counted(cell: &Cell, of: fn(&Hardware) -> Option<f64>) -> Result<f64, Why<'_>> {
    let without = || cell.no_counters().map_or(Why::CountersNotRead, |reason| Why::NoCounters(reason.into()));
    of(&cell.hardware.ok_or_else(without)?).ok_or(Why::NotCounted)
}

/// The median of the step with this size.
fn of_size(cell: &Cell, size: u64, number: fn(&GrowthStep) -> u64) -> Result<Found, Why<'static>> {
    let step = |run: &Run| run.growth.as_deref()?.steps.iter().find(|step| step.size == size).map(number);
    let found = over_runs(cell, median, |run| Some(step(run)? as f64));
    if found.0.is_nan() { Err(Why::NotReached { size }) } else { Ok(found) }
}

enum Scale {
    /// How many base units are one of these.
    Base(f64),
    /// How many cycles are one of these.
    Cycles(f64),
    /// One of these is one base unit per cycle.
    PerCycle,
}

/// GB is 10⁹ bytes wherever a document does not define it.
const UNITS: [(&str, Kind, Scale); 22] = [
    ("GB/s", Kind::BytesPerSecond, Scale::Base(1e9)),
    ("GIAOPS", Kind::PerSecond, Scale::Base(1e9)),
    ("GFLOPS", Kind::PerSecond, Scale::Base(1e9)),
    ("Mop/s", Kind::PerSecond, Scale::Base(1e6)),
    ("MIPS", Kind::PerSecond, Scale::Base(1e6)),
    ("MFLOPS a thread", Kind::PerSecond, Scale::Base(1e6)),
    ("words/cycle", Kind::PerSecond, Scale::PerCycle),
    ("ops/cycle", Kind::PerSecond, Scale::PerCycle),
    ("ns", Kind::Nanoseconds, Scale::Base(1.0)),
    ("µs", Kind::Nanoseconds, Scale::Base(1e3)),
    ("ms", Kind::Nanoseconds, Scale::Base(1e6)),
    ("s", Kind::Nanoseconds, Scale::Base(1e9)),
    ("cycles", Kind::Nanoseconds, Scale::Cycles(1.0)),
    ("Kcycles", Kind::Nanoseconds, Scale::Cycles(1e3)),
    ("ms/GiB", Kind::MillisecondsPerGib, Scale::Base(1.0)),
    ("s for 512 GiB", Kind::MillisecondsPerGib, Scale::Base(1e3 / 512.0)),
    ("%", Kind::Fraction, Scale::Base(0.01)),
    ("share", Kind::Fraction, Scale::Base(1.0)),
    ("times", Kind::Number, Scale::Base(1.0)),
    ("CPI", Kind::Number, Scale::Base(1.0)),
    ("units", Kind::Number, Scale::Base(1.0)),
    ("spins", Kind::Number, Scale::Base(1.0)),
];

/// What turns numbers of a kind into this unit.
pub(super) fn factor(name: &str, kind: Kind, hz: Option<f64>) -> Result<f64, Why<'_>> {
    let hertz = || hz.ok_or(Why::NoClock);
    let unit = UNITS.iter().find(|unit| unit.0 == name && unit.1 == kind);
    Ok(match unit.ok_or(Why::OtherUnit(name))?.2 {
        Scale::Base(base) => 1.0 / base,
        Scale::Cycles(cycles) => hertz()? / 1e9 / cycles,
        Scale::PerCycle => 1.0 / hertz()?,
    })
}

/// Whether numbers in this unit are shares, whose ratio means nothing.
pub(super) fn is_share(name: &str) -> bool {
    UNITS.iter().any(|unit| unit.0 == name && unit.1 == Kind::Fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use charz_data::report::{Growth, fixtures};

    #[test]
    fn a_bin_on_the_edge_counts_in_part() {
        // Bins above 64 ns are wider than one: 1024 to 1040.
        let times = Histogram { min_ns: 10, max_ns: 1030, bins: vec![[10, 2], [1024, 2]] };
        for (low, high, expected) in [(0.0, 11.0, 0.5), (10.5, 11.0, 0.25), (1024.0, 1032.0, 0.25), (2e3, 3e3, 0.0)] {
            assert_eq!(share(&times, low, high), expected, "{low} to {high}");
        }
    }

    /// Six invocations whose first times have other medians: the interval is about them, not about the times.
    #[test]
    fn sampled_times_have_the_interval_of_their_invocations() {
        let pairs: Vec<(u64, u64)> = (0..600).map(|at| (1000 + 100 * (at % 6), 5000)).collect();
        let mut cell = fixtures::cell("barrier-spin", 2, Unit::NanosecondsPerOp, 1000.0);
        let one = cell.invocations[0].clone();
        cell.invocations = vec![one; 6];
        let cell = cell.timed(&pairs);
        for (statistic, expected) in [(Statistic::First, [1000.0, 1500.0]), (Statistic::MinFirst, [1000.0, 1500.0])] {
            let found = statistic.of(&cell, Basis::Capacity, 1.0, None).unwrap();
            let [low, high] = found.interval.unwrap();
            assert!(low <= found.value && found.value <= high, "{found:?}");
            assert!((low / expected[0] - 1.0).abs() < 0.02 && (high / expected[1] - 1.0).abs() < 0.02, "{found:?}");
        }
        let mut few = cell;
        few.invocations.truncate(5);
        assert_eq!(Statistic::First.of(&few, Basis::Capacity, 1.0, None).unwrap().interval, None, "five are too few");
    }

    #[test]
    fn p99_is_that_of_the_second_times_where_ten_are_beyond_it() {
        let cell = |count: u64| {
            let pairs: Vec<(u64, u64)> = (0..count).map(|at| (1, if at % 50 == 0 { 60_000 } else { 1000 })).collect();
            fixtures::cell("preempted-ticket", 2, Unit::NanosecondsSampled, 1000.0).timed(&pairs)
        };
        let found = |count| Statistic::P99.of(&cell(count), Basis::Capacity, 1.0, None).map(|found| found.value).ok();
        assert!((found(2000).unwrap() / 60_000.0 - 1.0).abs() < 0.02);
        assert_eq!(found(900), None, "nine are beyond it");
    }

    #[test]
    fn work_and_time_are_those_of_a_repetition_on_average() {
        let mut cell = fixtures::cell("cmt-compute", 2, Unit::OpsPerSecond, 1000.0);
        let mut run = cell.invocations[0].runs[0].clone();
        run.laps.iter_mut().for_each(|lap| lap.ops = 30);
        run.interval_ns = 2_000_000;
        let long = Run { interval_ns: 4_000_000, ..run.clone() };
        let left_out = Run { interval_ns: 9_000_000, dirty: vec!["V02".into()], ..run.clone() };
        let work = 30.0 * run.laps.len() as f64;
        cell.invocations[0].runs = vec![run, long, left_out];
        cell.invocations.truncate(2);
        for (at, run) in cell.invocations.iter_mut().flat_map(|one| &mut one.runs).enumerate() {
            let step = GrowthStep { size: 8, time_ns: 1000 << at, ..GrowthStep::default() };
            run.growth = Some(Box::new(Growth::new(vec![step], charz_data::Halt::Time)));
        }
        // It was killed.
        (cell.invocations[1].ending, cell.invocations[1].value) = (Ending::TimedOut, None);
        let value = |statistic: Statistic| statistic.of(&cell, Basis::Capacity, 1.0, None).unwrap().value;
        assert_eq!((value(Statistic::Work), value(Statistic::Elapsed)), (work, 3e6));
        assert_eq!(value(Statistic::Growth { size: 8 }), 1500.0, "of two the middle");
    }

    #[test]
    fn without_counters_the_reason_is_known() {
        let cell = fixtures::cell("cmt-compute", 2, Unit::OpsPerSecond, 1000.0);
        fn mips(cell: &Cell) -> Result<f64, Why<'_>> {
            Statistic::Mips.of(cell, Basis::Capacity, 1.0, None).map(|found| found.value)
        }
        assert!(matches!(mips(&cell), Err(Why::CountersNotRead)));
        let mut refused = cell.clone();
        refused.invocations[0].evidence.get_or_insert_default().no_counters = Some("none".into());
        assert!(matches!(mips(&refused), Err(Why::NoCounters(why)) if why == "none"));
        let [with, without] =
            [Some(1500.0), None].map(|count| cell.clone().counted(Hardware { mips: count, ..Hardware::default() }));
        assert!(mips(&with) == Ok(1.5e9) && matches!(mips(&without), Err(Why::NotCounted)));
    }

    #[track_caller]
    fn check(number: f64, kind: Kind, name: &str, hz: Option<f64>, expected: Option<f64>) {
        match (factor(name, kind, hz), expected) {
            (Ok(factor), Some(expected)) => assert!((number * factor / expected - 1.0).abs() < 1e-12, "{name}"),
            (found, expected) => assert!(found.is_err() && expected.is_none(), "{name}: {found:?}"),
        }
    }

    #[test]
    fn units_of_the_documents() {
        check(29e9, Kind::BytesPerSecond, "GB/s", None, Some(29.0));
        check(259.0, Kind::Nanoseconds, "cycles", Some(1.67e9), Some(432.53));
        check(82_635.0, Kind::Nanoseconds, "Kcycles", Some(1.67e9), Some(138.000_45));
        check(2e9, Kind::PerSecond, "words/cycle", Some(4e9), Some(0.5));
        check(64.0, Kind::MillisecondsPerGib, "s for 512 GiB", None, Some(32.768));
        check(0.7, Kind::Fraction, "%", None, Some(70.0));
        check(1.0, Kind::Nanoseconds, "cycles", None, None);
        check(1.0, Kind::Nanoseconds, "GB/s", None, None);
    }
}
