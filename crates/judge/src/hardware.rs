//! What the hardware counters of a cell say.

use std::mem;

use charz_data::peak_mips;
use charz_data::report::{Cell, Hardware, HardwareCount, HardwareCounts, Interval, Invocation, Lap, Measured};
use charz_stats::{Better, Pair, Rule, compare_one, median};

use super::JudgeContext;

/// Judges the invocations with counters by themselves, as those without were, and sums up what was counted; `None` without any.
pub(super) fn hardware(cell: &mut Cell, facts: &JudgeContext) -> Option<Hardware> {
    let counted = mem::take(&mut cell.counted);
    let base = mem::take(&mut cell.invocations);
    // Everything but the attempts is as it is of the cell.
    let mut with = Cell { invocations: counted, ..cell.clone() };
    cell.invocations = base;
    if with.invocations.is_empty() {
        return None;
    }
    super::judge_numbers(&mut with, facts);
    let found = summed_up(&with, facts, cost(cell, &with));
    cell.counted = with.invocations;
    found
}

fn summed_up(with: &Cell, facts: &JudgeContext, cost: Option<Measured>) -> Option<Hardware> {
    let valued = || with.invocations.iter().filter(|invocation| invocation.value.is_some());
    let middle = |of: &dyn Fn(&Counted) -> Option<f64>| {
        median(valued().filter_map(|invocation| of(&Counted::of(invocation))).filter(|value| value.is_finite()))
    };
    let mips = middle(&|counted| Some(counted.instructions? / counted.interval_ns * 1e3));
    let clocks = valued().filter_map(|invocation| Some(invocation.evidence.as_ref()?.frequency?.highest_hz));
    let clock_hz = median(clocks).or(facts.claimed_hz);
    let peak_mips = clock_hz.zip(facts.issue_width).map(|(hz, width)| peak_mips(hz, facts.cores, width));
    let laps = valued().flat_map(Invocation::clean_runs).flat_map(|run| &run.laps);
    let running = laps.filter_map(|lap| lap.hardware.as_deref()).flat_map(HardwareCounts::each).flatten();
    Some(Hardware {
        invocations: Some(valued().count() as u64).filter(|count| *count > 0)?,
        mips,
        cpi: middle(&|counted| Some(counted.cycles? / counted.instructions?)),
        instructions_per_op: middle(&|counted| Some(counted.instructions? / counted.ops)),
        peak_mips,
        efficiency: mips.zip(peak_mips).map(|(mips, peak)| mips / peak),
        branch_miss_share: middle(&|counted| Some(counted.branch_misses? / counted.branches?)),
        cache_miss_share: middle(&|counted| Some(counted.cache_misses? / counted.cache_references?)),
        l1d_miss_share: middle(&|counted| Some(counted.l1d_load_misses? / counted.l1d_loads?)),
        running_share: running.map(HardwareCount::running_share).fold(1.0, f64::min),
        cost,
    })
}

/// By how much the invocations with counters perform worse; no test is made of it, so the margin is none.
fn cost(without: &Cell, with: &Cell) -> Option<Measured> {
    let values = |cell: &Cell| cell.invocations.iter().filter_map(|invocation| invocation.value).collect::<Vec<_>>();
    let better = if without.unit.more_is_better() { Better::Higher } else { Better::Lower };
    let rule = Rule::new(0.05, 0.0)?;
    let found = compare_one(Pair { base: &values(without), new: &values(with), better }, &rule);
    let interval = found.interval.map(|interval| Interval { low: 1.0 - interval.high, high: 1.0 - interval.low });
    Some(Measured { value: 1.0 - found.effect?, interval })
}

/// The scaled events of the clean repetitions of an invocation, over all workers; `None` of an event that is not known of any lap.
struct Counted {
    interval_ns: f64,
    ops: f64,
    cycles: Option<f64>,
    instructions: Option<f64>,
    branches: Option<f64>,
    branch_misses: Option<f64>,
    cache_references: Option<f64>,
    cache_misses: Option<f64>,
    l1d_loads: Option<f64>,
    l1d_load_misses: Option<f64>,
}

impl Counted {
    fn of(invocation: &Invocation) -> Self {
        let laps = || invocation.clean_runs().flat_map(|run| &run.laps);
        let sum = |of: fn(&HardwareCounts) -> Option<HardwareCount>| {
            let scaled = |lap: &Lap| of(lap.hardware.as_deref()?).map(HardwareCount::scaled);
            laps().map(scaled).sum::<Option<f64>>()
        };
        Counted {
            interval_ns: invocation.clean_runs().map(|run| run.interval_ns as f64).sum(),
            // In a mix some workers do others, which are not counted.
            ops: if laps().all(|lap| lap.ops > 0) { laps().map(|lap| lap.ops as f64).sum() } else { 0.0 },
            cycles: sum(|counts| counts.cycles),
            instructions: sum(|counts| counts.instructions),
            branches: sum(|counts| counts.branches),
            branch_misses: sum(|counts| counts.branch_misses),
            cache_references: sum(|counts| counts.cache_references),
            cache_misses: sum(|counts| counts.cache_misses),
            l1d_loads: sum(|counts| counts.l1d_loads),
            l1d_load_misses: sum(|counts| counts.l1d_load_misses),
        }
    }
}
