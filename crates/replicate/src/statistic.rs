//! Which number of a cell is compared with a document's value, and its unit.

use serde::Deserialize;

use charz_data::report::{
    Cell, Ending, Growth, GrowthStep, Hardware, Histogram, Invocation, JointHistogram, Measured, Run, Unit,
};
use charz_stats::{Sample, median, median_interval};

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

    /// The size that it is about, for a label; empty where there is none.
    pub(super) fn size(&self) -> String {
        match self {
            Statistic::Growth { size } | Statistic::Failures { size } => format!(" size {size}"),
            _ => String::new(),
        }
    }

    /// Its dimension for cells in this unit; `None` if such cells do not have it.
    pub(super) fn kind(&self, unit: Unit) -> Option<Kind> {
        let (sampled, counted) = (unit == Unit::NanosecondsSampled, unit == Unit::OpsPerSecond);
        let grows = counted || unit == Unit::NanosecondsPerOp;
        Some(match self {
            Statistic::Value | Statistic::BestOfThree | Statistic::PerWorker => match unit {
                Unit::OpsPerSecond => Kind::PerSecond,
                Unit::BytesPerSecond => Kind::BytesPerSecond,
                Unit::MillisecondsPerGib => Kind::MillisecondsPerGib,
                Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => {
                    Kind::Nanoseconds
                }
                // No document is about the user's program.
                Unit::Reported(_) => return None,
            },
            Statistic::Speedup | Statistic::Cpi => Kind::Number,
            Statistic::Mips => Kind::PerSecond,
            Statistic::Efficiency | Statistic::CacheHits => Kind::Fraction,
            Statistic::OverBestDepth if counted => Kind::Number,
            Statistic::Work | Statistic::WorkSpeedup if counted => Kind::Number,
            Statistic::Elapsed if counted => Kind::Nanoseconds,
            // Rings, words and recursions sample times beside their value.
            Statistic::First | Statistic::Second | Statistic::MinFirst | Statistic::MinSecond => Kind::Nanoseconds,
            Statistic::P99 => Kind::Nanoseconds,
            Statistic::Below | Statistic::Share { .. } if sampled => Kind::Fraction,
            Statistic::FirstPhase | Statistic::SecondPhase if counted => Kind::PerSecond,
            Statistic::WaitShare if counted => Kind::Fraction,
            Statistic::Growth { .. } if grows => Kind::Nanoseconds,
            Statistic::Failures { .. } if grows => Kind::Number,
            _ => return None,
        })
    }

    /// The number of a cell with blocks of so many words, where `hz` turns times into cycles; why there is none, as a clause.
    pub(super) fn of(&self, cell: &Cell, words: f64, hz: Option<f64>) -> Result<Quantity, String> {
        let kind = self.kind(cell.unit).ok_or("the kernel has no such number")?;
        let summary = cell.summary.ok_or("nothing was measured")?;
        let Measured { value, interval } = cell.capacity.ok_or("nothing that counts was measured")?;
        let interval = interval.map(|interval| [interval.low, interval.high]);
        let workers = cell.workers.max(1) as f64;
        // Rings, words and recursions have such numbers beside their value.
        let sampled = |of: &dyn Fn(&JointHistogram) -> f64| {
            let all = cell.distribution.as_ref().ok_or("no times were sampled")?;
            let value = of(&all.samples);
            let each = each(cell, |runs| {
                let own = JointHistogram::sum(runs.filter_map(|run| run.samples.as_deref()));
                (own.count > 0).then(|| of(&own))
            });
            Ok::<_, String>((value, around(value, each)))
        };
        let (value, interval) = match self {
            Statistic::Value | Statistic::Speedup | Statistic::OverBestDepth => (value, interval),
            Statistic::PerWorker => (value / workers, interval.map(|ends| ends.map(|end| end / workers))),
            // The value of a kernel about the second time is the median of the invocations' medians, with an interval.
            Statistic::Second if cell.unit == Unit::NanosecondsSampled => (value, interval),
            Statistic::BestOfThree => (summary.best_of_three.ok_or("no run has a value")?, None),
            Statistic::First => sampled(&|samples| samples.first.median())?,
            Statistic::Second => sampled(&|samples| samples.second.median())?,
            Statistic::P99 => {
                let p99 = |samples: &JointHistogram| samples.second.percentile(9900);
                if cell.distribution.as_ref().is_some_and(|all| p99(&all.samples).is_none()) {
                    return Err("fewer than 10 times are beyond the 99th percentile".into());
                }
                sampled(&|samples| p99(samples).unwrap_or(f64::NAN))?
            }
            Statistic::MinFirst => sampled(&|samples| samples.first.min_ns as f64)?,
            Statistic::MinSecond => sampled(&|samples| samples.second.min_ns as f64)?,
            Statistic::Below => sampled(&|samples| samples.second_shorter as f64 / samples.count as f64)?,
            Statistic::Share { of, low, high } => {
                let hz = hz.ok_or("the clock is not known, so there is no number of cycles")?;
                let nanos = |kilocycles: f64| kilocycles * 1e12 / hz;
                sampled(&|samples| share(of.of(samples), nanos(*low), nanos(*high)))?
            }
            Statistic::Faster { .. } | Statistic::Slower { .. } => return Err(ONE_REPORT.into()),
            Statistic::FirstPhase => sampled(&|samples| words / samples.first.median() * 1e9)?,
            Statistic::SecondPhase => sampled(&|samples| words / samples.second.median() * 1e9)?,
            Statistic::WaitShare => {
                let share = cell.contention.and_then(|sharing| sharing.wait_share);
                (share.ok_or("no waiting times were sampled")?, None)
            }
            Statistic::Work | Statistic::WorkSpeedup => {
                mean(cell, |run| run.laps.iter().map(|lap| lap.ops as f64).sum())
            }
            Statistic::Mips => counted(cell, |counts| counts.mips.map(|mips| mips * 1e6))?,
            Statistic::Cpi => counted(cell, |counts| counts.cpi)?,
            Statistic::Efficiency => counted(cell, |counts| counts.efficiency)?,
            Statistic::CacheHits => counted(cell, |counts| counts.cache_miss_share.map(|missed| 1.0 - missed))?,
            Statistic::Elapsed => mean(cell, |run| run.interval_ns as f64),
            Statistic::Growth { size } => growth(cell, *size, |step| step.time_ns)?,
            Statistic::Failures { size } => growth(cell, *size, |step| step.failures)?,
        };
        match value.is_finite() {
            true => Ok(Quantity { kind, value, interval }),
            false => Err("the samples give no number".into()),
        }
    }
}

