//! What the processor's own counters counted, and what follows from it.

use crate::report::Measured;
use serde::{Deserialize, Serialize};

/// How many kinds of events are counted.
pub const HARDWARE_EVENTS: usize = 8;

/// What the processor counted for a worker in user mode during a repetition, for the threads that it started too. The names are those of
/// `perf list`. Null where the processor has no such event, and where its counter never ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HardwareCounts {
    /// Cycles of the core.
    pub cycles: Option<HardwareCount>,
    /// Instructions that retired.
    pub instructions: Option<HardwareCount>,
    /// Branch instructions that retired.
    pub branches: Option<HardwareCount>,
    /// Branch instructions that were predicted wrongly.
    pub branch_misses: Option<HardwareCount>,
    /// Accesses to the last level of the caches; on AMD processors since Zen, to the second level.
    pub cache_references: Option<HardwareCount>,
    /// Accesses that missed it.
    pub cache_misses: Option<HardwareCount>,
    /// Loads from the first-level data cache.
    pub l1d_loads: Option<HardwareCount>,
    /// Loads that missed it.
    pub l1d_load_misses: Option<HardwareCount>,
}

/// One counter. More events than the processor has counters take turns; each counts for a part of the time then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HardwareCount {
    /// Events while it ran, as they were read.
    pub count: u64,
    /// How long it was to count, in nanoseconds.
    pub enabled_ns: u64,
    /// How long of that it ran: above 0.
    pub running_ns: u64,
}

impl HardwareCount {
    /// The part of the time for which it ran, as a fraction.
    pub fn running_share(self) -> f64 {
        self.running_ns as f64 / self.enabled_ns as f64
    }

    /// The events of the whole time, if there were as many per nanosecond while it did not run: what `perf stat` prints.
    pub fn scaled(self) -> f64 {
        self.count as f64 / self.running_share()
    }

    fn sum(self, other: HardwareCount) -> HardwareCount {
        HardwareCount {
            count: self.count.saturating_add(other.count),
            enabled_ns: self.enabled_ns.saturating_add(other.enabled_ns),
            running_ns: self.running_ns.saturating_add(other.running_ns),
        }
    }
}

impl HardwareCounts {
    /// In the order of the fields.
    pub fn each(&self) -> [Option<HardwareCount>; HARDWARE_EVENTS] {
        [
            self.cycles,
            self.instructions,
            self.branches,
            self.branch_misses,
            self.cache_references,
            self.cache_misses,
            self.l1d_loads,
            self.l1d_load_misses,
        ]
    }

    /// Several workers as one; what is null for one of them is null for all.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a HardwareCounts>) -> Option<HardwareCounts> {
        let pair = |one: [Option<HardwareCount>; HARDWARE_EVENTS], other: [_; HARDWARE_EVENTS]| {
            std::array::from_fn(|at| Some(HardwareCount::sum(one[at]?, other[at]?)))
        };
        all.into_iter().map(HardwareCounts::each).reduce(pair).map(HardwareCounts::from)
    }

    /// The first thing in it that cannot be, as the end of a sentence about the cell.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        let fits = |counter: HardwareCount| 0 < counter.running_ns && counter.running_ns <= counter.enabled_ns;
        let all = self.each().into_iter().flatten().all(fits);
        (!all).then_some("has a hardware counter that ran for none of its time, or for more than all of it")
    }
}

impl From<[Option<HardwareCount>; HARDWARE_EVENTS]> for HardwareCounts {
    fn from(each: [Option<HardwareCount>; HARDWARE_EVENTS]) -> Self {
        let [cycles, instructions, branches, branch_misses, rest @ ..] = each;
        let [cache_references, cache_misses, l1d_loads, l1d_load_misses] = rest;
        HardwareCounts {
            cycles,
            instructions,
            branches,
            branch_misses,
            cache_references,
            cache_misses,
            l1d_loads,
            l1d_load_misses,
        }
    }
}

