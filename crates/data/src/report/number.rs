//! What numbers count, and how sure they are.

use serde::{Deserialize, Serialize};

use crate::reported::{Better, ReportedUnit};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations per second.
    OpsPerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds: the kernel does no work, its time alone is of interest.
    Nanoseconds,
    /// Nanoseconds from one operation to the next, over all workers.
    NanosecondsPerOp,
    /// Nanoseconds of a worker from one operation to its next, over the workers that do any.
    NanosecondsPerStep,
    /// Milliseconds a GiB, over all workers.
    MillisecondsPerGib,
    /// Nanoseconds: the median of the second of two times that workers stamped.
    NanosecondsSampled,
    /// The number of a user's program, in its own unit.
    Reported(ReportedUnit),
}

impl Unit {
    /// The base unit that numbers have in files.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::OpsPerSecond => "op/s",
            Unit::BytesPerSecond => "B/s",
            Unit::Nanoseconds | Unit::NanosecondsPerOp | Unit::NanosecondsPerStep | Unit::NanosecondsSampled => "ns",
            Unit::MillisecondsPerGib => "ms/GiB",
            Unit::Reported(unit) => unit.symbol.as_str(),
        }
    }

    /// To what energy refers: `per operation`, `per byte`, or `per run` of a user's program.
    pub fn per_work(self) -> &'static str {
        match self {
            Unit::BytesPerSecond | Unit::MillisecondsPerGib => "per byte",
            Unit::Reported(_) => "per run",
            _ => "per operation",
        }
    }

    /// Whether it is a time: a user's program may report something else of which less is better.
    pub fn is_time(self) -> bool {
        !self.more_is_better() && !matches!(self, Unit::Reported(unit) if !unit.is_time())
    }

    /// Whether more or less of it is faster or slower, as of rates and times: joules and megabytes are neither.
    pub fn is_of_speed(self) -> bool {
        self.more_is_better() || self.is_time()
    }

    /// Whether more is better; for times less is.
    pub fn more_is_better(self) -> bool {
        match self {
            Unit::Reported(unit) => unit.better == Better::Higher,
            unit => matches!(unit, Unit::OpsPerSecond | Unit::BytesPerSecond),
        }
    }
}

/// A confidence interval of 95%: its lower and its upper end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// In the unit of the cell.
    pub value: f64,
    /// Where the true value lies; null after too few invocations to say.
    pub interval: Option<Interval>,
}

impl Interval {
    /// Half of its width as a fraction of `value`.
    pub fn half_width(self, value: f64) -> f64 {
        (self.high - self.low) / 2.0 / value.abs()
    }
}

impl From<Interval> for [f64; 2] {
    fn from(Interval { low, high }: Interval) -> Self {
        [low, high]
    }
}
