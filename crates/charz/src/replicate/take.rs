//! What of a cell stands beside a document's value.

use serde::Deserialize;

use crate::report::{Cell, Distribution, Growth, Marginal, Unit};

/// What is taken of a cell.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Take {
    /// Its number.
    #[default]
    Value,
    /// The best of its first three repetitions.
    BestOfThree,
    /// Its number, a worker.
    PerWorker,
    /// Its number against that of one worker: how many times as much, or as fast.
    Speedup,
    /// The median of the first times that were sampled.
    First,
    /// The median of the second times that were sampled.
    Second,
    /// The shortest of the first times.
    LeastFirst,
    /// The shortest of the second times.
    LeastSecond,
    /// The share of pairs in which the second time is the shorter one.
    Below,
    /// The share of times from `low` up to, but not with, `high`, in thousands of cycles.
    Share {
        /// Which of the two times.
        of: Side,
        /// The lower end of the band.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// How fast the words of a block were gone through in the first of two sampled phases, a worker.
    FirstPhase,
    /// The same in the second phase.
    SecondPhase,
    /// The share of the strands' time that was spent waiting for a lock.
    WaitShare,
    /// How long a recursion of this size took.
    Growth {
        /// The size.
        size: u64,
    },
    /// How many attempts at the pool failed in a recursion of this size.
    Failures {
        /// The size.
        size: u64,
    },
}

/// One of the two times of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The first: mostly that of the call.
    First,
    /// The second: mostly that until somebody else runs.
    Second,
}

/// What a number is, before it is in anybody's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A rate a second.
    Rate,
    /// A rate a second of bytes.
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// Milliseconds a GiB.
    MillisPerGib,
    /// A share of a whole, as a fraction.
    Fraction,
    /// A number of times, or of things.
    Number,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) kind: Kind,
    pub(super) value: f64,
    pub(super) interval: Option<[f64; 2]>,
}

impl Take {
    /// What kind of number it is of cells in this unit; `None` where such cells have none.
    pub(super) fn kind(&self, unit: Unit) -> Option<Kind> {
        let sampled = unit == Unit::NanosecondsSampled;
        Some(match self {
            Take::Value | Take::BestOfThree | Take::PerWorker => of_unit(unit),
            Take::Speedup => Kind::Number,
            // Rings, words and recursions sample beside their number.
            Take::First | Take::Second | Take::LeastFirst | Take::LeastSecond => Kind::Nanos,
            Take::Below | Take::Share { .. } if sampled => Kind::Fraction,
            Take::FirstPhase | Take::SecondPhase if unit == Unit::OpsPerSecond => Kind::Rate,
            Take::WaitShare if unit == Unit::OpsPerSecond => Kind::Fraction,
            Take::Growth { .. } if unit == Unit::OpsPerSecond => Kind::Nanos,
            Take::Failures { .. } if unit == Unit::OpsPerSecond => Kind::Number,
            _ => return None,
        })
    }