/// What the counters of a cell say: medians over its invocations with counters, of their repetitions that count. Null where the processor
/// does not count what it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hardware {
    /// Invocations with counters that have a value.
    #[serde(rename = "runs", alias = "invocations")]
    pub invocations: u64,
    /// Millions of instructions per second, of all workers together.
    pub mips: Option<f64>,
    /// Cycles per instruction.
    pub cpi: Option<f64>,
    /// Instructions per counted operation, to be held against those of the loop; null where none are, or not those of
    /// all workers.
    pub instructions_per_op: Option<f64>,
    /// The most millions of instructions per second that the cores can issue (see [`peak_mips`]); null where the clock or the issue width
    /// is not known.
    pub peak_mips: Option<f64>,
    /// `mips` as a fraction of `peak_mips`.
    pub efficiency: Option<f64>,
    /// Mispredicted branches as a fraction of all.
    pub branch_miss_share: Option<f64>,
    /// Misses as a fraction of the accesses to the last level of the caches; on AMD processors since Zen, to the second level.
    pub cache_miss_share: Option<f64>,
    /// Misses as a fraction of the loads from the first-level data cache.
    pub l1d_miss_share: Option<f64>,
    /// The part of the time for which the counter that ran least ran, as a fraction: below 1, counters took turns and counts are scaled.
    pub running_share: f64,
    /// How much less the invocations with counters performed than those without, as a fraction; its interval is null after too few of
    /// either.
    pub cost: Option<Measured>,
}

impl Hardware {
    /// Instructions per cycle.
    pub fn ipc(&self) -> Option<f64> {
        self.cpi.map(f64::recip)
    }
}

/// Clock in hertz times cores times instructions that a core can issue per cycle, in millions per second: 38400 for 8 cores of 4 at
/// 1.2 GHz (N. Nagarajayya,
/// "Improving Application Efficiency Through Chip Multi-Threading", Sun 2005, section 3.1.1).
pub fn peak_mips(clock_hz: f64, cores: usize, issue_width: u64) -> f64 {
    clock_hz * cores as f64 * issue_width as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counter() -> impl Strategy<Value = HardwareCount> {
        (0_u64..1 << 40, 1_u64..1 << 40, 0.001..=1.0).prop_map(|(count, enabled_ns, share)| HardwareCount {
            count,
            enabled_ns,
            running_ns: ((enabled_ns as f64 * share) as u64).max(1),
        })
    }

    fn counts() -> impl Strategy<Value = HardwareCounts> {
        prop::array::uniform8(prop::option::of(counter())).prop_map(HardwareCounts::from)
    }

    proptest! {
        #[test]
        fn a_counter_that_always_ran_is_not_scaled(count in counter()) {
            let always = HardwareCount { running_ns: count.enabled_ns, ..count };
            prop_assert_eq!(always.scaled(), count.count as f64);
            prop_assert!(count.scaled() >= always.scaled());
        }

        #[test]
        fn the_sum_of_workers_is_in_any_order(counts in prop::collection::vec(counts(), 1..6)) {
            let all = HardwareCounts::sum(&counts).unwrap();
            prop_assert_eq!(HardwareCounts::sum(counts.iter().rev()), Some(all));
            prop_assert_eq!(all.contradiction(), None);
            for (at, sum) in all.each().into_iter().enumerate() {
                let known: Option<Vec<u64>> = counts.iter().map(|own| Some(own.each()[at]?.count)).collect();
                prop_assert_eq!(sum.map(|sum| sum.count), known.map(|known| known.iter().sum()));
            }
        }
    }

    #[test]
    fn counters_that_did_not_run_are_refused() {
        let with = |enabled_ns, running_ns| {
            let counter = Some(HardwareCount { count: 5, enabled_ns, running_ns });
            HardwareCounts { cycles: counter, ..HardwareCounts::default() }.contradiction().is_some()
        };
        assert!(with(10, 0) && with(10, 11) && with(0, 0));
        assert!(!with(10, 10) && !with(10, 1));
    }

    /// Tables 2, 4 and 5 of the source: MIPS and efficiency in percent of 8 cores.
    #[test]
    fn golden_efficiencies_of_the_source() {
        let peak = peak_mips(1.2e9, 8, 4);
        assert_eq!(peak, 38400.0);
        let golden = [
            (1597.5, "4.16"),
            (3183.5, "8.29"),
            (4180.11, "10.89"),
            (12761.94, "33.23"),
            (69.05, "0.18"),
            (210.05, "0.55"),
            (888.21, "2.31"),
            (696.22, "1.81"),
            (370.33, "0.96"),
            (611.89, "1.59"),
            (553.06, "1.44"),
            (511.29, "1.33"),
        ];
        for (mips, percent) in golden {
            assert_eq!(format!("{:.2}", mips / peak * 100.0), percent);
        }
        // "38400 MIPS @ 0.25 CPI": 8 cores at 1.2 GHz.
        assert_eq!(8.0 * 1.2e9 / (peak * 1e6), 0.25);
    }
}
