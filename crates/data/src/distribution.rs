//! The distribution of a cell's pairs of times.

use serde::{Deserialize, Serialize};

use crate::histogram::{Histogram, JointHistogram};
use crate::units;

/// The distribution of the pairs of times of all repetitions of a cell that count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// The pairs themselves.
    pub samples: JointHistogram,
    /// The first times.
    pub first: Shape,
    /// The second times.
    pub second: Shape,
    /// The share of pairs in which the second time is the shorter one, as a fraction.
    pub second_shorter: f64,
}

/// The shape of one of the two times. A percentile is null where fewer than ten times lie beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shape {
    /// The 50th percentile.
    pub p50_ns: Option<f64>,
    /// The 90th.
    pub p90_ns: Option<f64>,
    /// The 99th.
    pub p99_ns: Option<f64>,
    /// The 99.9th.
    pub p999_ns: Option<f64>,
    /// The 99.99th.
    pub p9999_ns: Option<f64>,
    /// The bands around which times gather, the fullest first.
    pub peaks: Vec<Peak>,
}

/// How late a thread woke up that slept beside workers, over all runs of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WakeUps {
    /// How many times there are.
    pub count: u64,
    /// The median, in nanoseconds.
    pub p50_ns: f64,
    /// The 99th percentile; null where fewer than ten times lie beyond it.
    pub p99_ns: Option<f64>,
    /// The longest.
    pub max_ns: u64,
}

impl WakeUps {
    /// Of these times, of which there is one.
    pub fn of(times: &Histogram) -> Self {
        let (count, p50_ns, p99_ns) = (times.count(), times.median(), times.percentile(9900));
        WakeUps { count, p50_ns, p99_ns, max_ns: times.max_ns }
    }
}

/// A band around which times gather.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peak {
    /// Where it begins.
    pub low_ns: f64,
    /// Where it ends.
    pub high_ns: f64,
    /// Where times are densest in it.
    pub mode_ns: f64,
    /// The share of all times that are in it, as a fraction.
    pub share: f64,
}

impl Peak {
    /// `49.0% within 110 ns to 124 ns`.
    pub fn in_words(&self) -> String {
        format!("{} within {} to {}", units::percent(self.share), units::nanos(self.low_ns), units::nanos(self.high_ns))
    }
}

impl Shape {
    /// The percentiles from the lowest, each with the share of times below it.
    pub fn percentiles(&self) -> [(f64, Option<f64>); 5] {
        [(0.5, self.p50_ns), (0.9, self.p90_ns), (0.99, self.p99_ns), (0.999, self.p999_ns), (0.9999, self.p9999_ns)]
    }
}
