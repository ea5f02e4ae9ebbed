//! One repetition: laps and what was counted around them.

use crate::{Blocks, Contention, Growth, JointHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::cell::Unit;

/// One repetition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// From the first start to the last end over all laps.
    pub interval_ns: u64,
    /// From the first start to the last start.
    pub start_skew_ns: u64,
    /// Nanoseconds stolen by the hypervisor during the run, summed over the workers' seats, or over all strands of the machine
    /// where a worker floats; counted in ticks of 10 ms.
    pub steal_ns: Option<u64>,
    /// Periods in which the control group's quota stopped the process.
    pub throttled_periods: Option<u64>,
    /// A lower bound of the nanoseconds of the interval in which at least one task on the machine waited for a processor.
    pub pressure_ns: Option<u64>,
    /// Codes of the causes for which it does not count. Never its value.
    pub dirty: Vec<String>,
    /// One lap a worker.
    #[serde(deserialize_with = "snug")]
    pub laps: Vec<Lap>,
    /// The pairs of times that the workers stamped; null where they stamp none.
    pub samples: Option<Box<JointHistogram>>,
    /// How its recursion grew from size to size; null where there is none.
    pub growth: Option<Box<Growth>>,
}

/// One worker's part of a repetition. Stamps count from an arbitrary origin that all laps of an invocation share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lap {
    /// The worker's number.
    pub rank: u64,
    /// OS id of its seat; null for a floating worker.
    pub seat: Option<u32>,
    /// OS id of the strand that it was on after the run.
    pub strand: Option<u32>,
    /// First stamp.
    pub start_ns: u64,
    /// Last stamp.
    pub end_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whether it was bound to its seat, and on it, before and after; null for a floating worker or where unknown.
    pub on_seat: Option<bool>,
    /// How often it looked, between blocks of its work, where it was.
    pub checks: u64,
    /// How often it was not on its seat then; null for a floating worker or where unknown.
    pub strays: Option<u64>,
    /// What the system counted for the thread around the run.
    pub counts: Counts,
    /// What it met at what it shares with others; null where it shares nothing.
    pub contention: Option<Contention>,
    /// The times of its blocks while all workers were at work; null of kernels whose workers share more than the machine.
    pub blocks: Option<Blocks>,
}

/// What the system counted for a thread; null where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Nanoseconds on a strand.
    pub cpu_ns: Option<u64>,
    /// Nanoseconds spent ready to run, waiting for a strand.
    pub run_delay_ns: Option<u64>,
    /// Context switches that the thread did not ask for.
    pub involuntary_switches: Option<u64>,
    /// Moves from strand to strand.
    pub migrations: Option<u64>,
    /// Page faults that needed no disk.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a disk.
    pub major_faults: Option<u64>,
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
    /// Its number in `unit`: work over the interval from the first start to the last end. Infinite or NaN for an interval of 0.
    pub fn value(&self, unit: Unit) -> f64 {
        let seconds = self.interval_ns as f64 / 1e9;
        match unit {
            Unit::OpsPerSecond => self.laps.iter().map(|lap| lap.ops as f64).sum::<f64>() / seconds,
            Unit::BytesPerSecond => self.laps.iter().map(|lap| lap.bytes as f64).sum::<f64>() / seconds,
            Unit::Nanoseconds => self.interval_ns as f64,
            Unit::NanosecondsPerOp => self.interval_ns as f64 / self.laps.iter().map(|lap| lap.ops as f64).sum::<f64>(),
            Unit::NanosecondsPerStep => {
                let stepping = || self.laps.iter().filter(|lap| lap.ops > 0);
                let time: f64 = stepping().map(|lap| lap.end_ns.saturating_sub(lap.start_ns) as f64).sum();
                time / stepping().map(|lap| lap.ops as f64).sum::<f64>()
            }
            Unit::MillisecondsPerGib => {
                seconds * 1e3 / (self.laps.iter().map(|lap| lap.bytes as f64).sum::<f64>() / GIB)
            }
            Unit::NanosecondsSampled => self.samples.as_ref().map_or(f64::NAN, |samples| samples.second.median()),
        }
    }

    /// The share of the interval in which all workers were at work, from the last start to the first end; as a fraction.
    pub fn overlap(&self) -> f64 {
        let last_start = self.laps.iter().map(|lap| lap.start_ns).max().unwrap_or(0);
        let first_end = self.laps.iter().map(|lap| lap.end_ns).min().unwrap_or(0);
        first_end.saturating_sub(last_start) as f64 / self.interval_ns.max(1) as f64
    }
}