    /// Takes it of a cell with a number; `words` is how many a block has, `hz` the clock that cycles are counted by.
    ///
    /// # Errors
    /// Why it cannot be taken, as a clause.
    pub(super) fn of(&self, cell: &Cell, words: f64, hz: Option<f64>) -> Result<Taken, String> {
        let kind = self.kind(cell.unit).ok_or("the kernel has no such number")?;
        let plain = |value: f64| Taken { kind, value, interval: None };
        let summary = cell.summary.ok_or("nothing was measured")?;
        let value = summary.value.ok_or("it has no number")?;
        let workers = cell.workers.max(1) as f64;
        let sampled = || cell.distribution.as_ref().ok_or("no pairs of times were sampled");
        let median = |side: fn(&Distribution) -> &Marginal| Ok::<f64, String>(side(sampled()?).median());
        let taken = match self {
            Take::Value | Take::Speedup => {
                Taken { interval: summary.interval.map(|interval| [interval.low, interval.high]), ..plain(value) }
            }
            Take::PerWorker => Taken {
                interval: summary.interval.map(|interval| [interval.low / workers, interval.high / workers]),
                ..plain(value / workers)
            },
            Take::BestOfThree => plain(summary.best_of_three),
            // Of kernels about the second time the number is the median of the invocations' medians, and has an interval.
            Take::Second if cell.unit == Unit::NanosecondsSampled => {
                Taken { interval: summary.interval.map(|interval| [interval.low, interval.high]), ..plain(value) }
            }
            Take::First => plain(median(|times| &times.samples.first)?),
            Take::Second => plain(median(|times| &times.samples.second)?),
            Take::LeastFirst => plain(sampled()?.samples.first.least_ns as f64),
            Take::LeastSecond => plain(sampled()?.samples.second.least_ns as f64),
            Take::Below => plain(sampled()?.below),
            Take::Share { of, low, high } => {
                let hz = hz.ok_or("the clock is not known, and with it no number of cycles")?;
                let nanos = |kilocycles: f64| kilocycles * 1e12 / hz;
                let samples = &sampled()?.samples;
                let side = match of {
                    Side::First => &samples.first,
                    Side::Second => &samples.second,
                };
                plain(share(side, nanos(*low), nanos(*high)))
            }
            Take::FirstPhase => plain(words / (median(|times| &times.samples.first)? / 1e9)),
            Take::SecondPhase => plain(words / (median(|times| &times.samples.second)? / 1e9)),
            Take::WaitShare => {
                let share = cell.sharing.and_then(|sharing| sharing.wait_share);
                plain(share.ok_or("no times of waiting were sampled")?)
            }
            Take::Growth { size } => plain(growth(cell, *size, |step| step.time_ns)?),
            Take::Failures { size } => plain(growth(cell, *size, |step| step.failures)?),
        };
        match taken.value.is_finite() {
            true => Ok(taken),
            false => Err("what was sampled gives no number".into()),
        }
    }
}

fn of_unit(unit: Unit) -> Kind {
    match unit {
        Unit::OpsPerSecond => Kind::Rate,
        Unit::BytesPerSecond => Kind::Bytes,
        Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => Kind::Nanos,
        Unit::MillisecondsPerGib => Kind::MillisPerGib,
    }
}

/// The share of times within a band; a bin that crosses its edge counts by the part that lies within.
fn share(times: &Marginal, low: f64, high: f64) -> f64 {
    let part = |(from, to, count): (u64, u64, u64)| {
        let (from, to) = (from as f64, to as f64);
        let inside = (to.min(high) - from.max(low)).max(0.0) / (to - from).max(1.0);
        inside * count as f64
    };
    times.spans().map(part).sum::<f64>() / times.count().max(1) as f64
}

/// The median over the repetitions that count, of the step with this size.
fn growth(cell: &Cell, size: u64, number: fn(&crate::report::GrowthStep) -> u64) -> Result<f64, String> {
    let runs = cell.invocations.iter().flat_map(|invocation| invocation.clean_runs());
    let grown = runs.filter_map(|run| run.growth.as_deref());
    let step = |growth: &Growth| growth.steps.iter().find(|step| step.size == size).map(number);
    let mut found: Vec<u64> = grown.filter_map(step).collect();
    found.sort_unstable();
    let middle = found.get(found.len() / 2).copied();
    middle.map(|number| number as f64).ok_or_else(|| format!("no recursion came to size {size} in its time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_on_the_edge_counts_in_part() {
        // Bins above 64 ns are wider than one: 1024 to 1040.
        let times = Marginal { least_ns: 10, most_ns: 1030, bins: vec![[10, 2], [1024, 2]] };
        for (low, high, expected) in [(0.0, 11.0, 0.5), (10.5, 11.0, 0.25), (1024.0, 1032.0, 0.25), (2e3, 3e3, 0.0)] {
            assert_eq!(share(&times, low, high), expected, "{low} to {high}");
        }
    }

    #[test]
    fn what_a_kernel_does_not_sample_has_no_kind() {
        let band = Take::Share { of: Side::First, low: 0.0, high: 4.0 };
        assert_eq!(band.kind(Unit::BytesPerSecond), None);
        assert_eq!(band.kind(Unit::NanosecondsSampled), Some(Kind::Fraction));
        assert_eq!(Take::Value.kind(Unit::BytesPerSecond), Some(Kind::Bytes));
    }
}
