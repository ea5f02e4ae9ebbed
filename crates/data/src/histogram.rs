//! Pairs of times as histograms: each of the two by itself, and both together.
//!
//! The width of bins grows with the times in them: below a power of two each nanosecond has its own bin, and from there on each
//! octave has the same number of bins, as in G. Tene's HdrHistogram. Histograms add up: workers, repetitions and invocations each
//! fill their own.

mod check;

use serde::{Deserialize, Serialize};

/// Single times have 2⁶ bins per octave: no bin is wider than 1.6% of the times in it.
pub const BITS: u32 = 6;

/// Pairs of times have 2³ bins per octave in each dimension: no bin is wider than 12.5%.
pub const JOINT_BITS: u32 = 3;

/// A percentile is reported if at least this many times are beyond it; fewer do not locate it.
const BEYOND: u64 = 10;

/// Pairs of times, of one worker or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JointHistogram {
    /// Number of pairs.
    pub count: u64,
    /// Pairs whose second time is the shorter one.
    pub second_shorter: u64,
    /// The first times.
    pub first: Histogram,
    /// The second times.
    pub second: Histogram,
    /// `[first, second, count]` of each bin that is not empty, ascending: its shortest times, in nanoseconds, with 8 bins per octave.
    pub bins: Vec<[u64; 3]>,
}

/// One of the two times by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Histogram {
    /// The shortest time; 0 without times.
    pub min_ns: u64,
    /// The longest time.
    pub max_ns: u64,
    /// `[time, count]` of each bin that is not empty, ascending: its shortest time, in nanoseconds, with 64 bins per octave.
    pub bins: Vec<[u64; 2]>,
}

/// The shortest time of the bin that a time falls into, with 2^`bits` bins per octave.
pub const fn bin(nanos: u64, bits: u32) -> u64 {
    nanos / width(nanos, bits) * width(nanos, bits)
}

/// The shortest time beyond the bin of a time; the longest time there is belongs to the last bin.
pub const fn bin_end(nanos: u64, bits: u32) -> u64 {
    bin(nanos, bits).saturating_add(width(nanos, bits))
}

/// How far a median of times may be off, in nanoseconds: half of its bin, and half a step of the clock that stamps them.
pub fn median_error(median_ns: f64, step_ns: u64) -> f64 {
    (width(median_ns as u64, BITS) as f64 + step_ns as f64) / 2.0
}

/// How many whole nanoseconds the bin of a time holds.
const fn width(nanos: u64, bits: u32) -> u64 {
    match nanos.checked_ilog2() {
        Some(octave) if octave > bits => 1 << (octave - bits),
        _ => 1,
    }
}

impl FromIterator<(u64, u64)> for JointHistogram {
    fn from_iter<T: IntoIterator<Item = (u64, u64)>>(pairs: T) -> Self {
        let pairs: Vec<(u64, u64)> = pairs.into_iter().collect();
        let joint = pairs.iter().map(|&(first, second)| [bin(first, JOINT_BITS), bin(second, JOINT_BITS), 1]).collect();
        JointHistogram {
            count: pairs.len() as u64,
            second_shorter: pairs.iter().filter(|(first, second)| second < first).count() as u64,
            first: pairs.iter().map(|pair| pair.0).collect(),
            second: pairs.iter().map(|pair| pair.1).collect(),
            bins: merged(joint),
        }
    }
}

impl FromIterator<u64> for Histogram {
    fn from_iter<T: IntoIterator<Item = u64>>(times: T) -> Self {
        let (mut min_ns, mut max_ns) = (u64::MAX, 0);
        let bins = times.into_iter().map(|time| {
            (min_ns, max_ns) = (min_ns.min(time), max_ns.max(time));
            [bin(time, BITS), 1]
        });
        let bins = merged(bins.collect());
        Histogram { min_ns: if bins.is_empty() { 0 } else { min_ns }, max_ns, bins }
    }
}

impl Histogram {
    /// The [quantile](Self::quantile) of the time in the middle, in nanoseconds; not a number without times.
    pub fn median(&self) -> f64 {
        self.quantile(self.count().div_ceil(2))
    }

    /// How many times there are.
    pub fn count(&self) -> u64 {
        self.bins.iter().fold(0, |sum, [_, count]| sum.saturating_add(*count))
    }

    /// The time of this rank, from 1, in nanoseconds: the times of a bin are taken to lie evenly over it, but within the shortest and
    /// the longest time. Not a number without times.
    pub fn quantile(&self, rank: u64) -> f64 {
        let mut so_far = 0_u64;
        let found = self.bins.iter().find(|[_, count]| {
            so_far = so_far.saturating_add(*count);
            so_far >= rank
        });
        found.map_or(f64::NAN, |&[low, count]| {
            let longer = so_far.saturating_sub(rank);
            let share = 1.0 - (longer as f64 + 0.5) / count as f64;
            // A time of whole nanoseconds may be half of one more or less.
            self.within(low as f64 + (width(low, BITS) as f64 * share - 0.5))
        })
    }

    /// The [quantile](Self::quantile) with this share of the times up to it, in ten-thousandths; `None` where fewer than [`BEYOND`]
    /// times are beyond it.
    pub fn percentile(&self, of_10_000: u128) -> Option<f64> {
        let count = self.count();
        // By whole numbers: 0.9999 is no number of any processor's.
        let rank = u64::try_from((u128::from(count) * of_10_000).div_ceil(10_000)).ok()?;
        (count - rank >= BEYOND).then(|| self.quantile(rank))
    }

    fn within(&self, time: f64) -> f64 {
        time.clamp(self.min_ns as f64, self.max_ns.max(self.min_ns) as f64)
    }

    /// Of each bin: its shortest time, the shortest beyond it, and the number of times in it.
    pub fn spans(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.bins.iter().map(|&[low, count]| (low, bin_end(low, BITS), count))
    }

    /// Those of all together, each of which has times.
    pub(crate) fn sum(all: &[&Histogram]) -> Self {
        Histogram {
            min_ns: all.iter().map(|histogram| histogram.min_ns).min().unwrap_or(0),
            max_ns: all.iter().map(|histogram| histogram.max_ns).max().unwrap_or(0),
            bins: merged(all.iter().flat_map(|histogram| &histogram.bins).copied().collect()),
        }
    }
}

impl JointHistogram {
    /// The pairs of several repetitions together.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a JointHistogram>) -> Self {
        // A repetition without samples has no shortest time.
        let all: Vec<&JointHistogram> = all.into_iter().filter(|samples| samples.count > 0).collect();
        let add =
            |number: fn(&JointHistogram) -> u64| all.iter().map(|samples| number(samples)).fold(0, u64::saturating_add);
        let side = |side: fn(&JointHistogram) -> &Histogram| {
            Histogram::sum(&all.iter().map(|samples| side(samples)).collect::<Vec<&Histogram>>())
        };
        JointHistogram {
            count: add(|samples| samples.count),
            second_shorter: add(|samples| samples.second_shorter),
            first: side(|samples| &samples.first),
            second: side(|samples| &samples.second),
            bins: merged(all.iter().flat_map(|samples| &samples.bins).copied().collect()),
        }
    }
}

/// Bins in order, each once.
fn merged<const N: usize>(mut bins: Vec<[u64; N]>) -> Vec<[u64; N]> {
    // By a sort that sees that lists which were joined are sorted.
    bins.sort_by(|one, other| one[..N - 1].cmp(&other[..N - 1]));
    add_up(&mut bins);
    bins
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