pub(super) const ONE_REPORT: &str = "this takes the reports of two machines: --from FILE --against FILE";

/// How often a time of the first cell is shorter than one of the second, in cycles of these clocks; the interval is about runs, a pair
/// of which gives a number.
pub(super) fn shorter(of: Time, [one, other]: [(&Cell, f64); 2]) -> Result<(f64, Option<[f64; 2]>), String> {
    let often = |here: &JointHistogram, there: &JointHistogram| {
        let scale = other.1 / one.1;
        let each = of.of(there).spans().map(|(from, to, count)| {
            share(of.of(here), 0.0, f64::midpoint(from as f64, to as f64) * scale) * count as f64
        });
        each.sum::<f64>() / there.count as f64
    };
    let runs = |cell: &Cell| -> Vec<JointHistogram> {
        let own = done(cell).map(|one| JointHistogram::sum(one.clean_runs().filter_map(|run| run.samples.as_deref())));
        own.filter(|samples| samples.count > 0).collect()
    };
    let [here, there] = [one, other].map(|(cell, _)| runs(cell));
    let [all_here, all_there] = [&here, &there].map(JointHistogram::sum);
    if all_here.count == 0 || all_there.count == 0 {
        return Err("no times were sampled".into());
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

/// The number of each invocation's repetitions that count, where there is one.
fn each<'a>(cell: &'a Cell, of: impl Fn(&mut dyn Iterator<Item = &'a Run>) -> Option<f64>) -> Vec<f64> {
    done(cell)
        .filter_map(|invocation| of(&mut Invocation::clean_runs(invocation)))
        .filter(|number| number.is_finite())
        .collect()
}

/// Where the median of the invocations' own numbers lies, with the number of all of them; `None` with too few of them.
fn around(value: f64, each: Vec<f64>) -> Option<[f64; 2]> {
    let found = median_interval(&Sample::new(each)?, 0.95)?;
    Some([found.low.min(value), found.high.max(value)])
}

/// Over the repetitions that count.
fn mean(cell: &Cell, of: impl Fn(&Run) -> f64) -> (f64, Option<[f64; 2]>) {
    let middle = |runs: &mut dyn Iterator<Item = &Run>| {
        let (sum, count) = runs.fold((0.0, 0), |(sum, count), run| (sum + of(run), count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    let all = middle(&mut done(cell).flat_map(Invocation::clean_runs)).unwrap_or(f64::NAN);
    (all, around(all, each(cell, middle)))
}

fn counted(cell: &Cell, of: fn(&Hardware) -> Option<f64>) -> Result<(f64, Option<[f64; 2]>), String> {
    let without = || match cell.no_counters() {
        Some(reason) => no_counters(reason),
        None => "no hardware counters: charz replicate --counters reads them where the system has any".to_owned(),
    };
    let counts = cell.hardware.ok_or_else(without)?;
    Ok((of(&counts).ok_or("the processor does not count it, or its clock or issue width is not known")?, None))
}

pub(super) fn no_counters(reason: &str) -> String {
    format!("no counters here: {reason}")
}

/// The median over the repetitions that count, of the step with this size.
fn growth(cell: &Cell, size: u64, number: fn(&GrowthStep) -> u64) -> Result<(f64, Option<[f64; 2]>), String> {
    let step = |growth: &Growth| growth.steps.iter().find(|step| step.size == size).map(number);
    let middle = |runs: &mut dyn Iterator<Item = &Run>| {
        median(runs.filter_map(|run| step(run.growth.as_deref()?)).map(|number| number as f64))
    };
    let all = middle(&mut done(cell).flat_map(Invocation::clean_runs));
    let value = all.ok_or_else(|| format!("no run reached size {size}"))?;
    Ok((value, around(value, each(cell, middle))))
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
const UNITS: [(&str, Kind, Scale); 21] = [
    ("GB/s", Kind::BytesPerSecond, Scale::Base(1e9)),
    ("GIAOPS", Kind::PerSecond, Scale::Base(1e9)),
    ("GFLOPS", Kind::PerSecond, Scale::Base(1e9)),
    ("Mop/s", Kind::PerSecond, Scale::Base(1e6)),
    ("MIPS", Kind::PerSecond, Scale::Base(1e6)),
    ("MFLOPS a thread", Kind::PerSecond, Scale::Base(1e6)),
    ("words/cycle", Kind::PerSecond, Scale::PerCycle),
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

/// What turns numbers of a kind into this unit; why nothing does, as a clause.
pub(super) fn factor(name: &str, kind: Kind, hz: Option<f64>) -> Result<f64, String> {
    let hertz = || hz.ok_or("the clock is not known, so there is no number of cycles");
    let unit = UNITS.iter().find(|unit| unit.0 == name && unit.1 == kind);
    Ok(match unit.ok_or_else(|| format!("the number cannot be converted to {name}"))?.2 {
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
    use charz_data::report::fixtures;

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
            let found = statistic.of(&cell, 1.0, None).unwrap();
            let [low, high] = found.interval.unwrap();
            assert!(low <= found.value && found.value <= high, "{found:?}");
            assert!((low / expected[0] - 1.0).abs() < 0.02 && (high / expected[1] - 1.0).abs() < 0.02, "{found:?}");
        }
        let mut few = cell;
        few.invocations.truncate(5);
        assert_eq!(Statistic::First.of(&few, 1.0, None).unwrap().interval, None, "five are too few");
    }

    #[test]
    fn p99_is_that_of_the_second_times_where_ten_are_beyond_it() {
        let cell = |count: u64| {
            let pairs: Vec<(u64, u64)> = (0..count).map(|at| (1, if at % 50 == 0 { 60_000 } else { 1000 })).collect();
            fixtures::cell("preempted-ticket", 2, Unit::NanosecondsSampled, 1000.0).timed(&pairs)
        };
        let found = |count| Statistic::P99.of(&cell(count), 1.0, None).map(|found| found.value);
        assert!((found(2000).unwrap() / 60_000.0 - 1.0).abs() < 0.02);
        assert!(found(900).is_err(), "nine are beyond it");
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
        let value = |statistic: Statistic| statistic.of(&cell, 1.0, None).unwrap().value;
        assert_eq!((value(Statistic::Work), value(Statistic::Elapsed)), (work, 3e6));
        assert_eq!(value(Statistic::Growth { size: 8 }), 1500.0, "of two the middle");
    }

    #[test]
    fn without_counters_the_reason_is_told() {
        let cell = fixtures::cell("cmt-compute", 2, Unit::OpsPerSecond, 1000.0);
        let value = |cell: &Cell, statistic: Statistic| statistic.of(cell, 1.0, None).map(|found| found.value);
        assert!(value(&cell, Statistic::Mips).unwrap_err().contains("--counters"));
        let mut refused = cell.clone();
        let evidence = refused.invocations[0].evidence.get_or_insert_default();
        evidence.no_counters = Some("none".into());
        assert_eq!(value(&refused, Statistic::Cpi), Err("no counters here: none".into()));
        let counted = cell.counted(Hardware { mips: Some(1500.0), ..Hardware::default() });
        assert_eq!(value(&counted, Statistic::Mips), Ok(1.5e9));
        assert!(value(&counted, Statistic::Efficiency).unwrap_err().contains("does not count it"));
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
