//! One repetition: laps and what was counted around them.

use crate::{Growth, JointHistogram};
use serde::{Deserialize, Deserializer, Serialize};

use super::lap::Lap;
use super::number::Unit;

/// One repetition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Derived: from the first start to the last end over all laps.
    #[serde(skip)]
    pub interval_ns: u64,
    /// Derived: from the first start to the last start.
    #[serde(skip)]
    pub start_skew_ns: u64,
    /// Nanoseconds stolen by the hypervisor during the run, summed over the workers' seats, or over all strands of the machine
    /// where a worker floats; counted in ticks of 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// Periods in which the control group's quota stopped the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_periods: Option<u64>,
    /// A lower bound of the nanoseconds of the interval in which at least one task on the machine waited for a processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure_ns: Option<u64>,
    /// Microjoules that each processor package took during the run, in the order of the host's `energy`; absent where the system does not
    /// count them, and where its counts cover more than the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<Box<[u64]>>,
    /// Derived: codes of the causes for which it does not count. Never its value.
    #[serde(skip)]
    pub dirty: Vec<String>,
    /// One lap a worker; of more than 16 workers, one for each group of them (see [`Lap::grouped`]).
    #[serde(deserialize_with = "snug")]
    pub laps: Vec<Lap>,
    /// The pairs of times that the workers stamped; absent where they stamp none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Box<JointHistogram>>,
    /// How its recursion grew from size to size; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Box<Growth>>,
    /// The number of a user's program, in the cell's unit: of several copies the sum of rates, or the worst of times. Absent of all other
    /// kernels, whose number follows from the laps, but for those that another program measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<f64>,
    /// The unit that the program printed behind its number, in its own word: `reported` is in the cell's unit. Absent where it printed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed_unit: Option<String>,
}

/// A list without room to spare. A list that grows has room for four elements from the first one on; of a million
/// repetitions with one lap each, three quarters of the memory would be that room.
pub(super) fn snug<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let mut list = Vec::deserialize(deserializer)?;
    list.shrink_to_fit();
    Ok(list)
}

/// Bytes of a GiB.
const GIB: f64 = (1_u64 << 30) as f64;

impl Run {
    /// Its number in `unit`, if its program did not report it: work over the interval from the first start to the last end. Infinite or NaN for an interval of 0.
    pub fn value(&self, unit: Unit) -> f64 {
        let seconds = self.interval_ns as f64 / 1e9;
        match unit {
            Unit::OpsPerSecond => self.laps.iter().map(|lap| lap.ops as f64).sum::<f64>() / seconds,
            Unit::BytesPerSecond => self.laps.iter().map(|lap| lap.bytes as f64).sum::<f64>() / seconds,
            Unit::Nanoseconds => self.interval_ns as f64,
            Unit::NanosecondsPerOp => self.interval_ns as f64 / self.laps.iter().map(|lap| lap.ops as f64).sum::<f64>(),
            Unit::NanosecondsPerStep => {
                let stepping = || self.laps.iter().filter(|lap| lap.ops > 0);
                let time: f64 = stepping().map(|lap| lap.time_ns() as f64).sum();
                time / stepping().map(|lap| lap.ops as f64).sum::<f64>()
            }
            Unit::MillisecondsPerGib => {
                seconds * 1e3 / (self.laps.iter().map(|lap| lap.bytes as f64).sum::<f64>() / GIB)
            }
            Unit::NanosecondsSampled => self.samples.as_ref().map_or(f64::NAN, |samples| samples.second.median()),
            Unit::Reported(_) => self.reported.unwrap_or(f64::NAN),
        }
    }

    /// From the first start to the last end over all laps, and from the first start to the last start, in nanoseconds.
    pub fn span(&self) -> (u64, u64) {
        let first = self.laps.iter().map(|lap| lap.start_ns).min().unwrap_or(0);
        let last_start = self.laps.iter().map(Lap::last_start_ns).max().unwrap_or(0);
        let last = self.laps.iter().map(|lap| lap.end_ns).max().unwrap_or(0);
        (last.saturating_sub(first), last_start.saturating_sub(first))
    }

    /// The share of the interval in which all workers were at work, from the last start to the first end; as a fraction.
    pub fn overlap(&self) -> f64 {
        let last_start = self.laps.iter().map(Lap::last_start_ns).max().unwrap_or(0);
        let first_end = self.laps.iter().map(Lap::first_end_ns).min().unwrap_or(0);
        first_end.saturating_sub(last_start) as f64 / self.interval_ns.max(1) as f64
    }
}
