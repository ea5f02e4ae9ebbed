//! Pairs of times that workers stamped themselves.

mod check;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The pairs of a repetition, over all of its workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// How many.
    pub count: u64,
    /// In how many the second time is the shorter one.
    pub below: u64,
    /// The first times.
    pub first: Marginal,
    /// The second times.
    pub second: Marginal,
    /// `[first, second, count]`: the least times of each bin of pairs that is not empty, in nanoseconds, with 8 bins an octave.
    pub bins: Vec<[u64; 3]>,
}

/// One of the two times by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Marginal {
    /// The shortest.
    pub least_ns: u64,
    /// The longest.
    pub most_ns: u64,
    /// `[least, count]`: the least time of each bin that is not empty, in nanoseconds, with 64 bins an octave.
    pub bins: Vec<[u64; 2]>,
}

/// Bins of an octave, as powers of two, like those of `charz_kernels::joint`.
pub(super) const MARGINAL_BITS: u32 = 6;
pub(super) const JOINT_BITS: u32 = 3;

/// The least time of the bin that a time falls into.
pub(super) fn bin(nanos: u64, bits: u32) -> u64 {
    let width = width(nanos, bits);
    nanos / width * width
}

/// How many whole nanoseconds a bin holds that a time falls into.
fn width(nanos: u64, bits: u32) -> u64 {
    nanos.checked_ilog2().filter(|octave| *octave > bits).map_or(1, |octave| 1 << (octave - bits))
}

impl Marginal {
    /// The middle of the bin that the time in the middle falls into; not a number without times.
    pub fn median(&self) -> f64 {
        self.quantile(self.count().div_ceil(2))
    }

    /// How many times there are.
    pub fn count(&self) -> u64 {
        self.bins.iter().fold(0, |sum, [_, count]| sum.saturating_add(*count))
    }

    /// The middle of the bin with the time of this rank, from 1, but within the shortest and the longest time; not a number
    /// without times.
    pub fn quantile(&self, rank: u64) -> f64 {
        let mut before = 0_u64;
        let found = self.bins.iter().find(|[_, count]| {
            before = before.saturating_add(*count);
            before >= rank
        });
        found.map_or(f64::NAN, |[low, _]| self.middle(*low))
    }

    /// The mean, each time taken for the middle of its bin; not a number without times.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.bins.iter().map(|[low, count]| self.middle(*low) * *count as f64).sum();
        sum / self.count() as f64
    }

    fn middle(&self, low: u64) -> f64 {
        let last = low.saturating_add(width(low, MARGINAL_BITS) - 1);
        f64::midpoint(low as f64, last as f64).clamp(self.least_ns as f64, self.most_ns.max(self.least_ns) as f64)
    }

    /// The least time of each bin that is not empty, the least beyond it, and how many times are in it.
    pub fn spans(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.bins.iter().map(|&[low, count]| (low, low.saturating_add(width(low, MARGINAL_BITS)), count))
    }

    fn sum(all: &[&Marginal]) -> Self {
        Marginal {
            least_ns: all.iter().map(|marginal| marginal.least_ns).min().unwrap_or(0),
            most_ns: all.iter().map(|marginal| marginal.most_ns).max().unwrap_or(0),
            bins: merged(all.iter().map(|marginal| marginal.bins.as_slice())),
        }
    }
}

impl Samples {
    /// Those of several repetitions together.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Samples>) -> Self {
        // Whoever stamped nothing has no shortest time.
        let all: Vec<&Samples> = all.into_iter().filter(|samples| samples.count > 0).collect();
        let add = |number: fn(&Samples) -> u64| all.iter().map(|samples| number(samples)).fold(0, u64::saturating_add);
        let side = |side: fn(&Samples) -> &Marginal| {
            Marginal::sum(&all.iter().map(|samples| side(samples)).collect::<Vec<&Marginal>>())
        };
        Samples {
            count: add(|samples| samples.count),
            below: add(|samples| samples.below),
            first: side(|samples| &samples.first),
            second: side(|samples| &samples.second),
            bins: merged(all.iter().map(|samples| samples.bins.as_slice())),
        }
    }
}

/// The bins of several lists as one.
fn merged<'a, const N: usize>(lists: impl Iterator<Item = &'a [[u64; N]]>) -> Vec<[u64; N]> {
    let mut all: Vec<[u64; N]> = lists.flatten().copied().collect();
    // By a sort that sees that the lists are sorted.
    all.sort_by(|one, other| one[..N - 1].cmp(&other[..N - 1]));
    add_up(&mut all);
    all
}

/// Adds up neighbours that are the same bin.
fn add_up<const N: usize>(bins: &mut Vec<[u64; N]>) {
    bins.dedup_by(|later, sum| {
        let same = later[..N - 1] == sum[..N - 1];
        if same {
            sum[N - 1] = sum[N - 1].saturating_add(later[N - 1]);
        }
        same
    });
    bins.shrink_to_fit();
}

/// What the pairs of all repetitions of a cell that count come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// The pairs themselves.
    pub samples: Samples,
    /// The first times.
    pub first: Shape,
    /// The second times.
    pub second: Shape,
    /// The share of pairs in which the second time is the shorter one, as a fraction.
    pub below: f64,
}

/// The shape of one of the two times. A percentile is null where fewer than ten times lie beyond it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// A band around which times gather.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

impl Shape {
    /// The percentiles from the lowest, each with the share of times below it.
    pub fn percentiles(&self) -> [(f64, Option<f64>); 5] {
        [(0.5, self.p50_ns), (0.9, self.p90_ns), (0.99, self.p99_ns), (0.999, self.p999_ns), (0.9999, self.p9999_ns)]
    }
}
